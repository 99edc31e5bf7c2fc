/* reconfigure.c - circuits that change while an iteration runs (reconfigure.h). */
#include "tools/circuits/reconfigure.h"
#include "base/error.h"
#include "tools/circuits/fluid.h"
#include "tools/circuits/other.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NONE = UINT32_MAX,
    EVENTS = 200,         /* of an iteration's flows, about, if circuits change */
    EVENTS_FORWARDED = 25 /* the same, if flows pass over many circuits */
};

/* Bytes from a server to another. */
struct pair {
    uint32_t flow;   /* NONE: nothing is sent */
    uint32_t hops;   /* of its longest path; 0: it waits */
    double counted;  /* bytes left that `carried` does not have yet */
    double circuits; /* that a byte passes over, mean */
};

struct run {
    const struct reconfigure *how;
    uint32_t n;
    double rate; /* of a circuit, bytes a second */
    struct fluid *fluid;
    struct pair *pair;       /* [n * n] */
    double *bytes;           /* [n * n]: what a phase begins with, or what is left */
    unsigned *count;         /* [n * n]: circuits that carry */
    struct circuits active;  /* carry */
    struct circuits awaited; /* carry from `lit` on; .servers 0: none */
    double now, lit, looked;
    bool demand_changed; /* since the last look */
    uint32_t longest;    /* circuits of a path in this phase */
    struct reconfigured result;
    /* Of routes: */
    uint32_t *near, *nears;    /* [n * degree], [n]: neighbours, each once */
    uint32_t *queue;           /* [n] */
    double *part;              /* [n] */
    struct fluid_share *share; /* [n * degree] */
};

struct reconfigure reconfigure_as_ocs(double gbps, double latency)
{
    return (struct reconfigure){
        .gbps = gbps, .latency = latency, .dark = 10e-3, .period = 50e-3, .forwards = true, .discount = 0.5};
}

struct reconfigure reconfigure_as_sip_ml(double gbps, double latency)
{
    return (struct reconfigure){
        .gbps = gbps, .latency = latency, .dark = 25e-6, .period = 4 * 25e-6, .eager = true, .discount = 1};
}

/* ---- routes ---- */

static void find_neighbours(struct run *r)
{
    memset(r->nears, 0, r->n * sizeof *r->nears);
    for (uint32_t i = 0; i < r->active.count; i++) {
        const uint32_t end[] = {r->active.circuit[i].a, r->active.circuit[i].b};
        for (unsigned e = 0; e < 2; e++) {
            uint32_t *near = &r->near[(size_t)end[e] * r->active.degree];
            uint32_t at = 0;
            while (at < r->nears[end[e]] && near[at] != end[!e])
                at++;
            if (at == r->nears[end[e]])
                near[r->nears[end[e]]++] = end[!e];
        }
    }
}

/* Divides a flow evenly over the circuits to the next servers, at each step. distance: [n], to the flow's end. Returns
 * the number of shares. */
static uint32_t divide(struct run *r, uint32_t from, const uint32_t *distance)
{
    uint32_t shares = 0, filled = 0;
    memset(r->part, 0, r->n * sizeof *r->part);
    r->part[from] = 1;
    r->queue[filled++] = from;
    for (uint32_t i = 0; i < filled && distance[r->queue[i]] > 0; i++) {
        const uint32_t at = r->queue[i];
        const uint32_t *near = &r->near[(size_t)at * r->active.degree];
        unsigned circuits = 0;
        for (uint32_t k = 0; k < r->nears[at]; k++)
            if (distance[near[k]] + 1 == distance[at])
                circuits += r->count[(size_t)at * r->n + near[k]];
        for (uint32_t k = 0; k < r->nears[at]; k++) {
            const uint32_t link = at * r->n + near[k];
            if (distance[near[k]] + 1 != distance[at])
                continue;
            const double share = r->part[at] * r->count[link] / circuits;
            r->share[shares++] = (struct fluid_share){link, share};
            if (!(r->part[near[k]] > 0))
                r->queue[filled++] = near[k];
            r->part[near[k]] += share;
        }
    }
    return shares;
}

/* Adds what a flow has sent over circuits since this was asked last. */
static void count_carried(struct run *r, struct pair *p)
{
    const double left = fluid_left(r->fluid, p->flow);
    r->result.carried += (p->counted - left) * p->circuits;
    p->counted = left;
}

/* distance: [n], to `to`; NULL: servers do not forward. */
static void turn(struct run *r, uint32_t from, uint32_t to, const uint32_t *distance)
{
    struct pair *p = &r->pair[(size_t)from * r->n + to];
    uint32_t shares = 0;
    count_carried(r, p);
    if (distance && distance[from] != CIRCUITS_APART) {
        shares = divide(r, from, distance);
    } else if (!distance && r->count[from * r->n + to]) {
        r->share[0] = (struct fluid_share){from * r->n + to, 1};
        shares = 1;
    }
    p->circuits = 0;
    for (uint32_t i = 0; i < shares; i++)
        p->circuits += r->share[i].share;
    p->hops = shares ? (distance ? distance[from] : 1) : 0;
    r->longest = p->hops > r->longest ? p->hops : r->longest;
    fluid_turn(r->fluid, p->flow, r->share, shares);
}

static bool is_open(const struct run *r, uint32_t from, uint32_t to)
{
    const struct pair *p = &r->pair[(size_t)from * r->n + to];
    return p->flow != NONE && fluid_left(r->fluid, p->flow) > 0;
}

static void route(struct run *r)
{
    uint32_t *distance = r->how->forwards ? circuits_distances(&r->active) : NULL;
    for (uint32_t to = 0; to < r->n; to++)
        for (uint32_t from = 0; from < r->n; from++)
            if (is_open(r, from, to))
                turn(r, from, to, distance ? distance + (size_t)to * r->n : NULL);
    free(distance);
}

/* ---- circuits ---- */

static void set_rates(struct run *r, int sign)
{
    for (uint32_t i = 0; i < r->active.count; i++) {
        const uint32_t a = r->active.circuit[i].a, b = r->active.circuit[i].b;
        r->count[a * r->n + b] += (unsigned)sign;
        r->count[b * r->n + a] += (unsigned)sign;
        fluid_set_rate(r->fluid, a * r->n + b, r->count[a * r->n + b] * r->rate);
        fluid_set_rate(r->fluid, b * r->n + a, r->count[b * r->n + a] * r->rate);
    }
}

/* Lets these circuits carry in place of the active ones; takes them over. */
static void activate(struct run *r, struct circuits c)
{
    set_rates(r, -1);
    circuits_free(&r->active);
    r->active = c;
    set_rates(r, 1);
    find_neighbours(r);
    route(r);
}

/* The circuits of a plan that carry already. */
static struct circuits kept_of(struct run *r, const struct circuits *plan)
{
    struct circuits kept;
    unsigned *left = hx_allocate((size_t)r->n * r->n, sizeof *left);
    circuits_new(&kept, r->n, plan->degree);
    memcpy(left, r->count, (size_t)r->n * r->n * sizeof *left);
    for (uint32_t i = 0; i < plan->count; i++) {
        const uint32_t a = plan->circuit[i].a, b = plan->circuit[i].b;
        if (!left[a * r->n + b])
            continue;
        left[a * r->n + b]--;
        left[b * r->n + a]--;
        (void)circuits_add(&kept, a, b);
    }
    free(left);
    return kept;
}

static void look(struct run *r)
{
    const struct reconfigure *how = r->how;
    struct circuits plan;
    r->looked = r->now;
    r->demand_changed = false;
    if (!fluid_open(r->fluid))
        return;
    for (uint32_t from = 0; from < r->n; from++)
        for (uint32_t to = 0; to < r->n; to++)
            r->bytes[from * r->n + to] =
                is_open(r, from, to) ? fluid_left(r->fluid, r->pair[from * r->n + to].flow) : 0;
    circuits_greedy(&plan, r->bytes, r->n, r->active.degree, how->discount,
                    how->discount == 1 ? r->rate * how->period : 0, how->forwards);
    struct circuits kept = kept_of(r, &plan);
    const uint32_t set = plan.count - kept.count;
    r->result.changes += set;
    r->result.looks += set > 0 || kept.count < r->active.count;
    if (how->dark > 0 && set > 0) {
        r->awaited = plan;
        r->lit = r->now + how->dark;
        activate(r, kept);
        return;
    }
    circuits_free(&kept);
    activate(r, plan);
}

/* ---- time ---- */

/* When circuits carry that are awaited, or the controller looks again; INFINITY: never. */
static double next_event(const struct run *r)
{
    if (r->awaited.servers)
        return r->lit;
    if (r->how->eager && !r->demand_changed)
        return INFINITY;
    return r->looked + r->how->period;
}

static void handle_event(struct run *r)
{
    if (!r->awaited.servers) {
        look(r);
        return;
    }
    struct circuits awaited = r->awaited;
    r->awaited.servers = 0;
    activate(r, awaited);
}

/* Lets time pass until `end`; INFINITY: until no flow is open. Returns false if flows wait for ever. */
static bool pass(struct run *r, double end)
{
    while (isfinite(end) ? r->now < end : fluid_open(r->fluid) > 0) {
        const double event = next_event(r), most = fmin(end, event) - r->now;
        const uint32_t open = fluid_open(r->fluid);
        const double step = most > 0 ? fluid_advance(r->fluid, most) : 0;
        if (!isfinite(step))
            return false;
        r->now = step < most ? r->now + step : fmax(r->now, fmin(end, event));
        r->demand_changed = r->demand_changed || fluid_open(r->fluid) < open;
        if (r->now >= event)
            handle_event(r);
    }
    return true;
}

/* ---- phases ---- */

static void begin_flows(struct run *r)
{
    static const struct fluid_share nowhere = {0};
    r->longest = 0;
    for (uint32_t i = 0; i < r->n * r->n; i++) {
        if (!(r->bytes[i] > 0))
            continue;
        r->pair[i].flow = fluid_add(r->fluid, &nowhere, 0, r->bytes[i]);
        r->pair[i].counted = r->bytes[i];
        r->result.sent += r->bytes[i];
        r->demand_changed = true;
    }
    route(r);
}

static void end_flows(struct run *r)
{
    for (uint32_t i = 0; i < r->n * r->n; i++) {
        if (r->pair[i].flow == NONE)
            continue;
        count_carried(r, &r->pair[i]);
        fluid_remove(r->fluid, r->pair[i].flow);
        r->pair[i] = (struct pair){.flow = NONE};
    }
}

static bool exchange(struct run *r, const struct circuits_exchange *e)
{
    for (uint32_t from = 0; from < r->n; from++)
        for (uint32_t to = 0; to < r->n; to++)
            r->bytes[from * r->n + to] = circuits_exchange_between(e, from, to);
    begin_flows(r);
    const bool good = pass(r, INFINITY) && pass(r, r->now + r->longest * r->how->latency);
    end_flows(r);
    return good;
}

static void add_bytes(void *of, uint32_t from, uint32_t to, double bytes)
{
    const struct run *r = of;
    r->bytes[from * r->n + to] += bytes;
}

/* Sums, and the computing beside them. */
static bool sum(struct run *r, const struct circuits_demand *d)
{
    const double computed = r->now + d->hidden;
    memset(r->bytes, 0, (size_t)r->n * r->n * sizeof *r->bytes);
    const double steps = circuits_each_sum(d, add_bytes, r);
    begin_flows(r);
    const bool good = pass(r, INFINITY) && pass(r, fmax(computed, r->now + steps * r->longest * r->how->latency));
    end_flows(r);
    return good;
}

static bool iterate(struct run *r, const struct circuits_demand *d)
{
    bool good = pass(r, r->now + d->forward);
    for (unsigned i = 0; good && i < d->forward_exchanges; i++)
        good = exchange(r, &d->exchange[i]);
    good = good && pass(r, r->now + d->backward - d->hidden);
    for (unsigned i = d->forward_exchanges; good && i < d->exchanges; i++)
        good = exchange(r, &d->exchange[i]);
    return good && sum(r, d);
}

/* ---- a run ---- */

static void open_run(struct run *r, const struct circuits_demand *d, const struct circuits *first)
{
    const size_t pairs = (size_t)r->n * r->n, ends = (size_t)r->n * first->degree;
    const double bytes = circuits_exchanged(d) + circuits_reduced(d);
    r->rate = r->how->gbps * 1e9 / 8;
    r->looked = r->how->eager ? -INFINITY : 0;
    const double least = bytes / (r->rate * (double)ends); /* seconds on all circuits */
    const double grain = least / (r->how->forwards ? EVENTS_FORWARDED : EVENTS);
    r->fluid = fluid_new(r->n * r->n, isfinite(r->how->period) ? grain : 0);
    r->pair = hx_allocate(pairs, sizeof *r->pair);
    r->bytes = hx_allocate(pairs, sizeof *r->bytes);
    r->count = hx_allocate(pairs, sizeof *r->count);
    r->near = hx_allocate(ends, sizeof *r->near);
    r->nears = hx_allocate(r->n, sizeof *r->nears);
    r->queue = hx_allocate(r->n, sizeof *r->queue);
    r->part = hx_allocate(r->n, sizeof *r->part);
    r->share = hx_allocate(ends, sizeof *r->share);
    for (size_t i = 0; i < pairs; i++)
        r->pair[i].flow = NONE;
    circuits_new(&r->active, r->n, first->degree);
    activate(r, circuits_copy(first));
}

static void close_run(struct run *r)
{
    circuits_free(&r->active);
    if (r->awaited.servers)
        circuits_free(&r->awaited);
    fluid_free(r->fluid);
    HX_FREE(r->pair, r->bytes, r->count, r->near, r->nears, r->queue, r->part, r->share);
}

struct reconfigured reconfigure_run(const struct circuits_demand *d, const struct circuits *first,
                                    const struct reconfigure *how, unsigned iterations)
{
    struct run r = {.how = how, .n = d->servers};
    open_run(&r, d, first);
    bool good = iterate(&r, d);
    const double begin = r.now;
    r.result.sent = r.result.carried = 0;
    for (unsigned i = 0; good && i < iterations; i++)
        good = iterate(&r, d);
    r.result.iteration = good ? (r.now - begin) / iterations : INFINITY;
    r.result.sent /= iterations;
    r.result.carried /= iterations;
    close_run(&r);
    return r.result;
}
