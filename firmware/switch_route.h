/* switch_route.h - route computation: the candidate ports of a packet. */
#ifndef HX_SWITCH_ROUTE_H
#define HX_SWITCH_ROUTE_H

#include "hxmesh/detour.h"
#include "switch_parts.h"

typedef uint64_t route_function(const struct hx_route *, unsigned input, unsigned gx, unsigned gy);

ALWAYS_INLINE uint64_t returns_of(const struct hx_route *r, unsigned input)
{
    return r->returns ? r->returns[input] : 0;
}

/* Returns the outputs of a switch open to packets on `vc`: the last VC cannot be incremented, and packets on the escape
 * VC go around dead links only. */
static uint64_t open_to(const struct hx_switch *sw, unsigned vc)
{
    if (vc < sw->route.last_vc)
        return UINT64_MAX;
    return vc == sw->route.last_vc ? ~(uint64_t)sw->route.incrementing : 0;
}

/* Returns the candidates of a packet that the tables have none for: around dead links; else, at an accelerator, its
 * endpoint, which reports it; at a tree switch, the boards behind it. */
static __attribute__((noinline)) uint64_t candidates_without_route(const struct hx_switch *sw, unsigned input,
                                                                   unsigned vc, struct hx_heading to)
{
    const struct hx_route *r = &sw->route;
    uint64_t ports = 0;
    if (r->around && to.addr_hi < r->columns && to.addr_lo < r->rows)
        ports = hx_around_ports(r->around, r, input, vc, to.addr_hi, to.addr_lo);
    if (ports)
        return ports;
    return r->is_router ? returns_of(r, input) : LOCAL_BIT;
}

/* Returns the candidates of a packet on `vc` to `to`; without a route, those of candidates_without_route(). `open`:
 * open_to() for that VC. */
ALWAYS_INLINE uint64_t candidate_ports_on(const struct hx_switch *sw, unsigned input, unsigned vc, struct hx_heading to,
                                          uint64_t open, route_function *route, bool is_accelerator)
{
    uint64_t ports = route(&sw->route, input, to.addr_hi, to.addr_lo) & open;
    if (RARE(ports == 0))
        ports = candidates_without_route(sw, input, vc, to);
    if (is_accelerator || !sw->route.changes_vc || vc < sw->route.last_vc)
        return ports;
    return ports & ~hx_router_incrementing(&sw->route, input, ports);
}

/* Computes the candidate ports of a new packet to `to`. Returns false if the packet was dropped. */
ALWAYS_INLINE bool admit(struct hx_switch *sw, const struct window_packet *a, struct hx_heading *to, uint64_t open,
                         route_function *route, bool is_accelerator, uint64_t *ports)
{
    if (a->offered) {
        /* the destination is in the fabric, and there is no detour to choose */
    } else if (RARE(to->addr_hi >= sw->route.columns || to->addr_lo >= sw->route.rows)) {
        if (is_accelerator || !hx_detour_follow(sw, a->input, a->vc, a->position, a->d, to)) {
            hal_drop(sw->hal, a->input, a->vc, a->d, HX_DROP_MALFORMED);
            return false;
        }
    } else if (!is_accelerator && RARE(sw->route.choosing >> a->input & 1)) {
        hx_detour_choose(sw, a->input, a->vc, a->position, a->d, to);
    }
    if (is_accelerator && RARE(a->d->job != sw->job)) {
        hal_drop(sw->hal, a->input, a->vc, a->d, HX_DROP_FOREIGN_JOB);
        return false;
    }
    *ports = a->offered ? a->offered : candidate_ports_on(sw, a->input, a->vc, *to, open, route, is_accelerator);
    if (!is_accelerator && RARE(*ports == 0)) {
        hal_drop(sw->hal, a->input, a->vc, a->d, HX_DROP_NO_ROUTE);
        return false;
    }
    return true;
}

#endif
