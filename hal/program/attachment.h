/* attachment.h - the shared memory between a program and the worker that runs its host's endpoint.
 *
 * The supervisor makes one for each host: unnamed memory of fixed size (F_SEAL_SHRINK, F_SEAL_GROW), so that no process
 * can shrink it under others. A program gets it by program/attach_socket.h. The supervisor holds its lock (flock(2)) as
 * it does that of the fabric. A program that corrupts it harms only the messages of its own host.
 *
 *     head        holder, and progress of each side             each word written by one side, as noted
 *     address     [hosts]: address of each host                 supervisor, anew for each program
 *     request     ring: messages to send                        program; an entry is stable until completed
 *     completion  ring: finished requests                       worker
 *     mail        [hosts]: last greeting and credits            worker; it sets `mailed`, the program clears it
 *     slot        where messages may land                       program arms, worker fills
 *     arrival     ring: filled slots                            worker
 *     memory      bytes of messages                             program (sent), worker (arriving)
 *
 * The worker trusts nothing in it: it copies a request before it validates it, masks indices, and checks an armed slot,
 * and every offset and length, against sizes of its own, at each use.
 *
 * Messages on the fabric. The worker acts only on the tag of an endpoint's message:
 *
 *     kind 4 | session of the receiver 8 | session of the sender 8 | value 12
 *
 *     HELLO    no bytes: names the sender's session, and the receiver's if known (0: unknown)
 *     BYE      no bytes: the sender's program has gone; the worker sends it to all that greeted it
 *     CREDIT   no bytes: value = channel << 11 | messages given back so far, modulo 2,048
 *     SLOT     value = turn << 4 | slot: lands in this slot of the sender, if it is armed for this turn
 *     REGION   value = turn << 6 | region: lands in this region, if it is armed for the sender and this turn
 *
 * A turn counts how often a slot was armed, so that a message repeated after a worker's death meets another turn.
 *
 * A session is one program's hold of a host: 1 .. 255, then 1 again. Messages for other sessions are dropped, so none
 * of an earlier program reaches the next one.
 *
 * Wakeups. Each side sets a flag in the head before its last check and sleep; the other side reads it after it
 * published news. A program sleeps on a word of the head (attachment_ring), a worker on an eventfd of this host among
 * others (attachment_wakeup).
 *
 * Death. The kernel releases a dead program's lock (fcntl(2), of an open file description). The worker checks it every
 * 20 ms, abandons messages in flight, notifies all that the program greeted, and begins the next session when none are
 * in flight. */
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
    ATTACHMENT_HEAD = 32,      /* bytes of a message's head */

    /* Slots of each pair, by channel: short messages and announcements; control messages, which grant credit. */
    ATTACHMENT_SHORT = 8,
    ATTACHMENT_CONTROL = 4,
    ATTACHMENT_SLOTS = ATTACHMENT_SHORT + ATTACHMENT_CONTROL,
    ATTACHMENT_SHORT_BYTES = 16384,
    ATTACHMENT_CONTROL_BYTES = 64,
    ATTACHMENT_REGIONS = 64, /* of a host, for parts of long messages */

    ATTACHMENT_PAIR_WINDOW = 4 /* requests to one host in flight: the window of endpoints on one plane */
};

enum {
    ATTACHMENT_SLOT_BITS = 4, /* of a value; the other bits are the turn */
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
    ATTACHMENT_OTHERS = 8 /* from here on: kinds of hosts that are not programs */
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
    uint64_t magic; /* all up to `wanted`: by the supervisor, anew for each program */
    uint32_t version, host, hosts;
    _Atomic uint32_t ended; /* the fabric has ended */

    alignas(64) _Atomic uint32_t wanted; /* program: a number of its own, 0: none */
    _Atomic uint64_t requested;          /* program: end of the requests to send */
    _Atomic uint32_t waiting;            /* program: 1: sleeps on `bell` */

    alignas(64) _Atomic uint32_t served; /* worker: `wanted` at the start of its session */
    _Atomic uint32_t session;            /* worker: its number */
    _Atomic uint64_t first;              /* worker: its first request */
    _Atomic uint64_t completed;          /* worker: number of completions */
    _Atomic uint64_t arrived;            /* worker: number of arrivals */
    _Atomic uint32_t bell;               /* worker: grows with each news */
    _Atomic uint32_t asleep;             /* worker: 1: sleeps and needs a wakeup; the waker clears it */
};

/* Invariant of a valid request: bytes <= memory, and offset <= memory - bytes. */
struct attachment_request {
    uint64_t offset; /* of its bytes in the memory */
    uint32_t bytes;
    uint32_t to;         /* host */
    uint32_t tag;        /* as described above */
    uint32_t head_bytes; /* 0 or ATTACHMENT_HEAD: bytes of `head` sent before the others */
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
    uint16_t turn;          /* number of times it was armed, modulo its bits in a tag */
    _Atomic uint32_t state; /* enum attachment_state */
};

struct attachment_arrival {
    uint32_t slot; /* see attachment_slot_of() and attachment_region() */
    uint32_t bytes;
};

/* An attachment mapped by this process. Its sizes are computed here, not read from the memory. */
struct attachment {
    uint32_t hosts;
    uint32_t slots;    /* of all pairs, and regions */
    uint32_t arrivals; /* entries of the ring: a power of two, at least slots */
    uint64_t memory_bytes;
    size_t bytes;
    int fd;
    int wakeup_fd; /* eventfd that wakes its worker */
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

/* Return the index of a pair's slot, or of a region, among all slots. */
static inline uint32_t attachment_slot_of(uint32_t source, unsigned slot)
{
    return source * ATTACHMENT_SLOTS + slot;
}
static inline uint32_t attachment_region(const struct attachment *at, unsigned region)
{
    return at->hosts * ATTACHMENT_SLOTS + region;
}

/* Layout of the memory in every library: landing memory of short messages and control messages by slot, bounce buffers
 * for data from elsewhere, the heap of hx_program_alloc(). */
enum {
    ATTACHMENT_PART_BYTES = 256 * 1024, /* bytes of a long message's part */
    ATTACHMENT_LANDINGS = 16,           /* number of parts */
    ATTACHMENT_BOUNCES = 64,            /* of ATTACHMENT_SHORT_BYTES */
    ATTACHMENT_BOUNCE_PARTS = 16        /* of ATTACHMENT_PART_BYTES */
};
#define ATTACHMENT_HEAP_BYTES (UINT64_C(128) << 20)

/* Computes the layout for `hosts`, at `base`; NULL: only the size, at->bytes. */
void attachment_lay_out(struct attachment *at, uint32_t hosts, uint8_t *base);

/* Wakes the program if it sleeps. */
void attachment_ring(const struct attachment *at);

/* Wakes the worker if it sleeps. */
void attachment_wakeup(const struct attachment *at);

/* ---- supervisor, worker ---- */

/* Makes an empty attachment, locked. Returns 0 or a negative errno value. */
int attachment_make(struct attachment *at, uint32_t hosts);

/* Opens the memory again for a program, as an open file description with locks of its own. Returns the descriptor, or a
 * negative errno value. */
int attachment_open_anew(const struct attachment *at);

/* Returns true if a living program holds it. Call from another process than the program's. */
bool attachment_is_held(const struct attachment *at);

/* ---- program ---- */

/* Takes a program's lock on a received descriptor and maps it; `wakeup_fd`: wakes the worker. Returns 0, and owns both
 * descriptors then; -EBUSY: another program holds it; -EPROTO: another version; or another negative errno value. */
int attachment_hold(struct attachment *at, int fd, int wakeup_fd);

/* Returns true if its maker has died. */
bool attachment_is_dead(const struct attachment *at);

/* ---- both ---- */

void attachment_close(struct attachment *at);

#endif
