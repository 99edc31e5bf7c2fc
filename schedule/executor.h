/* executor.h - carries out one rank's part of a schedule: what begins, what is sent, what ends.
 *
 * An executor knows neither network nor clock. The program that carries its messages calls it, with times in
 * picoseconds that never go back:
 *
 *     executor_start      once
 *     executor_settle     when nothing more happens at this time: free streams take operations
 *     executor_next       -> a message that may go: hand it to the network, then executor_take
 *     executor_arrived    all bytes of a message from another rank are here
 *     executor_sent       the receiver has all of a message that was taken
 *     executor_wake       when to call executor_settle again, if nothing happens before
 *
 * Order of things at one time: everything without duration first, then each free stream takes the operation that was
 * ready first (ties: the lower number).
 *
 * Messages on the network, told apart by their tags (executor_parts.h):
 *
 *     eager       a send of up to `eager` bytes. The send ends when its overhead ends
 *     request     announces a longer send, 0 bytes; an answer follows when a receive is matched, then the data. The
 *     answer      send ends when the data has arrived (rendezvous)
 *     data
 *     collective  of one of several collectives in progress (include/hxmesh/collective.h, schedule/direct.h)
 *
 * Matching: sends and requests from a source are matched in the order in which they were sent, each when it and all
 * before it are here. A message that comes before its receive waits, and is counted. */
#ifndef SCHEDULE_EXECUTOR_H
#define SCHEDULE_EXECUTOR_H

#include "hxmesh/collective.h"
#include "schedule/groups.h"
#include "schedule/schedule.h"

#include <stdatomic.h>

#define EXECUTOR_NEVER UINT64_MAX

enum { EXECUTOR_BYTES = 40 /* for each operation, without its entry; roughly */ };

enum { EXECUTOR_WINDOW = 4 /* messages that may come out of order (HX_PEER_WINDOW) */ };

/* Of the hosts, as LogGOPS has them. */
struct executor_costs {
    uint64_t overhead_ps;    /* o: of each message, at the sender and at the receiver */
    double overhead_byte_ps; /* O: of each further byte */
    uint64_t eager;          /* bytes of the longest eager message; SCHEDULE_MOST_BYTES: all are */
    double compute_scale;    /* factor of all computing times */
};
extern const struct executor_costs executor_costs_default; /* no overhead, all eager, factor 1 */

/* How a collective operation is carried out. */
struct executor_choice {
    bool direct;                        /* by schedule/direct.h */
    struct hx_collective_config config; /* else, for place 0 of its grid */
    const uint32_t *position;           /* [columns * rows]: position in the group of each place; NULL: the same */
    const uint32_t *place;              /* [columns * rows]: place of each position; NULL: the same */
};

/* An operation that was carried out. */
struct executor_entry {
    uint64_t begin, end; /* ps from the start of the run */
    uint32_t operation;
    uint32_t cause;     /* what let it end or begin: index of an entry of the same rank, or a sender's operation */
    uint32_t source;    /* rank of the cause; EXECUTOR_NO_CAUSE: it began with the run */
    uint32_t iteration; /* of a repeat: the iteration that ended, from 0 */
};
enum { EXECUTOR_NO_CAUSE = UINT32_MAX };

/* What happened at a rank: shared memory, written by its executor alone. */
struct executor_result {
    _Atomic uint64_t sent, arrived; /* messages of any kind, for finding the end of a run */
    _Atomic uint32_t active;        /* it is not waiting for a message */
    uint32_t failed;                /* 1 + the operation of a collective that got a message that is not its own */
    _Atomic uint64_t ended;         /* operations, with repeats */
    _Atomic uint64_t open;          /* operations in progress */
    uint64_t end_ps;                /* of the last operation that ended */
    uint64_t computing_ps;          /* some stream computed */
    uint64_t exposed_ps;            /* no stream computed, and messages or collectives were in progress */
    uint64_t messages, bytes;       /* of sends and collectives */
    uint64_t early;                 /* messages that came before their receive */
    bool done;                      /* every operation ended */
    uint32_t blocked;               /* if not: an operation that waits */
    uint32_t blocked_count;
    uint64_t entries; /* written so far; the last `room` are kept */
};

/* Common to all ranks; outlives the executors. */
struct executor_plan {
    const struct schedule *schedule;
    struct executor_costs costs;
    uint32_t window; /* messages to one peer in flight; above EXECUTOR_WINDOW only if none comes out of order */
    const struct executor_choice *(*choose)(const void *of, const struct schedule_operation *o);
    const void *of;
    struct executor_result *result; /* [ranks] */
    struct executor_entry *entry;   /* entries of rank r begin at first_entry[r]; NULL: none are kept */
    const uint64_t *first_entry;    /* [ranks + 1] */
    const struct schedule_groups *groups;
};

struct executor_message {
    uint32_t to, tag;
    uint64_t bytes;
};

struct executor;

/* Neither returns NULL: running out of memory ends the program. */
struct executor *executor_new(const struct executor_plan *plan, uint32_t rank);
/* Writes the result's fields about operations that wait, unless it never started: then they are a predecessor's. */
void executor_note(struct executor *e);
void executor_free(struct executor *e);

void executor_start(struct executor *e, uint64_t now);

void executor_settle(struct executor *e, uint64_t now);

/* Finds a message that may go. Returns false if there is none. */
bool executor_next(struct executor *e, uint64_t now, struct executor_message *m);
/* The network took the message of the last executor_next(). */
void executor_take(struct executor *e);
/* number: of the message among all from this source, from 0; up to EXECUTOR_WINDOW may overtake one. Returns false if
 * no executor sent it. */
bool executor_arrived(struct executor *e, uint64_t now, uint32_t from, uint32_t number, uint32_t tag);
bool executor_sent(struct executor *e, uint64_t now, uint32_t to, uint32_t tag);

/* Whether messages with this tag take effect in the order of sending. */
bool executor_matches(uint32_t tag);

/* Time of the next thing that happens by itself; EXECUTOR_NEVER: none. */
uint64_t executor_wake(const struct executor *e);
/* Whether it does nothing until a message arrives or is acknowledged. */
bool executor_is_quiet(const struct executor *e);
bool executor_is_done(const struct executor *e);

#endif
