/* schedule.h - a schedule: for each rank a partial order of operations, and groups of ranks.
 *
 * A reader (formats.h) or a generator fills a builder (build.h). schedule_build() checks the operations and lays them
 * out. The result is read-only: workers share it, in memory or as a mapped file (schedule_open()).
 *
 * An operation begins when all operations that it waits for have ended; for a dependency "after the start", have begun.
 * Operations of one rank run at once, except those that occupy the same stream.
 *
 *     compute     occupies its stream for `amount` picoseconds
 *     send        `amount` bytes to rank `peer` with a tag
 *     receive     matched as in MPI: source and tag, in order of sending; SCHEDULE_ANY matches every source or tag
 *     collective  `kind` of group `peer` with a vector of `amount` bytes; the n-th collective of a group at one member
 *                 belongs to the n-th at every other
 *     repeat      the next `peer` operations run `amount` times. An iteration begins when the one before has ended.
 *                 Operations of a body wait only for operations of the same body. Bodies may be nested
 *
 * A schedule has ranks but no hosts: a placement gives each rank a host (workload/schedule_plan.h).
 *
 * File: the head, then the arrays of struct schedule in its order, in the machine's byte order, each aligned to 8
 * bytes. A file of 10^7 operations takes 320 MB, and 4 bytes for each dependency. */
#ifndef SCHEDULE_SCHEDULE_H
#define SCHEDULE_SCHEDULE_H

#include "base/error.h"
#include "base/options/runs.h"

#include <stdint.h>

#define SCHEDULE_ANY UINT32_MAX /* of a receive: any source, any tag */

enum {
    SCHEDULE_MOST_OPERATIONS = 1 << 28, /* of a rank: 28 bits of a message's tag */
    SCHEDULE_MOST_RANKS = 1 << 20,
    SCHEDULE_MOST_GROUPS_OF_RANK = 128, /* that a rank has collectives of: 7 bits of a tag */
    SCHEDULE_MOST_NESTED = 64,          /* repeats inside one another */
    SCHEDULE_STREAMS = 256,
    SCHEDULE_MOST_PURPOSES = 16, /* of operations, "none" counted */
    SCHEDULE_MOST_DIMENSIONS = 6,
    SCHEDULE_NO_NAME = 0,
    SCHEDULE_NO_PURPOSE = 0
};
#define SCHEDULE_MOST_BYTES    (UINT64_C(1) << 42) /* of a message or vector */
#define SCHEDULE_MOST_TIME     (UINT64_C(1) << 56) /* ps of a compute operation: 20 hours */
#define SCHEDULE_MOST_EXECUTED (UINT64_C(1) << 60) /* operations of a rank, with repeats */

enum schedule_kind {
    SCHEDULE_COMPUTE,
    SCHEDULE_SEND,
    SCHEDULE_RECEIVE,
    SCHEDULE_COLLECTIVE,
    SCHEDULE_REPEAT,
    SCHEDULE_KINDS
};
extern const char *const schedule_kind_names[SCHEDULE_KINDS + 1]; /* ends with NULL */

/* Bytes of a collective's vector: what every member has after an all-reduce, broadcast or all-gather; before a
 * reduce-scatter, reduce or all-to-all; at the root for gather and scatter. An all-to-all of n ranks sends amount / n
 * to each, and amount is rounded up to a multiple of n; with shares (shares.h) amount is the mean of its members.
 * Gather and scatter cut the vector into bytes; the other kinds round it up to elements of 4 bytes. Barrier: 0. */

/* An operation. 32 bytes. */
struct schedule_operation {
    uint64_t amount;     /* ps, bytes or iterations, by kind */
    uint32_t peer;       /* send, receive: rank, or SCHEDULE_ANY; collective: group; repeat: operations of the body */
    uint32_t tag;        /* send, receive; SCHEDULE_ANY: any. Collective: the root's position in the group; all-to-all:
                            0, or 1 + number of its shares. Compute: 0, or SCHEDULE_COMMUNICATES */
    uint32_t follower;   /* index of its first follower in the rank's followers */
    uint32_t waits;      /* number of operations that it waits for */
    uint32_t name;       /* offset in the names, or SCHEDULE_NO_NAME */
    uint8_t kind : 4;    /* enum schedule_kind */
    uint8_t purpose : 4; /* number in the head's purposes, or SCHEDULE_NO_PURPOSE */
    uint8_t stream;      /* stream of a compute operation; of a message: that of its overhead */
    uint8_t collective;  /* enum hx_collective_kind */
    uint8_t algorithm;   /* of a collective: enum hx_algorithm (base/options/runs.h) */
};

/* A compute operation that takes the time of communication, in estimates: it counts as communication. */
enum { SCHEDULE_COMMUNICATES = 1 };

/* A follower of an operation X: number of an operation that waits for X << 1, plus 1 if only for the start of X. */
enum { SCHEDULE_AFTER_START = 1 };

/* A purpose says what communication is for, as "tensor" or "data": reports sum times by purpose. */
struct schedule_head {
    char magic[8];
    uint32_t version, ranks;
    uint64_t operations, followers, groups, members, names; /* numbers of elements; names: bytes */
    uint64_t shares, weights;                               /* numbers of tables, and of weights in all of them */
    uint64_t samples, tokens;                               /* that an iteration trains; 0: not known */
    uint32_t purpose[SCHEDULE_MOST_PURPOSES];               /* offsets in the names; unused ones: SCHEDULE_NO_NAME */
    uint32_t dimension[SCHEDULE_MOST_DIMENSIONS]; /* sizes of the ranks' logical grid, rank = i + A * (j + B * k); their
                                                     product is `ranks`; behind the last one 0. [0] 0: no grid */
    uint32_t iterations;                          /* of training that the schedule contains, 1 and up */
    uint32_t in_order; /* 1: its format says that sends of a rank leave one after the other (GOAL); else 0 */
};

/* Invariant: rank r has operations first[r] .. first[r + 1] - 1 and followers first_follower[r] .. first_follower[r +
 * 1]
 * - 1. */
struct schedule {
    const struct schedule_head *head;
    const uint64_t *first;          /* [ranks + 1] */
    const uint64_t *first_follower; /* [ranks + 1] */
    const struct schedule_operation *operation;
    const uint32_t *follower;
    const uint64_t *first_member; /* [groups + 1] */
    const uint32_t *member;       /* ranks, in the group's order */
    const uint64_t *first_weight; /* [shares + 1] */
    const uint32_t *weight;       /* of pairs of members: tables of shares.h */
    const char *names;            /* zero-terminated strings; the first is empty */
    size_t bytes;
    bool mapped_file;
};

static inline uint32_t schedule_ranks(const struct schedule *s)
{
    return s->head->ranks;
}

static inline uint32_t schedule_count(const struct schedule *s, uint32_t rank)
{
    return (uint32_t)(s->first[rank + 1] - s->first[rank]);
}

static inline const struct schedule_operation *schedule_at(const struct schedule *s, uint32_t rank, uint32_t number)
{
    return &s->operation[s->first[rank] + number];
}

/* Writes the followers of an operation; returns their number. */
static inline uint32_t schedule_followers(const struct schedule *s, uint32_t rank, uint32_t number,
                                          const uint32_t **list)
{
    const struct schedule_operation *o = schedule_at(s, rank, number);
    uint64_t every = s->first_follower[rank + 1] - s->first_follower[rank];
    uint32_t followers_end = number + 1 < schedule_count(s, rank) ? o[1].follower : (uint32_t)every;
    *list = s->follower + s->first_follower[rank] + o->follower;
    return followers_end - o->follower;
}

static inline uint32_t schedule_group_size(const struct schedule *s, uint32_t group)
{
    return (uint32_t)(s->first_member[group + 1] - s->first_member[group]);
}

static inline const uint32_t *schedule_group(const struct schedule *s, uint32_t group)
{
    return s->member + s->first_member[group];
}

/* The root of a collective: its position in the group; 0 if it has none. */
static inline uint32_t schedule_root(const struct schedule_operation *o)
{
    return o->collective == HX_COLLECTIVE_ALL_TO_ALL ? 0 : o->tag;
}

/* The shares of an all-to-all; NULL: equal, or no all-to-all. */
static inline const uint32_t *schedule_shares(const struct schedule *s, const struct schedule_operation *o)
{
    return o->collective == HX_COLLECTIVE_ALL_TO_ALL && o->tag ? s->weight + s->first_weight[o->tag - 1] : NULL;
}

/* Name of an operation; "" if it has none. */
static inline const char *schedule_name(const struct schedule *s, const struct schedule_operation *o)
{
    return s->names + o->name;
}

/* Name of an operation's purpose; "" if it has none. */
static inline const char *schedule_purpose(const struct schedule *s, const struct schedule_operation *o)
{
    return s->names + s->head->purpose[o->purpose];
}

/* Number of the next operation outside of this one's body: number + 1 unless it is a repeat. */
static inline uint32_t schedule_next(const struct schedule *s, uint32_t rank, uint32_t number)
{
    const struct schedule_operation *o = schedule_at(s, rank, number);
    return number + 1 + (o->kind == SCHEDULE_REPEAT ? o->peer : 0);
}

/* Maps a file that schedule_write() wrote, after checking every number in it. Returns NULL and sets *problem. */
struct schedule *schedule_open(const char *path, struct hx_problem *problem);
/* Whether a file that begins with these bytes is one of schedule_write(). */
bool schedule_is_file(const uint8_t *begin, size_t bytes);
/* Writes the file, whole or not at all (base/output.h). */
void schedule_write(const struct schedule *s, const char *path);
/* NULL is allowed. */
void schedule_close(struct schedule *s);

#endif
