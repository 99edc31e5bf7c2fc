/* test_endpoint_order.c - messages that begin together leave one after the other, a few at a time, or all at once
 * (at_once of struct hx_endpoint_config). */
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PACKETS = 5, MOST = 1024 };

/* Destinations of data packets in the order in which they left, and numbers of their messages. */
static struct {
    unsigned count;
    unsigned to[MOST], plane[MOST];
    uint32_t message[MOST];
} left;

static bool note(struct cloud *c, struct cloud_frame *f)
{
    const struct hx_header h = trial_read(f);
    (void)c;
    if (h.kind == HX_DATA && h.src_addr_hi == 0 && left.count < MOST) {
        left.message[left.count] = h.message;
        left.plane[left.count] = f->plane;
        left.to[left.count++] = f->to;
    }
    return true;
}

static void start(unsigned planes, unsigned sends, unsigned at_once)
{
    struct hx_endpoint_config config = trial_config(planes);
    config.sends = (uint16_t)sends;
    config.at_once = (uint16_t)at_once;
    cloud_init(&cloud, CLOUD_ENDS, &config, LOOPBACK_MAX_BLOCKS, 1);
    memset(&left, 0, sizeof left);
    cloud.gate = note;
}

/* Packets to `to` that left before the last one to `before`. */
static unsigned packets_ahead(unsigned to, unsigned before)
{
    unsigned ahead = 0;
    unsigned last = 0;
    for (unsigned i = 0; i < left.count; i++)
        last = left.to[i] == before ? i : last;
    for (unsigned i = 0; i < last; i++)
        ahead += left.to[i] == to;
    return ahead;
}

/* Packets of a plane are those of message 0 in `to`, then those of message 1 and so on. */
static void validate_order(unsigned plane, const unsigned to[4])
{
    unsigned at = 0;
    for (unsigned i = 0; i < left.count; i++) {
        if (left.plane[i] != plane)
            continue;
        while (at < 4 && (to[at] != left.to[i] || (at == 3) != left.message[i]))
            at++;
        assert_true(at < 4);
    }
}

static void messages_leave_in_the_order_of_sending(void **state)
{
    (void)state;
    for (unsigned planes = 1; planes <= HX_MAX_PLANES; planes++) {
        static const unsigned to[] = {2, 1, 3, 1};
        start(planes, 8, 1);
        for (unsigned i = 0; i < 4; i++)
            trial_send(0, to[i], PACKETS * FULL);
        trial_finish();
        assert_int_equal(left.count, 4 * PACKETS);
        for (unsigned plane = 0; plane < planes; plane++)
            validate_order(plane, to);
        lab_free(NULL);
    }
}

static void all_messages_take_turns_unless_told(void **state)
{
    (void)state;
    start(1, 8, 0);
    for (unsigned to = 1; to < CLOUD_ENDS; to++)
        trial_send(0, to, PACKETS * FULL);
    trial_finish();
    for (unsigned i = 0; i < left.count; i++)
        assert_int_equal(left.to[i], 1 + i % 3);
}

/* The third message begins when one of the first two has left. */
static void two_messages_take_turns_at_a_time(void **state)
{
    (void)state;
    start(1, 8, 2);
    for (unsigned to = 1; to < CLOUD_ENDS; to++)
        trial_send(0, to, PACKETS * FULL);
    trial_finish();
    for (unsigned i = 0; i < 2 * PACKETS - 1; i++)
        assert_int_equal(left.to[i], 1 + i % 2);
    assert_int_equal(packets_ahead(3, 1), 0);
    assert_in_range(packets_ahead(3, 2), 0, 1);
}

/* One message stays in flight, its receiver is silent, while others come and go: places run out again and again. */
static void order_holds_however_many_messages_pass_an_old_one(void **state)
{
    enum { SENDS = 5, ROUNDS = 40 };
    (void)state;
    for (unsigned at_once = 1; at_once <= 3; at_once++) {
        start(1, SENDS, at_once);
        cloud.end[3].off = true;
        trial_send(0, 3, 10);
        trial_turns(4);
        for (unsigned round = 0; round < ROUNDS; round++) {
            unsigned first = left.count;
            for (unsigned i = 0; i < 4; i++)
                trial_send(0, 1 + (round + i) % 2, FULL);
            trial_turns(8);
            assert_int_equal(left.count, first + 4);
            for (unsigned i = 0; i < 4; i++)
                assert_int_equal(left.to[first + i], 1 + (round + i) % 2);
        }
        cloud.end[3].off = false;
        trial_finish();
        lab_free(NULL);
    }
}

/* The first message has sent all packets that may be in flight, and its receiver is silent. */
static void a_message_that_waits_for_acknowledgements_stops_no_other(void **state)
{
    (void)state;
    start(1, 8, 1);
    cloud.end[3].off = true;
    trial_send(0, 3, (HX_MESSAGE_WINDOW + 20) * FULL);
    unsigned other = trial_send(0, 1, PACKETS * FULL);
    for (unsigned turn = 0; left.count < HX_MESSAGE_WINDOW + PACKETS; turn++) {
        assert_true(turn < LONG);
        trial_turns(1);
    }
    for (unsigned i = 0; i < HX_MESSAGE_WINDOW; i++)
        assert_int_equal(left.to[i], 3);
    trial_turns(20);
    assert_int_equal(trial_message(other)->sent, 1);
    cloud.end[3].off = false;
    trial_finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(messages_leave_in_the_order_of_sending, lab_free),
        cmocka_unit_test_teardown(all_messages_take_turns_unless_told, lab_free),
        cmocka_unit_test_teardown(two_messages_take_turns_at_a_time, lab_free),
        cmocka_unit_test_teardown(order_holds_however_many_messages_pass_an_old_one, lab_free),
        cmocka_unit_test_teardown(a_message_that_waits_for_acknowledgements_stops_no_other, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
