/* wire.h - one direction of a cable: a ring of bytes that holds whole frames, in their order, each due at its time.
 *
 *        first                    end                    staged
 *     ---[ under way              | of a step that is     ]---
 *                                   not committed yet
 *
 * The sender writes between end and staged and commits by end = staged; the receiver takes at first. A frame that finds
 * no room is lost and counted, as on any wire. */
#ifndef LOOPBACK_WIRE_H
#define LOOPBACK_WIRE_H

#include "hxmesh/frame.h"
#include "hxmesh/memory.h"

/* What a wire does wrong: out of 1000 frames of the kind, drawn when they arrive. All zero: a good wire. */
struct loopback_faults {
    uint16_t lose_data, repeat_data, corrupt_data;
    uint16_t lose_credit, repeat_credit, delay_credit;
    uint32_t delay;  /* a delayed credit frame comes so much later, and data passes it: ns */
    uint64_t random; /* seed, and state */
};

struct loopback_wire {
    uint8_t *ring;
    uint32_t size;               /* bytes, a power of two */
    uint32_t first, end, staged; /* bytes since the start, modulo 2^32 */
    uint32_t latency;            /* ns */
    bool again;                  /* the frame at `first` is a repetition */
    bool holds;                  /* `held` is a credit frame that is late */
    uint64_t held_due;
    uint32_t held_bytes;
    uint8_t held[HX_CREDIT_FRAME_BYTES];
    struct loopback_faults faults;
    uint64_t lost; /* frames, by fault or for want of room */
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

/* Whether a frame of so many bytes has room: one that is put has not to be lost. */
static inline bool loopback_wire_has_room(const struct loopback_wire *w, uint32_t bytes)
{
    return w->size - (w->staged - w->first) >= sizeof(struct loopback_record) + bytes;
}

/* What is on the wire, and has not arrived, is gone. */
static inline void loopback_wire_clear(struct loopback_wire *w)
{
    w->first = w->end = w->staged;
    w->again = w->holds = false;
}

/* Writes a frame that begins to arrive after the latency of the wire. It stays with the sender until the commit. */
static inline void loopback_wire_put(struct loopback_wire *w, uint64_t now, const uint8_t *frame, uint32_t bytes)
{
    const struct loopback_record record = {now + w->latency, bytes};
    if (!loopback_wire_has_room(w, bytes)) {
        w->lost++;
        return;
    }
    loopback_ring_write(w, w->staged, &record, sizeof record);
    loopback_ring_write(w, w->staged + (uint32_t)sizeof record, frame, bytes);
    w->staged += (uint32_t)sizeof record + bytes;
}

static inline void loopback_wire_commit(struct loopback_wire *w)
{
    w->end = w->staged;
}

/* Bytes of memory for a wire between buffers of `blocks` blocks a VC (8-byte aligned): all that can be granted. */
size_t loopback_wire_bytes(unsigned blocks);
void loopback_wire_init(struct loopback_wire *w, unsigned blocks, uint32_t latency, void *memory);

/* The next frame that is due, written to `frame` (HX_MAX_FRAME bytes); its length, 0: there is none. */
uint32_t loopback_wire_take(struct loopback_wire *w, uint64_t now, uint8_t *frame);

#endif
