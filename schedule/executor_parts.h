/* executor_parts.h - what the files of the executor (executor.h) share.
 *
 *     executor.c              operations begin and end; repeats; the interface
 *     executor_streams.c      operations that occupy a stream
 *     executor_match.c        receives and the messages for them
 *     executor_messages.c     messages to and from each peer, in order
 *     executor_collectives.c  collectives in progress
 *
 * A tag:
 *
 *     0 | kind 2 | - | sender's operation 28           message of a send
 *     1 | group 7 | count 11 | tag of the engine 13    message of a collective: group among those of the sender, number
 *                                                      of the collective in the group, modulo 2^11 */
#ifndef SCHEDULE_EXECUTOR_PARTS_H
#define SCHEDULE_EXECUTOR_PARTS_H

#include "schedule/direct.h"
#include "schedule/executor.h"
#include "schedule/ordinals.h"

enum { NONE = UINT32_MAX };

/* States of an operation, in place of the number of those that it waits for. */
enum { STATE_ENDED = UINT32_MAX, STATE_BEGUN = UINT32_MAX - 1 };

enum message_kind { MESSAGE_EAGER, MESSAGE_REQUEST, MESSAGE_ANSWER, MESSAGE_DATA };
enum {
    TAG_COLLECTIVE_BIT = 31,
    TAG_KIND_SHIFT = 29,
    TAG_GROUP_SHIFT = 24,
    TAG_COUNT_BITS = 11,
    TAG_COUNT_SHIFT = HX_COLLECTIVE_BRIEF_BITS
};
_Static_assert(TAG_COUNT_SHIFT + TAG_COUNT_BITS == TAG_GROUP_SHIFT, "fields follow each other");
_Static_assert(1 << (TAG_COLLECTIVE_BIT - TAG_GROUP_SHIFT) == SCHEDULE_MOST_GROUPS_OF_RANK, "all groups have a number");
_Static_assert(SCHEDULE_MOST_OPERATIONS <= 1 << TAG_KIND_SHIFT, "all operations have a number");

/* List of elements that name their successor; first NONE: empty. */
struct list {
    uint32_t first, last;
};

/* A message to a peer that is not yet on the network. */
struct outgoing {
    uint32_t tag, next; /* next: in the peer's list, or in the list of free ones */
    uint64_t bytes;
};

/* A message or request that came before its receive. */
struct early {
    uint32_t source, tag; /* tag of the send */
    uint32_t operation;   /* of the sender */
    bool request;
    uint32_t next;           /* in its bucket, or in the list of free ones */
    uint32_t earlier, later; /* in the list of all, in the order of coming */
};

/* Receives and messages of one (source, tag); an empty one stays. */
struct bucket {
    uint64_t key;       /* source << 32 | tag */
    struct list posted; /* operations */
    struct list early;  /* elements of `early` */
    bool used;
};

/* A matched request; its data is to come. */
struct awaited {
    uint32_t source, operation; /* the sender's */
    uint32_t receive;           /* own operation */
};

/* Invariant: in_order is the number of the next message to be matched; held[0 .. holds - 1] came out of order. */
struct peer {
    uint32_t rank; /* NONE: unused entry of the table */
    uint32_t in_order;
    struct list out; /* elements of `outgoing` */
    uint32_t next;   /* in the list of those that may send */
    uint32_t flying; /* messages that were taken and not acknowledged */
    bool queued;     /* in this list */
    uint8_t holds;
    struct {
        uint32_t number, tag;
    } held[EXECUTOR_WINDOW];
};

struct stream {
    uint64_t until;      /* ps: end of `current` */
    uint32_t current;    /* operation; NONE: free */
    uint32_t last_entry; /* of the operation that freed it; EXECUTOR_NO_CAUSE: none */
    uint32_t *waiting;   /* heap of operations by the time of readiness, then by number */
    size_t count, room;
};

/* A collective in progress. */
struct instance {
    uint32_t group;     /* of the schedule */
    uint32_t number;    /* of the group at this rank */
    uint32_t count;     /* of the collective in the group, modulo 2^TAG_COUNT_BITS */
    uint32_t operation; /* own */
    uint32_t refused;   /* lanes of the engine to peers with a full window */
    bool idle;          /* has nothing to send until a message arrives or is acknowledged */
    bool direct;
    const struct executor_choice *choice;
    union {
        struct hx_collective engine;
        struct direct program;
    };
};

/* Its place in the list of all: it stays where it is when others end. */
struct instance_place {
    struct instance *at;
};

/* A message of a collective that did not begin here. */
struct early_part {
    uint32_t group, count, from, tag;
};

struct executor {
    const struct executor_plan *plan;
    const struct schedule *s;
    struct executor_result *result;
    struct executor_entry *entry; /* [room], a ring; NULL: none */
    uint64_t room;
    uint32_t rank, count;
    uint64_t now;

    /* [count], of each operation */
    uint32_t *state;    /* operations that it waits for, or STATE_ */
    uint32_t *next;     /* successor in the one list that it is in; of a repeat: operations of its body that are left */
    uint32_t *cause;    /* index of an entry, or the operation of `source` */
    uint32_t *source;   /* rank of the cause; NULL: this rank or none, as no operation receives */
    uint64_t *begin;    /* ps; before that the time of readiness */
    uint64_t *ready_at; /* ps: for its stream; `begin` itself without overheads, as then no receive has a stream */
    uint32_t *body;     /* the repeat that it is in, NONE: none; NULL: no repeats */
    uint64_t *iteration; /* of a repeat: iterations that ended; NULL as above */
    uint32_t left;       /* operations outside of all bodies that have not ended */
    bool started;

    struct list ready;                 /* operations that begin now */
    unsigned computing, communicating; /* operations in progress */
    uint64_t counted;                  /* ps: computing and exposed time are counted up to here */

    struct stream *stream; /* [streams] */
    unsigned streams;
    bool stream_free; /* some free stream has an operation that waits */

    struct bucket *bucket; /* [buckets], a power of two */
    size_t buckets, buckets_used;
    struct list any;  /* posted receives with a wildcard */
    uint64_t *posted; /* [count]: when it was posted, in the order of posting; NULL: no wildcards */
    uint64_t posts;
    struct early *early;
    size_t early_room, early_used;
    uint32_t early_free, early_first, early_last;
    struct awaited *awaited;
    size_t awaited_count, awaited_room;

    struct peer *peer; /* [peers], a power of two, by hash */
    size_t peers, peers_used;
    struct list sending; /* peers with messages that may go */
    struct outgoing *outgoing;
    size_t outgoing_room, outgoing_used;
    uint32_t outgoing_free;

    struct instance_place *instance; /* those in progress */
    size_t instances, instances_room;
    struct early_part *part;
    size_t parts, parts_room;
    struct schedule_ordinals ordinals;
    size_t turn; /* instance to ask first */

    struct {
        bool collective;
        uint32_t peer; /* index */
        struct instance *instance;
        struct hx_collective_send send;
        uint64_t bytes;
    } offered; /* the message of the last executor_next() */
};

static inline const struct schedule_operation *operation_at(const struct executor *e, uint32_t number)
{
    return schedule_at(e->s, e->rank, number);
}

/* ---- executor.c ---- */

/* Notes what lets an operation go on: a sender's operation. */
void executor_set_cause(struct executor *e, uint32_t number, uint32_t source, uint32_t cause);
/* Begins what follows the start of an operation. */
void executor_begun(struct executor *e, uint32_t number);
void executor_end(struct executor *e, uint32_t number);

/* ---- executor_streams.c ---- */

uint64_t executor_overhead(const struct executor *e, uint64_t bytes);
void stream_add(struct executor *e, uint32_t number);
/* Free streams take operations. Returns whether any did. */
bool streams_take(struct executor *e);
/* Ends what streams did until the time, in its order. */
bool streams_end_one(struct executor *e, uint64_t now);
uint64_t streams_wake(const struct executor *e);
/* An operation's time on its stream is over. */
void executor_stream_done(struct executor *e, uint32_t number);

/* ---- executor_match.c ---- */

void match_open(struct executor *e);
void match_close(struct executor *e);
void match_post(struct executor *e, uint32_t number);
/* A message, or the request of one, is next in order. */
void match_message(struct executor *e, uint32_t source, uint32_t operation, bool request);
/* The data of a matched request is here. Returns false if none is awaited. */
bool match_data(struct executor *e, uint32_t source, uint32_t operation);
/* The message of a receive is here. */
void executor_received(struct executor *e, uint32_t number);

/* ---- executor_messages.c ---- */

void messages_close(struct executor *e);
/* The peer of a rank; the index stays valid until another peer is added. */
uint32_t messages_peer(struct executor *e, uint32_t rank);
void messages_send(struct executor *e, uint32_t to, enum message_kind kind, uint32_t operation, uint64_t bytes);
bool messages_next(struct executor *e, struct executor_message *m);
void messages_take(struct executor *e);
/* A message came, or arrived at its receiver. Return false if no executor of this schedule sent it. */
bool messages_arrived(struct executor *e, uint32_t from, uint32_t number, uint32_t tag);
bool messages_sent(struct executor *e, uint32_t to, uint32_t tag);

/* ---- executor_collectives.c ---- */

void collectives_close(struct executor *e);
void collective_begin(struct executor *e, uint32_t number);
bool collective_next(struct executor *e, struct executor_message *m);
void collective_take(struct executor *e);
bool collective_arrived(struct executor *e, uint32_t from, uint32_t tag);
bool collective_sent(struct executor *e, uint32_t to, uint32_t tag);
/* A peer may be sent to again. */
void collectives_admit(struct executor *e);
/* Whether some collective may have a message to send. */
bool collectives_may_send(const struct executor *e);

#endif
