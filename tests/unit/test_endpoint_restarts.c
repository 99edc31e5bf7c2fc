/* test_endpoint_restarts.c - restarts of endpoints, and packets of their earlier incarnations. */
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* End 0 sends to end 1, and one of them restarts after this many turns. */
static void restart_after(unsigned turns, unsigned end)
{
    trial_start(2, 1);
    trial_send(0, 1, 100 * FULL + 3);
    trial_send(0, 1, 40 * FULL);
    trial_turns(turns);
    cloud_restart(&cloud, end);
}

static void a_receiver_restarts_in_the_middle(void **state)
{
    (void)state;
    for (unsigned when = 1; when < 60; when += 4) {
        restart_after(when, 1);
        trial_finish();
        trial_send(0, 1, 7);
        trial_send(1, 0, 9);
        trial_finish();
        lab_free(NULL);
    }
}

/* Every data packet is counted as new or repeated. Each packet of a message is new once, also to a peer that
 * restarts. */
static void retransmitted_packets_are_counted_as_repeated(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_send(0, 1, 1); /* so the peer is known */
    trial_finish();
    trial_watch();
    const struct hx_endpoint_stats *stats = &cloud.end[0].ep.stats;
    trial_send(0, 1, 100 * FULL);
    trial_send(0, 1, 40 * FULL);
    trial_turns(20);
    unsigned before = gate.kinds[HX_DATA];
    assert_in_range(before, 1, 139);
    assert_int_equal(stats->packets_sent, 1 + before);
    cloud_restart(&cloud, 1);
    trial_finish();
    assert_int_equal(stats->packets_sent, 1 + 140);
    assert_int_equal(stats->packets_sent + stats->packets_repeated, 1 + gate.kinds[HX_DATA]);
    assert_in_range(stats->packets_repeated, before, 140);
}

/* Some packets wait to be sent again after a report: then their receiver restarts, and gets all packets from the
 * first on, each once. */
static void retransmissions_restart_with_the_peer(void **state)
{
    (void)state;
    enum { PACKETS = 100 };
    trial_start(3, 2);
    trial_send(0, 1, 1); /* so the peer is known */
    trial_finish();
    trial_watch();
    gate.astray = 2;
    trial_send(0, 1, PACKETS * FULL);
    trial_turns(2);
    cloud.end[0].mute = true;
    trial_turns(20); /* packets in flight are reported */
    gate.astray = NO_END;
    assert_true(cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE) > 1);
    cloud_restart(&cloud, 1);
    trial_send(1, 0, 1); /* notifies of the restart */
    trial_turns(20);
    trial_watch();
    cloud.end[0].mute = false;
    trial_finish();
    for (unsigned packet = 1; packet < PACKETS; packet++) /* 0 is that of the notifying message, too */
        assert_int_equal(gate.offsets[packet], 1);
}

static void a_sender_restarts_in_the_middle(void **state)
{
    (void)state;
    for (unsigned when = 1; when < 60; when += 4) {
        restart_after(when, 0);
        trial_send(0, 1, 90 * FULL);
        trial_send(0, 1, 30 * FULL);
        trial_finish();
        trial_send(1, 0, 9);
        trial_finish();
        lab_free(NULL);
    }
}

static void both_restart_in_the_middle(void **state)
{
    (void)state;
    for (unsigned when = 1; when < 40; when += 3) {
        trial_start(2, 2);
        trial_send(0, 1, 100 * FULL + 3);
        trial_send(1, 0, 80 * FULL);
        trial_turns(when);
        cloud_restart(&cloud, 0);
        cloud_restart(&cloud, 1);
        trial_send(0, 1, 90 * FULL);
        trial_send(1, 0, 30 * FULL);
        trial_finish();
        lab_free(NULL);
    }
}

static void epochs_wrap(void **state)
{
    (void)state;
    trial_start(2, 1);
    for (unsigned life = 0; life < 600; life++) {
        trial_send(0, 1, FULL + life);
        trial_finish();
        trial_send(1, 0, life);
        trial_turns(life % 4);
        cloud_restart(&cloud, life % 2);
        if (cloud.messages.count + 2 > CLOUD_MESSAGES)
            cloud.messages.count = 0;
        trial_finish();
    }
}

/* Packets of an earlier incarnation arrive. */
static void packets_of_an_earlier_incarnation_are_stale(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_hold(true);
    unsigned old = trial_send(0, 1, 3 * FULL);
    trial_turns(3);
    assert_int_equal(cloud.frames, 3);
    cloud_restart(&cloud, 0);
    unsigned new = trial_send(0, 1, 2 * FULL);
    trial_turns(4);
    assert_int_equal(cloud.frames, 5);
    for (unsigned i = 0; i < 2; i++) { /* the new ones first */
        struct cloud_frame f = cloud.frame[i];
        cloud.frame[i] = cloud.frame[3 + i];
        cloud.frame[3 + i] = f;
    }
    trial_hold(false);
    trial_finish();
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_STALE), 3);
    assert_int_equal(trial_message(old)->placed, 0);
    assert_int_equal(trial_message(new)->received, 1);
}

/* B has all of A's message and cannot inject; A restarts. Its new message of that number has not arrived, so the
 * waiting acknowledgement must not be sent for it. */
static void an_acknowledgement_for_an_earlier_incarnation_is_not_sent(void **state)
{
    (void)state;
    trial_start(2, 1);
    cloud.end[1].mute = true;
    unsigned old = trial_send(0, 1, 10);
    trial_turns(4);
    assert_int_equal(trial_message(old)->received, 1);
    cloud_restart(&cloud, 0);
    trial_watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = 1; /* the new message 0; its successor notifies B of the restart */
    unsigned first = trial_send(0, 1, 20);
    unsigned second = trial_send(0, 1, 30);
    trial_turns(6); /* the link opens with the next credit frame of the end that stayed */
    cloud.end[1].mute = false;
    while (!trial_message(second)->received) {
        trial_turns(1);
        assert_true(trial_message(first)->sent <= trial_message(first)->received);
    }
    trial_finish();
    assert_int_equal(trial_message(first)->received, 1);
}

/* B restarts; its first arrival is for its earlier incarnation. The message completes all the same. */
static void a_tag_survives_a_restart_of_the_receiver(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_send(1, 0, 1); /* so A knows B's epoch */
    trial_finish();
    for (unsigned i = 0; i < 3; i++)
        (void)trial_send(0, 1, 6 * FULL + i), trial_finish();
    trial_hold(true);
    unsigned number = trial_send(0, 1, 9 * FULL); /* the lab identifies messages by their tag */
    trial_turns(4);
    cloud_restart(&cloud, 1);
    trial_hold(false);
    trial_finish();
    assert_int_equal(trial_message(number)->received, 1);
    assert_true(cloud_drops(&cloud, 1, HX_DROP_STALE) > 0);
}

/* Both restart, and each first receives from the other's earlier incarnation. B owes that one an acknowledgement
 * when the new one needs the same slot. */
static void a_slot_is_in_the_list_once_over_all_incarnations(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_hold(true);
    trial_send(1, 0, 10);
    trial_send(0, 1, 20);
    trial_turns(3);
    assert_int_equal(cloud.frames, 2);
    cloud_restart(&cloud, 0);
    cloud_restart(&cloud, 1);
    cloud.end[1].mute = true;
    trial_turns(5); /* earlier arrivals are dropped, until the links have sessions */
    trial_hold(false);
    trial_turns(4);
    assert_int_equal(cloud.end[1].ep.acks_count,
                     2); /* and it needs a hello for the acknowledgement to its earlier incarnation */
    trial_send(0, 1, 30);
    trial_turns(4);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_STALE), 2); /* that, and the message of A's new incarnation */
    assert_int_equal(cloud.end[1].ep.acks_count, 2);
    cloud.end[1].mute = false;
    trial_finish();
}

/* What data to end 1 says about the incarnation of end 1. */
static struct {
    const struct message *first, *second; /* from end 1: in its first and in its second incarnation */
    unsigned told[3][3];                  /* packets by message and stated incarnation: unknown, first, second */
} lives;

enum { FIRST_LIFE = 0x10002 /* its check is 3 */ };

/* End 0 takes arrivals before it injects, so a packet that leaves in the same turn is up to date. */
static bool validate_epochs(struct cloud *c, struct cloud_frame *f)
{
    struct hx_header h = trial_read(f);
    if (h.kind != HX_DATA || h.src_addr_hi != 0)
        return trial_count_and_lose(c, f);
    unsigned life = h.peer_epoch == 0 ? 0 : h.peer_epoch == 3 ? 1 : 2;
    assert_true(life < 2 || h.peer_epoch == hx_epoch_check(c->end[1].config.epoch));
    assert_true(life >= (lives.second && lives.second->received ? 2U : lives.first && lives.first->received ? 1U : 0U));
    assert_in_range(h.message, 0, 2);
    lives.told[h.message][life]++;
    return trial_count_and_lose(c, f);
}

/* No data reaches end 1, so three messages to it are in flight through two of its incarnations. Its own messages
 * carry its incarnation. */
static void messages_in_flight_learn_the_new_incarnation(void **state)
{
    (void)state;
    memset(&lives, 0, sizeof lives);
    struct hx_endpoint_config config = trial_config(1);
    config.epoch = FIRST_LIFE;
    cloud_init(&cloud, 2, &config, LOOPBACK_MAX_BLOCKS, 1);
    trial_watch_losing_data(1, UINT32_MAX);
    cloud.gate = validate_epochs;
    trial_send(0, 1, 5 * FULL);
    trial_send(0, 1, 5 * FULL);
    trial_send(0, 1, 400 * FULL);
    trial_turns(5);
    lives.first = trial_message(trial_send(1, 0, 10));
    trial_turns(3 * TIMEOUT_TURNS);
    cloud_restart(&cloud, 1);
    trial_turns(5);
    lives.second = trial_message(trial_send(1, 0, 20));
    trial_turns(TIMEOUT_TURNS);
    for (unsigned message = 0; message < 3; message++)
        for (unsigned life = 0; life < 3; life++)
            assert_true(lives.told[message][life] > 0);
    gate.lose_first = 0;
    trial_finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_receiver_restarts_in_the_middle, lab_free),
        cmocka_unit_test_teardown(retransmitted_packets_are_counted_as_repeated, lab_free),
        cmocka_unit_test_teardown(retransmissions_restart_with_the_peer, lab_free),
        cmocka_unit_test_teardown(a_sender_restarts_in_the_middle, lab_free),
        cmocka_unit_test_teardown(both_restart_in_the_middle, lab_free),
        cmocka_unit_test_teardown(epochs_wrap, lab_free),
        cmocka_unit_test_teardown(packets_of_an_earlier_incarnation_are_stale, lab_free),
        cmocka_unit_test_teardown(an_acknowledgement_for_an_earlier_incarnation_is_not_sent, lab_free),
        cmocka_unit_test_teardown(a_tag_survives_a_restart_of_the_receiver, lab_free),
        cmocka_unit_test_teardown(a_slot_is_in_the_list_once_over_all_incarnations, lab_free),
        cmocka_unit_test_teardown(messages_in_flight_learn_the_new_incarnation, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
