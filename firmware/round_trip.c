/* round_trip.c - the round-trip estimate (include/hxmesh/round_trip.h). */
#include "hxmesh/round_trip.h"

void hx_round_trip_sample(struct hx_round_trip *r, uint32_t units)
{
    unsigned sample = units == 0 ? 1 : units < UINT16_MAX ? units : UINT16_MAX;
    if (r->smoothed == 0) {
        *r = (struct hx_round_trip){(uint16_t)sample, (uint16_t)(sample / 2)};
        return;
    }
    unsigned distance = sample > r->smoothed ? sample - r->smoothed : r->smoothed - sample;
    r->variation = (uint16_t)(r->variation - r->variation / 4 + distance / 4);
    r->smoothed = (uint16_t)(sample > r->smoothed ? r->smoothed + distance / 8 : r->smoothed - distance / 8);
}
