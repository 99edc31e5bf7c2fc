/* wire.h - one direction of a cable: a ring of bytes with whole frames, in order, each due at its time.
 *
 *        first                    end                    staged
 *     ---[ in flight              | of a step that is     ]---
 *                                   not committed yet
 *
 * The sender writes between end and staged and commits by end = staged; the receiver takes at first. A frame without
 * room is refused and counted. Sender and receiver may be two threads, or harts: each writes only its own fields, and
 * publishes them by a release that the other's acquire matches. */
#ifndef LOOPBACK_WIRE_H
#define LOOPBACK_WIRE_H

#include "hxmesh/frame.h"
#include "hxmesh/memory.h"

#include <stdatomic.h>

/* Faults of a wire: probability in thousandths for each kind of frame, drawn on arrival. All zero: no faults. */
struct loopback_faults {
    uint16_t lose_data, repeat_data, corrupt_data;
    uint16_t lose_credit, repeat_credit, delay_credit;
    uint32_t delay;  /* ns by which a delayed credit frame is late; data overtakes it */
    uint64_t random; /* state of the RNG, initially the seed */
};

/* Invariant: first .. end .. staged, modulo 2^32, and staged - first <= size. */
struct loopback_wire {
    uint8_t *ring;
    uint32_t size;    /* bytes, a power of two */
    uint32_t latency; /* ns */
    /* Owned by the sender; positions are bytes since the start, modulo 2^32. */
    uint32_t staged;
    _Atomic uint32_t end;
    uint64_t refused; /* frames without room */
    /* set by the sender, cleared by the receiver once it has emptied the wire */
    _Atomic bool clears;
    /* Owned by the receiver. */
    _Atomic uint32_t first;
    bool again; /* the frame at `first` is a repetition */
    bool holds; /* `held` is a delayed credit frame */
    uint64_t held_due;
    uint32_t held_bytes;
    uint8_t held[HX_CREDIT_FRAME_BYTES];
    struct loopback_faults faults;
    uint64_t lost; /* frames lost by faults */
};

/* Header of each frame in the ring. */
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

/* For the sender: returns true if a frame of `bytes` fits, so that its put is not refused. */
static inline bool loopback_wire_has_room(const struct loopback_wire *w, uint32_t bytes)
{
    uint32_t used = w->staged - atomic_load_explicit(&w->first, memory_order_acquire);
    return w->size - used >= sizeof(struct loopback_record) + bytes;
}

/* For the receiver: returns true if the wire is empty. */
static inline bool loopback_wire_is_empty(const struct loopback_wire *w)
{
    return !w->holds &&
           atomic_load_explicit(&w->first, memory_order_relaxed) == atomic_load_explicit(&w->end, memory_order_acquire);
}

/* For the sender: discards all frames in flight. Takes effect when the receiver calls loopback_wire_take(); until then
 * the sender must put no frames. */
static inline void loopback_wire_clear(struct loopback_wire *w)
{
    atomic_store_explicit(&w->end, w->staged, memory_order_relaxed);
    atomic_store_explicit(&w->clears, true, memory_order_release);
}

static inline bool loopback_wire_is_clear(const struct loopback_wire *w)
{
    return !atomic_load_explicit(&w->clears, memory_order_acquire);
}

/* For the receiver: performs a clear. */
static inline void loopback_wire_heed(struct loopback_wire *w)
{
    if (!atomic_load_explicit(&w->clears, memory_order_acquire))
        return;
    w->again = w->holds = false;
    atomic_store_explicit(&w->first, atomic_load_explicit(&w->end, memory_order_relaxed), memory_order_release);
    atomic_store_explicit(&w->clears, false, memory_order_release);
}

/* Writes a frame that arrives after the wire's latency, once it is committed. */
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

/* Returns the bytes of a wire for buffers of `blocks` blocks a VC, 8-byte aligned: room for all that can be granted. */
size_t loopback_wire_bytes(unsigned blocks);
void loopback_wire_init(struct loopback_wire *w, unsigned blocks, uint32_t latency, void *memory);

/* Writes the next due frame to `frame` (HX_MAX_FRAME bytes). Returns its length, 0: none is due. */
uint32_t loopback_wire_take(struct loopback_wire *w, uint64_t now, uint8_t *frame);

#endif
