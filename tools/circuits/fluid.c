/* fluid.c - max-min fair flows in time (fluid.h). */
#include "tools/circuits/fluid.h"
#include "base/error.h"
#include "base/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct flow {
    struct fluid_share *share; /* [shares] */
    uint32_t shares;
    bool used;    /* its number is taken */
    double left;  /* bytes; 0: ended */
    double speed; /* bytes a second, unless rates are old */
};

/* A link while rates are filled. */
struct fill {
    double free;         /* bytes a second */
    double weight;       /* shares of the flows with rates that still rise */
    double level;        /* bytes a second of a flow when the link is full, or less */
    uint32_t rising;     /* these flows */
    uint32_t first, end; /* in struct fluid.on: all flows that pass over it */
};

struct fluid {
    uint32_t links;
    double grain;
    double *rate; /* [links] bytes a second */
    struct flow *flow;
    uint32_t flows, open;
    uint32_t lowest; /* no number below it is free */
    size_t room;
    bool old;          /* rates are to be filled again */
    struct fill *fill; /* [links] */
    uint32_t *live;    /* [links]: those with rates that rise, a heap by level, the least first */
    uint32_t *on;      /* flows by link */
    size_t on_room;
};

struct fluid *fluid_new(uint32_t links, double grain)
{
    struct fluid *f = hx_allocate(1, sizeof *f);
    f->links = links;
    f->grain = grain;
    f->rate = hx_allocate(links, sizeof *f->rate);
    f->fill = hx_allocate(links, sizeof *f->fill);
    f->live = hx_allocate(links, sizeof *f->live);
    return f;
}

void fluid_free(struct fluid *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < f->flows; i++)
        free(f->flow[i].share);
    free(f->flow);
    free(f->rate);
    free(f->fill);
    free(f->live);
    free(f->on);
    free(f);
}

void fluid_set_rate(struct fluid *f, uint32_t link, double rate)
{
    f->old = f->old || f->rate[link] != rate;
    f->rate[link] = rate;
}

void fluid_turn(struct fluid *f, uint32_t flow, const struct fluid_share *share, uint32_t shares)
{
    struct flow *w = &f->flow[flow];
    free(w->share);
    w->share = shares ? hx_allocate(shares, sizeof *share) : NULL;
    w->shares = shares;
    if (shares)
        memcpy(w->share, share, shares * sizeof *share);
    f->old = true;
}

uint32_t fluid_add(struct fluid *f, const struct fluid_share *share, uint32_t shares, double bytes)
{
    uint32_t i = f->lowest;
    while (i < f->flows && f->flow[i].used)
        i++;
    f->lowest = i + 1;
    if (i == f->flows) {
        f->flow = hx_grow(f->flow, f->flows, &f->room, sizeof *f->flow);
        f->flow[f->flows++] = (struct flow){.used = false};
    }
    f->flow[i].used = true;
    f->flow[i].left = bytes;
    f->open++;
    fluid_turn(f, i, share, shares);
    return i;
}

void fluid_remove(struct fluid *f, uint32_t flow)
{
    struct flow *w = &f->flow[flow];
    if (w->left > 0) {
        f->open--;
        f->old = true;
    }
    free(w->share);
    *w = (struct flow){.used = false};
    if (flow < f->lowest)
        f->lowest = flow;
}

double fluid_left(const struct fluid *f, uint32_t flow)
{
    return f->flow[flow].left;
}

uint32_t fluid_open(const struct fluid *f)
{
    return f->open;
}

/* ---- rates ---- */

/* Whether a flow moves at all. */
static bool moves(const struct fluid *f, const struct flow *w)
{
    if (!(w->left > 0) || !w->shares)
        return false;
    for (uint32_t i = 0; i < w->shares; i++)
        if (f->rate[w->share[i].link] <= 0)
            return false;
    return true;
}

/* Fills f->fill and f->on from the flows that move; speeds are 0 then. Returns the number of links in f->live. */
static uint32_t begin_fill(struct fluid *f)
{
    uint32_t live = 0, places = 0;
    for (uint32_t l = 0; l < f->links; l++)
        f->fill[l] = (struct fill){.free = f->rate[l]};
    for (uint32_t i = 0; i < f->flows; i++) {
        struct flow *w = &f->flow[i];
        w->speed = moves(f, w) ? INFINITY : 0;
        for (uint32_t s = 0; w->speed > 0 && s < w->shares; s++) {
            f->fill[w->share[s].link].rising++;
            f->fill[w->share[s].link].weight += w->share[s].share;
        }
    }
    for (uint32_t l = 0; l < f->links; l++) {
        f->fill[l].first = f->fill[l].end = places;
        places += f->fill[l].rising;
        if (f->fill[l].rising)
            f->live[live++] = l;
    }
    if (places > f->on_room) {
        free(f->on);
        f->on = hx_allocate(places, sizeof *f->on);
        f->on_room = places;
    }
    for (uint32_t i = 0; i < f->flows; i++)
        for (uint32_t s = 0; f->flow[i].speed > 0 && s < f->flow[i].shares; s++)
            f->on[f->fill[f->flow[i].share[s].link].end++] = i;
    return live;
}

static double level_of(const struct fill *l)
{
    return l->weight > 0 ? fmax(0, l->free) / l->weight : INFINITY;
}

/* The flows over a full link keep their rate. */
static void stop(struct fluid *f, uint32_t link, double level)
{
    for (uint32_t i = f->fill[link].first; i < f->fill[link].end; i++) {
        struct flow *w = &f->flow[f->on[i]];
        if (isfinite(w->speed))
            continue;
        w->speed = level;
        for (uint32_t s = 0; s < w->shares; s++) {
            struct fill *l = &f->fill[w->share[s].link];
            l->free -= w->share[s].share * level;
            l->weight -= w->share[s].share;
            l->rising--;
        }
    }
}

/* Levels and bytes that differ by less than this count as equal. */
static const double alike = 1 + 1e-12;

static bool is_lower(const void *fills, const void *a, const void *b)
{
    const struct fill *fill = fills;
    return fill[*(const uint32_t *)a].level < fill[*(const uint32_t *)b].level;
}

static const struct hx_heap_kind by_level = {sizeof(uint32_t), is_lower};

/* Puts f->live[at] where it belongs below. */
static void sink(struct fluid *f, uint32_t live, uint32_t at)
{
    const uint32_t link = f->live[at];
    hx_heap_sink(&by_level, f->fill, f->live, live, at, &link);
}

/* A link's level only rises, so the first of the heap may be late, never early. */
static void fill_rates(struct fluid *f)
{
    uint32_t live = begin_fill(f);
    f->old = false;
    for (uint32_t i = 0; i < live; i++)
        f->fill[f->live[i]].level = level_of(&f->fill[f->live[i]]);
    for (uint32_t i = live / 2; i-- > 0;)
        sink(f, live, i);
    while (live) {
        struct fill *first = &f->fill[f->live[0]];
        const double level = level_of(first);
        const bool full = level <= first->level * alike;
        if (first->rising && full)
            stop(f, f->live[0], level);
        first->level = level;
        if (first->rising)
            sink(f, live, 0);
        else
            hx_heap_drop(&by_level, f->fill, f->live, live--);
    }
}

double fluid_speed(struct fluid *f, uint32_t flow)
{
    if (f->old)
        fill_rates(f);
    return f->flow[flow].speed;
}

/* ---- time ---- */

/* Seconds to the last end of a flow that belongs to the next event. */
static double next_event(const struct fluid *f)
{
    double first = INFINITY, last = 0;
    for (uint32_t i = 0; i < f->flows; i++)
        if (f->flow[i].speed > 0)
            first = fmin(first, f->flow[i].left / f->flow[i].speed);
    for (uint32_t i = 0; i < f->flows; i++)
        if (f->flow[i].speed > 0 && f->flow[i].left / f->flow[i].speed <= first + f->grain)
            last = fmax(last, f->flow[i].left / f->flow[i].speed);
    return fmax(first, last);
}

double fluid_advance(struct fluid *f, double most)
{
    if (f->old)
        fill_rates(f);
    const double step = fmin(most, next_event(f));
    for (uint32_t i = 0; isfinite(step) && i < f->flows; i++) {
        struct flow *w = &f->flow[i];
        if (!(w->speed > 0))
            continue;
        const double moved = w->speed * step;
        w->left = moved * alike >= w->left ? 0 : w->left - moved;
        if (w->left > 0)
            continue;
        w->speed = 0;
        f->open--;
        f->old = true;
    }
    return step;
}
