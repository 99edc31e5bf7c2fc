/* test_loopback.c - the example platform: promises of its wires, ports and buffers (hal/loopback/loopback.h). */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 64, SENDS = 4, LATENCY = 100 };

/* Two ends of one cable. wire[i] leads from end[i]. */
static struct {
    struct hal_endpoint end[2];
    struct loopback_wire wire[2];
    uint64_t now;
} c;

static void poll(unsigned times)
{
    for (; times > 0; times--) {
        c.now += LATENCY;
        loopback_poll(&c.end[0].node, c.now);
        loopback_poll(&c.end[1].node, c.now);
    }
}

static void start(void)
{
    memset(&c, 0, sizeof c);
    for (unsigned i = 0; i < 2; i++) {
        size_t bytes = loopback_node_bytes(1, HX_VCS, BLOCKS, SENDS);
        loopback_node_init(&c.end[i].node, 1, HX_VCS, BLOCKS, SENDS, lab_memory(bytes));
        loopback_wire_init(&c.wire[i], BLOCKS, LATENCY, lab_memory(loopback_wire_bytes(BLOCKS)));
    }
    loopback_plug(&c.end[0].node, 0, 3, &c.wire[0], &c.wire[1], 1);
    loopback_plug(&c.end[1].node, 0, 3, &c.wire[1], &c.wire[0], 2);
    poll(5);
}

static struct hx_credit_link *link_of(unsigned end)
{
    return &c.end[end].node.port[0].cable.link;
}

static uint64_t drops(unsigned end, enum hx_drop reason)
{
    return c.end[end].node.drops[reason];
}

/* A packet of one VC with its number as tag. */
static struct hx_header header(unsigned vc, uint32_t number, unsigned length)
{
    return (struct hx_header){.vc = (uint8_t)vc,
                              .credit_vc = HX_NO_CREDIT,
                              .kind = HX_DATA,
                              .plane = 3,
                              .message_packets = 1,
                              .length = (uint16_t)length,
                              .epoch = 1,
                              .tag = number};
}

static bool send(unsigned end, unsigned vc, uint32_t number, unsigned length)
{
    struct hal_endpoint *e = &c.end[end];
    uint32_t buffer;
    if (hx_credit_room(&link_of(end)->tx[vc]) < hx_blocks(length) || !hal_buffer_get(e, &buffer, true))
        return false;
    struct hx_header h = header(vc, number, length);
    hx_frame_encode(hal_frame(e, buffer), &h);
    const struct hx_desc d = {.buffer = buffer, .length = h.length, .vc = h.vc, .hops = 5};
    hal_inject(e, 0, &d);
    hal_endpoint_commit(e);
    return true;
}

/* Puts bytes on the wire that no platform sent. */
static void put(unsigned from, const uint8_t *frame, uint32_t bytes)
{
    loopback_wire_put(&c.wire[from], c.now, frame, bytes);
    loopback_wire_commit(&c.wire[from]);
}

/* Takes the next packet; returns its number, or -1. */
static int take(unsigned end)
{
    struct hx_desc d;
    if (!hal_ejected(&c.end[end], 0, &d, 1))
        return -1;
    struct hx_header h;
    assert_int_equal(hx_frame_decode(&h, hal_frame(&c.end[end], d.buffer), HX_MAX_FRAME), HX_OK);
    assert_int_equal(h.vc, d.vc);
    assert_int_equal(h.hops, d.hops);
    hal_buffer_put(&c.end[end], d.buffer);
    return (int)h.tag;
}

static void nothing_is_sent_before_the_link_is_open(void **state)
{
    (void)state;
    start();
    c.now = 0;
    memset(link_of(0), 0, sizeof *link_of(0));
    loopback_plug(&c.end[0].node, 0, 3, &c.wire[0], &c.wire[1], 3);
    assert_false(send(0, 0, 1, 0));
    assert_int_equal(hal_inject_room(&c.end[0], 0), 0);
    poll(60); /* the other end answers with its next frame */
    assert_true(send(0, 0, 1, 0));
}

static unsigned frames_on_wire(unsigned which)
{
    uint8_t frame[HX_MAX_FRAME];
    unsigned frames = 0;
    while (loopback_wire_take(&c.wire[which], UINT64_MAX, frame) > 0)
        frames++;
    return frames;
}

static void a_port_with_an_absent_peer_asks_rarely(void **state)
{
    enum { TURN = 100, TURNS = 10000 };
    (void)state;
    start();
    memset(link_of(0), 0, sizeof *link_of(0));
    loopback_plug(&c.end[0].node, 0, 3, &c.wire[0], &c.wire[1], 3);
    (void)frames_on_wire(0);
    (void)frames_on_wire(1);
    unsigned asked = 0;
    for (unsigned n = 0; n < TURNS; n++) {
        loopback_poll(&c.end[0].node, c.now += TURN);
        asked += frames_on_wire(0);
    }
    assert_in_range(asked, 2, 1 + TURNS * TURN / LOOPBACK_ASK_PERIOD);
}

static void a_frame_arrives_unchanged_after_its_latency(void **state)
{
    (void)state;
    start();
    assert_true(send(0, 2, 77, 300));
    loopback_poll(&c.end[1].node, c.now + LATENCY - 1);
    assert_int_equal(take(1), -1);
    loopback_poll(&c.end[1].node, c.now + LATENCY);
    struct hx_desc d = {0};
    assert_int_equal(hal_ejected(&c.end[1], 0, &d, 8), 1);
    assert_int_equal(d.length, 300);
    assert_int_equal(d.vc, 2);
    assert_int_equal(d.hops, 5);
}

/* No packet of a step is in flight before the commit. */
static void a_commit_publishes_packets(void **state)
{
    (void)state;
    start();
    struct hx_header h = header(0, 5, 0);
    uint8_t frame[HX_HEADER_BYTES];
    hx_frame_encode(frame, &h);
    loopback_wire_put(&c.wire[0], c.now, frame, sizeof frame);
    loopback_poll(&c.end[1].node, c.now + 1000);
    assert_int_equal(take(1), -1);
    loopback_wire_commit(&c.wire[0]);
    loopback_poll(&c.end[1].node, c.now + 1000);
    assert_int_equal(take(1), 5);
}

static void the_last_send_buffer_is_for_urgent_packets(void **state)
{
    (void)state;
    start();
    uint32_t buffer[SENDS] = {0};
    for (unsigned i = 0; i < SENDS - 1; i++)
        assert_true(hal_buffer_get(&c.end[0], &buffer[i], false));
    assert_false(hal_buffer_get(&c.end[0], &buffer[SENDS - 1], false));
    assert_true(hal_buffer_get(&c.end[0], &buffer[SENDS - 1], true));
    assert_false(hal_buffer_get(&c.end[0], &buffer[0], true));
    hal_buffer_put(&c.end[0], buffer[1]);
    assert_true(hal_buffer_get(&c.end[0], &buffer[1], true));
}

static void credit_runs_out_and_returns(void **state)
{
    (void)state;
    start();
    for (uint32_t i = 0; i < BLOCKS; i++)
        assert_true(send(0, 1, i, 256));
    assert_false(send(0, 1, 0, 0));
    assert_true(send(0, 0, 1000, 8192)); /* another VC has its own */
    poll(60);
    assert_false(send(0, 1, 0, 0));
    for (unsigned i = 0; i < BLOCKS + 1; i++)
        assert_true(take(1) >= 0);
    poll(3);
    assert_int_equal(hx_credit_room(&link_of(0)->tx[1]), BLOCKS);
    assert_int_equal(hx_credit_room(&link_of(0)->tx[0]), BLOCKS);
}

/* Without credit frames, the packets of both directions grant each other credit. */
static void data_carries_grants(void **state)
{
    (void)state;
    start();
    c.wire[0].faults.lose_credit = c.wire[1].faults.lose_credit = 1000;
    uint32_t sent[2] = {0}, taken[2] = {0};
    for (unsigned turn = 0; turn < 400; turn++) {
        for (unsigned end = 0; end < 2; end++) {
            sent[end] += send(end, turn % HX_VCS, sent[end], 2000);
            taken[end] += take(end) >= 0;
        }
        poll(1);
    }
    assert_int_equal(sent[0], 400);
    assert_int_equal(sent[1], 400);
    assert_true(taken[0] > 390 && taken[1] > 390);
}

static void invalid_frames_are_malformed(void **state)
{
    (void)state;
    start();
    uint8_t frame[HX_MAX_FRAME] = {0};
    put(0, frame, 64);
    put(0, frame, 1);
    put(0, frame, sizeof frame);
    struct hx_header h = header(0, 1, 100);
    hx_frame_encode(frame, &h);
    frame[15] = HX_VCS; /* VC */
    put(0, frame, 164);
    frame[15] = 0;
    put(0, frame, 163); /* cut short */
    frame[14] = 3;      /* version */
    put(0, frame, 164);
    struct hx_credit_frame credit = hx_credit_link_frame(link_of(0), 3);
    hx_credit_encode(frame, &credit);
    frame[30] ^= 1;
    put(0, frame, HX_CREDIT_FRAME_BYTES);
    poll(2);
    assert_int_equal(drops(1, HX_DROP_MALFORMED), 7);
    assert_int_equal(take(1), -1);
    assert_int_equal(link_of(1)->suspected, 0);
    assert_true(send(0, 0, 2, 0)); /* and the link goes on */
    poll(2);
    assert_int_equal(take(1), 2);
    assert_int_equal(c.end[1].node.free_count, HX_VCS * BLOCKS + 1);
}

static void data_without_a_grant_is_an_overrun(void **state)
{
    (void)state;
    start();
    for (uint32_t i = 0; i < 2; i++)
        assert_true(send(0, 0, i, 8192));
    uint8_t frame[HX_MAX_FRAME];
    struct hx_header h = header(0, 9, 300);
    hx_frame_encode(frame, &h);
    put(0, frame, 364);
    poll(2);
    assert_int_equal(drops(1, HX_DROP_OVERRUN), 1);
    assert_int_equal(link_of(1)->suspected, 1);
    poll(8);
    assert_true(link_of(0)->open && link_of(1)->open);
    assert_int_equal(take(1), 0); /* earlier packets stay */
    assert_int_equal(take(1), 1);
    poll(30);
    assert_int_equal(hx_credit_room(&link_of(0)->tx[0]), BLOCKS);
    assert_int_equal(c.end[1].node.free_count, HX_VCS * BLOCKS + 1);
}

/* A waiting packet keeps the window in place while 63 others pass it. Later arrivals are kept behind the window, as
 * far as there is room, and enter it when the first leaves. */
static void a_full_window_keeps_later_arrivals(void **state)
{
    (void)state;
    start();
    struct hal_switch sw = {.node = c.end[1].node}; /* the same port, for a switch */
    uint64_t waiting[HX_VCS] = {1, 0, 0};
    for (uint32_t i = 0; i < HX_WINDOW; i++) {
        assert_true(send(0, 0, i, 0));
        loopback_poll(&sw.node, c.now += LATENCY);
        loopback_poll(&c.end[0].node, c.now += LATENCY);
        assert_int_equal(hal_arrived(&sw, 0), i + 1);
        if (i > 0)
            hal_drop(&sw, 0, 0, hal_arrival(&sw, 0, 0, (uint16_t)i), HX_DROP_NO_ROUTE);
        hal_release(&sw, 0, 0, i + 1, waiting);
    }
    loopback_poll(&sw.node, c.now += LATENCY * 30);
    loopback_poll(&c.end[0].node, c.now += LATENCY);
    for (uint32_t i = 0; i < BLOCKS - 1; i++)
        assert_true(send(0, 0, HX_WINDOW + i, 0));
    assert_false(send(0, 0, 0, 0));
    loopback_poll(&sw.node, c.now += LATENCY);
    assert_int_equal(hal_arrived(&sw, 0), HX_WINDOW);
    waiting[0] = 0;
    hal_drop(&sw, 0, 0, hal_arrival(&sw, 0, 0, 0), HX_DROP_NO_ROUTE);
    hal_release(&sw, 0, HX_WINDOW, HX_WINDOW, waiting);
    assert_int_equal(hal_arrived(&sw, 0), HX_WINDOW + BLOCKS - 1);
    assert_int_equal(sw.node.drops[HX_DROP_OVERRUN], 0);
}

static void ejection_serves_the_vcs_in_turn(void **state)
{
    (void)state;
    start();
    for (uint32_t i = 0; i < 20; i++) {
        assert_true(send(0, 0, i, 0));
        if (i < 5)
            assert_true(send(0, 2, 100 + i, 0));
    }
    poll(1);
    unsigned of_vc_2 = 0;
    for (unsigned i = 0; i < 10; i++)
        of_vc_2 += take(1) >= 100;
    assert_int_equal(of_vc_2, 5);
}

/* Each fault alone, at 100 %: arrivals of ten packets and of their credit frames. */
static void faults_have_their_effects(void **state)
{
    (void)state;
    start();
    c.wire[0].faults.lose_data = 1000;
    for (uint32_t i = 0; i < 10; i++)
        assert_true(send(0, 0, i, 0));
    poll(1);
    assert_int_equal(take(1), -1);
    assert_int_equal(c.wire[0].lost, 10);
    poll(40 * 2 * HX_CREDIT_SETTLE); /* credit frames carry the count of sent blocks */
    assert_int_equal(link_of(1)->rx[0].lost, 10);
    assert_int_equal(hx_credit_room(&link_of(0)->tx[0]), BLOCKS);

    start();
    c.wire[0].faults.repeat_data = 1000;
    assert_true(send(0, 0, 7, 0));
    poll(2);
    assert_int_equal(take(1), 7);
    assert_int_equal(take(1), 7);
    assert_int_equal(take(1), -1);

    start();
    c.wire[0].faults.corrupt_data = 1000;
    unsigned changed = 0;
    uint8_t expected[HX_MAX_FRAME];
    struct hx_header h = header(0, 0, 8192);
    hx_frame_encode(expected, &h);
    memset(expected + HX_HEADER_BYTES, 0x5A, 8192);
    for (unsigned i = 0; i < 20; i++) {
        uint8_t frame[HX_MAX_FRAME];
        put(0, expected, sizeof expected);
        c.now += LATENCY;
        assert_int_equal(loopback_wire_take(&c.wire[0], c.now, frame), sizeof frame);
        unsigned bits = 0;
        for (size_t at = 0; at < sizeof frame; at++)
            bits += (unsigned)__builtin_popcount(frame[at] ^ expected[at]);
        changed += bits == 1;
    }
    assert_int_equal(changed, 20);

    start();
    c.wire[0].faults.lose_credit = 1000;
    uint64_t lost = c.wire[0].lost;
    poll(100);
    assert_true(c.wire[0].lost > lost);
}

static void data_overtakes_a_delayed_credit_frame(void **state)
{
    (void)state;
    start();
    c.wire[0].faults.delay_credit = 1000;
    c.wire[0].faults.delay = 50 * LATENCY;
    struct hx_credit_frame credit = hx_credit_link_frame(link_of(0), 3);
    uint8_t frame[HX_CREDIT_FRAME_BYTES], out[HX_MAX_FRAME];
    hx_credit_encode(frame, &credit);
    put(0, frame, sizeof frame);
    struct hx_header h = header(0, 1, 0);
    uint8_t data[HX_HEADER_BYTES];
    hx_frame_encode(data, &h);
    put(0, data, sizeof data);
    c.now += LATENCY;
    assert_int_equal(loopback_wire_take(&c.wire[0], c.now, out), sizeof data);
    assert_memory_equal(out, data, sizeof data);
    assert_int_equal(loopback_wire_take(&c.wire[0], c.now + 49 * LATENCY, out), 0);
    assert_int_equal(loopback_wire_take(&c.wire[0], c.now + 50 * LATENCY, out), sizeof frame);
    assert_memory_equal(out, frame, sizeof frame);
}

/* The ring wraps at every offset of a frame, and counts frames without room. */
static void a_wire_is_a_ring(void **state)
{
    (void)state;
    start();
    uint8_t frame[HX_MAX_FRAME], out[HX_MAX_FRAME];
    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i * 7);
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t bytes = 64 + i * 37 % (HX_MAX_FRAME - 64);
        frame[0] = (uint8_t)i;
        put(0, frame, bytes);
        assert_int_equal(loopback_wire_take(&c.wire[0], c.now + LATENCY, out), bytes);
        assert_memory_equal(out, frame, bytes);
    }
    uint64_t before = c.wire[0].refused;
    unsigned fit = c.wire[0].size / (sizeof(struct loopback_record) + HX_MAX_FRAME);
    for (unsigned i = 0; i < fit + 3; i++)
        put(0, frame, sizeof frame);
    assert_int_equal(c.wire[0].refused - before, 3);
    uint32_t rest = c.wire[0].size - fit * (uint32_t)(sizeof(struct loopback_record) + HX_MAX_FRAME);
    put(0, frame, rest - 1); /* its record would not fit */
    assert_int_equal(c.wire[0].refused - before, 4);
    for (unsigned i = 0; i < fit; i++)
        assert_int_equal(loopback_wire_take(&c.wire[0], c.now + LATENCY, out), sizeof frame);
    assert_int_equal(loopback_wire_take(&c.wire[0], c.now + LATENCY, out), 0);
}

/* All grants together fit a wire, in the smallest packets and in the largest, with credit frames. */
static void a_wire_holds_all_that_can_be_granted(void **state)
{
    (void)state;
    for (unsigned length = 1; length <= 8192; length += 8191) {
        start();
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            uint32_t number = 0;
            while (send(0, vc, number, length))
                number++;
            assert_int_equal(number, BLOCKS / hx_blocks(length));
        }
        for (unsigned i = 0; i < 8; i++)
            loopback_poll(&c.end[0].node, c.now += LOOPBACK_CREDIT_PERIOD);
        assert_int_equal(c.wire[0].refused, 0);
        lab_free(NULL);
    }
}

static void a_wire_takes_as_much_as_its_stated_room(void **state)
{
    static uint8_t frame[HX_MAX_FRAME];
    (void)state;
    start();
    struct loopback_wire *w = &c.wire[0];
    uint32_t frames = 0;
    for (; loopback_wire_has_room(w, HX_MAX_FRAME); frames++)
        loopback_wire_put(w, c.now, frame, HX_MAX_FRAME);
    assert_int_equal(frames, w->size / (HX_MAX_FRAME + sizeof(struct loopback_record)));
    assert_int_equal(w->refused, 0);
    loopback_wire_put(w, c.now, frame, HX_MAX_FRAME);
    assert_int_equal(w->refused, 1);
    loopback_wire_commit(w);
    assert_int_equal(loopback_wire_take(w, c.now + LATENCY, frame), HX_MAX_FRAME);
    loopback_wire_clear(w);
    assert_false(loopback_wire_is_clear(w)); /* until the receiver polls */
    assert_int_equal(loopback_wire_take(w, UINT64_MAX, frame), 0);
    assert_true(loopback_wire_is_clear(w));
    loopback_wire_put(w, c.now, frame, 64);
    loopback_wire_commit(w);
    assert_int_equal(loopback_wire_take(w, c.now + LATENCY, frame), 64);
}

static void a_port_knows_the_last_frame_of_its_peer(void **state)
{
    (void)state;
    start();
    uint64_t heard_at = c.end[0].node.port[0].cable.heard_at;
    assert_in_range(heard_at, 1, c.now);
    for (unsigned i = 0; i < 8; i++)
        loopback_poll(&c.end[0].node, c.now += LOOPBACK_CREDIT_PERIOD); /* a silent peer */
    assert_int_equal(c.end[0].node.port[0].cable.heard_at, heard_at);
    assert_true(cable_fell_silent(&c.end[0].node.port[0].cable, c.now, c.now - heard_at - 1));
    assert_false(cable_fell_silent(&c.end[0].node.port[0].cable, c.now, c.now - heard_at));
    poll(2);
    assert_in_range(c.end[0].node.port[0].cable.heard_at, heard_at + 1, c.now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_is_sent_before_the_link_is_open, lab_free),
        cmocka_unit_test_teardown(a_port_with_an_absent_peer_asks_rarely, lab_free),
        cmocka_unit_test_teardown(a_frame_arrives_unchanged_after_its_latency, lab_free),
        cmocka_unit_test_teardown(a_commit_publishes_packets, lab_free),
        cmocka_unit_test_teardown(the_last_send_buffer_is_for_urgent_packets, lab_free),
        cmocka_unit_test_teardown(credit_runs_out_and_returns, lab_free),
        cmocka_unit_test_teardown(data_carries_grants, lab_free),
        cmocka_unit_test_teardown(invalid_frames_are_malformed, lab_free),
        cmocka_unit_test_teardown(data_without_a_grant_is_an_overrun, lab_free),
        cmocka_unit_test_teardown(a_full_window_keeps_later_arrivals, lab_free),
        cmocka_unit_test_teardown(ejection_serves_the_vcs_in_turn, lab_free),
        cmocka_unit_test_teardown(faults_have_their_effects, lab_free),
        cmocka_unit_test_teardown(data_overtakes_a_delayed_credit_frame, lab_free),
        cmocka_unit_test_teardown(a_wire_is_a_ring, lab_free),
        cmocka_unit_test_teardown(a_wire_holds_all_that_can_be_granted, lab_free),
        cmocka_unit_test_teardown(a_wire_takes_as_much_as_its_stated_room, lab_free),
        cmocka_unit_test_teardown(a_port_knows_the_last_frame_of_its_peer, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
