/* notices.h - carries notices of dead links (hxmesh/notice.h) over a cable. A platform calls these for each cable of a
 * switch, beside the functions for credit frames:
 *
 *     cable_take: CABLE_NOTICES --> cable_notices_take
 *     each step --> cable_notices_follow, cable_notices_write --> device */
#ifndef CABLE_NOTICES_H
#define CABLE_NOTICES_H

#include "cable.h"
#include "hxmesh/notice.h"

enum {
    CABLE_NOTICE_HOLD_NS = 1000000,    /* between two changes of what a node says */
    CABLE_NOTICE_PERIOD_NS = 100000000 /* between digests */
};

/* The links of a node that says which of them are dead; ports as bits. Until `grace_end` a link that was never up is
 * not dead, so that a fabric that starts says nothing. */
struct cable_links {
    uint64_t all;
    uint64_t were_up;   /* once */
    uint64_t grace_end; /* as `now`: CABLE_SILENCE_NS after the node's start */
};

/* Says that the links that are not `up` are dead, if it may say so now. */
void cable_notices_say(struct hx_notices *n, struct cable_links *l, uint32_t node, uint64_t up, uint64_t now);

/* Follows the cable's session: a new one begins with all that is kept. */
void cable_notices_follow(struct cable_end *c, struct hx_notices *n, unsigned port, uint64_t now);

/* Takes a frame with the verdict CABLE_NOTICES. */
void cable_notices_take(struct hx_notices *n, unsigned port, const uint8_t *frame, size_t bytes, uint64_t now);

/* Writes the frame that is due, which counts as sent. Returns its bytes, the tag included; 0: none is due, or the
 * session is not the one that cable_notices_follow() saw. */
unsigned cable_notices_write(struct cable_end *c, struct hx_notices *n, unsigned port, uint64_t now,
                             uint8_t frame[CABLE_NOTICE_BYTES]);

#endif
