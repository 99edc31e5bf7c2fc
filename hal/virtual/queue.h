/* queue.h - packets of one (input, VC), and returning credits of one output: rings that double when full.
 *
 * A ring is freed when it is empty; the next ring of a packet queue is half as large. Most queues are empty most of the
 * time, some are long at times. Queues in use share the rings freed last, which are in the cache. With handover at once
 * the smallest rings stay (hal_port.h). Positions count modulo 2^16, as in the switch. */
#ifndef VIRTUAL_QUEUE_H
#define VIRTUAL_QUEUE_H

#include "arena.h"
#include "hxmesh/frame.h"
#include "hxmesh/switch.h"

/* A packet in an input buffer: half a cache line. */
struct virtual_slot {
    struct hx_desc d;
    uint64_t ready; /* ps: when its first block may be routed */
    uint64_t birth; /* virtual_birth() */
};
enum { VIRTUAL_LINE_SLOTS = 2 /* of the smallest ring: a cache line */ };
_Static_assert(sizeof(struct virtual_slot) == 32, "two slots to a cache line");

/* Returns the slot of a descriptor that is in one. */
static inline const struct virtual_slot *virtual_slot_of(const struct hx_desc *d)
{
    return (const struct virtual_slot *)(const void *)d;
}

/* Copies a slot for the next hop. */
static inline void virtual_slot_pass(struct virtual_slot *to, const struct virtual_slot *from, unsigned vc,
                                     uint64_t ready)
{
    *to = *from;
    to->d.vc = (uint8_t)vc;
    to->d.hops++;
    to->ready = ready;
}

enum { VIRTUAL_RANK_BITS = 20 };
_Static_assert(HX_MAX_ACCELERATORS <= 1 << VIRTUAL_RANK_BITS, "a rank fits");

/* Injection time (ps, modulo 2^44: 17.6 s) and rank of a packet. */
static inline uint64_t virtual_birth(uint64_t injected, uint32_t rank)
{
    return injected << VIRTUAL_RANK_BITS | rank;
}

static inline uint32_t virtual_birth_rank(uint64_t birth)
{
    return (uint32_t)birth & ((1U << VIRTUAL_RANK_BITS) - 1);
}

/* ps since injection; correct for packets younger than 17.6 s. */
static inline uint64_t virtual_age(uint64_t birth, uint64_t now)
{
    return (now - (birth >> VIRTUAL_RANK_BITS)) & (UINT64_MAX >> VIRTUAL_RANK_BITS);
}

/* One word, so that an arrival touches one cache line of an input. */
struct virtual_queue {
  uint64_t slots : 48; /* virtual_queue_slots(), [mask + 1]; 0: empty */
    uint64_t mask : 16;
};

static inline struct virtual_slot *virtual_queue_slots(const struct virtual_queue *q)
{
    return (struct virtual_slot *)(uintptr_t)q->slots;
}

static inline struct virtual_slot *virtual_queue_at(const struct virtual_queue *q, uint16_t position)
{
    return virtual_queue_slots(q) + (position & q->mask);
}

/* Gives an empty queue a ring. */
void virtual_queue_begin(struct virtual_queue *q);
/* Replaces a full ring by one with room for positions tail .. head. */
void virtual_queue_grow(struct virtual_queue *q, uint16_t tail, uint16_t head);
/* Frees the ring; the queue is empty. */
void virtual_queue_end(struct virtual_queue *q);

static inline struct virtual_slot *virtual_queue_append(struct virtual_queue *q, uint16_t tail, uint16_t head)
{
    if (!q->slots)
        virtual_queue_begin(q); /* common: most queues are empty if many nodes take turns */
    else if ((uint16_t)(head - tail) > q->mask)
        virtual_queue_grow(q, tail, head);
    return virtual_queue_at(q, head);
}

/* A credit in one word. `time`: when it is back at the sender, ps, up to VIRTUAL_NEVER (event_queue.h).
 * blocks: 1 .. VIRTUAL_MOST_BLOCKS, stored less one. */
enum { VIRTUAL_CREDIT_BITS = 9, VIRTUAL_CREDIT_MASK = 127 };

static inline uint64_t virtual_credit_of(uint64_t time, unsigned vc, unsigned blocks)
{
    return time << VIRTUAL_CREDIT_BITS | vc << 7 | (blocks - 1);
}

static inline uint64_t virtual_credit_time(uint64_t credit)
{
    return credit >> VIRTUAL_CREDIT_BITS;
}

static inline unsigned virtual_credit_vc(uint64_t credit)
{
    return credit >> 7 & 3;
}

static inline unsigned virtual_credit_blocks(uint64_t credit)
{
    return (credit & VIRTUAL_CREDIT_MASK) + 1;
}

/* The blocks, in the lane of the VC. */
static inline uint64_t virtual_credit_lanes(uint64_t credit)
{
    return ((credit & VIRTUAL_CREDIT_MASK) + 1) << (credit >> 3 & 48);
}

enum { VIRTUAL_FEW_CREDITS = 4 };
#define VIRTUAL_NO_CREDIT UINT64_MAX

/* Credits in order of time: a few in place, in the same cache line, more in a ring. Empty entries hold
 * VIRTUAL_NO_CREDIT, later than any: so neither a look at the oldest nor a search for room needs a count. */
struct virtual_credits {
    uint64_t *entries; /* [mask + 1]: `few`, or a ring */
    uint16_t mask;
    uint16_t head, tail; /* next free entry, oldest entry: below mask + 1 */
    bool awaited;        /* the next credit must be noted */
    uint64_t few[VIRTUAL_FEW_CREDITS];
};
_Static_assert(HX_VCS *HX_WINDOW *HX_PACKET_BLOCKS < UINT16_MAX, "16 bits index all credits in flight");

void virtual_credits_begin(struct virtual_credits *c);
void virtual_credits_grow(struct virtual_credits *c);
/* Frees the ring, if there is one; no credit is in flight. */
void virtual_credits_end(struct virtual_credits *c);

/* Time of the oldest credit; of VIRTUAL_NO_CREDIT: none. */
static inline uint64_t virtual_credits_next(const struct virtual_credits *c)
{
    return virtual_credit_time(c->entries[c->tail]);
}

/* Takes the oldest credit; there is one. */
static inline uint64_t virtual_credits_take(struct virtual_credits *c)
{
    uint64_t *oldest = c->entries + c->tail;
    uint64_t credit = *oldest;
    *oldest = VIRTUAL_NO_CREDIT;
    c->tail = (c->tail + 1) & c->mask;
    return credit;
}

static inline void virtual_credits_append(struct virtual_credits *c, uint64_t credit)
{
    if (c->entries[c->head] != VIRTUAL_NO_CREDIT)
        virtual_credits_grow(c);
    c->entries[c->head] = credit;
    c->head = (c->head + 1) & c->mask;
}

/* Packets in flight from the switches' LOCAL outputs to the endpoint, in order of time. */
struct virtual_eject {
    struct virtual_slot *slots; /* [mask + 1]; NULL: empty */
    uint32_t mask, head, tail;
    uint64_t last; /* ps: time of the newest */
};

void virtual_eject_grow(struct virtual_eject *q);
void virtual_eject_end(struct virtual_eject *q);

#endif
