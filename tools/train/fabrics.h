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

/* Opens the fabrics, with rates and planes as t->wish says. Dies if one cannot be. */
void train_open_fabrics(struct train *t, const struct train_options *o, const char *const *name, unsigned count);
void train_close_fabrics(struct train *t);

/* Folds the job's grid onto the fabric's, unless the user or the file says how. */
void train_place(struct train_fabric *f, const struct train_job *job);

/* Dies if the user gives an option that --equal-injection sets. */
void train_refuse_beside(const struct train *t, const struct train_options *o);

#endif
