/* feed.h - frames from outside into a port of a running fabric (`hxmesh replay`).
 *
 * The replaying process puts frames into a ring of shared memory, which it offers like a capture its own (taps.h). The
 * worker that owns the other end of the port's cable takes them out between its steps, judges them as if they came from
 * a wire, copies them into buffers of its pool and sends them on that cable as its own: it is the link's only producer,
 * and only sends what there is room for. Frames for `local` are injected in the endpoint's stead, and begin anew: VC 0,
 * no hops.
 *
 *     replaying process                           worker
 *     writes word into control->feed          ->  opens the memory if the link is one it sends on: state
 *     slot[head], head + 1                    ->  judges, sends: tail + 1, counts
 *
 * A worker that is killed may send once more what it had sent and not yet counted. */
#ifndef FEED_H
#define FEED_H

#include "fabric.h"

enum { FEED_SLOTS = 512, FEED_VERSION = 1 };
#define FEED_MAGIC UINT64_C(0x3164656566786d68) /* "hmxfeed1" */

/* What became of a frame. */
#define FEED_VERDICTS(X)                                                                                               \
    X(SENT, "sent")                                                                                                    \
    X(CONTROL, "control")     /* a credit frame: links in shared memory have none */                                   \
    X(MALFORMED, "malformed") /* decodes to nothing */                                                                 \
    X(OUTSIDE, "outside")     /* hosts or a VC that this fabric does not have, or another plane */                     \
    X(CHECKSUM, "checksum")   /* CRC-32C does not match */
enum feed_verdict {
#define FEED_ENUM(name, text) FEED_##name,
    FEED_VERDICTS(FEED_ENUM)
#undef FEED_ENUM
        FEED_VERDICT_COUNT
};
extern const char *const feed_verdict_names[FEED_VERDICT_COUNT];

enum feed_state { FEED_OFFERED, FEED_TAKEN };

struct feed_slot {
    uint32_t bytes;
    alignas(8) uint8_t frame[HX_MAX_FRAME];
};

struct feed {
    uint64_t magic;
    uint32_t version, plane, node, port;
    _Atomic uint32_t state;            /* enum feed_state; worker's */
    alignas(64) _Atomic uint64_t head; /* replaying process's: frames put in */
    alignas(64) _Atomic uint64_t tail; /* worker's: frames taken out */
    _Atomic uint64_t count[FEED_VERDICT_COUNT];
    struct feed_slot slot[FEED_SLOTS];
};

struct worker;

/* Maps or unmaps what control->feed says; call with taps_follow(). */
void feed_follow(struct worker *w);
/* Sends what has come. Returns frames taken. */
unsigned feed_step(struct worker *w);
void feed_end(struct worker *w);

/* Judges a frame for a link of this plane. `checked`: endpoints of this fabric compute checksums. */
enum feed_verdict feed_validate(struct hx_header *h, const uint8_t *frame, uint32_t bytes, const struct hx_fabric *g,
                                unsigned plane, bool checked);

#endif
