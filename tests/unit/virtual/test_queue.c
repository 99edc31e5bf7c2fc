/* test_queue.c - rings keep their content while they grow, also where positions pass 2^16. */
#include "hal/virtual/arena.h"
#include "hal/virtual/event_queue.h"
#include "hal/virtual/queue.h"
#include "hal/virtual/timing.h"
#include "hxmesh/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void append(struct virtual_queue *q, uint16_t tail, uint16_t head)
{
    struct virtual_slot *slot = virtual_queue_append(q, tail, head);
    *slot = (struct virtual_slot){.d = {.buffer = head * 3U}, .ready = head * 7U};
}

static void assert_kept(const struct virtual_queue *q, uint16_t tail, uint16_t head)
{
    for (uint16_t p = tail; p != head; p++) {
        assert_int_equal(virtual_queue_at(q, p)->d.buffer, p * 3U);
        assert_int_equal(virtual_queue_at(q, p)->ready, p * 7U);
    }
}

/* It fills from any offset, and every packet stays at its position. */
static void packets_while_it_grows(void **state)
{
    (void)state;
    static const uint16_t starts[] = {0, 1, 7, 8, 1000, 32767, 65000, 65528, 65529, 65535};
    for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct virtual_queue q = {0};
        uint16_t tail = starts[i];
        for (uint16_t n = 0; n < 3000; n++) {
            append(&q, tail, (uint16_t)(tail + n));
            if (n < 40 || n % 500 == 0)
                assert_kept(&q, tail, (uint16_t)(tail + n + 1));
        }
        assert_kept(&q, tail, (uint16_t)(tail + 3000));
        assert_int_equal(q.mask, 4095);
    }
}

/* It wraps, grows while wrapped, and wraps many times without growing again. */
static void packets_that_come_and_go(void **state)
{
    (void)state;
    struct virtual_queue q = {0};
    uint16_t tail = 65500;
    uint16_t head = 65500;
    for (unsigned n = 0; n < 200000; n++) {
        append(&q, tail, head++);
        uint16_t depth = n < 100000 ? 6 : 60;
        while ((uint16_t)(head - tail) > depth)
            tail++;
        if (n == 99999)
            assert_int_equal(q.mask, 7);
        if (n % 97 == 0)
            assert_kept(&q, tail, head);
    }
    assert_kept(&q, tail, head);
    assert_int_equal(q.mask, 63);
}

/* Its ring serves another queue, and its next one is half as large. */
static void a_queue_that_was_emptied(void **state)
{
    (void)state;
    struct virtual_queue q = {0};
    for (unsigned n = 0; n < 60; n++)
        append(&q, 100, (uint16_t)(100 + n));
    const struct virtual_slot *ring = virtual_queue_slots(&q);
    virtual_queue_end(&q);
    assert_null(virtual_queue_slots(&q));
    void *other = virtual_arena_take_ring(64 * sizeof *ring);
    assert_ptr_equal(other, ring);
    append(&q, 160, 160);
    assert_int_equal(q.mask, 31);
    assert_kept(&q, 160, 161);
    for (unsigned n = 0; n < 20; n++) {
        virtual_queue_end(&q);
        append(&q, 161, 161);
    }
    assert_int_equal(q.mask, 1);
    virtual_arena_give_ring(other, 64 * sizeof *ring);
}

/* As many as positions can distinguish. */
static void most_packets(void **state)
{
    (void)state;
    struct virtual_queue q = {0};
    for (unsigned n = 0; n < 65535; n++)
        append(&q, 60000, (uint16_t)(60000 + n));
    assert_kept(&q, 60000, (uint16_t)(60000 + 65535));
    assert_int_equal(q.mask, 65535);
}

static void credits_while_they_grow(void **state)
{
    (void)state;
    const uint64_t never = virtual_credit_time(VIRTUAL_NO_CREDIT);
    struct virtual_credits c;
    virtual_credits_begin(&c);
    assert_true(virtual_credits_next(&c) == never);
    for (unsigned n = 0; n < 3; n++) { /* so that it grows while wrapped */
        virtual_credits_append(&c, virtual_credit_of(n, 0, 1));
        assert_true(virtual_credits_take(&c) == virtual_credit_of(n, 0, 1));
    }
    assert_true(virtual_credits_next(&c) == never);
    for (unsigned n = 0; n < 1000; n++)
        virtual_credits_append(&c, virtual_credit_of(100 + n, n % HX_VCS, 1 + n % VIRTUAL_MOST_BLOCKS));
    assert_true(virtual_credits_next(&c) == 100);
    for (unsigned n = 0; n < 1000; n++) {
        uint64_t entry = virtual_credits_take(&c);
        assert_true(virtual_credit_time(entry) == 100 + n);
        assert_int_equal(virtual_credit_vc(entry), n % HX_VCS);
        assert_int_equal(virtual_credit_blocks(entry), 1 + n % VIRTUAL_MOST_BLOCKS);
        assert_true(virtual_credit_lanes(entry) == (uint64_t)(1 + n % VIRTUAL_MOST_BLOCKS) << 16 * (n % HX_VCS));
    }
    assert_true(virtual_credits_next(&c) == never);
}

static void deliveries_while_they_grow(void **state)
{
    (void)state;
    struct virtual_eject q = {.head = UINT32_MAX - 5, .tail = UINT32_MAX - 5};
    for (uint32_t n = 0; n < 100; n++) {
        if (!q.slots || q.head - q.tail > q.mask)
            virtual_eject_grow(&q);
        q.slots[q.head++ & q.mask] = (struct virtual_slot){.ready = n};
    }
    for (uint32_t n = 0; n < 100; n++)
        assert_int_equal(q.slots[q.tail++ & q.mask].ready, n);
}

/* Returned rings are reused, for rings of the same size only. */
static void rings_are_reused(void **state)
{
    (void)state;
    void *small = virtual_arena_take_ring(256);
    void *large = virtual_arena_take_ring(4096);
    assert_ptr_not_equal(small, large);
    virtual_arena_give_ring(small, 256);
    void *other = virtual_arena_take_ring(4096);
    assert_true(other != small && other != large);
    assert_ptr_equal(virtual_arena_take_ring(200), small);
    virtual_arena_give_ring(large, 4096);
    virtual_arena_give_ring(other, 4096);
    assert_ptr_equal(virtual_arena_take_ring(4096), other);
    assert_ptr_equal(virtual_arena_take_ring(4096), large);
    virtual_arena_give_ring(NULL, 4096);
}

/* The outgrown ring and the last one are the next to be taken in their sizes. */
static void outgrown_rings_are_returned(void **state)
{
    (void)state;
    struct virtual_queue q = {0};
    append(&q, 0, 0);
    append(&q, 0, 1);
    const void *small = virtual_queue_slots(&q);
    append(&q, 0, 2);
    const void *large = virtual_queue_slots(&q);
    assert_ptr_equal(virtual_arena_take_ring(2 * sizeof(struct virtual_slot)), small);
    virtual_queue_end(&q);
    assert_ptr_equal(virtual_arena_take_ring(4 * sizeof(struct virtual_slot)), large);

    struct virtual_credits c;
    virtual_credits_begin(&c);
    for (unsigned n = 0; n < 8; n++)
        virtual_credits_append(&c, virtual_credit_of(n, 0, 1));
    small = c.entries;
    virtual_credits_append(&c, virtual_credit_of(8, 0, 1));
    large = c.entries;
    assert_ptr_equal(virtual_arena_take_ring(8 * sizeof *c.entries), small);
    virtual_credits_end(&c);
    assert_ptr_equal(virtual_arena_take_ring(16 * sizeof *c.entries), large);

    struct virtual_eject e = {.head = 0};
    virtual_eject_grow(&e);
    small = e.slots;
    virtual_eject_grow(&e);
    large = e.slots;
    assert_ptr_equal(virtual_arena_take_ring(2 * sizeof *e.slots), small);
    virtual_eject_end(&e);
    assert_ptr_equal(virtual_arena_take_ring(4 * sizeof *e.slots), large);
}

/* Pieces are zero, aligned and disjoint, across the end of a chunk. */
static void pieces(void **state)
{
    (void)state;
    uint8_t *last = NULL;
    for (unsigned n = 0; n < 200; n++) {
        uint8_t *piece = virtual_arena_take(1000000 + n);
        assert_int_equal((uintptr_t)piece % 64, 0);
        assert_true(piece[0] == 0 && piece[999999 + n] == 0);
        memset(piece, 0xFF, 1000000 + n);
        assert_true(!last || last[0] == 0xFF);
        last = piece;
    }
}

/* Credit has all that it had, to the end of simulated time. */
static void a_credit_is_one_word(void **state)
{
    (void)state;
    static const uint64_t times[] = {0, 1, (uint64_t)32400 * 1000000000000, VIRTUAL_NEVER - 1};
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++)
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            for (unsigned blocks = 1; blocks <= VIRTUAL_MOST_BLOCKS; blocks++) {
                uint64_t credit = virtual_credit_of(times[i], vc, blocks);
                assert_true(virtual_credit_time(credit) == times[i]);
                assert_int_equal(virtual_credit_vc(credit), vc);
                assert_int_equal(virtual_credit_blocks(credit), blocks);
                assert_true(virtual_credit_lanes(credit) == (uint64_t)blocks << HX_LANE_BITS * vc);
                assert_true(virtual_credit_time(credit) < virtual_credit_time(VIRTUAL_NO_CREDIT));
            }
}

/* Times of injection are kept modulo 17.6 s; ages are right all the same. */
static void an_age_does_not_wrap(void **state)
{
    (void)state;
    const uint64_t turn = (uint64_t)1 << 44;
    static const uint64_t ages[] = {0, 1, 240000, (uint64_t)1 << 40};
    for (uint64_t born = 0; born < 4 * turn; born += turn / 2 - 100000) {
        for (unsigned i = 0; i < sizeof ages / sizeof *ages; i++)
            assert_true(virtual_age(virtual_birth(born, HX_MAX_ACCELERATORS - 1), born + ages[i]) == ages[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_credit_is_one_word),
        cmocka_unit_test(packets_while_it_grows),
        cmocka_unit_test(packets_that_come_and_go),
        cmocka_unit_test(a_queue_that_was_emptied),
        cmocka_unit_test(most_packets),
        cmocka_unit_test(credits_while_they_grow),
        cmocka_unit_test(deliveries_while_they_grow),
        cmocka_unit_test(rings_are_reused),
        cmocka_unit_test(outgrown_rings_are_returned),
        cmocka_unit_test(pieces),
        cmocka_unit_test(an_age_does_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
