/* agenda.h - what one entity has to do, soonest first: a ring of (time, item) in order, in memory of fixed size.
 *
 * Every item stands in it at most once, which whoever notes it sees to; so its room is the number of items. Among equal
 * times the lowest item comes first: the order never depends on the order of noting. Most of what is noted is later than
 * nearly all that stands there, so it goes in from the end: with some to some tens of items that takes half the
 * instructions of a heap. */
#ifndef VIRTUAL_AGENDA_H
#define VIRTUAL_AGENDA_H

#include <stdint.h>

enum { VIRTUAL_ITEM_BITS = 8 };
#define VIRTUAL_NEVER (UINT64_MAX >> VIRTUAL_ITEM_BITS)

/* Invariant: at positions first .. end-1, modulo 2^16, keys rise; at most mask of them. At `end` stands one that is later than
 * any, so that an empty agenda need not be told from others. */
struct virtual_agenda {
    uint64_t *ring; /* [mask + 1]: time << 8 | item, at position & mask */
    uint16_t mask, first, end;
};

/* Entries of a ring for so many items. */
static inline unsigned virtual_agenda_room(unsigned items)
{
    unsigned room = 1;
    while (room <= items)
        room *= 2;
    return room;
}

/* An empty one. `ring`: `room` entries, virtual_agenda_room() of its items. */
static inline void virtual_agenda_open(struct virtual_agenda *a, uint64_t *ring, unsigned room)
{
    *a = (struct virtual_agenda){.ring = ring, .mask = (uint16_t)(room - 1)};
    ring[0] = UINT64_MAX;
}

static inline unsigned virtual_agenda_count(const struct virtual_agenda *a)
{
    return (uint16_t)(a->end - a->first);
}

/* The one at a place, 0 the soonest. */
static inline uint64_t virtual_agenda_key(const struct virtual_agenda *a, unsigned place)
{
    return a->ring[(a->first + place) & a->mask];
}

static inline unsigned virtual_agenda_item(uint64_t key)
{
    return (unsigned)key & ((1U << VIRTUAL_ITEM_BITS) - 1);
}

/* Of the soonest; VIRTUAL_NEVER: there is none. */
static inline uint64_t virtual_agenda_time(const struct virtual_agenda *a)
{
    return a->ring[a->first & a->mask] >> VIRTUAL_ITEM_BITS;
}

/* Puts a key in behind the first `place` or before; those that are later move up to there. */
static inline void virtual_agenda_put(struct virtual_agenda *a, unsigned place, uint64_t key)
{
    uint64_t *ring = a->ring;
    unsigned mask = a->mask;
    unsigned at = a->first + place;
    uint64_t before;
    for (; place && (before = ring[(at - 1) & mask]) > key; place--, at--)
        ring[at & mask] = before;
    ring[at & mask] = key;
}

static inline void virtual_agenda_note(struct virtual_agenda *a, uint64_t time, unsigned item)
{
    virtual_agenda_put(a, virtual_agenda_count(a), time << VIRTUAL_ITEM_BITS | item);
    a->ring[++a->end & a->mask] = UINT64_MAX;
}

/* Takes the soonest off; the agenda is not empty. */
static inline unsigned virtual_agenda_take(struct virtual_agenda *a)
{
    return virtual_agenda_item(a->ring[a->first++ & a->mask]);
}

/* An item that stands in it is for this time, if that is sooner. */
static inline void virtual_agenda_sooner(struct virtual_agenda *a, uint64_t time, unsigned item)
{
    uint64_t key = time << VIRTUAL_ITEM_BITS | item;
    unsigned nth = 0;
    while (virtual_agenda_item(virtual_agenda_key(a, nth)) != item)
        nth++;
    if (virtual_agenda_key(a, nth) > key)
        virtual_agenda_put(a, nth, key);
}

#endif
