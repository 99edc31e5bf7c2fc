/* silent.h - hosts that receive from a host and cannot reply: down links may leave a path in one direction only.
 *
 * The fabric cannot report this to the sender: its probes stay unanswered. But all hosts share memory: a host without a
 * path for its acknowledgements records it there. A sender looks there after several unanswered probes. */
#ifndef SILENT_H
#define SILENT_H

#include "node.h"

/* Records the hosts to which this endpoint has found no path in any plane. */
void silent_note(struct accelerator *a);

/* Clears its records: paths may have changed. */
void silent_forget(struct accelerator *a);

/* Whether host `rank` has recorded, at least `ns` ago, that it cannot reply to this one. */
bool silent_is(const struct accelerator *a, uint32_t rank, uint64_t ns);

#endif
