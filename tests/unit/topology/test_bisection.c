/* test_bisection.c - halves of fabrics: the search against every way to halve small ones, and against formulas. */
#include "host/topology/bisection.h"
#include "host/topology/bounds.h"
#include "tests/support/support_fabric.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Links between nodes of the set, a bit each, and others; a host that hangs on a router is where that is. */
static uint64_t links_out_of(const struct hx_fabric *f, uint32_t set)
{
    uint64_t links = 0;
    for (uint32_t node = 0; node < f->nodes; node++) {
        for (unsigned port = 0; (set >> node & 1) && port < hx_fabric_ports(f, node); port++) {
            uint32_t far = hx_fabric_far(f, node, port).node;
            links += far != HX_NOWHERE && !(set >> far & 1);
        }
    }
    return links;
}

/* Hosts of both sides differ by those of one router at most. */
static bool halves(const struct hx_fabric *f, uint32_t set, unsigned places)
{
    unsigned inside = 0;
    for (uint32_t host = 0; host < f->hosts; host++) {
        inside += set >> host & 1;
        if ((set >> host & 1) != (set >> hx_fabric_seat(f, host) & 1))
            return false;
    }
    unsigned outside = f->hosts - inside;
    return (inside > outside ? inside - outside : outside - inside) <= places;
}

static void every_way(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned places;
    } cases[] = {{"kautz degree=2 length=2 p=1", 1},
                 {"kautz degree=2 length=2 p=2", 2},
                 {"fat-tree hosts=8 radix=4", 2},
                 {"mlfm h=2", 2},
                 {"dragonfly a=3 p=1 h=1 groups=3", 1},
                 {"torus 3x5", 1},
                 {"mesh 3x3", 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_fabric f;
        fabric_make(&f, cases[i].text);
        assert_true(f.nodes <= 22);
        uint64_t least = UINT64_MAX;
        for (uint32_t set = 0; set < UINT32_C(1) << f.nodes; set++) {
            if (!halves(&f, set, cases[i].places))
                continue;
            uint64_t links = links_out_of(&f, set);
            least = links < least ? links : least;
        }
        if (hx_bisection_search(&f) != least)
            fail_msg("%s: %u, not %u", cases[i].text, (unsigned)hx_bisection_search(&f), (unsigned)least);
        hx_fabric_free(&f);
    }
}

static void formulas(void **state)
{
    (void)state;
    static const char *const fabrics[] = {
        "fat-tree hosts=64 radix=16", "torus 8x8", "torus 4x4x4", "mesh 8x6", "hyperx 6x6 p=2", "torus 16x16"};
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct hx_fabric f;
        fabric_make(&f, fabrics[i]);
        struct hx_halves known = hx_fabric_bisection(&f);
        assert_true(known.exact);
        if (hx_bisection_search(&f) != known.links)
            fail_msg("%s: %u, not %u", fabrics[i], (unsigned)hx_bisection_search(&f), (unsigned)known.links);
        hx_fabric_free(&f);
    }
}

static void by_search(void **state)
{
    (void)state;
    struct hx_fabric f;
    fabric_make(&f, "slim-fly q=5 p=3");
    struct hx_halves h = hx_fabric_bisection(&f);
    assert_false(h.exact);
    assert_int_equal(h.links, hx_bisection_search(&f));
    assert_true(h.links <= 65); /* of 175 links */
    assert_true(fabs(h.share - ((double)h.links / 75)) < 1e-6);
    hx_fabric_free(&f);
}

/* Distances and loads go by routers with their hosts as weight: hosts one by one say the same. */
static void hosts_one_by_one(void **state)
{
    (void)state;
    static const char *const fabrics[] = {
        "fat-tree hosts=60 radix=16 taper=2", "mlfm h=3",  "slim-fly q=3 p=2",
        "kautz degree=2 length=3 p=3",        "torus 5x4", "dragonfly a=2 p=1 h=1 groups=3"};
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct hx_fabric f;
        fabric_make(&f, fabrics[i]);
        unsigned diameter = 0;
        double sum = 0;
        for (uint32_t from = 0; from < f.hosts; from++) {
            for (uint32_t to = 0; to < f.hosts; to++) {
                unsigned links = hx_fabric_distance(&f, from, to);
                diameter = links > diameter ? links : diameter;
                sum += links;
            }
        }
        struct hx_distances d = hx_fabric_distances(&f);
        assert_int_equal(d.diameter, diameter);
        assert_true(fabs(d.average - (sum / (f.hosts * (f.hosts - 1.0)))) < 1e-6);
        hx_fabric_free(&f);
    }
}

/* Of the Slim Fly's 49 other routers 7 are one hop away and 42 two, each by one way alone (it is a Moore graph): 91 hops over 7
 * links, so that each carries 13 p^2 of the p (50 p - 1) that the hosts of a router send. */
static void loads(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double bound;
    } cases[] = {{"slim-fly q=5 p=4", 199.0 / (13 * 4 * 4)},
                 {"slim-fly q=5 p=3", 1},
                 {"slim-fly q=5 p=20", 999.0 / (13 * 20 * 20)}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_fabric f;
        fabric_make(&f, cases[i].text);
        assert_true(fabs(hx_fabric_alltoall_bound(&f) - (cases[i].bound)) < 1e-6);
        hx_fabric_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_way), cmocka_unit_test(formulas),
                                       cmocka_unit_test(by_search), cmocka_unit_test(hosts_one_by_one),
                                       cmocka_unit_test(loads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
