/* feed.h - sends frames from outside into a port of a running fabric (`hxmesh replay`).
 *
 * The replaying process puts frames into a ring that it offers as a capture offers its own (taps.h). The worker at the
 * other end of the port's link takes them between its steps and checks them like frames of a wire. It copies them into
 * its buffers and sends them as its own, within the link's credit: it stays the link's only producer. Frames for
 * `local` are injected in place of the endpoint's, with VC 0 and no hops.
 *
 *     replaying process                           worker
 *     writes word into control->feed          ->  maps the ring if it sends on that link: state
 *     slot[head], head + 1                    ->  checks, sends: tail + 1, counts
 *
 * A killed worker may have sent frames that it had not counted: its successor sends them again. */
#ifndef FEED_H
#define FEED_H

#include "fabric.h"

enum { FEED_SLOTS = 512, FEED_VERSION = 1 };
#define FEED_MAGIC UINT64_C(0x3164656566786d68) /* "hmxfeed1" */

/* Result for a frame. */
#define FEED_VERDICTS(X)                                                                                               \
    X(SENT, "sent")                                                                                                    \
    X(CONTROL, "control")     /* a credit frame: shared memory links use none */                                       \
    X(MALFORMED, "malformed") /* cannot be decoded */                                                                  \
    X(OUTSIDE, "outside")     /* unknown host or VC, or another plane */                                               \
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
    alignas(64) _Atomic uint64_t head; /* frames put in; replaying process's */
    alignas(64) _Atomic uint64_t tail; /* frames taken out; worker's */
    _Atomic uint64_t count[FEED_VERDICT_COUNT];
    struct feed_slot slot[FEED_SLOTS];
};

struct worker;

/* Maps or unmaps the ring that control->feed names; call it with taps_follow(). */
void feed_follow(struct worker *w);
/* Sends waiting frames. Returns frames taken. */
unsigned feed_step(struct worker *w);
void feed_end(struct worker *w);

/* Checks a frame for a link of this plane and decodes it into *h. `checked`: also its CRC, as this fabric's endpoints
 * do. */
enum feed_verdict feed_validate(struct hx_header *h, const uint8_t *frame, uint32_t bytes, const struct hx_fabric *g,
                                unsigned plane, bool checked);

#endif
