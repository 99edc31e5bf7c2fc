/* test_cable.c - when an end of a cable tells its credits (hal/cable/cable.h): as often as it is told to, more seldom while nothing
 * moves if it may, and at once again when something does. */
#include "hal/cable/cable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { VCS = 3, BLOCKS = 128, PERIOD = 100, QUIET = 1000 };

static struct cable_end end[2];
static uint64_t now;

static void tell(unsigned from)
{
    uint8_t frame[CABLE_CREDIT_BYTES];
    struct hx_desc d;
    unsigned bytes = cable_credit_write(&end[from], frame);
    cable_credit_sent(&end[from], now);
    assert_int_equal(cable_take(&end[!from], frame, bytes, &d), CABLE_PEER);
}

/* Two ends that have heard each other. */
static void start(uint64_t quiet_period)
{
    memset(end, 0, sizeof end);
    now = 5000;
    for (unsigned i = 0; i < 2; i++) {
        end[i].random = i + 1;
        end[i].period = end[i].ask_period = PERIOD;
        end[i].quiet_period = quiet_period;
        cable_begin(&end[i], VCS, BLOCKS, BLOCKS);
    }
    for (unsigned n = 0; n < 6; n++) {
        uint8_t frame[CABLE_CREDIT_BYTES];
        struct hx_desc d;
        unsigned bytes = cable_credit_write(&end[n % 2], frame);
        cable_credit_sent(&end[n % 2], now);
        (void)cable_take(&end[(n + 1) % 2], frame, bytes, &d);
    }
    assert_true(end[0].link.open && end[1].link.open);
    tell(0);
}

/* How long end 0 waits before its next credit frame, which it sends. It says so before. */
static uint64_t next(void)
{
    uint64_t before = now;
    uint64_t wait = cable_credit_wait(&end[0], now);
    while (!cable_credit_is_due(&end[0], now))
        now++;
    assert_int_equal(now - before, wait);
    tell(0);
    return now - before;
}

static void send_data(unsigned from)
{
    uint8_t frame[HX_HEADER_BYTES] = {0};
    const struct hx_header h = {
        .credit_vc = HX_NO_CREDIT, .kind = HX_DATA, .message_packets = 1, .epoch = 1, .length = 0};
    struct hx_desc d = {.vc = 0};
    hx_frame_encode(frame, &h);
    cable_write_hop(&end[from], frame, &d);
    cable_sent(&end[from], &d);
    assert_int_equal(cable_take(&end[!from], frame, sizeof frame, &d), CABLE_DATA);
}

static void without_leave_the_period_stays(void **state)
{
    (void)state;
    start(0);
    for (unsigned n = 0; n < 50; n++)
        assert_int_equal(next(), PERIOD);
}

/* Told a period later and again a period later, then twice as late each time. */
static void while_nothing_moves_the_period_doubles_up_to_the_longest(void **state)
{
    (void)state;
    static const uint64_t waits[] = {PERIOD, PERIOD, 2 * PERIOD, 4 * PERIOD, 8 * PERIOD, QUIET, QUIET};
    start(QUIET);
    send_data(0);
    for (unsigned n = 0; n < sizeof waits / sizeof *waits; n++)
        assert_int_equal(next(), waits[n]);
    for (unsigned n = 0; n < 300; n++)
        assert_int_equal(next(), QUIET);
}

static void what_moves_is_told_after_a_period_and_again_after_another(void **state)
{
    (void)state;
    for (unsigned what = 0; what < 3; what++) {
        start(QUIET);
        if (what == 2)
            send_data(1);
        for (unsigned n = 0; n < 20; n++)
            (void)next();
        if (what < 2)
            send_data(what);
        else
            hx_credit_leave(&end[0].link.rx[0], hx_blocks(0));
        assert_int_equal(next(), PERIOD);
        assert_int_equal(next(), PERIOD);
        assert_int_equal(next(), 2 * PERIOD);
    }
}

/* A peer that waits for credit does not wait for a period. */
static void a_quarter_of_a_buffer_is_told_at_once(void **state)
{
    (void)state;
    start(QUIET);
    for (unsigned n = 0; n < BLOCKS / 4; n++)
        send_data(1);
    for (unsigned n = 0; n < 20; n++)
        (void)next();
    hx_credit_leave(&end[0].link.rx[0], BLOCKS / 4);
    assert_true(cable_credit_is_due(&end[0], now));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_leave_the_period_stays),
        cmocka_unit_test(while_nothing_moves_the_period_doubles_up_to_the_longest),
        cmocka_unit_test(what_moves_is_told_after_a_period_and_again_after_another),
        cmocka_unit_test(a_quarter_of_a_buffer_is_told_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
