/* timeline_tracks.c - distributes intervals over tracks (timeline_tracks.h). */
#include "fabric-emu/report/timeline_tracks.h"
#include "base/error.h"
#include "base/heap.h"

#include <stdbool.h>

/* ---- heaps: the least key first, then the lowest number ---- */

static bool is_before(const void *of, const void *a, const void *b)
{
    const struct timeline_track *one = a, *other = b;
    (void)of;
    return one->key != other->key ? one->key < other->key : one->number < other->number;
}

static const struct hx_heap_kind tracks = {sizeof(struct timeline_track), is_before};

static struct timeline_track pop(struct timeline_track *heap, size_t count)
{
    const struct timeline_track first = heap[0];
    hx_heap_drop(&tracks, NULL, heap, count);
    return first;
}

/* ---- tracks ---- */

/* Lanes without an interval from `end` on become idle. */
static void release(struct timeline_tracks *l, uint64_t end)
{
    while (l->busy_count && UINT64_MAX - l->busy[0].key >= end) {
        struct timeline_track track = pop(l->busy, l->busy_count--);
        track.key = 0;
        l->idle = hx_grow(l->idle, l->idle_count, &l->idle_room, sizeof *l->idle);
        hx_heap_put(&tracks, NULL, l->idle, l->idle_count++, &track);
    }
}

uint32_t timeline_tracks_take(struct timeline_tracks *l, uint64_t begin, uint64_t end)
{
    release(l, end);
    struct timeline_track track = {.key = UINT64_MAX - begin};
    track.number = l->idle_count ? pop(l->idle, l->idle_count--).number : l->tracks++;
    l->busy = hx_grow(l->busy, l->busy_count, &l->busy_room, sizeof *l->busy);
    hx_heap_put(&tracks, NULL, l->busy, l->busy_count++, &track);
    return track.number;
}

void timeline_tracks_clear(struct timeline_tracks *l)
{
    l->tracks = 0;
    l->busy_count = l->idle_count = 0;
}

void timeline_tracks_free(struct timeline_tracks *l)
{
    HX_FREE(l->busy, l->idle);
}
