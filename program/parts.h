/* parts.h - what the files of the library share: the state of one opened host (include/hxmesh/program.h).
 *
 *     program.c    opening, closing, polling, waiting
 *     requests.c   what goes to the worker, and what it says has ended
 *     pair.c       what is known of another host: greetings, credits, slots in order
 *     longer.c     long messages: announced, granted part by part
 *     memory.c     hx_program_alloc()
 *
 * Data that flows. Each pair of hosts has two channels: short messages and announcements, and grants. Message n of a
 * channel lands in slot n modulo its slots at the receiver, who takes them in this order; so whatever overtakes on the
 * way, order is made here. The sender may use a slot when the receiver has given it back (its credit: `released`) and
 * its own last request for that slot is over; a request that is repeated after a worker died then meets a slot that is
 * not armed. */
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

/* What begins every message in a slot. */
enum head_kind { HEAD_MESSAGE = 1, HEAD_ANNOUNCE, HEAD_GRANT };
struct head {
    uint8_t kind;
    uint8_t last;    /* GRANT: no other follows */
    uint16_t ticket; /* ANNOUNCE, GRANT: the sender's number of the long message */
    uint32_t sequence;
    uint64_t tag;                /* GRANT: what the part's own tag is to have as value */
    uint64_t bytes;              /* GRANT: offset */
    uint32_t length;             /* GRANT; others: the note */
    uint16_t released[CHANNELS]; /* credit: messages given back so far */
};
_Static_assert(sizeof(struct head) == ATTACHMENT_HEAD, "it is what a request carries");

/* Counts of messages since the pair met. Invariant: sent - allowed <= slots; told <= released <= taken <= told +
 * slots. */
struct channel {
    uint32_t sent;
    uint32_t allowed;           /* that the peer has given back: so many and `slots` more may go */
    uint32_t busy;              /* slots whose last request is not over, bit by slot */
    uint32_t taken;             /* of the peer's */
    uint32_t released;          /* of these given back, without a gap */
    uint32_t told;              /* `released`, as the peer knows it */
    uint32_t given_back;        /* slots given back, `released` not counted yet, bit by slot */
    uint32_t filled;            /* slots with a message that is not taken, bit by slot */
    uint32_t bytes[SLOTS_MOST]; /* in these */
};

/* The peer's program, as its greetings tell:
 *
 *     ABSENT --hello--> SEEN --hello that names our session--> MET
 *     SEEN, MET --bye--> LEAVING --our requests to it have ended--> ABSENT
 *     SEEN, MET, LEAVING --hello of another session--> ABSENT, then as from there
 *
 * A hello that comes while the last program's messages are lent waits in `successor`. */
enum pair_state { PAIR_ABSENT, PAIR_SEEN, PAIR_MET, PAIR_LEAVING };

struct pair {
    enum pair_state state;
    uint32_t session;     /* the peer's; 0 exactly in ABSENT */
    uint32_t confirmed;   /* the peer's session, as our last greeting named it; 0: none */
    uint32_t greeted;     /* the peer's last greeting, as taken */
    uint32_t successor;   /* greeting of the peer's next program; 0: none */
    uint32_t lent;        /* messages of this session that our program holds */
    uint32_t lent_before; /* messages of earlier sessions that our program holds */
    uint8_t in_flight;    /* requests */
    bool end_is_news;     /* our program has dealt with this session: its end is an event */
    bool wanted;          /* our program has something to send */
    bool asked;           /* the peer has been greeted since it was last absent */
    bool greeting;        /* our greeting is under way */
    bool crediting;       /* our credit is under way */
    bool dirty;           /* in the list of pairs with something to do */
    struct channel channel[CHANNELS];
};

/* What a request was for, by its number modulo ATTACHMENT_REQUESTS. */
enum purpose { FREE, GREETING, CREDIT, SHORT, ANNOUNCE, GRANT, PART };
struct note {
    enum purpose purpose;
    uint32_t peer;
    uint32_t session; /* of the peer; another one by now: what it was for has been given up */
    uint8_t slot;
    int16_t bounce; /* buffer that it goes from, -1: none */
    uint16_t ticket;
    bool last;
    void *context;
};

/* A long message on its way out: announced, then sent as it is granted. */
struct long_send {
    bool used, last_granted, failed;
    uint32_t peer, session;
    const uint8_t *data;
    uint64_t bytes;
    void *context;
    unsigned parts; /* under way, and granted ones that wait */
};

struct grant {
    uint16_t ticket, region;
    bool last;
    uint32_t length;
    uint64_t offset;
};

/* A long message on its way in: `announced`, then `accepted`. */
struct long_receive {
    bool used, accepted;
    uint32_t peer, session;
    uint16_t ticket; /* the sender's */
    uint64_t tag, bytes;
    uint8_t *data;
    uint64_t room;    /* what is to come of it */
    uint64_t granted; /* so far */
    unsigned parts;   /* granted and not here */
    bool last_granted;
    void *context;
};

struct region {
    bool used;
    uint16_t receive; /* long_receive */
    int16_t landing;  /* -1: lands where it is to go */
    uint16_t turn;    /* as attachment.h has it */
    uint32_t length;
    uint64_t offset; /* in the message */
};

struct block;

/* A request that found no way: it goes again. */
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
    uint32_t in_flight; /* notes that are not FREE; with retry_count no more than there are places */
    struct retry retry[ATTACHMENT_REQUESTS]; /* circular */
    uint32_t retry_first, retry_count;
    uint32_t bell;     /* as it was when it was looked for news last */
    uint32_t looks;    /* polls without an event, in a row */
    bool idle_sleep;   /* idle polls sleep at the bell, rather than yield */
    bool refused;      /* somebody was told to send again later, */
    bool better;       /* and since then there was news */
    struct pair *pair; /* [hosts] */
    uint32_t *dirty;   /* [hosts], circular: pairs that may have something to do */
    uint32_t dirty_first, dirty_count;
    bool stuck; /* some pair has something to do, and there was no room for it */
    struct long_send send[LONG_SENDS];
    struct grant grants[GRANTS]; /* circular: granted, not begun */
    uint32_t grants_first, grants_count;
    struct long_receive receive[LONG_RECEIVES];
    uint16_t accepted[LONG_RECEIVES]; /* circular: those with parts to grant, in turn */
    uint32_t accepted_first, accepted_count;
    struct region region[ATTACHMENT_REGIONS];
    uint64_t bounces, bounce_parts, landings; /* free ones, bit by number */
    struct block *blocks;                     /* of the heap, by place */
    struct hx_program_event *event;           /* circular: not yet told */
    uint32_t event_first, event_count, event_room;
};

/* ---- program.c ---- */

/* Notes an event for hx_program_poll(). */
void program_tell(struct hx_program *p, const struct hx_program_event *event);

/* ---- requests.c ---- */

/* Whether a request would be taken now; one to that peer. */
bool requests_have_room(const struct hx_program *p);
bool request_may(const struct hx_program *p, uint32_t peer);
/* Posts one of `bytes` bytes at `data`, in the attachment's memory, behind a head (NULL: none). */
void request_post(struct hx_program *p, const struct note *note, uint32_t tag, const struct head *head,
                  const void *data, uint32_t bytes);
/* Takes what the worker has completed; sends again what found no way. */
void requests_take(struct hx_program *p);

/* ---- pair.c ---- */

/* This host knows itself. */
void pair_meet_self(struct hx_program *p);
/* There may be something to do for this pair. */
void pair_stir(struct hx_program *p, uint32_t peer);
/* There is room again: for all that had none. */
void pairs_unstick(struct hx_program *p);
/* Whether a message may go on a channel now; if the peer is not known, it is greeted. */
bool pair_may(struct hx_program *p, uint32_t peer, enum channel_name channel);
/* Sends one: *head gets its sequence and credits. */
void pair_send(struct hx_program *p, struct note *note, enum channel_name channel, struct head *head, const void *data,
               uint32_t bytes);
void pair_give_back(struct hx_program *p, uint32_t peer, enum channel_name channel, uint32_t sequence);
/* Something has arrived in a slot or region. */
void pair_arrived(struct hx_program *p, uint32_t index, uint32_t bytes);
/* Takes mail and what has arrived; then does what is to be done for pairs. */
void pairs_take(struct hx_program *p);
void pairs_step(struct hx_program *p);

/* ---- longer.c ---- */

int long_begin(struct hx_program *p, uint32_t to, uint64_t tag, uint32_t note, const void *data, uint64_t bytes,
               void *context);
/* false: not now, there are too many. */
bool long_announced(struct hx_program *p, uint32_t peer, const struct head *head);
void long_granted(struct hx_program *p, uint32_t peer, const struct head *head);
/* Sends granted parts, and grants others, as far as there is room. */
void long_step(struct hx_program *p);
void long_part_sent(struct hx_program *p, const struct note *note);
void long_part_arrived(struct hx_program *p, unsigned number, uint32_t bytes);
/* The peer's program has gone. */
void long_forget(struct hx_program *p, uint32_t peer);

/* ---- memory.c ---- */

/* Where the pieces of the memory begin (attachment.h). */
uint8_t *memory_slot(const struct hx_program *p, uint32_t peer, enum channel_name channel, unsigned slot);
uint8_t *memory_landing(const struct hx_program *p, unsigned number);
uint8_t *memory_bounce(const struct hx_program *p, unsigned number);
uint8_t *memory_bounce_part(const struct hx_program *p, unsigned number);
/* Whether these bytes are the fabric's. */
bool memory_is_ours(const struct hx_program *p, const void *data, uint64_t bytes);
/* Takes the lowest bit; -1: there is none. */
int memory_take(uint64_t *free_ones);
void memory_free_all(struct hx_program *p);

#endif
