/* timeline_lanes.c - distributes intervals over lanes (timeline_lanes.h). */
#include "fabric-emu/report/timeline_lanes.h"
#include "base/error.h"

#include <stdbool.h>

/* ---- heaps: the least key first, then the lowest number ---- */

static bool is_before(const struct timeline_lane *a, const struct timeline_lane *b)
{
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

static void push(struct timeline_lane *heap, size_t count, struct timeline_lane lane)
{
    size_t at = count;
    for (; at && is_before(&lane, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = lane;
}

static struct timeline_lane pop(struct timeline_lane *heap, size_t count)
{
    struct timeline_lane first = heap[0];
    struct timeline_lane last = heap[count - 1];
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
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
        push(l->idle, l->idle_count++, lane);
    }
}

uint32_t timeline_lanes_take(struct timeline_lanes *l, uint64_t begin, uint64_t end)
{
    release(l, end);
    struct timeline_lane lane = {.key = UINT64_MAX - begin};
    lane.number = l->idle_count ? pop(l->idle, l->idle_count--).number : l->lanes++;
    l->busy = hx_grow(l->busy, l->busy_count, &l->busy_room, sizeof *l->busy);
    push(l->busy, l->busy_count++, lane);
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
