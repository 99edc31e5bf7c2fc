/* collect.h - gathers the results of a live run. */
#ifndef COLLECT_H
#define COLLECT_H

#include "fabric-emu/report/result.h"
#include "fabric.h"
#include "faults.h"
#include "warm_up.h"

/* A run that has ended. */
struct collected {
    const struct result_context *context;
    const struct fab_fabric *f;
    const struct hx_settings *settings;
    const struct outcome *outcome;
    const struct warm_up *warm_up;
    const struct faults *faults;
};

/* Fills *r, which keeps pointers into *c->f. */
void collect(struct result *r, const struct collected *c);

#endif
