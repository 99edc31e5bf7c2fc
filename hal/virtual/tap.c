/* tap.c - records of frames, sorted by simulated time (tap.h). */
#include "tap.h"
#include "arena.h"
#include "base/error.h"
#include "base/heap.h"
#include "firmware/frame_parts.h"
#include "sim_node.h"

#include <pcap/pcap.h>
#include <time.h>

#define MOST_BYTES   ((uint64_t)64 << 30)
#define MOST_PENDING ((uint64_t)1 << 26)
enum {
    ROOM_PAUSE_NS = 100000,
    KIND_AT = 28 /* in a frame: docs/wire-format.md */
};

void virtual_tap_open(struct virtual_tap *t)
{
    uint32_t carried = t->payload ? HX_MAX_FRAME : VIRTUAL_HEADER_FRAME;
    t->stride = hx_tap_record_bytes(t->snaplen < carried ? t->snaplen : carried, t->annotate);
    uint64_t most = MOST_BYTES / t->stride < MOST_PENDING ? MOST_BYTES / t->stride : MOST_PENDING;
    most = virtual_arena_fit(most, t->stride + sizeof *t->heap + sizeof *t->freed);
    t->limit = (uint32_t)most;
    t->slots = virtual_arena_reserve(most * t->stride);
    t->heap = virtual_arena_reserve(most * sizeof *t->heap);
    t->freed = virtual_arena_reserve(most * sizeof *t->freed);
    t->packet = virtual_arena_reserve(HX_MAX_FRAME);
}

/* ---- pending records ---- */

static struct hx_tap_record *record_in(const struct virtual_tap *t, uint32_t slot)
{
    return (struct hx_tap_record *)(void *)(t->slots + (size_t)slot * t->stride);
}

static uint32_t take_slot(struct virtual_tap *t)
{
    if (t->freed_count)
        return t->freed[--t->freed_count];
    if (t->fresh == t->limit)
        hx_die(HX_EXIT_ENVIRONMENT, "memory",
               "more than %u captured frames at once in one worker (a smaller --snaplen)", t->limit);
    return t->fresh++;
}

static bool is_before(const void *of, const void *a, const void *b)
{
    const struct virtual_tap_entry *one = a, *other = b;
    (void)of;
    if (one->time != other->time)
        return one->time < other->time;
    return one->where != other->where ? one->where < other->where : one->order < other->order;
}

static const struct hx_heap_kind pending = {sizeof(struct virtual_tap_entry), is_before};

static void drop_first(struct virtual_tap *t)
{
    t->freed[t->freed_count++] = t->heap[0].slot;
    hx_heap_drop(&pending, NULL, t->heap, t->count--);
}

/* ---- frames ---- */

/* Workers share the counts of a port: the sending end records both ends of a link. */
static void add(_Atomic uint64_t *n, uint64_t more)
{
    (void)atomic_fetch_add_explicit(n, more, memory_order_relaxed);
}

/* Common to all records of one packet. */
struct frame_view {
    uint8_t *frame;
    const struct hx_desc *d;
    const struct hx_tap_note *note; /* NULL: none */
    uint64_t id;
    bool local;
    uint32_t carried; /* bytes of the frame in memory */
};

/* Number of the packet with this birth; 0 is none's. Of ranks the upper four bits come first. */
static uint64_t id_of(uint64_t birth, unsigned plane)
{
    uint32_t rank = virtual_birth_rank(birth);
    uint64_t injected = birth >> VIRTUAL_RANK_BITS;
    return ((uint64_t)(rank >> 16) << 60 | (injected * HX_MAX_PLANES + plane) << 16 | (rank & UINT16_MAX)) + 1;
}

static struct frame_view view_of(const struct virtual_worker *w, const struct hx_desc *d, unsigned plane,
                                 uint64_t birth)
{
    uint32_t whole = HX_HEADER_BYTES + d->length;
    uint8_t *frame = virtual_pool_frame(&w->pool, d->buffer);
    /* Without payload, only control frames have bytes behind the header. */
    bool whole_is_there = w->tap->payload || frame[KIND_AT] != HX_DATA;
    return (struct frame_view){.frame = frame,
                               .d = d,
                               .id = id_of(birth, plane),
                               .carried = whole_is_there && whole <= w->pool.stride ? whole : HX_HEADER_BYTES};
}

/* Makes a record wait for the end of its window. */
static void keep(struct virtual_tap *t, uint32_t slot, enum hx_tap_rank rank)
{
    const struct hx_tap_record *r = record_in(t, slot);
    uint64_t where = (uint64_t)rank << 32 | r->interface;
    hx_heap_put(&pending, NULL, t->heap, t->count++, &(struct virtual_tap_entry){r->time, where, t->order++, slot});
}

static void record_frame(struct virtual_tap *t, const struct frame_view *s, uint32_t link,
                         enum hx_tap_direction direction, uint64_t time)
{
    uint32_t interface = t->interface[link] - 1;
    if (interface == UINT32_MAX)
        return;
    uint32_t original = HX_HEADER_BYTES + s->d->length;
    add(&t->counts[interface].received, 1);
    hx_frame_set_hop(s->frame, s->d->vc, s->d->hops, HX_NO_CREDIT, 0);
    hx_frame_set_via(s->frame, hx_desc_via(s->d));
    if (t->program && !bpf_filter(t->program, s->frame, original, s->carried))
        return;
    add(&t->counts[interface].accepted, 1);
    uint32_t captured = s->carried < t->snaplen ? s->carried : t->snaplen;
    uint32_t slot = take_slot(t);
    struct hx_tap_record *r = record_in(t, slot);
    *r = (struct hx_tap_record){.time = time,
                                .id = s->id,
                                .size = hx_tap_record_bytes(captured, s->note != NULL),
                                .interface = interface,
                                .original = (uint16_t)original,
                                .captured = (uint16_t)captured,
                                .direction = (uint8_t)direction,
                                .vc = s->d->vc,
                                .noted = s->note != NULL};
    if (s->note)
        *hx_tap_note_of(r) = *s->note;
    memcpy(hx_tap_bytes_of(r), s->frame, captured);
    keep(t, slot, hx_tap_rank(direction, s->local));
}

/* Records the frame as on a wire; keeps the waiting time that it stores in place of credit. */
static void record_alone(struct virtual_tap *t, const struct frame_view *s, uint32_t link,
                         enum hx_tap_direction direction, uint64_t time)
{
    uint32_t wait = virtual_wait(s->frame);
    record_frame(t, s, link, direction, time);
    virtual_set_wait(s->frame, wait);
}

/* Writes the frame of packet n of a train, with its payload if that is carried. */
static void write_packet(const struct virtual_tap *t, const struct frame_view *train, unsigned n, unsigned length)
{
    struct hx_header h = hx_frame_fields(train->frame);
    h.offset += n;
    h.length = (uint16_t)length;
    memcpy(t->packet, train->frame, HX_HEADER_BYTES);
    hx_frame_put_packet(t->packet, &h);
    if (!t->payload)
        return;
    memcpy(t->packet + HX_HEADER_BYTES, train->frame + HX_HEADER_BYTES + (size_t)n * HX_MAX_PAYLOAD, length);
    hx_frame_set_crc(t->packet,
                     simd_crc32c(0, t->packet + HX_CRC_FIRST, HX_HEADER_BYTES - HX_CRC_FIRST + (size_t)length));
}

/* Where a train is recorded, with the time of its first packet; of a delivered one, of its last. */
struct moment {
    uint32_t link;
    enum hx_tap_direction direction;
    uint64_t time;                   /* ps */
    const struct virtual_rate *rate; /* at which packets follow each other */
};

static uint64_t time_of(const struct moment *at, bool is_delivered, unsigned before, unsigned behind)
{
    return is_delivered ? at->time - at->rate->blocks[behind] : at->time + at->rate->blocks[before];
}

/* Records a frame, or each packet of a train. */
static void record(const struct virtual_worker *w, const struct frame_view *s, const struct moment *at)
{
    struct virtual_tap *t = w->tap;
    unsigned packets = hx_packets(s->d->length);
    if (packets == 1) {
        record_alone(t, s, at->link, at->direction, at->time);
        return;
    }
    for (unsigned n = 0; n < packets; n++) {
        struct hx_desc d = *s->d;
        unsigned left = s->d->length - n * HX_MAX_PAYLOAD;
        d.length = (uint16_t)(left < HX_MAX_PAYLOAD ? left : HX_MAX_PAYLOAD);
        struct frame_view one = *s;
        unsigned before = n * HX_PACKET_BLOCKS;
        one.d = &d;
        one.frame = t->packet;
        one.id += virtual_birth((uint64_t)w->timing.local.blocks[before] * HX_MAX_PLANES, 0);
        one.carried = HX_HEADER_BYTES + (t->payload ? d.length : 0U);
        write_packet(t, s, n, d.length);
        bool is_delivered = s->local && at->direction == HX_TAP_OUT;
        record_frame(t, &one, at->link, at->direction,
                     time_of(at, is_delivered, before, hx_blocks(left) - hx_blocks(d.length)));
    }
}

void virtual_tap_sent(struct hal_switch *h, unsigned output, unsigned input, const struct virtual_slot *slot,
                      const struct hx_desc *d, uint64_t time)
{
    struct virtual_tap *t = h->worker->tap;
    const struct virtual_tx *tx = &h->tx[output];
    struct frame_view s = view_of(h->worker, d, h->plane, slot->birth);
    s.local = output == HX_LOCAL && h->endpoint;
    struct hx_tap_note note;
    if (t->annotate && t->interface[tx->link]) {
        virtual_tap_note(&note, h, output, input, slot->d.vc, &slot->d);
        s.note = &note;
    }
    record(h->worker, &s,
           &(struct moment){tx->link, HX_TAP_OUT, time, s.local ? &h->worker->timing.link : &tx->kind->rate});
    if (!s.local && !tx->fault)
        virtual_tap_comes(h, output, d, time + tx->kind->there, slot->birth);
}

void virtual_tap_comes(const struct hal_switch *h, unsigned output, const struct hx_desc *d, uint64_t ready,
                       uint64_t birth)
{
    const struct frame_view s = view_of(h->worker, d, h->plane, birth);
    record(h->worker, &s,
           &(struct moment){h->rx[output].link, HX_TAP_IN, ready - h->worker->timing.input, &h->tx[output].kind->rate});
}

void virtual_tap_injected(const struct hal_endpoint *h, unsigned plane, const struct hx_desc *d, uint64_t time)
{
    const struct frame_view s = view_of(h->worker, d, plane, virtual_birth(time, h->rank));
    record(h->worker, &s,
           &(struct moment){h->plane[plane].sw->tx[HX_LOCAL].link, HX_TAP_IN, time, &h->worker->timing.local});
}

/* ---- to the writer ---- */

/* Returns room in the ring; NULL if the writer gave up. */
static struct hx_tap_record *await_room(struct virtual_tap *t, uint32_t bytes)
{
    struct hx_tap_record *r = hx_tap_reserve(&t->out, bytes);
    if (!r)
        hx_tap_publish(&t->out);
    while (!r && !atomic_load_explicit(t->gave_up, memory_order_relaxed)) {
        const struct timespec pause = {.tv_nsec = ROOM_PAUSE_NS};
        (void)nanosleep(&pause, NULL);
        r = hx_tap_reserve(&t->out, bytes);
    }
    return r;
}

void virtual_tap_flush(struct virtual_tap *t, uint64_t end)
{
    while (t->count && t->heap[0].time < end) {
        const struct hx_tap_record *from = record_in(t, t->heap[0].slot);
        struct hx_tap_record *to = await_room(t, from->size);
        if (to)
            memcpy(to, from, from->size);
        else
            add(&t->counts[from->interface].dropped, 1);
        drop_first(t);
    }
    hx_tap_publish(&t->out);
    atomic_store_explicit(&t->out.ring->floor, end, memory_order_release);
}

/* ---- to worker 0 ---- */

void virtual_tap_relay(struct virtual_tap *t, struct virtual_channel *c, uint64_t end)
{
    for (; t->count && t->heap[0].time < end; drop_first(t)) {
        const struct hx_tap_record *from = record_in(t, t->heap[0].slot);
        struct virtual_record *r = virtual_channel_send(c, 0, from->size);
        r->data = VIRTUAL_TAP_FRAME;
        r->credit = t->heap[0].where >> 32;
        memcpy(r + 1, from, from->size);
    }
}

void virtual_tap_relay_counts(const struct virtual_tap *t, struct virtual_channel *c)
{
    for (uint32_t i = 0; i < t->interfaces; i++) {
        const struct virtual_tap_count one = {i, atomic_load(&t->counts[i].received),
                                              atomic_load(&t->counts[i].accepted)};
        if (one.received == 0)
            continue;
        struct virtual_record *r = virtual_channel_send(c, 0, sizeof one);
        r->data = VIRTUAL_TAP_COUNT;
        memcpy(r + 1, &one, sizeof one);
    }
}

void virtual_tap_take(struct virtual_tap *t, const struct virtual_record *r)
{
    if (r->data == VIRTUAL_TAP_COUNT) {
        const struct virtual_tap_count *one = (const void *)virtual_record_frame(r);
        add(&t->counts[one->interface].received, one->received);
        add(&t->counts[one->interface].accepted, one->accepted);
        return;
    }
    uint32_t slot = take_slot(t);
    memcpy(record_in(t, slot), virtual_record_frame(r), r->frame_bytes);
    keep(t, slot, (enum hx_tap_rank)r->credit);
}
