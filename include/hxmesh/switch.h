/* switch.h - the input-buffered switch: an accelerator's switch in one plane, or a router of any fabric.
 *
 * Data that flows: 16-byte descriptors. A packet's bytes stay in their buffer; what transit needs is in the descriptor.
 *
 *     arrivals (HAL) -> window of an (input, VC) -> route -> select -> transmit (HAL), release (HAL)
 *
 * Windows. The HAL keeps arrived descriptors of an (input, VC) at positions 0, 1, 2, ... modulo 2^16. The switch owns
 * positions tail .. seen-1, has not seen seen .. head-1 yet, and tells the HAL when the tail moves:
 *
 *          tail                      seen                head
 *     ------[ w . w w . w ............[ new new new new ]------      w: waits   . : has left
 *
 * A packet with a free output overtakes waiting ones, so there is no head-of-line blocking. At most HX_WINDOW (64)
 * positions lie between tail and head, which bounds overtaking.
 *
 * Selection is late and per packet: the candidate output with the most credit. Ties rotate with equal shares; of an
 * accelerator's three outputs, the one that is alone in its dimension gets half. A waiting packet takes the first of
 * its outputs that gets credit.
 *
 * Fairness. A new packet never takes an output that a waiting packet of its VC wants, unless they continue on different
 * VCs. Grants of an (output, VC) are round-robin over inputs, and the oldest packet of an input is first. So a packet
 * with k older ones waiting in its window (k < HX_WINDOW) leaves after at most (k + 1) * inputs grants of any one of
 * its outputs on its VC.
 *
 * Drops. The switch drops only packets to outside the fabric, packets of another job, and in a router packets without a
 * route that cannot go back; the HAL counts them by reason. In an accelerator, a packet without a route goes to the
 * local endpoint, which reports it to the sender; so does one on the last VC if every port would increment the VC. A
 * tree switch returns a packet without a route to the boards (hx_route.returns); their accelerators find another path
 * or report it.
 *
 * One thread owns a switch. Switches share no state. A platform that gives each port a core makes one switch object
 * a port. Then hal_arrived() brings packets only on that input, and hal_tx_credits() is that core's quota of each
 * output. */
#ifndef HXMESH_SWITCH_H
#define HXMESH_SWITCH_H

#include "hxmesh/geometry.h"
#include "hxmesh/route.h"

#include <stddef.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum {
    HX_WINDOW = 64,      /* positions of a window */
    HX_MAX_ROOM = 0x3FFF /* saturation of hal_tx_credits(), credit units */
};

/* A packet within the fabric. */
struct hx_desc {
    uint32_t buffer; /* platform's handle of the packet's bytes */
    uint16_t length; /* payload, 0 .. 8192 bytes */
    uint8_t vc;      /* 0 .. number of VCs - 1 */
    uint8_t hops;    /* switches passed */
    uint16_t dst_addr_hi,
        dst_addr_lo; /* next address: the destination, or (addr_hi, HX_NO_ADDRESS), a router on a detour */
    uint16_t job;
    uint16_t flow; /* for the platform; copied along */
};
HX_STATIC_ASSERT(sizeof(struct hx_desc) == 16, "a descriptor is 16 bytes: four to a cache line");
HX_STATIC_ASSERT(offsetof(struct hx_desc, dst_addr_hi) == 8 && offsetof(struct hx_desc, dst_addr_lo) == 10,
                 "where it goes is one aligned word of 32 bits: hal_redirect() may write it at once");

/* Returns a packet's descriptor as it leaves a switch on `vc`. */
static inline struct hx_desc hx_desc_onward(const struct hx_desc *d, unsigned vc)
{
    struct hx_desc out = *d;
    out.vc = (uint8_t)vc;
    out.hops++;
    return out;
}

/* Next address of a packet, from its descriptor. */
struct hx_heading {
    unsigned addr_hi, addr_lo; /* below 2^16 */
};

/* Returns the frame's `via` field for a descriptor (frame.h). */
static inline uint16_t hx_desc_via(const struct hx_desc *d)
{
    return d->dst_addr_lo == HX_NO_ADDRESS ? (uint16_t)(d->dst_addr_hi + 1U) : 0;
}

/* Sets the next address from a frame's `via`; 0 leaves the destination. */
static inline void hx_desc_set_via(struct hx_desc *d, unsigned via)
{
    d->dst_addr_hi = via ? (uint16_t)(via - 1U) : d->dst_addr_hi;
    d->dst_addr_lo = via ? HX_NO_ADDRESS : d->dst_addr_lo;
}

/* Reasons for which a packet is dropped anywhere, with their names in reports. */
#define HX_DROP_REASONS(X)                                                                                             \
    X(FOREIGN_JOB, "foreign_job") /* packet of another job at a board */                                               \
    X(NO_ROUTE, "no_route")       /* router: all paths, forward and back, are down */                                  \
    X(OVERRUN, "overrun")         /* wire: more data than granted */                                                   \
    X(MALFORMED, "malformed")     /* a frame that does not decode, or is for no place of the fabric */                 \
    X(CHECKSUM, "checksum")       /* endpoint: CRC-32C does not match */                                               \
    X(DUPLICATE, "duplicate")     /* endpoint: payload received earlier */                                             \
    X(STALE, "stale")             /* endpoint: from before a restart */                                                \
    X(UNEXPECTED, "unexpected")   /* endpoint: header of no known message */                                           \
    X(UNREACHABLE, "unreachable") /* endpoint: no path; the sender is notified */                                      \
    X(WORKER_LOST, "worker_lost") /* emulator: held by a worker that died */                                           \
    X(FORGED, "forged")           /* wire with a key: no valid authentication tag of this session */                   \
    X(REPLAYED, "replayed")       /* wire with a key: an authentication tag received earlier */
enum hx_drop {
#define HX_DROP_ENUM(name, text) HX_DROP_##name,
    HX_DROP_REASONS(HX_DROP_ENUM)
#undef HX_DROP_ENUM
        HX_DROP_COUNT
};

/* Causes for which a new packet waits at a switch, with their names in reports. A packet never waits for a route or a
 * VC: its route offers a port or it is dropped or returned, and its VC behind each port is computed. */
#define HX_STALLS(X)                                                                                                   \
    X(NO_CREDIT, "no_credit")     /* a port could send, but the next buffer has no room for it or for older packets */ \
    X(OUTPUT_BUSY, "output_busy") /* each of its ports sends another packet */
enum hx_stall {
#define HX_STALL_ENUM(name, text) HX_STALL_##name,
    HX_STALLS(HX_STALL_ENUM)
#undef HX_STALL_ENUM
        HX_STALL_COUNT
};

/* One input. Lanes: 16 bits per VC, VC 0 lowest. Invariant per VC: tail <= seen <= head, head - tail <= HX_WINDOW, and
 * tail is the oldest waiting position, or seen if none waits. */
struct hx_input {
    uint64_t seen;
    uint64_t tail;
    uint64_t held;            /* all bits of the lanes of VCs with a waiting packet */
    uint64_t waiting[HX_VCS]; /* bit (position % 64): waits */
};

/* Rows of candidates, one for each (input, VC) with waiting packets. All switches of a thread with the same number of
 * outputs may share them: most inputs hold no waiting packet. */
struct hx_rows {
    uint32_t used;  /* rows 1 .. used were taken at some time; 0: each (input, VC) of one switch has a row for good */
    uint32_t spare; /* row that was given back last; its first word is the one given back before it; 0: none */
};

/* Returns the words behind it, [row][output]. Row 0 stays zero: it is for each (input, VC) without waiting packets. */
static inline uint64_t *hx_rows_words(const struct hx_rows *rows)
{
    return (uint64_t *)(uintptr_t)(rows + 1);
}

struct hal_switch; /* platform's part, in hal_port.h */

struct hx_switch {
    struct hx_route route;
    struct hal_switch *hal;
    uint16_t inputs, outputs;       /* accelerator: 5 and 5 */
    uint16_t job;                   /* accelerator: the only job with passage */
    uint8_t first_input;            /* input to examine first; rotates when a packet leaves */
    uint8_t first_vc;               /* VC to examine first where VCs share credit; rotates, so no VC starves */
    uint64_t tie;                   /* RNG state: breaks ties */
    uint64_t wanted[HX_VCS];        /* outputs that waiting packets of the VC want */
    struct hx_input *input;         /* [inputs] */
    struct hx_rows *candidate_rows; /* of candidates: waiting packets for the output, bit by position % 64 */
    uint64_t *requests;             /* [VC][output]: inputs with candidates */
    uint8_t *next_input;            /* [VC][output]: input of the next grant */
    uint32_t *candidate_row; /* [VC][input]: its row of candidates. With HAL_SHARED there follow: kept_heading() */
};

/* Returns, by output, which packets of the window of (input, VC) may leave there. */
static inline uint64_t *hx_switch_candidates(const struct hx_switch *sw, unsigned input, unsigned vc)
{
    return hx_rows_words(sw->candidate_rows) + (size_t)sw->candidate_row[(size_t)vc * sw->inputs + input] * sw->outputs;
}

/* Returns how many packets wait for an output, alone or among others. */
static inline unsigned hx_switch_waiting_for(const struct hx_switch *sw, unsigned output)
{
    unsigned packets_waiting = 0;
    for (unsigned vc = 0; vc < sw->route.vcs; vc++) {
        uint64_t inputs = sw->requests[(size_t)vc * sw->outputs + output];
        for (; inputs; inputs &= inputs - 1) {
            unsigned input = (unsigned)__builtin_ctzll(inputs);
            packets_waiting += (unsigned)__builtin_popcountll(hx_switch_candidates(sw, input, vc)[output]);
        }
    }
    return packets_waiting;
}

/* Returns the next 64-bit number. Its steps follow the golden ratio, so that traffic patterns cannot resonate with
 * it. */
static inline uint64_t hx_switch_tie(struct hx_switch *sw)
{
    sw->tie += UINT64_C(0x9E3779B97F4A7C15);
    return sw->tie;
}

/* Returns the bytes of a switch's windows, 8-byte aligned. vcs: 1 .. HX_VCS. */
size_t hx_switch_bytes(unsigned ports, unsigned vcs);

/* Makes an idle switch with windows that begin at hal_consumed(). `memory`: hx_switch_bytes(ports, vcs), 8-byte
 * aligned, all zero, outlives the switch. The caller sets sw->route, of as many VCs. */
void hx_switch_init(struct hx_switch *sw, unsigned ports, unsigned vcs, uint16_t job, struct hal_switch *hal,
                    void *memory);

/* Returns the bytes of rows for so many switches, all zero, 8-byte aligned. */
static inline size_t hx_rows_bytes(unsigned ports, unsigned vcs, size_t switches)
{
    return sizeof(struct hx_rows) + (1 + switches * vcs * ports) * ports * sizeof(uint64_t);
}

/* The same for a switch that shares rows. */
size_t hx_switch_sharing_bytes(unsigned ports, unsigned vcs);
void hx_switch_init_sharing(struct hx_switch *sw, unsigned ports, unsigned vcs, uint16_t job, struct hal_switch *hal,
                            struct hx_rows *rows, void *memory);

/* Forwards in one burst what can leave, waiting packets first, then all arrivals, and commits it to the HAL. Returns
 * the packets that left. */
unsigned hx_accelerator_step(struct hx_switch *sw);
unsigned hx_router_step(struct hx_switch *sw);

/* Returns the candidates of a packet from `input`. 0: only hx_accelerator_pass() or hx_router_pass() can decide (no
 * route, outside the fabric, another job, or a detour to choose). */
static inline uint64_t hx_accelerator_offers(const struct hx_switch *sw, unsigned input, const struct hx_desc *d)
{
    const struct hx_route *r = &sw->route;
    if (d->dst_addr_hi >= r->columns || d->dst_addr_lo >= r->rows || d->job != sw->job)
        return 0;
    if (__builtin_expect(d->vc > r->last_vc, 0)) /* on the escape VC */
        return 0;
    uint64_t offered = hx_mesh_ports(r, input, d->dst_addr_hi, d->dst_addr_lo);
    return d->vc < r->last_vc ? offered : offered & ~(uint64_t)r->incrementing;
}

static inline uint64_t hx_router_offers(const struct hx_switch *sw, unsigned input, const struct hx_desc *d)
{
    const struct hx_route *r = &sw->route;
    if (d->dst_addr_hi >= r->columns || d->dst_addr_lo >= r->rows || r->choosing >> input & 1)
        return 0;
    if (__builtin_expect(d->vc > r->last_vc, 0))
        return 0;
    uint64_t offered = hx_router_ports(r, input, d->dst_addr_hi, d->dst_addr_lo);
    return d->vc < r->last_vc ? offered : offered & ~hx_router_incrementing(r, input, offered);
}

/* A single arrival: a new packet, the first of its (input, VC) that the switch has not seen, handed over alone. */
struct hx_single_arrival {
    const struct hx_desc *d; /* from hal_arrival() */
    uint64_t offered;        /* candidates, from hx_accelerator_offers() or hx_router_offers(); 0 as there */
    unsigned input, vc;
};

/* A step for a single arrival, where no waiting packet can leave. The platform then calls hal_release() for the input,
 * with its tail as far as possible, and hal_commit(). Return the packets that left. */
unsigned hx_accelerator_pass(struct hx_switch *sw, const struct hx_single_arrival *c);
unsigned hx_router_pass(struct hx_switch *sw, const struct hx_single_arrival *c);
/* The same for a packet with offered outputs that are all busy: it waits. */
void hx_switch_wait(struct hx_switch *sw, const struct hx_single_arrival *c);
/* A step in which one waiting packet may leave, by `output`. Return its candidates; 0: no packet went. */
uint64_t hx_accelerator_grant(struct hx_switch *sw, unsigned output);
uint64_t hx_router_grant(struct hx_switch *sw, unsigned output);

/* Computes candidates anew for every waiting packet. Call after sw->route is rebuilt. */
void hx_switch_reroute(struct hx_switch *sw);

/* Returns the number of packets that wait in the windows. */
unsigned hx_switch_waiting(const struct hx_switch *sw);

#include "hxmesh/end.h"

#endif
