/* collective_estimate_tree.c - the time of trees (collective_estimate.h). */
#include "hxmesh/error.h"
#include "workload/collective_estimate.h"

#include <math.h>
#include <stdlib.h>

/* Messages of some steps as a graph: a member sends when it has received from all. */
struct graph {
    struct collective_pair *pair;
    uint32_t pairs;
    uint32_t *first; /* [members + 1]: its pairs, in `order` */
    uint32_t *order;
    uint32_t *due; /* [members]: messages to receive */
    uint32_t *queue;
};

static void sort_pairs(struct graph *g, uint32_t members)
{
    for (uint32_t i = 0; i < g->pairs; i++) {
        g->first[g->pair[i].from + 1]++;
        g->due[g->pair[i].to]++;
    }
    for (uint32_t i = 0; i < members; i++)
        g->first[i + 1] += g->first[i];
    uint32_t *at = hx_allocate(members, sizeof *at);
    for (uint32_t i = 0; i < g->pairs; i++) {
        const uint32_t from = g->pair[i].from;
        g->order[g->first[from] + at[from]++] = i;
    }
    free(at);
}

/* Seconds of a chunk for each receiver of a member; they leave side by side. */
static double seconds_to_send(const struct collective_estimate *e, const struct graph *g, uint32_t from)
{
    const uint32_t host = e->job.host[from % e->job.config.size];
    double port[HX_LOCAL] = {0};
    double seconds = 0;
    for (uint32_t i = g->first[from]; i < g->first[from + 1]; i++) {
        const struct collective_pair *pair = &g->pair[g->order[i]];
        for (uint32_t set = pair->path.first_ports; set; set &= set - 1)
            port[__builtin_ctz(set)] += pair->chunk / __builtin_popcount(pair->path.first_ports);
        seconds = estimate_larger(seconds, pair->path.slowness * pair->chunk + estimate_last_packet(pair));
    }
    for (unsigned i = 0; i < HX_LOCAL; i++)
        seconds = estimate_larger(seconds, port[i] * e->loads->slowness[e->loads->g->node[host].first_port + i]);
    return seconds;
}

/* Carries the first chunk, after the last one of an earlier half. A member's messages leave one after the other, as far
 * as they have links in common. */
static void carry_first(struct collective_estimate *e, struct graph *g, uint32_t members)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < members; i++) {
        if (g->due[i] == 0)
            g->queue[count++] = i;
    }
    for (uint32_t done = 0; done < count; done++) {
        const uint32_t from = g->queue[done];
        const double gone = e->ready[from] + seconds_to_send(e, g, from);
        for (uint32_t i = g->first[from]; i < g->first[from + 1]; i++) {
            const struct collective_pair *pair = &g->pair[g->order[i]];
            e->ready[pair->to] = estimate_larger(e->ready[pair->to], gone + pair->path.latency);
            if (--g->due[pair->to] == 0)
                g->queue[count++] = pair->to;
        }
    }
}

static void carry_half(struct collective_estimate *e, struct collective_pair *pair, uint32_t pairs)
{
    const uint32_t members = e->stripes * e->job.config.size;
    struct graph g = {.pair = pair, .pairs = pairs};
    g.first = hx_allocate(members + (size_t)1, sizeof *g.first);
    g.order = hx_allocate(pairs, sizeof *g.order);
    g.due = hx_allocate(members, sizeof *g.due);
    g.queue = hx_allocate(members, sizeof *g.queue);
    sort_pairs(&g, members);
    carry_first(e, &g, members);
    free(g.first);
    free(g.order);
    free(g.due);
    free(g.queue);
}

/* Most messages of a pair. */
static double most_messages(const struct collective_pair *pair, uint32_t pairs)
{
    double most = 1;
    for (uint32_t i = 0; i < pairs; i++)
        most = estimate_larger(most, pair[i].messages);
    return most;
}

void estimate_add_tree(struct collective_estimate *e, unsigned phase, bool twice)
{
    const uint32_t members = e->stripes * e->job.config.size;
    const uint32_t steps = estimate_steps(e, phase);
    const uint32_t halves = twice ? 2 : 1;
    struct collective_pair *own = e->pair;
    struct collective_pair *all = hx_allocate((size_t)members * 2, sizeof *all);
    double messages = 1;
    estimate_start(e);
    collective_loads_begin(e->loads);
    link_bytes_clear(&e->loads->step);
    for (uint32_t half = 0; half < halves; half++) {
        uint32_t pairs = 0;
        for (uint32_t step = half * steps / halves; step < (half + 1) * steps / halves; step++) {
            e->pair = all + pairs;
            e->pairs = 0;
            for (unsigned stripe = 0; stripe < e->stripes; stripe++)
                estimate_take_step(e, stripe, phase, step);
            estimate_lay_pairs(e, 0, true, NULL);
            pairs += e->pairs;
        }
        carry_half(e, all, pairs);
        messages = estimate_larger(messages, most_messages(all, pairs));
    }
    e->pair = own;
    free(all);
    estimate_keep(e, 1);
    const double rest = link_bytes_fullest(&e->loads->step, e->loads->slowness) * (1 - 1 / messages);
    for (unsigned stripe = 0; stripe < e->stripes; stripe++)
        e->stripe[stripe] += estimate_latest(e, stripe) + rest;
}
