/* figures.c - parts, cost and bounds of a fabric (tools/info/figures.h). */
#include "tools/info/figures.h"
#include "base/json.h"

#include "base/text.h"
#include "topology/mesh_bounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned radix_of(const struct hx_fabric *g)
{
    unsigned most = 0;
    for (uint32_t node = g->hosts; node < g->nodes; node++)
        most = hx_fabric_ports(g, node) > most ? hx_fabric_ports(g, node) : most;
    return most;
}

/* Computes what depends on bought planes and rates. */
static void price(struct figures *f)
{
    const struct injection *i = &f->injection;
    double links = hx_injects_alike(f->g) ? f->g->host_links : i->links;
    f->spec.graph->bought_planes = i->planes;
    f->bill = hx_fabric_bill(f->g, f->prices, injection_link(i));
    f->bill.usd = (uint64_t)llround(injection_usd(i, f->spec.graph, f->prices));
    f->injection_gbps = injection_total(i);
    f->alltoall_gbps = f->injection_gbps * f->alltoall_bound;
    f->usd_per_host = (double)f->bill.usd / f->g->hosts;
    bool any = f->alltoall_bound > 0;
    f->usd_per_global_link = any ? f->usd_per_host / (links * i->planes * i->rate * f->alltoall_bound) : 0;
    f->usd_per_alltoall_gbps = any ? f->usd_per_host / f->alltoall_gbps : 0;
}

void figures_load(struct figures *f, const char *argument, const struct hx_overrides *overrides,
                  const struct hx_prices *prices)
{
    f->prices = prices;
    hx_spec_load(argument, overrides, &f->spec);
    f->g = hx_spec_fabric(&f->spec);
    f->bisection = hx_fabric_bisection(f->g);
    f->distances = hx_fabric_distances(f->g);
    f->alltoall_bound = hx_fabric_alltoall_bound(f->g);
    f->radix = f->g->mesh.nodes ? f->spec.radix : radix_of(f->g);
    f->injection = injection_of(f->g, f->g->bought_planes, HX_LINK_GBPS);
    price(f);
}

enum { MOST_BOUGHT = 64 };

void figures_equal(struct figures *all, unsigned count, const struct injection_wish *wish)
{
    struct injection *of = hx_allocate(count, sizeof *of);
    for (unsigned i = 0; i < count; i++)
        of[i] = all[i].injection;
    unsigned other = injection_differs(of, count);
    if (wish->equal && !injection_equal(of, count, MOST_BOUGHT, wish->gbps))
        hx_die(HX_EXIT_USAGE, "--equal-injection",
               "fabrics with link rates of their own cannot be made equal by up to %d planes", MOST_BOUGHT);
    if (!wish->equal && other < count)
        hx_warn(all[other].spec.name,
                "its hosts inject %.6g Gb/s, those of %s %.6g: prices and bounds are not alike (--equal-injection buys "
                "planes that make them so)",
                all[other].injection_gbps, all[0].spec.name, all[0].injection_gbps);
    for (unsigned i = 0; wish->equal && i < count; i++) {
        all[i].injection = of[i];
        price(&all[i]);
    }
    free(of);
}

void figures_free(struct figures *f)
{
    hx_spec_free(&f->spec);
}

/* ---- JSON ---- */

static json_t *network_json(const struct hx_network *n)
{
    return json_pack("{s:i, s:i, s:i}", "ports", n->ports, "leaves", n->leaves, "spines", n->spines);
}

static void add_mesh(json_t *json, const struct figures *f)
{
    const struct hx_spec *s = &f->spec;
    const struct hx_geometry *m = &f->g->mesh;
    json_t *mesh = json_pack("{s:i, s:{s:i, s:i, s:i, s:i}, s:i, s:o, s:o, s:I}", "accelerators", (int)f->g->hosts,
                             "boards", "x", (int)s->x, "y", (int)s->y, "a", (int)s->a, "b", (int)s->b, "taper",
                             (int)s->taper, "row_network", network_json(&m->row), "column_network",
                             network_json(&m->column), "straight_cut", (json_int_t)hx_straight_cut_of(m).links);
    json_object_update(json, mesh);
    json_decref(mesh);
}

/* Returns how many boards of a HammingMesh, or hosts of another fabric, have failed. */
static unsigned failed_units(const struct figures *f)
{
    unsigned failed = 0;
    for (unsigned board = 0; board < hx_spec_boards(&f->spec); board++)
        failed += hx_spec_board_failed(&f->spec, board);
    return failed;
}

static void add_failures(json_t *json, const struct figures *f)
{
    json_object_set_new(json, f->g->mesh.nodes ? "failed_boards" : "failed_hosts",
                        json_integer((json_int_t)failed_units(f)));
    if (!f->g->mesh.nodes)
        json_object_set_new(json, "failed_links", json_integer((json_int_t)f->g->failed_links));
}

json_t *figures_json(const struct figures *f)
{
    const struct hx_spec *s = &f->spec;
    const struct hx_fabric *g = f->g;
    json_t *json = json_pack("{s:i, s:o, s:o, s:s, s:i, s:i, s:i, s:i, s:i, s:i}", "schema", HX_JSON_SCHEMA, "spec",
                             hx_json_text(s->fabric), "name", hx_json_text(s->name), "topology", g->topology->word,
                             "hosts", (int)g->hosts, "host_links", (int)g->host_links, "planes", (int)s->planes,
                             "radix", (int)f->radix, "vcs", (int)g->vcs, "nodes_per_plane", (int)g->nodes);
    json_t *rest =
        json_pack("{s:i, s:I, s:{s:I, s:I}, s:I, s:i, s:i, s:f, s:I, s:b, s:f, s:f, s:f, s:o}", "cost_planes",
                  (int)g->bought_planes, "switches", (json_int_t)f->bill.switches, "cables", "dac",
                  (json_int_t)f->bill.cables[HX_DAC], "aoc", (json_int_t)f->bill.cables[HX_AOC], "cost_usd",
                  (json_int_t)f->bill.usd, "diameter", (int)f->distances.diameter, "router_diameter",
                  (int)f->distances.router_diameter, "average_distance", f->distances.average, "bisection",
                  (json_int_t)f->bisection.links, "bisection_exact", (int)f->bisection.exact, "bisection_share",
                  f->bisection.share, "alltoall_bound", f->alltoall_bound, "cost_per_host", f->usd_per_host,
                  "cost_per_global_link", f->alltoall_bound > 0 ? json_real(f->usd_per_global_link) : json_null());
    json_t *like = json_pack("{s:f, s:f, s:f, s:o}", "link_gbps", injection_link(&f->injection), "injection_gbps",
                             f->injection_gbps, "alltoall_gbps", f->alltoall_gbps, "cost_per_alltoall_gbps",
                             f->alltoall_bound > 0 ? json_real(f->usd_per_alltoall_gbps) : json_null());
    json_object_update(rest, like);
    json_decref(like);
    json_object_update(json, rest);
    json_decref(rest);
    if (f->prices->path)
        json_object_set_new(json, "prices", hx_json_text(f->prices->path));
    if (g->mesh.nodes)
        add_mesh(json, f);
    if (hx_spec_has_failures(s))
        add_failures(json, f);
    return json;
}

/* ---- text ---- */

static void print_network(const char *which, const struct hx_network *n)
{
    if (n->spines == 0)
        printf("%-16s%u port%s a line on one switch\n", which, n->ports, hx_plural(n->ports));
    else
        printf("%-16s%u ports a line on %u leaves and %u spine%s\n", which, n->ports, n->leaves, n->spines,
               hx_plural(n->spines));
}

static void print_mesh(const struct figures *f)
{
    const struct hx_spec *s = &f->spec;
    printf("%-16s%u (%u x %u), on %u x %u boards of %u x %u\n", "accelerators", f->g->hosts, f->g->columns, f->g->rows,
           s->x, s->y, s->a, s->b);
    printf("%-16s%u emulated, of %u nodes each\n", "planes", s->planes, f->g->nodes);
    print_network("row networks", &f->g->mesh.row);
    print_network("column networks", &f->g->mesh.column);
}

static void print_other(const struct figures *f)
{
    printf("%-16s%u, %u link%s each in a plane%s\n", "hosts", f->g->hosts, f->g->host_links,
           hx_plural(f->g->host_links), hx_injects_alike(f->g) ? "" : ", or more");
    printf("%-16s%u emulated, of %u nodes each\n", "planes", f->spec.planes, f->g->nodes);
    if (f->g->nodes > f->g->hosts)
        printf("%-16s%u a plane, of up to %u ports\n", "routers", f->g->nodes - f->g->hosts, f->radix);
    printf("%-16s%u\n", "VCs", f->g->vcs);
}

static void print_failures(const struct figures *f)
{
    if (f->g->mesh.nodes)
        printf("%-16s%u of %u boards; all figures are those of the whole fabric\n", "failed", failed_units(f),
               hx_spec_boards(&f->spec));
    else
        printf("%-16s%u host%s and %" PRIu32
               " link%s of a plane; parts and cost are those of the whole fabric, the rest of what is left\n",
               "failed", failed_units(f), hx_plural(failed_units(f)), f->g->failed_links,
               hx_plural(f->g->failed_links));
}

void figures_print(const struct figures *f)
{
    printf("%s\n", f->spec.name);
    if (f->g->mesh.nodes)
        print_mesh(f);
    else
        print_other(f);
    if (hx_spec_has_failures(&f->spec))
        print_failures(f);
    unsigned planes = f->g->bought_planes;
    const char *s = hx_plural(planes);
    printf("%-16s%" PRIu64 ", for %u plane%s\n", "switches", f->bill.switches, planes, s);
    printf("%-16s%" PRIu64 " DAC, %" PRIu64 " AoC, for %u plane%s\n", "cables", f->bill.cables[HX_DAC],
           f->bill.cables[HX_AOC], planes, s);
    printf("%-16s%.2f M$, for %u plane%s%s%s\n", "cost", (double)f->bill.usd / 1e6, planes, s,
           f->prices->path ? ", at prices of " : "", f->prices->path ? f->prices->path : "");
    printf("%-16s%u cable%s\n", "diameter", f->distances.diameter, hx_plural(f->distances.diameter));
    printf("%-16s%.2f cables\n", "distance", f->distances.average);
    if (f->bisection.links)
        printf("%-16s%s%" PRIu64 " link%s each way a plane, %.2f %% of what half the %s inject\n", "bisection",
               f->bisection.exact ? "" : "at most ", f->bisection.links, hx_plural(f->bisection.links),
               100 * f->bisection.share, f->g->mesh.nodes ? "accelerators" : "hosts");
    if (f->g->mesh.nodes && f->bisection.links)
        printf("%-16s%" PRIu64 " link%s between columns or rows in the middle\n", "straight cut",
               hx_straight_cut_of(&f->g->mesh).links, hx_plural(hx_straight_cut_of(&f->g->mesh).links));
    printf("%-16s%.6g Gb/s a host", "injection", f->injection_gbps);
    if (hx_injects_alike(f->g))
        printf(", %u link%s in each of %u plane%s\n", f->g->host_links, hx_plural(f->g->host_links), planes, s);
    else
        printf(" on average: hosts have other links or rates than each other\n");
    printf("%-16s%.2f %% of injection at most: %.6g Gb/s a host\n", "all-to-all", 100 * f->alltoall_bound,
           f->alltoall_gbps);
    printf("%-16s%.0f $ a host, %.0f $ a link's rate of all-to-all, %.4g $ a Gb/s of a host\n", "price",
           f->usd_per_host, f->usd_per_global_link, f->usd_per_alltoall_gbps);
}

/* ---- comparison ---- */

enum { CELL = 32 };

/* A column: its name in --columns and JSON, its heading, and the function that writes a cell. The most important are
 * first. */
struct column {
    const char *word, *head;
    void (*write)(const struct figures *f, char cell[CELL]);
};

#define COLUMN(function, format, ...)                                                                                  \
    static void function(const struct figures *f, char cell[CELL])                                                     \
    {                                                                                                                  \
        (void)snprintf(cell, CELL, format, __VA_ARGS__);                                                               \
    }
COLUMN(write_hosts, "%" PRIu32, f->g->hosts)
COLUMN(write_injection, "%.6g", f->injection_gbps)
COLUMN(write_alltoall, "%.5g", f->alltoall_gbps)
COLUMN(write_cost, "%.2f", (double)f->bill.usd / 1e6)
COLUMN(write_price, "%.4g", f->usd_per_alltoall_gbps)
COLUMN(write_planes, "%u", f->g->bought_planes)
COLUMN(write_link, "%.6g", injection_link(&f->injection))
COLUMN(write_links, "%u", f->g->host_links)
COLUMN(write_switches, "%" PRIu64, f->bill.switches)
COLUMN(write_radix, "%u", f->radix)
COLUMN(write_dac, "%" PRIu64, f->bill.cables[HX_DAC])
COLUMN(write_aoc, "%" PRIu64, f->bill.cables[HX_AOC])
COLUMN(write_diameter, "%u", f->distances.diameter)
COLUMN(write_distance, "%.2f", f->distances.average)
COLUMN(write_bisection, "%s%" PRIu64, f->bisection.exact ? "" : "<=", f->bisection.links)
COLUMN(write_bound, "%.2f", 100 * f->alltoall_bound)
COLUMN(write_host_price, "%.0f", f->usd_per_host)
COLUMN(write_link_price, "%.0f", f->usd_per_global_link)

static const struct column columns_there[] = {{"hosts", "hosts", write_hosts},
                                              {"injection_gbps", "Gb/s", write_injection},
                                              {"alltoall_gbps", "all-to-all", write_alltoall},
                                              {"cost_per_alltoall_gbps", "$/Gb/s", write_price},
                                              {"cost_usd", "M$", write_cost},
                                              {"cost_planes", "planes", write_planes},
                                              {"host_links", "links", write_links},
                                              {"link_gbps", "link", write_link},
                                              {"switches", "switches", write_switches},
                                              {"dac", "DAC", write_dac},
                                              {"aoc", "AoC", write_aoc},
                                              {"radix", "radix", write_radix},
                                              {"diameter", "diameter", write_diameter},
                                              {"average_distance", "distance", write_distance},
                                              {"bisection", "bisection", write_bisection},
                                              {"alltoall_bound", "all-to-all %", write_bound},
                                              {"cost_per_host", "$ a host", write_host_price},
                                              {"cost_per_global_link", "$ a global link", write_link_price}};
enum { COLUMNS = sizeof columns_there / sizeof *columns_there };

static const struct column *column_of(const char *word)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        if (strcmp(columns_there[i].word, word) == 0)
            return &columns_there[i];
    return NULL;
}

void figures_check_columns(const struct columns *columns)
{
    char hint[HX_HINT_TEXT];
    const char *words[COLUMNS + 1] = {NULL};
    for (unsigned i = 0; i < COLUMNS; i++)
        words[i] = columns_there[i].word;
    for (unsigned i = 0; i < columns->count; i++)
        if (!column_of(columns->word[i]))
            hx_die(HX_EXIT_USAGE, "--columns", "'%s' is no column%s", columns->word[i],
                   hx_did_you_mean(hint, columns->word[i], words));
}

/* f NULL: the head. */
static void add_row(struct text_table *t, const struct figures *f, const struct column *const *column, unsigned count)
{
    char text[COLUMNS][CELL];
    const char *cells[COLUMNS + 1] = {f ? f->spec.name : "fabric"};
    for (unsigned i = 0; i < count; i++) {
        if (f)
            column[i]->write(f, text[i]);
        cells[i + 1] = f ? text[i] : column[i]->head;
    }
    text_table_cells(t, count + 1, cells);
}

/* Puts the rate of links before their number if it makes fabrics equal, so that a narrow table has it. */
static void order_links(const struct figures *all, unsigned count, const struct column **column)
{
    unsigned i = 0, links = 0;
    while (i < count && all[i].injection.rate == 1)
        i++;
    if (i == count)
        return;
    while (column[links]->write != write_links)
        links++;
    const struct column *number = column[links];
    column[links] = column[links + 1];
    column[links + 1] = number;
}

void figures_compare(const struct figures *all, unsigned count, const struct columns *columns)
{
    const struct column *column[COLUMNS];
    const char *heads[COLUMNS];
    unsigned shown = columns->count ? columns->count : COLUMNS;
    for (unsigned i = 0; i < shown; i++)
        column[i] = columns->count ? column_of(columns->word[i]) : &columns_there[i];
    if (!columns->count)
        order_links(all, count, column);
    for (unsigned i = 0; i < shown; i++)
        heads[i] = column[i]->word;
    struct text_table *t = text_table_new(1);
    add_row(t, NULL, column, shown);
    for (unsigned i = 0; i < count; i++)
        add_row(t, &all[i], column, shown);
    unsigned gone = columns->count ? 0 : text_table_narrow(t, TEXT_TABLE_WIDTH, 1, shown);
    text_table_print(t, stdout);
    columns_say_left_out(heads, shown, gone, stdout);
    text_table_free(t);
}
