/* round_trip.h - how long an answer takes: the smoothed round trip and how much it varies, after RFC 6298, section 2.
 *
 * In 16 bits each, so that both fit beside what else is known of a peer. The unit is the caller's: one that makes a
 * timeout of a thousand or so of what needs no measuring. What to time is the caller's too: only what one packet and
 * its one answer took (Karn's rule). */
#ifndef HXMESH_ROUND_TRIP_H
#define HXMESH_ROUND_TRIP_H

#include <stdint.h>

#include "hxmesh/begin.h"

struct hx_round_trip {
    uint16_t smoothed; /* 0: no sample was taken yet */
    uint16_t variation;
};

/* Takes in that an answer took so many units; 65,535 stands for more. The first sample R: smoothed R, variation R / 2.
 * Each further one moves the variation by a quarter of the way to its distance, and then the smoothed one by an eighth
 * of the way to it. */
void hx_round_trip_sample(struct hx_round_trip *r, uint32_t units);

/* Units without an answer from which on one is late: smoothed + 4 variation; 0: no sample was taken yet. The variation
 * counts as a quarter of the smoothed one at least: what has not varied for a while may yet. */
static inline uint32_t hx_round_trip_timeout(const struct hx_round_trip *r)
{
    uint32_t variation = 4U * r->variation;
    return r->smoothed + (variation > r->smoothed ? variation : r->smoothed);
}

#include "hxmesh/end.h"

#endif
