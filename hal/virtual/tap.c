/* tap.c - records of frames, sorted by simulated time (tap.h). */
#include "tap.h"
#include "arena.h"
#include "base/error.h"
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
    t->limit = (uint32_t)most;
    t->slots = virtual_arena_reserve(most * t->stride);
    t->heap = virtual_arena_reserve(most * sizeof *t->heap);
    t->freed = virtual_arena_reserve(most * sizeof *t->freed);
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

static bool is_before(const struct virtual_tap_entry *a, const struct virtual_tap_entry *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->where != b->where ? a->where < b->where : a->order < b->order;
}

static void push(struct virtual_tap *t, const struct virtual_tap_entry *entry)
{
    uint32_t at = t->count++;
    for (uint32_t parent; at && is_before(entry, &t->heap[parent = (at - 1) / 2]); at = parent)
        t->heap[at] = t->heap[parent];
    t->heap[at] = *entry;
}

static void pop(struct virtual_tap *t)
{
    const struct virtual_tap_entry last = t->heap[--t->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < t->count; child = 2 * at + 1) {
        child += child + 1 < t->count && is_before(&t->heap[child + 1], &t->heap[child]);
        if (!is_before(&t->heap[child], &last))
            break;
        t->heap[at] = t->heap[child];
        at = child;
    }
    t->heap[at] = last;
}

/* ---- frames ---- */

/* Workers share the counts of a port: the sending end records both ends of a link. */
static void count(_Atomic uint64_t *n)
{
    (void)atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
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

static struct frame_view view_of(const struct virtual_worker *w, const struct hx_desc *d, unsigned plane,
                                 uint64_t birth)
{
    uint32_t whole = HX_HEADER_BYTES + d->length;
    uint8_t *frame = virtual_pool_frame(&w->pool, d->buffer);
    /* Without payload, only control frames have bytes behind the header. */
    bool whole_is_there = w->tap->payload || frame[KIND_AT] != HX_DATA;
    return (struct frame_view){.frame = frame,
                               .d = d,
                               .id = (((birth >> 16) * HX_MAX_PLANES + plane) << 16 | (birth & UINT16_MAX)) + 1,
                               .carried = whole_is_there && whole <= w->pool.stride ? whole : HX_HEADER_BYTES};
}

static void record_frame(struct virtual_tap *t, const struct frame_view *s, uint32_t link,
                         enum hx_tap_direction direction, uint64_t time)
{
    uint32_t interface = t->interface[link] - 1;
    if (interface == UINT32_MAX)
        return;
    uint32_t original = HX_HEADER_BYTES + s->d->length;
    count(&t->counts[interface].received);
    hx_frame_set_hop(s->frame, s->d->vc, s->d->hops, HX_NO_CREDIT, 0);
    hx_frame_set_via(s->frame, hx_desc_via(s->d));
    if (t->program && !bpf_filter(t->program, s->frame, original, s->carried))
        return;
    count(&t->counts[interface].accepted);
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
    uint64_t where = (uint64_t)hx_tap_rank(direction, s->local) << 32 | interface;
    push(t, &(struct virtual_tap_entry){time, where, t->order++, slot});
}

/* Records the frame as on a wire; keeps the waiting time that it stores in place of credit. */
static void record(struct virtual_tap *t, const struct frame_view *s, uint32_t link, enum hx_tap_direction direction,
                   uint64_t time)
{
    uint32_t waited = virtual_waited(s->frame);
    record_frame(t, s, link, direction, time);
    virtual_set_waited(s->frame, waited);
}

void virtual_tap_sent(struct hal_switch *h, unsigned output, unsigned input, unsigned vc, const struct hx_desc *d,
                      uint64_t time)
{
    struct virtual_tap *t = h->worker->tap;
    const struct virtual_tx *tx = &h->tx[output];
    struct frame_view s = view_of(h->worker, d, h->plane, h->looked->birth);
    s.local = output == HX_LOCAL && h->endpoint;
    struct hx_tap_note note;
    if (t->annotate && t->interface[tx->link]) {
        virtual_tap_note(&note, h, output, input, vc, d);
        s.note = &note;
    }
    record(t, &s, tx->link, HX_TAP_OUT, time);
    if (!s.local && !tx->fault)
        virtual_tap_comes(h, output, d, time + tx->kind->there, h->looked->birth);
}

void virtual_tap_comes(const struct hal_switch *h, unsigned output, const struct hx_desc *d, uint64_t ready,
                       uint64_t birth)
{
    const struct frame_view s = view_of(h->worker, d, h->plane, birth);
    record(h->worker->tap, &s, h->rx[output].link, HX_TAP_IN, ready - h->worker->timing.input);
}

void virtual_tap_injected(const struct hal_endpoint *h, unsigned plane, const struct hx_desc *d, uint64_t time)
{
    const struct frame_view s = view_of(h->worker, d, plane, virtual_birth(time, h->rank));
    record(h->worker->tap, &s, h->plane[plane].sw->tx[HX_LOCAL].link, HX_TAP_IN, time);
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
            count(&t->counts[from->interface].dropped);
        t->freed[t->freed_count++] = t->heap[0].slot;
        pop(t);
    }
    hx_tap_publish(&t->out);
    atomic_store_explicit(&t->out.ring->floor, end, memory_order_release);
}
