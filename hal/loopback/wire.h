/* wire.h - one direction of a cable: a ring of bytes that holds whole frames, in their order, each due at its time.
 *
 *        first                    end                    staged
 *     ---[ under way              | of a step that is     ]---
 *                                   not committed yet
 *
 * The sender writes between end and staged and commits by end = staged; the receiver takes at first. A frame that finds
 * no room is refused and counted. Sender and receiver may be two threads, or harts: each writes what is its own, and
 * what the other reads of it is published by a release and read by an acquire. */
#ifndef LOOPBACK_WIRE_H
#define LOOPBACK_WIRE_H

#include "hxmesh/frame.h"
#include "hxmesh/memory.h"

#include <stdatomic.h>

/* What a wire does wrong: out of 1000 frames of the kind, drawn when they arrive. All zero: a good wire. */
struct loopback_faults {
    uint16_t lose_data, repeat_data, corrupt_data;
    uint16_t lose_credit, repeat_credit, delay_credit;
    uint32_t delay;  /* a delayed credit frame comes so much later, and data passes it: ns */
    uint64_t random; /* seed, and state */
};

/* Invariant: first .. end .. staged, modulo 2^32, and staged - first <= size. */
struct loopback_wire {
    uint8_t *ring;
    uint32_t size;    /* bytes, a power of two */
    uint32_t latency; /* ns */
    /* The sender's; positions are bytes since the start, modulo 2^32. */
    uint32_t staged;
    _Atomic uint32_t end;
    uint64_t refused; /* frames, for want of room */
    /* Set by the sender, reset by the receiver when it has done so: what is on the wire is to go. */
    _Atomic bool clears;
    /* The receiver's. */
    _Atomic uint32_t first;
    bool again; /* the frame at `first` is a repetition */
    bool holds; /* `held` is a credit frame that is late */
    uint64_t held_due;
    uint32_t held_bytes;
    uint8_t held[HX_CREDIT_FRAME_BYTES];
    struct loopback_faults faults;
    uint64_t lost; /* frames, by a fault */
};

/* What stands before each frame in the ring. */
struct loopback_record {
    uint64_t due;
    uint32_t bytes;
};

static inline void loopback_ring_write(struct loopback_wire *w, uint32_t at, const void *from, uint32_t bytes)
{
    uint32_t offset = at & (w->size - 1);
    uint32_t until_wrap = bytes < w->size - offset ? bytes : w->size - offset;
    memcpy(w->ring + offset, from, until_wrap);
    memcpy(w->ring, (const uint8_t *)from + until_wrap, bytes - until_wrap);
}

/* The sender asks whether a frame of so many bytes has room: one that is put then is not refused. */
static inline bool loopback_wire_has_room(const struct loopback_wire *w, uint32_t bytes)
{
    uint32_t used = w->staged - atomic_load_explicit(&w->first, memory_order_acquire);
    return w->size - used >= sizeof(struct loopback_record) + bytes;
}

/* The receiver asks whether nothing is on the wire. */
static inline bool loopback_wire_is_empty(const struct loopback_wire *w)
{
    return !w->holds &&
           atomic_load_explicit(&w->first, memory_order_relaxed) == atomic_load_explicit(&w->end, memory_order_acquire);
}

/* The sender wants all gone that is on the wire and has not arrived. That is so when the receiver has looked, which it
 * does as loopback_wire_take() begins; before that nothing more is put. */
static inline void loopback_wire_clear(struct loopback_wire *w)
{
    atomic_store_explicit(&w->end, w->staged, memory_order_relaxed);
    atomic_store_explicit(&w->clears, true, memory_order_release);
}

static inline bool loopback_wire_is_clear(const struct loopback_wire *w)
{
    return !atomic_load_explicit(&w->clears, memory_order_acquire);
}

/* The receiver does what a clear wants. */
static inline void loopback_wire_heed(struct loopback_wire *w)
{
    if (!atomic_load_explicit(&w->clears, memory_order_acquire))
        return;
    w->again = w->holds = false;
    atomic_store_explicit(&w->first, atomic_load_explicit(&w->end, memory_order_relaxed), memory_order_release);
    atomic_store_explicit(&w->clears, false, memory_order_release);
}

/* Writes a frame that begins to arrive after the latency of the wire. It stays with the sender until the commit. */
static inline void loopback_wire_put(struct loopback_wire *w, uint64_t now, const uint8_t *frame, uint32_t bytes)
{
    const struct loopback_record record = {now + w->latency, bytes};
    if (!loopback_wire_has_room(w, bytes)) {
        w->refused++;
        return;
    }
    loopback_ring_write(w, w->staged, &record, sizeof record);
    loopback_ring_write(w, w->staged + (uint32_t)sizeof record, frame, bytes);
    w->staged += (uint32_t)sizeof record + bytes;
}

static inline void loopback_wire_commit(struct loopback_wire *w)
{
    atomic_store_explicit(&w->end, w->staged, memory_order_release);
}

/* Bytes of memory for a wire between buffers of `blocks` blocks a VC (8-byte aligned): all that can be granted. */
size_t loopback_wire_bytes(unsigned blocks);
void loopback_wire_init(struct loopback_wire *w, unsigned blocks, uint32_t latency, void *memory);

/* The next frame that is due, written to `frame` (HX_MAX_FRAME bytes); its length, 0: there is none. */
uint32_t loopback_wire_take(struct loopback_wire *w, uint64_t now, uint8_t *frame);

#endif
