/* test_worst_case.c - pairs of the worst-case pattern for minimal routing: each router has one partner, and the load
 * of the fullest link is that of the paper, or counted by hand. */
/* sanitizers: check-all */
#include "tests/support/support_fabric.h"
#include "topology/attachment_routers.h"
#include "topology/worst_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Every attachment router with hosts in use sends to another, and each is the destination of one. */
static void is_one_to_one(const struct hx_fabric *f, const bool *part, const uint32_t *to)
{
    bool *sits = hx_allocate(f->nodes, sizeof *sits);
    bool *taken = hx_allocate(f->nodes, sizeof *taken);
    for (uint32_t host = 0; host < f->hosts; host++)
        sits[hx_fabric_attachment_router(f, host)] |= !part || part[host];
    for (uint32_t node = 0; node < f->nodes; node++) {
        if (!sits[node]) {
            assert_int_equal(to[node], HX_NOWHERE);
            continue;
        }
        assert_true(to[node] < f->nodes && sits[to[node]] && to[node] != node);
        assert_false(taken[to[node]]);
        taken[to[node]] = true;
    }
    free(sits);
    free(taken);
}

static double share_of(const char *text, uint64_t seed)
{
    struct hx_fabric f;
    fabric_make(&f, text);
    uint32_t *to = hx_allocate(f.nodes, sizeof *to);
    hx_fabric_worst_case(&f, NULL, seed, to);
    is_one_to_one(&f, NULL, to);
    double share = fabric_share_of_attachment_routers(&f, to);
    free(to);
    hx_fabric_free(&f);
    return share;
}

static void share_is(const char *text, double share)
{
    double found = share_of(text, 1);
    if (found < share - 1e-9 || found > share + 1e-9)
        fail_msg("%s: %g, not %g", text, found, share);
}

/* SC15, section 4: 1/(2p), 1/h and 1/k; sizes of the paper last. */
static void diameter_two(void **state)
{
    (void)state;
    static const unsigned qs[] = {3, 4, 5, 7, 8, 9, 11};
    char text[64];
    for (unsigned i = 0; i < sizeof qs / sizeof *qs; i++) {
        (void)snprintf(text, sizeof text, "slim-fly q=%u p=%u", qs[i], i + 1);
        share_is(text, 0.5 / (i + 1));
    }
    for (unsigned h = 2; h <= 6; h++) {
        (void)snprintf(text, sizeof text, "mlfm h=%u", h);
        share_is(text, 1.0 / h);
    }
    for (unsigned k = 3; k <= 6; k++) {
        (void)snprintf(text, sizeof text, "oft k=%u", k);
        share_is(text, 1.0 / k);
    }
    share_is("slim-fly q=13 p=9", 1 / 18.0);
    share_is("mlfm h=15", 1 / 15.0);
    share_is("oft k=12", 1 / 12.0);
}

/* All traffic of a group through its links to one other. */
static void dragonflies(void **state)
{
    (void)state;
    share_is("dragonfly a=4 p=2 h=2 groups=9", 1 / 8.0);
    share_is("dragonfly a=6 p=3 h=3 groups=19", 1 / 18.0);
    share_is("dragonfly a=4 p=2 h=2 groups=3", 4 / 8.0);
    share_is("dragonfly a=2 p=2 h=2 groups=4", 1 / 4.0); /* two links lead to the opposite group */
    share_is("dragonfly a=2 p=2 h=1 groups=1", 1 / 2.0);
}

/* On a ring of 16 seven pairs at distance seven share a link; a line is cut in the middle. In a full mesh each
 * router has one link for the hosts of another; half as many uplinks as hosts at a leaf carry half. */
static void patterns_found_by_search(void **state)
{
    (void)state;
    share_is("torus 16", 1 / 7.0);
    share_is("mesh 16", 1 / 8.0);
    share_is("hyperx 8 p=5", 1 / 5.0);
    share_is("fat-tree hosts=32 radix=12 taper=2", 1 / 2.0);
    share_is("fat-tree hosts=64 radix=16 taper=1", 1);
    share_is("bigraph m=4 n=6", 1 / 4.0);
}

/* Hosts that forward, on a square grid. */
static double share_of_places(const struct hx_fabric *f,
                              uint32_t (*place)(uint32_t column, uint32_t row, uint32_t side))
{
    uint32_t *to = hx_allocate(f->nodes, sizeof *to);
    for (uint32_t node = 0; node < f->nodes; node++)
        to[node] = node < f->hosts ? place(node % f->columns, node / f->columns, f->columns) : HX_NOWHERE;
    double share = fabric_share_of_attachment_routers(f, to);
    free(to);
    return share;
}

static uint32_t transposed(uint32_t column, uint32_t row, uint32_t side)
{
    return column * side + row;
}

static uint32_t half_way(uint32_t column, uint32_t row, uint32_t side)
{
    return (row + (side + 1) / 2 - 1) % side * side + (column + (side + 1) / 2 - 1) % side;
}

/* For any seed, no known pattern loads a link more. */
static void worse_than_known_patterns(void **state)
{
    (void)state;
    static const char *const texts[] = {"torus 8x8",   "torus 16x16", "mesh 8x8",
                                        "4x4 Hx2Mesh", "8x8 Hx2Mesh", "3x3 Hx4Mesh"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct hx_fabric f;
        fabric_make(&f, texts[i]);
        double transpose = share_of_places(&f, transposed);
        double tornado = share_of_places(&f, half_way);
        hx_fabric_free(&f);
        for (uint64_t seed = 1; seed < 5; seed++) {
            double share = share_of(texts[i], seed);
            assert_true(share < transpose && share < tornado);
        }
    }
}

static void any_fabric(void **state)
{
    (void)state;
    static const char *const texts[] = {"2x1 Hx1Mesh",
                                        "3x2 H2x4Mesh",
                                        "9x1 H2x1Mesh",
                                        "torus 2",
                                        "torus 3x3x3x2",
                                        "kautz degree=3 length=2 p=2",
                                        "Ring(4)_FC(3)_Switch(2)",
                                        "hyperx 3x4 p=2",
                                        "fat-tree hosts=100 radix=16 levels=3",
                                        "graph examples/graph/cube.csv",
                                        "bigraph m=1 n=2"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        (void)share_of(texts[i], i);
}

/* With some hosts only; the same seed gives the same pairs. */
static void hosts_in_use_only(void **state)
{
    (void)state;
    struct hx_fabric f;
    fabric_make(&f, "4x3 Hx2Mesh");
    bool part[48];
    uint32_t *to = hx_allocate(f.nodes, sizeof *to);
    uint32_t *again = hx_allocate(f.nodes, sizeof *again);
    for (unsigned every = 2; every < 6; every++) {
        for (uint32_t host = 0; host < f.hosts; host++)
            part[host] = host % every == 0;
        hx_fabric_worst_case(&f, part, every, to);
        is_one_to_one(&f, part, to);
        hx_fabric_worst_case(&f, part, every, again);
        assert_memory_equal(to, again, f.nodes * sizeof *to);
    }
    for (uint32_t host = 0; host < f.hosts; host++)
        part[host] = host == 7;
    hx_fabric_worst_case(&f, part, 1, to);
    for (uint32_t node = 0; node < f.nodes; node++)
        assert_int_equal(to[node], HX_NOWHERE);
    free(to);
    free(again);
    hx_fabric_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diameter_two),
        cmocka_unit_test(dragonflies),
        cmocka_unit_test(patterns_found_by_search),
        cmocka_unit_test(worse_than_known_patterns),
        cmocka_unit_test(any_fabric),
        cmocka_unit_test(hosts_in_use_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
