/* event_queue.h - future events of one simulated node: (time, item) in order, in memory of fixed size.
 *
 * The caller notes every item at most once, so the number of items bounds the size. At equal times the lowest item
 * comes first: the order of insertion has no effect.
 *
 * Most new events are later than nearly all others, so insertion starts at the end. For a few tens of events that takes
 * half the instructions of a heap. The events move through the memory; they go back to its start at the end, or much
 * earlier if they are few, to stay in few cache lines. A ring would cost two more instructions per access. */
#ifndef VIRTUAL_EVENT_QUEUE_H
#define VIRTUAL_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { VIRTUAL_ITEM_BITS = 9 };
#define VIRTUAL_NEVER (UINT64_MAX >> VIRTUAL_ITEM_BITS) /* ps: ten hours */

/* Entries that an insertion compares without a branch: their number is unpredictable. */
enum { VIRTUAL_EVENT_QUEUE_LOOKS = 3, VIRTUAL_EVENT_QUEUE_FIRST = VIRTUAL_EVENT_QUEUE_LOOKS + 1 };

/* Insertions between two moves to the start, if there is room. */
enum { VIRTUAL_EVENT_QUEUE_RUN = 16 };

/* Invariant: VIRTUAL_EVENT_QUEUE_FIRST <= first <= end < limit <= room; keys at first .. end-1 rise. Zeros before them
 * stop an insertion; the latest possible key behind them makes an empty queue no special case. */
struct virtual_event_queue {
    uint64_t *key; /* [room]: time << VIRTUAL_ITEM_BITS | item */
    uint16_t room, first, end;
    uint16_t limit; /* `end` at which the events move to the start */
};

/* Entries for `items` items, at least one. The half in addition makes moves rare. */
static inline unsigned virtual_event_queue_room(unsigned items)
{
    return VIRTUAL_EVENT_QUEUE_FIRST + items + (items - 1) / 2 + 1;
}

/* Limit of `end` with `count` events at the start. */
static inline uint16_t virtual_event_queue_limit(unsigned room, unsigned count)
{
    unsigned limit = VIRTUAL_EVENT_QUEUE_FIRST + count + VIRTUAL_EVENT_QUEUE_RUN + 1;
    return (uint16_t)(limit < room ? limit : room);
}

/* Empties the queue. `key`: `room` entries, virtual_event_queue_room() of its items. */
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

/* Time of the first event; VIRTUAL_NEVER: none. */
static inline uint64_t virtual_event_queue_time(const struct virtual_event_queue *a)
{
    return a->key[a->first] >> VIRTUAL_ITEM_BITS;
}

/* Inserts a key at `at` or before; later ones move up. */
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

/* Moves the events to the start of the memory. */
void virtual_event_queue_begin_anew(struct virtual_event_queue *a);

static inline void virtual_event_queue_note(struct virtual_event_queue *a, uint64_t time, unsigned item)
{
    if (__builtin_expect(a->end + 1 == a->limit, 0))
        virtual_event_queue_begin_anew(a);
    uint64_t *end = a->key + a->end++;
    end[1] = UINT64_MAX;
    virtual_event_queue_put(end, time << VIRTUAL_ITEM_BITS | item);
}

/* Takes the first event; the queue is not empty. */
static inline unsigned virtual_event_queue_take(struct virtual_event_queue *a)
{
    uint64_t *soonest = a->key + a->first++;
    unsigned item = virtual_event_queue_item(*soonest);
    *soonest = 0;
    return item;
}

/* Takes an item out of the events at the earliest time. Returns false if it is not among them. */
bool virtual_event_queue_take_due(struct virtual_event_queue *a, unsigned item);

/* Moves an item that is in the queue to `time`, if that is earlier. */
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
