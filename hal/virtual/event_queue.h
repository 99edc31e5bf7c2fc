/* event_queue.h - what one entity has to do, soonest first: (time, item) in order, in memory of fixed size.
 *
 * Every item stands in it at most once, which whoever notes it sees to; so its room follows from the number of items.
 * Among equal times the lowest item comes first: the order never depends on the order of noting. Most of what is noted
 * is later than nearly all that stands there, so it goes in from the end: with some to some tens of items that takes
 * half the instructions of a heap. What stands there moves on through the room, and back to its beginning when the end
 * is reached, or long before where little stands there, so that it stays in few cache lines: in a ring each look would
 * cost two instructions more. */
#ifndef VIRTUAL_EVENT_QUEUE_H
#define VIRTUAL_EVENT_QUEUE_H

#include <stdint.h>

enum { VIRTUAL_ITEM_BITS = 9 };
#define VIRTUAL_NEVER (UINT64_MAX >> VIRTUAL_ITEM_BITS) /* ps: ten hours */

/* Of so many places each that goes in looks at all, without a branch: how many are later than it nobody can foresee,
 * and a branch that is foretold wrongly costs as much as some sixty instructions. */
enum { VIRTUAL_EVENT_QUEUE_LOOKS = 3, VIRTUAL_EVENT_QUEUE_FIRST = VIRTUAL_EVENT_QUEUE_LOOKS + 1 };

/* What goes in between two moves to the beginning, where there is room. */
enum { VIRTUAL_EVENT_QUEUE_RUN = 16 };

/* Invariant: VIRTUAL_EVENT_QUEUE_FIRST <= first <= end < limit <= room; at first .. end-1 keys rise. Before them stand
 * zeros, so that who goes in from the end stops there, and behind them one that is later than any, so that an empty
 * agenda need not be told from others. */
struct virtual_event_queue {
    uint64_t *key; /* [room]: time << VIRTUAL_ITEM_BITS | item */
    uint16_t room, first, end;
    uint16_t limit; /* what stands there moves to the beginning when its end comes so far */
};

/* Entries for so many items, at least one: with nearly half as many to spare it moves back to the beginning seldom
 * enough. */
static inline unsigned virtual_event_queue_room(unsigned items)
{
    return VIRTUAL_EVENT_QUEUE_FIRST + items + (items - 1) / 2 + 1;
}

/* How far the end may come, where so many stand at the beginning. */
static inline uint16_t virtual_event_queue_limit(unsigned room, unsigned count)
{
    unsigned limit = VIRTUAL_EVENT_QUEUE_FIRST + count + VIRTUAL_EVENT_QUEUE_RUN + 1;
    return (uint16_t)(limit < room ? limit : room);
}

/* An empty one. `key`: `room` entries, virtual_event_queue_room() of its items. */
static inline void virtual_event_queue_open(struct virtual_event_queue *a, uint64_t *key, unsigned room)
{
    *a = (struct virtual_event_queue){.key = key,
                                      .room = (uint16_t)room,
                                      .first = VIRTUAL_EVENT_QUEUE_FIRST,
                                      .end = VIRTUAL_EVENT_QUEUE_FIRST,
                                      .limit = virtual_event_queue_limit(room, 0)};
    for (unsigned i = 0; i < VIRTUAL_EVENT_QUEUE_FIRST; i++)
        key[i] = 0;
    key[VIRTUAL_EVENT_QUEUE_FIRST] = UINT64_MAX;
}

static inline unsigned virtual_event_queue_count(const struct virtual_event_queue *a)
{
    return (unsigned)a->end - a->first;
}

static inline unsigned virtual_event_queue_item(uint64_t key)
{
    return (unsigned)key & ((1U << VIRTUAL_ITEM_BITS) - 1);
}

/* Of the soonest; VIRTUAL_NEVER: there is none. */
static inline uint64_t virtual_event_queue_time(const struct virtual_event_queue *a)
{
    return a->key[a->first] >> VIRTUAL_ITEM_BITS;
}

/* Puts a key in at `at`, or before: those that are later move up to there. */
static inline void virtual_event_queue_put(uint64_t *at, uint64_t key)
{
    for (unsigned i = 0; i < VIRTUAL_EVENT_QUEUE_LOOKS; i++, at--) {
        uint64_t before = at[-1];
        *at = before > key ? before : key;
        key = before > key ? key : before;
    }
    for (; at[-1] > key; at--)
        *at = at[-1];
    *at = key;
}

/* Moves what stands there to the beginning. */
void virtual_event_queue_begin_anew(struct virtual_event_queue *a);

static inline void virtual_event_queue_note(struct virtual_event_queue *a, uint64_t time, unsigned item)
{
    if (__builtin_expect(a->end + 1 == a->limit, 0))
        virtual_event_queue_begin_anew(a);
    uint64_t *end = a->key + a->end++;
    end[1] = UINT64_MAX;
    virtual_event_queue_put(end, time << VIRTUAL_ITEM_BITS | item);
}

/* Takes the soonest off; the agenda is not empty. */
static inline unsigned virtual_event_queue_take(struct virtual_event_queue *a)
{
    uint64_t *soonest = a->key + a->first++;
    unsigned item = virtual_event_queue_item(*soonest);
    *soonest = 0;
    return item;
}

/* An item that stands in it is for this time, if that is sooner. */
static inline void virtual_event_queue_sooner(struct virtual_event_queue *a, uint64_t time, unsigned item)
{
    uint64_t key = time << VIRTUAL_ITEM_BITS | item;
    uint64_t *at = a->key + a->first;
    while (virtual_event_queue_item(*at) != item)
        at++;
    if (*at > key)
        virtual_event_queue_put(at, key);
}

#endif
