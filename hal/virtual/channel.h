/* channel.h - all that workers tell each other, once a window and at the end.
 *
 * Data that flows:
 *
 *     records    packets and credits that cross, packed, to each neighbour. Over ranks also captured frames (tap.h)
 *                and counters (fabric-emu/virtual/publish.h), to worker 0. After the last window also packets that
 *                were lost, to the worker of the sender of their message (fabric-emu/virtual/faults.h)
 *     turn       what all workers agree on: next window, active accelerators, last move of a packet, requests to show
 *                counters and to end
 *     arrays     at the end, what workers counted for the report (fabric-emu/virtual/model.h), to worker 0
 *
 * A record sent in one window is received after the turn that ends it, ordered by sender, then as sent. All workers
 * take the same turns: what a worker does after a turn follows from the combined turn alone, so all do the same.
 *
 * Owners: a sender fills a record in memory of the channel, a receiver reads it there until its next call. A turn is a
 * copy. An array belongs to the launcher, which shares it with the workers that it forks: each worker writes its part,
 * and reads no other. Workers share nothing else.
 *
 * Launchers fork workers, watch them and take signals; the one of worker 0 reports. channel.c serves one launcher and
 * processes of one machine, in shared memory. channel_mpi.c serves a launcher for each rank that mpirun starts; it
 * replaces channel.c in hxmesh-virtual-mpi.
 *
 * What can go wrong: a worker dies. Its launcher breaks the channel, and all waits fail; over MPI the launcher ends,
 * and mpirun ends the others. A worker that is late holds the others up at the next turn. More is sent in a window than
 * memory has room for: the sender says so and ends. */
#ifndef VIRTUAL_CHANNEL_H
#define VIRTUAL_CHANNEL_H

#include "queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct virtual_channel;

enum { VIRTUAL_MOST_WORKERS = UINT16_MAX /* their numbers have 16 bits */ };

/* A packet that arrives at the far end of a link, or credit that returns; or other data behind it, as of a frame. Each
 * line crosses between two caches, so a record is only as long as its kind needs. */
struct virtual_record {
    union {
        uint32_t link; /* number of the link */
        uint32_t data; /* what the data is, numbered by their users: tap.h, publish.c */
    };
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
    uint64_t show;   /* not 0: counters go to worker 0 next; combined by or */
    uint64_t stop;   /* not 0: end the run; combined by or */
};

static inline void virtual_turn_combine(struct virtual_turn *all, const struct virtual_turn *one)
{
    all->next = one->next < all->next ? one->next : all->next;
    all->active += one->active;
    all->moved = one->moved > all->moved ? one->moved : all->moved;
    all->show |= one->show;
    all->stop |= one->stop;
}

/* A launcher's share of the workers. */
struct virtual_place {
    unsigned workers;      /* of all launchers */
    unsigned first, count; /* numbers of those that this launcher forks */
};

/* Whether mpirun starts the launchers of this channel. */
bool virtual_channel_is_of_ranks(void);
/* Call it first. Until hx_error_hand_over(NULL), only one launcher of all ranks prints an error that ends them. */
void virtual_channel_begin(void);
/* Returns the share of this launcher; it may choose so many workers, if it is the only one. */
struct virtual_place virtual_channel_place(unsigned asked);

/* Create it before forking. Each process then joins with its number, and says whether it has a core of its own. */
struct virtual_channel *virtual_channel_create(unsigned workers);
void virtual_channel_join(struct virtual_channel *c, unsigned self, bool own_core);
void virtual_channel_destroy(struct virtual_channel *c);

/* Says which workers this one has links to, and may send to from its next window on; links go both ways. All workers
 * call it before the first window, and again after the last turn of a window to change it. */
void virtual_channel_meet(struct virtual_channel *c, const bool *neighbour /* [workers] */);

/* Returns room for a record and its frame to a neighbour, valid until the next call. Exits with an error if the window
 * holds more than the channel can. */
struct virtual_record *virtual_channel_send(struct virtual_channel *c, unsigned worker, uint32_t frame_bytes);

/* Ends this worker's sends of the window. It may work on, but sends no more before it has waited. */
void virtual_channel_publish(struct virtual_channel *c, const struct virtual_turn *turn);
/* Between publish and wait, now and then: sends go on while the worker computes. */
void virtual_channel_progress(struct virtual_channel *c);
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

/* Bytes of a record and its frame, a multiple of 8. */
static inline size_t virtual_record_bytes(uint32_t frame_bytes)
{
    if (frame_bytes == 0)
        return offsetof(struct virtual_record, credit) + sizeof(uint64_t);
    return sizeof(struct virtual_record) + ((size_t)frame_bytes + 7) / 8 * 8;
}

static inline const uint8_t *virtual_record_frame(const struct virtual_record *r)
{
    return (const uint8_t *)(r + 1);
}

/* After the last turn. All workers collect the same arrays in the same order, then leave. Each array begins as zeros,
 * and no byte has two writers, so the arrays are combined by a bitwise or. The launcher of worker 0 gets the result. */
void virtual_channel_collect(struct virtual_channel *c, void *array, size_t bytes);
void virtual_channel_leave(struct virtual_channel *c);

/* Makes the waits of all workers of this launcher fail: a worker died. */
void virtual_channel_break(struct virtual_channel *c);

#endif
