/* switch.c - the entry points of the switch (include/hxmesh/switch.h): the step, which forwards a burst, and the calls
 * for one event. All allocate by switch_allocation.h. */
#include "hxmesh/switch.h"
#include "hal_port.h"
#include "hxmesh/lanes.h"
#include "switch_allocation.h"

/* ---- a burst ---- */

/* Forwards the new packets of an input on a VC: one or more. */
ALWAYS_INLINE void forward_arrivals(struct hx_switch *sw, unsigned input, uint64_t arrived, unsigned vc,
                                    struct burst *b, route_function *route, bool is_accelerator)
{
    uint16_t position = hx_lane(sw->input[input].seen, vc);
    const uint16_t end = hx_lane(arrived, vc);
    do {
        const struct window_packet a = packet_at(sw, input, vc, position);
        forward(sw, &a, b, route, is_accelerator);
    } while (++position != end);
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
    for (unsigned i = 0; i < n; i++) {
        const struct window_packet a = {.input = leaving[i].input, .vc = vc, .d = leaving[i].d};
        transmit(sw, leaving[i].port, &a, true);
    }
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
            const struct window_packet a = packet_at(sw, input, vc, position);
            unsigned port = allocate(sw, &a, b, route, true);
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

/* Grants an output to waiting packets of a VC until its credit is used up. */
ALWAYS_INLINE void grant_all(struct hx_switch *sw, unsigned port, unsigned vc, struct burst *b, route_function *route,
                             bool is_accelerator)
{
    const uint64_t *requests = &sw->requests[(size_t)vc * sw->outputs + port];
    b->refused = 0;
    while (*requests) {
        if (!is_accelerator && hal_tx_credits(sw->hal, port) == 0)
            return; /* no credit on any VC: skip the requests, which are costly to examine with many ports */
        if (!grant(sw, port, vc, b, route, is_accelerator) || busy_of(b, is_accelerator) >> port & 1)
            return;
    }
}

ALWAYS_INLINE void serve_vc(struct hx_switch *sw, const uint64_t *arrived, unsigned vc, struct burst *b,
                            route_function *route, bool is_accelerator)
{
    begin_vc(sw, vc, b, is_accelerator);
    for (uint64_t ports = sw->wanted[vc] & b->grantable & ~busy_of(b, is_accelerator); ports; ports &= ports - 1)
        grant_all(sw, (unsigned)__builtin_ctzll(ports), vc, b, route, is_accelerator);
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

/* Returns a set of VCs as bits in order of service: first_vc is the highest bit. The set is unpredictable, so callers
 * loop over bits. */
ALWAYS_INLINE unsigned order_vcs(const struct hx_switch *sw, unsigned vcs)
{
    unsigned twice = vcs << sw->route.vcs | vcs;
    return twice >> (sw->first_vc + 1U) & ((1U << sw->route.vcs) - 1);
}

/* Removes the next VC from such a set, which is not empty, and returns it. */
ALWAYS_INLINE unsigned take_vc(const struct hx_switch *sw, unsigned *turns)
{
    unsigned turn = 31U - (unsigned)__builtin_clz(*turns);
    unsigned vc = turn + sw->first_vc + 1U;
    *turns ^= 1U << turn;
    return vc < sw->route.vcs ? vc : vc - sw->route.vcs;
}

/* Returns true if no two VCs compete for credit: the platform serves each for itself, and no output merges them. */
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
    for (unsigned turns = order_vcs(sw, busy); turns;)
        serve_vc(sw, arrived, take_vc(sw, &turns), b, route, is_accelerator);
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
    const struct window_packet a = packet_at(sw, input, vc, hx_lane(sw->input[input].seen, vc));
    begin_vc(sw, vc, b, is_accelerator);
    forward(sw, &a, b, route, is_accelerator);
    sw->input[input].seen = arrived[input];
    release(sw, input);
}

ALWAYS_INLINE void serve_all(struct hx_switch *sw, const uint64_t *arrived, struct burst *b, route_function *route,
                             bool is_accelerator)
{
    load_credits(sw, b, is_accelerator);
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

/* Rotates the first input and VC, after a move. */
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
    /* Only a move rotates: otherwise results would depend on how often a platform polls. */
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

/* ---- one event ---- */

/* The packet of a call for a single arrival. */
ALWAYS_INLINE struct window_packet next_of(const struct hx_switch *sw, const struct hx_single_arrival *c)
{
    return (struct window_packet){c->input, c->vc, hx_lane(sw->input[c->input].seen, c->vc), c->d, c->offered};
}

/* serve_single() for a known single arrival, without hal_release() and hal_commit(). */
ALWAYS_INLINE unsigned pass(struct hx_switch *sw, const struct hx_single_arrival *c, route_function *route,
                            bool is_accelerator)
{
    struct hx_input *in = &sw->input[c->input];
    const struct window_packet a = next_of(sw, c);
    struct burst b = {.moved = 0};
    load_credits(sw, &b, is_accelerator);
    begin_vc(sw, c->vc, &b, is_accelerator);
    forward(sw, &a, &b, route, is_accelerator);
    if (b.moved)
        rotate(sw, is_accelerator);
    uint64_t seen = hx_lane_add(in->seen, c->vc, 1);
    if (in->waiting[c->vc] == 0)
        in->tail ^= in->seen ^ seen; /* they differ in the lane of this VC, where the tail was at `seen` */
    in->seen = seen;
    return b.moved;
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
    const struct window_packet a = next_of(sw, c);
    stall(sw, &a, heading_of(c->d), c->offered, HX_STALL_OUTPUT_BUSY);
    in->seen = hx_lane_add(in->seen, c->vc, 1);
}

/* Grants an output to one waiting packet, of the first VC that has one with credit. */
ALWAYS_INLINE uint64_t grant_one(struct hx_switch *sw, unsigned output, route_function *route, bool is_accelerator)
{
    if (hal_tx_credits(sw->hal, output) == 0)
        return 0;
    struct burst b = {.moved = 0};
    load_credits(sw, &b, is_accelerator);
    unsigned asking = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        asking |= (unsigned)(sw->wanted[vc] >> output & 1) << vc;
    for (unsigned turns = order_vcs(sw, asking); turns;) {
        unsigned vc = take_vc(sw, &turns);
        begin_vc(sw, vc, &b, is_accelerator);
        b.refused = 0;
        uint64_t ports = grant(sw, output, vc, &b, route, is_accelerator);
        if (ports) {
            release(sw, (unsigned)__builtin_ctzll(b.left));
            rotate(sw, is_accelerator);
            hal_commit(sw->hal);
            return ports;
        }
    }
    return 0;
}

uint64_t hx_accelerator_grant(struct hx_switch *sw, unsigned output)
{
    return grant_one(sw, output, hx_mesh_ports, true);
}

uint64_t hx_router_grant(struct hx_switch *sw, unsigned output)
{
    return grant_one(sw, output, hx_router_ports, false);
}
