/* routes.c - fills the routing tables of any node (topology/fabric.h, topology.h).
 *
 * Without next_hops of the topology, routes follow from the graph: by addr_hi a packet takes any minimal path to the
 * router with that digit, by addr_lo it goes to the host there. */
#include "topology/attachment_routers.h"
#include "topology/topology.h"
#include "topology/updown.h"

#include <stdlib.h>
#include <string.h>

static uint32_t router_of(const struct hx_fabric *f, unsigned addr_hi)
{
    for (unsigned addr_lo = 0; addr_lo < f->digits[1]; addr_lo++) {
        uint32_t host = hx_fabric_host(f, addr_hi, addr_lo);
        if (host != HX_NOWHERE)
            return hx_fabric_far(f, host, HX_E).node;
    }
    return HX_NOWHERE;
}

uint64_t hx_fabric_host_ports(const struct hx_fabric *f, uint32_t router)
{
    uint64_t set = 0;
    for (unsigned port = 0; port < hx_fabric_ports(f, router); port++)
        set |= (uint64_t)hx_is_host(f, hx_fabric_far(f, router, port).node) << port;
    return set;
}

static uint64_t filter_ports(const struct hx_fabric *f, uint32_t router, unsigned addr_hi, uint64_t ports)
{
    return f->topology->filter_ports ? f->topology->filter_ports(f, router, addr_hi, ports) : ports;
}

/* Returns the ports of a router on minimal paths to another; the ports to its hosts if it is that router. */
static uint64_t nearer(const struct hx_fabric *f, uint32_t router, uint32_t to)
{
    uint64_t set = 0;
    if (to == HX_NOWHERE)
        return 0;
    if (to == router)
        return hx_fabric_host_ports(f, router);
    unsigned here = hx_router_distance(f, router, to);
    for (unsigned port = 0; port < hx_fabric_ports(f, router); port++) {
        uint32_t far = hx_fabric_far(f, router, port).node;
        set |= (uint64_t)(!hx_is_host(f, far) && hx_router_distance(f, far, to) + 1 == here) << port;
    }
    return set;
}

/* Sets a bit for each router that is one step nearer from `there` than from `here`. It compares eight byte distances
 * per word, since a large fabric has billions. 255, no path, plus 1 is 0 here, which is the distance of a router to
 * itself only. */
static void add_nearer(uint8_t *sets, const uint8_t *here, const uint8_t *there, uint32_t routers, unsigned bit)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t low = 0x7F * ones;
    uint32_t i = 0;
    for (; i + 8 <= routers; i += 8) {
        uint64_t a, b, set;
        memcpy(&a, here + i, 8);
        memcpy(&b, there + i, 8);
        memcpy(&set, sets + i, 8);
        uint64_t apart = a ^ (((b & low) + ones) ^ (b & ~low));  /* per byte: 0 if b + 1 is a */
        uint64_t equal = ~(((apart & low) + low) | apart | low); /* its highest bit: whether it is 0 */
        set |= (equal >> 7) << bit;
        memcpy(sets + i, &set, 8);
    }
    for (; i < routers; i++)
        sets[i] |= (uint8_t)((there[i] + 1 == here[i]) << bit);
}

/* nearer() to all routers at once, one row of distances at a time. */
static void next_hops_all(const struct hx_fabric *f, uint32_t router, uint64_t *sets)
{
    uint32_t routers = f->nodes - f->hosts;
    const uint8_t *here = f->distance + (size_t)(router - f->hosts) * routers;
    memset(sets, 0, f->digits[0] * sizeof *sets);
    uint8_t *to = hx_allocate((size_t)8 * routers, sizeof *to); /* a row for each byte of a set */
    for (unsigned port = 0; port < hx_fabric_ports(f, router); port++) {
        uint32_t far = hx_fabric_far(f, router, port).node;
        if (!hx_is_host(f, far))
            add_nearer(to + (size_t)(port / 8) * routers, here, f->distance + (size_t)(far - f->hosts) * routers,
                       routers, port % 8);
    }
    for (uint32_t i = 0; i < routers; i++) {
        uint16_t addr_hi = f->node[f->hosts + i].addr_hi;
        uint64_t set = 0;
        for (unsigned row = 0; row < 8; row++)
            set |= (uint64_t)to[(size_t)row * routers + i] << 8 * row;
        if (addr_hi != HX_NO_ADDRESS)
            sets[addr_hi] =
                i == router - f->hosts ? hx_fabric_host_ports(f, router) : filter_ports(f, router, addr_hi, set);
    }
    free(to);
}

uint64_t hx_fabric_next_hops_place(const struct hx_fabric *f, uint32_t router, unsigned addr_lo)
{
    uint64_t set = 0;
    for (unsigned port = 0; port < hx_fabric_ports(f, router); port++) {
        uint32_t far = hx_fabric_far(f, router, port).node;
        set |= (uint64_t)(!hx_is_host(f, far) || f->node[far].addr_lo == addr_lo) << port;
    }
    return set;
}

/* Whether a node is a host with one link, to a router: one path out and one in, in any topology. */
static bool has_one_link(const struct hx_fabric *f, uint32_t node)
{
    return hx_is_host(f, node) && (f->updown || hx_fabric_attachment_router(f, node) != node);
}

enum { ONE_LINK_PORTS = 1U << HX_E | 1U << HX_LOCAL };

/* Next hops of searched routes, where addr_hi is one router's own. A host's table leaves out unreachable routers. */
static uint64_t searched(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value)
{
    const struct hx_updown *w = f->updown;
    if (hx_is_host(f, node) && digit == 1)
        return ONE_LINK_PORTS;
    if (digit == 1)
        return hx_fabric_next_hops_place(f, node, value);
    size_t row = (size_t)value * w->routers;
    if (hx_is_host(f, node)) {
        uint32_t router = hx_fabric_far(f, node, HX_E).node;
        bool joined = router != HX_NOWHERE && w->distance[row + router - f->hosts] != HX_UNREACHABLE_DISTANCE;
        return 1U << HX_LOCAL | (unsigned)joined << HX_E;
    }
    return f->node[node].addr_hi == value ? hx_fabric_host_ports(f, node) : w->ports[row + node - f->hosts];
}

uint64_t hx_fabric_next_hops(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value)
{
    if (f->updown)
        return searched(f, node, digit, value);
    if (has_one_link(f, node))
        return ONE_LINK_PORTS;
    if (f->topology->next_hops)
        return f->topology->next_hops(f, node, digit, value);
    return digit == 0 ? filter_ports(f, node, value, nearer(f, node, router_of(f, value)))
                      : hx_fabric_next_hops_place(f, node, value);
}

static uint64_t turn_mask(const struct hx_fabric *f, uint32_t node, unsigned input)
{
    if (has_one_link(f, node))
        return input == HX_LOCAL ? 1U << HX_E : 1U << HX_LOCAL;
    return f->topology->turn_mask && !f->updown ? f->topology->turn_mask(f, node, input) : UINT64_MAX;
}

/* ---- VCs ---- */

/* Returns the inputs of a router for which `of` holds with an output. */
static uint64_t inputs_where(const struct hx_fabric *f, uint32_t node, unsigned output,
                             bool (*of)(const struct hx_fabric *f, uint32_t node, unsigned input, unsigned output))
{
    uint64_t set = 0;
    for (unsigned input = 0; input < hx_fabric_ports(f, node); input++)
        set |= (uint64_t)of(f, node, input, output) << input;
    return set;
}

static bool comes_from_router(const struct hx_fabric *f, uint32_t node, unsigned input, unsigned output)
{
    (void)output;
    return !hx_is_host(f, hx_fabric_far(f, node, input).node);
}

static bool turns(const struct hx_fabric *f, uint32_t node, unsigned input, unsigned output)
{
    return comes_from_router(f, node, input, output) &&
           hx_fabric_port(f, node, input)->stage != hx_fabric_port(f, node, output)->stage;
}

/* Whether a packet goes up from one router to the next (topology/updown.h). */
static bool goes_up(const struct hx_fabric *f, uint32_t from, uint32_t to)
{
    return hx_updown_up(f->updown, from - f->hosts, to - f->hosts);
}

static bool came_down(const struct hx_fabric *f, uint32_t node, unsigned input, unsigned output)
{
    uint32_t from = hx_fabric_far(f, node, input).node;
    return from != HX_NOWHERE && comes_from_router(f, node, input, output) && !goes_up(f, from, node);
}

uint64_t hx_fabric_turned(const struct hx_fabric *f, uint32_t node, unsigned output)
{
    uint32_t far = hx_fabric_far(f, node, output).node;
    bool up = far != HX_NOWHERE && !hx_is_host(f, far) && goes_up(f, node, far);
    return up ? inputs_where(f, node, output, came_down) : 0;
}

uint64_t hx_fabric_vc_increment(const struct hx_fabric *f, uint32_t node, unsigned output)
{
    const struct hx_fabric_port *port = hx_fabric_port(f, node, output);
    if (f->updown)
        return f->updown->vcs > 1 ? hx_fabric_turned(f, node, output) : 0;
    if (f->topology->vc_increment)
        return f->topology->vc_increment(f, node, output);
    if (hx_is_host(f, port->far.node))
        return 0;
    if (f->rule == HX_VC_BY_HOP || (f->rule == HX_VC_AT_LEAF && f->node[node].addr_hi != HX_NO_ADDRESS))
        return inputs_where(f, node, output, comes_from_router);
    bool by_link = f->rule == HX_VC_BY_LINK || f->rule == HX_VC_BY_STAGE;
    return by_link && port->marked ? UINT64_MAX : 0;
}

static uint64_t restarted(const struct hx_fabric *f, uint32_t node, unsigned output)
{
    if (f->updown || f->rule != HX_VC_BY_STAGE || hx_is_host(f, hx_fabric_far(f, node, output).node))
        return 0;
    return inputs_where(f, node, output, turns);
}

/* ---- tables ---- */

static bool makes_detours(const struct hx_fabric *f)
{
    return f->routing.policy != HX_MINIMAL;
}

size_t hx_fabric_route_bytes(const struct hx_fabric *f, uint32_t node)
{
    if (f->mesh.nodes)
        return hx_route_bytes(&f->mesh, node);
    size_t digits = (size_t)f->digits[0] + f->digits[1];
    if (hx_is_host(f, node))
        return digits;
    size_t detour = makes_detours(f) ? sizeof(uint64_t) + sizeof(struct hx_detour) : 0;
    return (digits + 3U * hx_fabric_ports(f, node)) * sizeof(uint64_t) + detour;
}

/* Whether all hosts have one link, so that a host's table is the same for any destination. Not with searched routes: it
 * then knows unreachable peers. */
static bool has_flat_table(const struct hx_fabric *f, uint32_t node)
{
    return !f->updown && !f->mesh.nodes && has_one_link(f, node);
}

static void host_tables(struct hx_route *r, const struct hx_fabric *f, uint32_t node, uint64_t up, uint8_t *tables)
{
    r->x_table = tables;
    r->y_table = tables + f->digits[0];
    if (has_flat_table(f, node)) {
        memset(tables, ONE_LINK_PORTS, f->digits[0] + f->digits[1]); /* for any value */
    } else {
        for (unsigned value = 0; value < f->digits[0]; value++)
            tables[value] = (uint8_t)hx_fabric_next_hops(f, node, 0, value);
        for (unsigned value = 0; value < f->digits[1]; value++)
            tables[f->digits[0] + value] = (uint8_t)hx_fabric_next_hops(f, node, 1, value);
    }
    for (unsigned port = 0; port < HX_LOCAL; port++)
        r->incrementing |=
            (uint8_t)((unsigned)(!f->updown && f->rule == HX_VC_BY_LINK && hx_fabric_port(f, node, port)->marked)
                      << port);
    for (unsigned input = 0; input < HX_ACCELERATOR_PORTS; input++)
        r->turn_mask[input] = (uint8_t)(turn_mask(f, node, input) & (up | 1U << HX_LOCAL));
}

/* Adds detours behind a router's tables; addr_lo_ports has room for one more entry. */
static void add_detours(struct hx_route *r, const struct hx_fabric *f, uint32_t node, uint64_t *addr_lo_ports,
                        struct hx_detour *detour)
{
    uint64_t hosts = hx_fabric_host_ports(f, node);
    addr_lo_ports[f->digits[1]] = ~hosts;
    *detour = (struct hx_detour){.distance = f->detours.weighed ? f->distance : NULL,
                                 .routers = (uint16_t)f->digits[0],
                                 .own = f->node[node].addr_hi,
                                 .area = f->detours.area ? f->detours.area : 1,
                                 .policy = (uint8_t)f->routing.policy,
                                 .candidates = (uint8_t)f->routing.candidates,
                                 .cost = (uint16_t)f->routing.cost,
                                 .threshold = (uint16_t)f->routing.threshold};
    r->detour = detour;
    r->choosing = hosts;
}

static void router_tables(struct hx_route *r, const struct hx_fabric *f, uint32_t node, uint64_t up, uint64_t *tables)
{
    unsigned ports = hx_fabric_ports(f, node);
    uint64_t *addr_lo_ports = tables + f->digits[0];
    uint64_t *from = addr_lo_ports + f->digits[1] + makes_detours(f);
    if (!f->updown && !f->topology->next_hops)
        next_hops_all(f, node, tables);
    else
        for (unsigned value = 0; value < f->digits[0]; value++)
            tables[value] = hx_fabric_next_hops(f, node, 0, value);
    for (unsigned value = 0; value < f->digits[1]; value++)
        addr_lo_ports[value] = hx_fabric_next_hops(f, node, 1, value);
    for (unsigned port = 0; port < ports; port++) {
        from[port] = turn_mask(f, node, port) & up;
        from[ports + port] = hx_fabric_vc_increment(f, node, port);
        from[2 * ports + port] = restarted(f, node, port);
        r->changes_vc = r->changes_vc || from[ports + port] || from[2 * ports + port];
    }
    r->is_router = true;
    r->addr_hi_ports = tables;
    r->addr_lo_ports = addr_lo_ports;
    r->from = from;
    r->vc_increment = from + ports;
    r->restarted = from + 2 * (size_t)ports;
    if (makes_detours(f))
        add_detours(r, f, node, addr_lo_ports, (struct hx_detour *)(void *)(from + 3 * (size_t)ports));
}

void hx_fabric_route(struct hx_route *r, const struct hx_fabric *f, uint32_t node, struct hx_blocked_boards blocked,
                     uint64_t up, void *memory)
{
    if (f->mesh.nodes) {
        hx_route_build(r, &f->mesh, node, blocked, up, memory);
        r->vcs = (uint8_t)f->vcs;
        return;
    }
    *r = (struct hx_route){.vcs = (uint8_t)f->vcs,
                           .last_vc = (uint8_t)(f->vcs - 1),
                           .columns = (uint16_t)f->digits[0],
                           .rows = (uint16_t)f->digits[1]};
    if (hx_is_host(f, node))
        host_tables(r, f, node, up, memory);
    else
        router_tables(r, f, node, up, memory);
}

bool hx_fabric_has_d_mod_k(const struct hx_fabric *f)
{
    return f->topology->d_mod_k && !f->updown && !makes_detours(f) && f->topology->d_mod_k(f, f->hosts, 0, 0);
}

void hx_fabric_order_d_mod_k(const struct hx_fabric *f, uint32_t router, void *memory)
{
    uint64_t *tables = memory;
    for (unsigned digit = 0; digit < 2; digit++)
        for (unsigned value = 0; value < f->digits[digit]; value++)
            *tables++ &= f->topology->d_mod_k(f, router, digit, value);
}

uint32_t hx_fabric_phases(const struct hx_fabric *f)
{
    return f->topology->phases && !f->updown && !makes_detours(f) ? f->topology->phases(f) : 0;
}

uint32_t hx_fabric_partner(const struct hx_fabric *f, uint32_t host, uint32_t phase)
{
    return f->topology->partner(f, host, phase);
}

bool hx_fabric_halving_order(const struct hx_fabric *f, uint32_t *hosts, uint32_t count)
{
    if (f->topology->halving_order)
        f->topology->halving_order(f, hosts, count);
    return f->topology->halving_order != NULL;
}
