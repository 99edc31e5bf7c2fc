/* fabrics.h - the fabrics that a job is trained on, and the options of runs on them. */
#ifndef HXMESH_TOOLS_TRAIN_FABRICS_H
#define HXMESH_TOOLS_TRAIN_FABRICS_H

#include "base/options/options.h"
#include "tools/train/train.h"

/* Values of the options of a run, and the options that are left to the user: neither what is trained nor the clock. */
struct train_options {
    struct hx_settings settings;
    struct hx_overrides sizes;
    struct hx_timing timing;
    struct hx_option option[HX_MOST_OPTIONS]; /* ends with HX_OPTIONS_END */
    unsigned options;
};

/* Fills all with defaults. *o must stay where it is. */
void train_options_init(struct train_options *o);

/* Options of what a fabric costs. */
#define TRAIN_COST_OPTIONS(t, file)                                                                                    \
    {HX_REAL("lifetime", &(t)->lifetime, 0.01, 100, "years over which the fabric's cost is spread"),                   \
     .argument = "YEARS"},                                                                                             \
        HX_PRICES_OPTION(file)

/* Parses the command line of a command with its `own` options and those of a run behind them. Sets t->option, t->used
 * and t->quiet. Returns the index of the first operand. */
int train_parse(struct train *t, const struct train_options *o, const struct hx_command *command,
                const struct hx_option *own, unsigned owns, int argc, char **argv, struct hx_common *common);

/* Opens the fabrics, with rates and planes as t->wish says. Dies if one cannot be. */
void train_open_fabrics(struct train *t, const struct train_options *o, const char *const *name, unsigned count);
void train_close_fabrics(struct train *t);

/* Whether ranks may be folded onto the fabric: it is a grid, and neither the user nor the file says how they stand. */
bool train_may_place(const struct train_fabric *f);

/* Folds the job's grid onto the fabric's, unless the user or the file says how. */
void train_place(struct train_fabric *f, const struct train_job *job);

/* Dies if the user gives an option that --equal-injection sets. */
void train_refuse_beside(const struct train *t, const struct train_options *o);

#endif
