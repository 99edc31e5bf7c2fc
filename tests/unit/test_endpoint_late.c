/* test_endpoint_late.c - late answers: an endpoint must tell a slow network from a loss. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- a slow network ---- */

/* All packets stop for `still` turns, then move for three. */
static void slow_turns(unsigned count, unsigned still)
{
    for (; count > 0; count--) {
        unsigned phase = (unsigned)(cloud.now / CLOUD_TURN % (still + 3));
        cloud.still = phase < still;
        trial_turns(1);
    }
    cloud.still = false;
}

/* The network takes much longer than the timeout and loses nothing, so nothing is retransmitted. After some messages
 * the endpoint sends no probes either. */
static void a_slow_network_causes_no_retransmission(void **state)
{
    (void)state;
    enum { MESSAGES = 60, LAST = 20 };
    for (unsigned still = 60; still <= 240; still += 60) {
        trial_start(2, 2);
        uint64_t asked = 0;
        for (unsigned m = 0; m < MESSAGES; m++) {
            if (m == MESSAGES - LAST)
                asked = cloud.end[0].ep.stats.probes_sent;
            unsigned number = trial_send(0, 1, (1 + m % 9) * FULL);
            while (!trial_message(number)->sent)
                slow_turns(1, still);
        }
        trial_finish();
        assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
        assert_true(asked > 0);
        assert_in_range(cloud.end[0].ep.stats.probes_sent - asked, 0, LAST / 4);
        lab_free(NULL);
    }
}

static void send_slowly(unsigned to)
{
    unsigned number = trial_send(0, to, FULL);
    while (!trial_message(number)->sent)
        slow_turns(1, 2 * TIMEOUT_TURNS);
}

/* A new peer starts with the round trip of the known ones; a slow peer stays slow while others are quick. */
static void round_trips_are_known_per_peer_and_for_all(void **state)
{
    (void)state;
    enum { LESSONS = 40 };
    trial_start(3, 1);
    const uint64_t *asked = &cloud.end[0].ep.stats.probes_sent;
    for (unsigned n = 0; n < LESSONS; n++)
        send_slowly(1);
    uint64_t before = *asked;
    assert_true(before > 0);
    send_slowly(2);
    assert_int_equal(*asked, before);
    for (unsigned n = 0; n < LESSONS; n++) {
        trial_send(0, 2, FULL);
        trial_finish();
    }
    send_slowly(1);
    assert_int_equal(*asked, before);
}

/* If answers are slow, a second one that lacks the packet is slow too. Routes that change more often than that, as
 * with a flapping link, must not restart the wait each time. */
static void a_loss_is_found_while_routes_keep_changing(void **state)
{
    (void)state;
    enum { LESSONS = 40, CHANGES = 4 };
    trial_start(2, 1);
    for (unsigned n = 0; n < LESSONS; n++)
        send_slowly(1);
    trial_watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = 1;
    unsigned number = trial_send(0, 1, FULL);
    while (gate.kinds[HX_PROBE] == 0)
        trial_turns(1);
    for (unsigned change = 0; change < CHANGES && !trial_message(number)->sent; change++) {
        trial_turns(TIMEOUT_TURNS / 2);
        hx_endpoint_routes_changed(&cloud.end[0].ep);
    }
    assert_int_equal(trial_message(number)->sent, 1);
    assert_int_equal(gate.kinds[HX_DATA], 2);
    trial_finish();
}

/* All packets of many endpoints stop for ten timeouts and then go on: no burst of retransmissions follows. */
static void a_standstill_causes_no_retransmission(void **state)
{
    (void)state;
    trial_start(4, 1);
    for (unsigned from = 0; from < 4; from++) {
        for (unsigned to = 0; to < 4; to++)
            trial_send(from, to, 30 * FULL);
    }
    trial_turns(20);
    cloud.still = true;
    trial_turns(10 * TIMEOUT_TURNS);
    cloud.still = false;
    trial_finish();
    for (unsigned end = 0; end < 4; end++)
        assert_int_equal(cloud.end[end].ep.stats.packets_repeated, 0);
}

/* An endpoint that did not run for long, as in a process that shares its core, takes its arrivals first. */
static void an_endpoint_that_did_not_run_retransmits_nothing(void **state)
{
    (void)state;
    trial_start(2, 1);
    for (unsigned n = 0; n < 20; n++) {
        trial_send(0, 1, 20 * FULL);
        trial_turns(3);
        cloud.end[n % 2].off = true;
        trial_turns(3 * TIMEOUT_TURNS);
        cloud.end[n % 2].off = false;
        trial_finish();
    }
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
}

/* Packets in flight, for a number of turns by kind. */
static struct {
    struct cloud_frame frame[12];
    uint8_t bytes[12][HX_MAX_FRAME];
    uint64_t due[12];
    unsigned count, turns[6];
} detour;

static bool take_detour(struct cloud *c, struct cloud_frame *f)
{
    unsigned n = detour.count++;
    assert_true(n < 12);
    detour.frame[n] = *f;
    detour.frame[n].bytes = memcpy(detour.bytes[n], f->bytes, (size_t)HX_HEADER_BYTES + f->length);
    detour.due[n] = c->now + detour.turns[trial_read(f).kind] * (uint64_t)CLOUD_TURN;
    return false;
}

/* Everything is slow, and probes overtake data, so their answers report no arrivals. The first one is slow itself,
 * so it proves nothing; nor does one alone. */
static void a_slow_answer_proves_no_loss(void **state)
{
    (void)state;
    trial_start(2, 1);
    detour.count = 0;
    detour.turns[HX_DATA] = 10 * TIMEOUT_TURNS;
    detour.turns[HX_PROBE] = detour.turns[HX_ACK] = TIMEOUT_TURNS * 4 / 5;
    cloud.gate = take_detour;
    unsigned number = trial_send(0, 1, 2 * FULL);
    while (!trial_message(number)->sent) {
        trial_turns(1);
        for (unsigned n = 0; n < detour.count; n++) {
            if (detour.due[n] == cloud.now)
                trial_put_back(&detour.frame[n]);
        }
    }
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
}

/* ---- losses ---- */

static struct {
    uint64_t random;
    unsigned percent, lost;
} thief;

static bool steal_data(struct cloud *c, struct cloud_frame *f)
{
    (void)c;
    if (trial_read(f).kind != HX_DATA)
        return true;
    bool lost = seeded_below(&thief.random, 100) < thief.percent;
    thief.lost += lost;
    return !lost;
}

/* Only the lost packets are sent again, once per loss; packets sent twice are not measured. */
static void a_loss_costs_only_the_lost_packets(void **state)
{
    (void)state;
    for (unsigned percent = 1; percent <= 50; percent += 7) {
        struct hx_endpoint_config config = trial_config(1);
        config.retries = UINT8_MAX;
        cloud_init(&cloud, 2, &config, LOOPBACK_MAX_BLOCKS, 1);
        cloud.gate = steal_data;
        thief.percent = percent;
        thief.lost = 0;
        for (unsigned m = 0; m < 12; m++) {
            trial_send(0, 1, (1 + 37 * m) * FULL);
            trial_finish();
        }
        const struct hx_endpoint *ep = &cloud.end[0].ep;
        assert_true(thief.lost > 0);
        assert_int_equal(ep->stats.packets_repeated, thief.lost);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_DUPLICATE), 0);
        assert_true((uint64_t)ep->round_trip.smoothed << ep->unit_shift < TIMEOUT_TURNS * CLOUD_TURN / 2);
        lab_free(NULL);
    }
}

/* Retransmissions take the plane that answered the probe: with three of four planes dead, all losses arrive at the
 * second try. */
static void retransmissions_take_the_plane_of_the_answer(void **state)
{
    (void)state;
    enum { MESSAGES = 8, MOST_PACKETS = 6 };
    for (unsigned number = 0; number < HX_MAX_PLANES * MOST_PACKETS; number++) {
        unsigned alive = number % HX_MAX_PLANES;
        unsigned packets = 1 + number / HX_MAX_PLANES;
        trial_start(2, HX_MAX_PLANES);
        trial_watch();
        for (unsigned plane = 0; plane < HX_MAX_PLANES; plane++)
            gate.dead[plane] = plane != alive;
        for (unsigned m = 0; m < MESSAGES; m++) {
            trial_send(0, 1, packets * FULL);
            trial_finish();
        }
        assert_in_range(cloud.end[0].ep.stats.packets_repeated, 1, MESSAGES * packets);
        lab_free(NULL);
    }
}

/* ---- back-off ---- */

static struct {
    uint64_t at[16];
    unsigned count;
} probes;

static bool note_probes(struct cloud *c, struct cloud_frame *f)
{
    if (trial_read(f).kind == HX_PROBE && probes.count < 16)
        probes.at[probes.count++] = c->now;
    return false;
}

/* A probe after one timeout, then after two more, then four, up to the longest; and no data. */
static void probes_back_off(void **state)
{
    (void)state;
    enum { SWEEP = 8 /* sends: one is checked a turn */ };
    struct hx_endpoint_config config = trial_config(1);
    config.retries = 8;
    config.most_ns = 6 * config.timeout_ns;
    cloud_init(&cloud, 2, &config, LOOPBACK_MAX_BLOCKS, 1);
    probes.count = 0;
    cloud.gate = note_probes;
    unsigned number = trial_send(0, 1, 40 * FULL);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(trial_message(number)->failed, 1);
    assert_int_equal(probes.count, 8);
    static const unsigned factor[] = {2, 4, 6, 6, 6, 6, 6};
    for (unsigned n = 0; n < 7; n++) {
        uint64_t turns = (probes.at[n + 1] - probes.at[n]) / CLOUD_TURN;
        assert_in_range(turns, factor[n] * TIMEOUT_TURNS, factor[n] * TIMEOUT_TURNS + 2 * SWEEP);
    }
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
}

/* Small packets pass and large ones do not: probes are answered, and still the message fails. */
static void answers_without_news_are_counted(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch_losing_data(NO_END, 5);
    unsigned number = trial_send(0, 1, 6 * FULL); /* the last packet arrives */
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(trial_message(number)->failed, 1);
    assert_int_equal(trial_message(number)->placed, 1);
    assert_in_range(gate.kinds[HX_PROBE], RETRIES, RETRIES + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_slow_network_causes_no_retransmission, lab_free),
        cmocka_unit_test_teardown(round_trips_are_known_per_peer_and_for_all, lab_free),
        cmocka_unit_test_teardown(a_loss_is_found_while_routes_keep_changing, lab_free),
        cmocka_unit_test_teardown(a_standstill_causes_no_retransmission, lab_free),
        cmocka_unit_test_teardown(an_endpoint_that_did_not_run_retransmits_nothing, lab_free),
        cmocka_unit_test_teardown(a_slow_answer_proves_no_loss, lab_free),
        cmocka_unit_test_teardown(a_loss_costs_only_the_lost_packets, lab_free),
        cmocka_unit_test_teardown(retransmissions_take_the_plane_of_the_answer, lab_free),
        cmocka_unit_test_teardown(probes_back_off, lab_free),
        cmocka_unit_test_teardown(answers_without_news_are_counted, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
