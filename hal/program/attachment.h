/* attachment.h - the shared memory between a program and the worker that runs its host's endpoint.
 *
 * One a host, made by the supervisor: memory without a name, sealed at its size, so that nobody can take it away from
 * under who has it mapped. It is handed over to whoever asks (program/attach_socket.h). The supervisor holds its lock (flock(2))
 * as it does that of the fabric. So a program that writes where it should not harms the messages of its own host, and
 * nothing else.
 *
 *     head        who holds it, how far each side is            each word written by one side, as it says
 *     address     [hosts]: where each host is                   supervisor, anew for each that asks
 *     request     ring: what is to be sent                      program; an entry stands until it is completed
 *     completion  ring: requests that are over                  worker
 *     mail        [hosts]: the last greeting and credits        worker; `mailed` says of whom there is some: set by the worker,
 *                                                               cleared by the program
 *     slot        where messages may land                       program arms, worker fills
 *     arrival     ring: slots that were filled                  worker
 *     memory      bytes of messages                             program (sent), worker (arriving)
 *
 * The worker believes nothing of it: it takes a copy of a request before it judges it, masks what is an index, and
 * checks an armed slot, and every offset and length, against the size that it knows itself, each time it uses them.
 *
 * Messages on the fabric. The tag of an endpoint's message says what it is for; a host's worker looks at nothing else:
 *
 *     kind 4 | session of the receiver 8 | session of the sender 8 | value 12
 *
 *     HELLO    no bytes: who I am, and who you are as far as I know (0: I do not)
 *     BYE      no bytes: who was here has gone; of the worker, to all who greeted him
 *     CREDIT   no bytes: value = channel << 11 | messages given back so far, modulo 2,048
 *     SLOT     value = turn << 4 | slot: lands in this slot of those for the sender, if it is armed for this turn
 *     REGION   value = turn << 6 | region: lands in this region, if it is armed for the sender and this turn
 *
 * A turn counts how often a slot was armed: what a worker sends once more, because the one before it died, meets
 * another turn.
 *
 * A session is one program's hold of a host: 1 .. 255, and on from there. What is for another session than the present
 * one is dropped, so nothing of a program that has gone lands in the memory of the next one.
 *
 * Who sleeps. Each side says in the head that it sleeps before it looks for the last time; the other one looks whether
 * it does when there is something new. A program sleeps on a word of the head (attachment_ring), a worker on many
 * things at once, of which one is an eventfd of this host (attachment_wakeup).
 *
 * A program that dies: its lock on the object (fcntl(2), of an open file description) is taken from it by the kernel.
 * The worker looks every 20 ms, gives up what is under way, tells all who greeted the program, and only when nothing is
 * under way begins the next session. */
#ifndef ATTACHMENT_H
#define ATTACHMENT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ATTACHMENT_MAGIC UINT64_C(0x6d61726770786821)

enum {
    ATTACHMENT_VERSION = 3,
    ATTACHMENT_REQUESTS = 256, /* a power of two */
    ATTACHMENT_HEAD = 32,      /* bytes of a message's own head */

    /* Slots of each pair, by channel: short messages and announcements; what grants them. */
    ATTACHMENT_SHORT = 8,
    ATTACHMENT_CONTROL = 4,
    ATTACHMENT_SLOTS = ATTACHMENT_SHORT + ATTACHMENT_CONTROL,
    ATTACHMENT_SHORT_BYTES = 16384,
    ATTACHMENT_CONTROL_BYTES = 64,
    ATTACHMENT_REGIONS = 64, /* of a host: where parts of long messages land */

    ATTACHMENT_PAIR_WINDOW = 4 /* requests to one host under way, as the endpoint has it: HX_PEER_WINDOW */
};

enum {
    ATTACHMENT_SLOT_BITS = 4, /* of a value; what is left is the turn */
    ATTACHMENT_REGION_BITS = 6,
    ATTACHMENT_VALUE_BITS = 12,
    ATTACHMENT_KIND_SHIFT = 28 /* in a tag */
};

enum attachment_kind {
    ATTACHMENT_HELLO = 1,
    ATTACHMENT_BYE,
    ATTACHMENT_CREDIT,
    ATTACHMENT_TO_SLOT,
    ATTACHMENT_TO_REGION,
    ATTACHMENT_OTHERS =
        8 /* from here on: of others than programs, where a host has such, too. No program's message is one */
};

static inline uint32_t attachment_tag(enum attachment_kind kind, unsigned receiver, unsigned sender, unsigned value)
{
    return (uint32_t)kind << ATTACHMENT_KIND_SHIFT | (receiver & 0xFFU) << 20 | (sender & 0xFFU) << 12 |
           (value & 0xFFFU);
}
static inline unsigned attachment_kind(uint32_t tag)
{
    return tag >> ATTACHMENT_KIND_SHIFT;
}
static inline unsigned attachment_receiver(uint32_t tag)
{
    return tag >> 20 & 0xFFU;
}
static inline unsigned attachment_sender(uint32_t tag)
{
    return tag >> 12 & 0xFFU;
}
static inline unsigned attachment_value(uint32_t tag)
{
    return tag & 0xFFFU;
}

struct attachment_head {
    uint64_t magic; /* by the supervisor, like all up to `wanted`, anew for each that asks */
    uint32_t version, host, hosts;
    _Atomic uint32_t ended; /* the fabric has */

    alignas(64) _Atomic uint32_t wanted; /* program: a number of its own, 0: nobody */
    _Atomic uint64_t requested;          /* program: requests before this one are to be sent */
    _Atomic uint32_t waiting;            /* program: 1: sleeps on `bell` */

    alignas(64) _Atomic uint32_t served; /* worker: as `wanted` was when its session began */
    _Atomic uint32_t session;            /* worker: its number */
    _Atomic uint64_t first;              /* worker: its first request */
    _Atomic uint64_t completed;          /* worker: completions so far */
    _Atomic uint64_t arrived;            /* worker: arrivals so far */
    _Atomic uint32_t bell;               /* worker: grows whenever there is news */
    _Atomic uint32_t asleep;             /* worker: 1: sleeps, and is to be called; whoever calls clears it */
};

/* Invariant of one that is judged good: bytes <= memory, and offset <= memory - bytes. */
struct attachment_request {
    uint64_t offset; /* of its bytes in the memory */
    uint32_t bytes;
    uint32_t to;         /* host */
    uint32_t tag;        /* as above */
    uint32_t head_bytes; /* 0 or ATTACHMENT_HEAD: these go before the bytes */
    uint8_t head[ATTACHMENT_HEAD];
    uint64_t spare;
};
_Static_assert(sizeof(struct attachment_request) == 64, "a request is a cache line");

struct attachment_completion {
    uint64_t number; /* of the request */
    int32_t error;   /* 0, or a negative errno value */
    uint32_t spare;
};

struct attachment_mail {
    _Atomic uint32_t greeting;  /* tag of the last HELLO or BYE, 0: none */
    _Atomic uint32_t credit[2]; /* tag of the last CREDIT, by channel */
    uint32_t spare;
};

enum attachment_state { ATTACHMENT_IDLE, ATTACHMENT_ARMED, ATTACHMENT_FILLED };
struct attachment_slot {
    uint64_t offset;
    uint32_t bytes; /* room */
    uint32_t source;
    uint16_t session;       /* of the source */
    uint16_t turn;          /* how often it was armed, as far as there is room for it in a tag */
    _Atomic uint32_t state; /* enum attachment_state */
};

struct attachment_arrival {
    uint32_t slot; /* see attachment_slot_of(), attachment_region() */
    uint32_t bytes;
};

/* An attachment as this process has it mapped: sizes are its own and not those that stand in the memory. */
struct attachment {
    uint32_t hosts;
    uint32_t slots;    /* of all pairs, and regions */
    uint32_t arrivals; /* entries of the ring: a power of two, not less than slots */
    uint64_t memory_bytes;
    size_t bytes;
    int fd;
    int wakeup_fd; /* eventfd: by which its worker is called */
    struct attachment_head *head;
    uint16_t (*address)[2];
    struct attachment_request *request;
    struct attachment_completion *completion;
    struct attachment_mail *mail;
    _Atomic uint64_t *mailed; /* bit by host */
    struct attachment_slot *slot;
    struct attachment_arrival *arrival;
    uint8_t *memory;
};

/* The number among all slots of one of a pair's. */
static inline uint32_t attachment_slot_of(uint32_t source, unsigned slot)
{
    return source * ATTACHMENT_SLOTS + slot;
}
static inline uint32_t attachment_region(const struct attachment *at, unsigned region)
{
    return at->hosts * ATTACHMENT_SLOTS + region;
}

/* Where pieces of the memory begin that every library uses alike: landing memory of short messages and grants by slot,
 * then buffers for what is sent from elsewhere, then what hx_program_alloc() gives. */
enum {
    ATTACHMENT_PART_BYTES = 256 * 1024, /* of a long message */
    ATTACHMENT_LANDINGS = 16,           /* parts */
    ATTACHMENT_BOUNCES = 64,            /* of ATTACHMENT_SHORT_BYTES */
    ATTACHMENT_BOUNCE_PARTS = 16        /* of ATTACHMENT_PART_BYTES */
};
#define ATTACHMENT_HEAP_BYTES (UINT64_C(128) << 20)

/* Says where everything lies for so many hosts; base NULL: how much it takes, at->bytes. */
void attachment_lay_out(struct attachment *at, uint32_t hosts, uint8_t *base);

/* Lets the program know that there is news. */
void attachment_ring(const struct attachment *at);

/* Lets the worker know likewise, if it sleeps. */
void attachment_wakeup(const struct attachment *at);

/* ---- supervisor, worker ---- */

/* Makes one, locked, with nothing in it: 0 or a negative errno value. */
int attachment_make(struct attachment *at, uint32_t hosts);

/* Opens the same memory once more, for a program: a description of its own, since locks belong to these. The
 * descriptor, or a negative errno value. */
int attachment_open_anew(const struct attachment *at);

/* Whether a program that holds it lives. To be asked by another process than that one. */
bool attachment_is_held(const struct attachment *at);

/* ---- program ---- */

/* Takes the lock of a program on what came from a door, with what calls the worker, and maps it. 0; -EBUSY: another one
 * has it; -EPROTO: it is none of this version; or another negative errno value. The descriptors are the attachment's
 * when it is good. */
int attachment_hold(struct attachment *at, int fd, int wakeup_fd);

/* Whether whoever made it has died. */
bool attachment_is_dead(const struct attachment *at);

/* ---- both ---- */

void attachment_close(struct attachment *at);

#endif
