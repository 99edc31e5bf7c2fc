/* test_event_queue.c - an event queue gives the earliest item first, and of equal times the lowest, for any order of
 * notes. */
#include "hal/virtual/event_queue.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

enum { ITEMS = 64, FIRST = VIRTUAL_EVENT_QUEUE_FIRST, ROOM = FIRST + ITEMS + (ITEMS - 1) / 2 + 1 };

static struct virtual_event_queue opened(uint64_t *key, unsigned room)
{
    struct virtual_event_queue a;
    virtual_event_queue_open(&a, key, room);
    return a;
}

/* All items fit, and half as many to spare; with fewer it would move to the start at each note. */
static void room_for_all(void **state)
{
    (void)state;
    assert_int_equal(virtual_event_queue_room(1), FIRST + 2);
    assert_int_equal(virtual_event_queue_room(4), FIRST + 6);
    assert_int_equal(virtual_event_queue_room(ITEMS), ROOM);
}

/* A few items, which fit few cache lines, always use the same ones: memory behind them is not touched. */
static void few_stay_at_the_beginning(void **state)
{
    (void)state;
    enum { FEW = 4 };
    uint64_t key[ROOM];
    struct virtual_event_queue a = opened(key, ROOM);
    for (unsigned i = FIRST + FEW + VIRTUAL_EVENT_QUEUE_RUN + 1; i < ROOM; i++)
        key[i] = 7;
    for (unsigned item = 0; item < FEW; item++)
        virtual_event_queue_note(&a, item, item);
    for (uint64_t time = 0; time < 10 * ROOM; time++) {
        assert_true(virtual_event_queue_time(&a) == time);
        assert_int_equal(virtual_event_queue_take(&a), time % FEW);
        virtual_event_queue_note(&a, time + FEW, time % FEW);
    }
    for (unsigned i = FIRST + FEW + VIRTUAL_EVENT_QUEUE_RUN + 1; i < ROOM; i++)
        assert_true(key[i] == 7);
}

/* An item that is due at the earliest time is taken out of turn; the others keep theirs. */
static void a_due_item_out_of_turn(void **state)
{
    (void)state;
    uint64_t key[ROOM];
    struct virtual_event_queue a = opened(key, ROOM);
    assert_false(virtual_event_queue_take_due(&a, 9));
    for (unsigned item = 1; item <= 3; item++)
        virtual_event_queue_note(&a, 5, item);
    virtual_event_queue_note(&a, 6, 9);
    assert_false(virtual_event_queue_take_due(&a, 9)); /* later */
    virtual_event_queue_note(&a, 5, 8);
    assert_true(virtual_event_queue_take_due(&a, 8));
    assert_false(virtual_event_queue_take_due(&a, 8));
    virtual_event_queue_note(&a, 5, 0); /* the lowest stays behind the zeros */
    for (unsigned item = 0; item <= 3; item++)
        assert_int_equal(virtual_event_queue_take(&a), item);
    assert_true(virtual_event_queue_take_due(&a, 9));
    assert_int_equal(virtual_event_queue_count(&a), 0);
}

/* Full, at every offset of its room: no write beyond the room, and no lost item. */
static void full_all_the_time(void **state)
{
    (void)state;
    uint64_t key[ROOM + 1];
    key[ROOM] = 7;
    struct virtual_event_queue a = opened(key, ROOM);
    for (unsigned item = 0; item < ITEMS; item++)
        virtual_event_queue_note(&a, item, item);
    for (uint64_t time = 0; time < 10 * ROOM; time++) {
        assert_int_equal(virtual_event_queue_count(&a), ITEMS);
        assert_true(virtual_event_queue_time(&a) == time);
        assert_int_equal(virtual_event_queue_take(&a), time % ITEMS);
        virtual_event_queue_note(&a, time + ITEMS, time % ITEMS);
    }
    assert_true(key[ROOM] == 7);
}

static void empty(void **state)
{
    (void)state;
    uint64_t key[FIRST + 2];
    struct virtual_event_queue a = opened(key, FIRST + 2);
    assert_true(virtual_event_queue_time(&a) == VIRTUAL_NEVER);
    virtual_event_queue_note(&a, 0, 255);
    assert_true(virtual_event_queue_time(&a) == 0);
    assert_int_equal(virtual_event_queue_take(&a), 255);
    assert_true(virtual_event_queue_time(&a) == VIRTUAL_NEVER);
}

static void latest_time(void **state)
{
    (void)state;
    uint64_t key[FIRST + 4];
    struct virtual_event_queue a = opened(key, FIRST + 4);
    virtual_event_queue_note(&a, VIRTUAL_NEVER - 1, 0);
    virtual_event_queue_note(&a, VIRTUAL_NEVER - 2, 255);
    assert_true(virtual_event_queue_time(&a) == VIRTUAL_NEVER - 2);
    assert_int_equal(virtual_event_queue_take(&a), 255);
    assert_true(virtual_event_queue_time(&a) == VIRTUAL_NEVER - 1);
}

/* Random items, some of them moved earlier, come out in the order of their final times; a later time changes
 * nothing. */
static void items_moved_earlier(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 2000; round++) {
        uint64_t key[ROOM];
        uint64_t time[ITEMS];
        struct virtual_event_queue a = opened(key, ROOM);
        for (unsigned item = 0; item < ITEMS; item++) {
            time[item] = random_below(random_of(round, item, 0), 100);
            virtual_event_queue_note(&a, time[item], item);
        }
        for (unsigned change = 0; change < ITEMS; change++) {
            unsigned item = random_below(random_of(round, change, 1), ITEMS);
            uint64_t to = random_below(random_of(round, change, 2), 100);
            virtual_event_queue_sooner(&a, to, item);
            time[item] = to < time[item] ? to : time[item];
        }
        uint64_t last = 0;
        while (virtual_event_queue_count(&a)) {
            uint64_t now = virtual_event_queue_time(&a);
            assert_true(now >= last);
            assert_true(time[virtual_event_queue_take(&a)] == now);
            last = now;
        }
    }
}

/* Every order of noting five items of two times. */
static void order_of_noting(void **state)
{
    (void)state;
    static const uint64_t time[] = {7, 3, 7, 3, 3};
    static const unsigned expected[] = {1, 3, 4, 0, 2};
    for (unsigned order = 0; order < 5 * 5 * 5 * 5 * 5; order++) {
        uint64_t key[FIRST + 8];
        struct virtual_event_queue a = opened(key, FIRST + 8);
        unsigned noted = 0;
        for (unsigned n = 0, left = order; n < 5; n++, left /= 5) {
            if (!(noted >> left % 5 & 1))
                virtual_event_queue_note(&a, time[left % 5], left % 5);
            noted |= 1U << left % 5;
        }
        for (unsigned n = 0; n < 5 && noted == 31; n++) {
            assert_true(virtual_event_queue_time(&a) == time[expected[n]]);
            assert_int_equal(virtual_event_queue_take(&a), expected[n]);
        }
        assert_true(noted != 31 || virtual_event_queue_count(&a) == 0);
    }
}

/* Against a list that is searched. */
static void random_operations(void **state)
{
    (void)state;
    static uint64_t key[ROOM];
    uint64_t time[ITEMS];
    bool noted[ITEMS] = {false};
    struct virtual_event_queue a = opened(key, ROOM);
    for (uint64_t n = 0; n < 200000; n++) {
        uint64_t random = random_of(1, n, 0);
        unsigned item = random_below(random, ITEMS);
        if (!noted[item] && random % 2) {
            noted[item] = true;
            time[item] = split_mix(random) % 50;
            virtual_event_queue_note(&a, time[item], item);
        } else if (virtual_event_queue_count(&a)) {
            unsigned best = ITEMS;
            for (unsigned i = 0; i < ITEMS; i++)
                best = noted[i] && (best == ITEMS || time[i] < time[best]) ? i : best;
            assert_true(virtual_event_queue_time(&a) == time[best]);
            assert_int_equal(virtual_event_queue_take(&a), best);
            noted[best] = false;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_for_all),
        cmocka_unit_test(a_due_item_out_of_turn),
        cmocka_unit_test(few_stay_at_the_beginning),
        cmocka_unit_test(full_all_the_time),
        cmocka_unit_test(empty),
        cmocka_unit_test(latest_time),
        cmocka_unit_test(items_moved_earlier),
        cmocka_unit_test(order_of_noting),
        cmocka_unit_test(random_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
