/* test_router_vcs.c - a router that changes VCs, and fairness between packets of several VCs or inputs; the test
 * sets inputs and credit. */
#include "tests/support/loopback/support_loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PORTS = 8, BLOCKS = 64, ROOMY = 1000, OUT = 7, OTHER = 6, ROUNDS = 240 };

static struct rig rig;
static uint64_t vc_increment[PORTS], restarted[PORTS]; /* per output: inputs */

/* gx n: the port n. No input increments the VC yet. */
static void start(void)
{
    rig_init(&rig, HX_ROW_SWITCH, PORTS, 0, BLOCKS);
    for (unsigned gx = 0; gx < PORTS; gx++) {
        rig.tree[gx] = (uint64_t)1 << gx;
        vc_increment[gx] = restarted[gx] = 0;
    }
    rig.sw.route.vc_increment = vc_increment;
    rig.sw.route.restarted = restarted;
    rig.sw.route.changes_vc = true;
    rig.sw.route.vcs = HX_VCS;
}

static void arrive(unsigned input, unsigned vc, uint32_t id)
{
    assert_true(rig_arrive(&rig, input, vc, id, OUT, 100));
}

/* VC of the next packet that left; it must be this one. */
static unsigned left_on(uint32_t id)
{
    struct rig_packet p;
    if (!rig_take(&rig, OUT, &p))
        fail_msg("nothing left, though %u should have", id);
    assert_true(p.intact);
    assert_int_equal(p.id, id);
    return p.vc;
}

static void the_vc_behind_an_output_follows_from_the_input(void **state)
{
    (void)state;
    start();
    vc_increment[OUT] = 1U << 1 | 1U << 3;
    restarted[OUT] = 1U << 2 | 1U << 3;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        const unsigned behind[] = {vc, vc + 1, 0, 1};
        for (unsigned input = 0; input < 4; input++) {
            if (behind[input] == HX_VCS)
                continue;
            rig_room_everywhere(&rig, 0);
            rig_room(&rig, OUT, behind[input], 1);
            arrive(input, vc, 4 * vc + input);
            assert_int_equal(rig_step(&rig), 1); /* in the step of its arrival */
            assert_int_equal(left_on(4 * vc + input), behind[input]);
        }
    }
    rig_validate_empty(&rig);
}

/* A packet that waits for an output blocks others for the same VC behind it, and no others. */
static void a_waiting_packet_blocks_only_its_own_vc(void **state)
{
    (void)state;
    start();
    vc_increment[OUT] = 1U << 1;
    rig_room_everywhere(&rig, 0);
    rig_room(&rig, OUT, 0, 10);
    assert_true(rig_arrive(&rig, 0, 0, 1, OUT, 8192)); /* waits for VC 0 behind the output */
    assert_int_equal(rig_step(&rig), 0);
    rig_room(&rig, OUT, 1, ROOMY);
    arrive(1, 0, 2);
    assert_int_equal(rig_step(&rig), 1);
    assert_int_equal(left_on(2), 1);
    arrive(2, 0, 3); /* would fit, but is behind 1 */
    assert_int_equal(rig_step(&rig), 0);
    rig_room(&rig, OUT, 0, ROOMY);
    assert_int_equal(rig_step(&rig), 2);
    assert_int_equal(left_on(1), 0);
    assert_int_equal(left_on(3), 0);
    rig_validate_empty(&rig);
}

/* Packets for another VC of the same output get no turn and cost none. */
static void a_vc_without_room_stops_no_other(void **state)
{
    (void)state;
    start();
    vc_increment[OUT] = 1U << 1 | 1U << 3;
    rig_room_everywhere(&rig, 0);
    for (unsigned input = 0; input < 4; input++)
        arrive(input, 0, input);
    assert_int_equal(rig_step(&rig), 0);
    rig_room(&rig, OUT, 1, 2);
    assert_int_equal(rig_step(&rig), 2);
    assert_int_equal(left_on(1), 1);
    assert_int_equal(left_on(3), 1);
    rig_room(&rig, OUT, 0, 1);
    assert_int_equal(rig_step(&rig), 1);
    assert_int_equal(left_on(0), 0);
    rig_room(&rig, OUT, 0, 1);
    assert_int_equal(rig_step(&rig), 1);
    assert_int_equal(left_on(2), 0);
    rig_validate_empty(&rig);
}

/* Each input, also that of the output itself, may leave by it. In each round all `count` inputs or VCs bring a
 * packet at once; there is credit for one, then for the others. Each is first equally often. */
static void validate_turns(unsigned count, bool vcs)
{
    unsigned first[HX_VCS + PORTS] = {0};
    rig.from[OUT] = UINT64_MAX;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct rig_packet p;
        rig_room_everywhere(&rig, 0);
        rig_room(&rig, OUT, 0, 1);
        for (unsigned n = 0; n < count; n++)
            arrive(vcs ? 1 : n, vcs ? n : 0, n);
        assert_int_equal(rig_step(&rig), 1);
        assert_true(rig_take(&rig, OUT, &p));
        first[p.id]++;
        rig_room_everywhere(&rig, ROOMY);
        assert_int_equal(rig_step(&rig), count - 1);
        for (unsigned n = 1; n < count; n++)
            assert_true(rig_take(&rig, OUT, &p));
        for (unsigned other = 0; other < round % 3; other++) { /* turns do not align with steps */
            assert_true(rig_arrive(&rig, 0, 0, 0, OTHER, 100));
            assert_int_equal(rig_step(&rig), 1);
            assert_true(rig_take(&rig, OTHER, &p));
        }
    }
    for (unsigned n = 0; n < count; n++)
        assert_in_range(first[n], ROUNDS / count * 3 / 4, ROUNDS / count * 5 / 4);
    rig_validate_empty(&rig);
}

static void no_input_is_always_the_first(void **state)
{
    (void)state;
    start();
    rig.sw.route.changes_vc = false;
    validate_turns(PORTS, false);
}

/* All VCs restart at 0 behind the output, and share its credit. */
static void no_vc_is_always_the_first(void **state)
{
    (void)state;
    start();
    restarted[OUT] = 1U << 1;
    validate_turns(HX_VCS, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_vc_behind_an_output_follows_from_the_input, lab_free),
        cmocka_unit_test_teardown(a_waiting_packet_blocks_only_its_own_vc, lab_free),
        cmocka_unit_test_teardown(a_vc_without_room_stops_no_other, lab_free),
        cmocka_unit_test_teardown(no_input_is_always_the_first, lab_free),
        cmocka_unit_test_teardown(no_vc_is_always_the_first, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
