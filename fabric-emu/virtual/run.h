/* run.h - starts the workers of a virtual fabric, watches them, and gathers what they report. */
#ifndef VIRTUAL_RUN_H
#define VIRTUAL_RUN_H

#include "fabric-emu/report/result.h"
#include "model.h"

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT, which run_model() takes. Call first. */
void run_block_signals(void);

/* What is seen of it meanwhile. */
struct run_show {
    bool quiet, watch; /* no bar; hxmesh-top in its place */
};

/* Runs the model to its end; r: what it showed, to be freed with result_free(). */
void run_model(const struct model *m, struct run_show show, struct result *r);

#endif
