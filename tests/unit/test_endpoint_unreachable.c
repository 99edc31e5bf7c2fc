/* test_endpoint_unreachable.c - peers without a path: failed messages, reports, and new routes. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void messages_to_a_silent_peer_fail(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch_losing_data(1, UINT32_MAX);
    unsigned lost = trial_send(0, 1, 10);
    unsigned fine = trial_send(0, 2, 10);
    trial_turns(TIMEOUT_TURNS - 2);
    assert_int_equal(gate.kinds[HX_DATA], 2);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(gate.kinds[HX_PROBE], RETRIES); /* which are answered: after two the loss is certain */
    assert_int_equal(gate.kinds[HX_DATA], 2 + RETRIES / 2);
    assert_int_equal(trial_message(lost)->failed, 1);
    assert_int_equal(cloud.end[0].last_error, HX_E_UNREACHABLE);
    assert_int_equal(trial_message(fine)->sent, 1);
    assert_int_equal(cloud.end[0].ep.stats.messages_failed, 1);

    gate.lose_first = 0;
    unsigned again = trial_send(0, 1, 20);
    unsigned more = trial_send(0, 1, 30);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(trial_message(again)->received + trial_message(again)->sent, 2);
    assert_int_equal(trial_message(more)->received + trial_message(more)->sent, 2);
}

/* Half of a message arrived and the sender gave up; the next message of the slot takes its place. */
static void a_failed_message_leaves_no_trace(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch();
    gate.lose_kind = HX_DATA;
    trial_send(0, 1, 1);
    trial_send(0, 1, 1);
    trial_finish();
    trial_hold(true);
    unsigned lost = trial_send(0, 1, 10 * FULL);
    trial_turns(8);
    cloud.frames = 4;
    gate.lose_first = UINT32_MAX;
    trial_hold(false);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(trial_message(lost)->failed, 1);
    assert_int_equal(trial_message(lost)->placed, 4);
    gate.lose_first = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned next = trial_send(0, 1, 7 * FULL);
        assert_true(cloud_run(&cloud, LONG));
        assert_int_equal(trial_message(next)->received + trial_message(next)->sent, 2);
    }
}

/* All packets but the first arrived, and must be forgotten: the next message of the slot has the same length, and
 * its first packet arrives last. */
static void a_long_failed_message_leaves_no_trace(void **state)
{
    (void)state;
    static const unsigned packets[] = {31, 32, 33, 34, 64, 65, 100};
    for (unsigned i = 0; i < sizeof packets / sizeof *packets; i++) {
        trial_start(2, 1);
        trial_watch_losing_data(NO_END, 1);
        unsigned lost = trial_send(0, 1, (uint64_t)packets[i] * FULL);
        assert_true(cloud_run(&cloud, LONG));
        assert_int_equal(trial_message(lost)->failed, 1);
        assert_int_equal(trial_message(lost)->placed, packets[i] - 1);
        for (unsigned m = 0; m < HX_PEER_WINDOW; m++) {
            gate.lose_first = 1;
            unsigned next = trial_send(0, 1, (uint64_t)packets[i] * FULL);
            assert_true(cloud_run(&cloud, LONG));
            assert_int_equal(trial_message(next)->received + trial_message(next)->sent, 2);
        }
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_DUPLICATE), 0);
        lab_free(NULL);
    }
}

/* An accelerator without a path for a packet gives it to its endpoint, which reports it to the sender. The sender
 * stops the message until a path exists: it probes now and then, and learns of new routes. `at`: the accelerator. */
static void validate_unreachable(unsigned at)
{
    trial_start(3, 1);
    trial_watch();
    gate.astray = at;
    unsigned number = trial_send(0, 1, 900 * FULL);
    trial_turns(20);
    assert_int_equal(trial_message(number)->placed, 0);
    unsigned tried = gate.kinds[HX_DATA];
    assert_true(tried > 0 && tried < 500);
    assert_int_equal(cloud_drops(&cloud, at, HX_DROP_UNREACHABLE), tried);
    assert_int_equal(gate.kinds[HX_UNREACHABLE], at == 0 ? 0 : tried);
    trial_turns(UNREACHABLE_TURNS - 50);
    assert_int_equal(gate.kinds[HX_DATA], tried);
    assert_int_equal(gate.kinds[HX_PROBE], 3); /* after one timeout, two more, and four more */
    gate.astray = NO_END;                      /* a path exists again */
    hx_endpoint_routes_changed(&cloud.end[0].ep);
    trial_turns(1);
    assert_true(gate.kinds[HX_DATA] > tried);
    trial_finish();
    lab_free(NULL);
}

/* A message fails after the configured time without a path, neither earlier nor much later. */
static void a_message_without_a_path_fails_in_time(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch();
    gate.astray = 2;
    unsigned number = trial_send(0, 1, 900 * FULL);
    trial_turns(UNREACHABLE_TURNS);
    assert_int_equal(trial_message(number)->failed, 0);
    trial_turns(20);
    assert_int_equal(trial_message(number)->failed, 1);
    assert_int_equal(cloud.end[0].last_error, HX_E_UNREACHABLE);
    lab_free(NULL);

    struct hx_endpoint_config config = trial_config(1);
    config.unreachable_ns = 0; /* routes never change: at the first report */
    cloud_init(&cloud, 3, &config, LOOPBACK_MAX_BLOCKS, 1);
    trial_watch();
    gate.astray = 2;
    number = trial_send(0, 1, 900 * FULL);
    trial_turns(10);
    assert_int_equal(trial_message(number)->failed, 1);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
}

static bool lead_data_astray(struct cloud *c, struct cloud_frame *f)
{
    bool enters = trial_count_and_lose(c, f);
    if (trial_read(f).kind == HX_DATA && f->to == 1)
        f->to = 2;
    return enters;
}

/* Probes are answered, but all packets end in the same dead end. The answers do not prolong the wait. */
static void answers_do_not_prolong_the_wait_for_a_path(void **state)
{
    (void)state;
    for (unsigned planes = 1; planes <= HX_MAX_PLANES; planes++) {
        trial_start(3, planes);
        trial_watch();
        cloud.gate = lead_data_astray;
        unsigned number = trial_send(0, 1, 900 * FULL);
        unsigned fine = trial_send(0, 2, FULL);
        trial_turns(UNREACHABLE_TURNS);
        assert_int_equal(trial_message(number)->failed, 0);
        assert_true(cloud_run(&cloud, RETRIES * 16 * TIMEOUT_TURNS));
        assert_int_equal(trial_message(number)->failed, 1);
        assert_int_equal(trial_message(number)->placed, 0);
        assert_int_equal(trial_message(fine)->sent, 1);
        assert_true(gate.kinds[HX_ACK] > 2); /* answers of probes */
        lab_free(NULL);
    }
}

/* Packet n gets through after n times half of the time that a message may be blocked. */
static bool lead_data_astray_for_a_while(struct cloud *c, struct cloud_frame *f)
{
    bool enters = trial_count_and_lose(c, f);
    const struct hx_header h = trial_read(f);
    if (h.kind == HX_DATA && f->to == 1 && c->now < h.offset * UNREACHABLE_TURNS / 2 * CLOUD_TURN)
        f->to = 2;
    return enters;
}

static void news_starts_the_wait_for_a_path_again(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch();
    cloud.gate = lead_data_astray_for_a_while;
    trial_send(0, 1, 12 * FULL);
    trial_turns(5 * UNREACHABLE_TURNS);
    assert_true(cloud.end[0].ep.send[0].blocked);
    trial_finish();
}

static bool astray_by_plane_0(struct cloud *c, struct cloud_frame *f)
{
    unsigned kept = gate.astray;
    gate.astray = f->plane == 0 ? kept : NO_END;
    bool goes = trial_count_and_lose(c, f);
    gate.astray = kept;
    return goes;
}

/* One plane is reported without a path, and the only other one is silent: only then the reported one is tried. */
static void a_plane_without_a_path_is_tried_if_the_others_are_silent(void **state)
{
    (void)state;
    trial_start(3, 2);
    trial_watch();
    cloud.gate = astray_by_plane_0;
    gate.astray = 2;
    gate.dead[1] = true;
    trial_send(0, 1, 40 * FULL);
    trial_turns(20);
    uint64_t dropped = cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE);
    assert_true(dropped > 0);
    gate.astray = NO_END;
    unsigned by_first = gate.planes[0];
    while (gate.kinds[HX_PROBE] == 0)
        trial_turns(1);
    assert_int_equal(gate.planes[0], by_first); /* the silent one is tried first */
    trial_finish();
    assert_in_range(cloud.now, 0, 40 * TIMEOUT_TURNS * CLOUD_TURN);
}

/* Without a notice of new routes, a probe finds the path. */
static void a_probe_finds_a_new_path(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch();
    gate.astray = 2;
    trial_send(0, 1, 900 * FULL);
    trial_turns(60);
    gate.astray = NO_END;
    trial_finish();
    assert_int_equal(gate.kinds[HX_PROBE], 2);
}

/* Answers may take half of the time that a message waits for a path, none has ever arrived, and the first probe had
 * no path either. Then a path exists for a third of that time, and it is found. */
static void a_message_does_not_fail_without_a_probe(void **state)
{
    (void)state;
    for (unsigned turns = 20; turns < UNREACHABLE_TURNS * 2 / 3; turns += 20) {
        struct hx_endpoint_config config = trial_config(1);
        config.timeout_ns = config.unreachable_ns / 2;
        cloud_init(&cloud, 3, &config, LOOPBACK_MAX_BLOCKS, 1);
        trial_turns(UNREACHABLE_TURNS); /* not the beginning of time */
        trial_watch();
        gate.astray = 2;
        trial_send(0, 1, 10 * FULL);
        trial_turns(turns);
        assert_true(cloud.end[0].ep.send[0].waits);
        assert_true(gate.kinds[HX_PROBE] > 0);
        gate.astray = NO_END;
        trial_finish();
        lab_free(NULL);
    }
}

static bool lose_the_way_of_plane_0(struct cloud *c, struct cloud_frame *f)
{
    bool enters = trial_count_and_lose(c, f);
    unsigned kind = trial_read(f).kind;
    if (f->plane == 0 && (kind == HX_DATA || kind == HX_PROBE))
        f->to = 2;
    return enters;
}

/* Reported packets leave again at once by the other plane, and later messages avoid the first plane: no timeout, no
 * probe, and one report per packet. After most_ns the plane is tried again. */
static void reported_packets_take_another_plane(void **state)
{
    (void)state;
    trial_start(3, 2);
    trial_watch();
    cloud.gate = lose_the_way_of_plane_0;
    unsigned number = trial_send(0, 1, 60 * FULL);
    trial_turns(TIMEOUT_TURNS - 2);
    assert_int_equal(trial_message(number)->sent, 1);
    unsigned reports = gate.kinds[HX_UNREACHABLE];
    assert_true(reports > 0);
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, reports);
    number = trial_send(0, 1, 60 * FULL);
    trial_turns(TIMEOUT_TURNS - 2);
    assert_int_equal(trial_message(number)->sent, 1);
    assert_int_equal(gate.kinds[HX_UNREACHABLE], reports);
    assert_int_equal(gate.kinds[HX_PROBE], 0);
    trial_turns((unsigned)(cloud.end[0].config.most_ns / CLOUD_TURN) + 1);
    trial_send(0, 1, 60 * FULL);
    trial_finish();
    assert_true(gate.kinds[HX_UNREACHABLE] > reports);
}

/* Reports of one plane do not affect the other: no message waits for a path while one exists. */
static void one_plane_without_a_path_causes_no_wait(void **state)
{
    (void)state;
    trial_start(3, 2);
    trial_watch();
    cloud.gate = lose_the_way_of_plane_0;
    unsigned number = trial_send(0, 1, 200 * FULL);
    for (unsigned turn = 0; !trial_message(number)->sent; turn++) {
        assert_true(turn < LONG);
        assert_false(cloud.end[0].ep.send[0].waits);
        trial_turns(1);
    }
    assert_true(cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE) > 0);
    trial_finish();
}

/* An endpoint without late packets sends no probe when routes change. */
static void new_routes_cause_no_probe_if_nothing_is_late(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch();
    trial_turns(2 * TIMEOUT_TURNS);
    trial_send(0, 1, FULL);
    cloud.still = true; /* the answer takes some time, less than the timeout */
    trial_turns(TIMEOUT_TURNS / 4);
    hx_endpoint_routes_changed(&cloud.end[0].ep);
    trial_turns(TIMEOUT_TURNS / 4);
    cloud.still = false;
    trial_finish();
    assert_int_equal(gate.kinds[HX_PROBE], 0);
    assert_int_equal(gate.kinds[HX_DATA], 1);
}

/* Planes without a path for acknowledgements, a bit each, and the endpoint that gets those. */
static struct {
    unsigned planes, to;
} stuck;

static bool acknowledgements_get_stuck(struct cloud *c, struct cloud_frame *f)
{
    bool enters = trial_count_and_lose(c, f);
    if (trial_read(f).kind == HX_ACK && stuck.planes >> f->plane & 1U)
        f->to = stuck.to;
    return enters;
}

/* At the receiver or elsewhere, the acknowledgement comes back to its sender, which needs no probe. */
static void an_acknowledgement_without_a_path_takes_another_plane(void **state)
{
    (void)state;
    for (unsigned to = 1; to <= 2; to++) {
        for (unsigned planes = 1; planes < 1U << HX_MAX_PLANES; planes++) {
            trial_start(3, HX_MAX_PLANES);
            trial_watch();
            stuck.planes = planes & ((1U << HX_MAX_PLANES) - 2U); /* plane 0 has a path */
            stuck.to = to;
            cloud.gate = acknowledgements_get_stuck;
            for (unsigned i = 0; i < 8; i++) {
                trial_send(0, 1, FULL);
                trial_turns(20);
            }
            assert_int_equal(cloud.end[0].ep.stats.messages_sent, 8);
            assert_int_equal(gate.kinds[HX_PROBE], 0);
            assert_true(!stuck.planes || cloud_drops(&cloud, to, HX_DROP_UNREACHABLE) > 0);
            trial_finish();
            lab_free(NULL);
        }
    }
}

/* No plane leads back: each is tried once per arrival, and once per probe. */
static void acknowledgements_without_any_path_do_not_circle(void **state)
{
    (void)state;
    trial_start(3, HX_MAX_PLANES);
    trial_watch();
    stuck.planes = (1U << HX_MAX_PLANES) - 1U;
    stuck.to = 2;
    cloud.gate = acknowledgements_get_stuck;
    unsigned number = trial_send(0, 1, 10);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(trial_message(number)->failed, 1);
    assert_int_equal(gate.kinds[HX_PROBE], RETRIES);
    assert_int_equal(gate.kinds[HX_ACK], (1 + RETRIES) * HX_MAX_PLANES);
}

/* An endpoint may have any single one of the planes; it does not wait for reports of the others. */
static void any_set_of_planes_may_exist(void **state)
{
    (void)state;
    for (unsigned set = 1; set < 1U << HX_MAX_PLANES; set++) {
        struct hx_endpoint_config config = trial_config(1);
        config.plane_set = (uint8_t)set;
        cloud_init(&cloud, 3, &config, LOOPBACK_MAX_BLOCKS, 1);
        trial_watch();
        gate.astray = 2;
        unsigned lost = trial_send(0, 1, 100 * FULL);
        trial_turns(20);
        assert_true(cloud.end[0].ep.send[0].waits);
        for (unsigned plane = 0; plane < HX_MAX_PLANES; plane++)
            assert_int_equal(gate.planes[plane] > 0, set >> plane & 1U);
        trial_turns(UNREACHABLE_TURNS + 20);
        assert_int_equal(trial_message(lost)->failed, 1);
        gate.astray = NO_END;
        trial_send(0, 1, 100 * FULL);
        trial_turns(200);
        assert_true(cloud_run(&cloud, LONG));
        lab_free(NULL);
    }
}

/* Abandoned messages fail in the next step, ready or not; others to the same endpoint go on, and so do later ones. */
static void abandoned_messages_fail_at_once(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch_losing_data(1, UINT32_MAX);
    unsigned lost[3];
    for (unsigned i = 0; i < 3; i++)
        lost[i] = trial_send(0, 1, 900 * FULL);
    unsigned fine = trial_send(0, 2, 100 * FULL);
    trial_turns(10);
    hx_endpoint_abandon(&cloud.end[0].ep, 1, 0);
    hx_endpoint_abandon(&cloud.end[0].ep, 0, 0); /* it has no message */
    trial_turns(1);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(trial_message(lost[i])->failed, 1);
    gate.lose_first = 0;
    unsigned again = trial_send(0, 1, 100 * FULL);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(trial_message(fine)->sent + trial_message(again)->sent, 2);
}

/* Tries without a path do not count once there is one: 10 of the most tries may be lost. */
static void tries_made_before_routes_changed_do_not_count(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch();
    gate.dead[0] = true;
    unsigned number = trial_send(0, 1, 10 * FULL);
    for (unsigned i = 0; i < 10; i++) {
        for (unsigned probes = gate.kinds[HX_PROBE]; gate.kinds[HX_PROBE] < probes + RETRIES - 1;)
            trial_turns(1);
        hx_endpoint_routes_changed(&cloud.end[0].ep);
    }
    assert_int_equal(trial_message(number)->failed, 0);
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
    gate.dead[0] = false;
    trial_turns(TIMEOUT_TURNS - 10); /* the notice made it probe at once */
    assert_int_equal(trial_message(number)->sent, 1);
    trial_finish();
}

/* New routes make the endpoint send packets without a path again, even if only one packet was reported. */
static void new_routes_repeat_unreported_packets(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch();
    gate.astray = 2;
    gate.lose_kind = HX_UNREACHABLE;
    gate.lose_first = 3;
    unsigned number = trial_send(0, 1, 10 * FULL);
    trial_turns(TIMEOUT_TURNS / 4);
    assert_true(cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE) > 3);
    assert_true(cloud.end[0].ep.send[0].waits);
    gate.astray = NO_END;
    hx_endpoint_routes_changed(&cloud.end[0].ep);
    trial_turns(TIMEOUT_TURNS / 4); /* nothing is late yet */
    assert_int_equal(trial_message(number)->sent, 1);
    trial_finish();
}

static void a_packet_without_a_path_is_reported_to_its_sender(void **state)
{
    (void)state;
    validate_unreachable(2);
    validate_unreachable(0); /* its own switch has no path */
}

/* An endpoint that cannot inject keeps a bounded number of reports, in order. */
static void waiting_reports_are_bounded(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch();
    gate.astray = 2;
    cloud.end[2].mute = true;
    trial_send(0, 1, 900 * FULL);
    for (unsigned n = 0; n < LONG && cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE) <= HX_REPORTS; n++)
        trial_turns(1);
    assert_true(cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE) > HX_REPORTS);
    gate.astray = NO_END;
    cloud.end[2].mute = false;
    trial_turns(1);
    assert_int_equal(gate.kinds[HX_UNREACHABLE], HX_REPORTS);
    assert_int_equal(cloud.end[2].ep.reports_count, 0);
    trial_finish();
}

/* A packet of this kind is misrouted; returns the number of reports. */
static unsigned reports_of_one(enum hx_kind kind, uint16_t length)
{
    trial_start(3, 1);
    trial_hold(true);
    trial_send(0, 1, 10);
    trial_turns(3);
    struct cloud_frame f = cloud.frame[0];
    struct hx_header h = trial_read(&f);
    trial_put_back(&f);
    h.kind = (uint8_t)kind;
    h.offset = kind == HX_PROBE;
    h.message_packets = kind != HX_HELLO;
    h.length = cloud.frame[1].length = length;
    trial_rewrite(&cloud.frame[1], &h);
    cloud.frame[1].to = 2;
    trial_watch();
    trial_hold(false);
    trial_turns(4);
    assert_int_equal(cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE), 1);
    unsigned reports = gate.kinds[HX_UNREACHABLE];
    trial_finish();
    lab_free(NULL);
    return reports;
}

/* A report of a report might circle for ever, and a sender without an answer sends another hello. */
static void reports_and_hellos_are_not_reported(void **state)
{
    (void)state;
    assert_int_equal(reports_of_one(HX_DATA, 10), 1);
    assert_int_equal(reports_of_one(HX_ACK, 0), 1);
    assert_int_equal(reports_of_one(HX_PROBE, 0), 1);
    assert_int_equal(reports_of_one(HX_UNREACHABLE, HX_REPORT_BYTES), 0);
    assert_int_equal(reports_of_one(HX_HELLO, HX_HELLO_BYTES), 0);
}

/* Longer than 2^32 units of time for this small least_ns. */
static void a_wait_for_a_path_ends_at_any_length(void **state)
{
    (void)state;
    static const uint64_t second = 1000000000;
    struct hx_endpoint_config config = trial_config(1);
    config.least_ns = 5000;
    config.timeout_ns = 50000;
    config.most_ns = second;
    config.unreachable_ns = 40 * second;
    cloud_init(&cloud, 3, &config, LOOPBACK_MAX_BLOCKS, 1);
    trial_watch();
    gate.astray = 2;
    unsigned lost = trial_send(0, 1, 10);
    trial_turns(20);
    assert_true(cloud.end[0].ep.send[0].waits);
    for (unsigned passed = 0; passed < 39; passed++) {
        cloud.now += second;
        trial_turns(20);
        assert_int_equal(trial_message(lost)->failed, 0);
    }
    cloud.now += 2 * second;
    trial_turns(40);
    assert_int_equal(trial_message(lost)->failed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_plane_without_a_path_causes_no_wait, lab_free),
        cmocka_unit_test_teardown(reported_packets_take_another_plane, lab_free),
        cmocka_unit_test_teardown(new_routes_cause_no_probe_if_nothing_is_late, lab_free),
        cmocka_unit_test_teardown(messages_to_a_silent_peer_fail, lab_free),
        cmocka_unit_test_teardown(a_wait_for_a_path_ends_at_any_length, lab_free),
        cmocka_unit_test_teardown(a_failed_message_leaves_no_trace, lab_free),
        cmocka_unit_test_teardown(a_long_failed_message_leaves_no_trace, lab_free),
        cmocka_unit_test_teardown(a_packet_without_a_path_is_reported_to_its_sender, lab_free),
        cmocka_unit_test_teardown(a_message_without_a_path_fails_in_time, lab_free),
        cmocka_unit_test_teardown(a_probe_finds_a_new_path, lab_free),
        cmocka_unit_test(answers_do_not_prolong_the_wait_for_a_path),
        cmocka_unit_test_teardown(news_starts_the_wait_for_a_path_again, lab_free),
        cmocka_unit_test(a_message_does_not_fail_without_a_probe),
        cmocka_unit_test_teardown(a_plane_without_a_path_is_tried_if_the_others_are_silent, lab_free),
        cmocka_unit_test(an_acknowledgement_without_a_path_takes_another_plane),
        cmocka_unit_test(acknowledgements_without_any_path_do_not_circle),
        cmocka_unit_test(any_set_of_planes_may_exist),
        cmocka_unit_test_teardown(abandoned_messages_fail_at_once, lab_free),
        cmocka_unit_test_teardown(tries_made_before_routes_changed_do_not_count, lab_free),
        cmocka_unit_test_teardown(new_routes_repeat_unreported_packets, lab_free),
        cmocka_unit_test_teardown(waiting_reports_are_bounded, lab_free),
        cmocka_unit_test_teardown(reports_and_hellos_are_not_reported, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
