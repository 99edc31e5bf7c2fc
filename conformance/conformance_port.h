/* conformance_port.h - what a port gives the conformance kit, besides its hal_port.h: a small world to try it in.
 *
 * The world is two accelerators of a board side by side, with one plane:
 *
 *     endpoint 0 -- LOCAL [ switch 0 ] E ---- W [ switch 1 ] LOCAL -- endpoint 1
 *
 * All other ports have no cable. The kit plays the firmware: it calls the functions of hal_port.h on these switches and
 * endpoints, and looks at what comes out. docs/porting.md goes through it step by step. */
#ifndef CONFORMANCE_PORT_H
#define CONFORMANCE_PORT_H

#include "hal_port.h"

enum { CONFORMANCE_ACCELERATORS = 2 };

/* Whose step is under way, so that nothing of its own may move: see conformance_advance(). */
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

/* ---- what the port gives ---- */

/* Makes a new world, whose links are up: packets can go at once. False: it cannot. Called again for every check. */
bool conformance_open(struct conformance_world *w);
void conformance_close(struct conformance_world *w);

/* Lets time pass until all that was committed has arrived at the other end of its link, and all room that was given
 * back is known there. `busy` is in the middle of a step: what the platform does for it between steps must wait. */
void conformance_advance(struct conformance_world *w, enum conformance_node busy);

/* Packet buffers of the whole world that nobody holds; it tells whether one was lost. */
uint64_t conformance_free_buffers(const struct conformance_world *w);

/* Drops that hal_drop() and hal_endpoint_drop() have counted, in the whole world. */
uint64_t conformance_drops(const struct conformance_world *w, enum hx_drop reason);

/* ---- what hal_read_payload, hal_write_payload and hal_event of the port call, with the endpoint they are called for ---- */

void conformance_read_payload(const struct hal_endpoint *of, const struct hx_send *s, uint32_t packet, uint8_t *to,
                              unsigned bytes);
void conformance_write_payload(const struct hal_endpoint *of, const struct hx_header *h, const uint8_t *payload);
void conformance_event(const struct hal_endpoint *of, const struct hx_event *e);

#endif
