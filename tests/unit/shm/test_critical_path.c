/* test_critical_path.c - the operations that decide when a schedule ends, found in entries written by hand. */
#include "fabric-emu/report/critical_path.h"
#include "schedule/build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST_RANKS = 4, MOST = 8, START = EXECUTOR_NO_CAUSE };

struct bench {
    struct schedule_job job;
    struct critical_path path;
    struct executor_result result[MOST_RANKS];
    struct executor_entry entry[MOST_RANKS * MOST];
    uint64_t first_entry[MOST_RANKS + 1];
};

/* room: entries of each rank that are kept. */
static void open_bench(struct bench *b, struct schedule_builder *builder, uint64_t room)
{
    struct hx_problem problem;
    struct schedule *s = schedule_build(builder, "test", &problem);
    *b = (struct bench){.job = {.schedule = s, .own = s}};
    assert_non_null(b->job.schedule);
    schedule_groups_make(&b->job.groups, b->job.schedule);
    for (uint32_t rank = 0; rank < schedule_ranks(b->job.schedule); rank++)
        b->first_entry[rank + 1] = b->first_entry[rank] + room;
    b->job.executor = (struct executor_plan){
        .schedule = b->job.schedule, .result = b->result, .entry = b->entry, .first_entry = b->first_entry};
}

static void close_bench(struct bench *b)
{
    critical_path_free(&b->path);
    schedule_groups_free(&b->job.groups);
    schedule_close(b->job.own);
}

/* Notes the end of an operation. source, cause: as of struct executor_entry. */
static void ended(struct bench *b, uint32_t rank, uint32_t operation, uint64_t begin, uint64_t end, uint32_t source,
                  uint32_t cause)
{
    struct executor_result *r = &b->result[rank];
    uint64_t room = b->first_entry[rank + 1] - b->first_entry[rank];
    b->entry[b->first_entry[rank] + r->entries++ % room] =
        (struct executor_entry){.begin = begin, .end = end, .operation = operation, .cause = cause, .source = source};
    r->end_ps = end > r->end_ps ? end : r->end_ps;
}

static void find(struct bench *b, const struct critical_step *expected, size_t steps, bool whole)
{
    critical_path_find(&b->path, &b->job);
    assert_int_equal(b->path.steps, steps);
    assert_int_equal(b->path.whole, whole);
    for (size_t i = 0; i < steps; i++) {
        const struct critical_step *step = &b->path.step[i];
        assert_int_equal(step->rank, expected[i].rank);
        assert_int_equal(step->operation, expected[i].operation);
        assert_int_equal(step->begin, expected[i].begin);
        assert_int_equal(step->end, expected[i].end);
        assert_int_equal(step->by_message, expected[i].by_message);
    }
}
#define FIND(bench, expected, whole) find(bench, expected, sizeof(expected) / sizeof *(expected), whole)

static void assert_shares(const struct bench *b, uint64_t computing, uint64_t messages, uint64_t waiting)
{
    assert_int_equal(b->path.computing_ps, computing);
    assert_int_equal(b->path.messages_ps, messages);
    assert_int_equal(b->path.waiting_ps, waiting);
}

static void messages_lead_from_rank_to_rank(void **state)
{
    static const struct critical_step expected[] = {{2, 0, 26, 26, false}, {1, 2, 20, 20, true}, {1, 1, 15, 20, false},
                                                    {1, 0, 15, 15, false}, {0, 1, 10, 10, true}, {0, 0, 0, 10, false}};
    struct schedule_builder *builder = schedule_builder_new(3);
    struct bench b;
    (void)state;
    (void)schedule_compute(builder, 0, 10, 0);
    (void)schedule_send(builder, 0, 1, 8, 0);
    (void)schedule_receive(builder, 1, 0, 8, 0);
    (void)schedule_compute(builder, 1, 5, 0);
    (void)schedule_send(builder, 1, 2, 8, 0);
    (void)schedule_receive(builder, 2, 1, 8, 0);
    open_bench(&b, builder, MOST);
    ended(&b, 0, 0, 0, 10, START, 0);
    ended(&b, 0, 1, 10, 10, 0, 0);
    ended(&b, 1, 0, 0, 15, 0, 1);
    ended(&b, 1, 1, 15, 20, 1, 0);
    ended(&b, 1, 2, 20, 20, 1, 1);
    ended(&b, 2, 0, 0, 26, 1, 2);
    FIND(&b, expected, true);
    assert_shares(&b, 15, 11, 0);
    close_bench(&b);
}

/* The second operation waits for the stream, the third for a while longer. */
static void a_stream_delays_its_operations(void **state)
{
    static const struct critical_step expected[] = {{0, 2, 32, 40, false}, {0, 1, 10, 30, false}, {0, 0, 0, 10, false}};
    struct schedule_builder *builder = schedule_builder_new(1);
    struct bench b;
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        (void)schedule_compute(builder, 0, 10, 0);
    open_bench(&b, builder, MOST);
    ended(&b, 0, 0, 0, 10, START, 0);
    ended(&b, 0, 1, 10, 30, 0, 0);
    ended(&b, 0, 2, 32, 40, 0, 1);
    FIND(&b, expected, true);
    assert_shares(&b, 38, 0, 2);
    close_bench(&b);
}

/* Both members have two collectives; the last one to begin each decides. Rank 0 begins the second one while rank 1 is
 * still in the first. */
static void the_last_member_of_a_collective_decides(void **state)
{
    static const struct critical_step expected[] = {
        {1, 2, 15, 21, false}, {1, 1, 11, 15, false}, {0, 1, 3, 10, false}, {0, 0, 0, 3, false}};
    static const uint32_t both[] = {0, 1};
    struct schedule_builder *builder = schedule_builder_new(2);
    struct bench b;
    (void)state;
    uint32_t group = schedule_add_group(builder, both, 2);
    (void)schedule_compute(builder, 0, 3, 0);
    (void)schedule_collect(builder, 0, HX_ALL_REDUCE, group, 8, 0);
    (void)schedule_collect(builder, 0, HX_ALL_REDUCE, group, 8, 0);
    (void)schedule_collect(builder, 1, HX_ALL_REDUCE, group, 8, 0);
    (void)schedule_compute(builder, 1, 4, 0);
    (void)schedule_collect(builder, 1, HX_ALL_REDUCE, group, 8, 0);
    open_bench(&b, builder, MOST);
    ended(&b, 0, 0, 0, 3, START, 0);
    ended(&b, 0, 1, 3, 10, 0, 0);
    ended(&b, 0, 2, 10, 22, 0, 1);
    ended(&b, 1, 0, 0, 11, START, 0);
    ended(&b, 1, 1, 11, 15, 1, 0);
    ended(&b, 1, 2, 15, 21, 1, 1);
    FIND(&b, expected, true);
    assert_shares(&b, 7, 13, 2); /* rank 0 ends 1 after rank 1, and 1 before it goes on */
    close_bench(&b);
}

static void a_ring_that_lost_its_begin_is_not_whole(void **state)
{
    static const struct critical_step expected[] = {{0, 4, 40, 50, false}, {0, 3, 30, 40, false}};
    struct schedule_builder *builder = schedule_builder_new(1);
    struct bench b;
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        (void)schedule_compute(builder, 0, 10, 0);
    open_bench(&b, builder, 2);
    for (uint32_t i = 0; i < 5; i++)
        ended(&b, 0, i, 10 * i, 10 * i + 10, i ? 0 : START, i ? i - 1 : 0);
    FIND(&b, expected, false);
    close_bench(&b);
}

/* The send of a lost entry ends the chain too. */
static void a_message_from_a_lost_entry_is_not_whole(void **state)
{
    static const struct critical_step expected[] = {{1, 0, 60, 60, false}};
    struct schedule_builder *builder = schedule_builder_new(2);
    struct bench b;
    (void)state;
    (void)schedule_send(builder, 0, 1, 8, 0);
    (void)schedule_compute(builder, 0, 10, 0);
    (void)schedule_receive(builder, 1, 0, 8, 0);
    open_bench(&b, builder, 1);
    ended(&b, 0, 0, 0, 0, START, 0);
    ended(&b, 0, 1, 0, 10, START, 0);
    ended(&b, 1, 0, 0, 60, 0, 0);
    FIND(&b, expected, false);
    close_bench(&b);
}

/* A rendezvous ends with its acknowledgement, after its receive; the second iteration of a repeat is no other's. */
static void a_rendezvous_ends_after_its_receive(void **state)
{
    static const struct critical_step expected[] = {
        {1, 3, 50, 70, false}, {1, 1, 50, 50, false}, {0, 1, 30, 50, true}, {0, 1, 0, 30, false}};
    struct schedule_builder *builder = schedule_builder_new(2);
    struct bench b;
    (void)state;
    (void)schedule_repeat(builder, 0, 2);
    (void)schedule_send(builder, 0, 1, 8, 0);
    schedule_repeat_end(builder, 0);
    (void)schedule_repeat(builder, 1, 2);
    (void)schedule_receive(builder, 1, 0, 8, 0);
    schedule_repeat_end(builder, 1);
    (void)schedule_compute(builder, 1, 1, 0);
    (void)schedule_compute(builder, 1, 20, 0);
    open_bench(&b, builder, MOST);
    ended(&b, 0, 1, 0, 30, START, 0);
    ended(&b, 0, 0, 0, 30, 0, 0);
    ended(&b, 0, 1, 30, 60, 0, 1);
    ended(&b, 1, 2, 0, 1, START, 0);
    ended(&b, 1, 1, 0, 20, 0, 1);
    ended(&b, 1, 0, 0, 20, 1, 1);
    ended(&b, 1, 1, 20, 50, 0, 1);
    ended(&b, 1, 3, 50, 70, 1, 3);
    FIND(&b, expected, true);
    assert_shares(&b, 20, 50, 0);
    close_bench(&b);
}

static void nothing_ended(void **state)
{
    struct schedule_builder *builder = schedule_builder_new(2);
    struct bench b;
    (void)state;
    (void)schedule_compute(builder, 0, 10, 0);
    open_bench(&b, builder, MOST);
    find(&b, NULL, 0, false);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_lead_from_rank_to_rank),
        cmocka_unit_test(a_stream_delays_its_operations),
        cmocka_unit_test(the_last_member_of_a_collective_decides),
        cmocka_unit_test(a_ring_that_lost_its_begin_is_not_whole),
        cmocka_unit_test(a_message_from_a_lost_entry_is_not_whole),
        cmocka_unit_test(a_rendezvous_ends_after_its_receive),
        cmocka_unit_test(nothing_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
