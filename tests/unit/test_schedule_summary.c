/* test_schedule_summary.c - counts of a schedule, its pairs of ranks and its chains of dependencies. */
#include "schedule/build.h"
#include "schedule/summary.h"
#include "schedule/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct schedule *built(struct schedule_builder *b)
{
    struct hx_problem problem;
    struct schedule *s = schedule_build(b, "x", &problem);
    if (!s)
        fail_msg("%s", problem.what);
    return s;
}

static struct schedule_summary summary_of(struct schedule_builder *b)
{
    struct schedule_summary sum;
    struct schedule *s = built(b);
    schedule_summarize(s, NULL, &sum);
    schedule_close(s);
    return sum;
}

static void is_most(const struct schedule_most *most, uint64_t amount, uint32_t rank)
{
    assert_int_equal(most->amount, amount);
    assert_int_equal(most->rank, rank);
}

static void operations_run_as_often_as_their_blocks(void **state)
{
    (void)state;
    static const uint64_t times[] = {1, 1, 5, 15, 5, 5, 35, 1, 2, 1};
    struct schedule_builder *b = schedule_builder_new(2);
    (void)schedule_compute(b, 1, 1, 0);
    (void)schedule_repeat(b, 1, 5);
    (void)schedule_repeat(b, 1, 3);
    (void)schedule_compute(b, 1, 1, 0);
    schedule_repeat_end(b, 1);
    (void)schedule_compute(b, 1, 1, 0);
    (void)schedule_repeat(b, 1, 7);
    (void)schedule_compute(b, 1, 1, 0);
    schedule_repeat_end(b, 1);
    schedule_repeat_end(b, 1);
    (void)schedule_repeat(b, 1, 2);
    (void)schedule_compute(b, 1, 1, 0);
    schedule_repeat_end(b, 1);
    (void)schedule_repeat(b, 1, 2);
    schedule_repeat_end(b, 1);
    struct schedule *s = built(b);
    struct schedule_walk walk;
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t seen = 0;
        schedule_walk_begin(&walk, s, rank);
        while (schedule_walk_next(&walk)) {
            assert_int_equal(walk.number, seen);
            assert_ptr_equal(walk.operation, schedule_at(s, rank, seen));
            assert_int_equal(walk.times, times[seen]);
            seen++;
        }
        schedule_walk_end(&walk);
        assert_int_equal(seen, rank ? 10 : 0);
    }
    schedule_close(s);
}

static void each_kind_is_counted(void **state)
{
    (void)state;
    static const uint32_t group[] = {0, 1, 2};
    struct schedule_builder *b = schedule_builder_new(3);
    uint32_t large = schedule_add_group(b, group, 3);
    (void)schedule_add_group(b, group, 2);
    (void)schedule_collect(b, 1, HX_ALL_REDUCE, large, 64, 0);
    (void)schedule_repeat(b, 1, 10);
    (void)schedule_collect(b, 1, HX_BARRIER, large, 0, 0);
    (void)schedule_compute(b, 1, 500, 0);
    (void)schedule_receive(b, 1, 0, 1, 0);
    schedule_repeat_end(b, 1);
    (void)schedule_compute(b, 2, 4000, 0);
    struct schedule_summary sum = summary_of(b);
    static const uint64_t written[] = {2, 0, 1, 2, 1};
    static const uint64_t executed[] = {11, 0, 10, 11, 1};
    for (unsigned kind = 0; kind < SCHEDULE_KINDS; kind++) {
        assert_int_equal(sum.written[kind], written[kind]);
        assert_int_equal(sum.executed[kind], executed[kind]);
    }
    assert_int_equal(sum.collectives[HX_ALL_REDUCE], 1);
    assert_int_equal(sum.collectives[HX_BARRIER], 10);
    assert_int_equal(sum.compute_ps, 9000);
    is_most(&sum.rank_compute, 5000, 1);
    assert_int_equal(sum.groups, 2);
    assert_int_equal(sum.smallest_group, 2);
    assert_int_equal(sum.largest_group, 3);
    assert_int_equal(sum.pairs, 0);
}

static void is_pair(const struct schedule_pair *pair, uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes)
{
    assert_int_equal(pair->from, from);
    assert_int_equal(pair->to, to);
    assert_int_equal(pair->messages, messages);
    assert_int_equal(pair->bytes, bytes);
}

static void pairs_are_written_in_order_and_ranked_by_bytes(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(9);
    struct schedule_summary sum;
    for (uint32_t to = 8; to >= 2; to--)
        (void)schedule_send(b, 1, to, to * (uint64_t)10, 0);
    (void)schedule_send(b, 1, 4, 30, 3);
    (void)schedule_repeat(b, 7, 100);
    (void)schedule_send(b, 7, 0, 0, 0);
    (void)schedule_send(b, 7, 7, 2, 0);
    schedule_repeat_end(b, 7);
    struct schedule *s = built(b);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    schedule_summarize(s, out, &sum);
    assert_int_equal(fclose(out), 0);
    schedule_close(s);
    assert_string_equal(text, "from,to,messages,bytes\n1,2,1,20\n1,3,1,30\n1,4,2,70\n1,5,1,50\n1,6,1,60\n1,7,1,70\n"
                              "1,8,1,80\n7,0,100,0\n7,7,100,200\n");
    free(text);
    assert_int_equal(sum.pairs, 9);
    assert_int_equal(sum.messages, 208);
    assert_int_equal(sum.bytes, 580);
    assert_int_equal(sum.longest_message, 80);
    assert_int_equal(sum.top_pairs, SCHEDULE_TOP);
    is_pair(&sum.pair[0], 7, 7, 100, 200);
    is_pair(&sum.pair[1], 1, 8, 1, 80);
    is_pair(&sum.pair[2], 1, 4, 2, 70);
    is_pair(&sum.pair[3], 1, 7, 1, 70);
    is_pair(&sum.pair[4], 1, 6, 1, 60);
    assert_int_equal(sum.top_senders, 2);
    is_pair(&sum.sender[0], 1, 0, 8, 380);
    is_pair(&sum.sender[1], 7, 0, 200, 200);
}

static void chains_are_measured(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(3);
    /* A diamond, of which one side is longer, written backwards. */
    uint32_t last = schedule_compute(b, 1, 1, 0);
    uint32_t left = schedule_compute(b, 1, 100, 0);
    uint32_t middle = schedule_send(b, 1, 0, 1, 0);
    uint32_t right = schedule_compute(b, 1, 30, 0);
    uint32_t first = schedule_compute(b, 1, 7, 0);
    schedule_after(b, 1, left, first);
    schedule_after(b, 1, right, first);
    schedule_after(b, 1, middle, right);
    schedule_after(b, 1, last, middle);
    schedule_after(b, 1, last, left);
    for (unsigned i = 0; i < 3; i++)
        (void)schedule_send(b, 2, 0, 1, 0);
    struct schedule_summary sum = summary_of(b);
    is_most(&sum.depth, 4, 1);
    is_most(&sum.chain, 108, 1);
    is_most(&sum.width, 3, 2);
    assert_int_equal(sum.dependencies, 5);
}

static void waiting_for_a_start_adds_no_time(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(1);
    uint32_t first = schedule_compute(b, 0, 10, 0);
    uint32_t second = schedule_compute(b, 0, 100, 0);
    uint32_t third = schedule_compute(b, 0, 95, 0);
    schedule_after(b, 0, second, first);
    schedule_after_start(b, 0, third, second);
    struct schedule_summary sum = summary_of(b);
    is_most(&sum.depth, 3, 0);
    is_most(&sum.chain, 110, 0);
    is_most(&sum.width, 1, 0);
}

static void a_block_is_as_long_as_its_iterations(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(1);
    uint32_t before = schedule_compute(b, 0, 1000, 0);
    uint32_t outer = schedule_repeat(b, 0, 4);
    uint32_t inner = schedule_repeat(b, 0, 5);
    for (unsigned i = 0; i < 3; i++)
        (void)schedule_compute(b, 0, 10, 0);
    schedule_repeat_end(b, 0);
    uint32_t end = schedule_compute(b, 0, 3, 0);
    schedule_after(b, 0, end, inner);
    uint32_t empty = schedule_repeat(b, 0, 50);
    schedule_repeat_end(b, 0);
    schedule_after(b, 0, empty, end);
    schedule_repeat_end(b, 0);
    schedule_after(b, 0, outer, before);
    struct schedule_summary sum = summary_of(b);
    is_most(&sum.depth, 1 + 4 * (5 + 1), 0);
    is_most(&sum.chain, 1000 + 4 * (5 * 10 + 3), 0);
    is_most(&sum.width, 3, 0);
}

static void large_counts_stay_at_the_most(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(1);
    for (unsigned i = 0; i < 3; i++)
        (void)schedule_repeat(b, 0, UINT64_C(1) << 19);
    (void)schedule_send(b, 0, 0, SCHEDULE_MOST_BYTES, 0);
    (void)schedule_compute(b, 0, SCHEDULE_MOST_TIME, 0);
    for (unsigned i = 0; i < 3; i++)
        schedule_repeat_end(b, 0);
    struct schedule_summary sum = summary_of(b);
    assert_int_equal(sum.bytes, UINT64_MAX);
    assert_int_equal(sum.executed[SCHEDULE_SEND], UINT64_C(1) << 57);
    is_most(&sum.depth, UINT64_C(1) << 57, 0);
    is_most(&sum.chain, UINT64_MAX, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_run_as_often_as_their_blocks),
        cmocka_unit_test(each_kind_is_counted),
        cmocka_unit_test(pairs_are_written_in_order_and_ranked_by_bytes),
        cmocka_unit_test(chains_are_measured),
        cmocka_unit_test(waiting_for_a_start_adds_no_time),
        cmocka_unit_test(a_block_is_as_long_as_its_iterations),
        cmocka_unit_test(large_counts_stay_at_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
