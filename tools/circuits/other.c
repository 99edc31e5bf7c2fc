/* other.c - a random regular graph, and greedy circuits (tools/circuits/other.h). */
#include "tools/circuits/other.h"

#include "base/error.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* ---- expander ---- */

/* Joins each server with the `degree` ones that are nearest by number. */
static void add_nearest(struct circuits *c, unsigned degree)
{
    for (unsigned stride = 1; stride <= degree / 2; stride++)
        for (uint32_t server = 0; server < c->servers; server++)
            (void)circuits_add(c, server, (server + stride) % c->servers);
    if (degree % 2)
        for (uint32_t server = 0; server < c->servers / 2; server++)
            (void)circuits_add(c, server, server + c->servers / 2);
}

/* Exchanges ends of circuits from `first` on at random, so that no two of them join the same servers. */
static void shuffle(struct circuits *c, uint32_t first, uint64_t *random)
{
    enum { TIMES = 32 }; /* of each circuit */
    const uint32_t count = c->count - first;
    const size_t n = c->servers;
    bool *joined = hx_allocate(n * n, sizeof *joined);
    for (uint32_t i = first; i < c->count; i++)
        joined[c->circuit[i].a * n + c->circuit[i].b] = joined[c->circuit[i].b * n + c->circuit[i].a] = true;
    for (uint64_t step = 0; step < (uint64_t)TIMES * count; step++) {
        struct circuit *one = &c->circuit[first + hx_rng_below(random, count)];
        struct circuit *other = &c->circuit[first + hx_rng_below(random, count)];
        const bool turned = hx_rng_below(random, 2);
        const uint32_t a = one->a, b = one->b, x = turned ? other->b : other->a, y = turned ? other->a : other->b;
        if (a == y || b == x || joined[a * n + y] || joined[x * n + b])
            continue;
        joined[a * n + b] = joined[b * n + a] = joined[x * n + y] = joined[y * n + x] = false;
        joined[a * n + y] = joined[y * n + a] = joined[x * n + b] = joined[b * n + x] = true;
        *one = (struct circuit){a, y};
        *other = (struct circuit){x, b};
    }
    free(joined);
}

void circuits_expander(struct circuits *c, uint32_t servers, unsigned degree, uint64_t seed)
{
    circuits_new(c, servers, degree);
    for (unsigned times = 0; times < degree / (servers - 1); times++)
        add_nearest(c, servers - 1);
    const uint32_t first = c->count;
    add_nearest(c, degree % (servers - 1));
    shuffle(c, first, &seed);
    (void)circuits_connect(c);
}

/* ---- greedy ---- */

void circuits_greedy(struct circuits *c, const double *bytes, uint32_t servers, unsigned degree, double discount,
                     double served, bool connect)
{
    circuits_new(c, servers, degree);
    double *left = hx_allocate((size_t)servers * servers, sizeof *left); /* [a][b], a < b: both directions */
    for (uint32_t a = 0; a < servers; a++)
        for (uint32_t b = a + 1; b < servers; b++)
            left[(size_t)a * servers + b] = bytes[(size_t)a * servers + b] + bytes[(size_t)b * servers + a];
    for (;;) {
        double *most = NULL;
        for (uint32_t a = 0; a < servers; a++)
            for (uint32_t b = a + 1; b < servers && circuits_used(c, a) < degree; b++)
                if (circuits_used(c, b) < degree && left[(size_t)a * servers + b] > (most ? *most : 0))
                    most = &left[(size_t)a * servers + b];
        if (!most)
            break;
        const size_t pair = (size_t)(most - left);
        (void)circuits_add(c, (uint32_t)(pair / servers), (uint32_t)(pair % servers));
        *most = *most * discount - served;
    }
    free(left);
    if (connect)
        (void)circuits_connect(c);
}
