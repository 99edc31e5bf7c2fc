/* channel.h - what workers tell each other once a window: packets and credits that cross from one to the other, and
 * when each has something to do next.
 *
 * The only way between workers: they share nothing else while time runs. A larger run puts another implementation (MPI)
 * behind these functions; channel.c is the one for processes of one machine. What is sent in one window is received
 * after the turn that ends it, in the order of the senders' numbers, and in the order sent. */
#ifndef VIRTUAL_CHANNEL_H
#define VIRTUAL_CHANNEL_H

#include "queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct virtual_channel;

enum { VIRTUAL_MOST_WORKERS = 64 };

/* A packet that arrives at, or credit that comes back to, the far end of a link. Each line of it goes from one core's
 * cache to another's, so of a record no more is there than its kind has. */
struct virtual_record {
    uint32_t link;        /* number of the link */
    uint32_t frame_bytes; /* 0: a credit */
    union {
        uint64_t credit;          /* virtual_credit_of(); the record ends here */
        struct virtual_slot slot; /* of a packet: its buffer is the sender's. Its frame follows */
    };
};

/* What every worker says at the end of a window, and what comes of all of it. */
struct virtual_turn {
    uint64_t next;   /* earliest window in which something is to be done, VIRTUAL_NO_WINDOW: none */
    uint64_t active; /* accelerators that are not done: sum of all */
    uint64_t moved;  /* latest time a packet moved, ps: latest of all */
    uint64_t stop;   /* somebody wants the run to end: any of all */
};

/* Shared by processes that are forked after it was created; `self` is chosen by each (virtual_channel_join), which also
 * says whether it has a core of its own. */
struct virtual_channel *virtual_channel_create(unsigned workers);
void virtual_channel_join(struct virtual_channel *c, unsigned self, bool own_core);
void virtual_channel_destroy(struct virtual_channel *c);

/* Room for a record and its frame in what goes to `worker`; valid until the next call. Dies if the window has more than
 * the channel can hold. */
struct virtual_record *virtual_channel_send(struct virtual_channel *c, unsigned worker, uint32_t frame_bytes);

/* What goes to others in this window has been sent: what is sent from now on is of the next, and for after the turn. */
void virtual_channel_publish(struct virtual_channel *c, const struct virtual_turn *turn);
/* Ends the window: waits until all others have said theirs, and combines it; of one worker *turn stays what it said.
 * false: another worker is gone. */
bool virtual_channel_wait(struct virtual_channel *c, struct virtual_turn *turn);
/* Both at once. */
static inline bool virtual_channel_turn(struct virtual_channel *c, struct virtual_turn *turn)
{
    virtual_channel_publish(c, turn);
    return virtual_channel_wait(c, turn);
}

/* The records for this worker, one after the other, NULL after the last. */
const struct virtual_record *virtual_channel_receive(struct virtual_channel *c);

static inline const uint8_t *virtual_record_frame(const struct virtual_record *r)
{
    return (const uint8_t *)(r + 1);
}

/* Tells everybody who waits that a worker is gone, so that they end. */
void virtual_channel_break(struct virtual_channel *c);

#endif
