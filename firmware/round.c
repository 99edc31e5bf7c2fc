/* round.c - the estimate of a round trip (include/hxmesh/round.h). */
#include "hxmesh/round.h"

void hx_round_take(struct hx_round *r, uint32_t units)
{
    unsigned sample = units == 0 ? 1 : units < UINT16_MAX ? units : UINT16_MAX;
    if (r->smoothed == 0) {
        *r = (struct hx_round){(uint16_t)sample, (uint16_t)(sample / 2)};
        return;
    }
    unsigned distance = sample > r->smoothed ? sample - r->smoothed : r->smoothed - sample;
    r->variation = (uint16_t)(r->variation - r->variation / 4 + distance / 4);
    r->smoothed = (uint16_t)(sample > r->smoothed ? r->smoothed + distance / 8 : r->smoothed - distance / 8);
}
