/* timeline_lanes.c - distributes intervals over lanes (timeline_lanes.h). */
#include "fabric-emu/report/timeline_lanes.h"
#include "base/error.h"
#include "base/heap.h"

#include <stdbool.h>

/* ---- heaps: the least key first, then the lowest number ---- */

static bool is_before(const void *of, const void *a, const void *b)
{
    const struct timeline_lane *one = a, *other = b;
    (void)of;
    return one->key != other->key ? one->key < other->key : one->number < other->number;
}

static const struct hx_heap_kind lanes = {sizeof(struct timeline_lane), is_before};

static struct timeline_lane pop(struct timeline_lane *heap, size_t count)
{
    const struct timeline_lane first = heap[0];
    hx_heap_drop(&lanes, NULL, heap, count);
    return first;
}

/* ---- lanes ---- */

/* Lanes without an interval from `end` on become idle. */
static void release(struct timeline_lanes *l, uint64_t end)
{
    while (l->busy_count && UINT64_MAX - l->busy[0].key >= end) {
        struct timeline_lane lane = pop(l->busy, l->busy_count--);
        lane.key = 0;
        l->idle = hx_grow(l->idle, l->idle_count, &l->idle_room, sizeof *l->idle);
        hx_heap_put(&lanes, NULL, l->idle, l->idle_count++, &lane);
    }
}

uint32_t timeline_lanes_take(struct timeline_lanes *l, uint64_t begin, uint64_t end)
{
    release(l, end);
    struct timeline_lane lane = {.key = UINT64_MAX - begin};
    lane.number = l->idle_count ? pop(l->idle, l->idle_count--).number : l->lanes++;
    l->busy = hx_grow(l->busy, l->busy_count, &l->busy_room, sizeof *l->busy);
    hx_heap_put(&lanes, NULL, l->busy, l->busy_count++, &lane);
    return lane.number;
}

void timeline_lanes_clear(struct timeline_lanes *l)
{
    l->lanes = 0;
    l->busy_count = l->idle_count = 0;
}

void timeline_lanes_free(struct timeline_lanes *l)
{
    HX_FREE(l->busy, l->idle);
}
