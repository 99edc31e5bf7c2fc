/* algorithms.c - collectives by several algorithms side by side, a column for each, as nccl-tests prints one
 * (tools/sweep/sweep.h). */
#include "base/error.h"
#include "tools/draw/text_table.h"
#include "tools/sweep/sweep.h"

#include <math.h>
#include <string.h>

enum { LEFT = TEXT_TABLE_COLUMNS - HX_ALGORITHMS /* most columns for other values */ };
_Static_assert(LEFT >= 2, "columns for a fabric and a size");

static unsigned stride_of(const struct sweep *s, unsigned axis)
{
    unsigned stride = 1;
    for (unsigned i = axis + 1; i < s->axes; i++)
        stride *= s->axis[i]->count;
    return stride;
}

static unsigned number_of(const struct sweep *s, unsigned run, unsigned axis)
{
    return run / stride_of(s, axis) % s->axis[axis]->count;
}

/* The run with value number `value` of an axis, and otherwise the values of `run`. */
static unsigned run_with(const struct sweep *s, unsigned run, unsigned axis, unsigned value)
{
    unsigned stride = stride_of(s, axis);
    return run - number_of(s, run, axis) * stride + value * stride;
}

static unsigned axis_named(const struct sweep *s, const char *name)
{
    unsigned i = 0;
    while (i < s->axes && strcmp(sweep_axis_name(s->axis[i]), name) != 0)
        i++;
    return i;
}

unsigned sweep_algorithms(const struct sweep *s)
{
    unsigned axis = axis_named(s, "algorithm");
    unsigned runs = sweep_count(s);
    if (axis == s->axes || s->axis[axis]->count < 2 || s->axis[axis]->count > HX_ALGORITHMS)
        return s->axes;
    for (unsigned run = 0; run < runs; run++)
        if (sweep_mask(s, run) & HX_FOR_ANY_PATTERN & ~HX_FOR_COLLECTIVES)
            return s->axes;
    return axis;
}

/* ---- algorithms that a fabric or a size does not have ---- */

bool sweep_leave_out(struct sweep *s, unsigned run, const char *why)
{
    unsigned axis = axis_named(s, "algorithm");
    if (axis == s->axes || !s->axis[axis]->all || !sweep_applies(s, run, axis))
        return false;
    size_t bytes = strlen(why) + 1;
    s->row[run].left_out = memcpy(hx_allocate(bytes, 1), why, bytes);
    return true;
}

static bool all_are_left_out(const struct sweep *s, unsigned run, unsigned axis)
{
    for (unsigned i = 0; i < s->axis[axis]->count; i++)
        if (!s->row[run_with(s, run, axis, i)].left_out)
            return false;
    return true;
}

void sweep_settle_left_out(struct sweep *s, void (*refused)(const struct sweep *s, unsigned run, const char *why))
{
    unsigned axis = axis_named(s, "algorithm");
    for (unsigned run = 0; axis < s->axes && run < s->runs; run++) {
        if (number_of(s, run, axis) > 0 || !all_are_left_out(s, run, axis))
            continue;
        refused(s, run, s->row[run].left_out);
        for (unsigned i = 0; i < s->axis[axis]->count; i++) {
            struct sweep_row *row = &s->row[run_with(s, run, axis, i)];
            HX_FREE(row->left_out);
            row->left_out = NULL;
        }
    }
}

/* Number of runs that are left out of those with a value; *first is one of them. */
static unsigned left_out_of(const struct sweep *s, unsigned axis, unsigned value, unsigned *first)
{
    unsigned count = 0;
    for (unsigned run = s->runs; run-- > 0;) {
        if (number_of(s, run, axis) != value || !s->row[run].left_out)
            continue;
        *first = run;
        count++;
    }
    return count;
}

/* Whether a value before this one is left out of as many runs. */
static bool is_said(const struct sweep *s, unsigned axis, unsigned value, unsigned count)
{
    unsigned first;
    for (unsigned i = 0; i < value; i++)
        if (left_out_of(s, axis, i, &first) == count)
            return true;
    return false;
}

void sweep_say_left_out(const struct sweep *s, FILE *out)
{
    unsigned axis = axis_named(s, "algorithm");
    unsigned values = axis < s->axes ? s->axis[axis]->count : 0;
    for (unsigned i = 0; i < values; i++) {
        char names[HX_ALGORITHMS * SWEEP_VALUE] = "";
        unsigned first;
        unsigned other;
        unsigned count = left_out_of(s, axis, i, &first);
        if (!count || is_said(s, axis, i, count))
            continue;
        for (unsigned k = i; k < values; k++) {
            size_t used = strlen(names);
            if (left_out_of(s, axis, k, &other) == count)
                (void)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                               s->axis[axis]->value[k].text);
        }
        if (out)
            fprintf(out, "  left out of %u of %u runs: %s; first refusal: %s\n", count, s->runs / values, names,
                    s->row[first].left_out);
        else
            hx_warn("--algorithm", "left out of %u of %u runs: %s; first refusal: %s", count, s->runs / values, names,
                    s->row[first].left_out);
    }
}

/* ---- table ---- */

#define TIME "collective.seconds"
#define BUS  "collective.bus_gbps"

struct columns_of {
    const struct sweep *s;
    unsigned axis;                                 /* of algorithms */
    unsigned left[LEFT], lefts;                    /* axes with a column each */
    unsigned algorithm[HX_ALGORITHMS], algorithms; /* values with a column each */
};

static struct columns_of columns_of(const struct sweep *s)
{
    struct columns_of c = {.s = s, .axis = sweep_algorithms(s)};
    unsigned message = axis_named(s, "message");
    unsigned first;
    for (unsigned i = 0; i < s->axes && c.lefts < LEFT; i++)
        if (i != c.axis && (s->axis[i]->count > 1 || i == message))
            c.left[c.lefts++] = i;
    unsigned values = s->axis[c.axis]->count;
    for (unsigned i = 0; i < values; i++)
        if (left_out_of(s, c.axis, i, &first) < s->runs / values)
            c.algorithm[c.algorithms++] = i;
    return c;
}

/* Least time of the good runs in a line; NAN: none. */
static double least_time(const struct columns_of *c, unsigned run)
{
    double least = NAN;
    for (unsigned i = 0; i < c->algorithms; i++) {
        const struct sweep_row *row = &c->s->row[run_with(c->s, run, c->axis, c->algorithm[i])];
        if (row->exit_code == HX_EXIT_DONE)
            least = fmin(least, sweep_figure(row, TIME));
    }
    return least;
}

enum { CELL = 2 * HX_VALUE_TEXT };

static void write_cell(char cell[CELL], const struct sweep *s, const struct sweep_row *row, double least)
{
    char time[HX_VALUE_TEXT];
    char bus[HX_VALUE_TEXT] = "-";
    double seconds = sweep_figure(row, TIME);
    double gbps = sweep_figure(row, BUS);
    if (isfinite(gbps))
        (void)snprintf(bus, sizeof bus, "%.1f", gbps);
    if (row->left_out)
        (void)snprintf(cell, CELL, "-");
    else if (row->exit_code != HX_EXIT_DONE)
        (void)snprintf(cell, CELL, "%s", sweep_outcome(s, row));
    else
        (void)snprintf(cell, CELL, "%s%8s %6s", seconds <= least ? "*" : " ", sweep_figure_text(time, TIME, seconds),
                       bus);
}

static void add_line(struct text_table *t, const struct columns_of *c, unsigned run)
{
    const char *cells[TEXT_TABLE_COLUMNS];
    char text[HX_ALGORITHMS][CELL];
    unsigned n = 0;
    double least = least_time(c, run);
    for (unsigned i = 0; i < c->lefts; i++)
        cells[n++] = sweep_value(c->s, run, c->left[i])->text;
    for (unsigned i = 0; i < c->algorithms; i++) {
        write_cell(text[i], c->s, &c->s->row[run_with(c->s, run, c->axis, c->algorithm[i])], least);
        cells[n++] = text[i];
    }
    text_table_cells(t, n, cells);
}

/* Adds two lines: names, and what stands below them. */
static void add_heads(struct text_table *t, const struct columns_of *c)
{
    const char *names[TEXT_TABLE_COLUMNS];
    const char *units[TEXT_TABLE_COLUMNS];
    unsigned n = 0;
    for (unsigned i = 0; i < c->lefts; i++, n++) {
        const char *name = sweep_axis_name(c->s->axis[c->left[i]]);
        names[n] = strcmp(name, "message") == 0 ? "size" : name;
        units[n] = " ";
    }
    for (unsigned i = 0; i < c->algorithms; i++, n++) {
        names[n] = c->s->axis[c->axis]->value[c->algorithm[i]].text;
        units[n] = "time   Gb/s";
    }
    text_table_cells(t, n, names);
    text_table_cells(t, n, units);
}

void sweep_print_algorithms(const struct sweep *s, FILE *out)
{
    const struct columns_of c = columns_of(s);
    struct text_table *t = text_table_new(c.lefts);
    add_heads(t, &c);
    for (unsigned run = 0; run < s->runs; run++)
        if (number_of(s, run, c.axis) == 0)
            add_line(t, &c, run);
    text_table_print(t, out);
    fprintf(out, "  * least time; Gb/s: bus bandwidth\n");
    text_table_free(t);
}
