/* support_bridge.c - an external accelerator, its cable and its neighbour (support_bridge.h). */
#include "tests/support/shm/support_bridge.h"
#include "hxmesh/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a wire ---- */

struct bench_line bench_line;

static bool line_poll(struct wire *w)
{
    (void)w;
    return bench_line.connected;
}

static uint32_t line_receive(struct wire *w, uint8_t *frame)
{
    (void)w;
    if (bench_line.in.first == bench_line.in.last)
        return 0;
    const struct bench_frame *f = &bench_line.in.frame[bench_line.in.first++ % BENCH_FRAMES];
    memcpy(frame, f->data, f->bytes);
    return f->bytes;
}

void bench_put(struct bench_tube *t, const uint8_t *data, uint32_t bytes)
{
    assert_true(t->last - t->first < BENCH_FRAMES);
    struct bench_frame *f = &t->frame[t->last++ % BENCH_FRAMES];
    f->bytes = bytes;
    memcpy(f->data, data, bytes);
}

static bool line_send(struct wire *w, const uint8_t *frame, uint32_t bytes)
{
    (void)w;
    if (bench_line.room == 0)
        return false;
    bench_line.room--;
    bench_put(&bench_line.out, frame, bytes);
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

void bench_peer_starts(struct bench *b)
{
    b->drawn += 1000;
    hx_credit_link_up(&b->peer, HX_MESH_VCS, BENCH_CREDITS, 64, b->drawn);
}

int bench_set_up(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct hx_spec spec;
    struct hx_problem problem;
    char name[32];
    assert_true(b && hx_spec_parse("1x1 H2x1Mesh", &spec, &problem) && hx_spec_build(&spec, &problem));
    spec.external = calloc(1, sizeof *spec.external);
    spec.externals = 1;
    spec.external[0].addr_hi = 1;
    spec.external[0].port[HX_W].cable = HX_CABLE_MEMIF;
    (void)snprintf(name, sizeof name, "test-bridge-%ld", (long)getpid());
    fab_create(&b->f, &spec, &(struct fab_options){.workers = 1, .name = name});
    struct hx_settings settings = hx_default_settings;
    settings.count = 0;
    traffic_init(&b->traffic, &b->f.spec, b->f.g, &settings, NULL);
    b->workload.traffic = &b->traffic;
    shm_clock_start(&b->clock);
    b->wire[HX_W].kind = &line_kind;
    b->w = (struct worker){.f = &b->f, .workload = &b->workload, .clock = &b->clock, .wire = b->wire};
    node_build_all(&b->w);
    assert_int_equal(b->w.bridges, 1);
    b->b = &b->w.bridge[0];
    b->west = &b->w.node[0];
    b->now = UINT64_C(1000000000000);
    bench_line.connected = true;
    bench_line.room = UINT32_MAX;
    bench_line.key = NULL;
    bench_line.authenticated = 0;
    bench_line.in = (struct bench_tube){.frame = malloc(BENCH_FRAMES * sizeof(struct bench_frame))};
    bench_line.out = (struct bench_tube){.frame = malloc(BENCH_FRAMES * sizeof(struct bench_frame))};
    bench_peer_starts(b);
    *state = b;
    return 0;
}

int bench_tear_down(void **state)
{
    struct bench *b = *state;
    node_free_all(&b->w);
    traffic_free(&b->traffic);
    fab_destroy(&b->f);
    free(bench_line.in.frame);
    free(bench_line.out.frame);
    free(b);
    return 0;
}

struct fab_cable *bench_cable(const struct bench *b)
{
    return &b->f.cable[HX_W];
}

unsigned bench_step(struct bench *b)
{
    b->now += BENCH_STEP_NS;
    b->w.shm.now = b->now;
    return bridge_step(b->b);
}

/* ---- the peer at the wire's other end ---- */

void bench_put_credit(struct hx_credit_frame c)
{
    uint8_t frame[CABLE_CREDIT_BYTES];
    unsigned bytes = hx_credit_encode(frame, &c);
    if (bench_line.key) {
        const struct hx_auth_direction direction = {.from = c.nonce, .to = c.peer_nonce};
        hx_auth_tag_write(bench_line.key, direction, ++bench_line.authenticated, frame, bytes);
        bytes += HX_AUTH_TAG_BYTES;
    }
    bench_put(&bench_line.in, frame, bytes);
}

void bench_peer_sends_credit(struct bench *b)
{
    bench_put_credit(hx_credit_link_frame(&b->peer, 0));
    hx_credit_link_notified(&b->peer);
}

/* Takes the next data frame; false: none. Takes credit frames before it, and ignores notices. */
bool bench_peer_takes(struct bench *b, struct hx_header *h, struct bench_frame *data)
{
    while (bench_line.out.first != bench_line.out.last) {
        const struct bench_frame *f = &bench_line.out.frame[bench_line.out.first++ % BENCH_FRAMES];
        struct hx_credit_frame c;
        if (hx_credit_decode(&c, f->data, f->bytes) == HX_OK) {
            (void)hx_credit_link_take(&b->peer, &c, ++b->drawn);
            continue;
        }
        if (hx_control_kind_of(f->data, f->bytes) == HX_NOTICE)
            continue;
        assert_int_equal(hx_frame_decode(h, f->data, f->bytes), HX_OK);
        *data = *f;
        return true;
    }
    return false;
}

void bench_meet(struct bench *b)
{
    struct hx_header h;
    static struct bench_frame data;
    for (unsigned turn = 0; turn < 4; turn++) {
        (void)bench_step(b);
        assert_false(bench_peer_takes(b, &h, &data));
        bench_peer_sends_credit(b);
    }
    (void)bench_step(b);
    (void)bench_step(b);
    assert_true(b->peer.open);
    assert_true(bench_cable(b)->up);
}

uint32_t bench_make_frame(uint8_t *frame, uint32_t number, uint32_t length, unsigned vc, unsigned hops)
{
    const struct hx_header h = {.vc = (uint8_t)vc,
                                .hops = (uint8_t)hops,
                                .credit_vc = HX_NO_CREDIT,
                                .kind = HX_DATA,
                                .dst_addr_hi = 0,
                                .src_addr_hi = 1,
                                .message = number,
                                .message_packets = 1,
                                .length = (uint16_t)length,
                                .epoch = 1};
    hx_frame_encode(frame, &h);
    memset(frame + HX_HEADER_BYTES, (int)number, length);
    return HX_HEADER_BYTES + length;
}

void bench_peer_sends(uint32_t number, uint32_t length, unsigned vc)
{
    static uint8_t frame[HX_MAX_FRAME];
    uint32_t bytes = bench_make_frame(frame, number, length, vc, 3);
    bench_put(&bench_line.in, frame, bytes);
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
    b->west->hal.sent = b->west->hal.released = b->west->hal.gone_changed = 0;
}

void bench_west_sends(struct bench *b, uint32_t number, uint32_t length, unsigned vc, unsigned hops)
{
    struct hx_desc d = {.length = (uint16_t)length, .vc = (uint8_t)vc, .hops = (uint8_t)hops, .dst_addr_hi = 1};
    b->west->hal.up |= 1U << HX_E;
    assert_true(hx_lane(hal_tx_credits(&b->west->hal, HX_E), vc) > 0);
    assert_true(shm_buffer_get(&b->w.shm, &d.buffer, 0));
    (void)bench_make_frame(b->f.buffers[d.buffer].frame, number, length, 0, 0); /* hop fields are not kept in memory */
    shm_transmit(&b->west->hal, HX_E, &d);
    west_commits(b);
}

/* Takes the next packet of a VC and checks its payload; UINT32_MAX: none. */
uint32_t bench_west_takes(struct bench *b, unsigned vc)
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
    assert_true(d.vc == vc && d.hops == 3 && d.length == header.length && d.dst_addr_hi == 0);
    for (uint32_t i = 0; i < d.length; i++)
        assert_int_equal(frame[HX_HEADER_BYTES + i], (uint8_t)header.message);
    shm_buffer_put(&b->w.shm, d.buffer);
    tail = hx_lane_add(tail, vc, 1);
    hal_release(h, HX_E, tail, tail, none_waits);
    west_commits(b);
    return header.message;
}

void bench_loses_no_buffer(const struct bench *b)
{
    assert_int_equal(fab_count_buffers(&b->f), b->f.per_home);
}
