/* event_queue.c - moves an event queue back to the start of its memory (event_queue.h). */
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
