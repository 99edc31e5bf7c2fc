/* recover.h - finishing what a dead worker was doing, so that no buffer is lost or doubled. */
#ifndef RECOVER_H
#define RECOVER_H

#include "fabric.h"

/* Completes the step the worker had decided on, if any, and then sends home every buffer that lies in front of its
 * nodes. Call while the worker is dead; others may run. May be called again while it stays dead, for what late
 * neighbours still send. Returns how many buffers it sent home. */
unsigned recover_worker(struct fab_fabric *f, unsigned worker);

#endif
