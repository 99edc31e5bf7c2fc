/* test_updown.c - paths of up-down routing around failures of a running fabric: a name without room for `fail=` is
 * refused, a path may have any length, a pair has a path if there is one of few enough turns, and a failed search
 * changes nothing. */
#include "base/rng.h"
#include "spec/spec.h"
#include "topology/bounds.h"
#include "topology/updown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void make(struct hx_spec *spec, const char *text)
{
    struct hx_problem problem;
    if (!hx_spec_parse(text, spec, &problem) || !hx_spec_build(spec, &problem))
        fail_msg("%s: %s", text, problem.what);
}

static void make_searched(struct hx_spec *spec, const char *text)
{
    struct hx_problem problem;
    make(spec, text);
    if (!hx_spec_search_updown(spec, &problem))
        fail_msg("%s: %s", text, problem.what);
}

/* A fat tree with a name of this many letters. */
static void long_name(char text[HX_SPEC_BYTES], unsigned letters)
{
    static const char head[] = "fat-tree hosts=";
    static const char tail[] = "16 radix=8";
    memset(text, '0', letters);
    memcpy(text, head, sizeof head - 1);
    memcpy(text + letters - (sizeof tail - 1), tail, sizeof tail);
}

static void a_name_without_room_is_refused(void **state)
{
    (void)state;
    for (unsigned letters = HX_SPEC_BYTES - 10; letters < HX_SPEC_BYTES; letters++) {
        char text[HX_SPEC_BYTES];
        struct hx_spec spec;
        struct hx_problem problem;
        long_name(text, letters);
        make(&spec, text);
        bool searched = hx_spec_search_updown(&spec, &problem);
        assert_int_equal(searched, letters + strlen(" fail=") < HX_SPEC_BYTES);
        assert_non_null(spec.graph);
        assert_true(!searched || spec.graph->updown);
        if (!searched) {
            assert_non_null(strstr(problem.what, "leaves no room"));
            assert_string_equal(spec.fabric, text);
        }
        hx_spec_free(&spec);
    }
}

/* A refused search leaves the spec as it was. */
static void a_refused_search_changes_nothing(void **state)
{
    (void)state;
    struct hx_spec spec;
    struct hx_problem problem;
    make(&spec, "torus 72x72");
    assert_false(hx_spec_search_updown(&spec, &problem));
    assert_non_null(strstr(problem.what, "too many"));
    assert_non_null(spec.graph);
    assert_int_equal(spec.graph->hosts, 72 * 72);
    assert_string_equal(spec.fabric, "torus 72x72");
    hx_spec_free(&spec);
}

/* Around a ring with a failed link the path has all other links. */
static void paths_may_be_long(void **state)
{
    (void)state;
    struct hx_spec spec;
    make_searched(&spec, "Ring(520)");
    const struct hx_fabric *f = spec.graph;
    struct hx_fabric round = {.updown = NULL};
    uint64_t *down = hx_allocate(f->nodes, sizeof *down);
    struct hx_end far = hx_fabric_far(f, f->hosts, 1);
    assert_int_equal(hx_fabric_distance(f, 0, far.node - f->hosts), 3);
    down[f->hosts] = 1U << 1;
    assert_true(hx_updown_reroute(&round, f, down));
    assert_int_equal(hx_fabric_distance(&round, 0, far.node - f->hosts), 2 + 519);
    free(round.updown);
    free(down);
    hx_spec_free(&spec);
}

/* ---- few turns ---- */

enum { DEAD = 8, MOST_ROUTERS = 64, NOT_JOINED = 1000 /* turns */ };

struct walk {
    const struct hx_fabric *f;
    const struct hx_updown *w;
    const uint64_t *down;
};

static uint32_t living_router(const struct walk *k, uint32_t router, unsigned port)
{
    const uint32_t node = k->f->hosts + router;
    const struct hx_end far = hx_fabric_far(k->f, node, port);
    if (far.node == HX_NOWHERE || far.node < k->f->hosts || k->down[node] >> port & 1 ||
        k->down[far.node] >> far.port & 1)
        return HX_NOWHERE;
    return far.node - k->f->hosts;
}

enum { UP, DOWN };

static bool lower(unsigned *turns, unsigned to)
{
    const bool lowers = to < *turns;
    *turns = lowers ? to : *turns;
    return lowers;
}

/* Lowers the least turns from down to up of packets that reach a router's neighbours. Returns whether any was lower. */
static bool lower_neighbours(const struct walk *k, uint32_t at, bool begins, unsigned turns[][2])
{
    bool any = false;
    for (unsigned port = 0; port < hx_fabric_ports(k->f, k->f->hosts + at); port++) {
        const uint32_t far = living_router(k, at, port);
        if (far == HX_NOWHERE)
            continue;
        const bool up = hx_updown_up(k->w, at, far);
        unsigned least = begins ? 0 : turns[at][DOWN] + up;
        (void)lower(&least, turns[at][UP]);
        any |= lower(&turns[far][up ? UP : DOWN], least);
    }
    return any;
}

static void count_least_turns(const struct walk *k, uint32_t from, unsigned turns[][2])
{
    for (uint32_t router = 0; router < k->w->routers; router++)
        turns[router][UP] = turns[router][DOWN] = router == from ? 0 : NOT_JOINED;
    for (bool lowered = true; lowered;) {
        lowered = false;
        for (uint32_t at = 0; at < k->w->routers; at++)
            lowered |= lower_neighbours(k, at, at == from, turns);
    }
}

/* Follows all next hops to a router. Returns whether each packet arrives, without a loop and on few enough VCs. */
static bool arrives(const struct walk *k, uint32_t at, uint32_t to, bool went_down, unsigned vc, unsigned hops)
{
    const uint32_t digit = k->f->node[k->f->hosts + to].addr_hi;
    bool any = false;
    if (at == to)
        return true;
    for (uint64_t left = k->w->ports[(size_t)digit * k->w->routers + at]; left; left &= left - 1) {
        const uint32_t far = living_router(k, at, (unsigned)__builtin_ctzll(left));
        if (far == HX_NOWHERE)
            fail_msg("router %u: a next hop over a dead link", at);
        const bool up = hx_updown_up(k->w, at, far);
        if (vc + (up && went_down) >= HX_VCS)
            continue; /* the switch leaves it out */
        if (hops == 0 || !arrives(k, far, to, !up, vc + (up && went_down), hops - 1))
            return false;
        any = true;
    }
    return any;
}

static void draw_dead(const struct hx_fabric *f, unsigned count, uint64_t *random, uint64_t *down)
{
    unsigned dead = 0;
    memset(down, 0, f->nodes * sizeof *down);
    while (dead < count) {
        const uint32_t node = f->hosts + hx_rng_below(random, f->nodes - f->hosts);
        const unsigned port = hx_rng_below(random, hx_fabric_ports(f, node));
        const struct hx_end far = hx_fabric_far(f, node, port);
        if (far.node == HX_NOWHERE || far.node < f->hosts)
            continue;
        down[node] |= UINT64_C(1) << port;
        dead++;
    }
}

static bool has_hosts(const struct walk *k, uint32_t router)
{
    return k->f->node[k->f->hosts + router].addr_hi != HX_NO_ADDRESS;
}

static void validate_pairs_from(const struct walk *k, const char *spec, uint32_t from)
{
    unsigned turns[MOST_ROUTERS][2] = {{0}};
    count_least_turns(k, from, turns);
    for (uint32_t to = 0; to < k->w->routers; to++) {
        if (to == from || !has_hosts(k, to))
            continue;
        const uint16_t distance = k->w->distance[(size_t)k->f->node[k->f->hosts + to].addr_hi * k->w->routers + from];
        unsigned least = turns[to][DOWN];
        (void)lower(&least, turns[to][UP]);
        const bool may = least < HX_VCS;
        if ((distance == HX_UNREACHABLE_DISTANCE) != (least >= NOT_JOINED))
            fail_msg("%s: router %u to %u: distance %u, %u turns", spec, from, to, distance, least);
        if (arrives(k, from, to, false, 0, k->w->routers) != may)
            fail_msg("%s: router %u to %u: %s", spec, from, to, may ? "no path" : "a path of many turns");
    }
}

static void validate_pairs(const struct walk *k, const char *spec)
{
    assert_true(k->w->routers <= MOST_ROUTERS);
    for (uint32_t from = 0; from < k->w->routers; from++)
        if (has_hosts(k, from))
            validate_pairs_from(k, spec, from);
}

/* Minimal paths may turn too often where longer ones do not. */
static void a_pair_has_a_path_if_one_has_few_turns(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"mesh 4x3",
                                          "mesh 7x5",
                                          "torus 5x4",
                                          "oft k=3",
                                          "kautz degree=2 length=3 p=2",
                                          "dragonfly a=4 p=1 h=1",
                                          "slim-fly q=3 p=1",
                                          "bigraph m=4 n=8",
                                          "mesh 16x2",
                                          "mesh 20x3"};
    uint64_t random = 1;
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct hx_spec spec;
        make_searched(&spec, fabrics[i]);
        const struct hx_fabric *f = spec.graph;
        struct hx_fabric round = {.updown = NULL};
        uint64_t *down = hx_allocate(f->nodes, sizeof *down);
        for (unsigned set = 0; set < 40; set++) {
            draw_dead(f, i + 1 < sizeof fabrics / sizeof *fabrics ? DEAD : 2 * DEAD, &random, down);
            assert_true(hx_updown_reroute(&round, f, down));
            validate_pairs(&(struct walk){.f = f, .w = round.updown, .down = down}, fabrics[i]);
        }
        free(round.updown);
        free(down);
        hx_spec_free(&spec);
    }
}

static void a_failed_search_keeps_the_paths(void **state)
{
    (void)state;
    struct hx_spec spec;
    make_searched(&spec, "torus 4x4");
    struct hx_fabric round = {.updown = NULL};
    uint64_t *down = hx_allocate(spec.graph->nodes, sizeof *down);
    assert_true(hx_updown_reroute(&round, spec.graph, down));
    const struct hx_updown *before = round.updown;
    spec.graph->node[spec.graph->hosts].addr_hi = 1; /* that of another router */
    assert_false(hx_updown_reroute(&round, spec.graph, down));
    assert_ptr_equal(round.updown, before);
    free(round.updown);
    free(down);
    hx_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_without_room_is_refused),
        cmocka_unit_test(a_refused_search_changes_nothing),
        cmocka_unit_test(paths_may_be_long),
        cmocka_unit_test(a_pair_has_a_path_if_one_has_few_turns),
        cmocka_unit_test(a_failed_search_keeps_the_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
