/* switch.c - the forwarding step (include/hxmesh/switch.h): receive, route, select, credit, transmit over bursts.
 *
 * One body serves accelerators and routers: step() is inlined twice, with the route function and `narrow` as
 * constants. Narrow switches have at most four linked outputs, so the room of all of them on one VC is one word of four
 * lanes and stays in a register while a VC is served. */
#include "hxmesh/switch.h"
#include "hal_port.h"
#include "hxmesh/detour.h"
#include "hxmesh/lanes.h"
#include "hxmesh/memory.h"

#define ALWAYS_INLINE   static inline __attribute__((always_inline))
#define RARE(condition) __builtin_expect(!!(condition), 0)

typedef uint64_t route_function(const struct hx_route *, unsigned input, unsigned gx, unsigned gy);

enum { NO_PORT = 255 };
#define LOCAL_BIT ((uint64_t)1 << HX_LOCAL)

/* ---- windows ---- */

static uint64_t rotate_right(uint64_t word, unsigned by)
{
    return word >> (by & 63) | word << (-by & 63);
}

static uint64_t slot_bit(uint16_t position)
{
    return (uint64_t)1 << position % HX_WINDOW;
}

/* First position at or after `from` whose bit is set in a window; `slots` is not empty. */
static uint16_t oldest(uint64_t slots, uint16_t from)
{
    return (uint16_t)(from + (unsigned)__builtin_ctzll(rotate_right(slots, from)));
}

static void start_waiting(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, uint64_t ports)
{
    uint64_t *want = hx_switch_want(sw, input, vc);
    uint64_t *requests = sw->requests + (size_t)vc * sw->outputs;
    sw->input[input].waiting[vc] |= slot_bit(position);
    sw->wanted[vc] |= ports;
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        want[port] |= slot_bit(position);
        requests[port] |= (uint64_t)1 << input;
    }
}

static void stop_waiting(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, uint64_t ports)
{
    uint64_t *want = hx_switch_want(sw, input, vc);
    uint64_t *requests = sw->requests + (size_t)vc * sw->outputs;
    sw->input[input].waiting[vc] &= ~slot_bit(position);
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        want[port] &= ~slot_bit(position);
        requests[port] &= ~((uint64_t)(want[port] == 0) << input);
        sw->wanted[vc] &= ~((uint64_t)(requests[port] == 0) << port);
    }
}

/* ---- route ---- */

ALWAYS_INLINE uint64_t returns_of(const struct hx_route *r, unsigned input)
{
    return r->returns ? r->returns[input] : 0;
}

/* Outputs of an accelerator that a packet on `vc` may take: there is no VC behind the last. */
static uint64_t open_to(const struct hx_switch *sw, unsigned vc)
{
    return vc + 1 < sw->route.vcs ? UINT64_MAX : ~(uint64_t)sw->route.raise;
}

/* Where a packet that came on `vc` may go: hx_route_ways(). `open`: of an accelerator, open_to() that VC. It hands what has
 * no way on to its endpoint, which reports it; a tree switch gives it back to the boards. */
ALWAYS_INLINE uint64_t ways_on(const struct hx_switch *sw, unsigned input, unsigned vc, const struct hx_desc *d,
                               uint64_t open, route_function *route, bool narrow)
{
    uint64_t ports = route(&sw->route, input, d->dst_d0, d->dst_d1);
    if (narrow) {
        ports &= open;
        return RARE(ports == 0) ? LOCAL_BIT : ports;
    }
    if (RARE(ports == 0))
        ports = returns_of(&sw->route, input);
    return vc + 1 < sw->route.vcs ? ports : ports & ~hx_router_raising(&sw->route, input, ports);
}

/* ---- room and selection ---- */

/* Room of the four linked outputs of an accelerator as a packet of this VC sees it (behind an edge the VC is one
 * higher), one lane a port, times four: the two low bits are for the tie rank. There is no VC behind the last: no packet
 * on it looks at those lanes. */
ALWAYS_INLINE uint64_t narrow_room(struct hx_switch *sw, const uint64_t room[4], unsigned vc)
{
    uint64_t lanes = 0;
    for (unsigned port = 0; port < 4; port++)
        lanes |= (uint64_t)hx_lane(room[port], vc + (vc < HX_VCS - 1 ? sw->route.raise >> port & 1U : 0))
                 << (16 * port);
    return lanes << 2;
}

/* The port of the set with the most room, if that is enough for `cost`. Among equals lane p has rank p ^ turn: any two
 * ports, and all four, win equally often. */
ALWAYS_INLINE unsigned select_narrow(struct hx_switch *sw, uint64_t lanes, uint64_t ports, unsigned cost)
{
    static const uint64_t spread[16] = {0x0000000000000000, 0x000000000000FFFF, 0x00000000FFFF0000, 0x00000000FFFFFFFF,
                                        0x0000FFFF00000000, 0x0000FFFF0000FFFF, 0x0000FFFFFFFF0000, 0x0000FFFFFFFFFFFF,
                                        0xFFFF000000000000, 0xFFFF00000000FFFF, 0xFFFF0000FFFF0000, 0xFFFF0000FFFFFFFF,
                                        0xFFFFFFFF00000000, 0xFFFFFFFF0000FFFF, 0xFFFFFFFFFFFF0000, 0xFFFFFFFFFFFFFFFF};
    static const uint64_t ranks[4] = {0x0003000200010000, 0x0002000300000001, 0x0001000000030002, 0x0000000100020003};
    unsigned turn = (unsigned)(hx_switch_tie(sw) >> 62);
    uint64_t ranked = (lanes | ranks[turn]) & spread[ports & 15];
    uint32_t pair = (uint32_t)(ranked >> 32);
    uint32_t low = hx_lane(ranked, 0) > hx_lane(ranked, 1) ? hx_lane(ranked, 0) : hx_lane(ranked, 1);
    uint32_t high = (pair & 0xFFFF) > pair >> 16 ? pair & 0xFFFF : pair >> 16;
    uint32_t best = low > high ? low : high;
    return best >> 2 >= cost ? (best ^ turn) & 3 : NO_PORT;
}

ALWAYS_INLINE unsigned wide_room(struct hx_switch *sw, unsigned port, unsigned input, unsigned vc)
{
    uint64_t room = hal_room(sw->hal, port);
    return room ? hx_lane(room, hx_router_vc(&sw->route, input, vc, port)) : 0;
}

/* Likewise for any set of ports: each has a rank of 16 bits, mixed anew for each choice. */
ALWAYS_INLINE unsigned select_wide(struct hx_switch *sw, uint64_t ports, unsigned input, unsigned vc, unsigned cost)
{
    uint64_t tie = hx_switch_tie(sw);
    uint32_t most = (cost << 16) - 1;
    unsigned best = NO_PORT;
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        uint64_t mixed = (tie ^ port * UINT64_C(0xD6E8FEB86659FD93)) * UINT64_C(0xFF51AFD7ED558CCD);
        uint32_t ranked = wide_room(sw, port, input, vc) << 16 | (uint32_t)(mixed >> 48);
        best = ranked > most ? port : best;
        most = ranked > most ? ranked : most;
    }
    return best;
}

/* ---- transmit ---- */

ALWAYS_INLINE void transmit(struct hx_switch *sw, unsigned port, unsigned input, unsigned vc, const struct hx_desc *d,
                            bool narrow)
{
    struct hx_desc out = *d;
    out.vc = (uint8_t)(narrow ? vc + (sw->route.raise >> port & 1U) : hx_router_vc(&sw->route, input, vc, port));
    out.hops++;
    hal_transmit(sw->hal, port, input, vc, &out);
}

/* ---- one VC ---- */

/* Whether a step goes through all inputs, which is faster where most of few bring something, or by the bits of those that
 * do. */
ALWAYS_INLINE bool all_inputs(bool narrow)
{
    return narrow && !HAL_SPARSE;
}

/* What a step works on. */
struct burst {
    uint64_t brought;                    /* lanes: not 0 if packets came on this VC; unless all_inputs(), how many */
    uint64_t came;                       /* by bits: inputs that brought something */
    uint64_t left;                       /* by bits: inputs whose waiting packets left */
    uint64_t room[HX_ACCELERATOR_PORTS]; /* narrow: hal_room() */
    uint64_t open;                       /* open_to() this VC: asked of an accelerator */
    uint64_t lanes;                      /* narrow: room of this VC by port, times four */
    unsigned local;                      /* narrow: room of this VC at LOCAL */
    unsigned moved;                      /* packets that left */
};

ALWAYS_INLINE unsigned room_of(struct hx_switch *sw, const struct burst *b, unsigned port, unsigned input, unsigned vc,
                               bool narrow)
{
    if (!narrow)
        return wide_room(sw, port, input, vc);
    return port == HX_LOCAL ? b->local : (unsigned)hx_lane(b->lanes, port) >> 2;
}

ALWAYS_INLINE void spend(struct burst *b, unsigned port, unsigned cost, bool narrow)
{
    if (!narrow)
        return; /* hal_room() has it already */
    if (!HAL_VCS_APART)
        b->room[port] = 0;
    if (port == HX_LOCAL)
        b->local = HAL_VCS_APART ? b->local - cost : 0;
    else
        b->lanes = HAL_VCS_APART ? b->lanes - ((uint64_t)cost << 2 << (16 * port))
                                 : b->lanes & ~((uint64_t)0xFFFF << (16 * port));
}

/* A linked output's room of one VC, in its lane. */
ALWAYS_INLINE uint64_t lane_of(const struct hx_switch *sw, unsigned port, uint64_t room, unsigned vc)
{
    return (uint64_t)hx_lane(room, vc + (sw->route.raise >> port & 1U)) << 2 << (16 * port);
}

/* Room as one packet may need it: of these outputs alone. */
ALWAYS_INLINE void ask_room(struct hx_switch *sw, struct burst *b, uint64_t ports, unsigned vc)
{
    b->local = (ports & LOCAL_BIT) ? hx_lane(hal_room(sw->hal, HX_LOCAL), vc) : 0;
    b->lanes = 0;
    for (ports &= ~LOCAL_BIT; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        b->lanes |= lane_of(sw, port, hal_room(sw->hal, port), vc);
    }
}

/* The inputs whose packets of one VC have the same VC behind `port` as those of `input`: they stand in one queue for it. */
static uint64_t alike(const struct hx_route *r, unsigned port, unsigned input)
{
    uint64_t raised = r->raised[port] >> input & 1 ? r->raised[port] : ~r->raised[port];
    return raised & (r->restarted[port] >> input & 1 ? r->restarted[port] : ~r->restarted[port]);
}

/* Of `ports`, those that packets of this VC wait for, but none that would go on the VC that this one goes on: what one VC
 * waits for must not stop another, or they wait for each other. */
static uint64_t wanted_otherwise(const struct hx_switch *sw, unsigned input, unsigned vc, uint64_t ports)
{
    uint64_t otherwise = 0;
    for (ports &= sw->wanted[vc]; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        bool same = sw->requests[(size_t)vc * sw->outputs + port] & alike(&sw->route, port, input);
        otherwise |= (uint64_t)!same << port;
    }
    return otherwise;
}

/* Grants one output to those who wait for it, input by input in turn, until its room is spent. */
ALWAYS_INLINE void serve_output(struct hx_switch *sw, unsigned port, unsigned vc, struct burst *b,
                                route_function *route, bool narrow)
{
    uint64_t *requests = &sw->requests[(size_t)vc * sw->outputs + port];
    uint8_t *turn = &sw->next_input[(size_t)vc * sw->outputs + port];
    uint64_t no_room = 0;
    for (uint64_t asking; (asking = *requests & ~no_room);) {
        if (!narrow && hal_room(sw->hal, port) == 0)
            return; /* on no VC: who asks need not be looked at, which costs most of where ports are many */
        unsigned input = ((unsigned)__builtin_ctzll(rotate_right(asking, *turn)) + *turn) & 63;
        uint16_t position = oldest(hx_switch_want(sw, input, vc)[port], hx_lane(sw->input[input].tail, vc));
        const struct hx_desc *d = hal_arrival(sw->hal, input, vc, position);
        unsigned cost = hal_cost(d);
        if (room_of(sw, b, port, input, vc, narrow) < cost) {
            if (narrow || !sw->route.changes_vc)
                return;
            no_room |= alike(&sw->route, port, input);
            continue;
        }
        stop_waiting(sw, input, vc, position, ways_on(sw, input, vc, d, b->open, route, narrow));
        transmit(sw, port, input, vc, d, narrow);
        spend(b, port, cost, narrow);
        *turn = (uint8_t)((input + 1) & 63);
        b->left |= (uint64_t)1 << input;
        b->moved++;
    }
}

/* Finds where a newly arrived packet may go; false: it was dropped. */
ALWAYS_INLINE bool admit(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, const struct hx_desc *d,
                         uint64_t open, route_function *route, bool narrow, uint64_t *ports)
{
    if (RARE(d->dst_d0 >= sw->route.columns || d->dst_d1 >= sw->route.rows)) {
        if (narrow || !hx_detour_follow(sw, input, vc, position, d)) {
            hal_drop(sw->hal, input, vc, d, HX_DROP_MALFORMED);
            return false;
        }
    } else if (!narrow && RARE(sw->route.choosing >> input & 1)) {
        hx_detour_choose(sw, input, vc, position, d);
    }
    if (narrow && RARE(d->job != sw->job)) {
        hal_drop(sw->hal, input, vc, d, HX_DROP_FOREIGN_JOB);
        return false;
    }
    *ports = ways_on(sw, input, vc, d, open, route, narrow);
    if (!narrow && RARE(*ports == 0)) {
        hal_drop(sw->hal, input, vc, d, HX_DROP_NO_ROUTE);
        return false;
    }
    return true;
}

/* The output that a newly arrived packet takes, its room spent; NO_PORT: it waits, or was dropped. `alone`: the room of
 * outputs is not known yet. */
ALWAYS_INLINE unsigned choose(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position,
                              const struct hx_desc *d, struct burst *b, bool alone, route_function *route, bool narrow)
{
    uint64_t ports;
    if (!admit(sw, input, vc, position, d, b->open, route, narrow, &ports))
        return NO_PORT;
    unsigned cost = hal_cost(d);
    uint64_t free = ports & ~sw->wanted[vc];
    if (!narrow && sw->route.changes_vc)
        free |= wanted_otherwise(sw, input, vc, ports);
    if (narrow && alone)
        ask_room(sw, b, free, vc);
    unsigned port = NO_PORT;
    if (narrow && ports & LOCAL_BIT)
        port = free && b->local >= cost ? HX_LOCAL : NO_PORT;
    else
        port = narrow ? select_narrow(sw, b->lanes, free, cost) : select_wide(sw, free, input, vc, cost);
    if (RARE(port == NO_PORT))
        start_waiting(sw, input, vc, position, ports);
    else
        spend(b, port, cost, narrow);
    return port;
}

/* Sends one newly arrived packet on, or lets it wait. */
ALWAYS_INLINE void forward(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, struct burst *b,
                           bool alone, route_function *route, bool narrow)
{
    const struct hx_desc *d = hal_arrival(sw->hal, input, vc, position);
    unsigned port = choose(sw, input, vc, position, d, b, alone, route, narrow);
    if (port == NO_PORT)
        return;
    transmit(sw, port, input, vc, d, narrow);
    b->moved++;
}

/* What an input brought on a VC since the last step. */
ALWAYS_INLINE void forward_arrivals(struct hx_switch *sw, unsigned input, uint64_t arrived, unsigned vc,
                                    struct burst *b, route_function *route, bool narrow)
{
    uint16_t position = hx_lane(sw->input[input].seen, vc);
    for (uint16_t end = hx_lane(arrived, vc); position != end; position++)
        forward(sw, input, vc, position, b, false, route, narrow);
}

static unsigned input_after(unsigned input)
{
    return input + 1 == HX_ACCELERATOR_PORTS ? 0 : input + 1;
}

/* A packet for which an output was chosen. */
struct leaving {
    const struct hx_desc *d;
    uint8_t input, port;
};

enum { LEAVING = 16 /* sent together at most: it is on the stack */ };

ALWAYS_INLINE void send_all(struct hx_switch *sw, unsigned vc, const struct leaving leaving[LEAVING], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        transmit(sw, leaving[i].port, leaving[i].input, vc, leaving[i].d, true);
}

/* Sends on, or lets wait, what all inputs of an accelerator brought on a VC. Outputs are chosen for many packets, and then
 * these are sent: one by one, each would be sent while the choice for the next, which is long, waits for it. */
ALWAYS_INLINE void forward_all(struct hx_switch *sw, const uint64_t *arrived, unsigned vc, struct burst *b,
                               route_function *route)
{
    struct leaving leaving[LEAVING];
    unsigned n = 0;
    unsigned input = sw->first_input;
    for (unsigned i = 0; i < HX_ACCELERATOR_PORTS; i++, input = input_after(input)) {
        uint16_t position = hx_lane(sw->input[input].seen, vc);
        for (uint16_t end = hx_lane(arrived[input], vc); position != end; position++) {
            const struct hx_desc *d = hal_arrival(sw->hal, input, vc, position);
            unsigned port = choose(sw, input, vc, position, d, b, false, route, true);
            leaving[n] = (struct leaving){d, (uint8_t)input, (uint8_t)port};
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
                            route_function *route, bool narrow)
{
    b->open = open_to(sw, vc);
    if (narrow) {
        b->lanes = narrow_room(sw, b->room, vc);
        b->local = hx_lane(b->room[HX_LOCAL], vc);
    }
    for (uint64_t ports = sw->wanted[vc] & hal_open(sw->hal); ports; ports &= ports - 1)
        serve_output(sw, (unsigned)__builtin_ctzll(ports), vc, b, route, narrow);
    if (all_inputs(narrow)) {
        forward_all(sw, arrived, vc, b, route);
        return;
    }
    unsigned input = sw->first_input;
    for (uint64_t left = rotate_right(b->came, input); left; left &= left - 1) {
        unsigned i = ((unsigned)__builtin_ctzll(left) + input) & 63;
        forward_arrivals(sw, i, arrived[i], vc, b, route, narrow);
    }
}

/* Whether a VC has something to do: something came, or waits for an output that may have room. */
ALWAYS_INLINE bool has_work(const struct hx_switch *sw, const struct burst *b, unsigned vc)
{
    return ((sw->wanted[vc] & hal_open(sw->hal)) | hx_lane(b->brought, vc)) != 0;
}

ALWAYS_INLINE unsigned next_vc(const struct hx_switch *sw, unsigned vc)
{
    return vc == 0 ? sw->route.vcs - 1U : vc - 1;
}

/* Whether no VC's packets take room from another's, as where packets of several VCs may go on one. */
ALWAYS_INLINE bool vcs_apart(const struct hx_switch *sw, bool narrow)
{
    return HAL_VCS_APART && (narrow || !sw->route.changes_vc);
}

ALWAYS_INLINE void serve_vcs(struct hx_switch *sw, const uint64_t *arrived, struct burst *b, route_function *route,
                             bool narrow)
{
    if (vcs_apart(sw, narrow)) {
        /* Their order does not matter. Written out, each VC's lanes are at constant places. */
        if (has_work(sw, b, 0))
            serve_vc(sw, arrived, 0, b, route, narrow);
        if (has_work(sw, b, 1))
            serve_vc(sw, arrived, 1, b, route, narrow);
        if (has_work(sw, b, 2))
            serve_vc(sw, arrived, 2, b, route, narrow);
        if (has_work(sw, b, 3))
            serve_vc(sw, arrived, 3, b, route, narrow);
        _Static_assert(HX_VCS == 4, "one call a VC");
        return;
    }
    unsigned vc = sw->first_vc;
    for (unsigned n = 0; n < sw->route.vcs; n++, vc = next_vc(sw, vc)) {
        if (has_work(sw, b, vc))
            serve_vc(sw, arrived, vc, b, route, narrow);
    }
}

/* ---- the step ---- */

/* Moves the tail of each VC of an input up to its oldest waiting packet and tells the HAL. */
ALWAYS_INLINE void release(struct hx_switch *sw, unsigned input)
{
    struct hx_input *in = &sw->input[input];
    uint64_t tail = in->seen;
    bool waits = in->waiting[0] | in->waiting[1] | in->waiting[2] | in->waiting[3];
    for (unsigned vc = 0; waits && vc < HX_VCS; vc++) {
        if (in->waiting[vc])
            tail = hx_lane_set(tail, vc, oldest(in->waiting[vc], hx_lane(in->tail, vc)));
    }
    in->tail = tail;
    hal_release(sw->hal, input, tail, in->seen, in->waiting);
}

/* Begins a burst: looks at the inputs that may have brought something. */
ALWAYS_INLINE void look(struct hx_switch *sw, uint64_t *arrived, struct burst *b, bool narrow)
{
    b->brought = b->came = b->left = b->moved = 0;
    uint64_t ask = hal_news(sw->hal);
    if (all_inputs(narrow)) {
        for (unsigned i = 0; i < HX_ACCELERATOR_PORTS; i++) {
            arrived[i] = ask >> i & 1 ? hal_arrived(sw->hal, i) : sw->input[i].seen;
            b->brought |= arrived[i] ^ sw->input[i].seen;
        }
        return;
    }
    for (ask &= UINT64_MAX >> (64 - sw->inputs); ask; ask &= ask - 1) {
        unsigned i = (unsigned)__builtin_ctzll(ask);
        arrived[i] = hal_arrived(sw->hal, i);
        b->brought += hx_lanes_sub(arrived[i], sw->input[i].seen);
        b->came |= (uint64_t)(arrived[i] != sw->input[i].seen) << i;
    }
}

/* Whether one packet came, and nobody waits for what is open: then no other input, VC or output need be looked at. */
ALWAYS_INLINE bool is_alone(const struct burst *b, uint64_t asked_for, bool narrow)
{
    return !all_inputs(narrow) && asked_for == 0 && (b->brought & (b->brought - 1)) == 0 &&
           (b->brought & HX_LANE_ONES) != 0;
}

/* The next packet of an input, which is all that came. */
ALWAYS_INLINE void forward_alone(struct hx_switch *sw, unsigned input, unsigned vc, struct burst *b,
                                 route_function *route, bool narrow)
{
    b->open = open_to(sw, vc);
    forward(sw, input, vc, hx_lane(sw->input[input].seen, vc), b, true, route, narrow);
}

ALWAYS_INLINE void serve_alone(struct hx_switch *sw, const uint64_t *arrived, struct burst *b, route_function *route,
                               bool narrow)
{
    unsigned input = (unsigned)__builtin_ctzll(b->came);
    unsigned vc = (unsigned)__builtin_ctzll(b->brought) / HX_LANE_BITS;
    forward_alone(sw, input, vc, b, route, narrow);
    sw->input[input].seen = arrived[input];
    release(sw, input);
}

ALWAYS_INLINE void serve_all(struct hx_switch *sw, const uint64_t *arrived, struct burst *b, route_function *route,
                             bool narrow)
{
    for (unsigned port = 0; narrow && port < HX_ACCELERATOR_PORTS; port++)
        b->room[port] = hal_room(sw->hal, port);
    serve_vcs(sw, arrived, b, route, narrow);
    for (unsigned i = 0; all_inputs(narrow) && i < HX_ACCELERATOR_PORTS; i++) {
        if (arrived[i] != sw->input[i].tail) {
            sw->input[i].seen = arrived[i];
            release(sw, i);
        }
    }
    for (uint64_t changed = all_inputs(narrow) ? 0 : b->came | b->left; changed; changed &= changed - 1) {
        unsigned i = (unsigned)__builtin_ctzll(changed);
        if (b->came >> i & 1)
            sw->input[i].seen = arrived[i];
        release(sw, i);
    }
}

/* Who is first in the next step. */
ALWAYS_INLINE void take_turns(struct hx_switch *sw)
{
    sw->first_input = (uint8_t)(sw->first_input + 1U == sw->inputs ? 0 : sw->first_input + 1U);
    sw->first_vc = (uint8_t)next_vc(sw, sw->first_vc);
}

ALWAYS_INLINE unsigned step(struct hx_switch *sw, route_function *route, bool narrow)
{
    uint64_t arrived[HX_MAX_RADIX];
    struct burst b;
    look(sw, arrived, &b, narrow);
    uint64_t asked_for = (sw->wanted[0] | sw->wanted[1] | sw->wanted[2] | sw->wanted[3]) & hal_open(sw->hal);
    if (!(b.brought | asked_for))
        return 0;

    if (is_alone(&b, asked_for, narrow))
        serve_alone(sw, arrived, &b, route, narrow);
    else
        serve_all(sw, arrived, &b, route, narrow);
    /* A step that moves nothing leaves no trace: how often a platform looks in vain changes nothing. */
    if (b.moved)
        take_turns(sw);
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

/* serve_alone() of what is known to be so. */
ALWAYS_INLINE unsigned pass(struct hx_switch *sw, unsigned input, unsigned vc, route_function *route, bool narrow)
{
    struct hx_input *in = &sw->input[input];
    struct burst b = {.moved = 0};
    forward_alone(sw, input, vc, &b, route, narrow);
    in->seen = hx_lane_add(in->seen, vc, 1);
    release(sw, input);
    if (b.moved)
        take_turns(sw);
    hal_commit(sw->hal);
    return b.moved;
}

unsigned hx_accelerator_pass(struct hx_switch *sw, unsigned input, unsigned vc)
{
    return pass(sw, input, vc, hx_mesh_ports, true);
}

unsigned hx_router_pass(struct hx_switch *sw, unsigned input, unsigned vc)
{
    return pass(sw, input, vc, hx_router_ports, false);
}

/* serve_vcs() of what is known to be all: those who wait for one output. */
ALWAYS_INLINE void serve_one(struct hx_switch *sw, unsigned output, struct burst *b, route_function *route, bool narrow)
{
    uint64_t room = narrow ? hal_room(sw->hal, output) : 0;
    bool apart = vcs_apart(sw, narrow);
    unsigned vc = apart ? 0 : sw->first_vc;
    for (unsigned n = 0; n < sw->route.vcs; n++, vc = apart ? vc + 1 : next_vc(sw, vc)) {
        if (!(sw->wanted[vc] >> output & 1))
            continue;
        b->open = open_to(sw, vc);
        b->local = hx_lane(room, vc);
        b->lanes = narrow && output != HX_LOCAL ? lane_of(sw, output, room, vc) : 0;
        serve_output(sw, output, vc, b, route, narrow);
        if (narrow && !HAL_VCS_APART && b->moved)
            return;
    }
}

ALWAYS_INLINE unsigned grant(struct hx_switch *sw, unsigned output, route_function *route, bool narrow)
{
    struct burst b = {.moved = 0};
    serve_one(sw, output, &b, route, narrow);
    for (; b.left; b.left &= b.left - 1)
        release(sw, (unsigned)__builtin_ctzll(b.left));
    if (b.moved)
        take_turns(sw);
    hal_commit(sw->hal);
    return b.moved;
}

unsigned hx_accelerator_grant(struct hx_switch *sw, unsigned output)
{
    return grant(sw, output, hx_mesh_ports, true);
}

unsigned hx_router_grant(struct hx_switch *sw, unsigned output)
{
    return grant(sw, output, hx_router_ports, false);
}

/* ---- set up, change of routes ---- */

size_t hx_switch_bytes(unsigned ports, unsigned vcs)
{
    size_t words = (size_t)ports * vcs * ports + (size_t)vcs * ports;
    return ports * sizeof(struct hx_input) + words * sizeof(uint64_t) + ((size_t)vcs * ports + 7) / 8 * 8;
}

void hx_switch_init(struct hx_switch *sw, unsigned ports, unsigned vcs, uint16_t job, struct hal_switch *hal,
                    void *memory)
{
    memset(memory, 0, hx_switch_bytes(ports, vcs));
    *sw = (struct hx_switch){.hal = hal,
                             .inputs = (uint16_t)ports,
                             .outputs = (uint16_t)ports,
                             .route.vcs = (uint8_t)vcs,
                             .job = job,
                             .first_vc = (uint8_t)(vcs - 1)};
    sw->input = memory;
    sw->want = (uint64_t *)(void *)(sw->input + ports);
    sw->requests = sw->want + (size_t)ports * vcs * ports;
    sw->next_input = (uint8_t *)(sw->requests + (size_t)vcs * ports);
    for (unsigned i = 0; i < ports; i++)
        sw->input[i].seen = sw->input[i].tail = hal_consumed(hal, i);
}

void hx_switch_reroute(struct hx_switch *sw)
{
    bool narrow = !sw->route.is_router;
    memset(sw->want, 0, (size_t)sw->inputs * sw->route.vcs * sw->outputs * sizeof(uint64_t));
    memset(sw->requests, 0, (size_t)sw->route.vcs * sw->outputs * sizeof(uint64_t));
    memset(sw->wanted, 0, sizeof sw->wanted);
    for (unsigned input = 0; input < sw->inputs; input++) {
        struct hx_input *in = &sw->input[input];
        for (unsigned vc = 0; vc < sw->route.vcs; vc++) {
            uint64_t slots = in->waiting[vc];
            while (slots) {
                uint16_t position = oldest(slots, hx_lane(in->tail, vc));
                slots &= ~slot_bit(position);
                const struct hx_desc *d = hal_arrival(sw->hal, input, vc, position);
                uint64_t ports = ways_on(sw, input, vc, d, open_to(sw, vc), hx_route_ports, narrow);
                if (ports) {
                    start_waiting(sw, input, vc, position, ports);
                } else {
                    in->waiting[vc] &= ~slot_bit(position);
                    hal_drop(sw->hal, input, vc, d, HX_DROP_NO_ROUTE);
                }
            }
        }
        release(sw, input);
    }
    hal_commit(sw->hal);
}

unsigned hx_switch_waiting(const struct hx_switch *sw)
{
    unsigned sum = 0;
    for (unsigned input = 0; input < sw->inputs; input++)
        for (unsigned vc = 0; vc < sw->route.vcs; vc++)
            sum += (unsigned)__builtin_popcountll(sw->input[input].waiting[vc]);
    return sum;
}
