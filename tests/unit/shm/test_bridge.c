/* test_bridge.c - the cable of an external accelerator, between shared memory and the test's wire: what each side
 * sees of the other (fabric-emu/live/bridge.h). */
#include "hxmesh/error.h"
#include "tests/support/shm/support_bridge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_packets_go_within_the_limit_with_their_hop_fields(void **state)
{
    struct bench *b = *state;
    struct hx_header h;
    static struct bench_frame data;
    bench_meet(b);
    for (uint32_t n = 0; n < 5; n++)
        bench_west_sends(b, n, HX_MAX_PAYLOAD, 2, 7 + n);
    (void)bench_step(b);
    for (uint32_t n = 0; n < 2; n++) { /* the peer has 64 blocks */
        assert_true(bench_peer_takes(b, &h, &data));
        assert_true(h.vc == 2 && h.hops == 7 + n && h.message == n && h.length == HX_MAX_PAYLOAD);
        assert_true(h.credit_vc < HX_VCS && h.credit_limit == BENCH_CREDITS);
        assert_int_equal(data.data[HX_HEADER_BYTES + 5000], n);
        assert_true(hx_credit_link_arrive(&b->peer, h.vc, hx_blocks(h.length)));
    }
    (void)bench_step(b);
    assert_false(bench_peer_takes(b, &h, &data));
    hx_credit_leave(&b->peer.rx[2], 32);
    bench_peer_sends_credit(b);
    (void)bench_step(b);
    assert_true(bench_peer_takes(b, &h, &data));
    assert_int_equal(h.message, 2);
    assert_false(bench_peer_takes(b, &h, &data));
    bench_west_sends(b, 9, 0, 0, 1); /* another VC does not wait for it */
    (void)bench_step(b);
    assert_true(bench_peer_takes(b, &h, &data));
    assert_true(h.message == 9 && h.vc == 0);
    assert_int_equal(bench_cable(b)->count.data_out, 4);
    bench_loses_no_buffer(b);
}

static void test_a_full_wire_holds_packets_back_and_loses_none(void **state)
{
    struct bench *b = *state;
    struct hx_header h;
    static struct bench_frame data;
    bench_meet(b);
    bench_line.room = 0;
    unsigned sent = bench_line.out.last;
    for (uint32_t n = 0; n < 10; n++)
        bench_west_sends(b, n, 100, 1, 1);
    (void)bench_step(b);
    assert_int_equal(bench_line.out.last, sent);
    for (uint32_t n = 0; n < 10;) {
        bench_line.room = 2;
        (void)bench_step(b);
        for (; bench_peer_takes(b, &h, &data); n++)
            assert_int_equal(h.message, n);
    }
    bench_loses_no_buffer(b);
}

static void test_granted_packets_are_kept_if_the_link_is_full(void **state)
{
    struct bench *b = *state;
    uint64_t *drops = b->f.area[0].drops;
    bench_meet(b);
    for (uint32_t n = 0; n < BENCH_CREDITS; n++)
        bench_peer_sends(n, 1, 0);
    for (uint32_t n = 0; n < BENCH_CREDITS / 32 + 1; n++)
        (void)bench_step(b);
    bench_peer_sends(700, HX_MAX_PAYLOAD, 1); /* another VC does not wait for it */
    (void)bench_step(b);
    assert_int_equal(bench_west_takes(b, 1), 700);
    assert_int_equal(drops[HX_DROP_OVERRUN], 0);
    for (uint32_t n = 0; n < BENCH_CREDITS; n++) {
        assert_int_equal(bench_west_takes(b, 0), n);
        (void)bench_step(b);
    }
    assert_int_equal(bench_west_takes(b, 0), UINT32_MAX);
    assert_int_equal(bench_cable(b)->count.data_in, BENCH_CREDITS + 1);
    bench_loses_no_buffer(b);
}

static void test_credit_returns_with_room_in_the_link(void **state)
{
    struct bench *b = *state;
    struct hx_header h;
    static struct bench_frame data;
    bench_meet(b);
    for (uint32_t n = 0; n < 20; n++) {
        bench_peer_sends(n, 1, 0);
        hx_credit_spend(&b->peer.tx[0], 1);
    }
    (void)bench_step(b);
    (void)bench_step(b);
    assert_false(bench_peer_takes(b, &h, &data));
    assert_int_equal(b->peer.tx[0].limit, BENCH_CREDITS + b->f.slots); /* four are in the stage */
    assert_int_equal(bench_west_takes(b, 0), 0);
    (void)bench_step(b);
    (void)bench_step(b);
    assert_false(bench_peer_takes(b, &h, &data));
    assert_int_equal(b->peer.tx[0].limit, BENCH_CREDITS + b->f.slots + 1);
}

static void test_more_than_was_granted_is_dropped(void **state)
{
    struct bench *b = *state;
    enum { BEYOND = 30 };
    bench_meet(b);
    uint64_t nonce = b->b->port[HX_W].cable.link.nonce;
    for (uint32_t n = 0; n < BENCH_CREDITS / HX_PACKET_BLOCKS + b->f.slots + BEYOND; n++)
        bench_peer_sends(n, HX_MAX_PAYLOAD, 0);
    for (unsigned n = 0; n < 4; n++)
        (void)bench_step(b);
    assert_int_equal(b->f.area[0].drops[HX_DROP_OVERRUN], BEYOND);
    assert_int_equal(b->b->port[HX_W].cable.link.suspected, BEYOND);
    assert_true(bench_cable(b)->up && b->b->port[HX_W].cable.link.nonce == nonce);
    assert_int_equal(bench_cable(b)->count.sessions, 1);
}

static void test_garbage_is_counted(void **state)
{
    struct bench *b = *state;
    uint8_t frame[HX_MAX_FRAME] = {0};
    bench_meet(b);
    bench_put(&bench_line.in, frame, 64);
    bench_put(&bench_line.in, frame, 3);
    (void)bench_make_frame(frame, 1, 64, 0, 0);
    frame[29] = frame[1] = frame[7] = 1; /* another plane */
    bench_put(&bench_line.in, frame, 128);
    (void)bench_make_frame(frame, 1, 64, 0, 0);
    bench_put(&bench_line.in, frame, 100); /* cut */
    (void)bench_step(b);
    assert_int_equal(b->f.area[0].drops[HX_DROP_MALFORMED], 4);
    assert_int_equal(bench_cable(b)->count.dropped, 4);
    assert_int_equal(bench_cable(b)->count.data_in, 0);
    assert_true(bench_cable(b)->up);
}

static void test_up_and_down_are_reported(void **state)
{
    struct bench *b = *state;
    assert_false(bench_cable(b)->up);
    assert_false(bridge_is_up(b->b));
    uint32_t changes = b->f.control->changes;
    bench_meet(b);
    assert_int_equal(b->f.control->changes, changes + 1);
    assert_true(bridge_is_up(b->b) && fab_port_is_up(&b->f, 0, 1, HX_W) && !fab_misses_cable(&b->f));
    assert_false(fab_port_is_up(&b->f, 0, 1, HX_E)); /* no cable */
    bench_line.connected = false;
    (void)bench_step(b);
    assert_int_equal(b->f.control->changes, changes + 2);
    assert_true(!bridge_is_up(b->b) && !fab_port_is_up(&b->f, 0, 1, HX_W) && fab_misses_cable(&b->f));
}

static void test_a_silent_peer_is_away_until_its_next_frame(void **state)
{
    struct bench *b = *state;
    bench_meet(b);
    for (unsigned n = 0; n < 1990; n++)
        (void)bench_step(b);
    assert_true(bench_cable(b)->up);
    for (unsigned n = 0; n < 20; n++)
        (void)bench_step(b);
    assert_false(bench_cable(b)->up);
    assert_int_equal(bench_cable(b)->count.sessions, 2);
    bench_line.out.first = bench_line.out.last;
    bench_peer_starts(b);
    bench_meet(b);
}

static void test_a_successor_begins_a_session(void **state)
{
    struct bench *b = *state;
    bench_meet(b);
    uint64_t nonce = b->b->port[HX_W].cable.link.nonce;
    node_free_all(&b->w);
    b->w = (struct worker){.f = &b->f, .workload = &b->workload, .clock = &b->clock, .wire = b->wire};
    node_build_all(&b->w);
    b->b = &b->w.bridge[0];
    b->west = &b->w.node[0];
    assert_false(bench_cable(b)->up);
    bench_line.out.first = bench_line.out.last;
    bench_meet(b);
    assert_true(b->b->port[HX_W].cable.link.nonce != nonce);
    assert_int_equal(bench_cable(b)->count.sessions, 2);
}

static void test_frames_of_its_own_open_nothing(void **state)
{
    struct bench *b = *state;
    for (unsigned n = 0; n < 20; n++) {
        (void)bench_step(b);
        while (bench_line.out.first != bench_line.out.last) {
            const struct bench_frame *f = &bench_line.out.frame[bench_line.out.first++ % BENCH_FRAMES];
            bench_put(&bench_line.in, f->data, f->bytes);
        }
    }
    assert_false(bench_cable(b)->up);
    assert_true(bench_cable(b)->count.reflected >= 10);
}

static void test_quiet_is_two_seconds_without_data(void **state)
{
    struct bench *b = *state;
    uint64_t since = 0;
    bench_meet(b);
    bench_peer_sends(1, 1, 0);
    (void)bench_step(b);
    uint64_t moved = b->now;
    for (unsigned n = 0; n < 1998; n++) {
        if (n % 500 == 0)
            bench_peer_sends_credit(b);
        (void)bench_step(b);
        assert_false(bridge_is_quiet(b->b, &since));
    }
    (void)bench_step(b);
    (void)bench_step(b);
    assert_true(bridge_is_quiet(b->b, &since));
    assert_int_equal(since, moved);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_packets_go_within_the_limit_with_their_hop_fields),
        TEST(test_a_full_wire_holds_packets_back_and_loses_none),
        TEST(test_granted_packets_are_kept_if_the_link_is_full),
        TEST(test_credit_returns_with_room_in_the_link),
        TEST(test_more_than_was_granted_is_dropped),
        TEST(test_garbage_is_counted),
        TEST(test_up_and_down_are_reported),
        TEST(test_a_silent_peer_is_away_until_its_next_frame),
        TEST(test_a_successor_begins_a_session),
        TEST(test_frames_of_its_own_open_nothing),
        TEST(test_quiet_is_two_seconds_without_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
