/* test_feed.c - frames from outside into a port are validated, get buffers, are sent, and cost no buffer. */
#include "fabric-emu/capture/memory.h"
#include "fabric-emu/live/feed.h"
#include "fabric-emu/live/taps.h"
#include "hxmesh/frame.h"
#include "tests/support/shm/support_shm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct support s;
static struct worker fed;
static struct feed *feed;
static int fd;

static int open_fabric(void **state)
{
    (void)state;
    support_open(&s, &(struct support_plan){"2x2 Hx2Mesh", .workers = 1, .planes = 1, .message = 8, .count = 1});
    support_start(&s, &fed, 0);
    feed = capture_share(sizeof *feed, "test-feed", &fd);
    assert_non_null(feed);
    feed->magic = FEED_MAGIC;
    feed->version = FEED_VERSION;
    return 0;
}

static int close_fabric(void **state)
{
    (void)state;
    struct support_audit audit = support_audit(&s);
    assert_int_equal(audit.missing + audit.doubled + audit.foreign, 0);
    slot_release(s.f.control, s.f.arena.fd, SLOT_FEED);
    feed_follow(&fed);
    assert_null(fed.feeding.feed);
    support_forget(&fed);
    support_close(&s);
    (void)munmap(feed, sizeof *feed);
    (void)close(fd);
    return 0;
}

/* Offers the feed for the port; returns whether the worker accepts it. */
static bool offer(uint32_t node, uint32_t port)
{
    int holder;
    feed->node = node;
    feed->port = port;
    assert_int_equal(slot_take(s.f.control, s.f.arena.fd, SLOT_FEED, SLOT_FEED, fd, &holder), SLOT_FEED);
    feed_follow(&fed);
    return atomic_load(&feed->state) == FEED_TAKEN;
}

static struct hx_header header(uint16_t length)
{
    return (struct hx_header){.credit_vc = HX_NO_CREDIT,
                              .kind = HX_DATA,
                              .vc = 1,
                              .hops = 3,
                              .dst_addr_hi = 2,
                              .dst_addr_lo = 1,
                              .src_addr_hi = 0,
                              .src_addr_lo = 3,
                              .message_packets = 1,
                              .length = length,
                              .epoch = 1};
}

static void make(uint8_t frame[HX_MAX_FRAME], const struct hx_header *h)
{
    memset(frame, 0x5A, HX_MAX_FRAME);
    hx_frame_encode(frame, h);
    hx_frame_set_crc(frame, hx_frame_crc(frame, h->length));
}

static void put(const uint8_t *frame, uint32_t bytes)
{
    uint64_t head = atomic_load(&feed->head);
    feed->slot[head % FEED_SLOTS].bytes = bytes;
    memcpy(feed->slot[head % FEED_SLOTS].frame, frame, bytes);
    atomic_store(&feed->head, head + 1);
}

static void put_header(const struct hx_header *h)
{
    uint8_t frame[HX_MAX_FRAME];
    make(frame, h);
    put(frame, HX_HEADER_BYTES + h->length);
}

static uint64_t count(enum feed_verdict verdict)
{
    return atomic_load(&feed->count[verdict]);
}

static void a_frame_enters_the_link_unchanged(void **state)
{
    (void)state;
    struct hx_header h = header(100);
    uint32_t node = hx_fabric_host(s.f.g, 2, 1);
    assert_true(offer(node, HX_W));
    const struct shm_link *link = fab_incoming(&s.f, 0, node, HX_W);
    put_header(&h);
    assert_int_equal(feed_step(&fed), 1);
    assert_int_equal(count(FEED_SENT), 1);
    assert_int_equal(hx_lane(link->heads, 1), 1);
    const struct hx_desc *d = &link->slots[s.f.slots];
    assert_int_equal(d->length, 100);
    assert_int_equal(d->vc, 1);
    assert_int_equal(d->hops, 3);
    assert_int_equal(d->dst_addr_hi, 2);
    assert_int_equal(d->dst_addr_lo, 1);
    uint8_t frame[HX_MAX_FRAME];
    make(frame, &h);
    assert_memory_equal(s.f.buffers[d->buffer].frame, frame, HX_HEADER_BYTES + 100);
    (void)support_sweep(&s, &fed, false);
    assert_int_equal(link->heads, link->tails); /* its switch has taken it */
}

static void injected_frames_start_with_fresh_hop_fields(void **state)
{
    (void)state;
    struct hx_header h = header(8);
    uint32_t node = hx_fabric_host(s.f.g, 0, 3);
    assert_true(offer(node, HX_LOCAL));
    put_header(&h);
    assert_int_equal(feed_step(&fed), 1);
    const struct shm_link *link = fab_inject_link(&s.f, 0, node);
    assert_int_equal(hx_lane(link->heads, 0), 1);
    assert_int_equal(link->slots[0].vc, 0);
    assert_int_equal(link->slots[0].hops, 0);
}

static void frames_wait_for_room(void **state)
{
    (void)state;
    struct hx_header h = header(1);
    uint32_t node = hx_fabric_host(s.f.g, 2, 1);
    assert_true(offer(node, HX_W));
    for (unsigned i = 0; i < 100; i++)
        put_header(&h);
    unsigned taken = 0;
    for (unsigned i = 0; i < 50; i++)
        taken += feed_step(&fed);
    assert_int_equal(taken, s.f.slots);
    for (unsigned i = 0; i < 1000 && taken < 100; i++) {
        (void)support_sweep(&s, &fed, false);
        taken += feed_step(&fed);
    }
    assert_int_equal(taken, 100);
    assert_int_equal(count(FEED_SENT), 100);
    assert_int_equal(atomic_load(&feed->tail), 100);
}

static void bad_frames_are_counted_by_reason(void **state)
{
    (void)state;
    uint8_t frame[HX_MAX_FRAME];
    struct hx_header h = header(50);
    assert_true(offer(hx_fabric_host(s.f.g, 2, 1), HX_W));
    make(frame, &h);
    put(frame, 30); /* cut */
    frame[14] = 9;  /* version */
    put(frame, HX_HEADER_BYTES + 50);
    make(frame, &h);
    frame[HX_HEADER_BYTES + 49] ^= 1;
    put(frame, HX_HEADER_BYTES + 50);
    h.dst_addr_hi = 4;
    put_header(&h);
    h = header(50);
    h.src_addr_lo = 4;
    put_header(&h);
    h = header(50);
    h.plane = 1;
    put_header(&h);
    hx_credit_encode(frame, &(struct hx_credit_frame){.nonce = 1});
    put(frame, HX_CREDIT_FRAME_BYTES);
    feed->slot[7].bytes = UINT32_MAX; /* more than a slot holds */
    memset(feed->slot[7].frame, 0, HX_MAX_FRAME);
    atomic_store(&feed->head, 8);
    assert_int_equal(feed_step(&fed), 8);
    assert_int_equal(count(FEED_MALFORMED), 3);
    assert_int_equal(count(FEED_CHECKSUM), 1);
    assert_int_equal(count(FEED_OUTSIDE), 3);
    assert_int_equal(count(FEED_CONTROL), 1);
    assert_int_equal(count(FEED_SENT), 0);
}

static void an_impossible_head_is_ignored(void **state)
{
    (void)state;
    assert_true(offer(hx_fabric_host(s.f.g, 2, 1), HX_W));
    atomic_store(&feed->head, FEED_SLOTS + 1);
    assert_int_equal(feed_step(&fed), 0);
    atomic_store(&feed->head, UINT64_MAX);
    assert_int_equal(feed_step(&fed), 0);
    assert_int_equal(atomic_load(&feed->tail), 0);
}

static void missing_ports_are_refused(void **state)
{
    (void)state;
    assert_false(offer(s.f.g->nodes, 0));
    slot_release(s.f.control, s.f.arena.fd, SLOT_FEED);
    assert_false(offer(0, HX_ACCELERATOR_PORTS));
    slot_release(s.f.control, s.f.arena.fd, SLOT_FEED);
    feed->plane = 1;
    assert_false(offer(0, HX_E));
    slot_release(s.f.control, s.f.arena.fd, SLOT_FEED);
    feed->plane = 0;
    assert_true(offer(s.f.g->mesh.row_base, 1)); /* a port of a network */
    assert_int_equal(feed_step(&fed), 0);
}

int main(void)
{
#define ON_FABRIC(test) cmocka_unit_test_setup_teardown(test, open_fabric, close_fabric)
    const struct CMUnitTest tests[] = {
        ON_FABRIC(a_frame_enters_the_link_unchanged),
        ON_FABRIC(injected_frames_start_with_fresh_hop_fields),
        ON_FABRIC(frames_wait_for_room),
        ON_FABRIC(bad_frames_are_counted_by_reason),
        ON_FABRIC(an_impossible_head_is_ignored),
        ON_FABRIC(missing_ports_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
