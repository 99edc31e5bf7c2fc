/* test_cable.c - when an end of a cable sends credit frames (hal/cable/cable.h): once a period, less often on a
 * quiet link if the period may grow, and soon after traffic starts again. */
#include "base/split_mix.h"
#include "hal/cable/cable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { VCS = 3, BLOCKS = 128, PERIOD = 100, QUIET = 1000 };

static struct cable_end end[2];
static uint64_t now;

static void send_frame(unsigned from)
{
    uint8_t frame[CABLE_CREDIT_BYTES];
    struct hx_desc d;
    unsigned bytes = cable_credit_write(&end[from], frame);
    cable_credit_sent(&end[from], now);
    assert_int_equal(cable_take(&end[!from], frame, bytes, &d), CABLE_PEER);
}

/* Two ends with an open session. */
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
    send_frame(0);
}

/* Time until the next credit frame of end 0, which is announced correctly; sends it. */
static uint64_t next(void)
{
    uint64_t before = now;
    uint64_t wait = cable_credit_wait(&end[0], now);
    while (!cable_credit_is_due(&end[0], now))
        now++;
    assert_int_equal(now - before, wait);
    send_frame(0);
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

static void by_default_the_period_stays(void **state)
{
    (void)state;
    start(0);
    for (unsigned n = 0; n < 50; n++)
        assert_int_equal(next(), PERIOD);
}

/* The first two frames are a period apart; then each interval doubles. */
static void on_a_quiet_link_the_period_doubles_up_to_the_longest(void **state)
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

static void traffic_is_credited_after_one_period_and_after_another(void **state)
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
static void a_quarter_of_a_buffer_is_credited_at_once(void **state)
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

/* Inverse of the mixing of SplitMix64, to compute the numbers behind a known one. */
static uint64_t undo_shift(uint64_t mixed, unsigned bits)
{
    uint64_t x = mixed;
    for (unsigned known = bits; known < 64; known += bits)
        x = mixed ^ x >> bits;
    return x;
}

static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (unsigned n = 0; n < 6; n++)
        x *= 2 - odd * x;
    return x;
}

static uint64_t drawn_behind(uint64_t number)
{
    uint64_t state = undo_shift(number, 31) * inverse(UINT64_C(0x94D049BB133111EB));
    state = undo_shift(state, 27) * inverse(UINT64_C(0xBF58476D1CE4E5B9));
    return split_mix(undo_shift(state, 30));
}

/* Nonces reveal nothing: one that has seen all nonces and faults of an end cannot compute the next ones. Ends with
 * keys that differ in one bit have nothing in common. */
static void a_seen_nonce_reveals_no_other(void **state)
{
    (void)state;
    uint64_t row = 77;
    uint64_t first = split_mix_next(&row);
    assert_true(drawn_behind(first) == split_mix_next(&row)); /* the inverse is right */
    start(0);
    uint64_t seen = end[0].link.nonce;
    for (unsigned n = 0; n < 100; n++) {
        uint64_t behind = drawn_behind(seen);
        cable_begin(&end[0], VCS, BLOCKS, BLOCKS);
        assert_true(end[0].link.nonce != seen && end[0].link.nonce != behind);
        seen = end[0].link.nonce;
    }
    struct cable_end one = {.random = 8};
    struct cable_end other = {.random = 9};
    unsigned alike = 0;
    for (unsigned n = 0; n < 64; n++)
        alike += (unsigned)__builtin_popcountll(cable_draw(&one) ^ cable_draw(&other));
    assert_in_range(alike, 64 * 32 - 400, 64 * 32 + 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_default_the_period_stays),
        cmocka_unit_test(on_a_quiet_link_the_period_doubles_up_to_the_longest),
        cmocka_unit_test(traffic_is_credited_after_one_period_and_after_another),
        cmocka_unit_test(a_quarter_of_a_buffer_is_credited_at_once),
        cmocka_unit_test(a_seen_nonce_reveals_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
