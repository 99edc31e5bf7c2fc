/* switch.c - the forwarding step (include/hxmesh/switch.h): receive, route, select, credit, transmit over bursts. */
#include "hxmesh/switch.h"
#include "hal_port.h"
#include "hxmesh/detour.h"
#include "hxmesh/lanes.h"
#include "switch_parts.h"
#include "switch_room.h"

/* ---- transmit ---- */

ALWAYS_INLINE unsigned vc_behind(const struct hx_route *r, unsigned input, unsigned vc, unsigned port,
                                 bool is_accelerator)
{
    return is_accelerator ? hx_mesh_vc(r, vc, port) : hx_router_vc(r, input, vc, port);
}

ALWAYS_INLINE void transmit(struct hx_switch *sw, unsigned port, unsigned input, unsigned vc, const struct hx_desc *d,
                            bool is_accelerator)
{
    struct hx_desc out = *d;
    out.vc = (uint8_t)vc_behind(&sw->route, input, vc, port, is_accelerator);
    out.hops++;
    hal_transmit(sw->hal, port, input, vc, &out);
}

/* ---- one VC ---- */

/* Reverts start_waiting(). */
static void stop_waiting(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, uint64_t ports)
{
    uint64_t *candidates = hx_switch_candidates(sw, input, vc);
    uint64_t *requests = sw->requests + (size_t)vc * sw->outputs;
    let_go(&sw->input[input], vc, position);
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        candidates[port] &= ~slot_bit(position);
        requests[port] &= ~((uint64_t)(candidates[port] == 0) << input);
        sw->wanted[vc] &= ~((uint64_t)(requests[port] == 0) << port);
    }
    give_row(sw, input, vc);
}

/* Returns the inputs that, for one VC, share the queue of `input` for `port`: they have the same VC behind it. */
static uint64_t same_queue(const struct hx_route *r, unsigned port, unsigned input)
{
    uint64_t vc_increment = r->vc_increment[port] >> input & 1 ? r->vc_increment[port] : ~r->vc_increment[port];
    return vc_increment & (r->restarted[port] >> input & 1 ? r->restarted[port] : ~r->restarted[port]);
}

/* Returns those of `ports` that only packets for another VC than this packet's wait for. One VC must not block another,
 * or they could deadlock. */
static uint64_t wanted_on_other_vc(const struct hx_switch *sw, unsigned input, unsigned vc, uint64_t ports)
{
    uint64_t otherwise = 0;
    for (ports &= sw->wanted[vc]; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        bool same = sw->requests[(size_t)vc * sw->outputs + port] & same_queue(&sw->route, port, input);
        otherwise |= (uint64_t)!same << port;
    }
    return otherwise;
}

/* Grants an output to waiting packets, round-robin over inputs, until its credit is used up. */
ALWAYS_INLINE void serve_output(struct hx_switch *sw, unsigned port, unsigned vc, struct burst *b,
                                route_function *route, bool is_accelerator)
{
    uint64_t *requests = &sw->requests[(size_t)vc * sw->outputs + port];
    uint8_t *turn = &sw->next_input[(size_t)vc * sw->outputs + port];
    uint64_t no_room = 0;
    for (uint64_t asking; (asking = *requests & ~no_room);) {
        if (!is_accelerator && hal_tx_credits(sw->hal, port) == 0)
            return; /* no credit on any VC: skip the requests, which are costly to examine with many ports */
        unsigned input = hx_next_bit(asking, *turn);
        uint16_t position = oldest(hx_switch_candidates(sw, input, vc)[port], hx_lane(sw->input[input].tail, vc));
        const struct hx_desc *d = hal_arrival(sw->hal, input, vc, position);
        unsigned cost = hal_packet_credits(d);
        if (room_of(sw, b, port, input, vc, is_accelerator) < cost) {
            if (is_accelerator || !sw->route.changes_vc)
                return;
            no_room |= same_queue(&sw->route, port, input);
            continue;
        }
        struct hx_heading to = waiting_heading(sw, input, vc, position, d);
        stop_waiting(sw, input, vc, position, candidate_ports_on(sw, input, vc, to, b->open, route, is_accelerator));
        transmit(sw, port, input, vc, d, is_accelerator);
        spend(b, port, cost, is_accelerator);
        *turn = (uint8_t)((input + 1) & 63);
        b->left |= (uint64_t)1 << input;
        b->moved++;
        if (is_accelerator && !HAL_VCS_APART)
            return; /* it is busy */
    }
}

/* Computes the candidate ports of a new packet to `to`. Returns false if the packet was dropped. */
ALWAYS_INLINE bool admit(struct hx_switch *sw, const struct arrival *a, struct hx_heading *to, uint64_t open,
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

/* Selects the output of a new packet and takes its credit. Returns NO_PORT if the packet waits or was dropped. */
ALWAYS_INLINE unsigned choose(struct hx_switch *sw, const struct arrival *a, struct burst *b, route_function *route,
                              bool is_accelerator)
{
    uint64_t ports;
    struct hx_heading to = heading_of(a->d);
    if (!admit(sw, a, &to, b->open, route, is_accelerator, &ports))
        return NO_PORT;
    unsigned cost = hal_packet_credits(a->d);
    uint64_t free = ports & ~(sw->wanted[a->vc] | busy_of(b, is_accelerator));
    if (!is_accelerator && sw->route.changes_vc)
        free |= wanted_on_other_vc(sw, a->input, a->vc, ports);
    unsigned port = NO_PORT;
    if (!is_accelerator)
        port = select_router(sw, free, a->input, a->vc, cost);
    else if (ports & LOCAL_BIT)
        port = free && room_of(sw, b, HX_LOCAL, a->input, a->vc, is_accelerator) >= cost ? HX_LOCAL : NO_PORT;
    else
        port = all_ports(is_accelerator) ? select_accelerator(sw, b->lanes, free, cost)
                                         : select_sparse(sw, free, a->vc, cost);
    if (RARE(port == NO_PORT))
        start_waiting(sw, a->input, a->vc, a->position, to, ports);
    else
        spend(b, port, cost, is_accelerator);
    return port;
}

/* Forwards a new packet, or lets it wait. */
ALWAYS_INLINE void forward(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, struct burst *b,
                           route_function *route, bool is_accelerator)
{
    const struct arrival a = {
        .input = input, .vc = vc, .position = position, .d = hal_arrival(sw->hal, input, vc, position)};
    unsigned port = choose(sw, &a, b, route, is_accelerator);
    if (port == NO_PORT)
        return;
    transmit(sw, port, input, vc, a.d, is_accelerator);
    b->moved++;
}

/* Forwards the new packets of an input on a VC: one or more. */
ALWAYS_INLINE void forward_arrivals(struct hx_switch *sw, unsigned input, uint64_t arrived, unsigned vc,
                                    struct burst *b, route_function *route, bool is_accelerator)
{
    uint16_t position = hx_lane(sw->input[input].seen, vc);
    const uint16_t end = hx_lane(arrived, vc);
    do
        forward(sw, input, vc, position, b, route, is_accelerator);
    while (++position != end);
}

static unsigned input_after(unsigned input)
{
    return input + 1 == HX_ACCELERATOR_PORTS ? 0 : input + 1;
}

/* A packet with its selected output. */
struct leaving {
    const struct hx_desc *d;
    uint8_t input, port;
};

enum { LEAVING = 16 /* packets of a batch; bounds the stack */ };

ALWAYS_INLINE void send_all(struct hx_switch *sw, unsigned vc, const struct leaving leaving[LEAVING], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        transmit(sw, leaving[i].port, leaving[i].input, vc, leaving[i].d, true);
}

/* Forwards the new packets of all inputs of an accelerator on a VC. Outputs are selected for a batch of packets before
 * they are sent, so that transmission does not stall on the long selection of the next packet. */
ALWAYS_INLINE void forward_all(struct hx_switch *sw, const uint64_t *arrived, unsigned vc, struct burst *b,
                               route_function *route)
{
    struct leaving leaving[LEAVING];
    unsigned n = 0;
    unsigned input = sw->first_input;
    for (unsigned i = 0; i < HX_ACCELERATOR_PORTS; i++, input = input_after(input)) {
        uint16_t position = hx_lane(sw->input[input].seen, vc);
        for (uint16_t end = hx_lane(arrived[input], vc); position != end; position++) {
            const struct arrival a = {
                .input = input, .vc = vc, .position = position, .d = hal_arrival(sw->hal, input, vc, position)};
            unsigned port = choose(sw, &a, b, route, true);
            leaving[n] = (struct leaving){a.d, (uint8_t)input, (uint8_t)port};
            n += port != NO_PORT;
            if (RARE(n == LEAVING)) {
                send_all(sw, vc, leaving, n);
                b->moved += n;
                n = 0;
            }
        }
    }
    send_all(sw, vc, leaving, n);
    b->moved += n;
}

ALWAYS_INLINE void serve_vc(struct hx_switch *sw, const uint64_t *arrived, unsigned vc, struct burst *b,
                            route_function *route, bool is_accelerator)
{
    begin_vc(sw, vc, b, is_accelerator);
    for (uint64_t ports = sw->wanted[vc] & b->grantable & ~busy_of(b, is_accelerator); ports; ports &= ports - 1)
        serve_output(sw, (unsigned)__builtin_ctzll(ports), vc, b, route, is_accelerator);
    if (all_ports(is_accelerator)) {
        forward_all(sw, arrived, vc, b, route);
        return;
    }
    unsigned input = sw->first_input;
    for (uint64_t left = hx_rotate_right(b->pending_on[vc], input); left; left &= left - 1) {
        unsigned i = ((unsigned)__builtin_ctzll(left) + input) & 63;
        forward_arrivals(sw, i, arrived[i], vc, b, route, is_accelerator);
    }
}

/* Returns true if a VC has new packets, or waiting ones with an output that may have credit. */
ALWAYS_INLINE bool has_work(const struct hx_switch *sw, const struct burst *b, unsigned vc)
{
    return ((sw->wanted[vc] & b->grantable) | hx_lane(b->pending_vcs, vc)) != 0;
}

ALWAYS_INLINE unsigned next_vc(const struct hx_switch *sw, unsigned vc)
{
    unsigned last = sw->route.vcs - 1U; /* loaded unconditionally: the next VC is unpredictable */
    return vc == 0 ? last : vc - 1;
}

/* Returns a set of VCs as bits in order of service: first_vc is the highest bit, or with `apart` VCs keep their
 * numbers. The set is unpredictable, so callers loop over bits. */
ALWAYS_INLINE unsigned order_vcs(const struct hx_switch *sw, unsigned vcs, bool apart)
{
    unsigned twice = vcs << sw->route.vcs | vcs;
    return apart ? vcs : twice >> (sw->first_vc + 1U) & ((1U << sw->route.vcs) - 1);
}

/* Removes the next VC from such a set, which is not empty, and returns it. */
ALWAYS_INLINE unsigned take_vc(const struct hx_switch *sw, unsigned *turns, bool apart)
{
    unsigned turn = apart ? (unsigned)__builtin_ctz(*turns) : 31U - (unsigned)__builtin_clz(*turns);
    unsigned vc = turn + sw->first_vc + 1U;
    *turns ^= 1U << turn;
    if (apart)
        return turn;
    return vc < sw->route.vcs ? vc : vc - sw->route.vcs;
}

/* Returns true if VCs share no credit, not even by packets of several VCs that continue on one. */
ALWAYS_INLINE bool vcs_apart(const struct hx_switch *sw, bool is_accelerator)
{
    return HAL_VCS_APART && (is_accelerator || !sw->route.changes_vc);
}

ALWAYS_INLINE void serve_vcs(struct hx_switch *sw, const uint64_t *arrived, struct burst *b, route_function *route,
                             bool is_accelerator)
{
    if (vcs_apart(sw, is_accelerator)) {
        /* Any order works. Unrolled, the lanes of each VC are at constant positions. */
        if (has_work(sw, b, 0))
            serve_vc(sw, arrived, 0, b, route, is_accelerator);
        if (has_work(sw, b, 1))
            serve_vc(sw, arrived, 1, b, route, is_accelerator);
        if (has_work(sw, b, 2))
            serve_vc(sw, arrived, 2, b, route, is_accelerator);
        if (has_work(sw, b, 3))
            serve_vc(sw, arrived, 3, b, route, is_accelerator);
        _Static_assert(HX_VCS == 4, "one call a VC");
        return;
    }
    unsigned busy = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        busy |= (unsigned)has_work(sw, b, vc) << vc;
    for (unsigned turns = order_vcs(sw, busy, false); turns;)
        serve_vc(sw, arrived, take_vc(sw, &turns, false), b, route, is_accelerator);
}

/* ---- the step ---- */

/* Begins a burst: examines the inputs that may have new packets. */
ALWAYS_INLINE void begin_step(struct hx_switch *sw, uint64_t *arrived, struct burst *b, bool is_accelerator)
{
    b->pending_vcs = b->pending = b->left = b->busy = b->moved = 0;
    b->pending_on[0] = b->pending_on[1] = b->pending_on[2] = b->pending_on[3] = 0;
    uint64_t ask = hal_rx_pending(sw->hal);
    if (all_ports(is_accelerator)) {
        for (unsigned i = 0; i < HX_ACCELERATOR_PORTS; i++) {
            arrived[i] = ask >> i & 1 ? hal_arrived(sw->hal, i) : sw->input[i].seen;
            b->pending_vcs |= arrived[i] ^ sw->input[i].seen;
        }
        return;
    }
    for (ask &= UINT64_MAX >> (64 - sw->inputs); ask; ask &= ask - 1) {
        unsigned i = (unsigned)__builtin_ctzll(ask);
        arrived[i] = hal_arrived(sw->hal, i);
        uint64_t pending_vcs = arrived[i] ^ sw->input[i].seen;
        b->pending_vcs |= pending_vcs;
        b->pending |= (uint64_t)(pending_vcs != 0) << i;
        while (pending_vcs)
            b->pending_on[hx_lanes_take(&pending_vcs)] |= (uint64_t)1 << i;
    }
}

/* Returns true for a single arrival while no output that waiting packets want is ready: nothing else needs
 * examination. */
ALWAYS_INLINE bool is_single_arrival(const struct hx_switch *sw, const uint64_t *arrived, const struct burst *b,
                                     bool is_accelerator)
{
    if (all_ports(is_accelerator) || b->grantable || (b->pending & (b->pending - 1)))
        return false;
    unsigned input = (unsigned)__builtin_ctzll(b->pending);
    uint64_t packets = hx_lanes_sub(arrived[input], sw->input[input].seen);
    return (packets & (packets - 1)) == 0 && (packets & HX_LANE_ONES) != 0;
}

ALWAYS_INLINE void serve_single(struct hx_switch *sw, const uint64_t *arrived, struct burst *b, route_function *route,
                                bool is_accelerator)
{
    unsigned input = (unsigned)__builtin_ctzll(b->pending);
    unsigned vc = (unsigned)__builtin_ctzll(b->pending_vcs) / HX_LANE_BITS;
    begin_vc(sw, vc, b, is_accelerator);
    forward(sw, input, vc, hx_lane(sw->input[input].seen, vc), b, route, is_accelerator);
    sw->input[input].seen = arrived[input];
    release(sw, input);
}

ALWAYS_INLINE void serve_all(struct hx_switch *sw, const uint64_t *arrived, struct burst *b, route_function *route,
                             bool is_accelerator)
{
    load_rooms(sw, b, is_accelerator);
    serve_vcs(sw, arrived, b, route, is_accelerator);
    for (unsigned i = 0; all_ports(is_accelerator) && i < HX_ACCELERATOR_PORTS; i++) {
        if (arrived[i] != sw->input[i].tail) {
            sw->input[i].seen = arrived[i];
            release(sw, i);
        }
    }
    for (uint64_t changed = all_ports(is_accelerator) ? 0 : b->pending | b->left; changed; changed &= changed - 1) {
        unsigned i = (unsigned)__builtin_ctzll(changed);
        if (b->pending >> i & 1)
            sw->input[i].seen = arrived[i];
        release(sw, i);
    }
}

/* Rotates the first input and VC for the next step. */
ALWAYS_INLINE void rotate(struct hx_switch *sw, bool is_accelerator)
{
    unsigned inputs = is_accelerator ? HX_ACCELERATOR_PORTS : sw->inputs;
    sw->first_input = (uint8_t)(sw->first_input + 1U == inputs ? 0 : sw->first_input + 1U);
    sw->first_vc = (uint8_t)next_vc(sw, sw->first_vc);
}

ALWAYS_INLINE unsigned step(struct hx_switch *sw, route_function *route, bool is_accelerator)
{
    uint64_t arrived[HX_MAX_RADIX];
    struct burst b;
    begin_step(sw, arrived, &b, is_accelerator);
    b.grantable = (sw->wanted[0] | sw->wanted[1] | sw->wanted[2] | sw->wanted[3]) & hal_tx_ready(sw->hal);
    if (!(b.pending_vcs | b.grantable))
        return 0;

    if (is_single_arrival(sw, arrived, &b, is_accelerator))
        serve_single(sw, arrived, &b, route, is_accelerator);
    else
        serve_all(sw, arrived, &b, route, is_accelerator);
    /* A step that moves nothing changes nothing, so results do not depend on how often a platform polls. */
    if (b.moved)
        rotate(sw, is_accelerator);
    hal_commit(sw->hal);
    return b.moved;
}

unsigned hx_accelerator_step(struct hx_switch *sw)
{
    return step(sw, hx_mesh_ports, true);
}

unsigned hx_router_step(struct hx_switch *sw)
{
    return step(sw, hx_router_ports, false);
}

/* serve_single() for a known single arrival, without hal_release() and hal_commit(). */
ALWAYS_INLINE unsigned pass(struct hx_switch *sw, const struct hx_single_arrival *c, route_function *route,
                            bool is_accelerator)
{
    struct hx_input *in = &sw->input[c->input];
    struct burst b = {.moved = 0};
    load_rooms(sw, &b, is_accelerator);
    begin_vc(sw, c->vc, &b, is_accelerator);
    const struct arrival a = {c->input, c->vc, hx_lane(in->seen, c->vc), c->d, c->offered};
    unsigned port = choose(sw, &a, &b, route, is_accelerator);
    if (port != NO_PORT) {
        transmit(sw, port, c->input, c->vc, c->d, is_accelerator);
        rotate(sw, is_accelerator);
    }
    uint64_t seen = hx_lane_add(in->seen, c->vc, 1);
    if (in->waiting[c->vc] == 0)
        in->tail ^= in->seen ^ seen; /* they differ in the lane of this VC, where the tail was at `seen` */
    in->seen = seen;
    return port != NO_PORT;
}

unsigned hx_accelerator_pass(struct hx_switch *sw, const struct hx_single_arrival *c)
{
    return pass(sw, c, hx_mesh_ports, true);
}

unsigned hx_router_pass(struct hx_switch *sw, const struct hx_single_arrival *c)
{
    return pass(sw, c, hx_router_ports, false);
}

void hx_switch_wait(struct hx_switch *sw, const struct hx_single_arrival *c)
{
    struct hx_input *in = &sw->input[c->input];
    start_waiting(sw, c->input, c->vc, hx_lane(in->seen, c->vc), heading_of(c->d), c->offered);
    in->seen = hx_lane_add(in->seen, c->vc, 1);
}

/* Grants an output with `room` to a waiting packet of a VC, round-robin over inputs. Returns its candidates; 0: none
 * left. */
ALWAYS_INLINE uint64_t grant_on(struct hx_switch *sw, unsigned port, unsigned vc, uint64_t room, route_function *route,
                                bool is_accelerator)
{
    uint64_t asking = sw->requests[(size_t)vc * sw->outputs + port];
    uint8_t *turn = &sw->next_input[(size_t)vc * sw->outputs + port];
    while (asking) {
        unsigned input = hx_next_bit(asking, *turn);
        uint16_t position = oldest(hx_switch_candidates(sw, input, vc)[port], hx_lane(sw->input[input].tail, vc));
        const struct hx_desc *d = hal_arrival(sw->hal, input, vc, position);
        if (hx_lane(room, vc_behind(&sw->route, input, vc, port, is_accelerator)) >= hal_packet_credits(d)) {
            struct hx_heading to = waiting_heading(sw, input, vc, position, d);
            uint64_t ports = candidate_ports_on(sw, input, vc, to, open_to(sw, vc), route, is_accelerator);
            stop_waiting(sw, input, vc, position, ports);
            transmit(sw, port, input, vc, d, is_accelerator);
            *turn = (uint8_t)((input + 1) & 63);
            release(sw, input);
            return ports;
        }
        if (is_accelerator || !sw->route.changes_vc)
            return 0;
        asking &= ~same_queue(&sw->route, port, input);
    }
    return 0;
}

ALWAYS_INLINE uint64_t grant(struct hx_switch *sw, unsigned output, route_function *route, bool is_accelerator)
{
    uint64_t room = hal_tx_credits(sw->hal, output);
    if (room == 0)
        return 0;
    unsigned asking = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        asking |= (unsigned)(sw->wanted[vc] >> output & 1) << vc;
    for (unsigned turns = order_vcs(sw, asking, false); turns;) {
        uint64_t ports = grant_on(sw, output, take_vc(sw, &turns, false), room, route, is_accelerator);
        if (ports) {
            rotate(sw, is_accelerator);
            hal_commit(sw->hal);
            return ports;
        }
    }
    return 0;
}

uint64_t hx_accelerator_grant(struct hx_switch *sw, unsigned output)
{
    return grant(sw, output, hx_mesh_ports, true);
}

uint64_t hx_router_grant(struct hx_switch *sw, unsigned output)
{
    return grant(sw, output, hx_router_ports, false);
}
