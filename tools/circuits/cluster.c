/* cluster.c - jobs that share the links of a fabric (cluster.h). */
#include "tools/circuits/cluster.h"
#include "base/rng.h"
#include "tools/circuits/fluid.h"
#include "topology/attachment_routers.h"
#include "topology/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum part { WAITING, FORWARD, FORWARD_EXCHANGES, BACKWARD, BACKWARD_EXCHANGES, SUMS };

struct job {
    const struct cluster_job *of;
    enum part part;
    unsigned exchange; /* the next one */
    uint32_t *flow;    /* [flows] of this phase */
    uint32_t flows;
    size_t room;
    double steps;        /* latencies of a path that the phase ends with; 0: they are in `wake` */
    unsigned longest;    /* links of a path of the phase */
    double wake;         /* seconds: the phase does not end before it */
    double began;        /* seconds, of the iteration */
    unsigned iterations; /* that ended, with the one that does not count */
};

struct run {
    const struct cluster *c;
    struct hx_tables tables;
    struct fluid *fluid;
    double now;
    uint64_t random;
    struct fluid_share *share; /* [ports]: of a flow */
    uint32_t shares;
    double *part;    /* [ports]: of a flow */
    double *arrived; /* [nodes]: part of a flow, on one path */
    uint32_t *queue; /* [nodes] */
    unsigned *links; /* [nodes]: from the sender */
};

/* ---- paths ---- */

/* The port from an attachment router to its host. */
static unsigned port_to(const struct hx_fabric *f, uint32_t router, uint32_t host)
{
    unsigned port = 0;
    while (hx_fabric_far(f, router, port).node != host)
        port++;
    return port;
}

/* Ports that lead on; of several one at random, unless flows divide. */
static uint64_t onward(struct run *r, uint32_t node, uint32_t router, uint32_t host)
{
    if (node == router)
        return UINT64_C(1) << port_to(r->c->fabric, router, host);
    uint64_t ports = hx_tables_onward(&r->tables, node, router, host);
    if (!r->c->paths)
        return ports;
    for (uint32_t i = hx_rng_below(&r->random, (uint32_t)__builtin_popcountll(ports)); i > 0; i--)
        ports &= ports - 1;
    return ports & -ports;
}

static void add_share(struct run *r, uint32_t link, double part)
{
    if (!(r->part[link] > 0))
        r->share[r->shares++].link = link;
    r->part[link] += part;
}

/* Adds a path, or all, of `part` of a flow. *longest grows to the links of the path. */
static void add_path(struct run *r, uint32_t from, uint32_t to, double part, unsigned *longest)
{
    const struct hx_fabric *f = r->c->fabric;
    const uint32_t router = hx_fabric_attachment_router(f, to);
    uint32_t filled = 0;
    memset(r->arrived, 0, f->nodes * sizeof *r->arrived);
    r->arrived[from] = part;
    r->links[from] = 0;
    r->queue[filled++] = from;
    for (uint32_t i = 0; i < filled && r->queue[i] != to; i++) {
        const uint32_t node = r->queue[i];
        const uint64_t ports = onward(r, node, router, to);
        const double each = r->arrived[node] / __builtin_popcountll(ports);
        for (uint64_t left = ports; left; left &= left - 1) {
            const unsigned port = (unsigned)__builtin_ctzll(left);
            const uint32_t next = hx_fabric_far(f, node, port).node;
            add_share(r, f->node[node].first_port + port, each);
            if (!(r->arrived[next] > 0))
                r->queue[filled++] = next;
            r->arrived[next] += each;
            r->links[next] = r->links[node] + 1;
        }
    }
    *longest = r->links[to] > *longest ? r->links[to] : *longest;
}

/* Fills r->share. Returns the number of shares. */
static uint32_t find_paths(struct run *r, uint32_t from, uint32_t to, unsigned *longest)
{
    const unsigned paths = r->c->paths ? r->c->paths : 1;
    r->shares = 0;
    for (unsigned i = 0; i < paths; i++)
        add_path(r, from, to, 1.0 / paths, longest);
    for (uint32_t i = 0; i < r->shares; i++) {
        r->share[i].share = r->part[r->share[i].link];
        r->part[r->share[i].link] = 0;
    }
    return r->shares;
}

/* ---- phases ---- */

/* A phase of a job in the run. */
struct phase {
    struct run *r;
    struct job *j;
};

static void begin_flow(void *of, uint32_t a, uint32_t b, double bytes)
{
    const struct phase *p = of;
    struct run *r = p->r;
    struct job *j = p->j;
    if (!(bytes > 0))
        return;
    const uint32_t shares = find_paths(r, j->of->server[a], j->of->server[b], &j->longest);
    j->flow = hx_grow(j->flow, j->flows, &j->room, sizeof *j->flow);
    j->flow[j->flows++] = fluid_add(r->fluid, r->share, shares, bytes);
}

static void begin_exchange(struct phase *p, const struct circuits_exchange *e)
{
    const uint32_t servers = p->j->of->demand->servers;
    p->j->steps = 1;
    for (uint32_t a = 0; a < servers; a++)
        for (uint32_t b = 0; b < servers; b++)
            begin_flow(p, a, b, circuits_exchange_between(e, a, b));
}

static void begin_part(struct run *r, struct job *j)
{
    const struct circuits_demand *d = j->of->demand;
    struct phase phase = {r, j};
    j->wake = r->now;
    j->steps = j->longest = 0;
    switch (j->part) {
    case WAITING:
    case FORWARD:
        j->began = r->now;
        j->exchange = 0;
        j->wake = r->now + d->forward;
        break;
    case BACKWARD:
        j->wake = r->now + d->backward - d->hidden;
        break;
    case FORWARD_EXCHANGES:
    case BACKWARD_EXCHANGES:
        begin_exchange(&phase, &d->exchange[j->exchange++]);
        break;
    case SUMS:
        j->wake = r->now + d->hidden;
        j->steps = circuits_each_sum(d, begin_flow, &phase);
        break;
    }
}

static bool has_exchanges_left(const struct job *j)
{
    const struct circuits_demand *d = j->of->demand;
    return j->exchange < (j->part < BACKWARD ? d->forward_exchanges : d->exchanges);
}

/* Goes to what follows a part that ended. */
static void next_part(struct run *r, struct job *j, unsigned iterations)
{
    if (j->part == WAITING) {
        j->part = FORWARD;
    } else if (j->part == SUMS) {
        if (j->iterations > 0 && j->iterations <= iterations)
            j->of->seconds[j->iterations - 1] = r->now - j->began;
        j->iterations++;
        j->part = FORWARD;
    } else if (has_exchanges_left(j)) {
        j->part = j->part < BACKWARD ? FORWARD_EXCHANGES : BACKWARD_EXCHANGES;
    } else {
        j->part = j->part < BACKWARD ? BACKWARD : SUMS;
    }
    begin_part(r, j);
}

/* Whether all that a phase waits for has happened. */
static bool is_over(struct run *r, struct job *j)
{
    for (uint32_t i = 0; i < j->flows; i++)
        if (fluid_left(r->fluid, j->flow[i]) > 0)
            return false;
    while (j->flows > 0)
        fluid_remove(r->fluid, j->flow[--j->flows]);
    j->wake = fmax(j->wake, r->now + j->steps * j->longest * r->c->latency);
    j->steps = 0;
    return r->now >= j->wake;
}

/* ---- a run ---- */

static void open_run(struct run *r)
{
    const struct hx_fabric *f = r->c->fabric;
    r->random = r->c->seed;
    hx_tables_make(&r->tables, f);
    r->fluid = fluid_new(f->ports, r->c->grain);
    for (uint32_t node = 0; node < f->nodes; node++)
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++)
            if (hx_fabric_far(f, node, port).node != HX_NOWHERE)
                fluid_set_rate(r->fluid, f->node[node].first_port + port,
                               hx_class_gbps(hx_fabric_link(f, node, port), r->c->gbps) * 1e9 / 8);
    r->share = hx_allocate(f->ports, sizeof *r->share);
    r->part = hx_allocate(f->ports, sizeof *r->part);
    r->arrived = hx_allocate(f->nodes, sizeof *r->arrived);
    r->queue = hx_allocate(f->nodes, sizeof *r->queue);
    r->links = hx_allocate(f->nodes, sizeof *r->links);
}

static void close_run(struct run *r)
{
    hx_tables_free(&r->tables);
    fluid_free(r->fluid);
    HX_FREE(r->share, r->part, r->arrived, r->queue, r->links);
}

/* Lets jobs go on that can. Returns the time of the next one that only waits for time. */
static double go_on(struct run *r, struct job *job, unsigned jobs, unsigned iterations)
{
    double wake = INFINITY;
    for (unsigned i = 0; i < jobs; i++) {
        while (is_over(r, &job[i]))
            next_part(r, &job[i], iterations);
        if (job[i].wake > r->now)
            wake = fmin(wake, job[i].wake);
    }
    return wake;
}

static bool all_done(const struct job *job, unsigned jobs, unsigned iterations)
{
    for (unsigned i = 0; i < jobs; i++)
        if (job[i].iterations <= iterations)
            return false;
    return true;
}

void cluster_run(const struct cluster *c, const struct cluster_job *job, unsigned jobs, unsigned iterations)
{
    struct run r = {.c = c};
    struct job *all = hx_allocate(jobs, sizeof *all);
    open_run(&r);
    for (unsigned i = 0; i < jobs; i++)
        all[i] = (struct job){.of = &job[i], .part = WAITING, .wake = job[i].begin};
    for (;;) {
        const double wake = go_on(&r, all, jobs, iterations);
        if (all_done(all, jobs, iterations))
            break;
        const double most = wake - r.now, step = fluid_advance(r.fluid, most);
        r.now = step < most ? r.now + step : wake;
    }
    for (unsigned i = 0; i < jobs; i++)
        free(all[i].flow);
    free(all);
    close_run(&r);
}
