/* test_torus.c - tori and meshes: counts, distances by formulas, boards, routes and refusals. */
#include "tests/support/support_fabric.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Sum over all pairs of the distances on a ring or line of this length. */
static uint64_t ring_sum(unsigned side)
{
    return (uint64_t)side * (side * side / 4);
}

static uint64_t line_sum(unsigned side)
{
    return (uint64_t)side * (side * side - 1) / 3;
}

/* Sum over all pairs of a product of dimensions: each pair of one dimension occurs with all pairs of the others. */
static uint64_t product_sum(const unsigned *side, unsigned sides, uint64_t (*sum)(unsigned side))
{
    uint64_t hosts = 1;
    uint64_t all = 0;
    for (unsigned i = 0; i < sides; i++)
        hosts *= side[i];
    for (unsigned i = 0; i < sides; i++)
        all += sum(side[i]) * (hosts / side[i]) * (hosts / side[i]);
    return all;
}

struct shape {
    const char *text;
    unsigned side[4], sides;
    unsigned vcs;
};

static void validate(const struct shape *s, uint64_t (*sum)(unsigned side), uint64_t beside)
{
    struct hx_fabric f;
    fabric_make(&f, s->text);
    struct fabric_findings found = fabric_validate(&f);
    assert_int_equal(f.vcs, s->vcs);
    assert_int_equal(found.distances, product_sum(s->side, s->sides, sum) + beside * found.pairs);
    for (uint32_t from = 0; from < f.hosts; from++) {
        uint64_t links = 0;
        for (uint32_t to = 0; to < f.hosts; to++)
            links += f.topology->distance(&f, from, to);
        found.distances -= links;
    }
    assert_int_equal(found.distances, 0);
    hx_fabric_free(&f);
}

static void test_tori_are_minimal_and_free_of_deadlock(void **state)
{
    static const struct shape flat[] = {
        {"torus 16", {16}, 1, 2},    {"torus 2", {2}, 1, 2},      {"torus 3", {3}, 1, 2},
        {"torus 5x3", {5, 3}, 2, 3}, {"torus 2x2", {2, 2}, 2, 3}, {"torus 8x8 board=2x2", {8, 8}, 2, 3},
        {"torus 7x4", {7, 4}, 2, 3}, {"Torus 2x9", {2, 9}, 2, 3}, {"torus 12x10 board=4x5", {12, 10}, 2, 3},
    };
    static const struct shape deep[] = {
        {"torus 8x8x4", {8, 8, 4}, 3, 4},
        {"torus 3x4x5", {3, 4, 5}, 3, 4},
        {"torus 2x2x2", {2, 2, 2}, 3, 4},
        {"torus 4x3x2x5", {4, 3, 2, 5}, 4, 3},
        {"torus 4x4x4x4 board=2x2x2x2", {4, 4, 4, 4}, 4, 3},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof flat / sizeof *flat; i++)
        validate(&flat[i], ring_sum, 0);
    for (unsigned i = 0; i < sizeof deep / sizeof *deep; i++)
        validate(&deep[i], ring_sum, 2);
}

/* ---- the order of dimensions ---- */

/* Steps from one position of a ring to another in the upward direction. */
static unsigned steps_up(unsigned side, unsigned from, unsigned to)
{
    return (to + side - from) % side;
}

static bool up_is_short(unsigned side, unsigned from, unsigned to)
{
    return from != to && 2 * steps_up(side, from, to) <= side;
}

static bool down_is_short(unsigned side, unsigned from, unsigned to)
{
    return from != to && 2 * steps_up(side, to, from) <= side;
}

/* Whether the rule allows a step in a dimension. */
static bool may_step(const struct shape *s, const unsigned *at, const unsigned *to, unsigned together,
                     unsigned dimension, bool up)
{
    unsigned first = 0;
    while (first < s->sides && at[first] == to[first])
        first++;
    first -= first % together;
    unsigned end = first + together < s->sides ? first + together : s->sides;
    if (dimension < first || dimension >= end)
        return false;
    for (unsigned i = first; up && i < end; i++)
        if (down_is_short(s->side[i], at[i], to[i]) && !up_is_short(s->side[i], at[i], to[i]))
            return false;
    return (up ? up_is_short : down_is_short)(s->side[dimension], at[dimension], to[dimension]);
}

static void coordinates(const struct shape *s, uint32_t router, unsigned *at)
{
    for (unsigned i = 0; i < s->sides; i++) {
        at[i] = router % s->side[i];
        router /= s->side[i];
    }
}

/* Candidates of a packet from its own host at a router of a torus with sides of at least three. */
static void validate_offer(const struct hx_fabric *f, const struct shape *s, unsigned together, uint32_t from,
                           uint32_t to)
{
    unsigned at[4] = {0}, aim[4] = {0}, far[4] = {0};
    uint32_t router = f->hosts + from;
    uint64_t offered =
        hx_fabric_next_hops(f, router, 0, f->node[to].addr_hi) & hx_fabric_next_hops(f, router, 1, f->node[to].addr_lo);
    coordinates(s, from, at);
    coordinates(s, to, aim);
    for (unsigned port = 0; port < hx_fabric_ports(f, router); port++) {
        uint32_t next = hx_fabric_far(f, router, port).node;
        if (hx_is_host(f, next))
            continue;
        unsigned i = 0;
        coordinates(s, next - f->hosts, far);
        while (at[i] == far[i])
            i++;
        bool up = far[i] == (at[i] + 1) % s->side[i];
        if ((offered >> port & 1) != may_step(s, at, aim, together, i, up))
            fail_msg("%s: router %u to %u: port %u", s->text, from, to, port);
    }
}

/* Of three dimensions any may be first, of four the first two precede the others; steps down precede steps up. */
static void test_steps_down_go_first(void **state)
{
    static const struct shape shapes[] = {
        {"torus 4x5x3", {4, 5, 3}, 3, 4}, {"torus 6x3x4", {6, 3, 4}, 3, 4}, {"torus 3x4x5x4", {3, 4, 5, 4}, 4, 3}};
    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct hx_fabric f;
        fabric_make(&f, shapes[i].text);
        for (uint32_t from = 0; from < f.hosts; from++)
            for (uint32_t to = 0; to < f.hosts; to++)
                if (from != to)
                    validate_offer(&f, &shapes[i], shapes[i].sides == 3 ? 3 : 2, from, to);
        hx_fabric_free(&f);
    }
}

static void test_meshes_need_one_vc(void **state)
{
    static const struct shape flat[] = {{"mesh 9", {9}, 1, 1}, {"mesh 8x5", {8, 5}, 2, 1}, {"mesh 2x7", {2, 7}, 2, 1}};
    static const struct shape deep[] = {{"mesh 4x3x5", {4, 3, 5}, 3, 1}, {"mesh 2x4x3x3", {2, 4, 3, 3}, 4, 1}};
    (void)state;
    for (unsigned i = 0; i < sizeof flat / sizeof *flat; i++)
        validate(&flat[i], line_sum, 0);
    for (unsigned i = 0; i < sizeof deep / sizeof *deep; i++)
        validate(&deep[i], line_sum, 2);
}

static void test_torus_of_table_ii(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "torus 32x32 board=2x2");
    assert_int_equal(f.hosts, 1024);
    assert_int_equal(f.nodes, 1024);
    assert_int_equal(fabric_cables(&f, HX_TRACE), 1024);
    assert_int_equal(fabric_cables(&f, HX_AOC), 1024); /* the paper's text says copper, its price is of optical ones */
    assert_int_equal(f.switches, 0);
    assert_int_equal(f.groups, 256);
    assert_int_equal(f.columns, 32);
    assert_int_equal(fabric_cost(&f), 2469888); /* 2.5 M$ */
    assert_int_equal(f.topology->bisection(&f), 64);
    /* Four links, each packet over 16 of them on average. */
    double bound = f.topology->alltoall_bound(&f);
    assert_true(bound > 0.06243 && bound < 0.06245);
    assert_int_equal(fabric_validate_some(&f, 37).diameter, 32);
    hx_fabric_free(&f);

    fabric_make(&f, "torus 128x128 board=2x2");
    assert_int_equal(f.hosts, 16384);
    assert_int_equal(fabric_cost(&f), 39518208); /* 39.5 M$ */
    assert_int_equal(fabric_validate_some(&f, 4111).diameter, 128);
    hx_fabric_free(&f);
}

/* A board fails as a whole: hosts of a board are neighbours on it. */
static void test_boards_are_groups(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "torus 8x6 board=4x2");
    assert_int_equal(f.groups, 6);
    for (uint32_t host = 0; host < f.hosts; host++)
        assert_int_equal(f.node[host].group, f.node[host].addr_lo / 2 * 2 + f.node[host].addr_hi / 4);
    /* Of 8 links in a row 6 are on its boards; of 6 in a column 3. */
    assert_int_equal(fabric_cables(&f, HX_TRACE), 6 * 6 + 8 * 3);
    assert_int_equal(fabric_cables(&f, HX_AOC), 6 * 2 + 8 * 3);
    hx_fabric_free(&f);

    fabric_make(&f, "mesh 4x4x4 board=4x2x1");
    assert_int_equal(f.groups, 8);
    assert_int_equal(fabric_cables(&f, HX_TRACE), 64 + 3 * 16 + 2 * 16); /* the hosts' own, and on boards */
    assert_int_equal(fabric_cables(&f, HX_AOC), 16 + 3 * 16);
    hx_fabric_free(&f);
}

/* Tables of a router grow with the two halves of the dimensions, not with the routers. */
static void test_digits_split_the_dimensions(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "torus 16x16x16x4");
    assert_int_equal(f.hosts, 16384);
    assert_int_equal(f.digits[0], 256);
    assert_int_equal(f.digits[1], 64);
    assert_int_equal(f.host_links, 8);
    assert_int_equal(hx_fabric_link(&f, 0, HX_E)->times, 8);
    for (unsigned port = 1; port < hx_fabric_ports(&f, f.hosts); port++)
        assert_int_equal(hx_fabric_link(&f, f.hosts, port)->gbps, 0);
    assert_int_equal(fabric_validate_some(&f, 5003).diameter, 8 + 8 + 8 + 2 + 2);
    hx_fabric_free(&f);
    fabric_make(&f, "mesh 32x32x16"); /* 32 and 512 entries, not 1,024 and 16 */
    assert_int_equal(f.digits[0], 32);
    assert_int_equal(f.digits[1], 512);
    assert_int_equal(fabric_validate_some(&f, 9001).diameter, 31 + 31 + 15 + 2);
    hx_fabric_free(&f);
}

static void test_shares_of_meshes(void **state)
{
    struct hx_fabric f;
    (void)state;
    /* The link in the middle of a row of 4 carries the traffic of two hosts to half of the others, of 3 links injected
     * on average: 2 * 8 / 15 * 3. */
    fabric_make(&f, "mesh 4x4");
    double bound = f.topology->alltoall_bound(&f);
    assert_true(bound > 0.3124 && bound < 0.3126);
    assert_int_equal(f.topology->bisection(&f), 4);
    hx_fabric_free(&f);
    fabric_make(&f,
                "torus 8x4x4"); /* the side of 8: 6 links injected, 2 of them over an average of 2 * 128 / 127 hops */
    bound = f.topology->alltoall_bound(&f);
    assert_true(bound > 0.1653 && bound < 0.1654);
    assert_int_equal(f.topology->bisection(&f), 32);
    hx_fabric_free(&f);
    fabric_make(&f, "torus 5x4");
    assert_int_equal(f.topology->bisection(&f), 0); /* unknown */
    hx_fabric_free(&f);
}

/* A host injects by as many links as it has: 49 cables have 98 ends at 30 hosts. In three dimensions as in two. */
static void test_borders_of_meshes_inject_less(void **state)
{
    static const struct {
        const char *text;
        unsigned fewest, most;
        double mean;
    } meshes[] = {{"mesh 5x6", 2, 4, 98.0 / 30},
                  {"mesh 4", 1, 2, 6.0 / 4},
                  {"mesh 2x2", 2, 2, 2},
                  {"mesh 3x4x5", 3, 6, 2 * 133.0 / 60},
                  {"mesh 2x3x2x2", 4, 5, 2 * 52.0 / 24},
                  {"torus 3x4x5", 6, 6, 6}};
    (void)state;
    for (unsigned i = 0; i < sizeof meshes / sizeof *meshes; i++) {
        struct hx_fabric f;
        fabric_make(&f, meshes[i].text);
        assert_int_equal(f.host_links, meshes[i].fewest);
        assert_true(fabs(hx_fabric_most_injection(&f, 400) - meshes[i].most) < 1e-9);
        if (fabs(hx_fabric_injection(&f, 400) - meshes[i].mean) > 1e-9)
            fail_msg("%s: %g links, not %g", meshes[i].text, hx_fabric_injection(&f, 400), meshes[i].mean);
        assert_int_equal(hx_injects_alike(&f), meshes[i].fewest == meshes[i].most);
        hx_fabric_free(&f);
    }
}

static void test_impossible_arguments_are_refused(void **state)
{
    (void)state;
    fabric_refused("torus", "one to four sizes are needed, for example 'torus 8x8x4'");
    fabric_refused("torus 2x2x2x2x2", "one to four sizes");
    fabric_refused("mesh 8x1", "a side of 1: 2 to 65535");
    fabric_refused("torus 65536", "a side of 65536: 2 to 65535");
    fabric_refused("torus 1024x1025", "more than 1048576 hosts");
    fabric_refused("torus 9x8 board=2x2", "boards of 2 do not fill a side of 9; 1 do");
    fabric_refused("torus 12x8 board=5x2", "boards of 5 do not fill a side of 12; 4 do");
    fabric_refused("torus 8x8 board=2", "as many sides as the whole, 2");
    fabric_refused("torus 8x8 board=0x2", "at least 1");
    fabric_refused("torus 8x8 bord=2x2", "did you mean 'board'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tori_are_minimal_and_free_of_deadlock),
        cmocka_unit_test(test_steps_down_go_first),
        cmocka_unit_test(test_meshes_need_one_vc),
        cmocka_unit_test(test_torus_of_table_ii),
        cmocka_unit_test(test_boards_are_groups),
        cmocka_unit_test(test_digits_split_the_dimensions),
        cmocka_unit_test(test_shares_of_meshes),
        cmocka_unit_test(test_borders_of_meshes_inject_less),
        cmocka_unit_test(test_impossible_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
