/* test_finder.c - TopologyFinder: the interfaces that sums get, their rings, matchings against brute force, and demands
 * at the edges. */
#include "tests/support/support_circuits.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_seed.h"
#include "tools/circuits/finder.h"
#include "tools/circuits/permutations.h"

#include <math.h>
#include <string.h>

enum { MATCHED = 400, MOST_MATCHED = 9 };

/* Sums over all servers, and bytes from one server to each other. */
static struct circuits_demand demand_of(uint32_t servers, double sum, struct circuits_exchange *exchange)
{
    return (struct circuits_demand){.servers = servers,
                                    .reduces = 1,
                                    .reduce = {{.members = servers, .bytes = sum}},
                                    .exchanges = exchange ? 1 : 0,
                                    .exchange = exchange};
}

static void find(struct circuits *c, const struct circuits_demand *d, unsigned degree)
{
    assert_true(circuits_find(c, d, degree, false));
    circuits_assert_sound(c);
}

static void assert_rings(const struct circuits *c, const struct circuits_ring *expected, unsigned count)
{
    assert_int_equal(c->rings, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(c->ring[i].reduce, expected[i].reduce);
        assert_int_equal(c->ring[i].stride, expected[i].stride);
    }
}

/* Rings come first, in their order, and each circuit leads from a member to the one a stride further. Returns the
 * number of circuits in rings. */
static uint32_t assert_rings_are_there(const struct circuits *c, const struct circuits_demand *d)
{
    uint32_t at = 0;
    for (unsigned i = 0; i < c->rings; i++) {
        const struct circuits_reduce *r = &d->reduce[c->ring[i].reduce];
        for (uint32_t m = 0; m < (r->members == 2 ? 1 : r->members); m++, at++) {
            assert_int_equal(c->circuit[at].a, circuits_member(r, m));
            assert_int_equal(c->circuit[at].b, circuits_member(r, (m + c->ring[i].stride) % r->members));
        }
    }
    return at;
}

/* ---- sums ---- */

static void sums_alone_get_all_interfaces(void **state)
{
    (void)state;
    static const struct {
        uint32_t servers;
        unsigned degree, rings;
        struct circuits_ring ring[4];
    } cases[] = {{128, 4, 2, {{0, 1}, {0, 11}}},
                 {128, 8, 4, {{0, 1}, {0, 3}, {0, 11}, {0, 37}}},
                 {12, 4, 2, {{0, 1}, {0, 5}}},
                 {12, 8, 4, {{0, 1}, {0, 5}, {0, 1}, {0, 5}}}, /* 7 and 11 are the same rings */
                 {3, 4, 2, {{0, 1}, {0, 1}}},
                 {2, 3, 3, {{0, 1}, {0, 1}, {0, 1}}},
                 {2, 1, 1, {{0, 1}}},
                 {9, 3, 1, {{0, 1}}},
                 {9, 2, 1, {{0, 1}}}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct circuits c;
        const struct circuits_demand d = demand_of(cases[i].servers, 1e9, NULL);
        find(&c, &d, cases[i].degree);
        assert_rings(&c, cases[i].ring, cases[i].rings);
        assert_rings_are_there(&c, &d);
        assert_int_equal(c.count, cases[i].servers * cases[i].degree / 2);
        circuits_free(&c);
    }
}

/* In a graph of rings alone, coin change gives minimal paths: over all strides, both ways. */
static void rings_have_routes_of_coin_change(void **state)
{
    (void)state;
    for (uint32_t servers = 3; servers < 100; servers += 8) {
        struct circuits c;
        uint32_t stride[8], next[100], length[100];
        const struct circuits_demand d = demand_of(servers, 1, NULL);
        find(&c, &d, 2 + servers / 8 % 4 * 2);
        for (unsigned i = 0; i < c.rings; i++) {
            stride[2 * i] = c.ring[i].stride;
            stride[2 * i + 1] = servers - c.ring[i].stride;
        }
        circuits_coin_change(servers, stride, 2 * c.rings, next, length);
        uint32_t *distance = circuits_distances(&c);
        for (uint32_t pair = 0; pair < servers * servers; pair++)
            assert_int_equal(distance[pair], length[(pair % servers + servers - pair / servers) % servers]);
        free(distance);
        circuits_free(&c);
    }
}

static void strides_may_be_primes(void **state)
{
    (void)state;
    struct circuits c;
    const struct circuits_demand d = demand_of(80, 1, NULL);
    assert_true(circuits_find(&c, &d, 4, false));
    assert_rings(&c, (const struct circuits_ring[]){{0, 1}, {0, 9}}, 2);
    circuits_free(&c);
    assert_true(circuits_find(&c, &d, 4, true));
    assert_rings(&c, (const struct circuits_ring[]){{0, 1}, {0, 7}}, 2);
    circuits_free(&c);
}

/* d_R = max(1, ceil(d R / (R + M))), of which rings take two interfaces each. With 65 servers, R is 128 vectors, and M
 * 65 x 64 times the bytes of a pair. */
static void interfaces_go_by_bytes(void **state)
{
    (void)state;
    static const struct {
        unsigned degree;
        double share; /* R / (R + M) */
        unsigned rings;
    } cases[] = {{4, 0.01, 1}, {4, 0.49, 1}, {4, 0.51, 2}, {4, 0.74, 2}, {4, 0.76, 2}, {8, 0.24, 1},
                 {8, 0.26, 2}, {8, 0.51, 3}, {8, 0.76, 4}, {3, 0.99, 1}, {3, 0.01, 1}, {5, 0.99, 2},
                 {5, 0.61, 2}, {5, 0.59, 2}, {5, 0.39, 1}, {1, 0.99, 0}, {2, 0.01, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct circuits c;
        struct circuits_exchange e = {.all = (1 / cases[i].share - 1) * 128e6 / (65 * 64)};
        const struct circuits_demand d = demand_of(65, 1e6, &e);
        circuits_new(&c, 65, cases[i].degree);
        circuits_find_rings(&c, &d, false);
        assert_int_equal(c.rings, cases[i].rings);
        assert_int_equal(c.count, cases[i].rings * 65);
        circuits_free(&c);
    }
}

/* Groups in the order of their bytes, ceil(d_R T_k / T) each: of 8 interfaces 4, then 3, which are rounded up. */
static void groups_share_interfaces_by_bytes(void **state)
{
    (void)state;
    struct circuits c;
    static const uint32_t even[] = {0, 2, 4, 6, 8, 10, 12, 14, 16};
    struct circuits_demand d = {
        .servers = 18, .reduces = 3, .reduce = {{18, NULL, 200}, {9, even, 500}, {18, NULL, 300}}};
    find(&c, &d, 8);
    assert_rings(&c, (const struct circuits_ring[]){{1, 1}, {1, 2}, {2, 1}, {2, 5}}, 4);
    assert_rings_are_there(&c, &d);
    assert_int_equal(c.count, 18 * 8 / 2);
    circuits_free(&c);

    find(&c, &d, 4); /* 2 to the first, 2 to the second, none is left */
    assert_rings(&c, (const struct circuits_ring[]){{1, 1}, {2, 1}}, 2);
    circuits_free(&c);
}

/* d_R is 6 of 8: the first of two equal groups gets 3, rounded up, the other one what is left. */
static void the_last_group_gets_what_is_left(void **state)
{
    (void)state;
    struct circuits c;
    struct circuits_exchange e = {.all = 2.0 * 200 / 3 / 65}; /* a third of the bytes of sums */
    struct circuits_demand d = {
        .servers = 65, .reduces = 2, .reduce = {{65, NULL, 100}, {65, NULL, 100}}, .exchanges = 1, .exchange = &e};
    find(&c, &d, 8);
    assert_rings(&c, (const struct circuits_ring[]){{0, 1}, {0, 8}, {1, 1}}, 3);
    circuits_free(&c);
}

/* Groups without a common server have all interfaces each, and are joined afterwards. */
static void groups_apart_do_not_share(void **state)
{
    (void)state;
    struct circuits c;
    static const uint32_t one[] = {0, 2, 4, 6, 8}, other[] = {1, 3, 5, 7, 9}, alone[] = {0};
    struct circuits_demand d = {
        .servers = 10, .reduces = 4, .reduce = {{5, one, 1}, {5, other, 1000}, {1, alone, 9000}, {10, NULL, 0}}};
    uint32_t of[10];
    find(&c, &d, 4);
    assert_rings(&c, (const struct circuits_ring[]){{1, 1}, {1, 2}, {0, 1}, {0, 2}}, 4);
    assert_int_equal(circuits_components(&c, of), 1);
    assert_int_equal(c.count, 20);
    circuits_free(&c);
}

/* ---- exchanges ---- */

/* The most that the pairs of a matching weigh, by trying every partner of the first free server. */
static double heaviest(const double *weight, uint32_t n, unsigned taken)
{
    uint32_t first = 0;
    while (first < n && taken >> first & 1)
        first++;
    if (first == n)
        return 0;
    double most = heaviest(weight, n, taken | 1U << first);
    for (uint32_t mate = first + 1; mate < n; mate++)
        if (!(taken >> mate & 1) && weight[first * n + mate] > 0)
            most = fmax(most, weight[first * n + mate] + heaviest(weight, n, taken | 1U << first | 1U << mate));
    return most;
}

struct matched {
    uint32_t servers;
    double weight[MOST_MATCHED * MOST_MATCHED]; /* of pairs, both directions; halved for each circuit */
    unsigned used[MOST_MATCHED];
};

static void take(struct matched *m, const struct circuit *circuit)
{
    m->used[circuit->a]++;
    m->used[circuit->b]++;
    m->weight[circuit->a * m->servers + circuit->b] /= 2;
    m->weight[circuit->b * m->servers + circuit->a] /= 2;
}

static unsigned full_servers(const struct matched *m, unsigned degree)
{
    unsigned full = 0;
    for (uint32_t server = 0; server < m->servers; server++)
        full |= (m->used[server] == degree ? 1U : 0U) << server;
    return full;
}

/* The circuits from `at` on are matchings of the most weight, each of all servers with a free interface. */
static void assert_matchings(struct matched *m, const struct circuits *c, uint32_t at)
{
    double most;
    while ((most = heaviest(m->weight, m->servers, full_servers(m, c->degree))) > 0) {
        double sum = 0;
        unsigned taken = 0;
        const uint32_t first = at;
        for (; at < c->count && sum < most * (1 - 1e-6); at++) {
            const unsigned both = 1U << c->circuit[at].a | 1U << c->circuit[at].b;
            assert_int_equal(taken & both, 0);
            taken |= both;
            sum += m->weight[c->circuit[at].a * m->servers + c->circuit[at].b];
        }
        if (fabs(sum - most) > most * 1e-6)
            fail_msg("a matching weighs %.12g, not %.12g", sum, most);
        for (uint32_t i = first; i < at; i++)
            take(m, &c->circuit[i]);
    }
}

/* A small sum over all servers takes a ring, which joins them: no circuit is exchanged. */
static void other_interfaces_are_matchings(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    for (uint32_t i = 0; i < effort(MATCHED); i++, seeded_run++) {
        uint64_t random = seeded_run;
        struct circuits_drawn drawn;
        struct circuits c;
        circuits_draw(&drawn, &random, MOST_MATCHED);
        struct circuits_demand *d = &drawn.demand;
        d->reduces = 1;
        d->reduce[0] = (struct circuits_reduce){.members = d->servers, .bytes = 1};
        struct matched m = {.servers = d->servers};
        for (uint32_t from = 0; from < m.servers; from++)
            for (uint32_t to = 0; to < m.servers; to++)
                m.weight[from * m.servers + to] = circuits_between(d, from, to) + circuits_between(d, to, from);
        find(&c, d, seeded_below(&random, 8) + 2);
        const uint32_t at = assert_rings_are_there(&c, d);
        for (uint32_t circuit = 0; circuit < at; circuit++)
            take(&m, &c.circuit[circuit]);
        assert_matchings(&m, &c, at);
        circuits_free(&c);
        circuits_drawn_free(&drawn);
    }
    seeded_run = 0;
}

/* Six pairs of four servers are three matchings, each twice. */
static void a_pair_may_have_several_circuits(void **state)
{
    (void)state;
    struct circuits c;
    struct circuits_exchange e = {.all = 1};
    const struct circuits_demand d = demand_of(4, 0, &e);
    find(&c, &d, 6);
    assert_int_equal(c.rings, 0);
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_int_equal(circuits_between_two(&c, a, b), 2);
    circuits_free(&c);
}

/* ---- edges ---- */

/* Each circuit joins a server with most free interfaces and another with any, the farthest apart of all such two. */
static void assert_farthest(const struct circuits *c)
{
    struct circuits before;
    circuits_new(&before, c->servers, c->degree);
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t *distance = circuits_distances(&before);
        unsigned least = c->degree;
        uint32_t most = 0;
        for (uint32_t server = 0; server < c->servers; server++)
            least = circuits_used(&before, server) < least ? circuits_used(&before, server) : least;
        for (uint32_t pair = 0; pair < c->servers * c->servers; pair++)
            if (circuits_used(&before, pair / c->servers) == least &&
                circuits_used(&before, pair % c->servers) < c->degree && distance[pair] > most)
                most = distance[pair];
        const uint32_t a = c->circuit[i].a, b = c->circuit[i].b;
        assert_true(circuits_used(&before, a) == least || circuits_used(&before, b) == least);
        assert_int_equal(distance[a * c->servers + b], most);
        assert_true(circuits_add(&before, a, b));
        free(distance);
    }
    circuits_free(&before);
}

static void no_demand_is_joined_all_the_same(void **state)
{
    (void)state;
    for (unsigned degree = 2; degree < 8; degree++) {
        for (uint32_t servers = 2; servers < 30; servers++) {
            struct circuits c;
            uint32_t of[30];
            const struct circuits_demand d = {.servers = servers};
            find(&c, &d, degree);
            assert_int_equal(c.rings, 0);
            assert_int_equal(c.count, servers * degree / 2);
            assert_int_equal(circuits_components(&c, of), 1);
            assert_farthest(&c);
            circuits_free(&c);
        }
    }
}

static void one_interface_joins_two_servers_alone(void **state)
{
    (void)state;
    struct circuits c;
    struct circuits_exchange e = {.all = 1};
    for (uint32_t servers = 2; servers < 6; servers++) {
        const struct circuits_demand d = demand_of(servers, 1, &e);
        assert_int_equal(circuits_find(&c, &d, 1, false), servers == 2);
        if (servers == 2)
            circuits_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_alone_get_all_interfaces),
        cmocka_unit_test(rings_have_routes_of_coin_change),
        cmocka_unit_test(strides_may_be_primes),
        cmocka_unit_test(interfaces_go_by_bytes),
        cmocka_unit_test(groups_share_interfaces_by_bytes),
        cmocka_unit_test(the_last_group_gets_what_is_left),
        cmocka_unit_test(groups_apart_do_not_share),
        cmocka_unit_test_teardown(other_interfaces_are_matchings, seeded_report),
        cmocka_unit_test(a_pair_may_have_several_circuits),
        cmocka_unit_test(no_demand_is_joined_all_the_same),
        cmocka_unit_test(one_interface_joins_two_servers_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
