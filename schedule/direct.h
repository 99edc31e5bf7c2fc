/* direct.h - collectives without an engine: reduce, gather, scatter and all-to-all by one message a pair; barrier.
 *
 *     all-to-all   step s: to position + 1 + s, bytes / n
 *     gather       each to the root, bytes / n; reduce: bytes
 *     scatter      the root to each, bytes / n
 *     barrier      phase k: to position + 2^k, 0 bytes, after the message of phase k - 1 arrived: dissemination */
#ifndef SCHEDULE_DIRECT_H
#define SCHEDULE_DIRECT_H

#include "schedule/schedule.h"

enum { DIRECT_PHASES = 32 };

struct direct {
    uint8_t kind; /* enum schedule_collective */
    uint32_t size, position, root;
    uint64_t bytes;
    uint32_t next;            /* messages sent */
    uint32_t sends, receives; /* messages of the whole collective */
    uint32_t acked, received; /* messages */
    uint32_t phases;          /* barrier: bit k: the message of phase k arrived */
};

struct direct_message {
    uint32_t to; /* position */
    uint32_t tag;
    uint64_t bytes;
};

void direct_init(struct direct *d, const struct schedule_operation *o, uint32_t size, uint32_t position);
/* Finds the next message. Returns false if there is none until a message arrives. */
bool direct_next(const struct direct *d, struct direct_message *m);
void direct_take(struct direct *d);
/* Each returns false if no such message is due. */
bool direct_sent(struct direct *d);
bool direct_received(struct direct *d, uint32_t tag);
bool direct_done(const struct direct *d);

#endif
