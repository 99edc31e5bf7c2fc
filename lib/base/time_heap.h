/* time_heap.h - what is to happen, by time; at one time by turn, then in the order of pushing.
 *
 *     struct event { struct time_key key; ... };
 *     struct time_heap heap = {.bytes = sizeof(struct event)};
 *     time_heap_push(&heap, &event.key);                 sets its order
 *     while (time_heap_pop(&heap, &event.key)) ...       the first one
 *     time_heap_free(&heap); */
#ifndef HXMESH_BASE_TIME_HEAP_H
#define HXMESH_BASE_TIME_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An item begins with this. */
struct time_key {
    uint64_t time;
    uint64_t turn;  /* of items of one time, the lowest first */
    uint64_t order; /* place among all that were pushed */
};

struct time_heap {
    size_t bytes; /* of an item */
    uint8_t *item;
    size_t count, room;
    uint64_t pushed;
};

void time_heap_push(struct time_heap *h, struct time_key *item);
/* Copies the first item and takes it out. Returns false if there is none. */
bool time_heap_pop(struct time_heap *h, struct time_key *item);
void time_heap_free(struct time_heap *h);

/* Time of the first item; UINT64_MAX: there is none. */
static inline uint64_t time_heap_next(const struct time_heap *h)
{
    return h->count ? ((const struct time_key *)(const void *)h->item)->time : UINT64_MAX;
}

#endif
