/* tap_ring.h - frames on their way from a datapath to a capture file: the record, the ring, and the memory they lie in.
 *
 * Neutral: no platform and no operating system. A platform writes records (hal/shm/tap.c), fabric-emu/capture/merge.c
 * takes them out and makes a pcapng file of them.
 *
 *     datapath of a worker -- ring of records --> capture          one ring a worker: one producer, one consumer
 *
 * The memory of a capture (a tap) is made by whoever captures and shared with all workers:
 *
 *     struct hx_tap | program | interface of each port | counts of each interface | rings
 *
 * Ports are numbered through the planes: plane * ports of a plane + first port of the node + port of the node.
 *
 * A datapath that does not wait counts what finds no room in the ring with its interface, and it is gone. One that
 * waits (shape.waits) asks before a step whether there is room for all that the step could write. Everything is copied,
 * nothing here owns a buffer. A producer that dies leaves whole records behind, and one that was never published. */
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
    HX_TAP_ROOMS = 8 /* candidates of a note whose room is kept */
};
#define HX_TAP_MAGIC UINT64_C(0x3150615468736d78) /* "xmshTap1" */

enum hx_tap_direction { HX_TAP_IN = 1, HX_TAP_OUT = 2 }; /* as seen by the port; the numbers are those of pcapng */

/* The order of records of one time, in which they can have happened: what is delivered, which an endpoint may answer at
 * once, then what comes in, then what goes out. */
enum hx_tap_rank { HX_TAP_RANK_DELIVERED, HX_TAP_RANK_IN, HX_TAP_RANK_OUT };

/* local: at the port of an endpoint. */
static inline enum hx_tap_rank hx_tap_rank(enum hx_tap_direction direction, bool local)
{
    if (direction == HX_TAP_IN)
        return HX_TAP_RANK_IN;
    return local ? HX_TAP_RANK_DELIVERED : HX_TAP_RANK_OUT;
}

/* Why a packet took the output it took. */
enum hx_tap_reason {
    HX_TAP_ONLY,        /* there was no other */
    HX_TAP_MOST_ROOM,   /* more room behind it than behind any other candidate */
    HX_TAP_TURN,        /* none had more room; it was this one's turn */
    HX_TAP_WAITED,      /* the packet had waited, and this output was the first to get room */
    HX_TAP_ARRIVED,     /* it is where it wants to be */
    HX_TAP_UNREACHABLE, /* none leads on: the endpoint here reports it */
    HX_TAP_REPLAYED,    /* it never came in: a replay, or the cable of an external accelerator, put it on this link */
    HX_TAP_REASONS
};

/* What a wire does not show, of a packet that goes out. */
struct hx_tap_note {
    uint64_t candidates;         /* ports of the node that it might have taken */
    uint64_t wanted;             /* of these, outputs that packets waiting here want: not for a new arrival */
    uint8_t input, input_vc;     /* where it came in */
    uint8_t output, reason;      /* where it leaves, and why (enum hx_tap_reason) */
    uint16_t room[HX_TAP_ROOMS]; /* of the first candidates in the order of ports, before it left; in packets */
};

struct hx_tap_record {
    uint64_t time;    /* by the clock of the run: ns, or ps of simulated time */
    uint64_t id;      /* the same for all sightings of one frame; 0: not known */
    uint64_t dropped; /* frames of this interface lost to the tap since it was opened */
    uint32_t size;    /* of the record with all that follows, a multiple of 8 */
    uint32_t interface;
    uint16_t original; /* bytes on the wire */
    uint16_t captured; /* bytes kept */
    uint8_t direction; /* enum hx_tap_direction; 0: fills the ring up to its end */
    uint8_t vc;
    uint8_t noted; /* a struct hx_tap_note follows, then the bytes */
    uint8_t unused;
};

struct hx_tap_ring {
    alignas(64) _Atomic uint64_t head; /* producer's: bytes published */
    _Atomic uint32_t writing;          /* producer's: it has read the clock for records it has not published yet */
    _Atomic uint32_t attached;         /* producer's: it has found the ring, and taps */
    _Atomic uint64_t floor;            /* producer's, if its time is simulated: what follows is not before this */
    alignas(64) _Atomic uint64_t tail; /* consumer's: bytes taken */
    alignas(64) uint8_t bytes[];       /* [ring_bytes] */
};

/* Sizes, from which all places follow. */
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
    _Atomic uint32_t stop;    /* by who started the capture: nothing more will come, finish */
    _Atomic uint32_t gave_up; /* by the same: nobody takes records any more, who waits for room goes on without */
};

/* Frames of one interface; written by the worker of its port only. */
struct hx_tap_count {
    _Atomic uint64_t received; /* that passed the port */
    _Atomic uint64_t accepted; /* that the filter let through */
    _Atomic uint64_t dropped;  /* that found no room */
    uint64_t unused;
};

/* ---- where everything lies ---- */

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

/* Whether these can be the sizes of a tap: who attaches to another's memory asks before believing them. */
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
    uint64_t size, head, tail; /* tail: as it was last seen */
};

static inline void hx_tap_producer_init(struct hx_tap_producer *p, struct hx_tap_ring *ring, uint32_t ring_bytes)
{
    *p = (struct hx_tap_producer){.ring = ring, .size = ring_bytes};
    p->head = (atomic_load_explicit(&ring->head, memory_order_relaxed) + 7) & ~UINT64_C(7);
    p->tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    atomic_store_explicit(&ring->writing, 0, memory_order_release); /* a predecessor may have died in the middle */
    atomic_store_explicit(&ring->attached, 1, memory_order_release);
}

/* Call before reading the clock for what will be written: who takes records out in the order of time must not pass by
 * those that are in the making. */
static inline void hx_tap_writes(struct hx_tap_producer *p)
{
    atomic_store_explicit(&p->ring->writing, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

/* Bytes of a record that keeps so many. */
static inline uint32_t hx_tap_record_bytes(uint32_t captured, bool noted)
{
    uint32_t bytes = (uint32_t)sizeof(struct hx_tap_record) + captured;
    return (bytes + (noted ? (uint32_t)sizeof(struct hx_tap_note) : 0U) + 7U) & ~7U;
}

/* Bytes that a step of a switch may write at most: at each of its tapped ports a record for each slot of each VC,
 * coming in and going out; and what is left over at the end of the ring. */
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

/* Room for a record of `size` bytes, or NULL. It is there for the taker with hx_tap_publish. */
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
    if (pad) { /* a multiple of 8, maybe too short for a record: only size and direction count */
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

/* One writer: a load and a store, no locked instruction. */
static inline void hx_tap_add(_Atomic uint64_t *count, uint64_t more)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

/* ---- consumer ---- */

struct hx_tap_consumer {
    struct hx_tap_ring *ring;
    uint64_t size, head, tail; /* head: as it was last looked at */
};

static inline void hx_tap_consumer_init(struct hx_tap_consumer *c, struct hx_tap_ring *ring, uint32_t ring_bytes)
{
    *c = (struct hx_tap_consumer){.ring = ring, .size = ring_bytes};
    c->tail = c->head = atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

/* Looks at what there is. true: whatever comes later has a time not before this call. */
static inline bool hx_tap_look(struct hx_tap_consumer *c)
{
    atomic_thread_fence(memory_order_seq_cst);
    bool is_writing = atomic_load_explicit(&c->ring->writing, memory_order_acquire);
    c->head = atomic_load_explicit(&c->ring->head, memory_order_acquire);
    return !is_writing;
}

/* The next record, or NULL: there is none before c->head. What stands there is checked: a ring that makes no sense is
 * skipped up to its head, and *broken counts it. Stays valid until hx_tap_taken. */
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

/* Its room may be written again after hx_tap_free. */
static inline void hx_tap_taken(struct hx_tap_consumer *c, const struct hx_tap_record *r)
{
    c->tail += r->size;
}

static inline void hx_tap_free(struct hx_tap_consumer *c)
{
    atomic_store_explicit(&c->ring->tail, c->tail, memory_order_release);
}

#endif
