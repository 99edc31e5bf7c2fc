/* wheel.h - which simulated nodes of a worker have events in which window.
 *
 * Time is cut into windows of virtual_timing.window. A bucket is a set of nodes, one bit each; the next VIRTUAL_BUCKETS
 * windows have one bucket each. Events further ahead wait in `later`. Within a window nodes are independent. A worker
 * visits them in order of their numbers, each for all its events of the window. The node's data is then in the cache,
 * and events of different nodes need no sorting.
 *
 * Invariant: a node with an event at time t is in the bucket of t or an earlier one, or in `later` with a time up to t.
 * An unnecessary visit costs little and changes nothing. */
#ifndef VIRTUAL_WHEEL_H
#define VIRTUAL_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

enum { VIRTUAL_BUCKETS = 64, VIRTUAL_RECIPROCAL_BITS = 56 };
/* ps: longest window. Up to it virtual_wheel_add() computes the bucket exactly by a multiplication. */
#define VIRTUAL_WINDOW_MOST ((uint64_t)1 << 25)
#define VIRTUAL_NO_WINDOW   UINT64_MAX

/* The width of windows of up to `width` ps. */
static inline uint64_t virtual_wheel_width(uint64_t width)
{
    return width < VIRTUAL_WINDOW_MOST ? width : VIRTUAL_WINDOW_MOST;
}

struct virtual_wheel {
    uint64_t width;      /* ps of a window, at most VIRTUAL_WINDOW_MOST */
    uint64_t reciprocal; /* of the width, rounded up */
    uint64_t current;    /* window being visited */
    uint64_t begin;      /* of it, ps */
    uint64_t reach;      /* ps of all buckets' windows */
    uint32_t words;      /* of a bucket */
    uint32_t sim_nodes;
    uint64_t filled;      /* non-empty buckets, bit by window % VIRTUAL_BUCKETS */
    uint64_t *bucket;     /* [VIRTUAL_BUCKETS][words] */
    uint64_t *later;      /* [nodes]: window, or VIRTUAL_NO_WINDOW */
    uint64_t later_first; /* lower bound of the windows in `later` */
};

/* Opens a wheel with windows of `width` ps, at most VIRTUAL_WINDOW_MOST: shorter windows are correct too. */
void virtual_wheel_open(struct virtual_wheel *w, uint32_t sim_nodes, uint64_t width);

/* Adds an event beyond the buckets. */
void virtual_wheel_add_later(struct virtual_wheel *w, uint32_t sim_node, uint64_t time);

/* Adds an event at `time`, in the current window or later. How many windows later is unpredictable, so branch-free. */
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

/* Returns the first window with an event, not before `current`; VIRTUAL_NO_WINDOW: none. */
uint64_t virtual_wheel_next(const struct virtual_wheel *w);

/* Advances to `window`, which skips no event. The returned set is valid until virtual_wheel_done(). */
const uint64_t *virtual_wheel_turn(struct virtual_wheel *w, uint64_t window);
/* Forgets all events, and goes to a window: the caller adds them again. */
void virtual_wheel_clear(struct virtual_wheel *w, uint64_t window);
/* Ends the current window: all its nodes have been visited. */
void virtual_wheel_done(struct virtual_wheel *w);

#endif
