/* test_tap_ring.c - the ring of captured records: records come out unchanged, the producer learns of missing room,
 * and no content of a ring misleads its reader. */
/* tsan: a producer and a consumer side by side. */
#include "hal/tap_ring.h"
#include "tests/support/support_random.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = HX_TAP_LEAST_RING, INTERFACES = 7 };

struct pair {
    struct hx_tap_ring *ring;
    struct hx_tap_producer in;
    struct hx_tap_consumer out;
    uint64_t broken;
};

static struct pair p;

static int open_ring(void **state)
{
    (void)state;
    p = (struct pair){.ring = aligned_alloc(64, sizeof(struct hx_tap_ring) + SIZE)};
    memset(p.ring, 0, sizeof(struct hx_tap_ring) + SIZE);
    hx_tap_producer_init(&p.in, p.ring, SIZE);
    hx_tap_consumer_init(&p.out, p.ring, SIZE);
    return 0;
}

static int close_ring(void **state)
{
    (void)state;
    free(p.ring);
    return 0;
}

/* Record number n; all its fields follow from n. */
static uint16_t length_of(uint64_t n)
{
    return (uint16_t)(n * 2654435761U % (HX_MAX_FRAME + 1));
}

static bool put(uint64_t n)
{
    uint16_t length = length_of(n);
    bool noted = n % 3 == 0;
    struct hx_tap_record *r = hx_tap_reserve(&p.in, hx_tap_record_bytes(length, noted));
    if (!r)
        return false;
    r->time = n;
    r->dropped = 0;
    r->interface = (uint32_t)(n % INTERFACES);
    r->original = HX_MAX_FRAME;
    r->captured = length;
    r->direction = n % 2 ? HX_TAP_IN : HX_TAP_OUT;
    r->vc = (uint8_t)(n % HX_VCS);
    r->noted = noted;
    if (noted)
        *hx_tap_note_of(r) = (struct hx_tap_note){.candidates = n};
    memset(hx_tap_bytes_of(r), (int)(n & 0xFF), length);
    return true;
}

static void expect(uint64_t n)
{
    struct hx_tap_record *r = hx_tap_next(&p.out, INTERFACES, &p.broken);
    assert_non_null(r);
    assert_int_equal(r->time, n);
    assert_int_equal(r->interface, n % INTERFACES);
    assert_int_equal(r->captured, length_of(n));
    assert_int_equal(r->direction, n % 2 ? HX_TAP_IN : HX_TAP_OUT);
    if (n % 3 == 0)
        assert_int_equal(hx_tap_note_of(r)->candidates, n);
    for (unsigned i = 0; i < r->captured; i++)
        assert_int_equal(hx_tap_bytes_of(r)[i], n & 0xFF);
    hx_tap_taken(&p.out, r);
}

static void records_of_all_lengths_come_out_unchanged(void **state)
{
    (void)state;
    uint64_t random = 1;
    uint64_t sent = 0;
    uint64_t seen = 0;
    while (seen < 20000) {
        for (unsigned n = seeded_below(&random, 20); n > 0 && put(sent); n--)
            sent++;
        hx_tap_publish(&p.in);
        (void)hx_tap_look(&p.out);
        for (unsigned n = seeded_below(&random, 20); n > 0 && seen < sent; n--)
            expect(seen++);
        hx_tap_free(&p.out);
    }
    assert_int_equal(p.broken, 0);
}

enum { IN_PARALLEL = 30000 };

static void *produce(void *unused)
{
    (void)unused;
    for (uint64_t n = 0; n < IN_PARALLEL;) {
        hx_tap_writes(&p.in);
        for (unsigned burst = 0; burst < 5 && n < IN_PARALLEL && put(n); burst++)
            n++;
        hx_tap_publish(&p.in);
    }
    return NULL;
}

static void two_threads_share_a_ring(void **state)
{
    (void)state;
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
    for (uint64_t seen = 0; seen < IN_PARALLEL;) {
        (void)hx_tap_look(&p.out);
        struct hx_tap_record *r = hx_tap_next(&p.out, INTERFACES, &p.broken);
        for (; r; r = hx_tap_next(&p.out, INTERFACES, &p.broken)) {
            assert_int_equal(r->time, seen);
            assert_int_equal(r->captured, length_of(seen));
            assert_true(r->captured == 0 || hx_tap_bytes_of(r)[r->captured - 1] == (seen & 0xFF));
            hx_tap_taken(&p.out, r);
            seen++;
        }
        hx_tap_free(&p.out);
        (void)sched_yield();
    }
    assert_int_equal(pthread_join(producer, NULL), 0);
    assert_int_equal(p.broken, 0);
}

static void a_full_ring_refuses_until_there_is_room(void **state)
{
    (void)state;
    uint64_t sent = 0;
    while (put(sent))
        sent++;
    hx_tap_publish(&p.in);
    assert_in_range(sent, SIZE / (HX_MAX_FRAME + 100), SIZE / sizeof(struct hx_tap_record));
    assert_false(put(sent));
    (void)hx_tap_look(&p.out);
    for (uint64_t n = 0; n < sent; n++)
        expect(n);
    assert_false(put(sent));
    hx_tap_free(&p.out);
    assert_true(put(sent));
}

static void records_are_invisible_until_published(void **state)
{
    (void)state;
    hx_tap_writes(&p.in);
    assert_true(put(1));
    assert_false(hx_tap_look(&p.out));
    assert_null(hx_tap_next(&p.out, INTERFACES, &p.broken));
    hx_tap_publish(&p.in);
    assert_true(hx_tap_look(&p.out));
    expect(1);
    assert_int_equal(p.broken, 0);
}

static void a_successor_continues_behind_published_records(void **state)
{
    (void)state;
    assert_true(put(0));
    hx_tap_publish(&p.in);
    hx_tap_writes(&p.in);
    assert_true(put(1)); /* and dies */
    hx_tap_producer_init(&p.in, p.ring, SIZE);
    assert_true(put(2));
    hx_tap_publish(&p.in);
    assert_true(hx_tap_look(&p.out));
    expect(0);
    expect(2);
    assert_null(hx_tap_next(&p.out, INTERFACES, &p.broken));
}

/* For anything that a wild process wrote, records are inside the ring, and the reader reaches the head. */
static void invalid_records_are_skipped(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (unsigned round = 0; round < 4000; round++) {
        p.out.tail = (p.out.tail + 7) & ~UINT64_C(7); /* a pass may end anywhere */
        for (unsigned at = 0; at < 4096; at += 4) {
            uint32_t word = (uint32_t)seeded_next(&random);
            word = round % 2 ? word : word % 200;
            memcpy(p.ring->bytes + (p.out.tail + at) % SIZE, &word, 4);
        }
        uint64_t head = p.out.tail + (seeded_below(&random, round % 3 ? 2 * SIZE : 4096) & ~7U);
        head += round % 16 ? 0 : seeded_below(&random, 8);
        atomic_store(&p.ring->head, head);
        (void)hx_tap_look(&p.out);
        struct hx_tap_record *r;
        for (unsigned n = 0; (r = hx_tap_next(&p.out, INTERFACES, &p.broken)) != NULL; n++) {
            const uint8_t *begin = (const uint8_t *)r;
            assert_true(begin >= p.ring->bytes && begin + r->size <= p.ring->bytes + SIZE);
            assert_true(hx_tap_bytes_of(r) + r->captured <= begin + r->size);
            assert_true(r->interface < INTERFACES && n < SIZE);
            hx_tap_taken(&p.out, r);
        }
        assert_int_equal(p.out.tail, head);
        hx_tap_free(&p.out);
    }
    assert_true(p.broken > 100);
}

static void a_record_is_bounded_by_the_ring(void **state)
{
    (void)state;
    static const struct hx_tap_record good = {
        .size = 104, .interface = 3, .original = 100, .captured = 64, .direction = HX_TAP_IN};
    struct hx_tap_record bad[] = {good, good, good, good, good, good};
    bad[0].size = 112;     /* beyond the head */
    bad[1].size = 100;     /* no multiple of 8 */
    bad[2].captured = 72;  /* more than the size */
    bad[3].captured = 101; /* more than the frame had */
    bad[4].interface = INTERFACES;
    bad[5].noted = 1; /* no room for the note */
    for (unsigned i = 0; i <= sizeof bad / sizeof *bad; i++) {
        struct hx_tap_record *r = hx_tap_reserve(&p.in, 104);
        assert_non_null(r);
        *r = i < sizeof bad / sizeof *bad ? bad[i] : good;
        hx_tap_publish(&p.in);
        (void)hx_tap_look(&p.out);
        r = hx_tap_next(&p.out, INTERFACES, &p.broken);
        if (i < sizeof bad / sizeof *bad) {
            assert_null(r);
            assert_int_equal(p.broken, i + 1);
            assert_int_equal(p.out.tail, p.out.head);
        } else {
            assert_non_null(r);
        }
    }
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    const struct hx_tap_shape good = {
        .rings = 2, .ring_bytes = SIZE, .ports = 5, .interfaces = 5, .snaplen = HX_TAP_LEAST_SNAPLEN};
    assert_true(hx_tap_shape_is_good(&good));
    struct hx_tap_shape bad[] = {good, good, good, good, good, good, good, good};
    bad[0].ring_bytes = SIZE + 8;
    bad[1].ring_bytes = SIZE / 2;
    bad[2].ring_bytes = 0;
    bad[3].interfaces = 6;
    bad[4].snaplen = HX_TAP_MOST_SNAPLEN + 1;
    bad[5].snaplen = HX_TAP_LEAST_SNAPLEN - 1;
    bad[6].program = HX_TAP_MOST_PROGRAM + 1;
    bad[7].rings = 0;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(hx_tap_shape_is_good(&bad[i]));
}

#define PREPARED(test) cmocka_unit_test_setup_teardown(test, open_ring, close_ring)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PREPARED(records_of_all_lengths_come_out_unchanged),
        PREPARED(two_threads_share_a_ring),
        PREPARED(a_full_ring_refuses_until_there_is_room),
        PREPARED(records_are_invisible_until_published),
        PREPARED(a_successor_continues_behind_published_records),
        PREPARED(invalid_records_are_skipped),
        PREPARED(a_record_is_bounded_by_the_ring),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
