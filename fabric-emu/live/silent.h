/* silent.h - hosts that hear one that they cannot answer: links that are down may leave a way there and none back.
 *
 * Nobody on the fabric can say so to the sender, who asks in vain. Here all hosts share memory: who finds no way for his answers notes it
 * there, and the sender looks when several questions were in vain. */
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
