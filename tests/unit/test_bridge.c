/* platform: shm
 * test_bridge.c - the cable of an external accelerator, between shared memory and a wire made here: what each side sees of
 * the other (fabric-emu/live/bridge.h). */
#include "fabric-emu/live/bridge.h"
#include "hxmesh/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_FRAMES = 2048, CREDITS = 512, MILLISECOND = 1000000 };

/* ---- a wire ---- */

struct frame {
    uint32_t bytes;
    uint8_t data[HX_MAX_FRAME];
};

struct tube {
    unsigned first, last;
    struct frame *frame; /* [MOST_FRAMES] */
};

static struct {
    bool connected;
    unsigned room; /* frames the wire takes */
    struct tube in, out;
} line;

static bool line_poll(struct wire *w)
{
    (void)w;
    return line.connected;
}

static uint32_t line_receive(struct wire *w, uint8_t *frame)
{
    (void)w;
    if (line.in.first == line.in.last)
        return 0;
    const struct frame *f = &line.in.frame[line.in.first++ % MOST_FRAMES];
    memcpy(frame, f->data, f->bytes);
    return f->bytes;
}

static void put(struct tube *t, const uint8_t *data, uint32_t bytes)
{
    assert_true(t->last - t->first < MOST_FRAMES);
    struct frame *f = &t->frame[t->last++ % MOST_FRAMES];
    f->bytes = bytes;
    memcpy(f->data, data, bytes);
}

static bool line_send(struct wire *w, const uint8_t *frame, uint32_t bytes)
{
    (void)w;
    if (line.room == 0)
        return false;
    line.room--;
    put(&line.out, frame, bytes);
    return true;
}

static void nothing(struct wire *w)
{
    (void)w;
}

static const struct wire_kind line_kind = {.serve = nothing,
                                           .end = nothing,
                                           .poll = line_poll,
                                           .receive = line_receive,
                                           .send = line_send,
                                           .flush = nothing,
                                           .drop = nothing};

/* ---- a fabric of two accelerators, of which the eastern is elsewhere ---- */

struct bench {
    struct fab_fabric f;
    struct traffic traffic;
    struct shm_clock clock;
    struct wire wire[HX_CABLE_PORTS];
    struct worker w;
    struct bridge *b;
    struct node *west;
    struct hx_credit_link peer;
    uint64_t now;
};

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct hx_spec spec;
    struct hx_problem problem;
    char name[32];
    assert_true(b && hx_spec_parse("1x1 H2x1Mesh", &spec, &problem));
    spec.external = calloc(1, sizeof *spec.external);
    spec.externals = 1;
    spec.external[0].gx = 1;
    spec.external[0].port[HX_W].cable = HX_CABLE_MEMIF;
    (void)snprintf(name, sizeof name, "test-bridge-%ld", (long)getpid());
    fab_create(&b->f, &spec, &(struct fab_options){.workers = 1, .name = name});
    struct hx_settings settings = hx_default_settings;
    settings.count = 0;
    traffic_init(&b->traffic, &b->f.spec, &b->f.g, &settings, 0);
    shm_clock_start(&b->clock);
    b->wire[HX_W].kind = &line_kind;
    b->w = (struct worker){.f = &b->f, .traffic = &b->traffic, .clock = &b->clock, .wire = b->wire};
    node_build_all(&b->w);
    assert_int_equal(b->w.bridges, 1);
    b->b = &b->w.bridge[0];
    b->west = &b->w.node[0];
    b->now = UINT64_C(1000000000000);
    line.connected = true;
    line.room = UINT32_MAX;
    line.in = (struct tube){.frame = malloc(MOST_FRAMES * sizeof(struct frame))};
    line.out = (struct tube){.frame = malloc(MOST_FRAMES * sizeof(struct frame))};
    hx_credit_link_up(&b->peer, CREDITS, 64, 5);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    node_free_all(&b->w);
    traffic_free(&b->traffic);
    fab_destroy(&b->f);
    free(line.in.frame);
    free(line.out.frame);
    free(b);
    return 0;
}

static struct fab_cable *cable_of(const struct bench *b)
{
    return &b->f.cable[HX_W];
}

static unsigned step(struct bench *b)
{
    b->now += MILLISECOND;
    b->w.shm.now = b->now;
    return bridge_step(b->b);
}

/* ---- the peer at the wire's other end ---- */

static void peer_tells(struct bench *b)
{
    uint8_t frame[HX_CREDIT_FRAME_BYTES];
    const struct hx_credit_frame c = hx_credit_link_frame(&b->peer, 0);
    hx_credit_encode(frame, &c);
    put(&line.in, frame, sizeof frame);
}

/* Takes the next data frame; false: none. Credit frames are taken in on the way. */
static bool peer_takes(struct bench *b, struct hx_header *h, struct frame *data)
{
    while (line.out.first != line.out.last) {
        const struct frame *f = &line.out.frame[line.out.first++ % MOST_FRAMES];
        struct hx_credit_frame c;
        if (hx_credit_decode(&c, f->data, f->bytes) == HX_OK) {
            hx_credit_link_take(&b->peer, &c);
            continue;
        }
        assert_int_equal(hx_frame_decode(h, f->data, f->bytes), HX_OK);
        *data = *f;
        return true;
    }
    return false;
}

static void meet(struct bench *b)
{
    struct hx_header h;
    static struct frame data;
    for (unsigned turn = 0; turn < 4; turn++) {
        (void)step(b);
        assert_false(peer_takes(b, &h, &data));
        peer_tells(b);
    }
    (void)step(b);
    (void)step(b);
    assert_true(b->peer.open);
    assert_true(cable_of(b)->up);
}

static uint32_t make_frame(uint8_t *frame, uint32_t number, uint32_t length, unsigned vc, unsigned hops)
{
    const struct hx_header h = {.vc = (uint8_t)vc,
                                .hops = (uint8_t)hops,
                                .credit_vc = HX_NO_CREDIT,
                                .kind = HX_DATA,
                                .dst_gx = 0,
                                .src_gx = 1,
                                .message = number,
                                .message_packets = 1,
                                .length = (uint16_t)length,
                                .epoch = 1};
    hx_frame_encode(frame, &h);
    memset(frame + HX_HEADER_BYTES, (int)number, length);
    return HX_HEADER_BYTES + length;
}

static void peer_sends(uint32_t number, uint32_t length, unsigned vc)
{
    static uint8_t frame[HX_MAX_FRAME];
    uint32_t bytes = make_frame(frame, number, length, vc, 3);
    put(&line.in, frame, bytes);
}

/* ---- the neighbour in shared memory ---- */

static void west_commits(struct bench *b)
{
    shm_note_heads(&b->west->hal, HX_ACCELERATOR_PORTS);
    shm_note_pools(&b->w.shm, true);
    shm_note_tails(&b->west->hal, HX_ACCELERATOR_PORTS);
    shm_note_pools(&b->w.shm, false);
    shm_step_commit(&b->w.shm.step);
    shm_commit_pools(&b->w.shm);
    b->west->hal.sent = b->west->hal.released = b->west->hal.left_changed = 0;
}

static void west_sends(struct bench *b, uint32_t number, uint32_t length, unsigned vc, unsigned hops)
{
    struct hx_desc d = {.length = (uint16_t)length, .vc = (uint8_t)vc, .hops = (uint8_t)hops, .dst_gx = 1};
    b->west->hal.up |= 1U << HX_E;
    assert_true(hx_lane(hal_room(&b->west->hal, HX_E), vc) > 0);
    assert_true(shm_buffer_get(&b->w.shm, &d.buffer, 0));
    (void)make_frame(b->f.buffers[d.buffer].frame, number, length, 0, 0); /* in memory hop fields are not kept */
    hal_transmit(&b->west->hal, HX_E, HX_LOCAL, 0, &d);
    west_commits(b);
}

/* Takes the next packet of a VC; UINT32_MAX: none. Its payload is looked at. */
static uint32_t west_takes(struct bench *b, unsigned vc)
{
    static const uint64_t none_waits[HX_VCS];
    struct hal_switch *h = &b->west->hal;
    struct hx_header header;
    uint64_t tail = hal_consumed(h, HX_E);
    if (hx_lane(hal_arrived(h, HX_E), vc) == hx_lane(tail, vc))
        return UINT32_MAX;
    const struct hx_desc d = *hal_arrival(h, HX_E, vc, hx_lane(tail, vc));
    const uint8_t *frame = b->f.buffers[d.buffer].frame;
    assert_int_equal(hx_frame_decode(&header, frame, HX_HEADER_BYTES + d.length), HX_OK);
    assert_true(d.vc == vc && d.hops == 3 && d.length == header.length && d.dst_gx == 0);
    for (uint32_t i = 0; i < d.length; i++)
        assert_int_equal(frame[HX_HEADER_BYTES + i], (uint8_t)header.message);
    shm_buffer_put(&b->w.shm, d.buffer);
    tail = hx_lane_add(tail, vc, 1);
    hal_release(h, HX_E, tail, tail, none_waits);
    west_commits(b);
    return header.message;
}

static void assert_no_buffer_is_lost(const struct bench *b)
{
    assert_int_equal(fab_count_buffers(&b->f), b->f.per_home);
}

/* ---- tests ---- */

static void test_packets_go_within_the_limit_with_their_hop_fields(void **state)
{
    struct bench *b = *state;
    struct hx_header h;
    static struct frame data;
    meet(b);
    for (uint32_t n = 0; n < 5; n++)
        west_sends(b, n, HX_MAX_PAYLOAD, 2, 7 + n);
    (void)step(b);
    for (uint32_t n = 0; n < 2; n++) { /* the peer has 64 blocks */
        assert_true(peer_takes(b, &h, &data));
        assert_true(h.vc == 2 && h.hops == 7 + n && h.message == n && h.length == HX_MAX_PAYLOAD);
        assert_true(h.credit_vc < HX_VCS && h.credit_limit == CREDITS);
        assert_int_equal(data.data[HX_HEADER_BYTES + 5000], n);
        assert_true(hx_credit_link_arrive(&b->peer, h.vc, hx_blocks(h.length)));
    }
    (void)step(b);
    assert_false(peer_takes(b, &h, &data));
    hx_credit_leave(&b->peer.rx[2], 32);
    peer_tells(b);
    (void)step(b);
    assert_true(peer_takes(b, &h, &data));
    assert_int_equal(h.message, 2);
    assert_false(peer_takes(b, &h, &data));
    west_sends(b, 9, 0, 0, 1); /* another VC does not wait for it */
    (void)step(b);
    assert_true(peer_takes(b, &h, &data));
    assert_true(h.message == 9 && h.vc == 0);
    assert_int_equal(cable_of(b)->count.data_out, 4);
    assert_no_buffer_is_lost(b);
}

static void test_a_full_wire_holds_packets_back_and_loses_none(void **state)
{
    struct bench *b = *state;
    struct hx_header h;
    static struct frame data;
    meet(b);
    line.room = 0;
    unsigned sent = line.out.last;
    for (uint32_t n = 0; n < 10; n++)
        west_sends(b, n, 100, 1, 1);
    (void)step(b);
    assert_int_equal(line.out.last, sent);
    for (uint32_t n = 0; n < 10;) {
        line.room = 2;
        (void)step(b);
        for (; peer_takes(b, &h, &data); n++)
            assert_int_equal(h.message, n);
    }
    assert_no_buffer_is_lost(b);
}

static void test_what_was_granted_has_a_place_though_the_link_is_full(void **state)
{
    struct bench *b = *state;
    uint64_t *drops = b->f.area[0].drops;
    meet(b);
    for (uint32_t n = 0; n < CREDITS; n++)
        peer_sends(n, 1, 0);
    for (uint32_t n = 0; n < CREDITS / 32 + 1; n++)
        (void)step(b);
    peer_sends(700, HX_MAX_PAYLOAD, 1); /* another VC does not wait for it */
    (void)step(b);
    assert_int_equal(west_takes(b, 1), 700);
    assert_int_equal(drops[HX_DROP_OVERRUN], 0);
    for (uint32_t n = 0; n < CREDITS; n++) {
        assert_int_equal(west_takes(b, 0), n);
        (void)step(b);
    }
    assert_int_equal(west_takes(b, 0), UINT32_MAX);
    assert_int_equal(cable_of(b)->count.data_in, CREDITS + 1);
    assert_no_buffer_is_lost(b);
}

static void test_credit_goes_back_with_room_in_the_link(void **state)
{
    struct bench *b = *state;
    struct hx_header h;
    static struct frame data;
    meet(b);
    for (uint32_t n = 0; n < 20; n++) {
        peer_sends(n, 1, 0);
        hx_credit_spend(&b->peer.tx[0], 1);
    }
    (void)step(b);
    (void)step(b);
    assert_false(peer_takes(b, &h, &data));
    assert_int_equal(b->peer.tx[0].limit, CREDITS + b->f.slots); /* four are in the stage */
    assert_int_equal(west_takes(b, 0), 0);
    (void)step(b);
    (void)step(b);
    assert_false(peer_takes(b, &h, &data));
    assert_int_equal(b->peer.tx[0].limit, CREDITS + b->f.slots + 1);
}

static void test_more_than_was_granted_is_dropped_and_the_link_is_suspect(void **state)
{
    struct bench *b = *state;
    meet(b);
    uint32_t session = cable_of(b)->session;
    for (uint32_t n = 0; n < CREDITS / HX_PACKET_BLOCKS + b->f.slots + 1; n++)
        peer_sends(n, HX_MAX_PAYLOAD, 0);
    for (unsigned n = 0; n < 4; n++)
        (void)step(b);
    assert_int_equal(b->f.area[0].drops[HX_DROP_OVERRUN], 1);
    peer_tells(b);
    (void)step(b);
    assert_true((int32_t)(cable_of(b)->session - session) > 0);
}

static void test_garbage_is_counted(void **state)
{
    struct bench *b = *state;
    uint8_t frame[HX_MAX_FRAME] = {0};
    meet(b);
    put(&line.in, frame, 64);
    put(&line.in, frame, 3);
    (void)make_frame(frame, 1, 64, 0, 0);
    frame[29] = frame[1] = frame[7] = 1; /* another plane */
    put(&line.in, frame, 128);
    (void)make_frame(frame, 1, 64, 0, 0);
    put(&line.in, frame, 100); /* cut */
    (void)step(b);
    assert_int_equal(b->f.area[0].drops[HX_DROP_MALFORMED], 4);
    assert_int_equal(cable_of(b)->count.dropped, 4);
    assert_int_equal(cable_of(b)->count.data_in, 0);
    assert_true(cable_of(b)->up);
}

static void test_up_and_down_are_told(void **state)
{
    struct bench *b = *state;
    assert_false(cable_of(b)->up);
    assert_false(bridge_is_up(b->b));
    uint32_t changes = b->f.control->changes;
    meet(b);
    assert_int_equal(b->f.control->changes, changes + 1);
    assert_true(bridge_is_up(b->b) && fab_port_is_up(&b->f, 0, 1, HX_W) && !fab_misses_cable(&b->f));
    assert_false(fab_port_is_up(&b->f, 0, 1, HX_E)); /* that cable is out */
    line.connected = false;
    (void)step(b);
    assert_int_equal(b->f.control->changes, changes + 2);
    assert_true(!bridge_is_up(b->b) && !fab_port_is_up(&b->f, 0, 1, HX_W) && fab_misses_cable(&b->f));
}

static void test_a_peer_that_is_silent_is_away_until_it_speaks(void **state)
{
    struct bench *b = *state;
    meet(b);
    uint32_t session = cable_of(b)->session;
    for (unsigned n = 0; n < 1990; n++)
        (void)step(b);
    assert_true(cable_of(b)->up);
    for (unsigned n = 0; n < 20; n++)
        (void)step(b);
    assert_false(cable_of(b)->up);
    assert_true((int32_t)(cable_of(b)->session - session) > 0);
    line.out.first = line.out.last;
    hx_credit_link_up(&b->peer, CREDITS, 64, 6);
    meet(b);
}

static void test_a_successor_begins_a_later_session(void **state)
{
    struct bench *b = *state;
    meet(b);
    uint32_t session = cable_of(b)->session;
    node_free_all(&b->w);
    b->w = (struct worker){.f = &b->f, .traffic = &b->traffic, .clock = &b->clock, .wire = b->wire};
    node_build_all(&b->w);
    b->b = &b->w.bridge[0];
    b->west = &b->w.node[0];
    assert_false(cable_of(b)->up);
    line.out.first = line.out.last;
    meet(b);
    assert_true((int32_t)(cable_of(b)->session - session) > 0);
    assert_int_equal(cable_of(b)->count.sessions, 2);
}

static void test_frames_of_its_own_open_nothing(void **state)
{
    struct bench *b = *state;
    for (unsigned n = 0; n < 20; n++) {
        (void)step(b);
        while (line.out.first != line.out.last) {
            const struct frame *f = &line.out.frame[line.out.first++ % MOST_FRAMES];
            put(&line.in, f->data, f->bytes);
        }
    }
    assert_false(cable_of(b)->up);
    assert_true(cable_of(b)->count.reflected >= 10);
}

static void test_quiet_is_two_seconds_without_data(void **state)
{
    struct bench *b = *state;
    uint64_t since = 0;
    meet(b);
    peer_sends(1, 1, 0);
    (void)step(b);
    uint64_t moved = b->now;
    for (unsigned n = 0; n < 1998; n++) {
        if (n % 500 == 0)
            peer_tells(b);
        (void)step(b);
        assert_false(bridge_is_quiet(b->b, &since));
    }
    (void)step(b);
    (void)step(b);
    assert_true(bridge_is_quiet(b->b, &since));
    assert_int_equal(since, moved);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_packets_go_within_the_limit_with_their_hop_fields),
        TEST(test_a_full_wire_holds_packets_back_and_loses_none),
        TEST(test_what_was_granted_has_a_place_though_the_link_is_full),
        TEST(test_credit_goes_back_with_room_in_the_link),
        TEST(test_more_than_was_granted_is_dropped_and_the_link_is_suspect),
        TEST(test_garbage_is_counted),
        TEST(test_up_and_down_are_told),
        TEST(test_a_peer_that_is_silent_is_away_until_it_speaks),
        TEST(test_a_successor_begins_a_later_session),
        TEST(test_frames_of_its_own_open_nothing),
        TEST(test_quiet_is_two_seconds_without_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
