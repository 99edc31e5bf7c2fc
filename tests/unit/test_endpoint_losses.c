/* test_endpoint_losses.c - lost, repeated, late and corrupted packets, and packets that are not for this endpoint. */
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- losses and repetitions ---- */

static void lost_data_is_sent_again(void **state)
{
    (void)state;
    for (unsigned lost = 1; lost <= 200; lost += 33) {
        trial_start(2, 1);
        trial_watch();
        gate.lose_kind = HX_DATA;
        gate.lose_first = lost;
        trial_send(0, 1, 200 * FULL);
        trial_finish();
        assert_int_equal(gate.kinds[HX_DATA], 200 + cloud.end[0].ep.stats.packets_repeated);
        assert_true(cloud.end[0].ep.stats.packets_repeated >= lost);
        lab_free(NULL);
    }
}

static unsigned asked_about(const struct hx_endpoint *ep)
{
    unsigned count = 0;
    for (unsigned i = 0; i < ep->config.sends; i++)
        count += ep->send[i].active && ep->send[i].probes > 0;
    return count;
}

/* Each message has its own deadline, for any start and any send; a step checks one of them. */
static void every_deadline_is_kept(void **state)
{
    (void)state;
    static const unsigned begins[] = {0, 3, 4, 19, 20, 31, 44, 49};
    enum { MESSAGES = sizeof begins / sizeof *begins, SLACK = MESSAGES + 2 };
    trial_start(MESSAGES + 1, 1);
    trial_watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = 1000;
    unsigned begun = 0;
    for (unsigned turn = 0; turn < begins[MESSAGES - 1] + TIMEOUT_TURNS + SLACK + 2; turn++) {
        for (; begun < MESSAGES && begins[begun] == turn; begun++)
            trial_send(0, begun + 1, 1);
        trial_turns(1);
        unsigned may = 0;
        unsigned must = 0;
        for (unsigned m = 0; m < begun; m++) {
            may += turn - begins[m] >= TIMEOUT_TURNS;
            must += turn - begins[m] > TIMEOUT_TURNS + SLACK;
        }
        assert_in_range(asked_about(&cloud.end[0].ep), must, may);
    }
    assert_int_equal(asked_about(&cloud.end[0].ep), MESSAGES);
    gate.lose_first = 0;
    trial_finish();
}

/* In-order progress resets the count of unanswered probes. Every window of the message is acknowledged only after
 * RETRIES - 1 losses. */
static void progress_in_order_resets_the_count_of_tries(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch();
    gate.lose_kind = HX_ACK;
    unsigned number = trial_send(0, 1, (uint64_t)4 * HX_MESSAGE_WINDOW * FULL);
    const struct hx_send *s = &cloud.end[0].ep.send[0];
    for (unsigned window = 0; window < 3; window++) {
        gate.lose_first = UINT32_MAX;
        for (unsigned turn = 0; s->tries < RETRIES - 1; turn++) {
            assert_true(s->active && turn < LONG);
            trial_turns(1);
        }
        gate.lose_first = 0;
        for (unsigned turn = 0; s->tries > 0; turn++) {
            assert_true(s->active && turn < 40 * TIMEOUT_TURNS);
            trial_turns(1);
        }
        assert_int_equal(s->acked % 32, 0);
        assert_in_range(s->acked, (window + 1) * HX_MESSAGE_WINDOW, 4 * HX_MESSAGE_WINDOW - 1);
    }
    trial_finish();
    assert_int_equal(trial_message(number)->failed, 0);
}

/* An acknowledgement names arrivals beyond a gap; only the gap is sent again. */
static void only_missing_packets_are_sent_again(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = 3;
    trial_send(0, 1, 3 * FULL + 64 * FULL); /* the last 64 are acknowledged, the first three are not */
    trial_finish();
    for (unsigned p = 0; p < 67; p++)
        assert_int_equal(gate.offsets[p], p < 3 ? 2 : 1);
}

static void lost_acknowledgements_do_no_harm(void **state)
{
    (void)state;
    for (unsigned lost = 1; lost < RETRIES; lost++) {
        trial_start(2, 1);
        trial_watch();
        gate.lose_kind = HX_ACK;
        gate.lose_first = lost;
        trial_send(0, 1, 3 * FULL);
        trial_finish();
        assert_int_equal(cloud.end[1].ep.stats.messages_received, 1);
        assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
        assert_int_equal(cloud.end[0].ep.stats.probes_sent, lost);
        lab_free(NULL);
    }
}

static void duplicate_packets_are_placed_once(void **state)
{
    (void)state;
    trial_start(2, 1);
    cloud.faults.repeat = 50;
    for (unsigned i = 0; i < 20; i++) {
        trial_send(0, 1, 9 * FULL + i);
        trial_send(1, 0, i);
        trial_finish();
    }
    assert_true(cloud_drops(&cloud, 1, HX_DROP_DUPLICATE) + cloud_drops(&cloud, 1, HX_DROP_STALE) > 50);
}

/* The acknowledgement of a message arrives again when another message has its slot, with later numbers in flight. */
static void stale_acknowledgements_change_nothing(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch();
    trial_send(0, 1, 2 * FULL);
    trial_finish();
    struct cloud_frame old = gate.copy;
    assert_non_null(old.bytes);
    for (unsigned i = 0; i < 6; i++) {
        trial_hold(true);
        unsigned third = trial_send(0, 1, 2 * FULL);
        trial_turns(3);
        trial_put_back(&old);
        trial_hold(false);
        cloud.frames = 0; /* the data is lost, the old acknowledgement arrives */
        trial_put_back(&old);
        trial_turns(3);
        assert_int_equal(trial_message(third)->sent, 0);
        trial_finish();
    }
}

/* Older acknowledgements of the same message arrive late: acknowledged packets stay so. */
static void reordered_acknowledgements_are_taken_together(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch();
    cloud.faults.keep = 80;
    trial_send(0, 1, 500 * FULL);
    trial_turns(TIMEOUT_TURNS - 2);
    cloud.faults.keep = 0;
    trial_finish();
    assert_true(gate.kinds[HX_ACK] >= 7);
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
}

static void long_messages_are_acknowledged_every_64_packets(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch();
    trial_send(0, 1, 640 * FULL);
    trial_finish();
    assert_in_range(gate.kinds[HX_ACK], 10, 11);
}

/* The first acknowledgement of a long message is due after 64 packets from end 0, after 32 from end 32; a step takes
 * up to 32. So first acknowledgements of simultaneous messages are spread. */
static void first_acknowledgements_are_spread(void **state)
{
    (void)state;
    for (unsigned from = 0; from <= 32; from += 32) {
        trial_start(34, 1);
        trial_watch();
        trial_send(from, 33, 640 * FULL);
        trial_finish();
        struct hx_header first = trial_read(&gate.copy);
        assert_in_range(first.offset, 64 - from, 64 - from + 31);
        lab_free(NULL);
    }
}

static void a_corrupted_packet_is_dropped_and_repaired(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_hold(true);
    unsigned number = trial_send(0, 1, 3 * FULL);
    trial_turns(3);
    for (unsigned i = 0; i < 3; i++)
        cloud.frame[i].bytes[HX_HEADER_BYTES + 1000 * i] ^= 0x10;
    trial_hold(false);
    trial_turns(5);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_CHECKSUM), 3);
    assert_int_equal(trial_message(number)->placed, 0);
    trial_finish();
}

static void without_the_check_no_checksum_is_needed(void **state)
{
    (void)state;
    struct hx_endpoint_config config = trial_config(1);
    config.check = false;
    cloud_init(&cloud, 2, &config, LOOPBACK_MAX_BLOCKS, 1);
    trial_hold(true);
    trial_send(0, 1, FULL);
    trial_turns(3);
    assert_int_equal(trial_read(&cloud.frame[0]).crc, 0);
    trial_hold(false);
    trial_finish();
}

/* ---- packets for other endpoints ---- */

static void packets_that_do_not_belong_are_dropped_by_reason(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_hold(true);
    unsigned number = trial_send(0, 1, 3 * FULL);
    trial_turns(3);
    struct hx_header good = trial_read(&cloud.frame[0]);
    struct hx_header h = good;
    h.job++;
    trial_rewrite(&cloud.frame[0], &h); /* of another job */
    h = trial_read(&cloud.frame[1]);
    h.epoch = 0;
    trial_rewrite(&cloud.frame[1], &h);
    h = trial_read(&cloud.frame[2]);
    h.src_addr_hi = 3; /* from outside the fabric */
    trial_rewrite(&cloud.frame[2], &h);
    trial_hold(false);
    trial_turns(5);
    assert_int_equal(trial_message(number)->placed, 0);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_FOREIGN_JOB), 1);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_MALFORMED), 2);
    trial_finish();
}

static void headers_that_fit_no_message_are_unexpected(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_hold(true);
    trial_send(0, 1, 3 * FULL);
    trial_turns(3);
    struct cloud_frame f = cloud.frame[2];
    struct hx_header h = trial_read(&f);
    trial_put_back(&f);
    h.message_packets = 5; /* the first said 3 */
    h.length = FULL;
    trial_rewrite(&cloud.frame[3], &h);
    trial_put_back(&f);
    h.message_packets = 3;
    h.kind = HX_ACK;
    h.offset = 2; /* beyond what the message has sent */
    h.length = 100;
    trial_rewrite(&cloud.frame[4], &h);
    trial_hold(false);
    trial_finish();
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_UNEXPECTED), 1);

    /* An acknowledgement of more than was sent, while the message is in flight. */
    trial_hold(true);
    trial_send(0, 1, 600 * FULL);
    trial_turns(120);
    struct hx_header ack = {
        .kind = HX_ACK, .job = JOB, .message = 1, .offset = 550, .message_packets = 600, .epoch = 1};
    ack.src_addr_hi = 1;
    ack.peer_epoch = 1;
    cloud.frames = 1;
    cloud.frame[0].length = 0;
    cloud.frame[0].to = 0;
    trial_rewrite(&cloud.frame[0], &ack);
    trial_hold(false);
    trial_turns(3);
    assert_int_equal(cloud_drops(&cloud, 0, HX_DROP_UNEXPECTED), 1);
    trial_finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_deadline_is_kept, lab_free),
        cmocka_unit_test_teardown(lost_data_is_sent_again, lab_free),
        cmocka_unit_test_teardown(progress_in_order_resets_the_count_of_tries, lab_free),
        cmocka_unit_test_teardown(only_missing_packets_are_sent_again, lab_free),
        cmocka_unit_test_teardown(lost_acknowledgements_do_no_harm, lab_free),
        cmocka_unit_test_teardown(duplicate_packets_are_placed_once, lab_free),
        cmocka_unit_test_teardown(stale_acknowledgements_change_nothing, lab_free),
        cmocka_unit_test_teardown(reordered_acknowledgements_are_taken_together, lab_free),
        cmocka_unit_test_teardown(long_messages_are_acknowledged_every_64_packets, lab_free),
        cmocka_unit_test(first_acknowledgements_are_spread),
        cmocka_unit_test_teardown(a_corrupted_packet_is_dropped_and_repaired, lab_free),
        cmocka_unit_test_teardown(without_the_check_no_checksum_is_needed, lab_free),
        cmocka_unit_test_teardown(packets_that_do_not_belong_are_dropped_by_reason, lab_free),
        cmocka_unit_test_teardown(headers_that_fit_no_message_are_unexpected, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
