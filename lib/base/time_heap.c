/* time_heap.c - a heap of what is to happen (time_heap.h). */
#include "base/time_heap.h"
#include "base/error.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

static bool is_before(const void *of, const void *a, const void *b)
{
    const struct time_key *one = a, *other = b;
    (void)of;
    if (one->time != other->time)
        return one->time < other->time;
    return one->turn != other->turn ? one->turn < other->turn : one->order < other->order;
}

static struct hx_heap_kind kind_of(const struct time_heap *h)
{
    return (struct hx_heap_kind){h->bytes, is_before};
}

void time_heap_push(struct time_heap *h, struct time_key *item)
{
    const struct hx_heap_kind kind = kind_of(h);
    h->item = hx_grow(h->item, h->count, &h->room, h->bytes);
    item->order = h->pushed++;
    hx_heap_put(&kind, NULL, h->item, h->count++, item);
}

bool time_heap_pop(struct time_heap *h, struct time_key *item)
{
    const struct hx_heap_kind kind = kind_of(h);
    if (h->count == 0)
        return false;
    memcpy(item, h->item, h->bytes);
    hx_heap_drop(&kind, NULL, h->item, h->count--);
    return true;
}

void time_heap_free(struct time_heap *h)
{
    free(h->item);
    *h = (struct time_heap){.bytes = h->bytes};
}
