/* test_stage.c - waiting packets keep their order and their bytes, and everything granted has room
 * (fabric-emu/live/stage.h). */
#include "fabric-emu/live/stage.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_WAITING = 1024 };

static void make(uint8_t *frame, struct hx_desc *d, uint32_t number, uint32_t length)
{
    *d = (struct hx_desc){.buffer = number, .length = (uint16_t)length};
    memset(frame, (int)(number * 31 + length), (size_t)HX_HEADER_BYTES + length);
    memcpy(frame, &number, sizeof number);
}

static void assert_is_first(const struct stage *s, uint32_t number, uint32_t length)
{
    uint8_t frame[HX_MAX_FRAME];
    struct hx_desc d;
    const struct staged *first = stage_first(s);
    assert_non_null(first);
    make(frame, &d, number, length);
    assert_int_equal(first->d.buffer, number);
    assert_int_equal(first->d.length, length);
    assert_memory_equal(first->frame, frame, (size_t)HX_HEADER_BYTES + length);
}

static uint32_t random_length(uint64_t *random)
{
    switch (seeded_below(random, 4)) {
    case 0:
        return 0;
    case 1:
        return HX_MAX_PAYLOAD;
    case 2:
        return 1 + seeded_below(random, HX_BLOCK);
    default:
        return seeded_below(random, HX_MAX_PAYLOAD + 1);
    }
}

/* Acts as a sender that sometimes uses its credit to the last block, and never more. */
static void run(uint32_t blocks, uint64_t seed)
{
    struct stage s;
    static struct {
        uint32_t number, length;
    } waiting[MOST_WAITING];
    static uint8_t frame[HX_MAX_FRAME];
    uint64_t random = seed;
    uint32_t first = 0, last = 0, held = 0;
    void *memory = malloc(stage_bytes(blocks));
    assert_non_null(memory);
    stage_init(&s, blocks, memory);
    assert_null(stage_first(&s));
    for (unsigned step = 0; step < 20000; step++) {
        uint32_t length = random_length(&random);
        bool fill = seeded_below(&random, 8 + step / 1000 % 8) < 8;
        struct hx_desc d;
        if (fill && held + hx_blocks(length) <= blocks) {
            make(frame, &d, last, length);
            assert_true(stage_put(&s, &d, frame));
            waiting[last % MOST_WAITING].number = last;
            waiting[last++ % MOST_WAITING].length = length;
            held += hx_blocks(length);
        } else if (first != last) {
            assert_is_first(&s, waiting[first % MOST_WAITING].number, waiting[first % MOST_WAITING].length);
            held -= hx_blocks(waiting[first++ % MOST_WAITING].length);
            stage_drop_first(&s);
        }
        assert_int_equal(stage_first(&s) == NULL, first == last);
    }
    free(memory);
}

static void test_granted_packets_have_room(void **state)
{
    uint64_t seed = seeded_by(4711);
    (void)state;
    printf("HX_SEED=%llu\n", (unsigned long long)seed);
    for (uint32_t blocks = HX_PACKET_BLOCKS; blocks <= 1024; blocks *= 2)
        run(blocks, seed + blocks);
}

static void test_more_than_granted_is_refused_in_the_end(void **state)
{
    struct stage s;
    static uint8_t frame[HX_MAX_FRAME];
    struct hx_desc d;
    uint32_t put = 0;
    void *memory = malloc(stage_bytes(32));
    (void)state;
    assert_non_null(memory);
    stage_init(&s, 32, memory);
    make(frame, &d, 0, HX_MAX_PAYLOAD);
    while (put < 100 && stage_put(&s, &d, frame))
        put++;
    assert_in_range(put, 1, 4);
    for (; put > 0; put--) {
        assert_is_first(&s, 0, HX_MAX_PAYLOAD);
        stage_drop_first(&s);
    }
    assert_null(stage_first(&s));
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_granted_packets_have_room),
        cmocka_unit_test(test_more_than_granted_is_refused_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
