/* sweep.h - parameters and results of `hxmesh sweep`: axes of values, rows of figures, a table, CSV, JSON and a plot.
 *
 *     64KiB,1MiB      a list                     1KiB..4MiB    a range: doubled from low on, and high
 *     0..32           of a count: 0, 1, 2, 4 and so on
 *     0.1..0.9/9      nine values in even steps   1..8/8        eight whole numbers in even steps
 *     0.05..1         a range of shares: in steps of 0.05
 *     batch=8,16      of --set: values of a parameter of a schedule, an axis for each name; also batch=8..64
 *     all             of --algorithm: every one but `best`, and of these the ones that a run accepts */
#ifndef HXMESH_TOOLS_SWEEP_H
#define HXMESH_TOOLS_SWEEP_H

#include "spec/spec.h"
#include "tools/draw/columns.h"
#include "tools/injection.h"
#include "tools/origin.h"

#include <jansson.h>

enum {
    SWEEP_FABRICS = 32,
    SWEEP_VALUES = 256,
    SWEEP_VALUE = 96,
    SWEEP_NAME = 64,
    SWEEP_AXES = 48,
    SWEEP_RUNS = 100000
};

struct sweep_value {
    char text[SWEEP_VALUE]; /* as on the command line */
    double number;          /* 0 if not numeric */
};

/* A parameter with one or more values. */
struct sweep_axis {
    const struct hx_option *option; /* option of `hxmesh run`; NULL: the fabric */
    char set[SWEEP_NAME];           /* of --set: "set." and the name of the parameter; else "" */
    struct hx_option parameter;     /* of --set: --set itself, with the kind of the values */
    bool numeric, doubling;         /* doubling: logarithmic steps, in plots too */
    bool sometimes;                 /* the option applies to some of the runs only */
    bool all;                       /* has values of `all`: a run that refuses one is left out */
    unsigned count;
    struct sweep_value value[SWEEP_VALUES];
};

/* "spec", or the option's name, or "set.NAME". */
const char *sweep_axis_name(const struct sweep_axis *axis);

/* Appends the values that `text` stands for, as the option parses them; the option's variable keeps the last one.
 * Returns an error, or NULL. */
const char *sweep_axis_add(struct sweep_axis *axis, const char *text, char *why);

/* Splits NAME=VALUES of --set, and sets what the axis is called. Returns the values; NULL: it is not of this form. */
const char *sweep_set_values(struct sweep_axis *axis, const char *text);
/* Appends values of a parameter, as sweep_axis_add() does. A comma in brackets or quotes is part of a value. */
const char *sweep_set_add(struct sweep_axis *axis, const struct hx_option *set, const char *values, char *why);
/* Length of the value that text begins with: up to a comma that is in no brackets and quotes. */
size_t sweep_set_length(const char *text);

/* A search for the highest rate that a fabric delivers. Bisects between a rate that holds and one that fails until they
 * are as near as SWEEP_NEAR. Tries the full rate, 1, first. */
struct sweep_search {
    double holds, fails; /* initially 0 and above 1 */
    double rate;         /* to try next */
};
#define SWEEP_HELD  0.95  /* delivered share of the offered load at which a rate holds */
#define SWEEP_NEAR  0.01  /* relative to the rate that fails */
#define SWEEP_LEAST 0.001 /* lowest rate that is tried */

struct sweep_search sweep_search_start(void);
/* Takes the result of a run at s->rate: whether it held. Returns true if s->rate is another rate to try; false: the
 * search is over. */
bool sweep_search_take(struct sweep_search *s, bool held);

struct sweep_row {
    json_t *figures;            /* parameters and flat figures of a run; NULL: no report */
    int exit_code;              /* of the run; -1: not run, or interrupted */
    char *left_out;             /* why the run refused an algorithm of `all`; NULL: it did not, or all refused */
    bool again;                 /* not run: it differs from an earlier run only by an option that does not apply */
    struct sweep_search search; /* with --saturation */
};

struct sweep {
    struct sweep_axis *axis[SWEEP_AXES]; /* the last one varies fastest */
    unsigned axes;
    const char *y;              /* figure of the plot */
    bool y_given;               /* by the user */
    const char *x;              /* name of an axis; NULL: the numeric one with most values */
    bool relative;              /* each line of the plot is a share of its first point */
    const char *over;           /* figure for the plot's x axis, in place of the axis itself; NULL: none */
    const char *command;        /* of the sweep itself */
    bool saturation;            /* each run is a search for its rate */
    struct injection_wish wish; /* by which planes and rates of fabrics are set */
    unsigned fabrics;
    struct injected injected[SWEEP_FABRICS]; /* in the order of the first axis */
    struct columns columns;                  /* chosen by the user; empty: the default ones */
    unsigned runs;
    struct sweep_row *row; /* [runs] */
    struct origin origin;
};

/* Number of combinations of values; SWEEP_RUNS + 1: too many. */
unsigned sweep_count(const struct sweep *s);
const struct sweep_value *sweep_value(const struct sweep *s, unsigned run, unsigned axis);

/* Flattens a report: "outer.inner" keys, without lists. Parameters come first. */
json_t *sweep_flatten(const struct sweep *s, unsigned run, const json_t *report);

/* Seconds of an iteration of a report's schedules, of the one where it is longest; NAN: none. */
double sweep_iteration(const json_t *report);

/* A figure of a run; NAN: none. */
double sweep_figure(const struct sweep_row *row, const char *name);
/* Formats a figure: shares in percent, times with their unit. */
const char *sweep_figure_text(char text[HX_VALUE_TEXT], const char *name, double value);
/* "good", "unstable" of a load above what the fabric carries, "full rate" at --rate 1 among other rates, or what became
 * of the run. */
const char *sweep_outcome(const struct sweep *s, const struct sweep_row *row);

/* Whether a report or a search can have a figure of this name. */
bool sweep_is_figure(const char *name);
/* Dies with HX_EXIT_USAGE unless it can; `option` named it. */
void sweep_figure_check(const char *option, const char *name);

/* ---- several seeds (seeds.c): the last axis; its runs become one ---- */

#define SWEEP_INTERVAL ".ci95" /* after the name of a figure: half of its 95 % interval */
enum { SWEEP_INTERVAL_NAME = 136 };

/* The name of a figure's interval. Returns name. */
const char *sweep_interval_name(char name[SWEEP_INTERVAL_NAME], const char *figure);
/* Makes one row of the runs of all seeds: a figure is their mean, with its interval beside it. What one run lacks, as
 * the latency of an unstable load, the row lacks. Call after all runs. */
void sweep_combine_seeds(struct sweep *s);

/* The heading of its column. */
const char *sweep_figure_head(const char *name);

/* The unit of a figure; "": a count. */
const char *sweep_figure_unit(const char *name);

/* Finds the axes with options that apply to some runs only, as --algorithm to collectives. Other runs are made without
 * them, once. */
void sweep_find_applying(struct sweep *s);
bool sweep_applies(const struct sweep *s, unsigned run, unsigned axis);
/* The clock and pattern of a run, as HX_FOR_ bits; any, if they are not on the command line. */
uint64_t sweep_mask(const struct sweep *s, unsigned run);
/* Whether it differs from an earlier run only by options that apply to neither. */
bool sweep_is_again(const struct sweep *s, unsigned run);

/* ---- a table of algorithms: a column for each (algorithms.c) ---- */

/* Index of the axis of algorithms, if all runs are collectives and it has several values, at most HX_ALGORITHMS;
 * s->axes: none. */
unsigned sweep_algorithms(const struct sweep *s);
/* Takes the refusal of a run, HX_EXIT_CONFIG and why. Returns whether it is left out. */
bool sweep_leave_out(struct sweep *s, unsigned run, const char *why);
/* Where every algorithm was refused, none is left out. Call after all runs. Calls `refused` for the first of these. */
void sweep_settle_left_out(struct sweep *s, void (*refused)(const struct sweep *s, unsigned run, const char *why));
/* Says which algorithms are left out of how many runs, and why: below a table, or as warnings (out NULL). */
void sweep_say_left_out(const struct sweep *s, FILE *out);
/* Prints time and bus bandwidth of each algorithm, a line for each combination of the other values. */
void sweep_print_algorithms(const struct sweep *s, FILE *out);

/* The axis of that name; NULL: none. */
const struct sweep_axis *sweep_axis_of(const struct sweep *s, const char *name);

/* Notes the injection of the next fabric, with `planes` planes (0: its own) and the timings `over` over its own. */
void sweep_injection_add(struct sweep *s, const struct hx_spec *spec, uint64_t planes, const struct hx_timing *over);
/* Called when all axes are complete. If it is wished, makes injection equal, or dies with HX_EXIT_USAGE if it cannot;
 * else warns if it is not equal. */
void sweep_injection_settle(struct sweep *s);
/* Index of the run's fabric. */
unsigned sweep_fabric(const struct sweep *s, unsigned run);

/* The axis for a plot's x; NULL: nothing numeric (or of the given name) is varied. */
const struct sweep_axis *sweep_x(const struct sweep *s);

void sweep_print(const struct sweep *s, FILE *out);
void sweep_write_csv(const struct sweep *s, const char *path);
void sweep_write_json(const struct sweep *s, const char *path);
void sweep_write_plot(const struct sweep *s, const char *path);

#endif
