/* executor_parts.h - what the files of the executor (executor.h) share.
 *
 *     executor.c              operations begin and end; repeats; the interface
 *     executor_time.c         time that computes or is exposed, and communication by purpose
 *     executor_streams.c      operations that occupy a stream
 *     executor_match.c        receives and the messages for them
 *     executor_messages.c     messages to and from each peer, in order
 *     executor_collectives.c  collectives begin, end, send and receive
 *     executor_instances.c    collectives in progress: found by group and ordinal; which of them may send
 *     executor_sums.c         sums of collectives take time: what depends on them waits
 *     executor_skip.c         collectives without messages
 *     executor_repeat.c       a state that repeats goes on by whole periods
 *
 * A tag:
 *
 *     0 | kind 2 | - | sender's operation 28           message of a send
 *     1 | group, count 18 | tag of the engine 13       message of a collective: group among those of the sender, in as
 *                                                      many bits as any rank needs (groups.h); number of the collective
 *                                                      in the group, modulo what the other bits hold */
#ifndef SCHEDULE_EXECUTOR_PARTS_H
#define SCHEDULE_EXECUTOR_PARTS_H

#include "base/table.h"
#include "schedule/executor.h"
#include "schedule/ordinals.h"

enum { NONE = UINT32_MAX };

/* Values of executor.state beside the number of operations that are waited for. */
enum { STATE_ENDED = UINT32_MAX, STATE_BEGUN = UINT32_MAX - 1 };

enum message_kind { MESSAGE_EAGER, MESSAGE_REQUEST, MESSAGE_ANSWER, MESSAGE_DATA };
enum { TAG_COLLECTIVE_BIT = 31, TAG_KIND_SHIFT = 29, TAG_ORDINAL_SHIFT = HX_COLLECTIVE_BRIEF_BITS };
_Static_assert(1 << (TAG_COLLECTIVE_BIT - TAG_ORDINAL_SHIFT) > SCHEDULE_MOST_GROUPS_OF_RANK,
               "all groups have a number");
_Static_assert(SCHEDULE_MOST_OPERATIONS <= 1 << TAG_KIND_SHIFT, "all operations have a number");

/* Singly linked list of indices; first NONE: empty. */
struct list {
    uint32_t first, last;
};

/* A message that waits for the network. */
struct outgoing {
    uint32_t to; /* rank */
    uint32_t tag;
    uint32_t next; /* in the list of the peer, of all, or of free elements */
    uint64_t bytes;
};

/* A message or request that came before its receive. */
struct early {
    uint32_t source, tag; /* tag of the send */
    uint32_t operation;   /* of the sender */
    bool request;
    uint32_t next;           /* in the list of the bucket or of free elements */
    uint32_t earlier, later; /* neighbours in the list of all, by arrival */
};

/* Receives and messages of one source and tag. It stays when both lists are empty. */
struct bucket {
    uint64_t key;       /* source << 32 | tag */
    struct list posted; /* receives without a message */
    struct list early;  /* messages without a receive: elements of executor.early */
};

/* A matched request that waits for its data. */
struct awaited {
    uint32_t source, operation; /* the sender's */
    uint32_t receive;           /* own operation */
};

/* Invariant: in_order is the number of the next message in order; those in `held` arrived before it. */
struct peer {
    uint32_t rank, in_order;
    struct list out;     /* elements of `outgoing`; empty if messages go in order */
    uint32_t next;       /* in executor.sending */
    uint32_t in_flight;  /* messages that are not acknowledged */
    bool queued;         /* in executor.sending */
    bool open;           /* in executor.open */
    struct list blocked; /* collectives that wait for the window: elements of executor.note */
    struct list held;    /* elements of executor.note */
    uint8_t holds;       /* of them */
};

struct found_peer {
    uint64_t key; /* rank */
    uint32_t index;
};

struct stream {
    uint64_t until;      /* ps: end of `current` */
    uint32_t current;    /* operation; NONE: free */
    uint32_t last_entry; /* of the operation before; EXECUTOR_NO_CAUSE: none */
    uint32_t *waiting;   /* heap of operations by the time of readiness, then by number */
    size_t count, room;
};

/* An element of a list: a message that arrived before its collective began (from, tag), one that overtook another
 * (number, tag), or a collective that waits for the window of a peer (instance, queue). */
struct note {
    struct instance *instance;
    union {
        uint32_t from;   /* rank */
        uint32_t number; /* among the messages of its source */
    };
    uint32_t tag;
    uint32_t next; /* in its list or of free elements */
    uint8_t queue; /* of the engine */
};

/* A collective in progress, or one that has not begun but has messages. Its address stays. */
struct instance {
    uint32_t group;        /* of the schedule */
    uint32_t group_number; /* of the group, among those of this rank */
    uint32_t ordinal;      /* of the collective in the group, modulo what fits into a tag */
    uint32_t operation;    /* of this rank; NONE: it has not begun */
    uint32_t refused;      /* queues of the engine to peers with a full window, bits */
    struct list early;     /* messages that arrived before it began: elements of executor.note */
    const struct executor_choice *choice;
    struct hx_collective engine;
    void *state;                    /* of the engine */
    uint64_t summed;                /* ps: end of its latest sum; 0: none */
    struct instance *before, *next; /* in the list of those that may send; NULL: it is an end */
    bool listed;                    /* in that list */
    bool held;                      /* it has no engine: no message goes */
    struct executor_carried carried;
};

/* A message that was taken from a collective while sums of it are in progress, or its end. */
struct delayed {
    uint64_t until; /* ps */
    struct instance *of;
    struct executor_message message;
};

/* In the order of `until`; of equal ones, of adding. */
struct delays {
    struct delayed *item; /* [count] */
    size_t count, room;
};

enum skip_action { SKIP_ENDS, SKIP_CARRIES, SKIP_ASKS };

/* What happens to a held collective at a time. */
struct skip {
    uint64_t at; /* ps */
    struct instance *instance;
    enum skip_action action;
    double share; /* of its vector that is carried out */
    struct executor_carried carried;
};

/* In the order of `at`. */
struct skips {
    struct skip *item; /* [count] */
    size_t count, room;
};

struct found_instance {
    uint64_t key; /* group << 32 | ordinal */
    struct instance *instance;
};

struct executor {
    const struct executor_plan *plan;
    const struct schedule *s;
    struct executor_result *result;
    struct executor_entry *entry; /* [room], a ring; NULL: entries are not kept */
    uint64_t room;
    uint32_t rank, count;
    uint64_t now; /* ps */

    /* Tables by operation, [count] */
    uint32_t *state;       /* number of operations that it waits for, or STATE_... */
    uint32_t *next;        /* successor in its list; of a repeat: operations of its body that have not ended */
    uint32_t *begun_times; /* how often computing has begun; NULL without jitter */
    uint32_t *cause;       /* as in struct executor_entry */
    uint32_t *source;      /* rank of the cause */
    uint64_t *begin;       /* ps: begin; until it begins, when it became ready */
    uint64_t *ready_at;    /* ps: ready for its stream; the same array as `begin` if messages have no overhead */
    uint32_t *body;        /* innermost repeat around it, NONE: none; NULL: the rank has no repeats */
    uint64_t *iteration;   /* of a repeat: iterations that ended; NULL: no repeats */
    uint32_t left;         /* operations outside of repeats that have not ended */
    bool started;

    struct list ready;                             /* operations that begin now */
    unsigned computing, communicating;             /* operations in progress */
    unsigned purpose_open[SCHEDULE_MOST_PURPOSES]; /* of `communicating`, by purpose */
    uint32_t purposes;                             /* those with operations in progress, bits */
    uint64_t drawn;                                /* factors of jitter so far: no state is like an earlier one */
    uint64_t counted_until;                        /* ps: end of the counted computing and exposed time */

    struct stream *stream; /* [streams]: those that operations occupy, by number */
    unsigned streams;
    uint8_t stream_at[SCHEDULE_STREAMS]; /* by number: index in `stream` */
    bool stream_free;                    /* a free stream has a waiting operation */

    struct hx_table buckets; /* struct bucket */
    struct list wild;        /* posted receives with a wildcard */
    uint64_t *post_order;    /* [count]: number of a posted receive, from 0; NULL: the rank has no wildcards */
    uint64_t posts;          /* receives posted */
    struct early *early;
    size_t early_room, early_used;
    uint32_t early_free, early_first, early_last;
    struct awaited *awaited;
    size_t awaited_count, awaited_room;

    struct peer *peer; /* [peer_of.count], in the order of adding */
    size_t peer_room;
    struct hx_table peer_of; /* struct found_peer */
    struct list sending;     /* peers with a message that may go, and an open window */
    struct list line;        /* elements of `outgoing`, if messages go in order */
    struct outgoing *outgoing;
    size_t outgoing_room, outgoing_used;
    uint32_t outgoing_free;

    struct hx_table instances;                   /* struct found_instance: collectives in progress */
    struct instance *first_sender, *last_sender; /* list of those that may send; they take turns */
    struct note *note;
    size_t note_room, note_used;
    uint32_t note_free;
    uint32_t *open; /* [open_count]: ranks of peers that got an open window while collectives wait for it */
    size_t open_count, open_room;
    struct schedule_ordinals ordinals;
    uint64_t summed;               /* ps: end of the latest sum of any collective; they come one after the other */
    struct delays delayed, ending; /* messages, and ends of collectives, that wait for sums */
    struct skips skips;

    struct {
        bool collective, delayed; /* delayed: one that waited for sums */
        uint32_t peer;            /* index */
        struct instance *instance;
        struct hx_collective_send send;
    } offered; /* the message of the last executor_next() */
};

static inline const struct schedule_operation *operation_at(const struct executor *e, uint32_t number)
{
    return schedule_at(e->s, e->rank, number);
}

/* ---- executor.c ---- */

/* Sets what let an operation begin or end: operation `cause` of rank `source`, or entry `cause` of this rank. */
void executor_set_cause(struct executor *e, uint32_t number, uint32_t source, uint32_t cause);
/* The operation has begun: releases what waits for its start. */
void executor_begun(struct executor *e, uint32_t number);
/* The operation has ended: writes its entry, releases what waits for its end. */
void executor_end(struct executor *e, uint32_t number);

/* ---- executor_time.c ---- */

/* An operation begins, change 1, or ends, change -1. */
void time_count(struct executor *e, uint32_t number, int change);
/* A message of an operation goes out. */
void time_count_messages(struct executor *e, uint32_t number, uint64_t messages, uint64_t bytes);

/* ---- executor_streams.c ---- */

/* Overhead of a message, ps. */
uint64_t executor_overhead(const struct executor *e, uint64_t bytes);
/* Adds an operation to its stream's heap. */
void stream_add(struct executor *e, uint32_t number);
/* Free streams take operations. Returns whether any did. */
bool streams_take(struct executor *e);
/* Ends the first operation that a stream completes up to `now`. Returns false if there is none. */
bool streams_end_one(struct executor *e, uint64_t now);
/* End of the first operation on a stream, ps; EXECUTOR_NEVER: none. */
uint64_t streams_wake(const struct executor *e);
/* An operation has left its stream. */
void executor_stream_done(struct executor *e, uint32_t number);

/* ---- executor_match.c ---- */

void match_open(struct executor *e);
void match_close(struct executor *e);
/* Posts a receive; it takes an early message, if one fits. */
void match_post(struct executor *e, uint32_t number);
/* The next message or request in order: a posted receive takes it, or it becomes early. */
void match_message(struct executor *e, uint32_t source, uint32_t operation, bool request);
/* The data of a matched request arrived. Returns false if no receive awaits it. */
bool match_data(struct executor *e, uint32_t source, uint32_t operation);
/* The message of a receive arrived. */
void executor_received(struct executor *e, uint32_t number);

/* ---- executor_messages.c ---- */

void messages_close(struct executor *e);
/* Index of a rank's peer, which stays. It is added if it is new, which moves all peers. */
uint32_t messages_peer(struct executor *e, uint32_t rank);
void messages_send(struct executor *e, uint32_t to, enum message_kind kind, uint32_t operation, uint64_t bytes);
bool messages_next(struct executor *e, struct executor_message *m);
void messages_take(struct executor *e);
/* A message arrived here, or at its receiver. Return false if no executor of this schedule sent it. */
bool messages_arrived(struct executor *e, uint32_t from, uint32_t number, uint32_t tag);
bool messages_sent(struct executor *e, uint32_t to, uint32_t tag);

/* ---- executor_collectives.c ---- */

void collectives_close(struct executor *e);
void collective_begin(struct executor *e, uint32_t number);
bool collective_next(struct executor *e, struct executor_message *m);
void collective_take(struct executor *e);
bool collective_arrived(struct executor *e, uint32_t from, uint32_t tag);
bool collective_sent(struct executor *e, uint32_t to, uint32_t tag);

/* Begins a held collective with a share of its vector. */
void collective_carry_out(struct executor *e, struct instance *c, double share);

/* All has arrived, was added and is acknowledged. */
void collective_end(struct executor *e, struct instance *c);

/* ---- executor_sums.c ---- */

void sums_close(struct executor *e);
/* A message arrived for a collective: notes when what it brings is added. */
void sums_note(struct executor *e, struct instance *c, uint32_t tag);
/* Whether sums of a collective are in progress. */
bool sums_run(const struct executor *e, const struct instance *c);
/* Keeps a message, or the end, of a collective until its sums have ended. */
void sums_delay_message(struct executor *e, struct instance *c, const struct executor_message *m);
void sums_delay_end(struct executor *e, struct instance *c);
/* Finds a message that has waited long enough; takes it. */
bool sums_next(const struct executor *e, struct executor_message *m);
void sums_take(struct executor *e);
/* Ends the first collective with all sums done up to `now`. Returns false if there is none. */
bool sums_end_one(struct executor *e, uint64_t now);
/* Times of the next end, and of the next message or end, ps; EXECUTOR_NEVER: none. */
uint64_t sums_end(const struct executor *e);
uint64_t sums_wake(const struct executor *e);

/* ---- executor_skip.c ---- */

void skips_close(struct executor *e);
/* A collective begins: whether it is held. */
bool skip_begins(struct executor *e, struct instance *c);
void skip_ended(struct executor *e, const struct instance *c);
/* A message with bytes to another rank begins to go, or was acknowledged. */
void skip_message(const struct executor *e, uint32_t to, bool begins);
/* Does what is due first up to `now`. Returns false if nothing is. */
bool skips_take_one(struct executor *e, uint64_t now);
/* ps; EXECUTOR_NEVER: none. */
uint64_t skips_next(const struct executor *e);

/* ---- executor_instances.c ---- */

void instances_close(struct executor *e);
struct instance *instance_find(const struct executor *e, uint32_t group, uint32_t ordinal); /* NULL: none */
struct instance *instance_add(struct executor *e, uint32_t group, uint32_t ordinal);
void instance_remove(struct executor *e, struct instance *c);

void note_add(struct executor *e, struct list *list, struct note note);
struct note note_take(struct executor *e, struct list *list);

/* The collective may send: it comes last, if it is not listed. */
void instance_list(struct executor *e, struct instance *c);
void instance_unlist(struct executor *e, struct instance *c);
/* The window of a peer is full: the collective does not ask for this queue until it opens. */
void instance_block(struct executor *e, struct instance *c, uint32_t peer, uint8_t queue);
/* A message to a peer was acknowledged. */
void instances_open(struct executor *e, uint32_t peer);
/* Lists one collective that waits for an open window, first of all. One at a time: it may fill the window. */
void instances_unblock(struct executor *e);
/* Whether some collective may have a message to send. */
bool instances_may_send(const struct executor *e);

#endif
