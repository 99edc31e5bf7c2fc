/* collect.h - gathers the results of a live run. */
#ifndef COLLECT_H
#define COLLECT_H

#include "fabric-emu/report/result.h"
#include "fabric.h"
#include "warm_up.h"

/* Fills *r, which keeps pointers into *f. */
void collect(struct result *r, const struct fab_fabric *f, const struct hx_settings *settings,
             const struct outcome *outcome, const struct warm_up *warm_up);

#endif
