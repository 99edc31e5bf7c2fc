/* prop_circuits.c - circuits for demands drawn at random: degrees hold, all servers are joined, no interface is left
 * that could have a circuit. Their graphs load as fabrics: free of deadlock on four VCs, by the tables alone. */
#include "tests/support/support_circuits.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_fabric.h"
#include "tests/support/support_seed.h"
#include "tools/circuits/finder.h"
#include "tools/circuits/other.h"
#include "topology/bounds.h"

#include <math.h>
#include <stdlib.h>

enum { DRAWN = 400, MOST = 48, WALKED = 40000 /* pairs of a graph */ };

static const struct circuits_links links = {.gbps = 100, .latency_ns = 1000};

/* ---- any demand ---- */

/* No two servers have free interfaces. One that is in no ring, while the others have spent theirs, may have some. */
static void assert_spent(const struct circuits *c)
{
    uint32_t with_free = 0;
    for (uint32_t server = 0; server < c->servers; server++)
        with_free += circuits_used(c, server) < c->degree;
    assert_true(with_free <= 1);
}

static void any_demand_is_joined_within_degrees(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    for (uint32_t i = 0; i < effort(DRAWN); i++, seeded_run++) {
        uint64_t random = seeded_run;
        uint32_t of[MOST];
        struct circuits_drawn drawn;
        struct circuits c, again;
        circuits_draw(&drawn, &random, MOST);
        const unsigned degree = seeded_below(&random, 9) + 2;
        const bool prime = seeded_below(&random, 2);
        assert_true(circuits_find(&c, &drawn.demand, degree, prime));
        circuits_assert_sound(&c);
        assert_spent(&c);
        assert_int_equal(circuits_components(&c, of), 1);
        assert_true(circuits_find(&again, &drawn.demand, degree, prime));
        assert_memory_equal(c.circuit, again.circuit, c.count * sizeof *c.circuit);
        circuits_free(&c);
        circuits_free(&again);
        circuits_drawn_free(&drawn);
    }
    seeded_run = 0;
}

/* ---- graphs ---- */

static const uint32_t servers_of[] = {8, 12, 16, 27, 32, 64, 100, 128, 200, 256};
enum { SIZES = sizeof servers_of / sizeof *servers_of, LEAST_DEGREE = 3, DEGREES = 6, KINDS = 4 };

/* 0: sums alone; 1: few bytes of exchanges, from every seventh server; 2: exchanges of all pairs; 3: an expander. */
static void find_kind(struct circuits *c, uint32_t servers, unsigned degree, unsigned kind)
{
    double scatter[256];
    for (uint32_t server = 0; server < servers; server++)
        scatter[server] = server % 7 == 3 ? 1e6 : 0;
    struct circuits_exchange e = {.all = kind == 2 ? 2e9 / servers : 0, .scatter = kind == 1 ? scatter : NULL};
    const struct circuits_demand d = {.servers = servers,
                                      .reduces = 1,
                                      .reduce = {{.members = servers, .bytes = 1e9}},
                                      .exchanges = 1,
                                      .exchange = &e};
    if (kind == 3)
        circuits_expander(c, servers, degree, seeded_by(7));
    else
        assert_true(circuits_find(c, &d, degree, false));
}

/* Distances of the tables are those measured; a walk finds no dependency cycle, no loss and no detour. */
static void assert_loads(const struct circuits *c, const struct hx_fabric *f)
{
    struct circuits_paths p;
    assert_true(circuits_measure(c, &p));
    const struct hx_distances distances = hx_fabric_distances(f);
    assert_int_equal(distances.diameter, p.diameter + 2);
    assert_true(fabs(distances.average - p.mean - 2) < 1e-9);
    const uint32_t step = 1 + c->servers * c->servers / WALKED;
    const struct fabric_findings found = fabric_validate_some(f, step);
    assert_true(found.vcs <= 4);
    assert_true(step > 1 || found.diameter == p.diameter + 2);
    free(p.of_length);
}

/* Some random graphs of 200 servers of three interfaces need more: their minimal paths are long, and few pairs have
 * more than one. */
static void graphs_need_four_vcs(void **state)
{
    (void)state;
    enum { ALL = SIZES * DEGREES * KINDS };
    for (uint32_t i = 0; i < effort(ALL); i++) {
        const uint32_t at = effort_case(i, ALL);
        const uint32_t servers = servers_of[at % SIZES];
        const unsigned degree = LEAST_DEGREE + at / SIZES % DEGREES, kind = at / SIZES / DEGREES;
        struct circuits c;
        struct hx_fabric f;
        find_kind(&c, servers, degree, kind);
        const bool may_need_more = kind == 3 && degree == 3 && servers >= 200;
        if (circuits_make(&f, &c, &links)) {
            assert_loads(&c, &f);
            hx_fabric_free(&f);
        } else if (!may_need_more) {
            fail_msg("%u servers of %u interfaces, kind %u: 4 VCs do not suffice", servers, degree, kind);
        }
        circuits_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(any_demand_is_joined_within_degrees, seeded_report),
        cmocka_unit_test(graphs_need_four_vcs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
