/* detour.c - which packets make a detour, and where it ends (include/hxmesh/detour.h). */
#include "hxmesh/detour.h"
#include "hal_port.h"

/* Returns a random number. All routers count alike, so each mixes in its own address. */
static uint64_t draw(struct hx_switch *sw)
{
    uint64_t mixed = hx_switch_tie(sw) ^ sw->route.detour->own * UINT64_C(0xD6E8FEB86659FD93);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

static unsigned first_of_area(const struct hx_detour *t, unsigned addr_hi)
{
    return addr_hi - addr_hi % t->area;
}

/* Returns a random router outside the areas of this router and of `to`; HX_NO_ADDRESS: there is none. */
static unsigned draw_router(struct hx_switch *sw, unsigned to)
{
    const struct hx_detour *t = sw->route.detour;
    unsigned low = first_of_area(t, t->own);
    unsigned high = first_of_area(t, to);
    unsigned out = low == high ? 1 : 2;
    if (t->routers <= out * t->area)
        return HX_NO_ADDRESS;
    if (low > high) {
        unsigned other = low;
        low = high;
        high = other;
    }
    unsigned router = (unsigned)((draw(sw) >> 32) * (t->routers - out * t->area) >> 32);
    router += router >= low ? t->area : 0U;
    return router + (out == 2 && router >= high ? t->area : 0U);
}

/* ---- costs ---- */

/* Returns the least occupancy among these outputs, in credit units. A waiting packet counts as long as this one. */
static uint64_t least_occupancy(struct hx_switch *sw, uint64_t outputs, const struct hx_desc *d)
{
    uint64_t least = UINT64_MAX;
    for (; outputs; outputs &= outputs - 1) {
        unsigned output = (unsigned)__builtin_ctzll(outputs);
        uint64_t queue = hal_output_occupancy(sw->hal, output);
        if (sw->wanted[0] | sw->wanted[1] | sw->wanted[2] | sw->wanted[3])
            queue += (uint64_t)hx_switch_waiting_for(sw, output) * hal_packet_credits(d);
        least = queue < least ? queue : least;
    }
    return least;
}

static unsigned distance(const struct hx_detour *t, unsigned from, unsigned to)
{
    return t->distance ? t->distance[(size_t)from * t->routers + to] : 0;
}

/* Returns the intermediate router of the cheapest path; HX_NO_ADDRESS: the minimal path. */
static unsigned cheapest(struct hx_switch *sw, unsigned input, unsigned vc, const struct hx_desc *d,
                         const struct hx_heading *heading)
{
    const struct hx_detour *t = sw->route.detour;
    unsigned to = heading->addr_hi;
    unsigned straight_links = distance(t, t->own, to);
    uint64_t straight = least_occupancy(sw, hx_route_candidates(&sw->route, input, vc, to, heading->addr_lo), d);
    if (straight * HX_DETOUR_ONE < (uint64_t)t->threshold * hal_vc_buffer(sw->hal) || straight == 0)
        return HX_NO_ADDRESS;
    uint64_t least = straight == UINT64_MAX ? straight : straight * HX_DETOUR_ONE;
    least = straight_links && least != UINT64_MAX ? least * straight_links : least;
    unsigned by = HX_NO_ADDRESS;
    for (unsigned n = 0; n < t->candidates; n++) {
        unsigned router = draw_router(sw, to);
        uint64_t outputs =
            router == HX_NO_ADDRESS ? 0 : hx_route_candidates(&sw->route, input, vc, router, HX_NO_ADDRESS);
        if (!outputs)
            continue;
        unsigned links = straight_links ? distance(t, t->own, router) + distance(t, router, to) : 1;
        uint64_t cost = least_occupancy(sw, outputs, d) * t->cost * links;
        by = cost < least ? router : by;
        least = cost < least ? cost : least;
    }
    return by;
}

/* ---- choose and follow ---- */

static void redirect(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, struct hx_heading *to,
                     struct hx_heading other)
{
    *to = other;
    hal_redirect(sw->hal, input, vc, position, (uint16_t)other.addr_hi, (uint16_t)other.addr_lo);
}

void hx_detour_choose(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, const struct hx_desc *d,
                      struct hx_heading *to)
{
    const struct hx_detour *t = sw->route.detour;
    if (to->addr_hi == t->own)
        return;
    unsigned by = t->policy == HX_UGAL ? cheapest(sw, input, vc, d, to) : draw_router(sw, to->addr_hi);
    if (by != HX_NO_ADDRESS && hx_route_candidates(&sw->route, input, vc, by, HX_NO_ADDRESS))
        redirect(sw, input, vc, position, to, (struct hx_heading){by, HX_NO_ADDRESS});
}

bool hx_detour_follow(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, const struct hx_desc *d,
                      struct hx_heading *to)
{
    const struct hx_detour *t = sw->route.detour;
    uint16_t addr_hi;
    uint16_t addr_lo;
    if (!t || to->addr_lo != HX_NO_ADDRESS || to->addr_hi >= t->routers)
        return false;
    if (first_of_area(t, to->addr_hi) != first_of_area(t, t->own))
        return true;
    if (!hal_destination(sw->hal, d, &addr_hi, &addr_lo) || addr_hi >= sw->route.columns || addr_lo >= sw->route.rows)
        return false;
    redirect(sw, input, vc, position, to, (struct hx_heading){addr_hi, addr_lo});
    return true;
}
