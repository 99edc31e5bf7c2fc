/* test_circuits.c - circuits: degrees, components that are joined and never break, their graph as a fabric, and bytes
 * of demands. */
#include "tests/support/support_circuits.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_fabric.h"
#include "tests/support/support_file.h"
#include "tests/support/support_seed.h"
#include "topology/bounds.h"

#include <math.h>
#include <string.h>

enum { CONNECTS = 4000, MEASURES = 60, DEMANDS = 300, MOST = 40 };

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

/* ---- adding ---- */

static void a_server_has_its_degree_at_most(void **state)
{
    (void)state;
    struct circuits c;
    circuits_new(&c, 3, 2);
    assert_false(circuits_add(&c, 1, 1));
    assert_true(circuits_add(&c, 0, 1));
    assert_true(circuits_add(&c, 1, 0));
    assert_false(circuits_add(&c, 1, 2));
    assert_false(circuits_add(&c, 2, 0));
    assert_int_equal(c.count, 2);
    assert_int_equal(circuits_used(&c, 0), 2);
    assert_int_equal(circuits_used(&c, 2), 0);
    circuits_assert_sound(&c);
    circuits_free(&c);
}

static void a_copy_is_its_own(void **state)
{
    (void)state;
    struct circuits c;
    circuits_new(&c, 4, 3);
    assert_true(circuits_add(&c, 0, 1));
    c.ring[c.rings++] = (struct circuits_ring){2, 5};
    struct circuits copy = circuits_copy(&c);
    assert_true(circuits_add(&copy, 2, 3));
    assert_int_equal(c.count, 1);
    assert_int_equal(circuits_used(&c, 2), 0);
    circuits_free(&c);
    assert_int_equal(copy.count, 2);
    assert_int_equal(copy.servers, 4);
    assert_int_equal(copy.degree, 3);
    assert_int_equal(copy.rings, 1);
    assert_int_equal(copy.ring[0].reduce, 2);
    assert_int_equal(copy.ring[0].stride, 5);
    assert_int_equal(circuits_between_two(&copy, 0, 1), 1);
    circuits_assert_sound(&copy);
    circuits_free(&copy);
}

/* ---- joining ---- */

static void draw_circuits(struct circuits *c, uint64_t *random, unsigned least_degree)
{
    const uint32_t servers = seeded_below(random, MOST - 1) + 2;
    const unsigned degree = least_degree + seeded_below(random, 4);
    circuits_new(c, servers, degree);
    const uint32_t tries = seeded_below(random, 4 * servers * degree);
    const uint32_t parts = seeded_below(random, 4) + 1;
    for (uint32_t i = 0; i < tries; i++) { /* in parts that no circuit joins */
        const uint32_t a = seeded_below(random, servers), b = seeded_below(random, servers);
        if (a % parts == b % parts)
            (void)circuits_add(c, a, b);
    }
}

static void all_are_joined_and_none_falls_apart(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    for (uint32_t i = 0; i < effort(CONNECTS); i++, seeded_run++) {
        uint64_t random = seeded_run;
        uint32_t was[MOST], is[MOST];
        struct circuits c;
        draw_circuits(&c, &random, 2);
        struct circuits before = circuits_copy(&c);
        const uint32_t components = circuits_components(&before, was);
        assert_true(circuits_connect(&c));
        circuits_assert_sound(&c);
        assert_int_equal(circuits_components(&c, is), 1);
        for (uint32_t server = 0; server < c.servers; server++)
            assert_true(circuits_used(&c, server) >= circuits_used(&before, server));
        uint32_t changed = 0;
        for (uint32_t at = 0; at < before.count; at++)
            changed += memcmp(&before.circuit[at], &c.circuit[at], sizeof *c.circuit) != 0;
        assert_true(changed <= 2 * (components - 1)); /* one joining changes two circuits at most */
        circuits_free(&before);
        circuits_free(&c);
    }
    seeded_run = 0;
}

/* With one interface, no more than two servers can be joined; what can be joined is. */
static void one_interface_joins_pairs(void **state)
{
    (void)state;
    struct circuits c;
    circuits_new(&c, 2, 1);
    assert_true(circuits_connect(&c));
    assert_int_equal(c.count, 1);
    circuits_free(&c);
    circuits_new(&c, 4, 1);
    assert_true(circuits_add(&c, 0, 1));
    assert_true(circuits_add(&c, 2, 3));
    assert_false(circuits_connect(&c));
    circuits_assert_sound(&c);
    assert_int_equal(c.count, 2);
    circuits_free(&c);
    circuits_new(&c, 2, 0);
    assert_false(circuits_connect(&c));
    circuits_free(&c);
}

/* Two rings of four with one chord each: the chords are exchanged, the rings stay. */
static void circuits_that_came_first_stay(void **state)
{
    (void)state;
    struct circuits c;
    circuits_new(&c, 8, 3);
    for (uint32_t first = 0; first < 8; first += 4)
        for (uint32_t i = 0; i < 4; i++)
            assert_true(circuits_add(&c, first + i, first + (i + 1) % 4));
    for (uint32_t first = 0; first < 8; first += 4)
        for (uint32_t i = 0; i < 2; i++)
            assert_true(circuits_add(&c, first + i, first + i + 2));
    assert_int_equal(c.count, 12);
    struct circuits before = circuits_copy(&c);
    assert_true(circuits_connect(&c));
    for (uint32_t i = 0; i < 8; i++)
        assert_memory_equal(&before.circuit[i], &c.circuit[i], sizeof *c.circuit);
    circuits_free(&before);
    circuits_free(&c);
}

/* Five servers of three interfaces each, but the first with one free: a ring with two chords. */
static void add_blob(struct circuits *c, uint32_t first)
{
    for (uint32_t i = 0; i < 5; i++)
        assert_true(circuits_add(c, first + i, first + (i + 1) % 5));
    assert_true(circuits_add(c, first + 1, first + 3));
    assert_true(circuits_add(c, first + 2, first + 4));
}

/* Two components, each two blobs and a bridge between them, the last circuit. Were both bridges exchanged, blobs would
 * stay apart. So one bridge is, and the last circuit on a cycle of the other component. */
static void bridges_do_not_both_change(void **state)
{
    (void)state;
    enum { BRIDGE = 14, LAST_OF_BLOB = 28 };
    struct circuits c;
    uint32_t of[20];
    circuits_new(&c, 20, 3);
    for (uint32_t first = 0; first < 20; first += 10) {
        add_blob(&c, first);
        add_blob(&c, first + 5);
        assert_true(circuits_add(&c, first, first + 5));
    }
    struct circuits before = circuits_copy(&c);
    assert_int_equal(circuits_components(&c, of), 2);
    assert_true(circuits_connect(&c));
    assert_int_equal(circuits_components(&c, of), 1);
    assert_int_equal(c.count, 30);
    for (uint32_t i = 0; i < c.count; i++)
        assert_int_equal(memcmp(&before.circuit[i], &c.circuit[i], sizeof *c.circuit) != 0,
                         i == BRIDGE || i == LAST_OF_BLOB);
    circuits_free(&before);
    circuits_free(&c);
}

/* ---- the graph ---- */

static void a_graph_is_written(void **state)
{
    (void)state;
    struct circuits c;
    circuits_new(&c, 3, 2);
    assert_true(circuits_add(&c, 0, 1));
    assert_true(circuits_add(&c, 2, 1));
    circuits_write(&c, &(struct circuits_links){100, 1000, 500, 80}, file_begin_text());
    char *text = file_end_text();
    assert_string_equal(text, "forward s0 500 80\nforward s1 500 80\nforward s2 500 80\n"
                              "s0,s1,100,1000,aoc\ns2,s1,100,1000,aoc\n");
    free(text);
    circuits_dot(&c, file_begin_text());
    text = file_end_text();
    assert_string_equal(text, "graph circuits {\n    layout=circo;\n    node [shape=circle];\n"
                              "    s0;\n    s1;\n    s2;\n    s0 -- s1;\n    s2 -- s1;\n}\n");
    free(text);
    circuits_free(&c);
}

static void links_and_servers_have_their_rates(void **state)
{
    (void)state;
    struct circuits c;
    struct hx_fabric f;
    circuits_new(&c, 3, 3);
    assert_true(circuits_add(&c, 0, 1));
    assert_true(circuits_add(&c, 0, 1));
    assert_true(circuits_add(&c, 1, 2));
    assert_true(circuits_make(&f, &c, &(struct circuits_links){100, 1000, 500, 80}));
    assert_int_equal(f.hosts, 3);
    assert_int_equal(f.switches, 0);
    assert_int_equal(fabric_cables(&f, HX_AOC), 3);
    assert_int_equal(fabric_links_between(&f, f.hosts, f.hosts + 1), 2);
    for (uint32_t server = 0; server < 3; server++) {
        assert_int_equal(f.forwarding[server].host, server);
        assert_int_equal(f.forwarding[server].delay_ns, 500);
        assert_int_equal(f.forwarding[server].gbps, 80);
        near(hx_host_injection(&f, server, 100), circuits_used(&c, server));
        const struct hx_link_class *link = hx_fabric_link(&f, f.hosts + server, 1);
        assert_int_equal(link->gbps, 100);
        assert_int_equal(link->latency_ns, 1000);
    }
    hx_fabric_free(&f);
    circuits_free(&c);
}

/* What is measured is what the fabric of the graph says; a fabric counts both links of the hosts. */
static void lengths_are_those_of_the_fabric(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    for (uint32_t i = 0; i < effort(MEASURES); i++, seeded_run++) {
        uint64_t random = seeded_run;
        struct circuits c;
        struct circuits_paths p;
        struct hx_fabric f;
        draw_circuits(&c, &random, 2);
        assert_true(circuits_connect(&c));
        assert_true(circuits_measure(&c, &p));
        if (circuits_make(&f, &c, &(struct circuits_links){.gbps = 10})) {
            const struct hx_distances expected = hx_fabric_distances(&f);
            uint64_t pairs = 0;
            assert_int_equal(p.diameter + 2, expected.diameter);
            near(p.mean + 2, expected.average);
            for (unsigned length = 1; length <= p.diameter; length++) {
                for (uint32_t pair = 0; pair < f.hosts * f.hosts; pair++)
                    pairs += hx_fabric_distance(&f, pair / f.hosts, pair % f.hosts) == length + 2;
                assert_int_equal(p.of_length[length], pairs);
                pairs = 0;
            }
            hx_fabric_free(&f);
        }
        free(p.of_length);
        circuits_free(&c);
    }
    seeded_run = 0;
}

static void servers_apart_have_no_lengths(void **state)
{
    (void)state;
    struct circuits c;
    struct circuits_paths p;
    circuits_new(&c, 4, 2);
    assert_true(circuits_add(&c, 0, 1));
    assert_true(circuits_add(&c, 2, 3));
    assert_false(circuits_measure(&c, &p));
    uint32_t *distance = circuits_distances(&c);
    assert_int_equal(distance[0 * 4 + 1], 1);
    assert_int_equal(distance[1 * 4 + 2], CIRCUITS_APART);
    assert_int_equal(distance[3 * 4 + 3], 0);
    free(distance);
    circuits_free(&c);
}

/* ---- demands ---- */

static void bytes_are_sums_over_messages(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    for (uint32_t i = 0; i < effort(DEMANDS); i++, seeded_run++) {
        uint64_t random = seeded_run;
        struct circuits_drawn drawn;
        circuits_draw(&drawn, &random, MOST);
        const struct circuits_demand *d = &drawn.demand;
        double bytes[MOST * MOST] = {0}, all = 0, reduced = 0;
        for (unsigned e = 0; e < d->exchanges; e++) {
            for (uint32_t server = 0; server < d->servers; server++) {
                for (uint32_t other = 0; other < d->servers; other++) {
                    if (other == server)
                        continue;
                    bytes[server * MOST + other] += d->exchange[e].all;
                    if (d->exchange[e].scatter)
                        bytes[server * MOST + other] += d->exchange[e].scatter[server];
                    if (d->exchange[e].gather)
                        bytes[other * MOST + server] += d->exchange[e].gather[server];
                }
            }
        }
        for (uint32_t from = 0; from < d->servers; from++) {
            for (uint32_t to = 0; to < d->servers; to++) {
                near(circuits_between(d, from, to), bytes[from * MOST + to]);
                all += bytes[from * MOST + to];
            }
        }
        for (unsigned r = 0; r < d->reduces; r++) /* each member sends a part of the vector in each step of a ring */
            for (uint32_t member = 0; member < d->reduce[r].members; member++)
                for (uint32_t step = 0; step < 2 * (d->reduce[r].members - 1); step++)
                    reduced += d->reduce[r].bytes / d->reduce[r].members;
        near(circuits_exchanged(d), all);
        near(circuits_reduced(d), reduced);
        circuits_drawn_free(&drawn);
    }
    seeded_run = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_has_its_degree_at_most),
        cmocka_unit_test(a_copy_is_its_own),
        cmocka_unit_test_teardown(all_are_joined_and_none_falls_apart, seeded_report),
        cmocka_unit_test(one_interface_joins_pairs),
        cmocka_unit_test(circuits_that_came_first_stay),
        cmocka_unit_test(bridges_do_not_both_change),
        cmocka_unit_test(a_graph_is_written),
        cmocka_unit_test(links_and_servers_have_their_rates),
        cmocka_unit_test_teardown(lengths_are_those_of_the_fabric, seeded_report),
        cmocka_unit_test(servers_apart_have_no_lengths),
        cmocka_unit_test_teardown(bytes_are_sums_over_messages, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
