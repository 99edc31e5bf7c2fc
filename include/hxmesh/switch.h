/* switch.h - the input-buffered switch: of an accelerator's plane, and the router of any fabric, such as the tree
 * switch of a HammingMesh's row or column network.
 *
 * Data that flows: 16-byte descriptors. A packet's bytes stay in their buffer; what transit needs travels by value.
 *
 *     arrivals (HAL) -> window of an (input, VC) -> route -> select -> transmit (HAL), release (HAL)
 *
 * Windows. The HAL keeps arrived descriptors of an (input, VC) at positions 0, 1, 2, ... modulo 2^16. The switch owns
 * positions tail .. seen-1, has not looked at seen .. head-1 yet, and tells the HAL when the tail moves:
 *
 *          tail                      seen                head
 *     ------[ w . w w . w ............[ new new new new ]------      w: waits   . : has left
 *
 * A packet whose outputs are free passes those that wait, so there is no head-of-line stall; at most 64 positions
 * (HX_WINDOW) may lie between tail and head, which is what bounds the passing.
 *
 * Selection is late and per packet: among the candidate outputs with room for the packet, the one with the most room
 * downstream; of equal ones each in its turn, as often as the others (an accelerator's three: the one whose dimension
 * stands alone half of the time). A waiting packet is granted the first of its outputs that gets room.
 *
 * Fairness. A newly arrived packet never takes an output that a waiting packet of its VC wants. Grants of an
 * (output, VC) go round-robin over the inputs that want it, within an input to the oldest. So a packet that has k older
 * packets waiting in its window (k < HX_WINDOW) leaves after at most (k + 1) * inputs grants of any one of its
 * outputs on its VC.
 *
 * Nothing is dropped but: a packet to outside the fabric, a packet of another job, and in a router a packet without a
 * route that cannot even go back. They are counted by the HAL by reason. In an accelerator a packet without a route, or
 * on the last VC with none but such as would raise it further, goes to the local endpoint, which reports it to the
 * sender. A tree switch gives it back to the boards, by its route's `returns`: there it comes to such an accelerator,
 * or finds another way.
 *
 * A switch is owned by one thread. Several switches share nothing. A platform that gives each port a core makes one
 * switch object a port, whose hal_arrived() brings something on that port's input alone and whose hal_tx_credits() is that
 * core's share of each output's room. */
#ifndef HXMESH_SWITCH_H
#define HXMESH_SWITCH_H

#include "hxmesh/geometry.h"
#include "hxmesh/route.h"

#include <stddef.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum {
    HX_WINDOW = 64,      /* positions of a window */
    HX_MAX_ROOM = 0x3FFF /* what hal_tx_credits() saturates at, in credit units */
};

/* A packet inside the fabric. */
struct hx_desc {
    uint32_t buffer; /* platform's handle of the bytes */
    uint16_t length; /* payload bytes, 0 .. 8192 */
    uint8_t vc;      /* 0 .. the fabric's - 1 */
    uint8_t hops;    /* switches passed */
    uint16_t dst_addr_hi,
        dst_addr_lo; /* where it goes now: its destination, or (d0, HX_NO_DIGIT), a router on a detour */
    uint16_t job;
    uint16_t flow; /* platform's own; carried along */
};
HX_STATIC_ASSERT(sizeof(struct hx_desc) == 16, "a descriptor is 16 bytes: four to a cache line");
HX_STATIC_ASSERT(offsetof(struct hx_desc, dst_addr_hi) == 8 && offsetof(struct hx_desc, dst_addr_lo) == 10,
                 "where it goes is one aligned word of 32 bits: hal_redirect() may write it at once");

/* Where a packet goes now, as a descriptor says it. */
struct hx_heading {
    unsigned addr_hi, addr_lo; /* below 2^16 */
};

/* What its frame says of a detour (frame.h). */
static inline uint16_t hx_desc_via(const struct hx_desc *d)
{
    return d->dst_addr_lo == HX_NO_DIGIT ? (uint16_t)(d->dst_addr_hi + 1U) : 0;
}

/* Takes over what a frame says of a detour; the destination stays where there is none. */
static inline void hx_desc_set_via(struct hx_desc *d, unsigned via)
{
    d->dst_addr_hi = via ? (uint16_t)(via - 1U) : d->dst_addr_hi;
    d->dst_addr_lo = via ? HX_NO_DIGIT : d->dst_addr_lo;
}

/* Every reason for which a packet may be dropped anywhere; the names are those of reports. */
#define HX_DROP_REASONS(X)                                                                                             \
    X(FOREIGN_JOB, "foreign_job") /* packet of another job at a board */                                               \
    X(NO_ROUTE, "no_route")       /* router: every way on, and back, is down */                                        \
    X(OVERRUN, "overrun")         /* wire: more data than was granted */                                               \
    X(MALFORMED, "malformed")     /* wire: a frame that decodes to nothing */                                          \
    X(CHECKSUM, "checksum")       /* endpoint: CRC-32C does not match */                                               \
    X(DUPLICATE, "duplicate")     /* endpoint: payload that is already there */                                        \
    X(STALE, "stale")             /* endpoint: from before a restart */                                                \
    X(UNEXPECTED, "unexpected")   /* endpoint: header that fits no message */                                          \
    X(UNREACHABLE, "unreachable") /* endpoint: found no way, sender told */                                            \
    X(WORKER_LOST, "worker_lost") /* emulator: held by a worker that died */                                           \
    X(FORGED, "forged")           /* wire with a key: no seal of this session */                                       \
    X(REPLAYED, "replayed")       /* wire with a key: a seal that came before */
enum hx_drop {
#define HX_DROP_ENUM(name, text) HX_DROP_##name,
    HX_DROP_REASONS(HX_DROP_ENUM)
#undef HX_DROP_ENUM
        HX_DROP_COUNT
};

/* One input. Lanes: 16 bits per VC, VC 0 lowest. Invariant per VC: tail <= seen <= head, head - tail <= HX_WINDOW,
 * and tail is the oldest waiting position, or seen if none waits. */
struct hx_input {
    uint64_t seen;
    uint64_t tail;
    uint64_t held;            /* all bits of the lanes of VCs on which a packet waits */
    uint64_t waiting[HX_VCS]; /* bit (position % 64): waits */
};

struct hal_switch; /* platform's part, hal_port.h */

struct hx_switch {
    struct hx_route route;
    struct hal_switch *hal;
    uint16_t inputs, outputs; /* accelerator: 5 and 5 */
    uint16_t job;             /* accelerator: only packets of this job pass */
    uint8_t first_input;      /* who is looked at first in this step: rotates */
    uint8_t first_vc; /* likewise, where VCs share room. (With transit always first an accelerator whose column is
                                 full of it hardly gets to send.) */
    uint64_t tie;     /* moves on with each choice, breaks ties of selection */
    uint64_t wanted[HX_VCS]; /* outputs that some waiting packet of the VC wants */
    struct hx_input *input;  /* [inputs] */
    uint64_t *candidates;    /* [VC][input][output]: subset of waiting that may leave by the output */
    uint64_t *requests;      /* [VC][output]: inputs whose want is not empty */
    uint8_t *next_input;     /* [VC][output]: whose turn it is */
    uint32_t *kept; /* HAL_SHARED: [VC][input][HX_WINDOW], where those that wait go: d1 << 16 | d0; else NULL */
};

/* Of an (input, VC), by output: which of its window may leave there. */
static inline uint64_t *hx_switch_candidates(const struct hx_switch *sw, unsigned input, unsigned vc)
{
    return sw->candidates + ((size_t)vc * sw->inputs + input) * sw->outputs;
}

/* A new number of 64 bits for each choice. Its steps have the golden ratio, so that no pattern of the traffic falls in
 * with them. */
static inline uint64_t hx_switch_tie(struct hx_switch *sw)
{
    sw->tie += UINT64_C(0x9E3779B97F4A7C15);
    return sw->tie;
}

/* Bytes of memory for the windows of a switch with so many ports and VCs, 1 .. HX_VCS (8-byte aligned). */
size_t hx_switch_bytes(unsigned ports, unsigned vcs);

/* Makes an idle switch whose windows begin at the positions the HAL reports as consumed so far (hal_consumed).
 * `memory`: hx_switch_bytes(ports, vcs), 8-byte aligned, outlives the switch. The route is set apart: sw->route, of as
 * many VCs. */
void hx_switch_init(struct hx_switch *sw, unsigned ports, unsigned vcs, uint16_t job, struct hal_switch *hal,
                    void *memory);

/* Forwards what can go: waiting packets first, then all arrivals, in one burst, and commits it to the HAL.
 * Returns the packets that left. */
unsigned hx_accelerator_step(struct hx_switch *sw);
unsigned hx_router_step(struct hx_switch *sw);

/* What its route offers a packet that came by `input`. 0: the step has to judge it, for its way is not simply that of
 * its address. */
static inline uint64_t hx_accelerator_offers(const struct hx_switch *sw, unsigned input, const struct hx_desc *d)
{
    const struct hx_route *r = &sw->route;
    if (d->dst_addr_hi >= r->columns || d->dst_addr_lo >= r->rows)
        return 0;
    return hx_mesh_ports(r, input, d->dst_addr_hi, d->dst_addr_lo);
}

static inline uint64_t hx_router_offers(const struct hx_switch *sw, unsigned input, const struct hx_desc *d)
{
    const struct hx_route *r = &sw->route;
    if (d->dst_addr_hi >= r->columns || d->dst_addr_lo >= r->rows || r->choosing >> input & 1)
        return 0;
    return hx_router_ports(r, input, d->dst_addr_hi, d->dst_addr_lo);
}

/* A packet that comes alone. */
struct hx_comer {
    const struct hx_desc *d; /* hal_arrival() */
    uint64_t offered;        /* hx_accelerator_offers(), hx_router_offers() */
    uint64_t arrived;        /* hal_arrived() of its input: nothing else is new there */
    unsigned input, vc;
};

/* The same, where a platform knows what its step would find: one packet came, and of all outputs that packets wait for
 * none is open (hal_tx_ready). hal_release() and hal_commit() are left to the platform, which knows the input: its tail is
 * as far as it can be. */
unsigned hx_accelerator_pass(struct hx_switch *sw, const struct hx_comer *c);
unsigned hx_router_pass(struct hx_switch *sw, const struct hx_comer *c);
/* Likewise: nothing came, and of all outputs that packets wait for this one alone is open. */
unsigned hx_accelerator_grant(struct hx_switch *sw, unsigned output);
unsigned hx_router_grant(struct hx_switch *sw, unsigned output);

/* Call after sw->route was rebuilt: looks again for ways for every packet that waits. */
void hx_switch_reroute(struct hx_switch *sw);

/* Packets that wait in the windows now. */
unsigned hx_switch_waiting(const struct hx_switch *sw);

#include "hxmesh/end.h"

#endif
