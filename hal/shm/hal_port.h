/* hal_port.h - the shared-memory platform: the functions of include/hxmesh/hal.h over the rings of link.h and pool.h.
 *
 * A credit unit is a ring slot, which takes any packet. The firmware in each process of a fabric is compiled against
 * this file. fabric-emu/live/nodes.c binds links and pools to switches and endpoints. */
#ifndef HAL_PORT_H
#define HAL_PORT_H

#include "crc.h"
#include "hal/polled.h"
#include "hal/user.h"
#include "hxmesh/around.h"
#include "hxmesh/lanes.h"
#include "hxmesh/memory.h"
#include "link.h"
#include "pool.h"
#include "redo.h"

/* Shared by all switches and endpoints of a worker. Private to the process. */
struct shm_worker {
    struct shm_step step;
    uint32_t self, workers;
    uint32_t ring_mask;         /* size of a pool ring - 1 */
    uint32_t per_home;          /* buffers of one home */
    uint32_t reserve;           /* buffers kept for acknowledgements */
    struct shm_buffer *buffers; /* of the whole fabric */
    uint64_t *injected_ns;      /* by buffer: injection time of its packet, ns */
    struct {
        struct shm_pool_ring *ring;
        uint64_t head;
    } give[SHM_MAX_WORKERS]; /* ring[self][home] */
    struct {
        struct shm_pool_ring *ring;
        uint64_t tail;
    } take[SHM_MAX_WORKERS]; /* ring[from][self] */
    uint64_t gave, took;     /* pool rings changed in this step, bit by worker */
    uint64_t touched;        /* workers to wake, bit by worker */
    uint64_t now;            /* ns; set by shm_set_now() */
    uint64_t waited;         /* ns of `now` spent waiting for a capture */
    bool waits;              /* waits for a capture */
    uint64_t last_from;      /* worker that returned the last buffer taken */
};

/* The sending side of a link. */
struct shm_tx {
    struct shm_link *link;
    uint64_t head; /* includes packets of this step */
    uint64_t sum;  /* packets << SHM_SUM_SHIFT + bytes; cleared by shm_take_counts() */
    uint32_t peer; /* worker of the consumer */
};
enum { SHM_SUM_SHIFT = 40 }; /* cleared before it holds 2^24 packets or 2^40 bytes */

static inline void shm_count(struct shm_tx *tx, const struct hx_desc *d)
{
    tx->sum += ((uint64_t)1 << SHM_SUM_SHIFT) + HX_HEADER_BYTES + d->length;
}

/* The receiving side. */
struct shm_rx {
    struct shm_link *link;
    uint64_t tail;
    uint64_t seen;  /* positions the switch has read */
    uint64_t ahead; /* lanes: how far a head may be ahead of `seen` */
    uint64_t gone[HX_VCS];
    bool any_gone; /* some gone[] is not zero */
    uint32_t peer; /* worker of the producer */
};

struct hal_switch {
    struct shm_worker *worker;
    unsigned ports;
    unsigned size;           /* slots of a VC's ring, a power of two, at most 64 */
    uint64_t slots;          /* shm_link_slots(): 0 for VCs that the fabric lacks */
    uint64_t brings;         /* input ports with a link */
    uint64_t up;             /* output ports with a link */
    uint64_t sent, released; /* ports changed in this step */
    uint64_t gone_changed;   /* ports with a change of gone[] in this step */
    uint64_t *drops;         /* [HX_DROP_COUNT], in the arena */
    uint64_t *stalls;        /* [HX_STALL_COUNT], in the arena */
    struct shm_tx *tx;
    struct shm_rx *rx;
    struct shm_tapped *tap; /* captured ports (tap.h); NULL: none */
};

void shm_tap_step(const struct hal_switch *h);
void shm_tap_redirects(const struct hal_switch *h, unsigned input, unsigned vc, uint16_t position);

/* ---- buffers ---- */

static inline void shm_buffer_put(struct shm_worker *w, uint32_t buffer)
{
    uint32_t home = buffer / w->per_home;
    w->give[home].ring->slots[w->give[home].head++ & w->ring_mask] = buffer;
    w->gave |= (uint64_t)1 << home;
}

static inline uint32_t shm_buffers_free(struct shm_worker *w, uint32_t from)
{
    return (uint32_t)(shm_load(&w->take[from].ring->head) - w->take[from].tail);
}

/* True if more than `reserve` buffers are free. Buffers come home through the rings of all workers, so it adds them
 * up. */
static inline bool shm_has_more_free(struct shm_worker *w, uint32_t reserve)
{
    uint32_t sum = shm_buffers_free(w, w->self);
    for (uint32_t from = 0; sum <= reserve && from < w->workers; from++)
        sum += from == w->self ? 0 : shm_buffers_free(w, from);
    return sum > reserve;
}

static inline bool shm_buffer_get(struct shm_worker *w, uint32_t *buffer, uint32_t reserve)
{
    if (!shm_has_more_free(w, reserve))
        return false;
    for (uint32_t n = 0; n < w->workers; n++) {
        uint32_t from = (uint32_t)w->last_from;
        if (shm_buffers_free(w, from) > 0) {
            *buffer = w->take[from].ring->slots[w->take[from].tail++ & w->ring_mask];
            w->took |= (uint64_t)1 << from;
            return *buffer / w->per_home == w->self;
        }
        w->last_from = from + 1 == w->workers ? 0 : from + 1;
    }
    return false;
}

static inline void shm_note_pools(struct shm_worker *w, bool heads)
{
    for (uint64_t left = heads ? w->gave : w->took; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        if (heads)
            shm_note(&w->step, &w->give[i].ring->head, w->give[i].head);
        else
            shm_note(&w->step, &w->take[i].ring->tail, w->take[i].tail);
    }
}

static inline void shm_commit_pools(struct shm_worker *w)
{
    w->touched |= w->gave;
    w->gave = w->took = 0;
}

/* ---- switch ---- */

/* A step moves bursts; each VC of a link has its own buffer. */
enum { HAL_SPARSE = 0, HAL_VCS_APART = 1, HAL_SHARED = 1 };

/* hx_lanes_sub() by vector instructions, if the machine has them. */
typedef uint16_t shm_lanes __attribute__((vector_size(sizeof(uint64_t))));
static inline uint64_t shm_lanes_sub(uint64_t a, uint64_t b)
{
    return (uint64_t)((shm_lanes)a - (shm_lanes)b);
}

static inline uint64_t hal_consumed(const struct hal_switch *h, unsigned input)
{
    return h->brings >> input & 1 ? h->rx[input].tail : 0;
}

static inline uint64_t hal_arrived(struct hal_switch *h, unsigned input)
{
    if (!(h->brings >> input & 1))
        return 0;
    const struct shm_rx *rx = &h->rx[input];
    uint64_t heads = shm_load(&rx->link->heads);
    uint64_t behind;
    bool can_be = hx_lanes_left(&behind, rx->ahead, shm_lanes_sub(heads, rx->seen));
    return __builtin_expect(can_be, 1) ? heads : rx->seen;
}

static inline const struct hx_desc *hal_arrival(struct hal_switch *h, unsigned input, unsigned vc, uint16_t position)
{
    return &h->rx[input].link->slots[vc * h->size + (position & (h->size - 1))];
}

static inline uint64_t hal_tx_credits(struct hal_switch *h, unsigned output)
{
    if (!(h->up >> output & 1))
        return 0;
    const struct shm_tx *tx = &h->tx[output];
    uint64_t left;
    bool can_be = hx_lanes_left(&left, h->slots, shm_lanes_sub(tx->head, shm_load(&tx->link->tails)));
    return __builtin_expect(can_be, 1) ? left : 0; /* 0: the tail is impossible */
}

static inline unsigned hal_packet_credits(const struct hx_desc *d)
{
    (void)d;
    return 1;
}

/* Occupied slots at the far end. */
static inline unsigned hal_output_occupancy(struct hal_switch *h, unsigned output)
{
    const struct shm_tx *tx = &h->tx[output];
    return hx_lanes_sum(hx_lanes_sub(tx->head, shm_load(&tx->link->tails)));
}

static inline unsigned hal_vc_buffer(const struct hal_switch *h)
{
    return h->size;
}

static inline bool hal_destination(struct hal_switch *h, const struct hx_desc *d, uint16_t *addr_hi, uint16_t *addr_lo)
{
    const uint32_t buffer = shm_read_desc(d).buffer;
    if (buffer / h->worker->per_home >= h->worker->workers)
        return false;
    hx_frame_destination(h->worker->buffers[buffer].frame, addr_hi, addr_lo);
    return true;
}

/* Writes both address numbers in one store: the worker may be killed between two instructions. */
static inline void hal_redirect(struct hal_switch *h, unsigned input, unsigned vc, uint16_t position, uint16_t addr_hi,
                                uint16_t addr_lo)
{
    struct hx_desc *d = &h->rx[input].link->slots[vc * h->size + (position & (h->size - 1))];
    const uint16_t address[2] = {addr_hi, addr_lo};
    uint32_t both;
    if (__builtin_expect(h->tap != NULL, 0))
        shm_tap_redirects(h, input, vc, position);
    memcpy(&both, address, sizeof both);
    __atomic_store_n((shm_half_word *)(void *)&d->dst_addr_hi, both, __ATOMIC_RELAXED);
}

/* Puts a descriptor into the link of an output, on VC d->vc. */
static inline void shm_transmit(struct hal_switch *h, unsigned output, const struct hx_desc *d)
{
    struct shm_tx *tx = &h->tx[output];
    /* Counts before it writes the slot. The compiler assumes that the slot may alias these fields and would reload
     * them. */
    const uint64_t heads = tx->head;
    tx->head = hx_lane_add(heads, d->vc, 1);
    h->sent |= (uint64_t)1 << output;
    struct hx_desc *slot = &tx->link->slots[d->vc * h->size + (hx_lane(heads, d->vc) & (h->size - 1))];
    shm_count(tx, d);
    /* Field by field: the caller has just written two bytes of *d, which would stall a 16-byte copy. */
    slot->buffer = d->buffer;
    slot->length = d->length;
    slot->vc = d->vc;
    slot->hops = d->hops;
    slot->dst_addr_hi = d->dst_addr_hi;
    slot->dst_addr_lo = d->dst_addr_lo;
    slot->job = d->job;
    slot->flow = d->flow;
}

static inline void hal_transmit(struct hal_switch *h, unsigned output, unsigned output_vc, unsigned input, unsigned vc,
                                const struct hx_desc *d)
{
    (void)input;
    (void)vc;
    const struct hx_desc out = hx_desc_onward(d, output_vc);
    shm_transmit(h, output, &out);
}

static inline void hal_stall(struct hal_switch *h, const struct hx_desc *d, enum hx_stall cause)
{
    (void)d;
    h->stalls[cause]++;
}

static inline void hal_drop(struct hal_switch *h, unsigned input, unsigned vc, const struct hx_desc *d,
                            enum hx_drop reason)
{
    (void)input;
    (void)vc;
    const uint32_t buffer = shm_read_desc(d).buffer;
    h->drops[reason]++;
    if (buffer / h->worker->per_home < h->worker->workers)
        shm_buffer_put(h->worker, buffer);
}

/* Bits of positions tail .. seen-1 of one VC that hold no packet. */
static inline uint64_t shm_gone(uint64_t tail, uint64_t seen, unsigned vc, uint64_t waiting)
{
    unsigned span = (uint16_t)(hx_lane(seen, vc) - hx_lane(tail, vc));
    if (span == 0)
        return 0;
    uint64_t range = UINT64_MAX >> (64 - span);
    unsigned at = hx_lane(tail, vc) % HX_WINDOW;
    return (range << at | (at ? range >> (64 - at) : 0)) & ~waiting;
}

/* Updates rx->gone; returns whether it changed. */
static inline bool shm_release_gone(struct shm_rx *rx, uint64_t tail, uint64_t seen, const uint64_t waiting[HX_VCS])
{
    uint64_t any = 0;
    uint64_t changed = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        uint64_t gone = waiting[vc] ? shm_gone(tail, seen, vc, waiting[vc]) : 0;
        changed |= gone ^ rx->gone[vc];
        any |= gone;
        rx->gone[vc] = gone;
    }
    rx->any_gone = any != 0;
    return changed != 0;
}

static inline void hal_release(struct hal_switch *h, unsigned input, uint64_t tail, uint64_t seen,
                               const uint64_t waiting[HX_VCS])
{
    if (!(h->brings >> input & 1))
        return;
    struct shm_rx *rx = &h->rx[input];
    bool moved = rx->tail != tail;
    rx->tail = tail;
    rx->seen = seen;
    rx->ahead = h->slots;
    if (rx->any_gone || tail != seen) {
        rx->ahead = hx_lanes_sub(h->slots, hx_lanes_sub(seen, tail));
        h->gone_changed |= (uint64_t)shm_release_gone(rx, tail, seen, waiting) << input;
    }
    h->released |= (uint64_t)moved << input;
}

/* Notes heads (tails) of changed ports without a branch a port: the set is random, so branches would be
 * mispredicted. */
static inline __attribute__((always_inline)) void shm_note_heads(struct hal_switch *h, unsigned ports)
{
    struct shm_worker *w = h->worker;
    const struct shm_step noted = w->step;
    const uint64_t sent = h->sent;
    uint64_t touched = w->touched;
    unsigned n = noted.count;
    for (unsigned port = 0; port < ports; port++) {
        const struct shm_tx *tx = &h->tx[port];
        unsigned changed = (unsigned)(sent >> port) & 1U;
        shm_write_entry(&noted, n, &tx->link->heads, tx->head);
        n += changed;
        touched |= (uint64_t)changed << tx->peer;
    }
    w->step.count = n;
    w->touched = touched;
}

static inline __attribute__((always_inline)) void shm_note_tails(struct hal_switch *h, unsigned ports)
{
    struct shm_worker *w = h->worker;
    const struct shm_step noted = w->step;
    const uint64_t released = h->released | h->gone_changed;
    uint64_t touched = w->touched;
    unsigned n = noted.count;
    for (unsigned port = 0; port < ports; port++) {
        const struct shm_rx *rx = &h->rx[port];
        unsigned changed = (unsigned)(released >> port) & 1U;
        shm_write_entry(&noted, n, &rx->link->tails, rx->tail);
        n += changed;
        touched |= (uint64_t)changed << rx->peer;
    }
    w->step.count = n;
    w->touched = touched;
}

static inline void shm_note_gone(struct shm_step *step, const struct shm_rx *rx)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        shm_note(step, &rx->link->gone[vc], rx->gone[vc]);
}

/* `gone` bits of old positions must not outlive the tail that covers them, nor precede it: one step holds both. */
static inline __attribute__((always_inline)) void shm_commit(struct hal_switch *h, unsigned ports)
{
    struct shm_worker *w = h->worker;
    shm_note_heads(h, ports);
    if (w->gave)
        shm_note_pools(w, true);
    shm_note_tails(h, ports);
    for (uint64_t left = h->gone_changed; left; left &= left - 1)
        shm_note_gone(&w->step, &h->rx[__builtin_ctzll(left)]);
    shm_step_commit(&w->step);
    shm_commit_pools(w);
    h->sent = h->released = h->gone_changed = 0;
}

static inline void hal_commit(struct hal_switch *h)
{
    if (__builtin_expect(h->tap != NULL, 0))
        shm_tap_step(h);
    if (h->ports == HX_ACCELERATOR_PORTS)
        shm_commit(h, HX_ACCELERATOR_PORTS); /* a constant count unrolls */
    else
        shm_commit(h, h->ports);
}

/* Packets and bytes sent since the last call, headers included. Call it before SHM_SUM_SHIFT overflows. */
struct shm_counts {
    uint64_t packets, bytes;
};
static inline struct shm_counts shm_take_counts(struct shm_tx *tx)
{
    uint64_t sum = tx->sum;
    tx->sum = 0;
    return (struct shm_counts){sum >> SHM_SUM_SHIFT, sum & (((uint64_t)1 << SHM_SUM_SHIFT) - 1)};
}

/* ---- endpoint ---- */

struct hal_endpoint {
    struct shm_worker *worker;
    unsigned planes;
    unsigned vcs; /* of the fabric */
    unsigned size;
    struct shm_tx inject[HX_MAX_PLANES]; /* link to input LOCAL of each plane's switch */
    /* Routes around dead links, which may begin on the escape VC; NULL: there are none. */
    const struct hx_route *around[HX_MAX_PLANES];
    struct shm_rx eject[HX_MAX_PLANES]; /* link from output LOCAL of each plane's switch */
    unsigned injected, ejected;         /* planes changed in this step, bit by plane */
    unsigned first_vc[HX_MAX_PLANES];   /* VC to eject first; rotates for fairness */
    uint64_t *drops;
    const uint64_t *sent; /* packets counted by the firmware */
    uint64_t *sent_shown; /* copy of *sent, written before the step is published: a kill loses no count. NULL: none */
    struct hal_user user;
    void (*delivered)(void *of, const struct hx_desc *burst, unsigned n); /* NULL: not called */
};

/* Each packet has its own descriptor. */
static inline unsigned hal_train(const struct hal_endpoint *h)
{
    (void)h;
    return 1;
}

static inline unsigned hal_inject_room(struct hal_endpoint *h, unsigned plane)
{
    const struct shm_tx *tx = &h->inject[plane];
    uint64_t tails = shm_load(&tx->link->tails);
    unsigned used = (uint16_t)(hx_lane(tx->head, 0) - hx_lane(tails, 0));
    if (h->around[plane])
        used += (uint16_t)(hx_lane(tx->head, HX_ESCAPE_VC) - hx_lane(tails, HX_ESCAPE_VC));
    return used > h->size ? 0 : h->size - used;
}

static inline bool hal_buffer_get(struct hal_endpoint *h, uint32_t *buffer, bool urgent)
{
    return shm_buffer_get(h->worker, buffer, urgent ? 0 : h->worker->reserve);
}

static inline void hal_buffer_put(struct hal_endpoint *h, uint32_t buffer)
{
    shm_buffer_put(h->worker, buffer);
}

static inline uint8_t *hal_frame(struct hal_endpoint *h, uint32_t buffer)
{
    return h->worker->buffers[buffer].frame;
}

static inline uint64_t hal_now(struct hal_endpoint *h)
{
    return h->worker->now - h->worker->waited;
}

/* Time of endpoints stands still while the worker waits for a capture. It never runs backward. */
static inline void shm_set_now(struct shm_worker *w, uint64_t now)
{
    w->waited += w->waits ? now - w->now : 0;
    w->now = now;
}

/* Age of the packet since injection, ns. */
static inline uint64_t shm_age(const struct shm_worker *w, const struct hx_desc *d)
{
    return w->now - w->injected_ns[d->buffer];
}

static inline void hal_inject(struct hal_endpoint *h, unsigned plane, const struct hx_desc *d)
{
    struct shm_tx *tx = &h->inject[plane];
    const unsigned vc = h->around[plane] ? hx_route_injects_on(h->around[plane], d->dst_addr_hi, d->dst_addr_lo) : 0;
    struct hx_desc *slot = &tx->link->slots[vc * h->size + (hx_lane(tx->head, vc) & (h->size - 1))];
    h->worker->injected_ns[d->buffer] = h->worker->now;
    *slot = *d;
    slot->vc = (uint8_t)vc;
    tx->head = hx_lane_add(tx->head, vc, 1);
    shm_count(tx, d);
    h->injected |= 1U << plane;
}

static inline void hal_endpoint_commit(struct hal_endpoint *h);

/* Takes arrived descriptors; drops those with impossible values. A burst of only such descriptors commits here: the
 * firmware does not know of them, and their buffers must not be published as free while the link still holds them. */
static inline unsigned hal_ejected(struct hal_endpoint *h, unsigned plane, struct hx_desc *burst, unsigned most)
{
    struct shm_rx *rx = &h->eject[plane];
    struct shm_worker *w = h->worker;
    uint64_t heads = shm_load(&rx->link->heads);
    const uint32_t buffers = w->per_home * w->workers;
    unsigned n = 0;
    unsigned vc = h->first_vc[plane];
    h->first_vc[plane] = vc + 1 == h->vcs ? 0 : vc + 1;
    for (unsigned i = 0; i < h->vcs; i++, vc = vc + 1 == h->vcs ? 0 : vc + 1) {
        uint16_t tail = hx_lane(rx->tail, vc);
        uint16_t waiting = (uint16_t)(hx_lane(heads, vc) - tail);
        if (waiting == 0 || waiting > h->size || n == most)
            continue;
        const struct hx_desc *slots = &rx->link->slots[vc * h->size];
        for (; waiting && n < most; waiting--) {
            const struct hx_desc d = shm_read_desc(&slots[tail++ & (h->size - 1)]);
            bool known = d.buffer < buffers;
            if (!known || d.length > HX_MAX_PAYLOAD) {
                h->drops[HX_DROP_MALFORMED]++;
                if (known)
                    shm_buffer_put(w, d.buffer);
                continue;
            }
            __builtin_prefetch(w->buffers[d.buffer].frame);
            burst[n++] = d;
        }
        rx->tail = hx_lane_set(rx->tail, vc, tail);
        h->ejected |= 1U << plane;
    }
    if (n == 0 && h->ejected >> plane & 1U)
        hal_endpoint_commit(h);
    if (h->delivered && n)
        h->delivered(h->user.of, burst, n);
    return n;
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
    struct shm_worker *w = h->worker;
    for (unsigned plane = 0; plane < h->planes; plane++) {
        if (h->injected >> plane & 1U)
            shm_note(&w->step, &h->inject[plane].link->heads, h->inject[plane].head);
    }
    shm_note_pools(w, true);
    for (unsigned plane = 0; plane < h->planes; plane++) {
        if (h->ejected >> plane & 1U)
            shm_note(&w->step, &h->eject[plane].link->tails, h->eject[plane].tail);
    }
    shm_note_pools(w, false);
    if (h->sent_shown)
        *h->sent_shown = *h->sent;
    shm_step_commit(&w->step);
    shm_commit_pools(w);
    h->injected = h->ejected = 0;
}

#endif
