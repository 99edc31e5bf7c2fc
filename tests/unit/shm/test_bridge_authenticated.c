/* test_bridge_authenticated.c - the emulator's end of a cable with a key, on a wire that refuses frames. A refused
 * frame keeps its authentication tag, leaves first, and ends with its session (fabric-emu/live/bridge.h). */
#include "hxmesh/error.h"
#include "tests/support/shm/support_bridge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct hx_auth_key key = {{UINT64_C(0x0123456789ABCDEF), 42}};

static struct bridge_port *port_of(const struct bench *b)
{
    return &b->b->port[HX_W];
}

/* Both ends have the key and a session. */
static int set_up_authenticated(void **state)
{
    int error = bench_set_up(state);
    port_of(*state)->cable.key = bench_line.key = &key;
    bench_meet(*state);
    return error;
}

/* Frames of the bridge, read from the wire. */
struct sent_frames {
    uint64_t last;     /* number of an authentication tag */
    uint32_t messages; /* data frames */
    uint32_t newest;   /* last message */
};

/* Bytes of a frame without its authentication tag; *direction: nonces that the tag must use. */
static uint32_t read_frame(const struct bench *b, const struct bench_frame *f, struct sent_frames *t,
                           struct hx_auth_direction *direction)
{
    struct hx_credit_frame c;
    struct hx_notice_frame n;
    struct hx_header h;
    if (hx_credit_decode(&c, f->data, f->bytes) == HX_OK) {
        *direction = (struct hx_auth_direction){.from = c.nonce, .to = c.peer_nonce};
        return hx_credit_frame_bytes(c.vcs);
    }
    if (hx_notice_decode(&n, f->data, f->bytes) == HX_OK) {
        *direction = (struct hx_auth_direction){.from = n.nonce, .to = n.peer_nonce};
        return hx_notice_frame_bytes(n.count);
    }
    assert_int_equal(hx_frame_decode(&h, f->data, f->bytes), HX_OK);
    *direction = (struct hx_auth_direction){.from = port_of(b)->cable.link.nonce, .to = b->peer.nonce};
    t->messages++;
    t->newest = h.message;
    return HX_HEADER_BYTES + h.length;
}

/* Reads the frames on the wire: each has a valid tag, numbered without gaps. */
static void read_wire(const struct bench *b, struct sent_frames *t)
{
    while (bench_line.out.first != bench_line.out.last) {
        const struct bench_frame *f = &bench_line.out.frame[bench_line.out.first++ % BENCH_FRAMES];
        struct hx_auth_direction direction;
        uint64_t number;
        uint32_t bytes = read_frame(b, f, t, &direction);
        assert_int_equal(f->bytes, bytes + HX_AUTH_TAG_BYTES);
        assert_true(hx_auth_tag_is_valid(&key, direction, f->data, bytes, &number));
        assert_true(t->last == 0 || number == t->last + 1);
        t->last = number;
    }
}

static void test_a_refusing_wire_costs_one_tag_and_leaves_no_gap(void **state)
{
    struct bench *b = *state;
    struct sent_frames t = {.last = port_of(b)->cable.authenticated};
    enum { PACKETS = 12, STEPS = 50 };
    bench_line.out.first = bench_line.out.last;
    bench_line.room = 0;
    for (uint32_t n = 0; n < PACKETS; n++)
        bench_west_sends(b, n, 100, n % HX_MESH_VCS, 1);
    for (unsigned n = 0; n < STEPS; n++) {
        (void)bench_step(b);
        assert_true(port_of(b)->cable.authenticated == t.last + 1);
    }
    assert_true(bench_line.out.first == bench_line.out.last);
    for (unsigned n = 0; n < STEPS; n++) {
        bench_line.room = 1;
        (void)bench_step(b);
        read_wire(b, &t);
    }
    assert_int_equal(t.messages, PACKETS);
    bench_loses_no_buffer(b);
}

/* Makes the wire refuse frames. */
static struct sent_frames fill_wire(const struct bench *b)
{
    bench_line.out.first = bench_line.out.last;
    bench_line.room = 0;
    return (struct sent_frames){.last = port_of(b)->cable.authenticated};
}

static void test_a_refused_credit_frame_gets_one_tag(void **state)
{
    struct bench *b = *state;
    uint64_t since = 0;
    struct sent_frames t = fill_wire(b);
    for (unsigned n = 0; n < 50; n++) {
        (void)bench_step(b);
        assert_true(port_of(b)->cable.authenticated == t.last + 1);
        assert_true(bridge_is_quiet(b->b, &since)); /* quiet means no waiting data */
    }
    bench_line.room = UINT32_MAX;
    (void)bench_step(b);
    read_wire(b, &t);
    assert_true(t.last == port_of(b)->cable.authenticated && t.messages == 0);
}

/* Longer than the time for quiet, while the peer keeps sending. */
static void test_a_waiting_packet_with_a_tag_is_not_quiet(void **state)
{
    struct bench *b = *state;
    uint64_t since = 0;
    struct sent_frames t = fill_wire(b);
    bench_west_sends(b, 5, 100, 0, 1);
    for (unsigned n = 0; n < 3000; n++) {
        if (n % 500 == 0)
            bench_peer_sends_credit(b);
        (void)bench_step(b);
        assert_false(bridge_is_quiet(b->b, &since));
    }
    bench_line.room = UINT32_MAX;
    (void)bench_step(b);
    read_wire(b, &t);
    assert_true(t.messages == 1 && t.newest == 5);
    assert_true(bridge_is_quiet(b->b, &since));
}

/* A packet gets its tag and waits. */
static void let_one_wait(struct bench *b, uint32_t number)
{
    bench_line.room = 0;
    bench_west_sends(b, number, 100, 0, 1);
    (void)bench_step(b);
    assert_int_equal(port_of(b)->shared->count.data_out, 1);
}

/* All later frames belong to the new session, and carry no packet of the old one. */
static void expect_a_session_without_it(struct bench *b, uint64_t old_nonce)
{
    struct sent_frames t = {0};
    assert_true(port_of(b)->cable.link.nonce != old_nonce);
    bench_line.out.first = bench_line.out.last;
    bench_line.room = UINT32_MAX;
    (void)bench_step(b);
    read_wire(b, &t);
    assert_true(t.last > 0 && t.messages == 0);
    bench_loses_no_buffer(b);
}

static void test_a_waiting_packet_ends_with_a_new_session(void **state)
{
    struct bench *b = *state;
    uint64_t nonce = port_of(b)->cable.link.nonce;
    struct hx_header h;
    static struct bench_frame data;
    bench_peer_starts(b);
    bench_peer_sends_credit(b);
    (void)bench_step(b); /* answers with a nonce for the peer */
    assert_false(bench_peer_takes(b, &h, &data));
    let_one_wait(b, 7);
    bench_peer_sends_credit(b);
    (void)bench_step(b);
    expect_a_session_without_it(b, nonce);
}

static void test_a_waiting_packet_ends_with_the_connection(void **state)
{
    struct bench *b = *state;
    uint64_t nonce = port_of(b)->cable.link.nonce;
    uint64_t since = 0;
    let_one_wait(b, 7);
    bench_line.connected = false;
    for (unsigned n = 0; n < 2000; n++)
        (void)bench_step(b);
    assert_true(bridge_is_quiet(b->b, &since)); /* the waiting packet is not counted */
    bench_line.connected = true;
    (void)bench_step(b);
    expect_a_session_without_it(b, nonce);
}

static void test_a_waiting_packet_ends_with_a_silent_session(void **state)
{
    struct bench *b = *state;
    uint64_t nonce = port_of(b)->cable.link.nonce;
    let_one_wait(b, 7);
    for (unsigned n = 0; n < 2010; n++)
        (void)bench_step(b);
    expect_a_session_without_it(b, nonce);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_authenticated, bench_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_refusing_wire_costs_one_tag_and_leaves_no_gap),
        TEST(test_a_refused_credit_frame_gets_one_tag),
        TEST(test_a_waiting_packet_with_a_tag_is_not_quiet),
        TEST(test_a_waiting_packet_ends_with_a_new_session),
        TEST(test_a_waiting_packet_ends_with_the_connection),
        TEST(test_a_waiting_packet_ends_with_a_silent_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
