/* test_endpoint_numbers.c - message numbers: a forged one fails only the message that it names, and jumps of honest
 * peers are accepted. */
#include "endpoint_parts.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { AFTER = 3 * HX_PEER_WINDOW /* messages that a forged packet must not fail */ };

/* Hands end 1 a packet of its peer end 0, without payload, of the job and the epochs of both. */
static void forge(enum hx_kind kind, uint32_t message)
{
    static uint8_t bytes[HX_MAX_FRAME];
    const struct cloud_frame f = {.bytes = bytes, .to = 1};
    const struct hx_header h = {.credit_vc = HX_NO_CREDIT,
                                .kind = (uint8_t)kind,
                                .job = JOB,
                                .dst_addr_hi = 1,
                                .message = message,
                                .offset = kind == HX_PROBE,
                                .message_packets = 1,
                                .peer_epoch = cloud.end[1].ep.epoch_check,
                                .epoch = cloud.end[0].config.epoch};
    trial_put_back(&f);
    trial_rewrite(&cloud.frame[cloud.frames - 1], &h);
}

/* The lab does not know forged messages: it only records the messages that ended. */
static void place_unseen(void *of, const struct hx_header *h, const uint8_t *payload)
{
    (void)of;
    (void)h;
    (void)payload;
}

static void note_end(void *of, const struct hx_event *event)
{
    const struct cloud_end *e = of;
    if (event->type == HX_EVENT_RECEIVED)
        return;
    struct message *m = &e->cloud->messages.list[event->cookie];
    m->sent += event->type == HX_EVENT_SENT;
    m->failed += event->type == HX_EVENT_FAILED;
}

/* Messages one by one, so that each finds the slots as the one before it left them. */
static void send_one_by_one(unsigned messages)
{
    for (unsigned n = 0; n < messages; n++) {
        trial_send(0, 1, 3 * FULL);
        assert_true(cloud_run(&cloud, LONG));
    }
}

static void start_unseen(unsigned messages)
{
    trial_start(2, 1);
    for (unsigned end = 0; end < 2; end++) {
        cloud.end[end].hal.user.place = place_unseen;
        cloud.end[end].hal.user.event = note_end;
    }
    send_one_by_one(messages);
}

static unsigned failed_of_all(void)
{
    return (unsigned)cloud.end[0].ep.stats.messages_failed;
}

/* One packet with a number far ahead, half the number space ahead, or further: before the first message, and after
 * some. */
static void a_forged_number_fails_no_message(void **state)
{
    (void)state;
    static const uint32_t ahead[] = {9, 13, 1000, 1000000, INT32_MAX, UINT32_C(0x80000000), UINT32_C(0xFFFFFF00)};
    for (unsigned n = 0; n < sizeof ahead / sizeof *ahead; n++) {
        for (unsigned before = 0; before < 10; before += 3) {
            for (unsigned kind = HX_DATA; kind <= HX_PROBE; kind += HX_PROBE - HX_DATA) {
                start_unseen(before);
                forge((enum hx_kind)kind, before + ahead[n]);
                trial_turns(2);
                send_one_by_one(AFTER);
                if (failed_of_all() != 0)
                    fail_msg("%u of %u messages failed after a packet %u ahead", failed_of_all(), (unsigned)AFTER,
                             ahead[n]);
                lab_free(NULL);
            }
        }
    }
}

/* Packets with numbers that walk, window by window, far ahead: one or two messages may be taken for forged ones, all
 * later ones are sent. */
static void forged_numbers_that_walk_fail_few_messages(void **state)
{
    (void)state;
    for (unsigned slot = 0; slot <= HX_PEER_WINDOW; slot++) {
        start_unseen(5);
        for (uint32_t number = 5; number < 405; number++) {
            if (slot < HX_PEER_WINDOW && number % HX_PEER_WINDOW != slot)
                continue;
            forge(HX_DATA, number);
            trial_turns(2);
        }
        send_one_by_one(AFTER);
        assert_in_range(failed_of_all(), 0, slot < HX_PEER_WINDOW ? 1 : HX_PEER_WINDOW);
        unsigned failed = failed_of_all();
        send_one_by_one(AFTER);
        assert_int_equal(failed_of_all(), failed);
        lab_free(NULL);
    }
}

/* Failed messages without any arrival look like skipped numbers. */
static void messages_after_failed_ones_are_accepted(void **state)
{
    (void)state;
    for (unsigned given_up = 1; given_up < 40; given_up += 6) {
        trial_start(2, 2);
        trial_send(0, 1, FULL);
        trial_send(1, 0, FULL);
        trial_finish();
        trial_watch();
        gate.dead[0] = gate.dead[1] = true;
        for (unsigned n = 0; n < given_up; n++) {
            trial_send(0, 1, FULL);
            hx_endpoint_abandon(&cloud.end[0].ep, 1, 0);
            assert_true(cloud_run(&cloud, LONG));
        }
        assert_int_equal(failed_of_all(), given_up);
        gate.dead[0] = gate.dead[1] = false;
        for (unsigned n = 0; n < HX_PEER_WINDOW; n++)
            trial_send(0, 1, 3 * FULL);
        assert_true(cloud_run(&cloud, LONG));
        assert_int_equal(failed_of_all(), given_up);
        lab_free(NULL);
    }
}

/* A restarted receiver, or one new to the sender, learns the sender's numbers. */
static void a_restarted_receiver_accepts_far_numbers(void **state)
{
    (void)state;
    static const uint32_t first[] = {0, 57, 1000, INT32_MAX, UINT32_C(0xC0000001), UINT32_MAX - 3};
    for (unsigned n = 0; n < 2 * sizeof first / sizeof *first; n++) {
        trial_start(2, 1);
        cloud.end[0].ep.peer[1].next_message = first[n / 2];
        for (unsigned message = 0; message < AFTER; message++) {
            trial_send(0, 1, 3 * FULL);
            if (message % HX_PEER_WINDOW == HX_PEER_WINDOW - 1)
                trial_finish();
            if (message == AFTER / 2 && n % 2) {
                trial_turns(3);
                cloud_restart(&cloud, 1);
            }
        }
        trial_finish();
        lab_free(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_forged_number_fails_no_message, lab_free),
        cmocka_unit_test_teardown(forged_numbers_that_walk_fail_few_messages, lab_free),
        cmocka_unit_test_teardown(messages_after_failed_ones_are_accepted, lab_free),
        cmocka_unit_test_teardown(a_restarted_receiver_accepts_far_numbers, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
