/* conformance_port.h - what a port gives the conformance kit besides hal_port.h: a small test world.
 *
 * The world is two accelerators of a board side by side, with one plane:
 *
 *     endpoint 0 -- LOCAL [ switch 0 ] E ---- W [ switch 1 ] LOCAL -- endpoint 1
 *
 * All other ports have no cable. The kit plays the firmware: it calls the functions of hal_port.h on these switches and
 * endpoints, and checks their results. docs/porting.md goes through it step by step. */
#ifndef CONFORMANCE_PORT_H
#define CONFORMANCE_PORT_H

#include "hal_port.h"

enum { CONFORMANCE_ACCELERATORS = 2 };

/* Node within a step, which must not change meanwhile: see conformance_advance(). */
enum conformance_node {
    CONFORMANCE_NONE,
    CONFORMANCE_SWITCH_0,
    CONFORMANCE_SWITCH_1,
    CONFORMANCE_ENDPOINT_0,
    CONFORMANCE_ENDPOINT_1
};

struct conformance_world {
    struct hal_switch *sw[CONFORMANCE_ACCELERATORS];
    struct hal_endpoint *endpoint[CONFORMANCE_ACCELERATORS];
};

/* ---- provided by the port ---- */

/* Makes a new world with links that are up, for each check. Returns false if it cannot. */
bool conformance_open(struct conformance_world *w);
void conformance_close(struct conformance_world *w);

/* Advances time until all committed packets and returned credit have arrived at the far ends. `busy` is within a step:
 * the platform's work for it between steps must wait, and so must a clock that stands still in a step. If its commit
 * has been called (`committed`), the clock goes on, and so does what hands a committed step over, as a flush. */
void conformance_advance(struct conformance_world *w, enum conformance_node busy, bool committed);

/* Lets so many nanoseconds pass, or more, by a clock that is not hal_now()'s own: a timer, or a sleep. A simulated
 * world sets its time forward. No node is within a step. */
void conformance_pass(struct conformance_world *w, uint64_t ns);

/* Returns the number of free packet buffers in the world; the kit finds lost ones by it. */
uint64_t conformance_free_buffers(const struct conformance_world *w);

/* Returns the drops counted by hal_drop() and hal_endpoint_drop() in the world. */
uint64_t conformance_drops(const struct conformance_world *w, enum hx_drop reason);

/* Returns the packets counted by hal_stall() in the world. */
uint64_t conformance_stalls(const struct conformance_world *w, enum hx_stall cause);

/* ---- called by the port's hal_read_payload, hal_write_payload and hal_event, with their endpoint ---- */

void conformance_read_payload(const struct hal_endpoint *of, const struct hx_send *s, uint32_t packet, uint8_t *to,
                              unsigned bytes);
void conformance_write_payload(const struct hal_endpoint *of, const struct hx_header *h, const uint8_t *payload);
void conformance_event(const struct hal_endpoint *of, const struct hx_event *e);

#endif
