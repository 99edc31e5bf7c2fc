/* test_bridge_notices.c - the emulator's end of a cable tells an external accelerator of dead links, and takes its
 * notices (fabric-emu/live/bridge.h). */
#include "hxmesh/error.h"
#include "tests/support/shm/support_bridge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct hx_auth_key key = {{UINT64_C(0x0123456789ABCDEF), 42}};

/* Reads what the bridge sent. Returns the frames of notices; *last: the last one. */
static unsigned read_notices(struct hx_notice_frame *last)
{
    unsigned frames = 0;
    while (bench_line.out.first != bench_line.out.last) {
        const struct bench_frame *f = &bench_line.out.frame[bench_line.out.first++ % BENCH_FRAMES];
        frames += hx_notice_decode(last, f->data, f->bytes) == HX_OK;
    }
    return frames;
}

/* The emulator's fabric with these ports of the western accelerator dead. */
static void tell(struct bench *b, uint8_t ports)
{
    const struct hx_geometry *g = b->b->notices.g;
    struct hx_dead_links dead;
    void *memory = calloc(1, hx_dead_links_bytes(g));
    assert_non_null(memory);
    hx_dead_links_init(&dead, g, memory);
    dead.accelerator[0] = ports;
    bridge_tell(b->b, &dead);
    free(memory);
}

/* A session in which no link is known to be dead. */
static void meet(struct bench *b)
{
    struct hx_notice_frame f;
    tell(b, 0);
    bench_meet(b);
    (void)bench_step(b);
    (void)read_notices(&f);
}

static void assert_told(const struct hx_notice_frame *f)
{
    assert_int_equal(f->count, 1);
    assert_int_equal(f->notice[0].node, 0);
    assert_true(f->notice[0].sequence != 0);
    assert_true(f->notice[0].dead == 1U << HX_W);
}

static void test_a_dead_link_is_told_at_once(void **state)
{
    struct bench *b = *state;
    struct hx_notice_frame f;
    meet(b);
    tell(b, 1U << HX_W);
    (void)bench_step(b);
    assert_int_equal(read_notices(&f), 1);
    assert_told(&f);
    assert_true(f.nonce == b->b->port[HX_W].cable.link.nonce && f.peer_nonce == b->peer.nonce);
}

/* With a key a refused frame waits, so that no number of a tag is used twice. */
static void test_a_refused_frame_of_notices_with_a_tag_leaves_later(void **state)
{
    struct bench *b = *state;
    struct hx_notice_frame f;
    b->b->port[HX_W].cable.key = bench_line.key = &key;
    meet(b);
    bench_line.room = 0;
    tell(b, 1U << HX_W);
    for (unsigned n = 0; n < 5; n++)
        (void)bench_step(b);
    assert_int_equal(read_notices(&f), 0);
    bench_line.room = UINT32_MAX;
    for (unsigned n = 0; n < 5; n++)
        (void)bench_step(b);
    assert_int_equal(read_notices(&f), 1);
    assert_told(&f);
}

static void put_notice(const struct bench *b, uint64_t nonce)
{
    uint8_t frame[HX_NOTICE_FRAME_BYTES];
    const struct hx_notice_frame f = {.count = 1,
                                      .notice = {{.node = 1, .sequence = 1, .dead = 1U << HX_E}},
                                      .nonce = nonce,
                                      .peer_nonce = b->b->port[HX_W].cable.link.nonce};
    bench_put(&bench_line.in, frame, hx_notice_encode(frame, &f));
}

static void test_notices_of_the_session_are_taken_and_others_are_strangers(void **state)
{
    struct bench *b = *state;
    bench_meet(b);
    const uint64_t strangers = bench_cable(b)->count.strangers;
    put_notice(b, b->peer.nonce ^ 1);
    (void)bench_step(b);
    assert_int_equal(bench_cable(b)->count.strangers, strangers + 1);
    assert_int_equal(b->b->notices.state[1].sequence, 0);
    put_notice(b, b->peer.nonce);
    (void)bench_step(b);
    assert_int_equal(b->b->notices.state[1].sequence, 1);
    assert_int_equal(bench_cable(b)->count.dropped, 0);
}

/* A fabric that is no HammingMesh keeps no notices. */
static void test_a_bridge_without_notices_ignores_them(void **state)
{
    struct bench *b = *state;
    bench_meet(b);
    b->b->notices.g = NULL;
    put_notice(b, b->peer.nonce);
    (void)bench_step(b);
    assert_int_equal(bench_cable(b)->count.dropped, 0);
    assert_true(bench_cable(b)->up);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_dead_link_is_told_at_once),
        TEST(test_a_refused_frame_of_notices_with_a_tag_leaves_later),
        TEST(test_notices_of_the_session_are_taken_and_others_are_strangers),
        TEST(test_a_bridge_without_notices_ignores_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
