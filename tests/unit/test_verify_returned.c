/* test_verify_returned.c - packets that a network returns are verified from there on. Captures of a model with such
 * networks are good, and a misrouted packet is still found among them. */
#include "tests/support/support_capture_validate.h"
#include "tests/support/support_effort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 3 };

static const struct {
    const char *what;
    unsigned a, b, x, y, planes;
    bool wire;
} shapes[] = {{"4x4 Hx2Mesh", 2, 2, 4, 4, 1, false},
              {"4x4 Hx2Mesh, wire", 2, 2, 4, 4, 1, true},
              {"3x2 H2x4Mesh, 2 planes", 2, 4, 3, 2, 2, false},
              {"5x3 Hx1Mesh", 1, 1, 5, 3, 1, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct sim_settings settings(unsigned shape, unsigned seed, unsigned give_back)
{
    struct sim_settings set = sim_default;
    set.a = shapes[shape].a;
    set.b = shapes[shape].b;
    set.x = shapes[shape].x;
    set.y = shapes[shape].y;
    set.planes = shapes[shape].planes;
    set.wire = shapes[shape].wire;
    set.messages = 10;
    set.give_back = give_back;
    set.seed = seed;
    return set;
}

/* The returned packets of the model are all counted: some find another path, others reach an endpoint that has none
 * for them. */
static void returned_packets_go_on(void **state)
{
    (void)state;
    uint64_t turned_back = 0;
    for (unsigned shape = 0; shape < SHAPES; shape++)
        for (unsigned seed = 1; seed <= effort(SEEDS); seed++)
            for (unsigned give_back = 20; give_back <= 500; give_back += 240) {
                struct sim_settings set = settings(shape, seed, give_back);
                struct sim_capture c;
                struct verdict v;
                sim_run(&c, &set);
                require_good(&c, shapes[shape].what, seed, &v);
                assert_true(c.given_back > 0);
                assert_int_equal(v.counts.given_back, c.given_back);
                assert_int_equal(v.counts.turned_back, c.turned_back);
                assert_int_equal(v.counts.injected, v.counts.delivered);
                turned_back += c.turned_back;
                sim_free(&c);
            }
    assert_true(turned_back > 100);
}

/* Without returned packets, none may end short of its destination or leave its paths. */
static void without_returned_packets_nothing_is_allowed(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++) {
        struct sim_settings set = settings(0, seed, 0);
        struct sim_capture c;
        struct verdict v;
        sim_run(&c, &set);
        require_good(&c, "nothing given back", seed, &v);
        assert_int_equal(c.given_back + v.counts.given_back + v.counts.turned_back, 0);
        sim_free(&c);
    }
}

/* One rule is broken in one place, for a packet like any other. */
static void violations_are_found_among_returned_packets(void **state)
{
    (void)state;
    static const char *const rules[] = {"distance", "hops", "vc", "crc"};
    for (unsigned seed = 1; seed <= effort(SEEDS); seed++)
        for (unsigned rule = 0; rule < sizeof rules / sizeof *rules; rule++) {
            struct sim_settings set = settings(0, seed, 30);
            struct sim_capture c;
            struct verdict v;
            sim_run(&c, &set);
            uint64_t frame = sim_break(&c, rules[rule]);
            assert_true(frame > 0);
            validate_capture(&c, NULL, false, &v);
            bool named = false;
            for (uint64_t i = 0; i < v.found.count && i < HX_FINDINGS_KEPT; i++)
                named = named || (v.found.kept[i].frame == frame &&
                                  strcmp(hx_rule_names[v.found.kept[i].rule], rules[rule]) == 0);
            if (!named)
                fail_msg("seed %u: '%s' at frame %llu was not found (%llu others were)", seed, rules[rule],
                         (unsigned long long)frame, (unsigned long long)v.found.count);
            sim_free(&c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returned_packets_go_on),
        cmocka_unit_test(without_returned_packets_nothing_is_allowed),
        cmocka_unit_test(violations_are_found_among_returned_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
