/* accelerator.h - what drives an endpoint in the emulator: joins it to its workload, and keeps records for a
 * successor. */
#ifndef ACCELERATOR_H
#define ACCELERATOR_H

#include "node.h"

/* Memory that the endpoint of an accelerator needs: a multiple of 64. */
size_t accelerator_bytes(const struct worker *w, uint32_t rank);

/* Starts its endpoint in that memory (all zero) with the incarnation of its worker and carries on where a predecessor
 * stopped. */
void accelerator_start(struct accelerator *a, void *memory);
void accelerator_stop(struct accelerator *a);

/* Begins messages while there is room, and lets the endpoint work. Returns packets taken and given. */
unsigned accelerator_step(struct accelerator *a, bool may_begin);

/* How long until the next message has its time; UINT64_MAX: time does not matter to any. */
uint64_t accelerator_wait_ns(const struct accelerator *a);

/* Ends the tries of messages that have no way: to boards that stay down, or where the fabric said so again and again.
 * Further messages to them are given up at once, until ways may have changed: accelerator_look_again(). */
void accelerator_give_up(struct accelerator *a);
void accelerator_look_again(struct accelerator *a);

/* Nothing is left to send (once `may_begin` is false: nothing is under way) and nothing to acknowledge. */
bool accelerator_is_done(const struct accelerator *a, bool may_begin);

#endif
