/* channel.h - exchange between workers, once a window: packets and credits that cross, and each worker's next event.
 *
 * Workers share nothing else while time runs. channel.c serves processes of one machine; a larger run puts another
 * implementation (MPI) behind these functions. A record sent in one window is received after the turn that ends it,
 * ordered by sender, then as sent. */
#ifndef VIRTUAL_CHANNEL_H
#define VIRTUAL_CHANNEL_H

#include "queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct virtual_channel;

enum { VIRTUAL_MOST_WORKERS = 64 };

/* A packet that arrives at the far end of a link, or credit that returns. Each line crosses between two caches, so a
 * record is only as long as its kind needs. */
struct virtual_record {
    uint32_t link;        /* number of the link */
    uint32_t frame_bytes; /* 0: credit */
    union {
        uint64_t credit;          /* virtual_credit_of(); the record ends here */
        struct virtual_slot slot; /* of a packet; its buffer number is the sender's. The frame follows */
    };
};

/* What every worker publishes at the end of a window, and the combination of all. */
struct virtual_turn {
    uint64_t next;   /* earliest window with an event, VIRTUAL_NO_WINDOW: none */
    uint64_t active; /* accelerators that are not done; combined by sum */
    uint64_t moved;  /* latest time a packet moved, ps; combined by maximum */
    uint64_t stop;   /* not 0: end the run; combined by or */
};

/* Create it before forking. Each process then joins with its number, and says whether it has a core of its own. */
struct virtual_channel *virtual_channel_create(unsigned workers);
void virtual_channel_join(struct virtual_channel *c, unsigned self, bool own_core);
void virtual_channel_destroy(struct virtual_channel *c);

/* Returns room for a record and its frame to `worker`, valid until the next call. Exits with an error if the window
 * holds more than the channel can. */
struct virtual_record *virtual_channel_send(struct virtual_channel *c, unsigned worker, uint32_t frame_bytes);

/* Ends this worker's sends of the window. Later sends belong to the next window. */
void virtual_channel_publish(struct virtual_channel *c, const struct virtual_turn *turn);
/* Waits until all others have published, and combines their turns into *turn; with one worker *turn stays. Returns
 * false if a worker died. */
bool virtual_channel_wait(struct virtual_channel *c, struct virtual_turn *turn);
/* Publishes and waits. */
static inline bool virtual_channel_turn(struct virtual_channel *c, struct virtual_turn *turn)
{
    virtual_channel_publish(c, turn);
    return virtual_channel_wait(c, turn);
}

/* Returns the next record for this worker; NULL after the last. */
const struct virtual_record *virtual_channel_receive(struct virtual_channel *c);

static inline const uint8_t *virtual_record_frame(const struct virtual_record *r)
{
    return (const uint8_t *)(r + 1);
}

/* Makes the waits of all workers fail: a worker died. */
void virtual_channel_break(struct virtual_channel *c);

#endif
