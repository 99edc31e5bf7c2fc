/* test_dragonfly.c - Dragonfly: counts and prices of table II, links between groups, every path of every pair,
 * bounds. */
#include "tests/support/support_fabric.h"
#include "topology/bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- how groups are joined ---- */

struct shape {
    unsigned a, p, h, groups;
};

static void make(struct hx_fabric *f, struct shape s)
{
    char text[96];
    snprintf(text, sizeof text, "dragonfly a=%u p=%u h=%u groups=%u", s.a, s.p, s.h, s.groups);
    fabric_make(f, text);
    assert_int_equal(f->hosts, s.a * s.p * s.groups);
    assert_int_equal(f->nodes - f->hosts, s.a * s.groups);
}

static unsigned links_of_groups(const struct hx_fabric *f, struct shape s, unsigned group, unsigned other)
{
    unsigned links = 0;
    for (unsigned i = 0; i < s.a; i++)
        for (unsigned j = 0; j < s.a; j++)
            links += fabric_links_between(f, f->hosts + group * s.a + i, f->hosts + other * s.a + j);
    return links;
}

/* All global links are connected, except the last if their number is odd. */
static void check_groups(const struct hx_fabric *f, struct shape s)
{
    unsigned left_out = 0;
    for (unsigned group = 0; group < s.groups; group++) {
        unsigned all = 0;
        unsigned least = UINT16_MAX;
        unsigned most = 0;
        for (unsigned other = 0; other < s.groups; other++) {
            if (other == group)
                continue;
            unsigned links = links_of_groups(f, s, group, other);
            all += links;
            least = links < least ? links : least;
            most = links > most ? links : most;
        }
        left_out += s.groups > 1 ? s.a * s.h - all : 0;
        assert_true(s.groups == 1 || most - least <= 1);
        for (unsigned i = 0; i < s.a; i++)
            for (unsigned j = 0; j < i; j++)
                assert_int_equal(fabric_links_between(f, f->hosts + group * s.a + i, f->hosts + group * s.a + j), 1);
    }
    assert_int_equal(left_out, s.groups > 1 ? s.groups * s.a * s.h % 2 : 0);
    for (uint32_t node = f->hosts; node < f->nodes; node++)
        assert_in_range(hx_fabric_ports(f, node), s.p + s.a - 1, s.p + s.a - 1 + s.h);
}

/* ---- every path ---- */

struct paths {
    const struct hx_fabric *f;
    const struct hx_route *route;
    uint32_t to;
    unsigned shortest, longest;
    bool *global; /* [ports]: links that a path takes */
};

static void follow(struct paths *w, struct hx_end at, unsigned links)
{
    const struct hx_fabric *f = w->f;
    if (at.node == w->to) {
        w->shortest = links < w->shortest ? links : w->shortest;
        w->longest = links > w->longest ? links : w->longest;
        return;
    }
    assert_true(links < 5);
    uint64_t ports = hx_route_ports(&w->route[at.node], at.port, f->node[w->to].addr_hi, f->node[w->to].addr_lo);
    assert_true(ports != 0);
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        if (hx_fabric_port(f, at.node, port)->marked)
            w->global[f->node[at.node].first_port + port] = true;
        follow(w, hx_fabric_far(f, at.node, port), links + 1);
    }
}

static void check_pair(struct paths *w, struct shape s, uint32_t from)
{
    const struct hx_fabric *f = w->f;
    unsigned group = from / (s.a * s.p);
    unsigned other = w->to / (s.a * s.p);
    unsigned used = 0;
    memset(w->global, 0, f->ports * sizeof *w->global);
    w->shortest = UINT16_MAX;
    w->longest = 0;
    follow(w, hx_fabric_far(f, from, HX_E), 1);
    assert_int_equal(f->topology->distance(f, from, w->to), w->shortest);
    assert_true(group != other || w->longest == w->shortest);
    for (uint32_t port = 0; port < f->ports; port++)
        used += w->global[port];
    /* All links between the two groups are used, and no others. */
    assert_int_equal(used, group == other ? 0 : links_of_groups(f, s, group, other));
}

static void check_paths(const struct hx_fabric *f, struct shape s)
{
    struct hx_route *route = hx_allocate(f->nodes, sizeof *route);
    void **tables = hx_allocate(f->nodes, sizeof *tables);
    struct paths w = {.f = f, .route = route, .global = hx_allocate(f->ports, sizeof *w.global)};
    for (uint32_t node = 0; node < f->nodes; node++) {
        tables[node] = hx_allocate(1, hx_fabric_route_bytes(f, node));
        hx_fabric_route(&route[node], f, node, (struct hx_blocked_boards){NULL}, UINT64_MAX, tables[node]);
    }
    for (uint32_t from = 0; from < f->hosts; from++)
        for (w.to = 0; w.to < f->hosts; w.to += s.p) /* a host of each router */
            if (from != w.to)
                check_pair(&w, s, from);
    for (uint32_t node = 0; node < f->nodes; node++)
        free(tables[node]);
    free(tables);
    free(route);
    free(w.global);
}

/* Not every offered path is minimal, but each arrives, and there is no dependency cycle. */
static void validate(const struct hx_fabric *f, uint32_t step)
{
    struct fabric_findings found = fabric_find(f, step);
    fabric_validate_found(f, &found);
    assert_true(found.diameter <= 5);
}

static void test_every_path_of_every_pair(void **state)
{
    static const struct shape shapes[] = {
        {4, 2, 2, 9}, {4, 2, 2, 4}, {4, 1, 2, 2}, {3, 2, 1, 3}, {3, 1, 3, 5}, {1, 2, 4, 5},
        {5, 2, 1, 1}, {6, 2, 3, 6}, {3, 1, 1, 3}, {5, 1, 1, 5}, {7, 1, 1, 5}, {7, 1, 3, 11},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct hx_fabric f;
        make(&f, shapes[i]);
        check_groups(&f, shapes[i]);
        check_paths(&f, shapes[i]);
        validate(&f, 1);
        hx_fabric_free(&f);
    }
}

/* ---- table II ---- */

static void test_small_cluster(void **state)
{
    const struct shape s = {16, 8, 8, 8};
    struct hx_fabric f;
    (void)state;
    make(&f, s);
    check_groups(&f, s);
    assert_int_equal(f.switches, 64); /* two routers in a box */
    assert_int_equal(fabric_cables(&f, HX_DAC), 1920);
    assert_int_equal(fabric_cables(&f, HX_AOC), 512);
    assert_int_equal(fabric_cables(&f, HX_TRACE), 64);
    assert_int_equal(fabric_cost(&f), 27918336);    /* 27.9 M$ */
    assert_true(hx_fabric_alltoall_bound(&f) == 1); /* its links could carry all traffic */
    validate(&f, 61);
    hx_fabric_free(&f);
}

static void test_large_cluster(void **state)
{
    const struct shape s = {32, 17, 16, 30};
    struct hx_fabric f;
    (void)state;
    make(&f, s);
    assert_int_equal(f.hosts, 16320);
    assert_int_equal(f.switches, 960);
    assert_int_equal(fabric_cables(&f, HX_DAC), 31200);
    assert_int_equal(fabric_cables(&f, HX_AOC), 7680);
    assert_int_equal(fabric_cost(&f), 429219840); /* 429 M$ */
    validate(&f, 4099);
    hx_fabric_free(&f);
}

static void check_bound(struct shape s, double expected)
{
    struct hx_fabric f;
    make(&f, s);
    double bound = hx_fabric_alltoall_bound(&f);
    assert_true(bound > expected - 1e-9 && bound < expected + 1e-9);
    hx_fabric_free(&f);
}

static void test_shares(void **state)
{
    (void)state;
    /* A global link carries the traffic of 4 hosts to 4. */
    check_bound((struct shape){1, 4, 2, 3}, 11.0 / 16);
    /* In one group a local link carries the traffic of 4 hosts to 4. */
    check_bound((struct shape){2, 4, 1, 1}, 7.0 / 16);
    /* A local link carries the traffic of 4 hosts to the 8 of one group, from the 8 of the other, and of 4 to 4. */
    check_bound((struct shape){2, 4, 1, 3}, 23.0 / 80);
    /* All traffic of a router's hosts to the other group leaves by its own link: half of that of 6 hosts to 3 next
     * to its arrival, and of 3 to 3. */
    check_bound((struct shape){2, 3, 1, 2}, 11.0 / 18);
}

static void test_impossible_arguments_are_refused(void **state)
{
    (void)state;
    fabric_refused("dragonfly a=4 p=2 h=2 groups=10", "a group has 8 links to others: groups=9 at most");
    fabric_refused("dragonfly a=32 p=18 h=16 groups=30", "routers of 65 ports (a - 1 + p + h), 1 more");
    fabric_refused("dragonfly a=0", "a: ");
    fabric_refused("dragonfly a=4 g=9", "unknown key 'g'");
    fabric_refused("dragonfly 8x8", "sizes where none is expected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_path_of_every_pair),
        cmocka_unit_test(test_small_cluster),
        cmocka_unit_test(test_large_cluster),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_impossible_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
