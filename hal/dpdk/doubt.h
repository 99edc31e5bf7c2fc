/* doubt.h - what a port believes of what comes by its cable.
 *
 * By the rules of credit.h, a frame that names a later session, or counts that cannot be true, begin a session, and a
 * session costs all that is under way. That is right where a cable only loses frames. Where anything may come (frames
 * that were kept and sent again, this end's own, made-up ones), each such frame would stop the traffic. So a port
 * waits until it has heard it several times, and nothing to the contrary meanwhile:
 *
 *     another session            DPDK_BELIEF frames in a row that name the same one. Who has begun one says so again and
 *                                again, and at once when answered
 *     counts that cannot be      DPDK_BELIEF frames in a row
 *     data beyond the grant      dropped, and DPDK_OVERRUNS of it before the next frame whose counts can be
 *
 * What came twice is taken back: a credit frame comes behind all data sent before it, so what was received beyond its
 * count was never sent. If that was an old frame, the next one has the difference written off again. */
#ifndef DPDK_DOUBT_H
#define DPDK_DOUBT_H

#include "port.h"

enum {
    DPDK_BELIEF = 3,
    DPDK_OVERRUNS = 16,
    DPDK_STUCK_FRAMES = 8 /* that prove a wrong idea of the peer's session */
};

void dpdk_take_credit(struct dpdk_port *p, const struct hx_credit_frame *f);

/* A packet came that does not simply fit. False: it must be dropped, as an overrun. */
bool dpdk_arrive(struct dpdk_port *p, unsigned vc, uint32_t blocks);

#endif
