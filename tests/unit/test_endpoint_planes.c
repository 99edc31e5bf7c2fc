/* test_endpoint_planes.c - packets share planes, dead planes stop no message, and endpoints without credit to inject
 * still take arrivals. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- planes ---- */

static void planes_share_the_packets(void **state)
{
    (void)state;
    for (unsigned planes = 1; planes <= HX_MAX_PLANES; planes++) {
        trial_start(2, planes);
        trial_watch();
        trial_send(0, 1, 400 * FULL);
        trial_finish();
        for (unsigned plane = 0; plane < planes; plane++)
            assert_in_range(gate.planes[plane], 360 / planes, 480 / planes);
        lab_free(NULL);
    }
}

static unsigned data_on[HX_MAX_PLANES];

static bool count_data(struct cloud *c, struct cloud_frame *f)
{
    (void)c;
    data_on[f->plane] += trial_read(f).kind == HX_DATA;
    return true;
}

/* Messages are shared evenly, also several at once and of any length, as long as planes have room alike: otherwise
 * links of one plane would be full while those of others rest. */
static void planes_share_each_message(void **state)
{
    (void)state;
    for (unsigned planes = 2; planes <= HX_MAX_PLANES; planes++) {
        trial_start(5, planes);
        cloud.gate = count_data;
        memset(data_on, 0, sizeof data_on);
        unsigned packets = 0;
        for (unsigned i = 0; i < 10; i++) {
            unsigned length = 1 + i * i % 7;
            for (unsigned to = 1; to < 5; to++)
                trial_send(0, to, length * planes * (uint64_t)FULL);
            packets += 4 * length;
            trial_finish();
        }
        for (unsigned plane = 0; plane < planes; plane++)
            assert_in_range(data_on[plane], packets * 24 / 25, packets * 26 / 25);
        lab_free(NULL);
    }
}

/* Four planes carry four times as many short messages of a pair at a time. */
static void a_window_has_messages_of_each_plane(void **state)
{
    (void)state;
    for (unsigned planes = 1; planes <= HX_MAX_PLANES; planes++) {
        const unsigned window = hx_peer_window(planes);
        struct hx_endpoint_config config = trial_config(planes);
        config.sends = 2 * HX_MOST_PEER_WINDOW;
        assert_int_equal(window & (window - 1), 0);
        assert_in_range(window, planes * HX_PEER_WINDOW, HX_MOST_PEER_WINDOW);
        cloud_init(&cloud, 2, &config, LOOPBACK_MAX_BLOCKS, 1);
        for (unsigned round = 0; round < 3; round++) {
            for (unsigned i = 0; i < window; i++)
                trial_send(0, 1, 100 + i);
            assert_int_equal(cloud_send(&cloud, 0, 1, 100), HX_E_BUSY);
            trial_finish();
        }
        lab_free(NULL);
    }
}

/* A plane dies without notice: its packets vanish, and it always has credit. Short messages get through, and so do
 * their acknowledgements. */
static void a_dead_plane_stops_no_message(void **state)
{
    (void)state;
    for (unsigned dead = 0; dead < HX_MAX_PLANES; dead++) {
        trial_start(2, HX_MAX_PLANES);
        trial_watch();
        gate.dead[dead] = true;
        for (unsigned i = 0; i < 12; i++) {
            trial_send(0, 1, i == 5 ? 100 * FULL : 10);
            trial_finish();
        }
        lab_free(NULL);
    }
    for (unsigned alive = 0; alive < HX_MAX_PLANES; alive++) {
        trial_start(2, HX_MAX_PLANES);
        trial_watch();
        for (unsigned plane = 0; plane < HX_MAX_PLANES; plane++)
            gate.dead[plane] = plane != alive;
        trial_send(0, 1, 10);
        trial_finish();
        trial_send(0, 1, 10);
        trial_finish();
        lab_free(NULL);
    }
}

/* An answer that lacks a packet causes a probe by the same plane, which dies at that time: the next probe takes
 * another plane, before all tries are used. */
static void a_plane_that_dies_between_two_answers_stops_no_message(void **state)
{
    (void)state;
    for (unsigned planes = 2; planes <= HX_MAX_PLANES; planes++) {
        trial_start(2, planes);
        trial_send(0, 1, FULL); /* so the round trip is known */
        trial_finish();
        trial_watch();
        gate.lose_kind = HX_DATA;
        gate.lose_first = 1;
        unsigned number = trial_send(0, 1, FULL);
        const struct hx_endpoint *ep = &cloud.end[0].ep;
        for (unsigned turn = 0; !ep->send[0].loss_suspected; turn++) {
            assert_true(turn < LONG);
            trial_turns(1);
        }
        unsigned asked = (ep->send[0].message + ep->send[0].probes) % planes;
        gate.dead[asked] = true;
        trial_finish();
        assert_int_equal(trial_message(number)->sent, 1);
        lab_free(NULL);
    }
}

/* ---- room ---- */

static void arrivals_are_consumed_without_room_to_inject(void **state)
{
    (void)state;
    trial_start(3, 1);
    cloud.end[0].mute = true;
    unsigned own = trial_send(0, 1, 50 * FULL);
    unsigned in = trial_send(1, 0, 400 * FULL);
    unsigned more = trial_send(2, 0, 300 * FULL);
    trial_turns(400);
    assert_int_equal(trial_message(in)->received, 1);
    assert_int_equal(trial_message(more)->received, 1);
    assert_int_equal(trial_message(own)->placed, 0);
    cloud.end[0].mute = false;
    trial_finish();
}

static void all_endpoints_are_mute_for_long(void **state)
{
    (void)state;
    trial_start(4, 2);
    for (unsigned from = 0; from < 4; from++)
        for (unsigned to = 0; to < 4; to++)
            trial_send(from, to, 20 * FULL);
    for (unsigned i = 0; i < 30; i++) {
        for (unsigned end = 0; end < 4; end++)
            cloud.end[end].mute = (i + end) % 5 != 0;
        trial_turns(13);
    }
    for (unsigned end = 0; end < 4; end++)
        cloud.end[end].mute = false;
    trial_finish();
}

/* The list of acknowledgements holds every slot once, for any number of requests. */
static void waiting_acknowledgements_do_not_pile_up(void **state)
{
    (void)state;
    trial_start(4, 1);
    cloud.end[0].mute = true;
    for (unsigned from = 1; from < 4; from++) {
        trial_send(from, 0, 10);
        trial_send(from, 0, 20);
    }
    for (unsigned i = 0; i < 40; i++) {
        trial_turns(20);
        if (i % 8 == 7)
            cloud_restart(&cloud, 1 + i / 8 % 3);
        assert_true(cloud.end[0].ep.acks_count <= cloud.end[0].ep.ack_slots);
        assert_int_equal(cloud.end[0].ep.ack_slots, 4 * (HX_PEER_WINDOW + 1));
    }
    cloud.end[0].mute = false;
    assert_true(cloud_run(&cloud, LONG));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(planes_share_the_packets, lab_free),
        cmocka_unit_test_teardown(planes_share_each_message, lab_free),
        cmocka_unit_test_teardown(a_window_has_messages_of_each_plane, lab_free),
        cmocka_unit_test_teardown(a_dead_plane_stops_no_message, lab_free),
        cmocka_unit_test_teardown(a_plane_that_dies_between_two_answers_stops_no_message, lab_free),
        cmocka_unit_test_teardown(arrivals_are_consumed_without_room_to_inject, lab_free),
        cmocka_unit_test_teardown(all_endpoints_are_mute_for_long, lab_free),
        cmocka_unit_test_teardown(waiting_acknowledgements_do_not_pile_up, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
