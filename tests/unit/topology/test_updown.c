/* test_updown.c - paths of up-down routing around failures of a running fabric: a name without room for `fail=` is
 * refused, a path may have any length, and a failed search changes nothing. */
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
        cmocka_unit_test(a_failed_search_keeps_the_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
