/* platform: shm
 * test_bridge_forged.c - the emulator's end of a cable by which frames come that nobody sent, or not now
 * (hxmesh/doubt.h). */
#include "support_bridge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Kept frames of the peer's, made-up ones, and the bridge's own: what would end sessions by the rules of credit.h. */
static struct hx_credit_frame forged(const struct bench *b, const struct hx_credit_frame *old, uint32_t n)
{
    const struct hx_credit_link *bridge = &b->b->port[HX_W].link;
    struct hx_credit_frame f = hx_credit_link_frame(&b->peer, 0);
    uint32_t number = n * 2654435761U;
    switch (n % 8) {
    case 0:
        return *old;
    case 1:
        return hx_credit_link_frame(bridge, 0);
    case 2:
        f.session += 1 + (number >> 8); /* later, but not always by so much that it is earlier */
        return f;
    case 3:
        f.session -= 1;
        return f;
    case 4:
        f.peer_session += 1 + (number >> 8);
        return f;
    case 5:
        f.limit[n % HX_VCS] += 2 * HX_MOST_CREDITS + (number >> 4);
        return f;
    case 6:
        f.sent[n % HX_VCS] = bridge->rx[n % HX_VCS].received + BENCH_CREDITS;
        return f;
    default:
        f.sent[n % HX_VCS] += BENCH_CREDITS + 1 + (number >> 4);
        return f;
    }
}

/* A packet each way. */
static void exchange(struct bench *b, uint32_t n)
{
    struct hx_header h;
    static struct bench_frame data;
    unsigned vc = n % HX_VCS;
    bench_west_sends(b, n, 3000, vc, 1);
    hx_credit_spend(&b->peer.tx[vc], hx_blocks(2000));
    bench_peer_sends(n, 2000, vc);
    (void)bench_step(b);
    assert_true(bench_peer_takes(b, &h, &data));
    assert_true(h.message == n && h.vc == vc);
    assert_true(hx_doubt_arrive(&b->doubt, &b->peer, vc, hx_blocks(3000)));
    hx_credit_leave(&b->peer.rx[vc], hx_blocks(3000));
    assert_int_equal(bench_west_takes(b, vc), n);
    assert_false(bench_peer_takes(b, &h, &data));
}

static void test_forged_and_old_credit_frames_stop_nothing(void **state)
{
    struct bench *b = *state;
    const struct fab_cable *cable = bench_cable(b);
    enum { TURNS = 4000, KEPT = 8 };
    struct hx_credit_frame old[KEPT];
    bench_meet(b);
    uint32_t session = cable->session;
    for (uint32_t n = 0; n < TURNS; n++) {
        if (n < KEPT)
            old[n] = hx_credit_link_frame(&b->peer, 0);
        bench_put_credit(forged(b, &old[n < KEPT ? 0 : n / 8 % KEPT], n));
        exchange(b, n);
        bench_peer_tells(b);
        (void)bench_step(b);
        old[n / 8 % KEPT] = n % 3 ? old[n / 8 % KEPT] : hx_credit_link_frame(&b->peer, 0);
        assert_true(cable->up && b->peer.open);
        assert_true(cable->session == session && b->peer.session == 5);
    }
    assert_int_equal(cable->count.sessions, 1);
    assert_int_equal(cable->count.reflected, TURNS / 8);
    assert_int_equal(cable->count.doubted, TURNS / 2);
    assert_true(cable->count.data_in == TURNS && cable->count.data_out == TURNS && cable->count.dropped == 0);
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        const struct hx_credit_link *bridge = &b->b->port[HX_W].link;
        assert_int_equal(bridge->rx[vc].received, bridge->rx[vc].freed);
        assert_int_equal(hx_credit_limit(&bridge->rx[vc]), b->peer.tx[vc].sent + BENCH_CREDITS);
        assert_int_equal(hx_credit_room(&b->peer.tx[vc]), BENCH_CREDITS);
    }
    bench_loses_no_buffer(b);
}

static void test_a_session_that_was_a_lie_three_times_over_is_left_again(void **state)
{
    struct bench *b = *state;
    const struct hx_credit_link *bridge = &b->b->port[HX_W].link;
    bench_meet(b);
    struct hx_credit_frame lie = hx_credit_link_frame(&b->peer, 0);
    lie.session = 1000;
    for (unsigned n = 1; n < HX_DOUBT_FRAMES; n++)
        bench_put_credit(lie);
    (void)bench_step(b);
    assert_int_equal(bridge->peer_session, 5);
    bench_put_credit(lie);
    (void)bench_step(b);
    assert_int_equal(bridge->peer_session, 1000);
    for (unsigned n = 0; n < HX_DOUBT_STUCK; n++)
        bench_peer_tells(b);
    (void)bench_step(b);
    (void)bench_step(b);
    assert_true(bench_cable(b)->up && bridge->peer_session == 5);
    exchange(b, 1);
}

static void test_old_frames_do_not_break_the_silence(void **state)
{
    struct bench *b = *state;
    bench_meet(b);
    struct hx_credit_frame f = hx_credit_link_frame(&b->peer, 0);
    f.session = 4;
    f.peer_session--;
    for (unsigned n = 0; n < 2010; n++) {
        if (n % 10 == 0)
            bench_put_credit(f);
        (void)bench_step(b);
    }
    assert_false(bench_cable(b)->up);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_forged_and_old_credit_frames_stop_nothing),
        TEST(test_a_session_that_was_a_lie_three_times_over_is_left_again),
        TEST(test_old_frames_do_not_break_the_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
