/* sweep.h - what `hxmesh sweep` varies, and what came out: axes of values, rows of figures, a table, CSV, JSON and a
 * plot.
 *
 *     64KiB,1MiB      a list                     1KiB..4MiB    a range: doubled from low on, and high
 *     0.1..0.9/9      nine values in even steps   1..8/8        likewise of whole numbers
 *     0.05..1         a range of shares: in steps of 0.05 */
#ifndef HXMESH_TOOLS_SWEEP_H
#define HXMESH_TOOLS_SWEEP_H

#include "spec/spec.h"
#include "tools/draw/columns.h"
#include "tools/injection.h"
#include "tools/origin.h"

#include <jansson.h>

enum { SWEEP_FABRICS = 32, SWEEP_VALUES = 256, SWEEP_VALUE = 96, SWEEP_AXES = 48, SWEEP_RUNS = 100000 };

struct sweep_value {
    char text[SWEEP_VALUE]; /* as it stands on the command line */
    double number;          /* not of words */
};

/* One thing that is varied, or has one value throughout. */
struct sweep_axis {
    const struct hx_option *option; /* of `hxmesh run`; NULL: the fabric */
    bool numeric, doubling;         /* doubling: its steps, on a plot too */
    bool sometimes;                 /* its option is for some of the runs only */
    unsigned count;
    struct sweep_value value[SWEEP_VALUES];
};

/* "spec", or the option's name. */
const char *sweep_axis_name(const struct sweep_axis *axis);

/* Appends the values that `text` stands for, each as the option takes it, where it leaves the last one. NULL if it is
 * good, else what is wrong. */
const char *sweep_axis_add(struct sweep_axis *axis, const char *text);

/* A search for the rate up to which a fabric delivers what it is offered: by bisection between a rate that holds and
 * one that does not, until they are as near to each other as SWEEP_NEAR says. The whole, 1, is tried first. */
struct sweep_search {
    double holds, fails; /* 0 and above 1 at first */
    double rate;         /* to be tried now */
};
#define SWEEP_HELD  0.95  /* of what was offered */
#define SWEEP_NEAR  0.01  /* of the rate that does not hold */
#define SWEEP_LEAST 0.001 /* a rate that is not tried */

struct sweep_search sweep_search_start(void);
/* Whether that much of what was offered at the rate came. Returns whether the rate that is now there is to be tried:
 * else it is over. */
bool sweep_search_take(struct sweep_search *s, bool held);

struct sweep_row {
    json_t *figures;            /* parameters and flat figures of a run that has reported; NULL: none */
    int exit_code;              /* of the run; -1: it was not run, or interrupted */
    bool again;                 /* the same as an earlier one, but for an option that is not for it: it is not run */
    struct sweep_search search; /* where saturation is looked for */
};

struct sweep {
    struct sweep_axis *axis[SWEEP_AXES]; /* the last one varies fastest */
    unsigned axes;
    const char *y;       /* the figure that is looked for */
    bool y_given;        /* by the user */
    const char *x;       /* name of an axis; NULL: the numeric one with most values */
    const char *over;    /* a figure to draw y over, along that axis; NULL: over the axis itself */
    const char *command; /* of the sweep itself */
    bool saturation;     /* each run is a search for its rate */
    bool equal;          /* planes and rates are set so that all fabrics inject alike */
    unsigned fabrics;
    struct injection injection[SWEEP_FABRICS]; /* of each fabric, in the order of the first axis */
    struct hx_timing timing[SWEEP_FABRICS];    /* likewise: what its links have, before they are made equal */
    struct columns columns;                    /* that were asked for; none: the usual ones */
    unsigned runs;
    struct sweep_row *row; /* [runs] */
    struct origin origin;
};

/* Runs that all values of all axes make; SWEEP_RUNS + 1: more than can be. */
unsigned sweep_count(const struct sweep *s);
/* The value of an axis in a run. */
const struct sweep_value *sweep_value(const struct sweep *s, unsigned run, unsigned axis);

/* A report, flat: keys of inner objects behind those of their object and a dot; no lists. Parameters first. */
json_t *sweep_flatten(const struct sweep *s, unsigned run, const json_t *report);

/* Whether a report can have a figure of this name, or a search finds it. */
bool sweep_is_figure(const char *name);
/* Dies with HX_EXIT_USAGE unless a report can have a figure of this name, which `option` is to say. */
void sweep_figure_check(const char *option, const char *name);

/* What stands above its column. */
const char *sweep_figure_head(const char *name);

/* The unit of a figure, as it stands behind its name; "": it is a count. */
const char *sweep_figure_unit(const char *name);

/* Says of each axis whether its option is for some runs only, as --algorithm is for collectives: the others are run
 * without it, once. */
void sweep_find_applying(struct sweep *s);
/* Whether the run has that option. */
bool sweep_applies(const struct sweep *s, unsigned run, unsigned axis);
/* Whether it differs from an earlier run only by options that neither has. */
bool sweep_is_again(const struct sweep *s, unsigned run);

/* The axis of that name; NULL: there is none. */
const struct sweep_axis *sweep_axis_of(const struct sweep *s, const char *name);

/* Notes what the hosts of the next fabric inject: of so many planes (0: of its own number), with these timings over its
 * own. */
void sweep_injection_add(struct sweep *s, const struct hx_spec *spec, uint64_t planes, const struct hx_timing *over);
/* When all axes are there: makes what hosts inject equal where s->equal says it, else warns where it is not. Dies with
 * HX_EXIT_USAGE where it cannot be. */
void sweep_injection_settle(struct sweep *s);
/* The place of the run's fabric. */
unsigned sweep_fabric(const struct sweep *s, unsigned run);

/* The axis of a plot's x; NULL: nothing numeric is varied (or nothing of that name). */
const struct sweep_axis *sweep_x(const struct sweep *s);

void sweep_print(const struct sweep *s, FILE *out);
void sweep_write_csv(const struct sweep *s, const char *path);
void sweep_write_json(const struct sweep *s, const char *path);
void sweep_write_plot(const struct sweep *s, const char *path);

#endif
