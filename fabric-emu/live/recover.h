/* recover.h - completes a dead worker's step, so that no buffer is lost or doubled. */
#ifndef RECOVER_H
#define RECOVER_H

#include "fabric.h"

/* Completes the committed step of a dead worker, if any, then returns every buffer that waits at its nodes to its pool.
 * Other workers may run. Repeat it while the worker stays dead: neighbours may still send. Returns buffers sent
 * home. */
unsigned recover_worker(struct fab_fabric *f, unsigned worker);

#endif
