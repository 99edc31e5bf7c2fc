/* silent.h - hosts that hear one that they cannot answer: links that are down may leave a way there and none back.
 *
 * The fabric cannot report this to the sender, whose probes get no answer. Here all hosts share memory: a host that
 * finds no path for its answers notes it there, and the sender looks after several probes without an answer. */
#ifndef SILENT_H
#define SILENT_H

#include "node.h"

/* Notes the hosts to which this accelerator's endpoint has found no way in any plane. */
void silent_note(struct accelerator *a);

/* Ways may have changed. */
void silent_forget(struct accelerator *a);

/* Whether host `rank` has noted so long ago that it cannot answer this accelerator, and ways have not changed since. */
bool silent_is(const struct accelerator *a, uint32_t rank, uint64_t ns);

#endif
