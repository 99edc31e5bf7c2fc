/* executor.h - executes the operations of one rank of a schedule.
 *
 * An executor has no network and no clock. Its caller has both, and passes times in picoseconds that never decrease:
 *
 *     executor_start      once
 *     executor_settle     when no more messages arrive at this time: free streams take operations
 *     executor_next       -> a message to send: give it to the network, then executor_take
 *     executor_arrived    a message from another rank arrived whole
 *     executor_sent       the receiver acknowledged a message that was taken
 *     executor_wake       -> the time of the next executor_settle, if no message arrives earlier
 *
 * Order at one time: all that has no duration happens first. Then each free stream takes the operation that was ready
 * first; of several, the one with the lowest number.
 *
 * Kinds of messages, a field of their tags (executor_parts.h):
 *
 *     eager       a send of up to `eager` bytes. The send ends when its overhead ends
 *     request     announces a longer send, 0 bytes; an answer follows when a receive is matched, then the data. The
 *     answer      send ends when the data has arrived (rendezvous)
 *     data
 *     collective  of one of several collectives in progress (include/hxmesh/collective.h)
 *
 * Matching: eager messages and requests of a source are matched in the order of sending, each when it and all before it
 * have arrived. A message that arrives before its receive waits, and is counted. */
#ifndef SCHEDULE_EXECUTOR_H
#define SCHEDULE_EXECUTOR_H

#include "hxmesh/collective.h"
#include "hxmesh/endpoint.h"
#include "schedule/groups.h"
#include "schedule/schedule.h"

#include <stdatomic.h>

#define EXECUTOR_NEVER UINT64_MAX

enum { EXECUTOR_BYTES = 40 /* memory of an operation without its entry, roughly */ };

enum { EXECUTOR_WINDOW = HX_MOST_PEER_WINDOW /* messages in flight to one peer, at most */ };

/* Costs of hosts, as in LogGOPS. */
struct executor_costs {
    uint64_t overhead_ps;    /* o: of each message, at the sender and at the receiver */
    double overhead_byte_ps; /* O: of each further byte */
    uint64_t eager;          /* bytes of the longest eager message; SCHEDULE_MOST_BYTES: all are */
    double compute_scale;    /* factor of all computing times */
    double sum_rate;         /* GB/s at which arrivals are added in reductions; 0: in no time */
    double jitter;           /* standard deviation of computing times, as a share: lognormal, mean as without */
    uint64_t seed;           /* of the jitter: a time depends on rank, operation and how often that has begun */
    const double *slowness;  /* [ranks]: factor of each rank's computing times; NULL: 1 */
};
extern const struct executor_costs executor_costs_default; /* no overhead, all eager, factor 1 */

/* How a collective operation is carried out. The order of the engine's group may differ from that of the schedule's. */
struct executor_choice {
    struct hx_collective_config config; /* of position 0 (shares.h); the executor lowers its window to what brief tags
                                           allow */
    const uint32_t *member;             /* [size]: position in the schedule's group, by position; NULL: equal */
    const uint32_t *position;           /* [size]: position, by position in the schedule's group; NULL: equal */
};

/* An operation that ended; of a repeat, also each iteration. */
struct executor_entry {
    uint64_t begin, end; /* ps from the start of the run */
    uint32_t operation;
    uint32_t cause;  /* what it waited for last. source == own rank: index of an entry; else: the sender's operation */
    uint32_t source; /* rank of the cause; EXECUTOR_NO_CAUSE: none, it began with the run */
    uint32_t iteration; /* of a repeat: the iteration that ended, from 0 */
};
enum { EXECUTOR_NO_CAUSE = UINT32_MAX };

/* Communication of a rank for one purpose. */
struct executor_purpose {
    uint64_t busy_ps;    /* time in which a send, receive or collective for it was in progress */
    uint64_t hidden_ps;  /* of it, time in which a stream computed */
    uint64_t exposed_ps; /* share of the rank's exposed time: purposes in progress at once share it equally */
    uint64_t messages, bytes;
};

/* What happened at a rank. In shared memory; only its executor writes it. */
struct executor_result {
    _Atomic uint64_t sent, arrived; /* messages of all kinds; equal sums over all ranks: none is in flight */
    _Atomic uint32_t active;        /* 1: may go on without a message; 0: waits for one, or is done */
    uint32_t failed;                /* 1 + a collective's operation that got a wrong message; 0: none */
    _Atomic uint64_t ended;         /* operations, with repeats */
    _Atomic uint64_t open;          /* operations in progress */
    uint64_t end_ps;                /* end of the last operation */
    uint64_t computing_ps;          /* time in which a stream computed */
    uint64_t exposed_ps;            /* time in which none computed, and messages or collectives were in progress */
    uint64_t messages, bytes;       /* of sends and collectives */
    uint64_t early;                 /* messages that came before their receive */
    bool done;                      /* every operation ended */
    bool late;                      /* an operation would end after the plan's latest time: it never ends */
    uint32_t blocked;               /* if not: the first operation in progress */
    uint32_t blocked_count;         /* operations in progress */
    uint64_t entries;               /* written; as many of the last are kept as fit */
    struct executor_purpose purpose[SCHEDULE_MOST_PURPOSES]; /* by number; sums are exposed_ps, messages, bytes */
};

/* A collective of a rank. */
struct executor_collective {
    uint32_t rank, group;
    uint32_t ordinal;   /* of the collective in the group, modulo what fits into a tag */
    uint32_t operation; /* of the rank */
};

/* What a rank sent in a collective. */
struct executor_carried {
    uint64_t messages, packets, bytes;
};

/* A module that decides which collectives are carried out without messages (workload/fast_forward.h). The executor that
 * something happens to calls it; it may call executor_skip(), executor_carry() and executor_ask() of any. */
struct executor_skips {
    /* A collective begins at a rank. Returns true if it is held: no message goes until executor_carry(). */
    bool (*begins)(void *of, const struct executor_collective *c, uint64_t now);
    /* The time of executor_ask() has come; the collective is held. */
    void (*asked)(void *of, const struct executor_collective *c, uint64_t now);
    /* It ended at the rank. */
    void (*ended)(void *of, const struct executor_collective *c, uint64_t now, const struct executor_carried *carried);
    /* A message with bytes of a send begins to go, or was acknowledged. */
    void (*message)(void *of, uint32_t from, uint32_t to, bool begins, uint64_t now);
    void *of;
};

/* Common to all ranks; outlives the executors. */
struct executor_plan {
    const struct schedule *schedule;
    struct executor_costs costs;
    uint64_t latest_ps;      /* no operation of a stream ends later, so its run goes on without it; 0: no limit */
    const atomic_bool *stop; /* the run is to end: operations without duration end no more; NULL: never */
    uint32_t window; /* messages in flight to one peer; above EXECUTOR_WINDOW only on a network that keeps order */
    bool in_order;   /* sends go to the network in the order in which they began, to whatever rank */
    const struct executor_choice *(*choose)(const void *of, const struct schedule_operation *o); /* of a collective */
    const void *of;                     /* first argument of choose() */
    const struct executor_skips *skips; /* NULL: all messages go */
    struct executor_result *result;     /* [ranks] */
    struct executor_entry *entry;       /* entries of rank r begin at first_entry[r]; NULL: not kept */
    const uint64_t *first_entry;        /* [ranks + 1] */
    const struct schedule_groups *groups;
};

struct executor_message {
    uint32_t to, tag;
    uint64_t bytes;
};

struct executor;

/* Never returns NULL: running out of memory ends the program. */
struct executor *executor_new(const struct executor_plan *plan, uint32_t rank);
/* Sets result->blocked and blocked_count. Before executor_start() they belong to an earlier executor of the rank, and
 * stay. */
void executor_write_blocked(struct executor *e);
void executor_free(struct executor *e);

void executor_start(struct executor *e, uint64_t now);

void executor_settle(struct executor *e, uint64_t now);

/* Finds the next message to send. Returns false if there is none. */
bool executor_next(struct executor *e, uint64_t now, struct executor_message *m);
/* The network took the message of the last executor_next(). */
void executor_take(struct executor *e);
/* number: place of the message among all from this source, from 0. Returns false if no executor sent it, or if
 * EXECUTOR_WINDOW messages or more overtook one. */
bool executor_arrived(struct executor *e, uint64_t now, uint32_t from, uint32_t number, uint32_t tag);
bool executor_sent(struct executor *e, uint64_t now, uint32_t to, uint32_t tag);

/* Whether messages with this tag are matched in the order of sending. */
bool executor_matches(uint32_t tag);

/* End of the next operation on a stream, ps; EXECUTOR_NEVER: none. */
uint64_t executor_wake(const struct executor *e);
/* Whether it can only go on when a message arrives or is acknowledged. */
bool executor_is_quiet(const struct executor *e);

/* ---- collectives without messages ---- */

/* A held collective ends at a time that has not passed, as if the rank had sent so much. A later call replaces an
 * earlier one. */
void executor_skip(struct executor *e, uint32_t group, uint32_t ordinal, uint64_t at,
                   const struct executor_carried *carried);
/* A held collective begins at a time with a share of its vector, as if the rank had sent so much of the rest. */
void executor_carry(struct executor *e, uint32_t group, uint32_t ordinal, uint64_t at, double share,
                    const struct executor_carried *carried);
/* The module is asked about a held collective at a time. A later call replaces an earlier one; the end of the holding
 * cancels it. */
void executor_ask(struct executor *e, uint32_t group, uint32_t ordinal, uint64_t at);
/* What the rank has sent so far in a collective in progress. */
struct executor_carried executor_has_carried(const struct executor *e, uint32_t group, uint32_t ordinal);

/* ---- a state that repeats (base/state_walk.h) ---- */

struct state_walk;
struct executor_mark;

/* Whether no message or collective of this rank is in progress, and nothing happens before the next time. Only then it
 * may be walked. */
bool executor_rests(const struct executor *e);
/* Visits all that decides what the rank does later, and its counts; not the iterations of repeats. */
void executor_walk(struct executor *e, struct state_walk *w);
/* Notes iterations and entries; free() it. It has so many numbers. */
struct executor_mark *executor_mark(const struct executor *e);
uint64_t executor_mark_values(const struct executor *e);
/* The most periods by which the rank may go on from now if its state at the mark was alike, a period ago. Each repeat
 * has an iteration left then, no operation ends too late, and entries of a period are kept. */
uint64_t executor_periods(const struct executor *e, const struct executor_mark *mark, uint64_t now, uint64_t period_ps);
/* Goes on by some periods: iterations, and the entries of them. The caller changes the fields of the walk, after that.
 * Returns the iterations, of all repeats. */
uint64_t executor_go_on(struct executor *e, const struct executor_mark *mark, uint64_t periods, uint64_t period_ps);

#endif
