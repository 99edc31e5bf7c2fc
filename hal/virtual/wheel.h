/* wheel.h - which entities of a worker have something to do in which window of time.
 *
 * Time is cut into windows of virtual_timing.window. A bucket is a set of entities, one bit each, for each of the next
 * VIRTUAL_BUCKETS windows, taken in turn; who has something further ahead waits in `later` with its time. Within a window
 * entities are independent, so they are visited one after the other in the order of their numbers, each for all it has to
 * do in the window: what it needs is then in the cache, and no event is ever sorted among those of others.
 *
 * Invariant: an entity that has something to do at time t is in the bucket of t, in an earlier one, or in `later` with a
 * time up to t. To be visited without need costs a little and changes nothing. */
#ifndef VIRTUAL_WHEEL_H
#define VIRTUAL_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

enum { VIRTUAL_BUCKETS = 64, VIRTUAL_NEAR = 8 };
#define VIRTUAL_NO_WINDOW UINT64_MAX

struct virtual_wheel {
    uint64_t width;   /* ps of a window */
    uint64_t current; /* window being visited */
    uint64_t end;     /* of it, ps */
    uint32_t words;   /* of a bucket */
    uint32_t entities;
    uint64_t filled;      /* buckets that are not empty, bit by window % VIRTUAL_BUCKETS */
    uint64_t *bucket;     /* [VIRTUAL_BUCKETS][words] */
    uint64_t *later;      /* [entities]: window, or VIRTUAL_NO_WINDOW */
    uint64_t later_first; /* no window in `later` is earlier */
};

void virtual_wheel_open(struct virtual_wheel *w, uint32_t entities, uint64_t width);

void virtual_wheel_add_later(struct virtual_wheel *w, uint32_t entity, uint64_t window);

/* The entity has something to do at `time`, in the current window or after it. */
static inline void virtual_wheel_add(struct virtual_wheel *w, uint32_t entity, uint64_t time)
{
    uint64_t window = w->current;
    uint64_t end = w->end;
    for (; time >= end && window - w->current < VIRTUAL_NEAR; window++)
        end += w->width;
    if (time >= end && w->width) /* far: a division is dearer than what is near by some windows */
        window = time / w->width;
    if (window - w->current >= VIRTUAL_BUCKETS) {
        virtual_wheel_add_later(w, entity, window);
        return;
    }
    unsigned n = (unsigned)(window % VIRTUAL_BUCKETS);
    w->bucket[n * w->words + entity / 64] |= (uint64_t)1 << entity % 64;
    w->filled |= (uint64_t)1 << n;
}

/* The first window from `current` on in which there is something, or VIRTUAL_NO_WINDOW. */
uint64_t virtual_wheel_next(const struct virtual_wheel *w);

/* Goes on to `window`, which skips none that has something. Its set may be read until virtual_wheel_done(). */
const uint64_t *virtual_wheel_turn(struct virtual_wheel *w, uint64_t window);
/* All in the current window have been visited. */
void virtual_wheel_done(struct virtual_wheel *w);

#endif
