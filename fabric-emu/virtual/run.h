/* run.h - starts the workers of a virtual fabric, watches them, and gathers their reports. */
#ifndef VIRTUAL_RUN_H
#define VIRTUAL_RUN_H

#include "fabric-emu/report/result.h"
#include "model.h"

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT, which run_model() takes. Call first. */
void run_block_signals(void);

/* What the terminal shows during the run. */
struct run_show {
    bool quiet, watch; /* no bar; hxmesh-top instead of the bar */
};

/* Runs the model to its end. Writes *r; free it with result_free(). */
void run_model(const struct model *m, struct run_show show, const struct result_context *context, struct result *r);

#endif
