/* test_bridge_forged.c - the emulator's end of a cable with forged and replayed frames (hxmesh/credit.h). */
#include "fabric-emu/live/foreign_frames.h"
#include "tests/support/shm/support_bridge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Recorded frames of the peer, frames without its nonces, and the bridge's own. */
static struct hx_credit_frame forged(const struct bench *b, const struct hx_credit_frame *old, uint32_t n)
{
    const struct hx_credit_link *bridge = &b->b->port[HX_W].cable.link;
    struct hx_credit_frame f = hx_credit_link_frame(&b->peer, 0);
    uint64_t number = n * UINT64_C(0x9E3779B97F4A7C15) | 1;
    switch (n % 8) {
    case 0:
    case 1:
    case 2:
        return *old;
    case 3:
        return hx_credit_link_frame(bridge, 0);
    case 4:
        f.nonce = number;
        f.peer_nonce = 0;
        return f;
    case 5:
        f.nonce = number;
        return f;
    case 6:
        f.peer_nonce = number;
        f.sent[n % HX_MESH_VCS] += (uint32_t)number;
        return f;
    default:
        f.nonce = number;
        f.peer_nonce = number >> 1;
        f.limit[n % HX_MESH_VCS] += (uint32_t)number;
        return f;
    }
}

/* A packet in each direction. */
static void exchange(struct bench *b, uint32_t n)
{
    struct hx_header h;
    static struct bench_frame data;
    unsigned vc = n % HX_MESH_VCS;
    bench_west_sends(b, n, 3000, vc, 1);
    hx_credit_spend(&b->peer.tx[vc], hx_blocks(2000));
    bench_peer_sends(n, 2000, vc);
    (void)bench_step(b);
    assert_true(bench_peer_takes(b, &h, &data));
    assert_true(h.message == n && h.vc == vc);
    assert_true(hx_credit_link_arrive(&b->peer, vc, hx_blocks(3000)));
    hx_credit_leave(&b->peer.rx[vc], hx_blocks(3000));
    assert_int_equal(bench_west_takes(b, vc), n);
    assert_false(bench_peer_takes(b, &h, &data));
}

static void test_forged_and_old_credit_frames_change_nothing(void **state)
{
    struct bench *b = *state;
    const struct fab_cable *cable = bench_cable(b);
    enum { TURNS = 4000, KEPT = 8 };
    struct hx_credit_frame old[KEPT];
    bench_meet(b);
    uint64_t nonce = b->b->port[HX_W].cable.link.nonce;
    uint64_t peer_nonce = b->peer.nonce;
    for (uint32_t n = 0; n < TURNS; n++) {
        if (n < KEPT)
            old[n] = hx_credit_link_frame(&b->peer, 0);
        bench_put_credit(forged(b, &old[n < KEPT ? 0 : n / 8 % KEPT], n));
        exchange(b, n);
        bench_peer_sends_credit(b);
        (void)bench_step(b);
        old[n / 8 % KEPT] = n % 3 ? old[n / 8 % KEPT] : hx_credit_link_frame(&b->peer, 0);
        assert_true(cable->up && b->peer.open);
        assert_true(b->b->port[HX_W].cable.link.nonce == nonce && b->peer.nonce == peer_nonce);
    }
    assert_int_equal(cable->count.sessions, 1);
    assert_int_equal(cable->count.reflected, TURNS / 8);
    assert_int_equal(cable->count.strangers, TURNS / 2);
    assert_true(cable->count.data_in == TURNS && cable->count.data_out == TURNS && cable->count.dropped == 0);
    for (unsigned vc = 0; vc < HX_MESH_VCS; vc++) {
        const struct hx_credit_link *bridge = &b->b->port[HX_W].cable.link;
        assert_int_equal(bridge->rx[vc].received, bridge->rx[vc].freed);
        assert_int_equal(hx_credit_limit(&bridge->rx[vc]), b->peer.tx[vc].sent + BENCH_CREDITS);
        assert_int_equal(hx_credit_room(&b->peer.tx[vc]), BENCH_CREDITS);
    }
    bench_loses_no_buffer(b);
}

/* A packet with the tag of another job is dropped, on any VC, and its buffer is free again. */
static void test_packets_of_another_job_are_dropped_at_the_cable(void **state)
{
    struct bench *b = *state;
    enum { TURNS = 3 * BENCH_CREDITS };
    static uint8_t frame[HX_MAX_FRAME];
    uint16_t job = b->b->node->sw.job;
    bench_meet(b);
    for (uint32_t n = 0; n < TURNS; n++) {
        uint32_t bytes = bench_make_frame(frame, n, n % 2 ? HX_MAX_PAYLOAD : 1, n % HX_MESH_VCS, 3);
        uint16_t tag = (uint16_t)(job + 1 + n % UINT16_MAX);
        frame[HX_AT_JOB] = (uint8_t)(tag >> 8);
        frame[HX_AT_JOB + 1] = (uint8_t)tag;
        bench_put(&bench_line.in, frame, bytes);
        (void)bench_step(b);
        for (unsigned vc = 0; vc < HX_MESH_VCS; vc++)
            assert_int_equal(bench_west_takes(b, vc), UINT32_MAX);
    }
    assert_int_equal(b->f.area[0].drops[HX_DROP_FOREIGN_JOB], TURNS);
    assert_int_equal(b->f.area[0].drops[HX_DROP_OVERRUN], 0);
    assert_int_equal(bench_cable(b)->count.dropped, TURNS);
    bench_peer_sends(7, HX_MAX_PAYLOAD, 0);
    (void)bench_step(b);
    assert_int_equal(bench_west_takes(b, 0), 7);
    bench_loses_no_buffer(b);
}

static void test_old_frames_do_not_break_the_silence(void **state)
{
    struct bench *b = *state;
    bench_meet(b);
    struct hx_credit_frame f = hx_credit_link_frame(&b->peer, 0);
    f.nonce--;
    for (unsigned n = 0; n < 2010; n++) {
        if (n % 10 == 0)
            bench_put_credit(f);
        (void)bench_step(b);
    }
    assert_false(bench_cable(b)->up);
}

/* ---- reports about a cable without a neighbour ---- */

static void expect_came(const struct bench *b, const char *expected)
{
    char text[FOREIGN_FRAMES_TEXT];
    const char *foreign_frames = foreign_frames_text(text, bench_cable(b), &b->wire[HX_W], 0);
    if (!expected)
        assert_null(foreign_frames);
    else
        assert_string_equal(foreign_frames, expected);
}

static void put_spoiled(struct bench *b, unsigned at, uint8_t value, uint32_t bytes)
{
    uint8_t frame[HX_CREDIT_FRAME_BYTES];
    struct hx_credit_frame c = hx_credit_link_frame(&b->peer, at == 16 ? value : 0);
    hx_credit_encode(frame, &c);
    frame[at] = value;
    bench_put(&bench_line.in, frame, bytes);
    (void)bench_step(b);
}

static void test_frames_in_place_of_a_neighbours_are_reported(void **state)
{
    struct bench *b = *state;
    expect_came(b, NULL);
    b->wire[HX_W].server.state = MEMIF_IS_CONNECTED;
    expect_came(b, "a peer is connected and sends nothing");
    (void)bench_step(b);
    bench_put_credit(hx_credit_link_frame(&b->b->port[HX_W].cable.link, 0));
    (void)bench_step(b);
    expect_came(b, "only our own frames came back");
    bench_put_credit((struct hx_credit_frame){.vcs = HX_MESH_VCS, .nonce = 7, .peer_nonce = 8});
    (void)bench_step(b);
    expect_came(b, "1 credit frame came, none in answer to ours");
    b->wire[HX_W].server.why = "ring is too large or in no region";
    expect_came(b, "a peer was refused: ring is too large or in no region");
    put_spoiled(b, 12, 8, 64);
    expect_came(b, "1 frame came, the last one of EtherType 0x08b6, not ours");
    put_spoiled(b, 14, 1, 64);
    expect_came(b, "2 frames came, the last one of version 1 of the wire format, this is version 2");
    put_spoiled(b, 16, 3, 64);
    expect_came(b, "3 frames came, the last one of plane 3, this is plane 0");
    put_spoiled(b, 60, 3, 40);
    expect_came(b, "4 frames came, the last one malformed, of 40 bytes");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_forged_and_old_credit_frames_change_nothing),
        TEST(test_packets_of_another_job_are_dropped_at_the_cable),
        TEST(test_old_frames_do_not_break_the_silence),
        TEST(test_frames_in_place_of_a_neighbours_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
