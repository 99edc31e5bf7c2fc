/* test_heap.c - the binary heap (base/heap.h) and the queue by time (base/time_heap.h), against sorted arrays. */
#include "base/heap.h"
#include "base/rng.h"
#include "base/time_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 300, STEPS = 20000, KEYS = 50 };

struct item {
    uint32_t key; /* few, so that many are equal */
    uint32_t number;
    uint64_t twice; /* the number, two times: a copy is whole */
};

static bool is_before(const void *of, const void *a, const void *b)
{
    const struct item *one = a, *other = b;
    (void)of;
    return one->key != other->key ? one->key < other->key : one->number < other->number;
}

static const struct hx_heap_kind kind = {sizeof(struct item), is_before};

/* Adds an item to an ascending array. */
static void insert(struct item *sorted, size_t count, struct item item)
{
    size_t at = count;
    for (; at && is_before(NULL, &item, &sorted[at - 1]); at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = item;
}

static void the_first_is_that_of_a_sorted_array(void **state)
{
    (void)state;
    struct item heap[MOST], sorted[MOST];
    size_t count = 0;
    uint64_t seed = 3;
    for (uint32_t step = 0; step < STEPS; step++) {
        /* Fills and empties in turns of some hundred steps. */
        const bool adds = hx_rng_below(&seed, 10) < (step / 500 % 2 ? 3 : 7);
        if (adds && count < MOST) {
            const struct item added = {hx_rng_below(&seed, KEYS), step, 2 * (uint64_t)step};
            hx_heap_put(&kind, NULL, heap, count, &added);
            insert(sorted, count++, added);
        } else if (!adds && count) {
            hx_heap_drop(&kind, NULL, heap, count--);
            memmove(sorted, sorted + 1, count * sizeof *sorted);
        }
        if (count)
            assert_memory_equal(&heap[0], &sorted[0], sizeof *heap);
    }
    for (; count; count--) {
        assert_memory_equal(&heap[0], &sorted[0], sizeof *heap);
        hx_heap_drop(&kind, NULL, heap, count);
        memmove(sorted, sorted + 1, (count - 1) * sizeof *sorted);
    }
}

/* Items are places in a table of keys, which `of` points to. */
static bool is_lower(const void *of, const void *a, const void *b)
{
    const uint32_t *key = of;
    return key[*(const uint32_t *)a] < key[*(const uint32_t *)b];
}

static const struct hx_heap_kind places = {sizeof(uint32_t), is_lower};

static void assert_heap(const uint32_t *key, const uint32_t *heap, size_t count)
{
    for (size_t i = 1; i < count; i++)
        assert_true(key[heap[(i - 1) / 2]] <= key[heap[i]]);
}

static void an_array_becomes_a_heap_and_the_first_gives_way(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (size_t count = 1; count < MOST; count++) {
        uint32_t key[MOST] = {0}, heap[MOST] = {0}, least = 0;
        for (uint32_t i = 0; i < count; i++) {
            key[i] = hx_rng_below(&seed, KEYS);
            heap[i] = i;
        }
        for (size_t at = count / 2; at-- > 0;) {
            const uint32_t place = heap[at];
            hx_heap_sink(&places, key, heap, count, at, &place);
        }
        assert_heap(key, heap, count);
        const uint32_t first = heap[0];
        key[first] += KEYS / 2;
        hx_heap_sink(&places, key, heap, count, 0, &first);
        assert_heap(key, heap, count);
        for (uint32_t i = 0; i < count; i++)
            least = key[i] < key[least] ? i : least;
        assert_int_equal(key[heap[0]], key[least]);
    }
}

struct event {
    struct time_key key;
    uint64_t number;
};

static void events_come_by_time_then_turn_then_as_they_were_pushed(void **state)
{
    (void)state;
    enum { EVENTS = 2000 };
    struct time_heap heap = {.bytes = sizeof(struct event)};
    struct event before = {.number = 0}, e;
    uint64_t seed = 5;
    for (uint64_t i = 0; i < EVENTS; i++) {
        e = (struct event){{.time = hx_rng_below(&seed, 40), .turn = hx_rng_below(&seed, 4)}, i};
        time_heap_push(&heap, &e.key);
    }
    for (unsigned i = 0; i < EVENTS; i++) {
        const uint64_t time = time_heap_next(&heap);
        assert_true(time_heap_pop(&heap, &e.key));
        assert_int_equal(time, e.key.time);
        const bool rises = e.key.time != before.key.time   ? e.key.time > before.key.time
                           : e.key.turn != before.key.turn ? e.key.turn > before.key.turn
                                                           : e.number > before.number;
        assert_true(i == 0 || rises);
        before = e;
    }
    assert_true(time_heap_next(&heap) == UINT64_MAX && !time_heap_pop(&heap, &e.key));
    time_heap_free(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_that_of_a_sorted_array),
        cmocka_unit_test(an_array_becomes_a_heap_and_the_first_gives_way),
        cmocka_unit_test(events_come_by_time_then_turn_then_as_they_were_pushed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
