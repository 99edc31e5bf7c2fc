/* wheel.c - buckets of simulated nodes by window (wheel.h). */
#include "wheel.h"
#include "arena.h"

#include <string.h>

void virtual_wheel_open(struct virtual_wheel *w, uint32_t sim_nodes, uint64_t width)
{
    width = virtual_wheel_width(width);
    *w = (struct virtual_wheel){.width = width,
                                .reciprocal = ((uint64_t)1 << VIRTUAL_RECIPROCAL_BITS) / width + 1,
                                .reach = width * VIRTUAL_BUCKETS,
                                .words = (sim_nodes + 63) / 64,
                                .sim_nodes = sim_nodes,
                                .later_first = VIRTUAL_NO_WINDOW};
    w->bucket = virtual_arena_take((size_t)VIRTUAL_BUCKETS * w->words * sizeof *w->bucket);
    w->later = virtual_arena_take(sim_nodes * sizeof *w->later);
    memset(w->later, 0xFF, sim_nodes * sizeof *w->later);
}

void virtual_wheel_add_later(struct virtual_wheel *w, uint32_t sim_node, uint64_t time)
{
    uint64_t window = time / w->width;
    if (window < w->later[sim_node])
        w->later[sim_node] = window;
    if (window < w->later_first)
        w->later_first = window;
}

uint64_t virtual_wheel_next(const struct virtual_wheel *w)
{
    unsigned at = (unsigned)(w->current % VIRTUAL_BUCKETS);
    uint64_t ahead = w->filled >> at | (at ? w->filled << (VIRTUAL_BUCKETS - at) : 0);
    uint64_t near = ahead ? w->current + (unsigned)__builtin_ctzll(ahead) : VIRTUAL_NO_WINDOW;
    return near < w->later_first ? near : w->later_first;
}

/* Moves nodes that are near in time from `later` into the buckets. */
static void refill_buckets(struct virtual_wheel *w)
{
    w->later_first = VIRTUAL_NO_WINDOW;
    for (uint32_t e = 0; e < w->sim_nodes; e++) {
        uint64_t window = w->later[e];
        if (window == VIRTUAL_NO_WINDOW)
            continue;
        w->later[e] = VIRTUAL_NO_WINDOW;
        virtual_wheel_add(w, e, (window > w->current ? window : w->current) * w->width);
    }
}

const uint64_t *virtual_wheel_turn(struct virtual_wheel *w, uint64_t window)
{
    w->current = window;
    w->begin = window * w->width;
    if (w->later_first <= window)
        refill_buckets(w);
    return w->bucket + (size_t)(window % VIRTUAL_BUCKETS) * w->words;
}

void virtual_wheel_done(struct virtual_wheel *w)
{
    unsigned done = (unsigned)(w->current % VIRTUAL_BUCKETS);
    memset(w->bucket + (size_t)done * w->words, 0, w->words * sizeof *w->bucket);
    w->filled &= ~((uint64_t)1 << done);
}

void virtual_wheel_clear(struct virtual_wheel *w, uint64_t window)
{
    w->current = window;
    w->begin = window * w->width;
    w->filled = 0;
    w->later_first = VIRTUAL_NO_WINDOW;
    memset(w->bucket, 0, (size_t)VIRTUAL_BUCKETS * w->words * sizeof *w->bucket);
    memset(w->later, 0xFF, w->sim_nodes * sizeof *w->later);
}
