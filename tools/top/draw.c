/* draw.c - lays out the page of `hxmesh top` (tools/top/draw.h): state of the run, hottest links, map. */
#include "tools/top/draw.h"
#include "base/counts.h"
#include "base/text.h"
#include "base/value.h"
#include "topology/heat_map.h"
#include "topology/name.h"

#include <inttypes.h>
#include <string.h>

enum {
    LEAST_LINKS = 5, /* minimum before the map gets room */
    WORKER_COLUMNS = 20,
    WORKER_ROWS = 2,
    LINK_COLUMN = 43, /* start of the links' names */
    BAR = 17,
    FAULTS = 2 /* number of faults named */
};

/* A rate with three digits and a unit: "12.3 M". */
static const char *rate_text(char text[16], double rate)
{
    static const char unit[] = " kMGTP"; /* the first: none */
    unsigned i = 0;
    for (; rate >= 999.5 && i + 2 < sizeof unit; i++)
        rate /= 1000;
    if (i == 0)
        (void)snprintf(text, 16, "%.3g ", rate);
    else
        (void)snprintf(text, 16, rate < 9.995 ? "%.2f %c" : rate < 99.95 ? "%.1f %c" : "%.0f %c", rate, unit[i]);
    return text;
}

/* ---- the head ---- */

static void draw_title(struct canvas *c, const struct top *t)
{
    char left[512];
    char right[100];
    char time[HX_VALUE_TEXT];
    double done = top_done(t);
    bool titled = strcmp(t->head.name, t->head.fabric) != 0;
    (void)snprintf(left, sizeof left, "hxmesh top  %s: %s%s%s%s, %u plane%s", t->name, t->head.fabric,
                   titled ? " (" : "", titled ? t->head.name : "", titled ? ")" : "", t->g.planes,
                   hx_plural(t->g.planes));
    int used = snprintf(right, sizeof right, "%s", top_phase(t));
    if (top_is_virtual(t))
        used += snprintf(right + used, sizeof right - (size_t)used, "  %s simulated",
                         hx_value_print_duration(time, (uint64_t)(t->simulated_seconds * 1e9)));
    used += snprintf(right + used, sizeof right - (size_t)used, "  %.1f s", t->wall_seconds);
    if (done >= 0)
        (void)snprintf(right + used, sizeof right - (size_t)used, "  %3.0f %%", done * 100);
    (void)canvas_print(c, 0, 0, CANVAS_PLAIN, "%s", left);
    size_t length = strlen(right) + 1; /* if both do not fit, the state is more important than the name */
    (void)canvas_print(c, 0, c->columns > length ? c->columns - (unsigned)length : 0, CANVAS_PLAIN, " %s", right);
    canvas_row_style(c, 0, CANVAS_BAR);
}

static unsigned draw_figures(struct canvas *c, const struct top *t, unsigned row)
{
    char a[16];
    char b[16];
    const struct top_sum *s = &t->sum;
    (void)canvas_print(c, row++, 0, CANVAS_PLAIN, "traffic   %s", t->head.traffic);
    (void)canvas_print(c, row++, 0, CANVAS_PLAIN, "rates     %shops/s, %sB/s delivered%s, %.4g %% of injection",
                       rate_text(a, t->rate.wall_hops), rate_text(b, t->rate.bytes),
                       top_is_virtual(t) ? " (simulated)" : "", top_injection(t) * 100);
    unsigned at = canvas_print(c, row, 0, CANVAS_PLAIN, "messages  %" PRIu64, s->messages_received);
    if (t->head.goal_messages)
        at = canvas_print(c, row, at, CANVAS_PLAIN, " of %" PRIu64, t->head.goal_messages);
    (void)canvas_print(c, row++, at, CANVAS_PLAIN, ", %" PRIu64 " given up; packets %" PRIu64 ", %" PRIu64 " repeated",
                       s->messages_failed, s->packets_delivered, s->packets_repeated);
    if (t->head.goal_operations)
        (void)canvas_print(c, row++, 0, CANVAS_PLAIN,
                           "schedule  %" PRIu64 " of %" PRIu64 " operations ended, %" PRIu64 " in progress",
                           s->operations_ended, t->head.goal_operations, s->operations_open);
    return row;
}

/* Draws those counts that are not 0. */
static unsigned draw_counts(struct canvas *c, unsigned row, const char *title, const char *const *names,
                            const uint64_t *counts)
{
    const unsigned begin = canvas_print(c, row, 0, CANVAS_PLAIN, "%-10s", title);
    unsigned at = begin;
    for (unsigned i = 0; names[i]; i++) {
        if (counts[i])
            at = canvas_print(c, row, at, CANVAS_PLAIN, "%s %" PRIu64 "  ", names[i], counts[i]);
    }
    if (at == begin)
        (void)canvas_print(c, row, at, CANVAS_PLAIN, "none");
    return row + 1;
}

/* Draws a line if a fault holds. */
static unsigned draw_faults(struct canvas *c, const struct top *t, unsigned row)
{
    const struct hx_metrics_faults *f = &t->now.faults;
    unsigned at = f->holding ? canvas_print(c, row, 0, CANVAS_BOLD, "faults    ") : 0;
    for (unsigned i = 0; i < f->holding && i < FAULTS; i++) {
        char since[HX_VALUE_TEXT];
        at = canvas_print(c, row, at, CANVAS_PLAIN, "%s%s (since %s)", i ? "; " : "", top_fault_line(t, i),
                          hx_value_print_duration(since, f->fault[i].since_ns));
    }
    if (f->holding > FAULTS)
        (void)canvas_print(c, row, at, CANVAS_PLAIN, "; and %" PRIu64 " more", f->holding - FAULTS);
    return row + (f->holding != 0);
}

/* Draws a line if links are closed as planned. */
static unsigned draw_planned(struct canvas *c, const struct top *t, unsigned row)
{
    uint64_t planned = t->now.faults.planned;
    if (planned)
        (void)canvas_print(c, row, 0, CANVAS_PLAIN, "planned   links are closed, by %" PRIu64 " line%s of a plan",
                           planned, hx_plural(planned));
    return row + (planned != 0);
}

static unsigned draw_workers(struct canvas *c, const struct top *t, unsigned row)
{
    unsigned a_row = (c->columns > WORKER_COLUMNS / 2 ? c->columns - WORKER_COLUMNS / 2 : 0) / WORKER_COLUMNS;
    a_row = a_row ? a_row : 1;
    unsigned rows = (t->head.workers + a_row - 1) / a_row;
    rows = rows > WORKER_ROWS ? WORKER_ROWS : rows;
    (void)canvas_print(c, row, 0, CANVAS_PLAIN, "workers");
    for (unsigned w = 0; w < t->head.workers && w < rows * a_row; w++) {
        unsigned column = WORKER_COLUMNS / 2 + w % a_row * WORKER_COLUMNS;
        bool more = w + 1 == rows * a_row && w + 1 < t->head.workers;
        if (more)
            (void)canvas_print(c, row + w / a_row, column, CANVAS_PLAIN, "and %u more", t->head.workers - w);
        else
            (void)canvas_print(c, row + w / a_row, column, CANVAS_PLAIN, "%u %s %.0f %%", w, top_state(t, w),
                               t->worker[w].busy * 100);
    }
    return row + rows;
}

/* ---- the map ---- */

struct map_place {
    struct canvas *canvas;
    unsigned row, column;
};

static void draw_cell(void *of, unsigned row, unsigned column, unsigned shade)
{
    const struct map_place *at = of;
    (void)canvas_print(at->canvas, at->row + row, at->column + column, CANVAS_SHADE + shade, " %u", shade);
}

/* Chooses the finest map that fits. false: not even the coarsest fits. */
static bool choose_map(struct hx_heat_map *map, const struct hx_fabric *g, unsigned rows, unsigned columns)
{
    const unsigned a = g->mesh.a;
    const unsigned b = g->mesh.b;
    *map = (struct hx_heat_map){.g = g, .wide = 1, .high = 1, .apart_x = a, .apart_y = b};
    while (hx_heat_map_rows(map) > rows || hx_heat_map_columns(map) > columns) {
        if (map->apart_x)
            map->apart_x = map->apart_y = 0;
        else if (map->wide == 1 && map->high == 1 && a * b > 1) {
            map->wide = a;
            map->high = b;
        } else if (map->wide > g->columns && map->high > g->rows)
            return false;
        else {
            map->wide *= 2;
            map->high *= 2;
        }
    }
    return true;
}

/* Draws the map at the bottom. Returns its rows, with the title and an empty line above. */
static unsigned draw_map(struct canvas *c, const struct top *t, unsigned rows)
{
    struct hx_heat_map map;
    enum { FRAME = 2, INDENT = 2 };
    if (rows < FRAME + 1 || c->columns < INDENT + HX_HEAT_CELL ||
        !choose_map(&map, &t->g, rows - FRAME, c->columns - INDENT))
        return 0;
    unsigned taken = hx_heat_map_rows(&map) + FRAME;
    double most = hx_heat_map_most(&map, t->moved, 1e-9);
    char text[16];
    unsigned title = c->rows - taken + 1;
    unsigned at = canvas_print(c, title, 0, CANVAS_BOLD, "packets/s sent by ");
    if (map.wide == 1 && map.high == 1)
        at = canvas_print(c, title, at, CANVAS_BOLD, "each accelerator");
    else
        at = canvas_print(c, title, at, CANVAS_BOLD, "each %u x %u accelerators", map.wide, map.high);
    (void)canvas_print(c, title, at, CANVAS_BOLD, ", 0 to 9 (9: %s)", rate_text(text, most));
    struct map_place place = {c, title + 1, INDENT};
    hx_heat_map_draw(&map, t->moved, most, draw_cell, &place);
    return taken;
}

/* ---- the links ---- */

static void draw_link(struct canvas *c, const struct top *t, enum top_order order, unsigned row,
                      const struct top_link *link)
{
    char rate[16];
    char from[HX_NAME_BYTES];
    char to[HX_NAME_BYTES];
    struct hx_end far = hx_fabric_far(&t->g, link->node, link->port);
    double load = top_load(t, link->number);
    double packets = order == TOP_BY_RATE ? t->packets[link->number] : (double)t->now.link[link->number].packets;
    (void)canvas_print(c, row, 0, CANVAS_PLAIN, "%9s %7.3g %4.0f %% ", rate_text(rate, packets), t->gbps[link->number],
                       load * 100);
    unsigned bar = (unsigned)(load * BAR + 0.5);
    for (unsigned i = 0; i < BAR; i++)
        (void)canvas_print(c, row, LINK_COLUMN - BAR - 1 + i, CANVAS_PLAIN, "%c", i < bar ? '#' : '.');
    (void)canvas_print(c, row, LINK_COLUMN, CANVAS_PLAIN, "%s -> %s",
                       hx_port_name(from, &t->g, link->plane, link->node, link->port),
                       hx_port_name(to, &t->g, link->plane, far.node, far.port));
}

static void draw_links(struct canvas *c, const struct top *t, const struct top_view *view, unsigned row, unsigned end)
{
    if (row + 1 >= end)
        return;
    (void)canvas_print(c, row, 0, CANVAS_BOLD, "%9s %7s %s", view->order == TOP_BY_RATE ? "packets/s" : "packets",
                       "Gb/s", top_is_virtual(t) ? "  load" : "  share");
    unsigned at = canvas_print(c, row++, LINK_COLUMN, CANVAS_BOLD, "%s",
                               view->order == TOP_BY_RATE ? "hottest links" : "links by packets in all");
    if (view->plane != TOP_ALL_PLANES)
        (void)canvas_print(c, row - 1, at, CANVAS_BOLD, ", plane %d", view->plane);
    struct top_link link[TOP_MOST_LINKS];
    unsigned most = end - row < TOP_MOST_LINKS ? end - row : TOP_MOST_LINKS;
    unsigned count = top_links(t, view->order, view->plane, link, most);
    for (unsigned i = 0; i < count; i++)
        draw_link(c, t, view->order, row + i, &link[i]);
}

/* ---- */

static void draw_help(struct canvas *c, unsigned row, const struct top_view *view)
{
    static const char *const lines[] = {
        "q        quit; the fabric goes on",
        "s        sort links by packets a second, or by packets since the run began",
        "p        links of all planes, or of one after the other",
        "+ -      longer or shorter interval (also the arrow and page keys)",
        "h ?      this help",
        "",
        "Gb/s     that a link carries now, headers and all, by the fabric's clock",
        "share    live: its packets, as a share of the hottest link's",
        "load     virtual clock: share of the time that the link is busy",
        "rates    per second of the fabric's clock; hops/s of real time",
    };
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        (void)canvas_print(c, row + i, 0, CANVAS_PLAIN, "%s", lines[i]);
    (void)canvas_print(c, row + (unsigned)(sizeof lines / sizeof *lines) + 1, 0, CANVAS_PLAIN, "interval %.4g s",
                       view->interval);
}

void top_draw(struct canvas *c, const struct top *t, const struct top_view *view)
{
    draw_title(c, t);
    unsigned row = draw_figures(c, t, 1);
    row = draw_counts(c, row, "drops", hx_drop_names, t->sum.drops);
    row = draw_counts(c, row, "stalls", hx_stall_names, t->sum.stalls);
    row = draw_faults(c, t, row);
    row = draw_planned(c, t, row);
    row = draw_workers(c, t, row) + 1;
    if (view->help) {
        draw_help(c, row, view);
        return;
    }
    unsigned left = c->rows > row ? c->rows - row : 0;
    unsigned map = draw_map(c, t, left > LEAST_LINKS + 1 ? left - LEAST_LINKS - 1 : 0);
    draw_links(c, t, view, row, c->rows - (map > left ? left : map));
}
