/* test_endpoint_answers.c - how an endpoint takes single acknowledgements and reports: round trips, arrived packets,
 * and planes that do not lead to a peer. The test sends them itself; packets of the endpoint are lost. */
#include "endpoint_parts.h"
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { LEAST = 100, USUAL = 250, MOST = 800 /* turns */, ENDS = 3 };

static struct hx_endpoint *ep;
static struct hx_peer *peer; /* end 1 */
static struct hx_send *s;    /* newest message to it */

static bool swallow(struct cloud *c, struct cloud_frame *f)
{
    (void)c;
    (void)f;
    return false;
}

/* An endpoint with this many sends, some time after its start. */
static void start(unsigned planes, unsigned sends)
{
    struct hx_endpoint_config config = trial_config(planes);
    config.sends = (uint16_t)sends;
    config.least_ns = LEAST * CLOUD_TURN;
    config.timeout_ns = USUAL * CLOUD_TURN;
    config.most_ns = MOST * CLOUD_TURN;
    cloud_init(&cloud, ENDS, &config, LOOPBACK_MAX_BLOCKS, 1);
    cloud.gate = swallow;
    trial_turns(2 * MOST);
    ep = &cloud.end[0].ep;
    peer = hx_endpoint_peer(ep, 1);
}

static void begin(uint64_t packets)
{
    trial_send(0, 1, packets * FULL);
    s = &ep->send[peer->send[(peer->next_message - 1) % HX_PEER_WINDOW] - 1];
}

static uint64_t now(void)
{
    return hal_now(ep->hal);
}

/* `tag`: number of the answered probe, 0: none. `there`: arrived packets from `offset` on, a bit each. */
static void answer(uint32_t offset, uint32_t tag, uint32_t there)
{
    const struct hx_header h = {.kind = HX_ACK,
                                .message = s->message,
                                .offset = offset,
                                .message_packets = s->packets,
                                .tag = tag,
                                .length = there ? 4 : 0};
    const uint8_t payload[4] = {(uint8_t)there, (uint8_t)(there >> 8), (uint8_t)(there >> 16), (uint8_t)(there >> 24)};
    hx_endpoint_take_ack(ep, &h, peer, payload);
}

static void report(unsigned plane, uint32_t offset)
{
    const struct hx_header h = {.kind = HX_DATA, .plane = (uint8_t)plane, .message = s->message, .offset = offset};
    hx_endpoint_take_unreachable(ep, HX_DATA, &h, peer);
}

/* ---- round trips ---- */

static void assert_round(const struct hx_round_trip *expected)
{
    assert_memory_equal(&peer->round_trip, expected, sizeof *expected);
    assert_memory_equal(&ep->round_trip, expected, sizeof *expected);
}

/* One packet at a time is timed: one that triggers an acknowledgement, or the last. Only its own acknowledgement
 * ends the measurement. */
static void one_packet_at_a_time_is_timed(void **state)
{
    (void)state;
    enum { PACKETS = 4000, NONE = PACKETS };
    static uint64_t went[PACKETS];
    start(1, 1);
    struct hx_round_trip expected = {0, 0};
    uint32_t timed = NONE;
    begin(PACKETS);
    for (uint32_t known = 0, sent = 0; sent < PACKETS;) {
        for (unsigned turn = 0; turn < LEAST - 2; turn++) { /* a window leaves, and nothing is late */
            trial_turns(1);
            for (; sent < s->next; sent++) {
                went[sent] = now();
                if (sent == PACKETS - 1 || (timed == NONE && sent % HX_ACK_EVERY == HX_ACK_EVERY - 1))
                    timed = sent;
            }
        }
        assert_in_range(timed, known, PACKETS - 1);
        if (timed > known)
            answer(timed, 0, 0);
        assert_round(&expected);
        hx_round_trip_sample(&expected, (uint32_t)((now() >> ep->unit_shift) - (went[timed] >> ep->unit_shift)));
        known = timed + 1;
        timed = NONE;
        if (known == PACKETS)
            break; /* no peer receives it */
        answer(known, 0, 0);
        assert_round(&expected);
    }
    assert_true(expected.smoothed > 0);
}

/* A retransmitted packet is not timed: its acknowledgement may belong to either copy. */
static void retransmitted_packets_are_not_timed(void **state)
{
    (void)state;
    const struct hx_round_trip none = {0, 0};
    start(2, 1);
    begin(1000);
    trial_turns(LEAST - 10);
    report(0, 4);
    trial_turns(5);
    assert_int_equal(ep->stats.packets_repeated, 1);
    answer(HX_ACK_EVERY, 0, 0);
    assert_round(&none);
}

/* ---- timeouts ---- */

/* Turns until the endpoint sends a probe. */
static unsigned turns_to_probe(void)
{
    uint64_t before = ep->stats.probes_sent;
    unsigned turns = 0;
    for (; ep->stats.probes_sent == before; turns++) {
        assert_true(turns < LONG);
        trial_turns(1);
    }
    return turns;
}

/* The timeout is twice the slower of the two estimates, within the bounds of the configuration. */
static void the_timeout_follows_measured_round_trips(void **state)
{
    (void)state;
    static const struct {
        unsigned its, all; /* turns that answers took, 0: unknown; a timeout is twice that */
        unsigned late;
    } known[] = {{0, 0, USUAL},    {150, 150, 300},    {150, 0, 300},   {0, 150, 300}, {150, 100, 300},
                 {100, 150, 300},  {1, 1, LEAST},      {45, 45, LEAST}, {55, 55, 110}, {395, 395, 790},
                 {405, 405, MOST}, {1000, 1000, MOST}, {1, 200, 400},   {200, 1, 400}};
    for (unsigned n = 0; n < sizeof known / sizeof *known; n++) {
        start(1, 1);
        peer->round_trip.smoothed = (uint16_t)(known[n].its * (uint64_t)CLOUD_TURN >> ep->unit_shift);
        ep->round_trip.smoothed = (uint16_t)(known[n].all * (uint64_t)CLOUD_TURN >> ep->unit_shift);
        begin(1);
        trial_turns(1);
        unsigned turns = turns_to_probe();
        assert_in_range(turns, known[n].late - 1, known[n].late + 1);
        lab_free(NULL);
    }
}

/* An answer in time to the newest probe makes the endpoint suspect a loss. With one probe in flight, in time means
 * within the timeout; after an unanswered probe, within the shortest timeout. */
static void an_answer_in_time_makes_the_endpoint_suspect_a_loss(void **state)
{
    (void)state;
    for (unsigned probes = 1; probes <= 3; probes++) {
        unsigned good = probes == 1 ? USUAL : LEAST;
        for (unsigned turns = good - 1; turns <= good + 1; turns++) {
            for (unsigned newest = 0; newest < 2; newest++) {
                start(1, 1);
                begin(2);
                for (unsigned n = 0; n < probes; n++)
                    (void)turns_to_probe();
                assert_true(s->quiet == now() && s->unanswered == probes);
                trial_turns(turns);
                answer(0, newest ? s->probes : s->probes - 1U, 0);
                assert_int_equal(s->loss_suspected, newest && turns <= good);
                lab_free(NULL);
            }
        }
    }
}

/* A quick answer to a probe does not shorten the round trip of data: probes are small and overtake data. A slow one
 * lengthens it. */
static void a_quick_probe_answer_does_not_shorten_the_round_trip(void **state)
{
    (void)state;
    enum { KNOWN = 8 /* turns: 125 units of 64 ns */ };
    for (unsigned turns = KNOWN - 1; turns <= KNOWN + 1; turns++) {
        start(1, 1);
        const struct hx_round_trip known = {KNOWN * CLOUD_TURN >> ep->unit_shift, 40};
        struct hx_round_trip expected = known;
        if (turns > KNOWN)
            hx_round_trip_sample(&expected, turns * CLOUD_TURN >> ep->unit_shift);
        peer->round_trip = ep->round_trip = known;
        begin(2);
        (void)turns_to_probe();
        trial_turns(turns);
        answer(0, s->probes, 0);
        assert_round(&expected);
        lab_free(NULL);
    }
}

/* ---- acknowledged packets ---- */

/* A first acknowledgement beyond a gap resets the count of probes. */
static void new_acknowledgements_reset_the_count_of_probes(void **state)
{
    (void)state;
    start(1, 1);
    begin(20);
    (void)turns_to_probe();
    (void)turns_to_probe();
    assert_true(s->tries == 2 && s->unanswered == 2 && s->probing);
    answer(0, 0, 0);
    assert_int_equal(s->tries, 2);
    answer(0, 0, 1U << 7);
    assert_true(s->tries == 0 && s->unanswered == 0 && !s->probing);
    (void)turns_to_probe();
    answer(0, 0, 1U << 7); /* already known */
    assert_true(s->tries == 1 && s->unanswered == 1 && s->probing);
    answer(1, 0, 0);
    assert_true(s->tries == 0 && s->unanswered == 0 && !s->probing);
}

/* An impossible answer changes nothing. */
static void impossible_answers_are_dropped(void **state)
{
    (void)state;
    start(1, 1);
    begin(2000);
    trial_turns(10);
    uint32_t next = s->next;
    assert_in_range(next, 20, 1000);
    uint8_t payload[2 * sizeof(struct hx_map)];
    memset(payload, 0xFF, sizeof payload);
    struct hx_header h = {.kind = HX_ACK, .message = s->message, .message_packets = s->packets};
    uint64_t drops = cloud_drops(&cloud, 0, HX_DROP_UNEXPECTED);
    h.offset = 3;
    h.length = sizeof(struct hx_map) + 1;
    hx_endpoint_take_ack(ep, &h, peer, payload);
    h.length = 0;
    h.offset = next + 1;
    hx_endpoint_take_ack(ep, &h, peer, payload);
    assert_int_equal(s->acked, 0);
    assert_int_equal(cloud_drops(&cloud, 0, HX_DROP_UNEXPECTED), drops + 2);
    h.message++; /* not in flight */
    h.offset = 3;
    hx_endpoint_take_ack(ep, &h, peer, payload);
    assert_int_equal(s->acked, 0);
    h.message--;
    h.length = sizeof(struct hx_map);
    hx_endpoint_take_ack(ep, &h, peer, payload);
    assert_int_equal(s->acked, 3);
    h.length = 0;
    h.offset = next;
    hx_endpoint_take_ack(ep, &h, peer, payload);
    assert_int_equal(s->acked, next);
    assert_int_equal(cloud_drops(&cloud, 0, HX_DROP_UNEXPECTED), drops + 2);
}

/* A message restarted while its packets were in flight, so the peer may have more packets than the restarted message
 * has sent. If it waits for a path it sends nothing to correct this, so the answer must be accepted. */
static void packets_sent_before_a_message_restarted_may_be_acknowledged(void **state)
{
    (void)state;
    enum { PACKETS = 10, THERE = 4 };
    start(1, 1);
    begin(PACKETS);
    trial_turns(5);
    assert_int_equal(s->next, PACKETS);
    hx_endpoint_restart_sends(ep, peer);
    assert_int_equal(s->next, 0);
    report(0, PACKETS - 1);
    assert_true(s->waits);
    uint64_t drops = cloud_drops(&cloud, 0, HX_DROP_UNEXPECTED);
    answer(PACKETS + 1, 0, 0); /* more than the message has */
    assert_int_equal(cloud_drops(&cloud, 0, HX_DROP_UNEXPECTED), drops + 1);
    assert_true(s->waits);
    answer(THERE, 0, 0);
    assert_int_equal(cloud_drops(&cloud, 0, HX_DROP_UNEXPECTED), drops + 1);
    assert_false(s->waits);
    assert_int_equal(s->acked, THERE);
    trial_turns(5);
    assert_int_equal(s->next, PACKETS);
    assert_int_equal(ep->stats.packets_sent, PACKETS);
    assert_int_equal(ep->stats.packets_repeated, PACKETS - THERE);
}

/* ---- retransmissions ---- */

/* Only packets that were sent and not acknowledged are sent again, each once per report, by another plane. */
static void acknowledged_packets_are_not_retransmitted(void **state)
{
    (void)state;
    start(2, 1);
    begin(2000);
    trial_turns(LEAST - 10);
    assert_int_equal(s->next, HX_MESSAGE_WINDOW);
    const uint64_t *repeated = &ep->stats.packets_repeated;
    cloud.end[0].mute = true;
    answer(3, 0, 1U << 31 | 1U << 2); /* 0, 1, 2, 5 and 34 have arrived */
    static const uint32_t needless[] = {0, 2, 5, 34, HX_MESSAGE_WINDOW, 1999, 2000, UINT32_MAX};
    for (unsigned n = 0; n < sizeof needless / sizeof *needless; n++)
        report(0, needless[n]);
    assert_false(s->reported);
    report(0, 3);
    report(0, 4);
    report(0, 4);
    report(0, HX_MESSAGE_WINDOW - 1);
    answer(4, 0, 1U << 1);
    cloud.end[0].mute = false;
    trial_turns(10);
    assert_int_equal(*repeated, 2);
    assert_int_equal(s->next, HX_MESSAGE_WINDOW + 4);
    report(0, 4);
    trial_turns(10);
    assert_int_equal(*repeated, 3);
}

/* ---- planes ---- */

static unsigned left_out(unsigned rank)
{
    return hx_endpoint_unreachable_planes(ep, hx_endpoint_peer(ep, rank));
}

/* For the longest timeout after the report, for that peer only, and never all planes. */
static void a_failed_plane_is_avoided_for_a_while(void **state)
{
    (void)state;
    start(2, 4);
    begin(100);
    assert_int_equal(left_out(1), 0);
    report(1, 0);
    assert_int_equal(left_out(1), 2);
    assert_int_equal(left_out(0) + left_out(2), 0);
    hx_endpoint_abandon(ep, 1, 0); /* or, without answers, all planes would be tried again */
    trial_turns(MOST - 2);
    assert_int_equal(left_out(1), 2);
    trial_turns(4);
    assert_int_equal(left_out(1), 0);
    begin(100);
    report(1, 0);
    assert_int_equal(left_out(1), 2);
    report(0, 0);
    assert_int_equal(left_out(1), 0);
}

static void new_routes_make_all_planes_eligible(void **state)
{
    (void)state;
    for (unsigned to = 0; to < ENDS; to++) {
        start(2, 4);
        peer = hx_endpoint_peer(ep, to);
        trial_send(0, to, 100 * FULL);
        s = &ep->send[peer->send[0] - 1];
        report(0, 0);
        assert_int_equal(left_out(to), 1);
        assert_int_equal(s->unreachable_planes, 1);
        hx_endpoint_routes_changed(ep);
        assert_int_equal(left_out(to), 0);
        assert_int_equal(s->unreachable_planes, 0);
        assert_false(ep->plane_failures); /* the list of peers is not searched again */
        ep->plane_failures = true;        /* as after a report of another peer */
        assert_int_equal(left_out(0) + left_out(1) + left_out(2), 0);
        lab_free(NULL);
    }
    /* For all reported peers, not only the first, also without messages in flight. */
    start(2, 4);
    for (unsigned to = 1; to < ENDS; to++) {
        trial_send(0, to, 100 * FULL);
        peer = hx_endpoint_peer(ep, to);
        s = &ep->send[peer->send[0] - 1];
        report(0, 0);
        hx_endpoint_abandon(ep, to, 0);
    }
    assert_int_equal(left_out(1) + left_out(2), 2);
    hx_endpoint_routes_changed(ep);
    ep->plane_failures = true;
    assert_int_equal(left_out(1) + left_out(2), 0);
}

/* An answer to an endpoint that waits for a path shows one: all planes are tried, and earlier probes do not count. */
static void an_answer_shows_a_path(void **state)
{
    (void)state;
    start(2, 1);
    begin(100);
    trial_turns(5);
    report(0, 0);
    report(1, 1);
    assert_true(s->waits);
    (void)turns_to_probe();
    (void)turns_to_probe();
    assert_int_equal(s->unanswered, 2);
    answer(0, 0, 0);
    assert_false(s->waits);
    assert_true(s->unreachable_planes == 0 && s->unanswered == 0);
}

/* A message on planes without credit does not delay one that may use another plane. */
static void messages_without_credit_delay_no_others(void **state)
{
    (void)state;
    start(2, 8);
    struct hx_credit_sender *tx = &cloud.end[0].hal.node.port[1].cable.link.tx[0];
    begin(3);
    trial_turns(1);
    report(0, 0); /* plane 1 is left */
    begin(3);
    s->unreachable_planes = 1;
    trial_send(0, 2, 3 * FULL);
    const struct hx_send *other = &ep->send[hx_endpoint_peer(ep, 2)->send[0] - 1];
    for (unsigned turn = 0; turn < 4; turn++) {
        tx->limit = tx->sent;
        (void)hx_endpoint_step(ep); /* without a poll, which might bring credit */
        assert_int_equal(s->next, 0);
        cloud.end[0].off = true;
        trial_turns(1); /* the network takes what has left */
        cloud.end[0].off = false;
    }
    assert_int_equal(other->next, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_packet_at_a_time_is_timed, lab_free),
        cmocka_unit_test_teardown(retransmitted_packets_are_not_timed, lab_free),
        cmocka_unit_test_teardown(the_timeout_follows_measured_round_trips, lab_free),
        cmocka_unit_test_teardown(an_answer_in_time_makes_the_endpoint_suspect_a_loss, lab_free),
        cmocka_unit_test_teardown(a_quick_probe_answer_does_not_shorten_the_round_trip, lab_free),
        cmocka_unit_test_teardown(new_acknowledgements_reset_the_count_of_probes, lab_free),
        cmocka_unit_test_teardown(impossible_answers_are_dropped, lab_free),
        cmocka_unit_test_teardown(packets_sent_before_a_message_restarted_may_be_acknowledged, lab_free),
        cmocka_unit_test_teardown(acknowledged_packets_are_not_retransmitted, lab_free),
        cmocka_unit_test_teardown(a_failed_plane_is_avoided_for_a_while, lab_free),
        cmocka_unit_test_teardown(new_routes_make_all_planes_eligible, lab_free),
        cmocka_unit_test_teardown(an_answer_shows_a_path, lab_free),
        cmocka_unit_test_teardown(messages_without_credit_delay_no_others, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
