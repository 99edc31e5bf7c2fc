/* modelled.c - stages of a model with timed communication (modelled.h). */
#include "tools/train/modelled.h"
#include "base/blobs.h"
#include "schedule/training/generate.h"
#include "schedule/training/loads.h"
#include "tools/train/timed.h"

#include <math.h>
#include <stdlib.h>

struct timer {
    const struct training_model *m;
    struct network *network; /* NULL: no time */
    const uint32_t *host;    /* [ranks of the model] */
    unsigned family[TRAINING_GROUPS];
    struct hx_problem *problem; /* of the first collective that cannot be carried out */
    bool failed;
};

/* ---- times ---- */

/* The number in the network of an all-to-all's shares; 0: equal. */
static uint32_t shares_of(const struct training_model *m, struct network *n, const struct training_communication *c)
{
    if (c->tokens != TRAINING_TO_EXPERTS && c->tokens != TRAINING_FROM_EXPERTS)
        return 0;
    uint32_t *weight = hx_allocate((size_t)m->expert * m->expert, sizeof *weight);
    training_load_shares(m, c->layer, c->tokens == TRAINING_FROM_EXPERTS, weight);
    const uint32_t number = network_add_shares(n, weight, m->expert);
    free(weight);
    return number;
}

struct network_collective modelled_collective(const struct training_model *m, struct network *n,
                                              const struct training_communication *c,
                                              const unsigned family[TRAINING_GROUPS])
{
    return (struct network_collective){.family = family[c->group],
                                       .kind = c->kind,
                                       .algorithm = training_algorithm(m, c->group, c->kind),
                                       .shares = shares_of(m, n, c),
                                       .bytes = c->bytes};
}

static uint64_t collective_ps(void *of, const struct training_communication *communication)
{
    struct timer *t = of;
    uint64_t ps = 0;
    if (!t->network || t->failed)
        return 0;
    const struct network_collective c = modelled_collective(t->m, t->network, communication, t->family);
    t->failed = !network_collective_ps(t->network, &c, &ps, t->problem);
    return ps;
}

static uint64_t halo_ps(void *of, enum training_group group, uint64_t bytes)
{
    const struct timer *t = of;
    const uint32_t neighbours = training_neighbours(t->m, group);
    return t->network ? network_halo_ps(t->network, t->family[group], neighbours, bytes) : 0;
}

/* ---- groups and pairs ---- */

static unsigned add_family(const struct training_model *m, struct network *n, const uint32_t *host_of,
                           enum training_group group)
{
    const uint32_t ranks = training_ranks(m);
    const uint32_t size = training_group_size(m, group);
    uint32_t *host = hx_allocate(ranks, sizeof *host);
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (training_group_position(m, group, rank) != 0)
            continue;
        for (uint32_t i = 0; i < size; i++)
            host[(size_t)count * size + i] = host_of[training_group_member(m, group, rank, i)];
        count++;
    }
    const unsigned family = network_add_family(n, size, count, host);
    free(host);
    return family;
}

void modelled_add_families(const struct training_model *m, struct network *n, const uint32_t *host,
                           unsigned family[TRAINING_GROUPS])
{
    for (unsigned group = 0; group < TRAINING_GROUPS; group++)
        family[group] = add_family(m, n, host, (enum training_group)group);
}

uint32_t modelled_counterpart(const struct training_model *m, uint32_t rank, uint32_t stage)
{
    struct training_place place = training_place_of(m, rank);
    place.at[TRAINING_PIPELINE] = stage;
    return training_rank_at(m, place);
}

static bool is_in(const struct training_model *m, uint32_t rank, uint32_t stage)
{
    return training_place_of(m, rank).at[TRAINING_PIPELINE] == stage;
}

/* Adds a pair for each rank of stage `from`: it sends to its counterpart in stage `to`. */
static void add_pairs(const void *of, uint32_t from, uint32_t to, double weight)
{
    const struct timer *t = of;
    for (uint32_t rank = 0; rank < training_ranks(t->m); rank++) {
        if (is_in(t->m, rank, from))
            network_add_pair(t->network, t->host[rank], t->host[modelled_counterpart(t->m, rank, to)], weight);
    }
}

/* ---- the schedule ---- */

struct schedule *modelled_make(const struct training_model *m, struct network *n, const uint32_t *host, double scale,
                               struct hx_problem *problem)
{
    struct timer t = {.m = m, .network = n, .host = host, .problem = problem};
    const struct training_timing timing = {
        .collective_ps = collective_ps, .halo_ps = halo_ps, .of = &t, .in_turn = n && network_is_narrow(n)};
    if (n)
        modelled_add_families(m, n, host, t.family);
    struct schedule_builder *b = training_generate(m, &timing, problem);
    if (t.failed) {
        schedule_builder_free(b);
        return NULL;
    }
    struct schedule *s = b ? schedule_build(b, m->path, problem) : NULL;
    if (s && n)
        timed_each_pair(s, add_pairs, &t);
    if (s)
        timed_scale(s, scale, 1);
    return s;
}

/* ---- routes ---- */

struct modelled_routes {
    const struct training_model *m;
    struct network *network;
    const uint32_t *host;
    struct hx_blobs pairs; /* of stages */
    struct network_route *route;
    size_t room;
};

struct modelled_routes *modelled_routes_new(const struct training_model *m, struct network *n, const uint32_t *host)
{
    struct modelled_routes *r = hx_allocate(1, sizeof *r);
    *r = (struct modelled_routes){.m = m, .network = n, .host = host};
    return r;
}

void modelled_routes_free(struct modelled_routes *r)
{
    if (!r)
        return;
    hx_blobs_free(&r->pairs);
    HX_FREE(r->route, r);
}

static struct network_route slowest(const struct modelled_routes *r, uint32_t from, uint32_t to)
{
    struct network_route most = {0, 0, 0};
    for (uint32_t rank = 0; rank < training_ranks(r->m); rank++) {
        if (!is_in(r->m, rank, from))
            continue;
        const struct network_route route =
            network_route_of(r->network, r->host[rank], r->host[modelled_counterpart(r->m, rank, to)]);
        most.latency = fmax(most.latency, route.latency);
        most.byte = fmax(most.byte, route.byte);
        most.packet = fmax(most.packet, route.packet);
    }
    return most;
}

struct network_route modelled_route(struct modelled_routes *r, uint32_t from, uint32_t to)
{
    const uint32_t pair[2] = {from, to};
    const size_t known = r->pairs.count;
    const uint32_t number = hx_blobs_add(&r->pairs, pair, sizeof pair);
    if (number == known) {
        r->route = hx_grow(r->route, known, &r->room, sizeof *r->route);
        r->route[number] = slowest(r, from, to);
    }
    return r->route[number];
}
