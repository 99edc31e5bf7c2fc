/* tap_ring.h - carries frames from a datapath to a capture: the record, the ring, and the layout of shared memory.
 *
 * Needs no platform and no operating system. A platform writes records (hal/shm/tap.c); fabric-emu/capture/merge.c
 * reads them and writes a pcapng file.
 *
 *     datapath of a worker -- ring of records --> capture          one ring a worker: one producer, one consumer
 *
 * The capturing process creates the memory of a capture, the tap, and shares it with all workers:
 *
 *     struct hx_tap | program | interface of each port | counts of each interface | rings
 *
 * Ports are numbered through the planes: plane * ports of a plane + first port of the node + port of the node.
 *
 * A datapath that does not wait drops records that find no room in the ring, and counts them by interface. One that
 * waits (shape.waits) checks before a step that the ring has room for all that the step can write. Records are copies;
 * nothing here owns a buffer. A producer that dies leaves whole records, and at most one that is not published. */
#ifndef HXMESH_HAL_TAP_RING_H
#define HXMESH_HAL_TAP_RING_H

#include "hxmesh/frame.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    HX_TAP_VERSION = 3,
    HX_TAP_MOST_PROGRAM = 4096,             /* instructions of a filter, as BPF_MAXINSNS */
    HX_TAP_LEAST_SNAPLEN = HX_HEADER_BYTES, /* bytes kept of a frame: the header, */
    HX_TAP_MOST_SNAPLEN = HX_MAX_FRAME,     /* or all of it */
    HX_TAP_LEAST_RING = 1 << 16,
    HX_TAP_MOST_RING = 1 << 30,
    HX_TAP_ROOMS = 8 /* candidates of a note with credit */
};
#define HX_TAP_MAGIC UINT64_C(0x3150615468736d78) /* "xmshTap1" */

enum hx_tap_direction { HX_TAP_IN = 1, HX_TAP_OUT = 2 }; /* as seen by the port; numbers of pcapng */

/* Order of records of one time: deliveries, which an endpoint may acknowledge at once, then arrivals, then departures.
 */
enum hx_tap_rank { HX_TAP_RANK_DELIVERED, HX_TAP_RANK_IN, HX_TAP_RANK_OUT };

/* local: at the port of an endpoint. */
static inline enum hx_tap_rank hx_tap_rank(enum hx_tap_direction direction, bool local)
{
    if (direction == HX_TAP_IN)
        return HX_TAP_RANK_IN;
    return local ? HX_TAP_RANK_DELIVERED : HX_TAP_RANK_OUT;
}

/* Why a packet took its output. */
enum hx_tap_reason {
    HX_TAP_ONLY,        /* the only candidate */
    HX_TAP_MOST_ROOM,   /* more credit than any other candidate */
    HX_TAP_TURN,        /* as much credit as others, and its turn */
    HX_TAP_WAITED,      /* the packet waited; this output was the first with credit */
    HX_TAP_ARRIVED,     /* at its destination */
    HX_TAP_UNREACHABLE, /* no candidate: the endpoint here reports it */
    HX_TAP_REPLAYED,    /* no input: a replay or the cable of an external accelerator sent it */
    HX_TAP_REASONS
};

/* The switch's decision for a packet that leaves; no wire shows it. */
struct hx_tap_note {
    uint64_t candidates;         /* output ports that the packet might take */
    uint64_t wanted;             /* of these, outputs that waiting packets want: closed to a new arrival */
    uint8_t input, input_vc;     /* where the packet arrived */
    uint8_t output, reason;      /* where it leaves, and enum hx_tap_reason */
    uint16_t room[HX_TAP_ROOMS]; /* packets, before it left: credit of the first candidates in port order */
};

struct hx_tap_record {
    uint64_t time;    /* ns, or ps of simulated time */
    uint64_t id;      /* equal for all records of one frame; 0: unknown */
    uint64_t dropped; /* frames of this interface that the tap dropped since it was opened */
    uint32_t size;    /* bytes of the record with note and frame, a multiple of 8 */
    uint32_t interface;
    uint16_t original; /* bytes on the wire */
    uint16_t captured; /* bytes kept */
    uint8_t direction; /* enum hx_tap_direction; 0: padding up to the end of the ring */
    uint8_t vc;
    uint8_t noted; /* 1: a struct hx_tap_note stands before the frame */
    uint8_t unused;
};

struct hx_tap_ring {
    alignas(64) _Atomic uint64_t head; /* producer's: bytes published */
    _Atomic uint32_t writing;          /* producer's: 1 from reading the clock to publishing */
    _Atomic uint32_t attached;         /* producer's: 1 once it writes records */
    _Atomic uint64_t floor;            /* producer's, simulated time only: least time of later records */
    alignas(64) _Atomic uint64_t tail; /* consumer's: bytes taken */
    alignas(64) uint8_t bytes[];       /* [ring_bytes] */
};

/* Sizes; all offsets follow from them. */
struct hx_tap_shape {
    uint32_t rings;
    uint32_t ring_bytes; /* a power of two */
    uint32_t ports;      /* of all planes */
    uint32_t interfaces; /* tapped ports */
    uint32_t program;    /* instructions; 0: no filter */
    uint32_t snaplen;
    uint32_t annotate;
    uint32_t waits; /* the datapath waits for room */
};

struct hx_tap {
    uint64_t magic;
    uint32_t version;
    struct hx_tap_shape shape;
    _Atomic uint32_t stop;    /* set by the capturing process: no more records come */
    _Atomic uint32_t gave_up; /* set by the capturing process: no reader; a waiting datapath goes on */
};

/* Frames of one interface; only the worker of its port writes. */
struct hx_tap_count {
    _Atomic uint64_t received; /* passed the port */
    _Atomic uint64_t accepted; /* passed the filter */
    _Atomic uint64_t dropped;  /* found no room in the ring */
    uint64_t unused;
};

/* ---- layout ---- */

static inline uint64_t hx_tap_align(uint64_t bytes)
{
    return (bytes + 63) & ~(uint64_t)63;
}

static inline uint64_t hx_tap_program_at(void)
{
    return hx_tap_align(sizeof(struct hx_tap));
}

static inline uint64_t hx_tap_ports_at(const struct hx_tap_shape *s)
{
    return hx_tap_program_at() + hx_tap_align((uint64_t)s->program * 8);
}

static inline uint64_t hx_tap_counts_at(const struct hx_tap_shape *s)
{
    return hx_tap_ports_at(s) + hx_tap_align((uint64_t)s->ports * sizeof(uint32_t));
}

static inline uint64_t hx_tap_ring_at(const struct hx_tap_shape *s, uint32_t ring)
{
    uint64_t first = hx_tap_counts_at(s) + hx_tap_align((uint64_t)s->interfaces * sizeof(struct hx_tap_count));
    return first + ring * (sizeof(struct hx_tap_ring) + (uint64_t)s->ring_bytes);
}

static inline uint64_t hx_tap_bytes(const struct hx_tap_shape *s)
{
    return hx_tap_ring_at(s, s->rings);
}

/* Instructions of the filter, 8 bytes each (struct bpf_insn of pcap/bpf.h). */
static inline void *hx_tap_program(struct hx_tap *t)
{
    return (uint8_t *)t + hx_tap_program_at();
}

/* [ports]: number of the interface + 1; 0: not tapped. */
static inline uint32_t *hx_tap_ports(struct hx_tap *t, const struct hx_tap_shape *s)
{
    return (uint32_t *)(void *)((uint8_t *)t + hx_tap_ports_at(s));
}

static inline struct hx_tap_count *hx_tap_counts(struct hx_tap *t, const struct hx_tap_shape *s)
{
    return (struct hx_tap_count *)(void *)((uint8_t *)t + hx_tap_counts_at(s));
}

static inline struct hx_tap_ring *hx_tap_ring(struct hx_tap *t, const struct hx_tap_shape *s, uint32_t ring)
{
    return (struct hx_tap_ring *)(void *)((uint8_t *)t + hx_tap_ring_at(s, ring));
}

/* Returns whether the sizes are in range: to be checked before another process's memory is used. */
static inline bool hx_tap_shape_is_good(const struct hx_tap_shape *s)
{
    bool power = s->ring_bytes && (s->ring_bytes & (s->ring_bytes - 1)) == 0;
    return power && s->ring_bytes >= HX_TAP_LEAST_RING && s->ring_bytes <= HX_TAP_MOST_RING &&
           s->program <= HX_TAP_MOST_PROGRAM && s->rings && s->interfaces <= s->ports &&
           s->snaplen >= HX_TAP_LEAST_SNAPLEN && s->snaplen <= HX_TAP_MOST_SNAPLEN;
}

/* ---- producer ---- */

struct hx_tap_producer {
    struct hx_tap_ring *ring;
    uint64_t size, head, tail; /* tail: as last read */
};

static inline void hx_tap_producer_init(struct hx_tap_producer *p, struct hx_tap_ring *ring, uint32_t ring_bytes)
{
    *p = (struct hx_tap_producer){.ring = ring, .size = ring_bytes};
    p->head = (atomic_load_explicit(&ring->head, memory_order_relaxed) + 7) & ~UINT64_C(7);
    p->tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    atomic_store_explicit(&ring->writing, 0, memory_order_release); /* a predecessor may have died while writing */
    atomic_store_explicit(&ring->attached, 1, memory_order_release);
}

/* Call before reading the clock of a record: the consumer, which merges by time, then waits for that record. */
static inline void hx_tap_writes(struct hx_tap_producer *p)
{
    atomic_store_explicit(&p->ring->writing, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

/* Returns the bytes of a record with `captured` bytes of a frame. */
static inline uint32_t hx_tap_record_bytes(uint32_t captured, bool noted)
{
    uint32_t bytes = (uint32_t)sizeof(struct hx_tap_record) + captured;
    return (bytes + (noted ? (uint32_t)sizeof(struct hx_tap_note) : 0U) + 7U) & ~7U;
}

/* Returns the most bytes that a step of a switch can write: for each tapped port, slot, VC and direction a record, and
 * the padding at the end of the ring. */
static inline uint64_t hx_tap_step_bytes(const struct hx_tap_shape *s, unsigned tapped, unsigned slots)
{
    return ((uint64_t)tapped * slots * HX_VCS * 2 + 1) * hx_tap_record_bytes(s->snaplen, s->annotate);
}

static inline bool hx_tap_has_room(struct hx_tap_producer *p, uint64_t bytes)
{
    if (p->head + bytes - p->tail <= p->size)
        return true;
    p->tail = atomic_load_explicit(&p->ring->tail, memory_order_acquire);
    return p->head + bytes - p->tail <= p->size;
}

/* Returns room for a record of `size` bytes, or NULL. hx_tap_publish() hands it to the consumer. */
static inline struct hx_tap_record *hx_tap_reserve(struct hx_tap_producer *p, uint32_t size)
{
    uint64_t to_end = p->size - (p->head & (p->size - 1));
    uint64_t pad = size > to_end ? to_end : 0;
    if (p->head + pad + size - p->tail > p->size) {
        p->tail = atomic_load_explicit(&p->ring->tail, memory_order_acquire);
        if (p->head + pad + size - p->tail > p->size)
            return NULL;
    }
    struct hx_tap_record *r = (struct hx_tap_record *)(void *)(p->ring->bytes + (p->head & (p->size - 1)));
    if (pad) { /* a multiple of 8, maybe shorter than a record: the consumer reads size and direction only */
        if (pad >= sizeof *r)
            *r = (struct hx_tap_record){.size = (uint32_t)pad};
        r = (struct hx_tap_record *)(void *)p->ring->bytes;
    }
    p->head += pad + size;
    r->size = size;
    return r;
}

static inline struct hx_tap_note *hx_tap_note_of(struct hx_tap_record *r)
{
    return (struct hx_tap_note *)(void *)(r + 1);
}

static inline uint8_t *hx_tap_bytes_of(struct hx_tap_record *r)
{
    return (uint8_t *)(r + 1) + (r->noted ? sizeof(struct hx_tap_note) : 0);
}

static inline void hx_tap_publish(struct hx_tap_producer *p)
{
    atomic_store_explicit(&p->ring->head, p->head, memory_order_release);
    atomic_store_explicit(&p->ring->writing, 0, memory_order_release);
}

/* With a single writer, a load and a store need no locked instruction. */
static inline void hx_tap_add(_Atomic uint64_t *count, uint64_t more)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

/* ---- consumer ---- */

struct hx_tap_consumer {
    struct hx_tap_ring *ring;
    uint64_t size, head, tail; /* head: as last read */
};

static inline void hx_tap_consumer_init(struct hx_tap_consumer *c, struct hx_tap_ring *ring, uint32_t ring_bytes)
{
    *c = (struct hx_tap_consumer){.ring = ring, .size = ring_bytes};
    c->tail = c->head = atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

/* Reads the head. Returns true if all later records have times not before this call. */
static inline bool hx_tap_look(struct hx_tap_consumer *c)
{
    atomic_thread_fence(memory_order_seq_cst);
    bool is_writing = atomic_load_explicit(&c->ring->writing, memory_order_acquire);
    c->head = atomic_load_explicit(&c->ring->head, memory_order_acquire);
    return !is_writing;
}

/* Returns the next record before c->head, or NULL. It checks the record: an inconsistent ring is skipped up to its head
 * and counted in *broken. The record is valid until hx_tap_taken(). */
static inline struct hx_tap_record *hx_tap_next(struct hx_tap_consumer *c, uint32_t interfaces, uint64_t *broken)
{
    while (c->head != c->tail) {
        uint64_t there = c->head - c->tail;
        if (there > c->size || ((c->head | c->tail) & 7) != 0) {
            c->tail = c->head;
            ++*broken;
            break;
        }
        uint64_t to_end = c->size - (c->tail & (c->size - 1));
        struct hx_tap_record *r = (struct hx_tap_record *)(void *)(c->ring->bytes + (c->tail & (c->size - 1)));
        bool fills = to_end < sizeof *r || r->direction == 0;
        if (fills && there >= to_end) {
            c->tail += to_end;
            continue;
        }
        uint64_t most = there < to_end ? there : to_end;
        if (!fills && r->size <= most && (r->size & 7) == 0 && r->direction <= HX_TAP_OUT &&
            r->interface < interfaces && r->captured <= r->original &&
            r->size >= hx_tap_record_bytes(r->captured, r->noted))
            return r;
        c->tail = c->head;
        ++*broken;
    }
    return NULL;
}

/* Passes the record. hx_tap_free() gives its room back to the producer. */
static inline void hx_tap_taken(struct hx_tap_consumer *c, const struct hx_tap_record *r)
{
    c->tail += r->size;
}

static inline void hx_tap_free(struct hx_tap_consumer *c)
{
    atomic_store_explicit(&c->ring->tail, c->tail, memory_order_release);
}

#endif
