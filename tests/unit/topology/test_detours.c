/* test_detours.c - fabrics with detours: for any packets in flight there is no dependency cycle, and all arrive; and
 * invalid detours are refused. */
#include "spec/spec.h"
#include "tools/paths/explore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void load(struct hx_spec *spec, const char *text, const char *routing)
{
    struct hx_problem problem;
    const struct hx_overrides overrides = {.routing = routing};
    if (!hx_spec_try_load(text, &overrides, spec, &problem))
        fail_msg("%s: %s", text, problem.what);
}

/* Returns channels in a cycle. */
static uint32_t explore(const struct hx_spec *spec, struct hx_findings *found)
{
    struct hx_plane plane;
    struct hx_channels channels;
    hx_plane_init(&plane, spec);
    hx_channels_init(&channels, &plane);
    struct hx_progress progress = hx_progress_start("test", true);
    *found = hx_explore(&plane, &channels, &progress);
    hx_progress_end(&progress);
    uint32_t *cycle = NULL;
    uint32_t length = hx_channels_cycle(&channels, &cycle);
    free(cycle);
    hx_channels_free(&channels);
    hx_plane_free(&plane);
    return length;
}

static void validate(const char *text)
{
    struct hx_spec spec;
    struct hx_findings straight;
    struct hx_findings found;
    load(&spec, text, "minimal");
    assert_int_equal(explore(&spec, &straight), 0);
    hx_spec_free(&spec);
    load(&spec, text, "valiant");
    if (explore(&spec, &found) != 0 || found.dead_ends || found.unreachable)
        fail_msg("%s: a cycle, %llu dead ends or %llu pairs cut off", text, (unsigned long long)found.dead_ends,
                 (unsigned long long)found.unreachable);
    assert_int_equal(found.vcs, spec.graph->vcs);
    assert_int_equal(found.pairs, straight.pairs);
    assert_true(found.channels > straight.channels && found.dependencies > straight.dependencies);
    hx_spec_free(&spec);
}

static void validate_range(const char *format, unsigned low, unsigned high, unsigned step, unsigned inner)
{
    for (unsigned value = low; value <= high; value += step) {
        char text[128];
        (void)snprintf(text, sizeof text, format, value, inner); /* NOLINT(clang-diagnostic-format-nonliteral) */
        validate(text);
    }
}

static void no_packet_of_an_mlfm_waits_for_itself(void **state)
{
    (void)state;
    for (unsigned l = 1; l <= 3; l++)
        validate_range("mlfm h=%u p=1 l=%u", l == 1 ? 3 : 2, 5, 1, l);
}

static void no_packet_of_an_oft_waits_for_itself(void **state)
{
    (void)state;
    validate_range("oft k=%u", 3, 6, 1, 0);
}

static void no_packet_of_a_fat_tree_waits_for_itself(void **state)
{
    (void)state;
    validate_range("fat-tree hosts=%u radix=8 taper=%u", 10, 24, 7, 1);
    validate_range("fat-tree hosts=%u radix=8 taper=%u", 20, 40, 10, 3);
    validate("fat-tree hosts=60 radix=8 levels=3");
    validate("fat-tree hosts=24 radix=4 down=3 up=1 levels=3");
}

static void no_packet_of_a_dragonfly_waits_for_itself(void **state)
{
    (void)state;
    for (unsigned h = 1; h <= 3; h++)
        validate_range("dragonfly a=4 p=1 groups=%u h=%u", 3, 4 * h + 1, 1, h);
    validate("dragonfly a=1 p=2 h=4 groups=5");
}

static void no_packet_of_a_hyperx_waits_for_itself(void **state)
{
    (void)state;
    validate_range("hyperx %u p=%u", 3, 7, 1, 2);
    validate_range("hyperx %ux%u p=1", 2, 4, 1, 3);
}

static void no_packet_of_a_slim_fly_waits_for_itself(void **state)
{
    (void)state;
    validate_range("slim-fly q=%u p=%u", 3, 5, 1, 1);
}

static void no_packet_of_a_bigraph_waits_for_itself(void **state)
{
    (void)state;
    validate_range("bigraph n=%u m=%u", 4, 8, 2, 2);
}

/* Without the VC increment where a packet goes up again, the same search finds a cycle. */
static void a_missing_rule_is_found(void **state)
{
    (void)state;
    const char *const fabrics[] = {
        "mlfm h=3",     "oft k=3",        "fat-tree hosts=16 radix=8", "dragonfly a=4 p=1 h=1 groups=5",
        "hyperx 4 p=1", "hyperx 3x3 p=1", "slim-fly q=3 p=1",          "bigraph m=1 n=6"};
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct hx_spec spec;
        struct hx_findings found;
        load(&spec, fabrics[i], "ugal");
        spec.graph->rule = HX_VC_NEVER;
        assert_true(explore(&spec, &found) > 0);
        hx_spec_free(&spec);
    }
}

static void the_routing_is_a_part_of_the_spec(void **state)
{
    (void)state;
    struct hx_spec spec;
    load(&spec, "MLFM h=3 routing=valiant p=2", NULL);
    assert_int_equal(spec.graph->routing.policy, HX_VALIANT);
    assert_int_equal(spec.graph->vcs, 2);
    hx_spec_free(&spec);
    load(&spec, "mlfm h=3 routing = valiant p=2", "UGAL:n=3,c=1.5,t=0.25");
    assert_string_equal(spec.fabric, "mlfm h=3 p=2 routing=ugal:n=3,c=1.5,t=0.25");
    assert_string_equal(spec.name, spec.fabric);
    assert_int_equal(spec.graph->routing.cost, 1500);
    assert_int_equal(spec.graph->routing.threshold, 250);
    hx_spec_free(&spec);
    load(&spec, "mlfm h=3 routing=valiant", "minimal");
    assert_string_equal(spec.fabric, "mlfm h=3");
    assert_int_equal(spec.graph->vcs, 1);
    hx_spec_free(&spec);
}

static void a_routing_reads_back_as_written(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    static const char *const same[] = {"minimal", "valiant", "ugal:n=4", "ugal:n=64,c=0.5", "ugal:n=1,c=2,t=0.125"};
    for (unsigned i = 0; i < sizeof same / sizeof *same; i++) {
        struct hx_routing routing;
        char text[HX_ROUTING_BYTES];
        assert_null(hx_routing_parse(same[i], &routing, why));
        assert_string_equal(hx_routing_write(text, &routing), same[i]);
    }
    struct hx_routing routing;
    char text[HX_ROUTING_BYTES];
    assert_null(hx_routing_parse("UGAL-threshold", &routing, why));
    assert_string_equal(hx_routing_write(text, &routing), "ugal:n=4,t=0.1");
    assert_null(hx_routing_parse("ugal-threshold:t=0.2,n=2", &routing, why));
    assert_string_equal(hx_routing_write(text, &routing), "ugal:n=2,t=0.2");
    static const char *const bad[] = {
        "",          "valient",    "valiant:n=1", "ugal:",
        "ugal:n",    "ugal:n=0",   "ugal:n=65",   "ugal:c=-1",
        "ugal:c=65", "ugal:t=1.5", "ugal:x=1",    "ugal:n=4,c=2,t=0.1,n=4,c=2,t=0.1,n=4,c=2,t=0.1,n=4,c=2,t=0.1,n=4"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!hx_routing_parse(bad[i], &routing, why))
            fail_msg("'%s' was taken", bad[i]);
}

static void fabrics_without_detours_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } refused[] = {{"4x4 Hx2Mesh", "HammingMesh"},
                   {"torus 4x4", "no detours"},
                   {"kautz", "no detours"},
                   {"dragonfly a=2 p=1 h=1 groups=2", "no detours"},
                   {"fat-tree hosts=8 radix=8", "no detours"},
                   {"hyperx 4x4x4", "no detours"}};
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct hx_spec spec;
        struct hx_problem problem;
        assert_false(hx_spec_try_load(refused[i].text, &(struct hx_overrides){.routing = "ugal"}, &spec, &problem));
        if (!strstr(problem.what, refused[i].says))
            fail_msg("%s: %s", refused[i].text, problem.what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_packet_of_an_mlfm_waits_for_itself),
        cmocka_unit_test(no_packet_of_an_oft_waits_for_itself),
        cmocka_unit_test(no_packet_of_a_fat_tree_waits_for_itself),
        cmocka_unit_test(no_packet_of_a_dragonfly_waits_for_itself),
        cmocka_unit_test(no_packet_of_a_hyperx_waits_for_itself),
        cmocka_unit_test(no_packet_of_a_slim_fly_waits_for_itself),
        cmocka_unit_test(no_packet_of_a_bigraph_waits_for_itself),
        cmocka_unit_test(a_missing_rule_is_found),
        cmocka_unit_test(the_routing_is_a_part_of_the_spec),
        cmocka_unit_test(a_routing_reads_back_as_written),
        cmocka_unit_test(fabrics_without_detours_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
