/* time.c - the time of an iteration (time.h). */
#include "tools/circuits/time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What goes on at one time. */
struct phase {
    struct network_of_servers *n;
    double *load;   /* [links] bytes */
    double latency; /* seconds */
};

static void add(const struct phase *p, const double *unit, double bytes)
{
    const uint32_t links = servers_links(p->n);
    for (uint32_t link = 0; link < links; link++)
        p->load[link] += bytes * unit[link];
}

/* ---- exchanges ---- */

static void add_exchange(struct phase *p, const struct circuits_exchange *e)
{
    const uint32_t servers = servers_count(p->n);
    for (uint32_t server = 0; server < servers; server++) {
        const double scatter = e->scatter ? e->scatter[server] : 0;
        const double gather = e->gather ? e->gather[server] : 0;
        if (scatter > 0)
            add(p, servers_scatter(p->n, server), scatter);
        if (gather > 0)
            add(p, servers_gather(p->n, server), gather);
        if (scatter > 0 || gather > 0 || e->all > 0)
            p->latency = fmax(p->latency, servers_farthest(p->n, server));
    }
    if (e->all > 0)
        add(p, servers_all(p->n), e->all);
}

/* ---- sums ---- */

/* Adds a ring's steps: `part` bytes each way between neighbours. Returns the mean latency of a step. */
static double add_ring(const struct phase *p, const struct circuits_reduce *r, uint32_t stride, double part)
{
    double latency = 0;
    if (!r->member) {
        add(p, servers_ring(p->n, stride), part);
        return servers_step(p->n, stride);
    }
    for (uint32_t i = 0; i < r->members; i++) {
        const uint32_t from = circuits_member(r, i), to = circuits_member(r, (i + stride) % r->members);
        servers_add(p->n, p->load, from, to, part);
        servers_add(p->n, p->load, to, from, part);
        latency += servers_latency(p->n, from, to) + servers_latency(p->n, to, from);
    }
    return latency / (2.0 * r->members);
}

static void add_sum(struct phase *p, const struct circuits_demand *d, unsigned number, const struct circuits_ring *ring,
                    unsigned rings)
{
    const struct circuits_reduce *r = &d->reduce[number];
    uint32_t stride[CIRCUITS_MOST_RINGS];
    const unsigned own = circuits_strides_of(ring, rings, number, stride);
    double step = 0;
    for (unsigned i = 0; i < own && r->members > 1; i++)
        step = fmax(step, add_ring(p, r, stride[i], circuits_each_way(r) / own));
    p->latency = fmax(p->latency, circuits_steps(r) * step);
}

/* ---- the iteration ---- */

/* Ends a phase: returns its seconds, and adds its load to *load, if any. */
static double end(struct phase *p, double *load)
{
    const double seconds = servers_seconds(p->n, p->load) + p->latency;
    for (uint32_t link = 0; link < servers_links(p->n); link++)
        load[link] += p->load[link];
    memset(p->load, 0, servers_links(p->n) * sizeof *p->load);
    p->latency = 0;
    return seconds;
}

struct circuits_time circuits_time_of(const struct circuits_demand *d, struct network_of_servers *n,
                                      const struct circuits_ring *ring, unsigned rings, double *load)
{
    const uint32_t links = servers_links(n);
    struct circuits_time t = {.computing = d->forward + d->backward};
    struct phase p = {.n = n, .load = hx_allocate(links, sizeof *p.load)};
    double *all = hx_allocate(links, sizeof *all);
    const double sent = circuits_exchanged(d) + circuits_reduced(d);
    for (unsigned i = 0; i < d->exchanges; i++) {
        add_exchange(&p, &d->exchange[i]);
        t.exchanges += end(&p, all);
    }
    for (unsigned number = 0; number < d->reduces; number++)
        add_sum(&p, d, number, ring, rings);
    t.sums = end(&p, all);
    t.exposed = fmax(0, t.sums - d->hidden);
    t.iteration = t.computing + t.exchanges + t.exposed;
    t.tax = sent > 0 ? servers_carried(n, all) / sent : 1;
    if (load)
        memcpy(load, all, links * sizeof *all);
    HX_FREE(p.load, all);
    return t;
}

void circuits_time_warm(struct network_of_servers *n, const struct circuits_ring *ring, unsigned rings)
{
    servers_warm(n, (const uint32_t[]){1}, servers_count(n) > 1);
    for (unsigned i = 0; i < rings; i++)
        if (ring[i].stride < servers_count(n))
            (void)servers_ring(n, ring[i].stride);
}
