/* test_bisection.c - bisections: the search against all partitions of small fabrics, and against formulas. */
#include "hxmesh/error.h"
#include "tests/support/support_fabric.h"
#include "topology/attachment_routers.h"
#include "topology/bisection.h"
#include "topology/bounds.h"
#include "topology/hamming_mesh.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* Links out of the node set (a bit each), in units of HX_LINK_GBPS; a host on a router is in its router's half. */
static double links_out_of(const struct hx_fabric *f, uint32_t set)
{
    double links = 0;
    for (uint32_t node = 0; node < f->nodes; node++) {
        for (unsigned port = 0; (set >> node & 1) && port < hx_fabric_ports(f, node); port++) {
            uint32_t far = hx_fabric_far(f, node, port).node;
            if (far != HX_NOWHERE && !(set >> far & 1))
                links += hx_class_gbps(hx_fabric_link(f, node, port), HX_LINK_GBPS) / HX_LINK_GBPS;
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
        if ((set >> host & 1) != (set >> hx_fabric_attachment_router(f, host) & 1))
            return false;
    }
    unsigned outside = f->hosts - inside;
    return (inside > outside ? inside - outside : outside - inside) <= places;
}

static void every_partition(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned places;
        bool formula;
    } cases[] = {{"kautz degree=2 length=2 p=1", 1, false},
                 {"kautz degree=2 length=2 p=2", 2, false},
                 {"fat-tree hosts=8 radix=4", 2, true},
                 {"fat-tree hosts=8 radix=8 down=2 up=4", 2, true},
                 {"fat-tree hosts=12 radix=16 down=2 up=2", 2, true},
                 {"bigraph m=2 n=4", 2, true},
                 {"bigraph m=1 n=6", 1, true},
                 {"mlfm h=2", 2, false},
                 {"dragonfly a=3 p=1 h=1 groups=3", 1, false},
                 {"torus 3x5", 1, false},
                 {"torus 4x4", 1, true},
                 {"mesh 3x3", 1, false},
                 {"Ring(4)_Ring(2)", 1, true},
                 {"FC(4)_Ring(2)", 1, true},
                 {"FC(4)_FC(2) gbps=50,400", 1, false},
                 {"Ring(3)_Switch(2) gbps=400,25", 1, false}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_fabric f;
        fabric_make(&f, cases[i].text);
        assert_true(f.nodes <= 22);
        double least = INFINITY;
        for (uint32_t set = 0; set < UINT32_C(1) << f.nodes; set++)
            if (halves(&f, set, cases[i].places))
                least = fmin(least, links_out_of(&f, set));
        double injected = f.hosts * hx_fabric_injection(&f, HX_LINK_GBPS) / 2;
        struct hx_halves searched = hx_bisection_search(&f, NULL, NULL);
        struct hx_halves known = hx_fabric_bisection(&f);
        assert_int_equal(known.exact, cases[i].formula);
        if (fabs(searched.share * injected - least) > 1e-9 || fabs(known.share * injected - least) > 1e-9)
            fail_msg("%s: %g and %g, not %g", cases[i].text, searched.share * injected, known.share * injected, least);
        hx_fabric_free(&f);
    }
}

/* Links that one line's network adds to a cut, given the sides of its two ports per board: a single switch goes with
 * the majority, each tree switch to the side with fewer cut cables. */
static unsigned cut_of_network(const struct hx_fabric *f, enum hx_node_kind kind, unsigned line, uint32_t set)
{
    const struct hx_geometry *g = &f->mesh;
    const struct hx_network *n = kind == HX_ROW_SWITCH ? &g->row : &g->column;
    unsigned switches = n->switches;
    uint32_t first = hx_tree_switch(g, kind, line, 0);
    unsigned best = UINT32_MAX;
    for (unsigned inside = 0; inside < 1U << switches; inside++) {
        unsigned cut = 0;
        for (unsigned i = 0; i < switches; i++) {
            for (unsigned port = 0; port < hx_fabric_ports(f, first + i); port++) {
                uint32_t far = hx_fabric_far(f, first + i, port).node;
                if (far == HX_NOWHERE || (!hx_is_host(f, far) && far < first + i))
                    continue;
                bool there = hx_is_host(f, far) ? set >> far & 1 : inside >> (far - first) & 1;
                cut += there != (inside >> i & 1);
            }
        }
        best = cut < best ? cut : best;
    }
    return best;
}

static unsigned cut_of_mesh(const struct hx_fabric *f, uint32_t set)
{
    unsigned cut = 0;
    for (uint32_t host = 0; host < f->hosts; host++) {
        for (unsigned port = 0; port < HX_LOCAL; port++) {
            uint32_t far = hx_fabric_far(f, host, port).node;
            cut += far != HX_NOWHERE && hx_is_host(f, far) && far < host && (set >> host & 1) != (set >> far & 1);
        }
    }
    for (unsigned row = 0; row < f->mesh.rows; row++)
        cut += cut_of_network(f, HX_ROW_SWITCH, row, set);
    for (unsigned column = 0; column < f->mesh.columns; column++)
        cut += cut_of_network(f, HX_COLUMN_SWITCH, column, set);
    return cut;
}

struct mesh {
    unsigned a, b, x, y, radix, taper;
};

static void mesh_make(struct hx_fabric *f, const struct mesh *m)
{
    struct hx_geometry g;
    assert_int_equal(hx_geometry_init(&g, m->a, m->b, m->x, m->y, 1, m->radix, m->taper), HX_OK);
    hx_fabric_of_mesh(f, &g);
}

/* Every choice of half of the accelerators. */
static void every_partition_of_a_mesh(void **state)
{
    (void)state;
    static const struct mesh cases[] = {{1, 1, 3, 3, 64, 1}, {1, 1, 4, 4, 64, 1}, {1, 3, 5, 1, 64, 1},
                                        {3, 3, 1, 1, 64, 1}, {2, 2, 2, 2, 64, 1}, {2, 2, 3, 1, 64, 1},
                                        {1, 1, 4, 2, 4, 1},  {1, 1, 4, 2, 4, 3},  {2, 1, 2, 4, 64, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_fabric f;
        mesh_make(&f, &cases[i]);
        unsigned least = UINT32_MAX;
        for (uint32_t set = 0; set < UINT32_C(1) << f.hosts; set++) {
            if ((unsigned)__builtin_popcount(set) != f.hosts / 2)
                continue;
            unsigned cut = cut_of_mesh(&f, set);
            least = cut < least ? cut : least;
        }
        struct hx_halves known = hx_fabric_bisection(&f);
        if (known.links != least || known.exact)
            fail_msg("%ux%u of %ux%u: %u, not %u", cases[i].x, cases[i].y, cases[i].a, cases[i].b,
                     (unsigned)known.links, least);
        hx_fabric_free(&f);
    }
}

/* Larger fabrics, with known bisections of that many links. Straight cuts have more, also with even sides: 24 for
 * 4x6 boards, 512 for the 16x16 Hx2Mesh. */
static void no_more_than_known(void **state)
{
    (void)state;
    static const struct {
        struct mesh mesh;
        unsigned links;
    } cases[] = {{{2, 2, 3, 3, 64, 1}, 18},   {{2, 2, 5, 5, 64, 1}, 52}, {{2, 2, 7, 7, 64, 1}, 100},
                 {{1, 2, 4, 3, 64, 1}, 14},   {{1, 1, 6, 6, 6, 2}, 18},  {{2, 2, 10, 3, 8, 3}, 32},
                 {{1, 1, 5, 5, 64, 1}, 22},   {{1, 3, 7, 1, 64, 1}, 18}, {{1, 1, 4, 6, 64, 1}, 20},
                 {{2, 2, 16, 16, 64, 1}, 448}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_fabric f;
        mesh_make(&f, &cases[i].mesh);
        struct hx_halves h = hx_fabric_bisection(&f);
        if (h.links > cases[i].links || h.exact)
            fail_msg("%u: %u, more than %u", i, (unsigned)h.links, cases[i].links);
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
        struct hx_halves searched = hx_bisection_search(&f, NULL, NULL);
        if (searched.links != known.links)
            fail_msg("%s: %u, not %u", fabrics[i], (unsigned)searched.links, (unsigned)known.links);
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
    assert_int_equal(h.links, hx_bisection_search(&f, NULL, NULL).links);
    assert_true(h.links <= 65); /* of 175 links */
    assert_true(fabs(h.share - ((double)h.links / 75)) < 1e-6);
    hx_fabric_free(&f);
}

/* Distances and loads use routers weighted by their hosts: single hosts give the same result. */
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

/* Of the Slim Fly's 49 other routers 7 are one hop away and 42 two, by a single path each (it is a Moore graph): 91
 * hops over 7 links. So each link carries 13 p^2 of the p (50 p - 1) that a router's hosts send. */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_partition),
                                       cmocka_unit_test(every_partition_of_a_mesh),
                                       cmocka_unit_test(no_more_than_known),
                                       cmocka_unit_test(formulas),
                                       cmocka_unit_test(by_search),
                                       cmocka_unit_test(hosts_one_by_one),
                                       cmocka_unit_test(loads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
