/* event_queue.c - rarely used parts of an event queue (event_queue.h). */
#include "event_queue.h"

#include <string.h>

void virtual_event_queue_begin_anew(struct virtual_event_queue *a)
{
    unsigned count = virtual_event_queue_count(a);
    uint64_t *begin = a->key + VIRTUAL_EVENT_QUEUE_FIRST;
    memmove(begin, a->key + a->first, (count + 1) * sizeof *a->key); /* with the sentinel */
    a->first = VIRTUAL_EVENT_QUEUE_FIRST;
    a->end = (uint16_t)(VIRTUAL_EVENT_QUEUE_FIRST + count);
    a->limit = virtual_event_queue_limit(a->room, count);
}

bool virtual_event_queue_take_due(struct virtual_event_queue *a, unsigned item)
{
    const uint64_t time = virtual_event_queue_time(a);
    uint64_t *first = a->key + a->first;
    uint64_t *at = first;
    while (at != a->key + a->end && *at >> VIRTUAL_ITEM_BITS == time && virtual_event_queue_item(*at) != item)
        at++;
    if (at == a->key + a->end || *at != (time << VIRTUAL_ITEM_BITS | item))
        return false;
    memmove(first + 1, first, (size_t)(at - first) * sizeof *first);
    *first = 0;
    a->first++;
    return true;
}
