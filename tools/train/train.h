/* train.h - `hxmesh train`: a job on one fabric or several, by runs and by estimates.
 *
 * Each fabric has a run (run.c), its report gives the figures, and an estimate beside it (estimate.h). Costs are
 * those of the planes that are simulated, so that time and cost are of one network; the planes that `hxmesh info`
 * prices are told beside. */
#ifndef HXMESH_TOOLS_TRAIN_TRAIN_H
#define HXMESH_TOOLS_TRAIN_TRAIN_H

#include "tools/injection.h"
#include "tools/train/estimate.h"
#include "tools/train/train_memory.h"
#include "topology/bill.h"

#include <jansson.h>

enum { TRAIN_FABRICS = HX_OPTION_MOST_ITEMS + 1 };

/* Of an iteration, seconds. */
struct train_times {
    bool there;
    double iteration;
    double ideal;     /* iteration if all arrived at once: computing and bubble */
    double computing; /* mean of the ranks */
};

struct train_fabric {
    const char *argument; /* spec string or file */
    struct hx_spec spec;
    struct hx_settings settings; /* of the run: the file's, overridden by options */
    bool folds;                  /* --place fold, which neither the user nor the file says */
    struct injected injected;
    double usd;        /* of the planes that are simulated */
    double usd_bought; /* of those that `hxmesh info` prices */
    unsigned bought;   /* number of these */
    struct train_times exact, estimate;
    struct train_spent spent; /* of the run, or of the estimate if only that is asked for; stages by the estimate */
    int exit_code;            /* of the run */
};

struct train {
    const struct hx_option *option; /* of a run, with `used`; ends with HX_OPTIONS_END */
    const bool *used;               /* by option */
    const char *timeline;
    double lifetime; /* years */
    struct hx_prices prices;
    struct injection_wish wish;
    bool only_estimate, quiet;
    bool must_fit; /* a model that does not fit is refused */
    struct train_job job;
    struct train_memory memory; /* of the job, if it is a model */
    struct train_fabric *fabric;
    unsigned fabrics;
};

/* Runs the job on a fabric and takes the figures of the report; prints one line if it fails. */
void train_run(const struct train *t, struct train_fabric *f);

/* The times that the report is about: the run's, or the estimate's if only that is asked for. */
const struct train_times *train_times_of(const struct train *t, const struct train_fabric *f);

/* Time that the network adds to computing and bubble, seconds. */
static inline double train_overhead(const struct train_times *times)
{
    return times->iteration - times->ideal;
}

/* Dollars of the fabric for so many seconds, over its lifetime. */
static inline double train_usd(const struct train *t, const struct train_fabric *f, double seconds)
{
    const double year = 365.25 * 24 * 3600;
    return f->usd * seconds / (t->lifetime * year);
}

/* Writes a rate for people, with four digits and a letter: "1638 k". Returns text, of HX_VALUE_TEXT bytes. */
const char *train_rate_text(char *text, double rate);

void train_print(const struct train *t);
json_t *train_json(const struct train *t);

#endif
