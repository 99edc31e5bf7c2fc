/* hal_port.h - the platform of the virtual clock (include/hxmesh/hal.h): links and buffers that take simulated time.
 *
 * Data that flows. A packet that a switch sends goes (outbox.h) into the queue of the next switch's input, with the
 * time from which it may be routed there; credit that it gives back likewise goes, with its time, to the sender's list.
 * Nothing is looked at before its time has come, and no two switches are nearer to each other than a window (timing.h),
 * so a worker may let each of its entities run through a window alone (sim_node.h).
 *
 * Who owns what. A worker owns its entities and all they hold. What leaves for another worker goes through the channel,
 * packets with their frames. A slot of a queue belongs to the receiving switch from its time on; a buffer moves with
 * it.
 *
 * Invariants. Of each link and VC: credit of the sender (virtual_tx.lanes) + credit on its way back + blocks in the
 * receiver's queue (those that have left but whose credit was given back apart) = its buffer. lanes tail <= ready <=
 * head of each input. An output that is starved has no credit on its way and its next is `awaited`, or the next of it
 * stands in the agenda (credit_noted). An output is idle only where all packets at its switch are equally long, so that
 * who comes or leaves changes nothing for those who wait for it: they all lack credit. */
#ifndef VIRTUAL_HAL_PORT_H
#define VIRTUAL_HAL_PORT_H

#include "channel.h"
#include "event_queue.h"
#include "forwarding.h"
#include "hal/simd/crc32c.h"
#include "hal/user.h"
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

/* What all entities of a worker share. */
struct virtual_worker {
    struct virtual_timing timing;
    struct virtual_pool pool;
    struct virtual_wheel wheel;
    struct virtual_channel *channel;
    struct virtual_outbox outbox;
    bool near;                     /* its entities fit into the cache: nothing is asked for ahead */
    uint64_t now;                  /* ps, of the entity being visited */
    uint64_t sent_window;          /* earliest window for which something went to another worker in this one */
    uint64_t moved;                /* latest time a packet moved */
    uint64_t hops;                 /* packets sent by switches */
    uint64_t *drops;               /* [HX_DROP_COUNT] */
    struct virtual_rx **rx;        /* [links]: receiving ends in this worker of links whose sender is elsewhere */
    struct virtual_tx **tx;        /* [links]: sending ends likewise */
    struct virtual_tap *tap;       /* NULL: nothing is captured */
    struct virtual_faults *faults; /* fault.h; NULL: all links are well */
    /* The time of an entity's item VIRTUAL_ITEM_FAULT has come. Returns planes whose switches are to step, bit by
     * plane. */
    unsigned (*fault_is_due)(void *of, struct virtual_sim_node *e);
    void *of_faults;
    /* [accelerators]: by what number endpoints know a rank, d1 * columns + d0: what is asked for ahead is found by
     * it. */
    const uint32_t *peer_number;
};

/* What an output has sent. */
struct virtual_sent {
    uint64_t packets, blocks;
};

/* The sending end of a link: who gives credit to it, or asks for its room, touches the first cache line of it alone. */
struct virtual_tx {
    _Alignas(64) uint64_t lanes; /* credit of each VC in blocks, but for those in `back` that were not taken in yet */
    uint64_t opens;              /* ps: from when on it takes a packet; VIRTUAL_NEVER: it has no link */
    /* On their way, and such as nobody has asked for since they came. Awaited: it is starved, and no credit of it
     * stands in the agenda; the next is to be noted when it is given. */
    struct virtual_credits back;
    uint64_t link_free; /* ps: the last bit given to the link is on it */
    uint64_t crossbar_free;
    struct virtual_rx *far; /* NULL: in another worker */
    struct virtual_sent sum;
    const struct virtual_link *kind; /* of link it is, an endpoint's own too */
    uint32_t fault;                  /* which of virtual_faults.of; 0: it is always well */
    uint32_t link;                   /* its number */
    uint64_t of : 48;                /* virtual_tx_switch() */
    uint64_t far_worker : 16;
};
_Static_assert(offsetof(struct virtual_tx, link_free) == 64 && sizeof(struct virtual_tx) == 128, "two cache lines");

/* The receiving end: what comes touches the first cache line of it alone. */
struct virtual_rx {
    _Alignas(64) uint64_t head; /* lanes: positions appended */
    uint64_t ready, tail;       /* likewise: whose time has come, released */
    struct virtual_queue queue[HX_VCS];
    uint64_t sim_node : 48; /* virtual_rx_sim_node() */
    uint64_t item : 15;     /* of the agenda, while packets are on their way on VC 0; those of other VCs follow */
    uint64_t forwards : 1;  /* what comes is judged by the switch's `forwarding` */
    uint64_t crossbar_free;
    uint64_t last_credit;    /* credits go back in order */
    struct virtual_tx *from; /* NULL: in another worker, the endpoint, or behind a link that has faults */
    uint64_t decided;        /* lanes, where it forwards: forwarding.h */
    uint32_t link;
    uint32_t fault; /* which of virtual_faults.of; 0: none */
    uint16_t from_worker;
    uint8_t port;
    bool linked;                     /* to another switch: what leaves gives credit back */
    const struct virtual_link *kind; /* likewise */
};
_Static_assert(offsetof(struct virtual_rx, crossbar_free) == 64 && sizeof(struct virtual_rx) == 128, "two cache lines");

static inline struct virtual_sim_node *virtual_rx_sim_node(const struct virtual_rx *rx)
{
    return (struct virtual_sim_node *)(uintptr_t)rx->sim_node;
}

struct hal_switch {
    struct virtual_worker *worker;
    struct virtual_sim_node *sim_node;
    uint64_t credit_blocked;           /* open outputs that somebody waits for who lacks credit */
    uint64_t credit_noted;             /* outputs whose next credit stands in the agenda */
    struct virtual_rx *rx;             /* [ports] */
    struct virtual_tx *tx;             /* [ports] */
    uint16_t output_item, credit_item; /* agenda items of output 0 */
    uint8_t plane, ports;
    /* Up to here: what those who give credit back touch too. */
    uint64_t news;                     /* inputs with packets ready that the switch has not seen */
    uint64_t blocked;                  /* outputs that somebody waits for and whose opening stands in the agenda */
    uint64_t sent;                     /* outputs that took a packet in this step */
    uint64_t idle;                     /* of `credit_blocked`: nobody who waits for one can go until it has credit */
    uint64_t small;                    /* packets that stand here, waiting or new, of less than a whole one's blocks */
    const struct virtual_slot *looked; /* at last */
    struct hal_endpoint *endpoint;     /* NULL: a router */
    struct virtual_forwarding *forwarding; /* NULL: its packets go on at once */
    uint64_t up;                           /* outputs with a link */
};

/* Whose output it is, and which. */
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

/* Blocks a packet takes, of the link's time and of its credit; carried in its descriptor's flow. */
static inline unsigned virtual_blocks(const struct hx_desc *d)
{
    return d->flow;
}

static inline bool virtual_is_small(const struct hx_desc *d)
{
    return virtual_blocks(d) < HX_PACKET_BLOCKS;
}

/* ---- switch ---- */

static inline uint64_t hal_rx_pending(const struct hal_switch *h)
{
    return h->news;
}

static inline uint64_t hal_tx_ready(const struct hal_switch *h)
{
    return ~(h->blocked | h->idle);
}

/* A step is made for what comes at one time, and an output has one place for what is to go on its link next. */
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
    const struct virtual_slot *slot = virtual_queue_at(&h->rx[input].queue[vc], position);
    h->looked = slot;
    return &slot->d;
}

/* Takes in the credits whose time has come: there is one. */
void virtual_take_credits(struct virtual_tx *tx, uint64_t now);

/* Credit that is there now. */
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

/* Blocks whose credit is not back. What stands before the link counts: its credit is spent. */
static inline unsigned hal_output_occupancy(struct hal_switch *h, unsigned output)
{
    return h->worker->timing.vcs * h->worker->timing.vc_blocks -
           hx_lanes_sum(virtual_credit_there(&h->tx[output], h->worker->now));
}

static inline unsigned hal_buffer(const struct hal_switch *h)
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

/* The packet that was looked at last goes on, on another VC than that which it came on, and with another count of hops:
 * all else of it stays. */
void virtual_transmit(struct hal_switch *h, unsigned output, unsigned input, unsigned on_vc, unsigned hops);

static inline void hal_transmit(struct hal_switch *h, unsigned output, unsigned input, unsigned vc,
                                const struct hx_desc *d)
{
    (void)vc; /* as its slot says */
    virtual_transmit(h, output, input, d->vc, d->hops);
}

void virtual_drop(struct hal_switch *h, unsigned input, unsigned vc, const struct hx_desc *d, enum hx_drop reason);

static inline void hal_drop(struct hal_switch *h, unsigned input, unsigned vc, const struct hx_desc *d,
                            enum hx_drop reason)
{
    virtual_drop(h, input, vc, d, reason);
}

/* An empty ring goes to others that need one; but where all is handed over at once one of a cache line stays. */
static inline bool virtual_gives_ring(const struct hal_switch *h, const struct virtual_queue *q)
{
    return h->worker->outbox.for_own || q->mask >= VIRTUAL_LINE_SLOTS;
}

static inline void hal_release(struct hal_switch *h, unsigned input, uint64_t tail, uint64_t seen,
                               const uint64_t waiting[HX_VCS])
{
    (void)waiting; /* credit of what left was given back when it left */
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
    (void)h; /* what a step did is seen at its times */
}

/* ---- endpoint ---- */

/* The endpoint's link to its switch of one plane. */
struct virtual_port {
    struct hal_switch *sw;
    uint64_t inject_free; /* ps: when it is free */
    uint64_t due;         /* ps: when the next packet would go if none had ever been late */
    struct virtual_eject eject;
};

struct hal_endpoint {
    struct virtual_worker *worker;
    struct virtual_sim_node *sim_node;
    const struct hx_endpoint *firmware; /* what it serves: its tables are fetched ahead; NULL: nothing is */
    const void *user_data;              /* likewise, what the user touches when something arrives */
    uint32_t user_bytes;
    uint32_t rank;
    uint32_t next_to; /* rank that the user sends to when its time comes, likewise fetched; HX_NOWHERE: not known */
    uint8_t planes;
    bool eject_noted;  /* stands in the agenda */
    bool hears_again;  /* peers are likely to send it more messages than one each */
    bool counts_waits; /* packets may be older than their injection: what they waited before stands in their frames */
    uint64_t since;    /* ps: when the packet that is injected next was to be, as its owner says; 0: now */
    struct hal_user user;
    void (*delivered)(void *of, const struct hx_desc *, uint64_t when, uint64_t took); /* ps */
    uint64_t *drops;
    struct virtual_port plane[HX_MAX_PLANES];
};

/* Packets between an endpoint and its switch: enough to keep four links busy, so few that what must go soon, such as an
 * acknowledgement, does not wait long behind what came before it. */
enum { VIRTUAL_INJECTED = 16, VIRTUAL_INJECT_BURST = 4 /* fewer are not worth a step of the endpoint */ };

static inline unsigned virtual_injected_at(const struct hal_switch *h)
{
    const struct virtual_rx *rx = &h->rx[HX_LOCAL];
    return (uint16_t)(hx_lane(rx->head, 0) - hx_lane(rx->tail, 0));
}

static inline unsigned virtual_injected(const struct hal_endpoint *h, unsigned plane)
{
    return virtual_injected_at(h->plane[plane].sw);
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

static inline uint32_t hal_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    return simd_crc32c(crc, data, bytes);
}

static inline const struct hal_user *hal_user(const struct hal_endpoint *h)
{
    return &h->user;
}

static inline void hal_endpoint_drop(struct hal_endpoint *h, enum hx_drop reason)
{
    h->drops[reason]++;
}

static inline void hal_endpoint_commit(struct hal_endpoint *h)
{
    (void)h;
}

#endif
