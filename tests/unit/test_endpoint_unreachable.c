/* test_endpoint_unreachable.c - peers without a way to them: what is given up, what is reported, what new routes change. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_peer_that_never_answers_is_given_up(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = UINT32_MAX;
    gate.lose_to = 1;
    unsigned lost = trial_send(0, 1, 10);
    unsigned fine = trial_send(0, 2, 10);
    trial_turns(TIMEOUT_TURNS - 2);
    assert_int_equal(gate.kinds[HX_DATA], 2);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(gate.kinds[HX_PROBE], RETRIES); /* which are answered: that it is lost is certain after two */
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

/* Half of a message came, the sender gave up; the next message of the slot takes its place. */
static void a_message_given_up_leaves_no_trace(void **state)
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

/* Likewise with all packets but the first, which no memory of them may outlast: the next message of the slot is as
 * long, and its first packet comes last. */
static void a_long_message_given_up_leaves_no_trace(void **state)
{
    (void)state;
    static const unsigned packets[] = {31, 32, 33, 34, 64, 65, 100};
    for (unsigned i = 0; i < sizeof packets / sizeof *packets; i++) {
        trial_start(2, 1);
        trial_watch();
        gate.lose_kind = HX_DATA;
        gate.lose_below = 1;
        gate.lose_first = UINT32_MAX;
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

/* Where a packet finds no way on, the accelerator's endpoint gets it and tells the sender, who sends no more of the
 * message until there is a way: it asks now and then, and hears of new routes. `at`: where that is. */
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
    gate.astray = NO_END;                      /* there is a way again */
    hx_endpoint_routes_changed(&cloud.end[0].ep);
    trial_turns(1);
    assert_true(gate.kinds[HX_DATA] > tried);
    trial_finish();
    lab_free(NULL);
}

/* It is given up when there was no way for as long as the configuration says, neither earlier nor much later. */
static void a_message_without_a_way_is_given_up_in_time(void **state)
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

static bool astray_by_plane_0(struct cloud *c, struct cloud_frame *f)
{
    unsigned kept = gate.astray;
    gate.astray = f->plane == 0 ? kept : NO_END;
    bool goes = trial_count_and_lose(c, f);
    gate.astray = kept;
    return goes;
}

/* One plane was said to have no way, and the other, which is all that is left, is silent: then, and only then, it is
 * tried after all. */
static void a_plane_without_a_way_is_tried_where_the_others_are_silent(void **state)
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
    assert_int_equal(gate.planes[0], by_first); /* the silent one is asked first */
    trial_finish();
    assert_in_range(cloud.now, 0, 40 * TIMEOUT_TURNS * CLOUD_TURN);
}

/* Nobody says that routes have changed: a probe finds it out. */
static void a_probe_finds_a_new_way(void **state)
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

/* Likewise where answers may take half of the time that a message waits for a way, none has ever come, and the first
 * question had no way either: there is a way for a third of that time, and it is found. */
static void a_message_does_not_end_unasked(void **state)
{
    (void)state;
    for (unsigned turns = 20; turns < UNREACHABLE_TURNS * 2 / 3; turns += 20) {
        struct hx_endpoint_config config = trial_config(1);
        config.timeout_ns = config.unreachable_ns / 2;
        cloud_init(&cloud, 3, &config, LOOPBACK_MAX_BLOCKS, 1);
        trial_turns(UNREACHABLE_TURNS); /* it is not the beginning of time */
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

/* What is reported goes out again at once by the other plane, and later messages leave that plane out: no timeout
 * passes, no probe is sent, and each packet is reported once. After most_ns the plane is tried again. */
static void what_is_reported_goes_by_another_plane(void **state)
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

/* Reports of one plane leave the other: nobody waits for a way while there is one. */
static void one_plane_without_a_way_is_not_waited_for(void **state)
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

/* Who waits for nothing that is late has nothing to ask when routes change. */
static void new_routes_are_nothing_to_who_is_not_late(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch();
    trial_turns(2 * TIMEOUT_TURNS);
    trial_send(0, 1, FULL);
    cloud.still = true; /* the answer takes a while, and less than the timeout */
    trial_turns(TIMEOUT_TURNS / 4);
    hx_endpoint_routes_changed(&cloud.end[0].ep);
    trial_turns(TIMEOUT_TURNS / 4);
    cloud.still = false;
    trial_finish();
    assert_int_equal(gate.kinds[HX_PROBE], 0);
    assert_int_equal(gate.kinds[HX_DATA], 1);
}

/* Planes on which acknowledgements find no way, by bits, and whose endpoint gets them. */
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

/* Wherever it gets stuck, at the receiver itself or elsewhere, its sender hears of it and need not be asked. */
static void an_acknowledgement_without_a_way_goes_by_another_plane(void **state)
{
    (void)state;
    for (unsigned to = 1; to <= 2; to++) {
        for (unsigned planes = 1; planes < 1U << HX_MAX_PLANES; planes++) {
            trial_start(3, HX_MAX_PLANES);
            trial_watch();
            stuck.planes = planes & ((1U << HX_MAX_PLANES) - 2U); /* plane 0 leads there */
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

/* No plane leads back: each is tried once for what came, and once for each probe. */
static void acknowledgements_without_any_way_do_not_go_round(void **state)
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

/* An endpoint may have but one of the planes, whichever; the others' reports are not waited for. */
static void the_planes_that_exist_are_a_set(void **state)
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
    trial_watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = UINT32_MAX;
    gate.lose_to = 1;
    unsigned lost[3];
    for (unsigned i = 0; i < 3; i++)
        lost[i] = trial_send(0, 1, 900 * FULL);
    unsigned fine = trial_send(0, 2, 100 * FULL);
    trial_turns(10);
    hx_endpoint_abandon(&cloud.end[0].ep, 1, 0);
    hx_endpoint_abandon(&cloud.end[0].ep, 0, 0); /* it has none */
    trial_turns(1);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(trial_message(lost[i])->failed, 1);
    gate.lose_first = 0;
    unsigned again = trial_send(0, 1, 100 * FULL);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(trial_message(fine)->sent + trial_message(again)->sent, 2);
}

/* What was tried while there was no way does not count when there is one: 10 of the most tries may be lost. */
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
    trial_turns(TIMEOUT_TURNS - 10); /* its being told made it ask at once */
    assert_int_equal(trial_message(number)->sent, 1);
    trial_finish();
}

/* New routes are reason enough to send again what found no way, even if only one packet's report has come. */
static void new_routes_repeat_what_no_report_has_come_of(void **state)
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

static void a_packet_without_a_way_is_reported_to_its_sender(void **state)
{
    (void)state;
    validate_unreachable(2);
    validate_unreachable(0); /* its own switch finds no way */
}

/* An acknowledgement that finds no way is not reported: reports about reports would never end. */
/* An endpoint that cannot inject remembers so many packets whose senders are to be told, in their order, and no
 * more. */
static void reports_that_wait_are_bounded(void **state)
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

/* A packet of this kind goes astray; returns how many reports that makes. */
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

/* A report of a report might go round for ever, and who gets no answer to a hello says another. */
static void reports_and_hellos_are_not_reported(void **state)
{
    (void)state;
    assert_int_equal(reports_of_one(HX_DATA, 10), 1);
    assert_int_equal(reports_of_one(HX_ACK, 0), 1);
    assert_int_equal(reports_of_one(HX_PROBE, 0), 1);
    assert_int_equal(reports_of_one(HX_UNREACHABLE, HX_REPORT_BYTES), 0);
    assert_int_equal(reports_of_one(HX_HELLO, HX_HELLO_BYTES), 0);
}

/* Longer than 2^32 of the units in which so short a time as least_ns is measured. */
static void a_wait_for_a_way_ends_however_long_it_is(void **state)
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
        cmocka_unit_test_teardown(one_plane_without_a_way_is_not_waited_for, lab_free),
        cmocka_unit_test_teardown(what_is_reported_goes_by_another_plane, lab_free),
        cmocka_unit_test_teardown(new_routes_are_nothing_to_who_is_not_late, lab_free),
        cmocka_unit_test_teardown(a_peer_that_never_answers_is_given_up, lab_free),
        cmocka_unit_test_teardown(a_wait_for_a_way_ends_however_long_it_is, lab_free),
        cmocka_unit_test_teardown(a_message_given_up_leaves_no_trace, lab_free),
        cmocka_unit_test_teardown(a_long_message_given_up_leaves_no_trace, lab_free),
        cmocka_unit_test_teardown(a_packet_without_a_way_is_reported_to_its_sender, lab_free),
        cmocka_unit_test_teardown(a_message_without_a_way_is_given_up_in_time, lab_free),
        cmocka_unit_test_teardown(a_probe_finds_a_new_way, lab_free),
        cmocka_unit_test(a_message_does_not_end_unasked),
        cmocka_unit_test_teardown(a_plane_without_a_way_is_tried_where_the_others_are_silent, lab_free),
        cmocka_unit_test(an_acknowledgement_without_a_way_goes_by_another_plane),
        cmocka_unit_test(acknowledgements_without_any_way_do_not_go_round),
        cmocka_unit_test(the_planes_that_exist_are_a_set),
        cmocka_unit_test_teardown(abandoned_messages_fail_at_once, lab_free),
        cmocka_unit_test_teardown(tries_made_before_routes_changed_do_not_count, lab_free),
        cmocka_unit_test_teardown(new_routes_repeat_what_no_report_has_come_of, lab_free),
        cmocka_unit_test_teardown(reports_that_wait_are_bounded, lab_free),
        cmocka_unit_test_teardown(reports_and_hellos_are_not_reported, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
