/* test_endpoint_peers.c - what an endpoint keeps about peers: memory is touched as peers appear, and a peer that
 * only a report or an answer names takes no room. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { COLUMNS = 250, ROWS = 250, ALL = COLUMNS * ROWS, MANY = 1000 };

static size_t touched_pages(uint8_t *memory, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (bytes + page - 1) / page;
    unsigned char *there = lab_memory(pages);
    assert_int_equal(mincore(memory, bytes, there), 0);
    size_t count = 0;
    for (size_t i = 0; i < pages; i++)
        count += there[i] & 1U;
    return count;
}

/* If every accelerator may be a peer there is room for all, and an endpoint with few peers touches only their
 * memory. */
static void memory_is_touched_as_peers_appear(void **state)
{
    (void)state;
    trial_start(1, 1);
    struct cloud_end *e = &cloud.end[0];
    e->config.columns = COLUMNS;
    e->config.rows = ROWS;
    e->config.peers = ALL - 1;
    e->config.sends = MANY;
    size_t bytes = hx_endpoint_bytes(&e->config);
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    assert_int_equal(hx_endpoint_init(&e->ep, &e->config, &e->hal, memory), HX_OK);
    size_t at_first = touched_pages(memory, bytes);
    assert_in_range(at_first, 1, 4);
    for (unsigned number = 0; number < MANY; number++)
        assert_int_equal(hx_endpoint_send(&e->ep, number % COLUMNS, number / COLUMNS, FULL, 0, number), HX_OK);
    /* Sends and peers, 64 B each, and at most all slots of their hash. */
    size_t places = 2 * (size_t)ALL * sizeof(uint32_t) / 4096 + 1;
    assert_in_range(touched_pages(memory, bytes), 0, 8 + 2 * (MANY / 64 + 1) + places);
    assert_true(bytes / 4096 > 20 * places);
    assert_int_equal(munmap(memory, bytes), 0);
}

/* Short messages with packets in any order do not use the maps beside a peer's first cache line. */
static void short_messages_need_no_map(void **state)
{
    (void)state;
    trial_start(2, 1);
    cloud.faults.keep = 50; /* percent: the order changes */
    struct hx_map *map = cloud.end[1].ep.map;
    struct hx_map other[HX_PEER_WINDOW];
    memset(other, 0xFF, sizeof other); /* would be taken for arrived packets */
    memcpy(map, other, sizeof other);
    for (unsigned round = 0; round < 30; round++) {
        for (unsigned i = 0; i < HX_PEER_WINDOW; i++)
            trial_send(0, 1, (29 + i) * (uint64_t)FULL);
        trial_turns(LONG / 100);
    }
    trial_finish();
    assert_memory_equal(map, other, sizeof other);
}

static void peers_that_are_only_named_take_no_room(void **state)
{
    (void)state;
    struct hx_endpoint_config config = trial_config(1);
    config.peers = 1;
    cloud_init(&cloud, 4, &config, LOOPBACK_MAX_BLOCKS, 1);
    static const uint8_t stuck_at[HX_REPORT_BYTES] = {0, 3, 0, 0, HX_DATA};
    for (unsigned kind = 0; kind < 2; kind++) {
        struct hx_header h = {.kind = kind ? HX_ACK : HX_UNREACHABLE, .job = JOB, .message_packets = 1, .epoch = 1};
        h.credit_vc = HX_NO_CREDIT;
        h.src_addr_hi = 2;
        h.peer_epoch = hx_epoch_check(cloud.end[0].config.epoch);
        h.length = kind ? 0 : HX_REPORT_BYTES;
        struct cloud_frame *f = &cloud.frame[cloud.frames++];
        f->to = 0;
        f->length = h.length;
        memcpy(f->bytes + HX_HEADER_BYTES, stuck_at, h.length);
        trial_rewrite(f, &h);
    }
    trial_turns(4);
    assert_int_equal(cloud.end[0].ep.known, 0);
    assert_int_equal(cloud_drops(&cloud, 0, HX_DROP_STALE), 1);
    trial_send(0, 1, FULL);
    trial_finish();
    assert_int_equal(hx_endpoint_send(&cloud.end[0].ep, 2, 0, 1, 0, 0), HX_E_CAPACITY);
}

/* Its parts follow each other in whole cache lines, and the last one ends at the end of the memory. */
static void memory_is_the_sum_of_its_parts(void **state)
{
    (void)state;
    static const unsigned sends[] = {1, 2, 63, 64, 65, 1000};
    static const unsigned columns[] = {1, 2, 17};
    for (unsigned i = 0; i < 6 * 3; i++) {
        struct hx_endpoint ep;
        struct hx_endpoint_config config = trial_config(1);
        config.sends = (uint16_t)sends[i % 6];
        config.columns = (uint16_t)columns[i / 6];
        config.rows = 100;
        config.peers = i / 6 ? 5 : 0;
        size_t bytes = hx_endpoint_bytes(&config);
        uint8_t *memory = aligned_alloc(64, bytes);
        assert_non_null(memory);
        memset(memory, 0, bytes);
        assert_int_equal(hx_endpoint_init(&ep, &config, NULL, memory), HX_OK);
        size_t words = (config.sends + 63U) / 64;
        const struct {
            const void *at;
            size_t bytes;
        } parts[] = {{ep.due.word, 2 * words * sizeof(uint64_t)},
                     {ep.rest_of, (ep.peers + (size_t)1) * sizeof *ep.rest_of},
                     {ep.peer, ep.peers * sizeof *ep.peer},
                     {ep.bucket, ep.bucket ? (ep.bucket_mask + 1U) * sizeof *ep.bucket : 0},
                     {ep.send, config.sends * sizeof *ep.send},
                     {ep.ack, ep.ack_slots * sizeof *ep.ack},
                     {ep.slots, ep.peers * (size_t)ep.slot_bytes},
                     {ep.rest, ep.peers * sizeof *ep.rest},
                     {ep.map, (size_t)ep.peers * ep.window * sizeof *ep.map},
                     {ep.send_map, config.sends * sizeof *ep.send_map},
                     {ep.send_lost, config.sends * sizeof *ep.send_lost},
                     {ep.report, HX_REPORTS * sizeof *ep.report}};
        assert_ptr_equal(ep.idle.word, ep.due.word + words);
        size_t at = 0;
        for (unsigned part = 0; part < sizeof parts / sizeof *parts; part++) {
            if (parts[part].bytes)
                assert_ptr_equal(parts[part].at, memory + at);
            at += (parts[part].bytes + 63) / 64 * 64;
        }
        assert_int_equal(bytes, at);
        free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_the_sum_of_its_parts),
        cmocka_unit_test_teardown(memory_is_touched_as_peers_appear, lab_free),
        cmocka_unit_test_teardown(short_messages_need_no_map, lab_free),
        cmocka_unit_test_teardown(peers_that_are_only_named_take_no_room, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
