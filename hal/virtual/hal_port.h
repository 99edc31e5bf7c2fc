/* hal_port.h - the virtual clock's platform (include/hxmesh/hal.h): links and buffers with simulated time.
 *
 * Data flow. A sent packet goes (outbox.h) into the queue of the next switch's input, with the time from which it may
 * be routed. Returned credit goes to the sender's list, with its time. Nothing is read before its time. The delay
 * between two switches is at least a window (timing.h), so a worker may run each simulated node through a window alone
 * (sim_node.h).
 *
 * Ownership. A worker owns its simulated nodes and their data. Packets for another worker cross the channel with their
 * frames. A slot of a queue belongs to the receiving switch from its time on; the buffer moves with it.
 *
 * Invariants. Of each link and VC: credit of the sender (virtual_tx.lanes) + returning credit + blocks in the
 * receiver's queue = the buffer; packets that left the queue count as returning credit. Of each input: lanes tail <=
 * ready <= head. A credit-blocked output has either no returning credit and `awaited` set, or its next credit in the
 * event queue (credit_noted). Between events, each output that packets wait for is blocked or credit-blocked.
 *
 * Trains (hal_train()). What is a packet here may be a train: it takes the blocks of all its packets, and counts as so
 * many. */
#ifndef VIRTUAL_HAL_PORT_H
#define VIRTUAL_HAL_PORT_H

#include "channel.h"
#include "event_queue.h"
#include "forwarding.h"
#include "hal/simd/crc32c.h"
#include "hal/user.h"
#include "hxmesh/around.h"
#include "hxmesh/lanes.h"
#include "hxmesh/memory.h"
#include "outbox.h"
#include "pool.h"
#include "queue.h"
#include "timing.h"
#include "wheel.h"

struct virtual_sim_node;
struct virtual_faults;
struct virtual_tap;
struct virtual_order;

/* Shared by all simulated nodes of a worker. */
struct virtual_worker {
    struct virtual_timing timing;
    struct virtual_pool pool;
    struct virtual_wheel wheel;
    struct virtual_channel *channel;
    struct virtual_outbox outbox;
    bool near;                     /* its simulated nodes fit into the cache: no prefetching */
    bool paused;                   /* the endpoint of the visited node paused the worker at `now` */
    uint64_t now;                  /* ps, of the node being visited */
    uint64_t sent_window;          /* earliest window of a record sent to another worker in this window */
    uint64_t moved;                /* latest time a packet moved, ps */
    uint64_t hops;                 /* packets sent by switches */
    uint64_t *drops;               /* [HX_DROP_COUNT] */
    uint64_t *stalls;              /* [HX_STALL_COUNT] */
    struct virtual_rx **rx;        /* [links]: receiving ends here of links with a sender in another worker */
    struct virtual_tx **tx;        /* [links]: sending ends here of links with a receiver in another worker */
    struct virtual_tap *tap;       /* NULL: no capture */
    struct virtual_order *order;   /* order.h; NULL: not noted */
    struct virtual_faults *faults; /* fault.h; NULL: no faults */
    /* An item VIRTUAL_ITEM_FAULT is due. Returns planes with switches that must step, bit by plane. */
    unsigned (*fault_is_due)(void *of, struct virtual_sim_node *e);
    void *of_faults;
    /* [accelerators]: number of a rank at endpoints, addr_lo * columns + addr_hi; the key for prefetching. */
    const uint32_t *peer_number;
    const uint64_t *injects;                /* [accelerators]: hal_endpoint.block; NULL: no trains */
    struct hx_rows *rows[HX_MAX_RADIX + 1]; /* by number of ports of the switches that share them */
};

/* Totals of an output. */
struct virtual_sent {
    uint64_t packets, blocks;
};

/* The sending end of a link. Returning credit and a credit check touch only the first cache line. */
struct virtual_tx {
    _Alignas(64) uint64_t lanes; /* credit of each VC in blocks, without the credits in `back` */
    uint64_t opens;              /* ps: when it takes the next packet; VIRTUAL_NEVER: no link */
    /* Credits that are not yet in `lanes`. Awaited: the output is credit-blocked with no credit in the event queue; the
     * next one must be noted. */
    struct virtual_credits back;
    uint64_t link_free; /* ps: end of the last transmission */
    uint64_t crossbar_free;
    struct virtual_rx *far; /* NULL: in another worker */
    struct virtual_sent sum;
    const struct virtual_link *kind; /* of link it is, an endpoint's own too */
    uint32_t fault;                  /* index into virtual_faults.of; 0: no faults */
    uint32_t link;                   /* its number */
    uint64_t of : 48;                /* virtual_tx_switch() */
    uint64_t far_worker : 16;
};
_Static_assert(offsetof(struct virtual_tx, link_free) == 64 && sizeof(struct virtual_tx) == 128, "two cache lines");

/* The receiving end of a link. An arrival touches only the first cache line. */
struct virtual_rx {
    _Alignas(64) uint64_t head; /* lanes: positions appended */
    uint64_t ready, tail;       /* lanes: positions that are ready; positions that are released */
    struct virtual_queue queue[HX_VCS];
    uint64_t sim_node : 48; /* virtual_rx_sim_node() */
    uint64_t item : 14;     /* event item of VC 0 while packets are in flight; those of other VCs follow */
    uint64_t forwards : 1;  /* arrivals pass through the switch's `forwarding` */
    uint64_t slower : 1;    /* than an output's link: packets wait until they cannot run dry there (sim_node.c) */
    uint64_t crossbar_free;
    uint64_t last_credit;    /* ps; credits return in order */
    struct virtual_tx *from; /* NULL: in another worker, the endpoint, or behind a faulty link */
    uint64_t decided;        /* lanes, if it forwards: forwarding.h */
    uint32_t link;
    uint32_t fault; /* index into virtual_faults.of; 0: none */
    uint16_t from_worker;
    uint8_t port;
    bool linked; /* to another switch: departures return credit */
    const struct virtual_link *kind;
};
_Static_assert(offsetof(struct virtual_rx, crossbar_free) == 64 && sizeof(struct virtual_rx) == 128, "two cache lines");

static inline struct virtual_sim_node *virtual_rx_sim_node(const struct virtual_rx *rx)
{
    return (struct virtual_sim_node *)(uintptr_t)rx->sim_node;
}

struct hal_switch {
    struct virtual_worker *worker;
    struct virtual_sim_node *sim_node;
    uint64_t credit_blocked;           /* outputs that serve waiting packets at their next credit */
    uint64_t credit_noted;             /* outputs with their next credit in the event queue */
    struct virtual_rx *rx;             /* [ports] */
    struct virtual_tx *tx;             /* [ports] */
    uint16_t output_item, credit_item; /* event items of output 0 */
    uint8_t plane, ports;
    /* The fields above are also touched by returning credit. */
    uint64_t news;                         /* inputs with ready packets that the switch has not read */
    uint64_t blocked;                      /* outputs that are waited for, with their opening in the event queue */
    uint64_t small;                        /* packets at this switch shorter than a full train */
    struct hal_endpoint *endpoint;         /* NULL: a router */
    struct virtual_forwarding *forwarding; /* NULL: it does not forward in software */
    uint64_t up;                           /* outputs with a link */
};

/* Switch and port of an output. */
static inline struct hal_switch *virtual_tx_switch(const struct virtual_tx *tx)
{
    return (struct hal_switch *)(uintptr_t)tx->of;
}

static inline unsigned virtual_tx_port(const struct virtual_tx *tx)
{
    return (unsigned)(tx - virtual_tx_switch(tx)->tx);
}

/* A switch and its platform. */
struct virtual_node {
    struct hx_switch sw;
    struct hal_switch hal;
};
_Static_assert(sizeof(struct virtual_node) <= 320, "five cache lines: each more costs where many switches take turns");

/* Blocks a packet or train takes, in time on the link and in credit: the low byte of its descriptor's flow. */
static inline unsigned virtual_blocks(const struct hx_desc *d)
{
    return d->flow & UINT8_MAX;
}

/* Packets that its endpoint injected before it, modulo 256: the high byte. */
static inline unsigned virtual_number(const struct hx_desc *d)
{
    return d->flow >> 8;
}

static inline unsigned virtual_packets_of(unsigned blocks)
{
    return (blocks + HX_PACKET_BLOCKS - 1) / HX_PACKET_BLOCKS;
}

static inline unsigned virtual_packets(const struct hx_desc *d)
{
    return virtual_packets_of(virtual_blocks(d));
}

static inline bool virtual_is_small(const struct virtual_timing *t, const struct hx_desc *d)
{
    return virtual_blocks(d) < t->full;
}

/* ---- switch ---- */

static inline uint64_t hal_rx_pending(const struct hal_switch *h)
{
    return h->news;
}

static inline uint64_t hal_tx_ready(const struct hal_switch *h)
{
    return ~h->blocked;
}

/* The switch is called for one packet or one output, and an output holds one packet. */
enum { HAL_SPARSE = 1, HAL_VCS_APART = 0, HAL_SHARED = 0 };

static inline uint64_t hal_consumed(const struct hal_switch *h, unsigned input)
{
    return h->rx[input].tail;
}

static inline uint64_t hal_arrived(struct hal_switch *h, unsigned input)
{
    const struct virtual_rx *rx = &h->rx[input];
    uint64_t span = hx_lanes_sub(rx->ready, rx->tail);
    uint64_t beyond = ((span + (0x7FFF - HX_WINDOW) * HX_LANE_ONES) | span) & HX_LANE_TOPS; /* more than a window */
    if (__builtin_expect(beyond == 0, 1))
        return rx->ready;
    uint64_t arrived = rx->ready;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        if (hx_lane(span, vc) > HX_WINDOW)
            arrived = hx_lane_set(arrived, vc, (uint16_t)(hx_lane(rx->tail, vc) + HX_WINDOW));
    }
    return arrived;
}

static inline const struct hx_desc *hal_arrival(struct hal_switch *h, unsigned input, unsigned vc, uint16_t position)
{
    return &virtual_queue_at(&h->rx[input].queue[vc], position)->d;
}

/* Takes the credits due by `now`; there is at least one. */
void virtual_take_credits(struct virtual_tx *tx, uint64_t now);

/* Credit available now. */
static inline uint64_t virtual_credit_there(struct virtual_tx *tx, uint64_t now)
{
    if (virtual_credits_next(&tx->back) <= now)
        virtual_take_credits(tx, now);
    return tx->lanes;
}

static inline uint64_t hal_tx_credits(struct hal_switch *h, unsigned output)
{
    struct virtual_tx *tx = &h->tx[output];
    return tx->opens > h->worker->now ? 0 : virtual_credit_there(tx, h->worker->now);
}

static inline unsigned hal_packet_credits(const struct hx_desc *d)
{
    return virtual_blocks(d);
}

/* Blocks without returned credit. A packet in front of the link counts. */
static inline unsigned hal_output_occupancy(struct hal_switch *h, unsigned output)
{
    return h->worker->timing.vcs * h->worker->timing.vc_blocks -
           hx_lanes_sum(virtual_credit_there(&h->tx[output], h->worker->now));
}

static inline unsigned hal_vc_buffer(const struct hal_switch *h)
{
    return h->worker->timing.vc_blocks;
}

static inline bool hal_destination(struct hal_switch *h, const struct hx_desc *d, uint16_t *addr_hi, uint16_t *addr_lo)
{
    hx_frame_destination(virtual_pool_frame(&h->worker->pool, d->buffer), addr_hi, addr_lo);
    return true;
}

static inline void hal_redirect(struct hal_switch *h, unsigned input, unsigned vc, uint16_t position, uint16_t addr_hi,
                                uint16_t addr_lo)
{
    struct virtual_slot *slot = virtual_queue_at(&h->rx[input].queue[vc], position);
    slot->d.dst_addr_hi = addr_hi;
    slot->d.dst_addr_lo = addr_lo;
}

/* Sends the packet of a slot of an input's queue. */
void virtual_transmit(struct hal_switch *h, unsigned output, unsigned output_vc, unsigned input,
                      const struct virtual_slot *slot);

static inline void hal_transmit(struct hal_switch *h, unsigned output, unsigned output_vc, unsigned input, unsigned vc,
                                const struct hx_desc *d)
{
    (void)vc; /* the slot holds it */
    virtual_transmit(h, output, output_vc, input, virtual_slot_of(d));
}

static inline bool hal_output_is_busy(struct hal_switch *h, unsigned output)
{
    return h->tx[output].opens > h->worker->now;
}

static inline void hal_stall(struct hal_switch *h, const struct hx_desc *d, enum hx_stall cause)
{
    h->worker->stalls[cause] += virtual_packets(d);
}

void virtual_drop(struct hal_switch *h, unsigned input, unsigned vc, const struct hx_desc *d, enum hx_drop reason);

static inline void hal_drop(struct hal_switch *h, unsigned input, unsigned vc, const struct hx_desc *d,
                            enum hx_drop reason)
{
    virtual_drop(h, input, vc, d, reason);
}

/* Empty rings are freed for others. If packets are handed over at once, a ring of one cache line stays. */
static inline bool virtual_gives_ring(const struct hal_switch *h, const struct virtual_queue *q)
{
    return h->worker->outbox.for_own || q->mask >= VIRTUAL_LINE_SLOTS;
}

static inline void hal_release(struct hal_switch *h, unsigned input, uint64_t tail, uint64_t seen,
                               const uint64_t waiting[HX_VCS])
{
    (void)waiting; /* credit returned when the packets left */
    struct virtual_rx *rx = &h->rx[input];
    uint64_t there = rx->head ^ tail;
    for (uint64_t left = tail ^ rx->tail; left;) {
        unsigned vc = hx_lanes_take(&left);
        if (virtual_gives_ring(h, &rx->queue[vc]) && !hx_lane(there, vc))
            virtual_queue_end(&rx->queue[vc]);
    }
    rx->tail = tail;
    h->news = (h->news & ~((uint64_t)1 << input)) | (uint64_t)(seen != rx->ready) << input;
}

static inline void hal_commit(struct hal_switch *h)
{
    (void)h; /* the effects of a step have their times */
}

/* ---- endpoint ---- */

/* The link from an endpoint to its switch of one plane. */
struct virtual_port {
    struct hal_switch *sw;
    uint64_t inject_free; /* ps: when the host's links could have carried all packets injected before */
    uint64_t due;         /* ps: start of the next packet at the injection rate */
    uint64_t injected;    /* packets */
    struct virtual_eject eject;
    const struct hx_route *around; /* of its switch, which has the escape VC; NULL: packets begin on VC 0 */
};

struct hal_endpoint {
    struct virtual_worker *worker;
    struct virtual_sim_node *sim_node;
    const struct hx_endpoint *firmware; /* for prefetching its tables; NULL: no prefetching */
    const void *user_data;              /* for prefetching: what the user touches at an arrival */
    uint32_t user_bytes;
    uint32_t rank;
    uint32_t next_to; /* for prefetching: next destination rank of the user; HX_NOWHERE: unknown */
    uint64_t block;   /* time of a block at the rate of all its links of a plane, 2^-16 ps */
    uint8_t planes;
    uint8_t train;     /* most packets of a train */
    bool eject_noted;  /* in the event queue */
    bool hears_again;  /* peers are likely to send several messages each */
    bool counts_waits; /* frames hold the time a packet waited before its injection, and its mark */
    bool marked;       /* the mark of the next packet */
    uint64_t since;    /* ps: intended injection time of the next packet; UINT64_MAX: now */
    struct hal_user user;
    /* ps: time, latency since its injection, and how much later that was than its train's */
    void (*delivered)(void *of, const struct hx_desc *, uint64_t when, uint64_t took, uint64_t behind);
    uint64_t *drops;
    struct virtual_port plane[HX_MAX_PLANES];
};

/* Packets between an endpoint and its switch: enough for four busy links, few enough that urgent packets, such as
 * acknowledgements, wait little. */
enum { VIRTUAL_INJECTED = 16, VIRTUAL_INJECT_BURST = 4 /* fewer are not worth an endpoint step */ };

/* Packets injected since the oldest that its switch still holds, itself included. */
static inline unsigned virtual_injected(const struct hal_endpoint *h, unsigned plane)
{
    const struct virtual_port *port = &h->plane[plane];
    const struct virtual_rx *rx = &port->sw->rx[HX_LOCAL];
    uint16_t tail = hx_lane(rx->tail, 0);
    unsigned trains = (uint16_t)(hx_lane(rx->head, 0) - tail);
    if (__builtin_expect(port->around != NULL, 0)) /* no trains */
        trains += (uint16_t)(hx_lane(rx->head, HX_ESCAPE_VC) - hx_lane(rx->tail, HX_ESCAPE_VC));
    if (h->train == 1 || trains == 0)
        return trains;
    return (uint8_t)(port->injected - virtual_number(&virtual_queue_at(&rx->queue[0], tail)->d));
}

/* ps that the host's links take for so many blocks. */
static inline uint64_t virtual_endpoint_takes(const struct hal_endpoint *h, unsigned blocks)
{
    return blocks * h->block >> 16;
}

static inline unsigned hal_train(const struct hal_endpoint *h)
{
    return h->train;
}

static inline unsigned hal_inject_room(const struct hal_endpoint *h, unsigned plane)
{
    unsigned used = virtual_injected(h, plane);
    return VIRTUAL_INJECTED - (used < VIRTUAL_INJECTED ? used : VIRTUAL_INJECTED);
}

static inline bool hal_buffer_get(struct hal_endpoint *h, uint32_t *buffer, bool urgent)
{
    (void)urgent;
    *buffer = virtual_pool_get(&h->worker->pool);
    return true;
}

static inline void hal_buffer_put(struct hal_endpoint *h, uint32_t buffer)
{
    virtual_pool_put(&h->worker->pool, buffer);
}

static inline uint8_t *hal_frame(struct hal_endpoint *h, uint32_t buffer)
{
    return virtual_pool_frame(&h->worker->pool, buffer);
}

static inline uint64_t hal_now(struct hal_endpoint *h)
{
    return h->worker->now / 1000;
}

void virtual_inject(struct hal_endpoint *h, unsigned plane, const struct hx_desc *d);

static inline void hal_inject(struct hal_endpoint *h, unsigned plane, const struct hx_desc *d)
{
    virtual_inject(h, plane, d);
}

unsigned virtual_ejected(struct hal_endpoint *h, unsigned plane, struct hx_desc *burst, unsigned most);

static inline unsigned hal_ejected(struct hal_endpoint *h, unsigned plane, struct hx_desc *burst, unsigned most)
{
    return virtual_ejected(h, plane, burst, most);
}

#include "hal/endpoint_calls.h" /* needs struct hal_endpoint */

static inline void hal_endpoint_commit(struct hal_endpoint *h)
{
    (void)h;
}

#endif
