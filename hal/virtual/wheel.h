/* wheel.h - which entities of a worker have something to do in which window of time.
 *
 * Time is cut into windows of virtual_timing.window. A bucket is a set of entities, one bit each, for each of the next
 * VIRTUAL_BUCKETS windows, taken in turn; who has something further ahead waits in `later` with its time. Within a
 * window entities are independent, so they are visited one after the other in the order of their numbers, each for all
 * it has to do in the window: what it needs is then in the cache, and no event is ever sorted among those of others.
 *
 * Invariant: an entity that has something to do at time t is in the bucket of t, in an earlier one, or in `later` with
 * a time up to t. To be visited without need costs a little and changes nothing. */
#ifndef VIRTUAL_WHEEL_H
#define VIRTUAL_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

enum { VIRTUAL_BUCKETS = 64, VIRTUAL_RECIPROCAL_BITS = 56 };
/* ps of a window at most: with it a number of windows among the buckets is exact by a multiplication
 * (virtual_wheel_add). */
#define VIRTUAL_WINDOW_MOST ((uint64_t)1 << 25)
#define VIRTUAL_NO_WINDOW   UINT64_MAX

struct virtual_wheel {
    uint64_t width;      /* ps of a window, up to VIRTUAL_WINDOW_MOST */
    uint64_t reciprocal; /* of the width, rounded up */
    uint64_t current;    /* window being visited */
    uint64_t begin;      /* of it, ps */
    uint64_t reach;      /* ps of all buckets' windows */
    uint32_t words;      /* of a bucket */
    uint32_t sim_nodes;
    uint64_t filled;      /* buckets that are not empty, bit by window % VIRTUAL_BUCKETS */
    uint64_t *bucket;     /* [VIRTUAL_BUCKETS][words] */
    uint64_t *later;      /* [entities]: window, or VIRTUAL_NO_WINDOW */
    uint64_t later_first; /* no window in `later` is earlier */
};

/* Windows of `width` ps, or of VIRTUAL_WINDOW_MOST if that is less: shorter ones are as right. */
void virtual_wheel_open(struct virtual_wheel *w, uint32_t sim_nodes, uint64_t width);

/* Beyond the buckets. */
void virtual_wheel_add_later(struct virtual_wheel *w, uint32_t sim_node, uint64_t time);

/* The entity has something to do at `time`, in the current window or after it. How many windows after it nobody can
 * foresee, so there is no branch for it. */
static inline void virtual_wheel_add(struct virtual_wheel *w, uint32_t sim_node, uint64_t time)
{
    uint64_t ahead = time - w->begin;
    if (__builtin_expect(ahead >= w->reach, 0)) {
        virtual_wheel_add_later(w, sim_node, time);
        return;
    }
    uint64_t window = w->current + (ahead * w->reciprocal >> VIRTUAL_RECIPROCAL_BITS);
    unsigned n = (unsigned)(window % VIRTUAL_BUCKETS);
    w->bucket[n * w->words + sim_node / 64] |= (uint64_t)1 << sim_node % 64;
    w->filled |= (uint64_t)1 << n;
}

/* The first window from `current` on in which there is something, or VIRTUAL_NO_WINDOW. */
uint64_t virtual_wheel_next(const struct virtual_wheel *w);

/* Goes on to `window`, which skips none that has something. Its set may be read until virtual_wheel_done(). */
const uint64_t *virtual_wheel_turn(struct virtual_wheel *w, uint64_t window);
/* All in the current window have been visited. */
void virtual_wheel_done(struct virtual_wheel *w);

#endif
