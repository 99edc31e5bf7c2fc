/* launch.h - starts the workers of a virtual fabric, and watches them until all ended. */
#ifndef VIRTUAL_LAUNCH_H
#define VIRTUAL_LAUNCH_H

#include "model.h"

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT, which launch_model() takes. Call first. */
void launch_block_signals(void);

/* What the terminal shows during the run. */
struct launch_show {
    bool quiet, watch; /* no bar; hxmesh-top instead of the bar */
};

/* Runs the model to its end. Returns how its workers ended. */
struct outcome launch_model(const struct model *m, struct launch_show show);

#endif
