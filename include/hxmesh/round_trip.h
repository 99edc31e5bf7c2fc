/* round_trip.h - smoothed round trip and its variation, after RFC 6298, section 2.
 *
 * 16 bits each, so that both fit into a peer's cache line. The caller chooses the unit: typical timeouts should be
 * about a thousand. The caller samples only packets that were sent once and acknowledged once (Karn's rule). */
#ifndef HXMESH_ROUND_TRIP_H
#define HXMESH_ROUND_TRIP_H

#include <stdint.h>

#include "hxmesh/begin.h"

struct hx_round_trip {
    uint16_t smoothed; /* 0: no sample yet */
    uint16_t variation;
};

/* Adds a sample of `units`, at most 65,535. The first sample R sets smoothed to R and variation to R / 2. Later samples
 * have a weight of 1/4 for the variation and 1/8 for the smoothed value. */
void hx_round_trip_sample(struct hx_round_trip *r, uint32_t units);

/* Returns the timeout in units: smoothed + 4 variation, the variation at least smoothed / 4; 0: no sample yet. */
static inline uint32_t hx_round_trip_timeout(const struct hx_round_trip *r)
{
    uint32_t variation = 4U * r->variation;
    return r->smoothed + (variation > r->smoothed ? variation : r->smoothed);
}

#include "hxmesh/end.h"

#endif
