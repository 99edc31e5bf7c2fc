/* notices.h - carries notices of dead links (hxmesh/notice.h) over a cable. A platform calls these for each cable of a
 * switch, beside the functions for credit frames:
 *
 *     cable_take: CABLE_NOTICES --> cable_notices_take
 *     each step --> cable_notices_follow, cable_notices_write --> device */
#ifndef CABLE_NOTICES_H
#define CABLE_NOTICES_H

#include "cable.h"
#include "hxmesh/notice.h"

/* Follows the cable's session: a new one begins with all that is kept. */
void cable_notices_follow(struct cable_end *c, struct hx_notices *n, unsigned port, uint64_t now);

/* Takes a frame with the verdict CABLE_NOTICES. */
void cable_notices_take(struct hx_notices *n, unsigned port, const uint8_t *frame, size_t bytes, uint64_t now);

/* Writes the frame that is due, which counts as sent. Returns its bytes, the tag included; 0: none is due. */
unsigned cable_notices_write(struct cable_end *c, struct hx_notices *n, unsigned port, uint64_t now,
                             uint8_t frame[CABLE_NOTICE_BYTES]);

#endif
