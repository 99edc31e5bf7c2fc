/* finder.c - circuits for a demand (tools/circuits/finder.h). */
#include "tools/circuits/finder.h"

#include "base/error.h"
#include "base/split_mix.h"
#include "tools/circuits/blossoms.h"
#include "tools/circuits/permutations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rings of sums ---- */

/* The most interfaces that a member has given to rings. */
static unsigned most_used(const struct circuits *c, const struct circuits_reduce *r)
{
    unsigned most = 0;
    for (uint32_t i = 0; i < r->members; i++)
        most = circuits_used(c, circuits_member(r, i)) > most ? circuits_used(c, circuits_member(r, i)) : most;
    return most;
}

/* Bytes of all sums that have a member in common with this one. */
static double bytes_beside(const struct circuits_demand *d, const struct circuits_reduce *r)
{
    bool *is_member = hx_allocate(d->servers, sizeof *is_member);
    for (uint32_t i = 0; i < r->members; i++)
        is_member[circuits_member(r, i)] = true;
    double bytes = 0;
    for (unsigned other = 0; other < d->reduces; other++) {
        uint32_t at = 0;
        while (at < d->reduce[other].members && !is_member[circuits_member(&d->reduce[other], at)])
            at++;
        if (at < d->reduce[other].members && d->reduce[other].members > 1)
            bytes += d->reduce[other].bytes;
    }
    free(is_member);
    return bytes;
}

static void add_ring(struct circuits *c, const struct circuits_reduce *r, unsigned number, uint32_t stride)
{
    c->ring[c->rings++] = (struct circuits_ring){number, stride};
    const uint32_t circuits = r->members == 2 ? 1 : r->members;
    for (uint32_t i = 0; i < circuits; i++)
        (void)circuits_add(c, circuits_member(r, i), circuits_member(r, (i + stride) % r->members));
}

/* Adds as many rings as a number of interfaces allow. Few members have fewer good strides; these then come again. */
static void add_rings(struct circuits *c, const struct circuits_reduce *r, unsigned number, unsigned interfaces,
                      bool prime)
{
    const unsigned rings = r->members == 2 ? interfaces : interfaces / 2;
    uint32_t *stride = hx_allocate(r->members, sizeof *stride);
    unsigned candidates = circuits_strides(r->members, prime, stride);
    while (candidates > 1 && stride[candidates - 1] > r->members / 2)
        candidates--; /* members - p is the same ring as p */
    uint32_t chosen[CIRCUITS_MOST_DEGREE];
    const unsigned choices = rings ? circuits_select(r->members, stride, candidates, rings, chosen) : 0;
    for (unsigned ring = 0; ring < rings; ring++)
        add_ring(c, r, number, chosen[ring % choices]);
    free(stride);
}

/* The group of most bytes that is not done; there is one. */
static unsigned largest(const struct circuits_demand *d, const bool *done)
{
    unsigned most = 0;
    for (unsigned i = 1; i < d->reduces; i++)
        if (done[most] || (!done[i] && d->reduce[i].bytes > d->reduce[most].bytes))
            most = i;
    return most;
}

void circuits_find_rings(struct circuits *c, const struct circuits_demand *d, bool prime)
{
    const double sums = circuits_reduced(d), exchanges = circuits_exchanged(d);
    const unsigned for_sums = sums > 0 ? (unsigned)fmax(1, ceil(c->degree * sums / (sums + exchanges))) : 0;
    bool done[CIRCUITS_REDUCES] = {false};
    for (unsigned turn = 0; turn < d->reduces; turn++) {
        const unsigned number = largest(d, done);
        const struct circuits_reduce *r = &d->reduce[number];
        const unsigned used = most_used(c, r);
        done[number] = true;
        if (r->members < 2 || r->bytes <= 0 || used >= for_sums)
            continue;
        unsigned share = (unsigned)ceil(for_sums * r->bytes / bytes_beside(d, r));
        share = share < for_sums - used ? share : for_sums - used;
        if (r->members > 2 && share % 2)
            share = share < c->degree - used ? share + 1 : share - 1;
        add_rings(c, r, number, share, prime);
    }
}

/* ---- matchings ---- */

static bool is_free(const struct circuits *c, uint32_t server)
{
    return circuits_used(c, server) < c->degree;
}

/* Writes the weights of pairs with free interfaces as integers. Their lowest bits are random, the same in each run: of
 * matchings that weigh the same a random one is found. Its circuits make paths shorter than any regular choice would.
 * Returns whether a pair has a weight. */
static bool scale(const struct circuits *c, const double *weight, int64_t *scaled)
{
    enum { RANDOM = 1 << 11 };
    const size_t n = c->servers;
    double most = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n && is_free(c, a); b++)
            most = is_free(c, b) ? fmax(most, weight[a * n + b]) : most;
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = a + 1; b < n && is_free(c, a); b++) {
            if (weight[a * n + b] <= 0 || !is_free(c, b))
                continue;
            const int64_t whole = (int64_t)(weight[a * n + b] / most * 0x1p38);
            scaled[a * n + b] = scaled[b * n + a] = whole * RANDOM + 1 + (int64_t)(split_mix(a * n + b) % (RANDOM - 1));
        }
    }
    return most > 0;
}

/* Adds the circuits of a maximum-weight matching of the servers with a free interface; weight[servers * servers] is
 * symmetric. Returns whether a pair has a weight. */
static bool add_matching(struct circuits *c, const double *weight)
{
    int64_t *scaled = hx_allocate((size_t)c->servers * c->servers, sizeof *scaled);
    const bool has_weight = scale(c, weight, scaled);
    struct matching *m = matching_find(c->servers, scaled);
    for (uint32_t server = 0; server < c->servers; server++) {
        const uint32_t mate = matching_mate(m, server);
        if (mate != MATCHING_ALONE && server < mate)
            (void)circuits_add(c, server, mate);
    }
    matching_free(m);
    free(scaled);
    return has_weight;
}

/* Halves the weight of pairs for each of the circuits from `first` on. */
static void halve(const struct circuits *c, uint32_t first, double *weight)
{
    for (uint32_t i = first; i < c->count; i++) {
        const uint32_t a = c->circuit[i].a, b = c->circuit[i].b;
        weight[(size_t)a * c->servers + b] /= 2;
        weight[(size_t)b * c->servers + a] /= 2;
    }
}

static void match_exchanges(struct circuits *c, const struct circuits_demand *d)
{
    double *weight = hx_allocate((size_t)c->servers * c->servers, sizeof *weight);
    for (uint32_t a = 0; a < c->servers; a++)
        for (uint32_t b = 0; b < c->servers; b++)
            weight[(size_t)a * c->servers + b] = circuits_between(d, a, b) + circuits_between(d, b, a);
    uint32_t counted = 0;
    do {
        halve(c, counted, weight);
        counted = c->count;
    } while (add_matching(c, weight));
    free(weight);
}

/* ---- free interfaces ---- */

/* Finds the two servers that are farthest apart, one of them with most free interfaces, the other one with any. */
static bool find_farthest(const struct circuits *c, const uint32_t *distance, struct circuit *farthest)
{
    unsigned least = c->degree;
    for (uint32_t server = 0; server < c->servers; server++)
        least = circuits_used(c, server) < least ? circuits_used(c, server) : least;
    uint32_t links = 0;
    for (uint32_t a = 0; a < c->servers && least < c->degree; a++) {
        for (uint32_t b = 0; b < c->servers && circuits_used(c, a) == least; b++) {
            if (!is_free(c, b) || distance[(size_t)a * c->servers + b] <= links)
                continue;
            links = distance[(size_t)a * c->servers + b];
            *farthest = (struct circuit){a, b};
        }
    }
    return links > 0;
}

/* Shortens distances by a new circuit from `a` to `b`. */
static void shorten(const struct circuits *c, uint32_t *distance, uint32_t a, uint32_t b)
{
    const size_t n = c->servers;
    for (uint32_t from = 0; from < n; from++) {
        if (distance[from * n + a] == CIRCUITS_APART)
            continue;
        for (uint32_t to = 0; to < n; to++) {
            const uint64_t through = (uint64_t)distance[from * n + a] + 1 + distance[b * n + to];
            if (through < distance[from * n + to])
                distance[from * n + to] = distance[to * n + from] = (uint32_t)through;
        }
    }
}

/* Servers with most free interfaces first, so that as few as possible stay free. */
static void join_farthest(struct circuits *c)
{
    uint32_t *distance = circuits_distances(c);
    struct circuit next;
    while (find_farthest(c, distance, &next)) {
        (void)circuits_add(c, next.a, next.b);
        shorten(c, distance, next.a, next.b);
    }
    free(distance);
}

bool circuits_find(struct circuits *c, const struct circuits_demand *d, unsigned degree, bool prime)
{
    circuits_new(c, d->servers, degree);
    circuits_find_rings(c, d, prime);
    match_exchanges(c, d);
    join_farthest(c);
    if (circuits_connect(c))
        return true;
    circuits_free(c);
    return false;
}
