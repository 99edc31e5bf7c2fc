/* time_heap.c - a binary heap (time_heap.h). */
#include "base/time_heap.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static struct time_key *at(const struct time_heap *h, size_t index)
{
    return (struct time_key *)(void *)(h->item + index * h->bytes);
}

static bool is_before(const struct time_key *a, const struct time_key *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->turn != b->turn ? a->turn < b->turn : a->order < b->order;
}

void time_heap_push(struct time_heap *h, struct time_key *item)
{
    h->item = hx_grow(h->item, h->count, &h->room, h->bytes);
    item->order = h->pushed++;
    size_t place = h->count++;
    for (; place && is_before(item, at(h, (place - 1) / 2)); place = (place - 1) / 2)
        memcpy(at(h, place), at(h, (place - 1) / 2), h->bytes);
    memcpy(at(h, place), item, h->bytes);
}

bool time_heap_pop(struct time_heap *h, struct time_key *item)
{
    if (h->count == 0)
        return false;
    memcpy(item, h->item, h->bytes);
    const struct time_key *last = at(h, --h->count);
    size_t place = 0;
    for (size_t child = 1; child < h->count; child = 2 * place + 1) {
        if (child + 1 < h->count && is_before(at(h, child + 1), at(h, child)))
            child++;
        if (!is_before(at(h, child), last))
            break;
        memcpy(at(h, place), at(h, child), h->bytes);
        place = child;
    }
    memmove(at(h, place), last, h->bytes);
    return true;
}

void time_heap_free(struct time_heap *h)
{
    free(h->item);
    *h = (struct time_heap){.bytes = h->bytes};
}
