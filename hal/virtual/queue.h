/* queue.h - the packets of one (input, VC), and the credits on their way back to one output: rings that double when
 * full and are given back when empty, those of packets half as large the next time.
 *
 * Most queues are empty most of the time, and some are long now and then. Those that are in use share what was given
 * back last, which is in the cache. (Where all is handed over at once the smallest rings stay: hal_port.h.) Positions
 * are modulo 2^16 as the switch counts them. */
#ifndef VIRTUAL_QUEUE_H
#define VIRTUAL_QUEUE_H

#include "arena.h"
#include "hxmesh/frame.h"
#include "hxmesh/switch.h"

/* A packet in an input buffer: half a cache line. */
struct virtual_slot {
    struct hx_desc d;
    uint64_t ready; /* when its first block may be routed, ps */
    uint64_t birth; /* virtual_birth() */
};
enum { VIRTUAL_LINE_SLOTS = 2 /* of the smallest ring: a cache line */ };
_Static_assert(sizeof(struct virtual_slot) == 32, "two slots to a cache line");

/* The packet of a slot where it goes next. */
static inline void virtual_slot_pass(struct virtual_slot *to, const struct virtual_slot *from, unsigned vc,
                                     unsigned hops, uint64_t ready)
{
    *to = *from;
    to->d.vc = (uint8_t)vc;
    to->d.hops = (uint8_t)hops;
    to->ready = ready;
}

/* When (ps, modulo 2^48: 281 s) and by which rank a packet was injected. */
static inline uint64_t virtual_birth(uint64_t injected, uint32_t rank)
{
    return injected << 16 | rank;
}

/* Picoseconds since then: a packet lives for less than 281 s, whenever that is. */
static inline uint64_t virtual_age(uint64_t birth, uint64_t now)
{
    return (now - (birth >> 16)) & (UINT64_MAX >> 16);
}

/* One word, so that what a packet needs of an input where it comes is one cache line. */
struct virtual_queue {
  uint64_t slots : 48; /* virtual_queue_slots(), [mask + 1]; 0: it is empty */
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

/* Gives an empty queue that has none a ring. */
void virtual_queue_begin(struct virtual_queue *q);
/* Makes room for positions tail .. head (one more than before) in place of a ring that is full. */
void virtual_queue_grow(struct virtual_queue *q, uint16_t tail, uint16_t head);
/* Gives the ring back: the queue is empty. */
void virtual_queue_end(struct virtual_queue *q);

static inline struct virtual_slot *virtual_queue_append(struct virtual_queue *q, uint16_t tail, uint16_t head)
{
    if (!q->slots)
        virtual_queue_begin(q); /* most packets come to an empty queue where many entities take turns */
    else if ((uint16_t)(head - tail) > q->mask)
        virtual_queue_grow(q, tail, head);
    return virtual_queue_at(q, head);
}

/* Credit that is back at a time (ps): one word. */
static inline uint64_t virtual_credit_of(uint64_t time, unsigned vc, unsigned blocks)
{
    return time << 8 | vc << 6 | blocks;
}

static inline uint64_t virtual_credit_time(uint64_t credit)
{
    return credit >> 8;
}

static inline unsigned virtual_credit_vc(uint64_t credit)
{
    return credit >> 6 & 3;
}

static inline unsigned virtual_credit_blocks(uint64_t credit)
{
    return credit & 63;
}

/* Its blocks in the lane of its VC. */
static inline uint64_t virtual_credit_lanes(uint64_t credit)
{
    return (credit & 63) << (credit >> 2 & 48);
}

enum { VIRTUAL_FEW_CREDITS = 4 };
#define VIRTUAL_NO_CREDIT UINT64_MAX

/* Credits in the order of their times: a few in place, beside what whoever gives them touches, more in a ring. A place
 * that has none says VIRTUAL_NO_CREDIT, later than any: so who looks for the oldest, or for a place, need not ask how
 * many there are. */
struct virtual_credits {
    uint64_t *entries; /* [mask + 1]: `few`, or a ring */
    uint16_t mask;
    uint16_t head, tail; /* where the next goes, and the oldest stands: below mask + 1 */
    bool awaited;        /* by somebody who is to be told when the next is given */
    uint64_t few[VIRTUAL_FEW_CREDITS];
};
_Static_assert(HX_VCS *HX_WINDOW *HX_PACKET_BLOCKS < UINT16_MAX, "places of all credits on their way can be told");

void virtual_credits_begin(struct virtual_credits *c);
void virtual_credits_grow(struct virtual_credits *c);
/* Gives the ring back, if there is one: no credit is on its way. */
void virtual_credits_end(struct virtual_credits *c);

/* Time of the oldest, VIRTUAL_NO_CREDIT's: none. */
static inline uint64_t virtual_credits_next(const struct virtual_credits *c)
{
    return virtual_credit_time(c->entries[c->tail]);
}

/* Takes the oldest off: there is one. */
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

/* Packets on their way from the switches' LOCAL outputs to the endpoint, in the order of their times. */
struct virtual_eject {
    struct virtual_slot *slots; /* [mask + 1], NULL: it is empty */
    uint32_t mask, head, tail;
    uint64_t last; /* time of the newest, ps */
};

void virtual_eject_grow(struct virtual_eject *q);
void virtual_eject_end(struct virtual_eject *q);

#endif
