/* support_circuits.c - circuits of tests (tests/support/support_circuits.h). */
#include "tests/support/support_circuits.h"

#include "base/error.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void circuits_assert_sound(const struct circuits *c)
{
    unsigned *used = hx_allocate(c->servers, sizeof *used);
    for (uint32_t i = 0; i < c->count; i++) {
        assert_true(c->circuit[i].a < c->servers && c->circuit[i].b < c->servers);
        assert_int_not_equal(c->circuit[i].a, c->circuit[i].b);
        used[c->circuit[i].a]++;
        used[c->circuit[i].b]++;
    }
    for (uint32_t server = 0; server < c->servers; server++) {
        assert_int_equal(used[server], circuits_used(c, server));
        assert_true(used[server] <= c->degree);
    }
    free(used);
}

uint32_t circuits_components(const struct circuits *c, uint32_t *of)
{
    for (uint32_t server = 0; server < c->servers; server++)
        of[server] = server;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < c->count; i++) {
            uint32_t *a = &of[c->circuit[i].a], *b = &of[c->circuit[i].b];
            changed = changed || *a != *b;
            *a = *b = *a < *b ? *a : *b;
        }
    }
    uint32_t count = 0;
    for (uint32_t server = 0; server < c->servers; server++)
        count += of[server] == server;
    return count;
}

uint32_t circuits_between_two(const struct circuits *c, uint32_t a, uint32_t b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        count +=
            (c->circuit[i].a == a && c->circuit[i].b == b) || (c->circuit[i].a == b && c->circuit[i].b == a) ? 1 : 0;
    return count;
}

bool circuits_make(struct hx_fabric *f, const struct circuits *c, const struct circuits_links *l)
{
    struct hx_problem problem;
    circuits_write(c, l, file_begin_text());
    char *text = file_end_text();
    const struct hx_graph_text graph = {text, strlen(text)};
    const bool made = hx_fabric_make_told(f, "graph circuits.csv", 1, &graph, &problem);
    free(text);
    if (!made && !strstr(problem.what, "4 VCs do not suffice"))
        fail_msg("%s: %s", problem.where, problem.what);
    return made;
}

static double draw_bytes(uint64_t *random)
{
    return seeded_below(random, 1000) * 1e6;
}

static double *draw_each(uint64_t *random, uint32_t servers)
{
    double *bytes = hx_allocate(servers, sizeof *bytes);
    for (uint32_t server = 0; server < servers; server++)
        bytes[server] = seeded_below(random, 3) ? 0 : draw_bytes(random);
    return bytes;
}

/* Deals the servers to the groups; a group of all has them in their order. */
static void draw_reduces(struct circuits_drawn *d, uint64_t *random)
{
    const uint32_t servers = d->demand.servers;
    d->demand.reduces = seeded_below(random, 4);
    for (uint32_t server = 0; server < servers; server++) {
        const uint32_t other = seeded_below(random, server + 1);
        d->member[server] = d->member[other];
        d->member[other] = server;
    }
    uint32_t first = 0;
    for (unsigned i = 0; i < d->demand.reduces; i++) {
        struct circuits_reduce *r = &d->demand.reduce[i];
        r->bytes = draw_bytes(random);
        r->members = servers;
        if (d->demand.reduces > 1 && seeded_below(random, 3)) {
            r->members = 1 + seeded_below(random, servers - first);
            r->member = d->member + first;
            first += first + r->members < servers ? r->members : 0;
        }
    }
}

void circuits_draw(struct circuits_drawn *d, uint64_t *random, uint32_t most_servers)
{
    *d = (struct circuits_drawn){.demand = {.servers = seeded_below(random, most_servers - 1) + 2}};
    draw_reduces(d, random);
    d->demand.exchanges = seeded_below(random, 4);
    d->demand.exchange = hx_allocate(d->demand.exchanges + 1U, sizeof *d->demand.exchange);
    for (unsigned i = 0; i < d->demand.exchanges; i++) {
        struct circuits_exchange *e = &d->demand.exchange[i];
        e->scatter = seeded_below(random, 2) ? draw_each(random, d->demand.servers) : NULL;
        e->gather = seeded_below(random, 2) ? draw_each(random, d->demand.servers) : NULL;
        e->all = seeded_below(random, 3) ? 0 : draw_bytes(random);
    }
}

void circuits_drawn_free(struct circuits_drawn *d)
{
    circuits_demand_free(&d->demand);
}

void circuits_coin_change(uint32_t k, const uint32_t *stride, unsigned strides, uint32_t *next, uint32_t *length)
{
    uint32_t *queue = hx_allocate(k, sizeof *queue);
    for (uint32_t distance = 0; distance < k; distance++) {
        next[distance] = 0;
        length[distance] = distance ? UINT32_MAX : 0;
    }
    uint32_t found = 1; /* the distance 0 is first in the queue */
    for (uint32_t at = 0; at < found; at++) {
        for (unsigned s = 0; s < strides; s++) {
            const uint32_t sum = queue[at] + stride[s], distance = sum < k ? sum : sum - k;
            if (length[distance] != UINT32_MAX)
                continue;
            length[distance] = length[queue[at]] + 1;
            next[distance] = stride[s]; /* the order of the steps of a sum is free */
            queue[found++] = distance;
        }
    }
    free(queue);
}
