/* parts.h - internals of the library: the state of one opened host (include/hxmesh/program.h).
 *
 *     program.c    opening, closing, polling, waiting
 *     requests.c   requests to the worker, and their completions
 *     pair.c       state of a peer: greetings, credits, slots in order
 *     longer.c     long messages: announced, granted in parts
 *     memory.c     hx_program_alloc()
 *
 * Data flow. Each pair of hosts has two channels: one for short messages and announcements, one for grants. Message n
 * of a channel lands in slot n modulo its slots; the receiver takes slots in this order, so packets may overtake each
 * other. The sender may reuse a slot when the receiver has released it (its credit: `released`) and its own last
 * request for that slot has ended. A request repeated after the death of a worker then meets a slot that is not armed,
 * and has no effect. */
#ifndef PROGRAM_PARTS_H
#define PROGRAM_PARTS_H

#include "hal/program/attachment.h"
#include "hxmesh/program.h"

#include <stdbool.h>

enum channel_name { CHANNEL_SHORT, CHANNEL_CONTROL, CHANNELS };
enum {
    LONG_SENDS = 64,
    LONG_RECEIVES = 256,
    PARTS_AHEAD = 4,
    GRANTS = LONG_SENDS * 2 * PARTS_AHEAD,
    SLOTS_MOST = ATTACHMENT_SHORT
};

/* Head of every message in a slot. */
enum head_kind { HEAD_MESSAGE = 1, HEAD_ANNOUNCE, HEAD_GRANT };
struct head {
    uint8_t kind;
    uint8_t last;    /* GRANT: the last one */
    uint16_t ticket; /* ANNOUNCE, GRANT: sender's number of the long message */
    uint32_t sequence;
    uint64_t tag;                /* GRANT: value in the tag of the part */
    uint64_t bytes;              /* GRANT: offset */
    uint32_t length;             /* GRANT; others: the note */
    uint16_t released[CHANNELS]; /* credit: messages released, total */
};
_Static_assert(sizeof(struct head) == ATTACHMENT_HEAD, "it is what a request carries");

/* Message counts since the session began. Invariant: sent - allowed <= slots; published <= released <= taken <=
 * published + slots. */
struct channel {
    uint32_t sent;
    uint32_t allowed;           /* released by the peer: the sender may reach `allowed` + slots */
    uint32_t busy;              /* slots with a request in flight, bit by slot */
    uint32_t taken;             /* messages of the peer taken */
    uint32_t released;          /* of these released, without a gap */
    uint32_t published;         /* `released`, as last sent to the peer */
    uint32_t given_back;        /* released slots not yet counted in `released`, bit by slot */
    uint32_t filled;            /* slots with a message not taken, bit by slot */
    uint32_t bytes[SLOTS_MOST]; /* of the message in each slot */
};

/* State of the peer's program, by its greetings:
 *
 *     ABSENT --hello--> SEEN --hello that names our session--> MET
 *     SEEN, MET --bye--> LEAVING --our requests to it have ended--> ABSENT
 *     SEEN, MET, LEAVING --hello of another session--> ABSENT, then as from there
 *
 * A hello waits in `successor` while our program holds messages of the peer's last program. */
enum pair_state { PAIR_ABSENT, PAIR_SEEN, PAIR_MET, PAIR_LEAVING };

struct pair {
    enum pair_state state;
    uint32_t session;     /* session of the peer; 0 if ABSENT */
    uint32_t confirmed;   /* peer session we last confirmed; 0: none */
    uint32_t greeted;     /* last greeting of the peer taken */
    uint32_t successor;   /* greeting of the peer's next program; 0: none */
    uint32_t lent;        /* messages of this session that our program holds */
    uint32_t lent_before; /* messages of earlier sessions that our program holds */
    uint8_t in_flight;    /* requests in flight */
    bool end_is_news;     /* our program knows of this session: its end is an event */
    bool wanted;          /* our program has messages to send */
    bool asked;           /* the peer was greeted since it was last absent */
    bool greeting;        /* our greeting is in flight */
    bool crediting;       /* our credit is in flight */
    bool dirty;           /* in the list of pairs with pending work */
    struct channel channel[CHANNELS];
};

/* Purpose of a request, by its number modulo ATTACHMENT_REQUESTS. */
enum purpose { FREE, GREETING, CREDIT, SHORT, ANNOUNCE, GRANT, PART };
struct note {
    enum purpose purpose;
    uint32_t peer;
    uint32_t session; /* of the peer; if it has changed, the request is void */
    uint8_t slot;
    int16_t bounce; /* bounce buffer, -1: none */
    uint16_t ticket;
    bool last;
    void *context;
};

/* A long message to send: announced, then sent as granted. */
struct long_send {
    bool used, last_granted, failed;
    uint32_t peer, session;
    const uint8_t *data;
    uint64_t bytes;
    void *context;
    unsigned parts; /* in flight, or granted and waiting */
};

struct grant {
    uint16_t ticket, region;
    bool last;
    uint32_t length;
    uint64_t offset;
};

/* A long message to receive: announced, then `accepted`. */
struct long_receive {
    bool used, accepted;
    uint32_t peer, session;
    uint16_t ticket; /* of the sender */
    uint64_t tag, bytes;
    uint8_t *data;
    uint64_t room;    /* bytes to receive */
    uint64_t granted; /* bytes granted */
    unsigned parts;   /* granted and not received */
    bool last_granted;
    void *context;
};

struct region {
    bool used;
    uint16_t receive; /* index of its long_receive */
    int16_t landing;  /* landing buffer; -1: the part lands at its destination */
    uint16_t turn;    /* as in attachment.h */
    uint32_t length;
    uint64_t offset; /* in the message */
};

struct block;

/* A request without path, to be repeated. */
struct retry {
    struct attachment_request request;
    struct note note;
};

struct hx_program {
    struct attachment at;
    uint32_t self;
    uint32_t session;
    uint64_t requested, completed, arrived;
    struct note note[ATTACHMENT_REQUESTS];
    uint32_t in_flight; /* notes that are not FREE; in_flight + retry_count <= ATTACHMENT_REQUESTS */
    struct retry retry[ATTACHMENT_REQUESTS]; /* circular */
    uint32_t retry_first, retry_count;
    uint32_t bell;     /* value at the last poll */
    uint32_t looks;    /* polls without an event, in a row */
    bool idle_sleep;   /* idle polls sleep at the bell instead of yielding */
    bool refused;      /* a send returned -EAGAIN, */
    bool better;       /* and events followed */
    struct pair *pair; /* [hosts] */
    uint32_t *dirty;   /* [hosts], circular: pairs with pending work */
    uint32_t dirty_first, dirty_count;
    bool stuck; /* a pair's pending work had no room */
    struct long_send send[LONG_SENDS];
    struct grant grants[GRANTS]; /* circular: granted, not sent */
    uint32_t grants_first, grants_count;
    struct long_receive receive[LONG_RECEIVES];
    uint16_t accepted[LONG_RECEIVES]; /* circular: messages with parts to grant, in turn */
    uint32_t accepted_first, accepted_count;
    struct region region[ATTACHMENT_REGIONS];
    uint64_t bounces, bounce_parts, landings; /* free buffers, bit by number */
    struct block *blocks;                     /* of the heap, by offset */
    struct hx_program_event *event;           /* circular: events for the program */
    uint32_t event_first, event_count, event_room;
};

/* ---- program.c ---- */

/* Queues an event for hx_program_poll(). */
void program_notify(struct hx_program *p, const struct hx_program_event *event);

/* ---- requests.c ---- */

/* True if there is room for a request; for a request to that peer. */
bool requests_have_room(const struct hx_program *p);
bool request_may(const struct hx_program *p, uint32_t peer);
/* Posts a request: a head (NULL: none), then `bytes` bytes at `data`, in the attachment's memory. */
void request_post(struct hx_program *p, const struct note *note, uint32_t tag, const struct head *head,
                  const void *data, uint32_t bytes);
/* Takes completions; repeats requests that had no path. */
void requests_take(struct hx_program *p);

/* ---- pair.c ---- */

/* Opens the session with this host itself. */
void pair_meet_self(struct hx_program *p);
/* Marks a pair as having pending work. */
void pair_stir(struct hx_program *p, uint32_t peer);
/* Marks all pairs if work lacked room. */
void pairs_unstick(struct hx_program *p);
/* True if a message may be sent on a channel; greets an unknown peer. */
bool pair_may(struct hx_program *p, uint32_t peer, enum channel_name channel);
/* Sends a message; sets sequence and credits in *head. */
void pair_send(struct hx_program *p, struct note *note, enum channel_name channel, struct head *head, const void *data,
               uint32_t bytes);
/* Handles an arrival in a slot or region. */
void pair_arrived(struct hx_program *p, uint32_t index, uint32_t bytes);
/* Takes mail and arrivals; does pending work. */
void pairs_take(struct hx_program *p);
void pairs_step(struct hx_program *p);

/* ---- longer.c ---- */

int long_begin(struct hx_program *p, uint32_t to, uint64_t tag, uint32_t note, const void *data, uint64_t bytes,
               void *context);
/* Returns false if there are too many. */
bool long_announced(struct hx_program *p, uint32_t peer, const struct head *head);
void long_granted(struct hx_program *p, uint32_t peer, const struct head *head);
/* Sends granted parts and grants others, as far as there is room. */
void long_step(struct hx_program *p);
void long_part_sent(struct hx_program *p, const struct note *note);
void long_part_arrived(struct hx_program *p, unsigned number, uint32_t bytes);
/* Fails all transfers with a peer after its program has gone. */
void long_forget(struct hx_program *p, uint32_t peer);

/* ---- memory.c ---- */

/* Addresses of the pieces of memory (attachment.h). */
uint8_t *memory_slot(const struct hx_program *p, uint32_t peer, enum channel_name channel, unsigned slot);
uint8_t *memory_landing(const struct hx_program *p, unsigned number);
uint8_t *memory_bounce(const struct hx_program *p, unsigned number);
uint8_t *memory_bounce_part(const struct hx_program *p, unsigned number);
/* True if these bytes are in the attachment's memory. */
bool memory_is_ours(const struct hx_program *p, const void *data, uint64_t bytes);
/* Clears the lowest bit and returns its number; -1: none. */
int memory_take(uint64_t *free_ones);
void memory_free_all(struct hx_program *p);

#endif
