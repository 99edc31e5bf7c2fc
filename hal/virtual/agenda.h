/* agenda.h - what one entity has to do, soonest first: a binary heap of (time, item) in memory of fixed size.
 *
 * Every item stands in it at most once, which whoever notes it sees to; so its room is the number of items. Among equal
 * times the lowest item comes first: the order never depends on the order of noting. */
#ifndef VIRTUAL_AGENDA_H
#define VIRTUAL_AGENDA_H

#include <stdint.h>

enum { VIRTUAL_ITEM_BITS = 8 };
#define VIRTUAL_NEVER (UINT64_MAX >> VIRTUAL_ITEM_BITS)

struct virtual_agenda {
    uint64_t *heap; /* time << 8 | item */
    uint32_t count;
};

static inline uint64_t virtual_agenda_time(const struct virtual_agenda *a)
{
    return a->count ? a->heap[0] >> VIRTUAL_ITEM_BITS : VIRTUAL_NEVER;
}

static inline void virtual_agenda_note(struct virtual_agenda *a, uint64_t time, unsigned item)
{
    uint64_t key = time << VIRTUAL_ITEM_BITS | item;
    uint32_t at = a->count++;
    while (at) {
        uint32_t parent = (at - 1) / 2;
        if (a->heap[parent] <= key)
            break;
        a->heap[at] = a->heap[parent];
        at = parent;
    }
    a->heap[at] = key;
}

/* Takes the soonest off; the agenda is not empty. */
static inline unsigned virtual_agenda_take(struct virtual_agenda *a)
{
    unsigned item = (unsigned)(a->heap[0] & ((1U << VIRTUAL_ITEM_BITS) - 1));
    uint64_t key = a->heap[--a->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < a->count; child = 2 * at + 1) {
        child += child + 1 < a->count && a->heap[child + 1] < a->heap[child];
        if (key <= a->heap[child])
            break;
        a->heap[at] = a->heap[child];
        at = child;
    }
    a->heap[at] = key;
    return item;
}

/* An item that stands in it is for this time, if that is sooner. */
static inline void virtual_agenda_sooner(struct virtual_agenda *a, uint64_t time, unsigned item)
{
    uint64_t key = time << VIRTUAL_ITEM_BITS | item;
    uint32_t at = 0;
    while ((a->heap[at] ^ key) & ((1U << VIRTUAL_ITEM_BITS) - 1))
        at++;
    if (a->heap[at] <= key)
        return;
    for (; at && a->heap[(at - 1) / 2] > key; at = (at - 1) / 2)
        a->heap[at] = a->heap[(at - 1) / 2];
    a->heap[at] = key;
}

#endif
