/* timeline_svg.c - operations as a picture (timeline.h): a row for each rank, in it a strip for each kind.
 *
 * Colours are those of kinds. If some operations have purposes, communication has the colour of its purpose. Operations
 * of a strip and colour that overlap become one shape, also those that are closer than a quarter of a pixel if one of
 * them is narrower than a pixel. If the picture has too many shapes, both limits grow, and the picture says so. */
#include "base/plot_ticks.h"
#include "base/svg.h"
#include "base/value.h"
#include "fabric-emu/report/entries.h"
#include "fabric-emu/report/timeline.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_ROWS = 64, MOST_SHAPES = 20000 };

/* Pixels. */
enum { LEFT = 110, RIGHT = 1130, WIDTH = 1160, TOP = 92, LEGEND = 72, ROW = 25, BELOW = 90, FOOT_LINE = 16 };
#define LEAST_SHAPE 0.8
#define EDGED_SHAPE 3.0

enum strip { COMPUTING, COLLECTIVES, SENDS, RECEIVES, STRIPS };
static const struct {
    const char *name;
    double y, height; /* in the row */
} strips[STRIPS] = {{"computing", 1, 9}, {"collective", 11, 4}, {"send", 16, 3}, {"receive", 19.5, 3}};

struct row {
    const struct schedule_job *job;
    uint32_t rank;
};

enum { COMPUTING_COLOUR = 0, OTHER_COLOUR = SVG_COLOURS - 1, MOST_PURPOSES = SVG_COLOURS - 2 };

struct picture {
    FILE *out;                          /* NULL: shapes are only counted */
    const char *purpose[MOST_PURPOSES]; /* those with a colour, 1 and up: the first ones of all jobs */
    unsigned purposes;                  /* 0: colours are those of kinds */
    struct row row[MOST_ROWS];
    unsigned rows;
    uint64_t ranks;       /* of all jobs */
    uint64_t begin, end;  /* ps, of all operations in the picture */
    uint64_t gap, no_gap; /* ps: smaller gaps may close; a quarter of a pixel */
    size_t shapes;
    struct plot_ticks ticks;
    double unit; /* ps */
};

/* ---- what is shown ---- */

static void choose_rows(struct picture *s, const struct schedule_plan *p)
{
    for (unsigned i = 0; i < p->jobs; i++) {
        uint32_t ranks = schedule_ranks(p->job[i].schedule);
        unsigned end = MOST_ROWS * (i + 1) / p->jobs; /* each job has a share; a small one leaves rows to the next */
        for (uint32_t rank = 0; rank < ranks && s->rows < end; rank++)
            s->row[s->rows++] = (struct row){&p->job[i], rank};
        s->ranks += ranks;
    }
}

/* Number of a purpose among those with a colour; s->purposes: it has none. */
static unsigned find_purpose(const struct picture *s, const char *name)
{
    unsigned i = 0;
    while (i < s->purposes && strcmp(s->purpose[i], name) != 0)
        i++;
    return i;
}

static void choose_purposes(struct picture *s, const struct schedule_plan *p)
{
    for (unsigned i = 0; i < p->jobs; i++) {
        const struct schedule *job = p->job[i].schedule;
        for (unsigned n = 1; n < SCHEDULE_MOST_PURPOSES && job->head->purpose[n] != SCHEDULE_NO_NAME; n++) {
            const char *name = job->names + job->head->purpose[n];
            if (s->purposes < MOST_PURPOSES && find_purpose(s, name) == s->purposes)
                s->purpose[s->purposes++] = name;
        }
    }
}

static void choose_times(struct picture *s)
{
    s->begin = UINT64_MAX;
    for (unsigned n = 0; n < s->rows; n++) {
        const struct entries k = entries_of(s->row[n].job, s->row[n].rank);
        for (uint64_t i = k.first; i < k.end; i++) {
            const struct executor_entry *e = entries_at(&k, i);
            s->begin = e->begin < s->begin ? e->begin : s->begin;
            s->end = e->end > s->end ? e->end : s->end;
        }
    }
    s->begin = s->begin < s->end ? s->begin : 0;
}

static const char *choose_unit(struct picture *s)
{
    static const char *const names[] = {"time (ns)", "time (us)", "time (ms)", "time (s)"};
    unsigned i = 0;
    s->unit = 1e3;
    for (; i + 1 < sizeof names / sizeof *names && (double)s->end >= s->unit * 1e3; i++)
        s->unit *= 1e3;
    s->ticks = plot_ticks(PLOT_LINEAR, (double)s->begin / s->unit, (double)s->end / s->unit);
    if (s->begin < s->end) { /* the axis ends with the operations */
        s->ticks.low = (double)s->begin / s->unit;
        s->ticks.high = (double)s->end / s->unit;
    }
    return names[i];
}

/* ---- shapes ---- */

static double across(const struct picture *s, uint64_t ps)
{
    return LEFT + (RIGHT - LEFT) * plot_place(PLOT_LINEAR, &s->ticks, (double)ps / s->unit);
}

static void add_shape(struct picture *s, unsigned row, enum strip strip, unsigned colour,
                      const struct executor_entry *e)
{
    char fill[80];
    s->shapes++;
    if (!s->out)
        return;
    double left = across(s, e->begin);
    double width = across(s, e->end) - left;
    (void)snprintf(fill, sizeof fill, "fill=\"%s\"%s", svg_colours[colour],
                   width < EDGED_SHAPE ? "" : " stroke=\"#ffffff\" stroke-width=\"0.5\"");
    svg_box(s->out, left, TOP + ROW * (double)row + strips[strip].y, width < LEAST_SHAPE ? LEAST_SHAPE : width,
            strips[strip].height, fill);
}

static enum strip strip_of(const struct schedule_operation *o)
{
    switch (o->kind) {
    case SCHEDULE_COMPUTE:
        return COMPUTING;
    case SCHEDULE_SEND:
        return SENDS;
    case SCHEDULE_RECEIVE:
        return RECEIVES;
    case SCHEDULE_COLLECTIVE:
        return COLLECTIVES;
    default:
        return STRIPS; /* a repeat is not shown */
    }
}

static unsigned colour_of(const struct picture *s, const struct schedule *job, const struct schedule_operation *o)
{
    if (!s->purposes || o->kind == SCHEDULE_COMPUTE)
        return strip_of(o);
    unsigned purpose = find_purpose(s, schedule_purpose(job, o));
    return purpose < s->purposes ? 1 + purpose : OTHER_COLOUR;
}

static bool is_narrow(const struct picture *s, const struct executor_entry *e)
{
    return e->end - e->begin < 4 * s->gap;
}

/* `e` ends before `open` or with it. */
static bool joins(const struct picture *s, const struct executor_entry *e, const struct executor_entry *open)
{
    bool is_close = e->end + s->gap >= open->begin;
    return e->end > open->begin || (is_close && (is_narrow(s, e) || is_narrow(s, open)));
}

/* Goes from the latest end to the earliest, so that each operation joins the open shape or lies before it. */
static void add_row(struct picture *s, unsigned row)
{
    const struct schedule_job *job = s->row[row].job;
    const struct entries k = entries_of(job, s->row[row].rank);
    struct executor_entry open[STRIPS][SVG_COLOURS];
    bool any[STRIPS][SVG_COLOURS] = {{false}};
    for (uint64_t i = k.end; i > k.first; i--) {
        const struct executor_entry *e = entries_at(&k, i - 1);
        const struct schedule_operation *o = schedule_at(job->schedule, s->row[row].rank, e->operation);
        enum strip strip = strip_of(o);
        if (strip == STRIPS)
            continue;
        unsigned colour = colour_of(s, job->schedule, o);
        struct executor_entry *other = &open[strip][colour];
        if (any[strip][colour] && joins(s, e, other)) {
            other->begin = e->begin < other->begin ? e->begin : other->begin;
            continue;
        }
        if (any[strip][colour])
            add_shape(s, row, strip, colour, other);
        *other = *e;
        any[strip][colour] = true;
    }
    for (unsigned i = 0; i < STRIPS * SVG_COLOURS; i++) {
        if (any[i / SVG_COLOURS][i % SVG_COLOURS])
            add_shape(s, row, i / SVG_COLOURS, i % SVG_COLOURS, &open[i / SVG_COLOURS][i % SVG_COLOURS]);
    }
}

static void add_rows(struct picture *s)
{
    s->shapes = 0;
    for (unsigned row = 0; row < s->rows; row++)
        add_row(s, row);
}

static void choose_gap(struct picture *s)
{
    s->no_gap = (s->end - s->begin) / (4U * (RIGHT - LEFT));
    s->gap = s->no_gap;
    for (add_rows(s); s->shapes > MOST_SHAPES; add_rows(s))
        s->gap = 2 * s->gap + 1;
}

/* ---- around them ---- */

static void draw_axes(const struct picture *s, const char *unit)
{
    char label[80];
    double bottom = TOP + ROW * (double)s->rows;
    for (unsigned i = 0; i < s->ticks.count; i++) {
        double share = plot_place(PLOT_LINEAR, &s->ticks, s->ticks.at[i]);
        double x = LEFT + (RIGHT - LEFT) * share;
        if (share < -1e-9 || share > 1 + 1e-9)
            continue;
        svg_line(s->out, x, TOP, x, bottom + 5, "stroke=\"#dddddd\"");
        (void)snprintf(label, sizeof label, "%.8g", s->ticks.at[i]);
        svg_text(s->out, x, bottom + 19, "text-anchor=\"middle\"", label);
    }
    svg_line(s->out, LEFT, bottom, RIGHT, bottom, "stroke=\"#333333\"");
    svg_text(s->out, (LEFT + RIGHT) / 2.0, bottom + 42, "text-anchor=\"middle\"", unit);
    for (unsigned n = 0; n < s->rows; n++) {
        bool many = s->row[n].job != s->row[0].job || s->row[n].job != s->row[s->rows - 1].job;
        int used = many ? snprintf(label, sizeof label, "job %u, ", s->row[n].job->tag) : 0;
        (void)snprintf(label + used, sizeof label - (size_t)used, "rank %" PRIu32, s->row[n].rank);
        svg_text(s->out, LEFT - 8, TOP + ROW * (double)n + 15, "text-anchor=\"end\"", label);
    }
}

static void draw_key(const struct picture *s, unsigned place, unsigned colour, const char *name)
{
    char fill[32];
    char text[20];
    (void)snprintf(fill, sizeof fill, "fill=\"%s\"", svg_colours[colour]);
    (void)snprintf(text, sizeof text, "%.15s", name);
    svg_box(s->out, LEFT + 130 * (double)place, LEGEND - 10, 20, 10, fill);
    svg_text(s->out, LEFT + 130 * (double)place + 26, LEGEND, "", text);
}

static void draw_legend(const struct picture *s)
{
    for (unsigned strip = 0; strip < STRIPS && !s->purposes; strip++)
        draw_key(s, strip, strip, strips[strip].name);
    if (!s->purposes)
        return;
    draw_key(s, 0, COMPUTING_COLOUR, strips[COMPUTING].name);
    for (unsigned i = 0; i < s->purposes; i++)
        draw_key(s, 1 + i, 1 + i, s->purpose[i]);
    draw_key(s, 1 + s->purposes, OTHER_COLOUR, "other");
}

/* Says what the picture leaves out; `out` NULL: returns the lines only. */
static unsigned draw_foot(const struct picture *s, const struct schedule_plan *p, FILE *out)
{
    const struct timeline_counts c = timeline_count(p);
    char line[3][160];
    char gap[HX_VALUE_TEXT];
    unsigned lines = 0;
    if (s->rows < s->ranks)
        (void)snprintf(line[lines++], sizeof *line, "%u of %" PRIu64 " ranks are shown.", s->rows, s->ranks);
    if (c.kept < c.ended)
        (void)snprintf(line[lines++], sizeof *line,
                       "The last %" PRIu64 " of %" PRIu64
                       " operations of all ranks were kept; earlier ones are left out.",
                       c.kept, c.ended);
    if (s->gap > s->no_gap)
        (void)snprintf(line[lines++], sizeof *line, "Operations of a kind that are closer than %s are drawn as one.",
                       hx_value_print_duration(gap, s->gap / 1000));
    for (unsigned i = 0; out && i < lines; i++)
        svg_text(out, LEFT, TOP + ROW * (int)s->rows + 64 + FOOT_LINE * (int)i, "font-size=\"11\" fill=\"#555555\"",
                 line[i]);
    return lines;
}

void timeline_picture(const struct schedule_plan *p, FILE *out)
{
    struct picture s = {.rows = 0};
    char note[400];
    char time[HX_VALUE_TEXT];
    choose_rows(&s, p);
    choose_purposes(&s, p);
    choose_times(&s);
    const char *unit = choose_unit(&s);
    choose_gap(&s);
    s.out = out;
    svg_begin(out, WIDTH, TOP + ROW * (int)s.rows + BELOW + FOOT_LINE * (int)draw_foot(&s, p, NULL));
    svg_text(out, LEFT, 28, "font-size=\"17\" font-weight=\"bold\"", "What each rank did");
    (void)snprintf(note, sizeof note, "%.200s%s on %.120s, until %s%s", p->jobs ? p->job[0].path : "",
                   p->jobs > 1 ? ", ..." : "", p->traffic->spec->name, hx_value_print_duration(time, s.end / 1000),
                   s.purposes ? "; from above: computing, collectives, sends, receives" : "");
    svg_text(out, LEFT, 48, "fill=\"#555555\"", note);
    draw_legend(&s);
    draw_axes(&s, unit);
    add_rows(&s);
    (void)draw_foot(&s, p, out);
    svg_end(out);
}
