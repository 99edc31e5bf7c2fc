/* accelerator.h - what drives an endpoint in the emulator: messages to send, payload, checks, records. */
#ifndef ACCELERATOR_H
#define ACCELERATOR_H

#include "node.h"

/* Starts its endpoint with the incarnation of its worker and carries on where a predecessor stopped. */
void accelerator_start(struct accelerator *a);
void accelerator_stop(struct accelerator *a);

/* Begins messages while there is room, and lets the endpoint work. Returns packets taken and given. */
unsigned accelerator_step(struct accelerator *a, bool may_begin);

/* Ends the tries of messages that have no way: to boards that stay down, or where the fabric said so again and again.
 * Further messages to them are given up at once, until ways may have changed: accelerator_look_again(). */
void accelerator_give_up(struct accelerator *a);
void accelerator_look_again(struct accelerator *a);

/* Nothing is left to send (once `may_begin` is false: nothing is under way) and nothing to acknowledge. */
bool accelerator_is_done(const struct accelerator *a, bool may_begin);

#endif
