/* test_bigraph_halving.c - HDRM (Dong et al., EFLOPS, HPCA 2020): the connections on each link between the two parts in
 * every step of halving, counted along cables, for all BiGraphs and all powers of two up to 1,024 hosts. */
#include "base/powers.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_fabric.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_HOSTS = 1024, MOST_SWITCHES = 2 * (HX_MAX_RADIX - 1), MOST_MEMBERS = 2 * MOST_HOSTS };

/* A BiGraph as its cables show it. Switches count from 0. */
struct cables {
    struct hx_fabric f;
    uint8_t switch_of[MOST_MEMBERS];             /* [host] */
    bool joined[MOST_SWITCHES][MOST_SWITCHES];   /* by one link */
    uint16_t load[MOST_SWITCHES][MOST_SWITCHES]; /* connections that may use the link, from one to the other */
    uint32_t order[MOST_MEMBERS];                /* [position]: host */
};

static void follow(struct cables *c, uint32_t router, unsigned port)
{
    struct hx_fabric *f = &c->f;
    uint32_t far = hx_fabric_far(f, f->hosts + router, port).node;
    if (hx_is_host(f, far)) {
        c->switch_of[far] = (uint8_t)router;
        return;
    }
    assert_false(c->joined[router][far - f->hosts]);
    c->joined[router][far - f->hosts] = true;
}

static struct cables *set_up(unsigned m, unsigned n)
{
    char text[64];
    struct cables *c = hx_allocate(1, sizeof *c);
    (void)snprintf(text, sizeof text, "bigraph m=%u n=%u", m, n);
    fabric_make(&c->f, text);
    assert_true(c->f.hosts <= MOST_MEMBERS && c->f.switches <= MOST_SWITCHES);
    for (uint32_t router = 0; router < n; router++)
        for (unsigned port = 0; port < hx_fabric_ports(&c->f, c->f.hosts + router); port++)
            follow(c, router, port);
    for (uint32_t host = 0; host < c->f.hosts; host++)
        c->order[host] = host;
    return c;
}

static void tear_down(struct cables *c)
{
    hx_fabric_free(&c->f);
    free(c);
}

static struct cables *set_up_ordered(unsigned m, unsigned n)
{
    struct cables *c = set_up(m, n);
    assert_true(hx_fabric_halving_order(&c->f, c->order, c->f.hosts));
    return c;
}

/* ---- connections on a link ---- */

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* Adds a connection to all links of its minimal paths. Returns the highest load of these. */
static unsigned connect_hosts(struct cables *c, unsigned from, unsigned to)
{
    unsigned highest = 0;
    if (from == to)
        return 0;
    if (c->joined[from][to])
        return ++c->load[from][to];
    for (unsigned by = 0; by < c->f.switches; by++)
        if (c->joined[from][by] && c->joined[by][to])
            highest = larger(highest, larger(++c->load[from][by], ++c->load[by][to]));
    return highest;
}

/* Returns the most connections that one direction of a link may carry in a step, over all steps of a number of hosts:
 * the first positions of the order. */
static unsigned most_connections(struct cables *c, uint32_t hosts)
{
    unsigned most = 0;
    for (uint32_t step = 1; step < hosts; step *= 2) {
        memset(c->load, 0, c->f.switches * sizeof *c->load);
        for (uint32_t p = 0; p < hosts; p++)
            most = larger(most, connect_hosts(c, c->switch_of[c->order[p]], c->switch_of[c->order[p ^ step]]));
    }
    return most;
}

/* ---- the definition ---- */

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Sets the order by the definition, with lists of positions for the switches of both parts. */
static void define(struct cables *c, unsigned m, unsigned n)
{
    for (unsigned j = 0; j < m; j++) {
        for (unsigned i = 0; i < n / 2; i++) {
            uint32_t upper = j * n + 2 * i;
            uint32_t lower = upper + 1;
            if (__builtin_popcount(i) % 2)
                swap(&upper, &lower);
            if (__builtin_popcount(j) % 2)
                swap(&upper, &lower);
            unsigned rotated = (i + n / 2 - j % (n / 2)) % (n / 2);
            c->order[upper] = rotated * m + j;
            c->order[lower] = (n / 2 + i) * m + j;
        }
    }
}

static void eight_switches_are_as_published(void **state)
{
    (void)state;
    static const uint32_t host_at[8] = {0, 4, 5, 1, 6, 2, 3, 7}; /* upper: 0 3 5 6, lower: 1 2 4 7 */
    struct cables *c = set_up_ordered(1, 8);
    assert_memory_equal(c->order, host_at, sizeof host_at);
    tear_down(c);
}

static void powers_of_two_are_as_defined(void **state)
{
    (void)state;
    for (unsigned n = 2; n <= 64; n *= 2) {
        for (unsigned m = 1; m + n / 2 <= HX_MAX_RADIX && m * n <= MOST_MEMBERS; m++) {
            struct cables *c = set_up_ordered(m, n);
            struct cables *defined = set_up(m, n);
            define(defined, m, n);
            assert_memory_equal(c->order, defined->order, c->f.hosts * sizeof *c->order);
            tear_down(c);
            tear_down(defined);
        }
    }
}

/* With 6 switches the definition as published makes connections meet: positions are not XORed within a group of 6. */
static void the_definition_needs_a_power_of_two(void **state)
{
    (void)state;
    struct cables *c = set_up(2, 6);
    define(c, 2, 6);
    assert_int_equal(most_connections(c, 4), 1);
    assert_int_equal(most_connections(c, 8), 3);
    assert_true(hx_fabric_halving_order(&c->f, c->order, c->f.hosts));
    assert_int_equal(most_connections(c, 8), 1);
    tear_down(c);
}

static void the_order_of_hosts_shares_links(void **state)
{
    (void)state;
    struct cables *c = set_up(4, 8);
    assert_int_equal(most_connections(c, 32), 8);
    (void)hx_fabric_halving_order(&c->f, c->order, c->f.hosts);
    assert_int_equal(most_connections(c, 32), 1);
    tear_down(c);
}

/* ---- for which m, n and hosts ---- */

/* Whole fabrics of up to 1,024 hosts: one connection for m up to n / 2, the fewest possible above. */
static void whole_fabrics(void **state)
{
    (void)state;
    static const unsigned expected[6][6] = {
        /* m = 1   2   4   8  16  32 */
        {1, 2, 4, 8, 16, 32}, /* n = 2 */
        {1, 1, 2, 4, 8, 16},  /* n = 4 */
        {1, 1, 1, 2, 4, 8},   /* n = 8 */
        {1, 1, 1, 1, 2, 4},   /* n = 16 */
        {1, 1, 1, 1, 1, 2},   /* n = 32 */
        {1, 1, 1, 1, 1, 0},   /* n = 64 */
    };
    for (unsigned row = 0; row < 6; row++) {
        for (unsigned column = 0; column < 6 && expected[row][column]; column++) {
            struct cables *c = set_up_ordered(1U << column, 2U << row);
            assert_int_equal(most_connections(c, c->f.hosts), expected[row][column]);
            tear_down(c);
        }
    }
}

/* Outcome for the first positions of the order of each BiGraph with m + n / 2 up to 64. */
struct outcome {
    unsigned hosts;                             /* positions */
    unsigned fabrics, hold;                     /* fabrics with so many hosts; of these, with at most one connection */
    unsigned powers_of_two, powers_of_two_hold; /* of these, with n a power of two */
};
enum { OUTCOMES = 10 };
static const struct outcome outcomes[OUTCOMES] = {
    {2, 2016, 2016, 321, 321},  {4, 2015, 1953, 320, 258},  {8, 2011, 1951, 317, 257},   {16, 2000, 1826, 310, 195},
    {32, 1971, 1812, 295, 192}, {64, 1903, 1560, 264, 132}, {128, 1743, 1474, 201, 125}, {256, 1509, 997, 140, 70},
    {512, 1127, 768, 83, 58},   {1024, 568, 168, 34, 17},
};

/* With c switches of a part, the largest power of two, one connection for up to 2 * c * c hosts. */
static void note(struct outcome *o, struct cables *c, unsigned m, unsigned n)
{
    unsigned columns = hx_power_of_two(n / 2 + 1) / 2;
    unsigned most = most_connections(c, o->hosts);
    bool is_power = hx_is_power_of_two(n);
    if (o->hosts <= 2 * columns * (m < columns ? m : columns))
        assert_int_equal(most, 1);
    else if (is_power)
        assert_int_equal(most, o->hosts / (2 * columns * columns));
    o->fabrics++;
    o->hold += most == 1;
    o->powers_of_two += is_power;
    o->powers_of_two_hold += is_power && most == 1;
}

static void first_positions_of_all_fabrics(void **state)
{
    (void)state;
    struct outcome found[OUTCOMES];
    memset(found, 0, sizeof found);
    for (unsigned n = 2; n <= MOST_SWITCHES; n += 2) {
        for (unsigned m = 1; m + n / 2 <= HX_MAX_RADIX; m++) {
            struct cables *c = set_up_ordered(m, n);
            for (unsigned i = 0; i < OUTCOMES; i++) {
                found[i].hosts = outcomes[i].hosts;
                if (found[i].hosts <= c->f.hosts)
                    note(&found[i], c, m, n);
            }
            tear_down(c);
        }
    }
    assert_memory_equal(found, outcomes, sizeof outcomes);
}

/* One link: two hosts a switch cannot all cross it alone. */
static void above_half_no_order_holds(void **state)
{
    (void)state;
    struct cables *c = set_up(2, 2);
    for (unsigned a = 1; a < 4; a++) {
        memcpy(c->order, (uint32_t[]){0, 1, 2, 3}, 4 * sizeof *c->order);
        swap(&c->order[1], &c->order[a]);
        for (unsigned b = 2; b < 4; b++) { /* position 0 keeps its host: all positions are alike */
            swap(&c->order[2], &c->order[b]);
            assert_int_equal(most_connections(c, 4), 2);
            swap(&c->order[2], &c->order[b]);
        }
    }
    tear_down(c);
}

/* ---- groups that are a part of the fabric ---- */

/* Orders the hosts at `places` places from `place` on, on `switches` switches of each part, every `stride`-th. */
static void order_part(struct cables *c, unsigned switches, unsigned stride, unsigned place, unsigned places)
{
    unsigned n = c->f.switches;
    unsigned m = c->f.hosts / n;
    uint32_t count = 0;
    for (unsigned i = places; i-- > 0;) /* in no useful order */
        for (unsigned s = 0; s < switches; s++)
            for (unsigned part = 0; part < 2; part++)
                c->order[count++] = (part * n / 2 + s * stride) * m + place + i;
    assert_true(hx_fabric_halving_order(&c->f, c->order, count));
    assert_int_equal(most_connections(c, count), 1);
}

static void parts_of_a_fabric_hold_too(void **state)
{
    (void)state;
    struct cables *c = set_up(8, 24);
    order_part(c, 8, 1, 0, 8);
    order_part(c, 8, 1, 3, 4);
    order_part(c, 4, 3, 2, 4);
    order_part(c, 4, 2, 5, 2);
    order_part(c, 2, 11, 1, 1);
    order_part(c, 1, 1, 7, 1);
    tear_down(c);
}

static void every_member_is_kept(void **state)
{
    (void)state;
    struct cables *c = set_up(5, 14);
    uint64_t random = seeded_by(1);
    for (unsigned round = 0; round < 500; round++) {
        bool in_group[70];
        uint32_t count = 0;
        uint32_t share = seeded_below(&random, 100);
        for (uint32_t host = 0; host < c->f.hosts; host++) {
            in_group[host] = seeded_below(&random, 100) <= share;
            if (in_group[host])
                c->order[count++] = host;
        }
        assert_true(hx_fabric_halving_order(&c->f, c->order, count));
        for (uint32_t i = 0; i < count; i++) {
            assert_true(in_group[c->order[i]]);
            in_group[c->order[i]] = false;
        }
    }
    tear_down(c);
}

static void other_topologies_keep_the_order(void **state)
{
    (void)state;
    struct hx_fabric f;
    uint32_t hosts[3] = {5, 0, 3};
    fabric_make(&f, "fat-tree hosts=16 radix=8");
    assert_false(hx_fabric_halving_order(&f, hosts, 3));
    assert_memory_equal(hosts, ((uint32_t[]){5, 0, 3}), sizeof hosts);
    hx_fabric_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_switches_are_as_published),
        cmocka_unit_test(powers_of_two_are_as_defined),
        cmocka_unit_test(the_definition_needs_a_power_of_two),
        cmocka_unit_test(the_order_of_hosts_shares_links),
        cmocka_unit_test(whole_fabrics),
        cmocka_unit_test(first_positions_of_all_fabrics),
        cmocka_unit_test(above_half_no_order_holds),
        cmocka_unit_test(parts_of_a_fabric_hold_too),
        cmocka_unit_test(every_member_is_kept),
        cmocka_unit_test(other_topologies_keep_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
