/* test_schedule_matching.c - every receive has its send, every send its receive, and groups agree. */
#include "schedule/build.h"
#include "schedule/matching.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct schedule *built(struct schedule_builder *b)
{
    struct hx_problem problem;
    struct schedule *s = schedule_build(b, "x.goal", &problem);
    if (!s)
        fail_msg("%s", problem.what);
    return s;
}

/* Checks the schedule, which it frees. what NULL: it matches. */
static void check(struct schedule_builder *b, const char *what)
{
    struct hx_problem problem = {.exit_code = 0};
    struct schedule *s = built(b);
    bool good = schedule_check_matching(s, "x.goal", &problem);
    schedule_close(s);
    if (good != !what || (what && strcmp(problem.what, what) != 0))
        fail_msg("said: %s", good ? "good" : problem.what);
    if (what) {
        assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
        assert_string_equal(problem.where, "x.goal");
    }
}

/* ---- messages ---- */

static void messages_match_by_source_and_tag(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(4);
    (void)schedule_receive(b, 3, 0, 1, 8);
    (void)schedule_receive(b, 3, 0, 1, 7);
    (void)schedule_receive(b, 3, 1, 1, 7);
    (void)schedule_send(b, 0, 3, 1, 7);
    (void)schedule_send(b, 0, 3, 1, 8);
    (void)schedule_send(b, 1, 3, 1, 7);
    (void)schedule_send(b, 2, 2, 5, 0);
    (void)schedule_receive(b, 2, 2, 5, 0);
    check(b, NULL);
    check(schedule_builder_new(1), NULL);
}

static void a_receive_without_a_send_is_named(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(4);
    schedule_set_name(b, 3, schedule_receive(b, 3, 0, 1, 7), "l4");
    check(b, "rank 3: receive 'l4' of 1 B from rank 0, tag 7, has no send (1 is missing)");
    b = schedule_builder_new(4);
    (void)schedule_send(b, 0, 3, 1, 7);
    (void)schedule_send(b, 1, 3, 1, 7);
    for (int i = 0; i < 3; i++)
        (void)schedule_receive(b, 3, 0, 1, 7);
    check(b, "rank 3: receive 2 of 1 B from rank 0, tag 7, has no send (2 are missing, 3 in the whole schedule)");
}

static void a_send_without_a_receive_is_named(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(4);
    (void)schedule_send(b, 2, 3, 1, 7);
    schedule_set_name(b, 2, schedule_send(b, 2, 3, 16, 7), "out");
    (void)schedule_receive(b, 3, 2, 16, 7);
    check(b, "rank 2: send 'out' of 16 B to rank 3, tag 7, has no receive (1 is missing)");
}

static void repeats_multiply(void **state)
{
    (void)state;
    for (uint64_t times = 5; times <= 6; times++) {
        struct schedule_builder *b = schedule_builder_new(2);
        (void)schedule_repeat(b, 0, 2);
        (void)schedule_repeat(b, 0, 3);
        (void)schedule_send(b, 0, 1, 4, 1);
        schedule_repeat_end(b, 0);
        (void)schedule_repeat(b, 0, 1000);
        schedule_repeat_end(b, 0);
        schedule_repeat_end(b, 0);
        (void)schedule_repeat(b, 1, times);
        (void)schedule_receive(b, 1, 0, 4, 1);
        schedule_repeat_end(b, 1);
        check(b, times == 6 ? NULL : "rank 0: send 2 of 4 B to rank 1, tag 1, has no receive (1 is missing)");
    }
}

static void large_counts_match(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        for (int i = 0; i < 3; i++)
            (void)schedule_repeat(b, rank, UINT64_C(1) << 19);
        (void)(rank ? schedule_receive(b, 1, 0, 4, 1) : schedule_send(b, 0, 1, 4, 1));
        for (int i = 0; i < 3; i++)
            schedule_repeat_end(b, rank);
    }
    check(b, NULL);
}

/* ---- wildcards ---- */

static void wildcards_take_what_is_left(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(4);
    (void)schedule_receive(b, 3, SCHEDULE_ANY, 1, SCHEDULE_ANY);
    (void)schedule_receive(b, 3, 0, 1, SCHEDULE_ANY);
    (void)schedule_receive(b, 3, SCHEDULE_ANY, 1, 5);
    (void)schedule_receive(b, 3, 0, 1, 5);
    (void)schedule_send(b, 0, 3, 1, 5);
    (void)schedule_send(b, 0, 3, 1, 6);
    (void)schedule_send(b, 1, 3, 1, 5);
    (void)schedule_send(b, 2, 3, 1, 9);
    check(b, NULL);
}

static void a_wildcard_without_a_send_is_named(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(3);
    (void)schedule_receive(b, 2, 0, 8, SCHEDULE_ANY);
    (void)schedule_send(b, 1, 2, 8, 0);
    check(b, "rank 2: receive 0 of 8 B from rank 0, any tag, has no send (1 is missing, 2 in the whole schedule)");
    b = schedule_builder_new(3);
    (void)schedule_receive(b, 2, SCHEDULE_ANY, 8, 3);
    check(b, "rank 2: receive 0 of 8 B from any rank, tag 3, has no send (1 is missing)");
    b = schedule_builder_new(3);
    (void)schedule_receive(b, 2, SCHEDULE_ANY, 8, SCHEDULE_ANY);
    (void)schedule_send(b, 1, 2, 8, 0);
    (void)schedule_send(b, 1, 2, 8, 4);
    check(b, "rank 1: send 1 of 8 B to rank 2, tag 4, has no receive (1 is missing)");
}

/* The first receive takes (0, 1), which is all that the second could have. */
static void a_wildcard_makes_room_for_another(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(3);
    (void)schedule_receive(b, 2, 0, 1, SCHEDULE_ANY);
    (void)schedule_receive(b, 2, SCHEDULE_ANY, 1, 1);
    (void)schedule_send(b, 0, 2, 1, 1);
    (void)schedule_send(b, 0, 2, 1, 2);
    check(b, NULL);
}

/* With many pairs of source and tag only sums are compared. */
static void many_wildcards_are_compared_by_sums(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 2; lost++) {
        struct schedule_builder *b = schedule_builder_new(3);
        for (uint32_t tag = 0; tag <= SCHEDULE_MOST_FLOW; tag++) {
            (void)schedule_send(b, 0, 2, 1, tag);
            if (tag >= 1 + lost)
                (void)schedule_receive(b, 2, 0, 1, SCHEDULE_ANY);
        }
        (void)schedule_receive(b, 2, SCHEDULE_ANY, 1, 0);
        check(b, lost ? "rank 0: send 1024 of 1 B to rank 2, tag 1024, has no receive (1 is missing)" : NULL);
    }
    struct schedule_builder *b = schedule_builder_new(3);
    for (uint32_t tag = 0; tag <= SCHEDULE_MOST_FLOW; tag++) {
        (void)schedule_send(b, 0, 2, 1, tag);
        (void)schedule_receive(b, 2, 0, 1, SCHEDULE_ANY);
    }
    schedule_set_name(b, 2, schedule_receive(b, 2, SCHEDULE_ANY, 1, 0), "more");
    check(b, "rank 2: receive 'more' of 1 B from any rank, tag 0, has no send (1 is missing)");
}

/* ---- random messages against matching one by one ---- */

enum { MESSAGES = 8, SOURCES = 3, TAGS = 3 };

struct message {
    uint32_t source, tag;
};

static bool fits(const struct message *send, const struct message *receive)
{
    return (receive->source == SCHEDULE_ANY || receive->source == send->source) &&
           (receive->tag == SCHEDULE_ANY || receive->tag == send->tag);
}

/* Finds a send for receive r, and others for those that lose theirs. */
static bool find_send(const struct message *send, const struct message *receive, unsigned r, int *owner, bool *tried)
{
    for (unsigned i = 0; i < MESSAGES; i++) {
        if (tried[i] || !fits(&send[i], &receive[r]))
            continue;
        tried[i] = true;
        if (owner[i] < 0 || find_send(send, receive, (unsigned)owner[i], owner, tried)) {
            owner[i] = (int)r;
            return true;
        }
    }
    return false;
}

static bool all_match(const struct message *send, const struct message *receive)
{
    int owner[MESSAGES];
    memset(owner, 0xff, sizeof owner);
    for (unsigned r = 0; r < MESSAGES; r++) {
        bool tried[MESSAGES] = {false};
        if (!find_send(send, receive, r, owner, tried))
            return false;
    }
    return true;
}

static void random_messages_match_as_one_by_one(void **state)
{
    (void)state;
    uint64_t random = seeded_by(1);
    unsigned good = 0;
    enum { TRIALS = 4000 };
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct message send[MESSAGES];
        struct message receive[MESSAGES];
        struct schedule_builder *b = schedule_builder_new(SOURCES + 1);
        struct hx_problem problem;
        for (unsigned i = 0; i < MESSAGES; i++) {
            send[i] = (struct message){seeded_below(&random, SOURCES), seeded_below(&random, TAGS)};
            /* Mostly that of a send, so that half of the schedules match. */
            receive[i] = seeded_below(&random, 8) ? send[i] : send[seeded_below(&random, i + 1)];
            if (seeded_below(&random, 2))
                receive[i].source = SCHEDULE_ANY;
            if (seeded_below(&random, 2))
                receive[i].tag = SCHEDULE_ANY;
            (void)schedule_send(b, send[i].source, SOURCES, 1, send[i].tag);
            (void)schedule_receive(b, SOURCES, receive[i].source, 1, receive[i].tag);
        }
        struct schedule *s = built(b);
        bool matches = all_match(send, receive);
        if (schedule_check_matching(s, "x", &problem) != matches)
            fail_msg("trial %u: %s", trial, matches ? problem.what : "matches");
        schedule_close(s);
        good += matches;
    }
    assert_in_range(good, TRIALS / 5, TRIALS - TRIALS / 20);
}

/* ---- collectives ---- */

static const uint32_t all_ranks[] = {2, 0, 1};

static void members_call_the_same(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(4);
    uint32_t three = schedule_add_group(b, all_ranks, 3);
    uint32_t two = schedule_add_group(b, all_ranks, 2);
    for (uint32_t rank = 0; rank < 3; rank++) {
        (void)schedule_repeat(b, rank, rank == 1 ? 2 : 1); /* three times a pair, in three ways */
        (void)schedule_collect(b, rank, HX_ALL_REDUCE, three, 64, 0);
        (void)schedule_collect(b, rank, HX_BROADCAST, three, 8, 1);
        schedule_repeat_end(b, rank);
        if (rank != 1) {
            (void)schedule_collect(b, rank, HX_BARRIER, two, 0, 0);
            (void)schedule_repeat(b, rank, 2);
        }
        (void)schedule_collect(b, rank, HX_ALL_REDUCE, three, 64, 0);
        (void)schedule_collect(b, rank, HX_BROADCAST, three, 8, 1);
        if (rank != 1)
            schedule_repeat_end(b, rank);
    }
    check(b, NULL);
}

static void many_iterations_are_compared_at_once(void **state)
{
    (void)state;
    const uint64_t times = UINT64_C(1) << 58;
    for (uint64_t more = 0; more < 2; more++) {
        struct schedule_builder *b = schedule_builder_new(3);
        uint32_t group = schedule_add_group(b, all_ranks, 3);
        for (uint32_t rank = 0; rank < 3; rank++) {
            (void)schedule_repeat(b, rank, times);
            (void)schedule_collect(b, rank, HX_ALL_REDUCE, group, 64, 0);
            schedule_repeat_end(b, rank);
            (void)schedule_collect(b, rank, HX_ALL_REDUCE, group, 64 + (rank == 2) * more, 0);
        }
        check(b, more ? "ranks 2 and 0 call different collectives of group 0 (3 ranks)" : NULL);
    }
}

static void another_collective_is_named(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(3);
    uint32_t group = schedule_add_group(b, all_ranks, 3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        (void)schedule_collect(b, rank, HX_BARRIER, group, 0, 0);
        (void)schedule_repeat(b, rank, 4);
        schedule_set_name(b, rank, schedule_collect(b, rank, HX_REDUCE, group, 64, rank == 1), "sum");
        schedule_repeat_end(b, rank);
    }
    check(b, "rank 1: collective 2 of group 0 (3 ranks) is reduce 'sum' of 64 B, root 1, at rank 0 it is "
             "reduce 'sum' of 64 B, root 0 (all members of a group call the same)");
}

static void a_missing_collective_is_named(void **state)
{
    (void)state;
    for (uint32_t calls = 0; calls < 2; calls++) {
        struct schedule_builder *b = schedule_builder_new(3);
        uint32_t group = schedule_add_group(b, all_ranks, 3);
        for (uint32_t rank = 0; rank < 3; rank++) {
            for (uint32_t i = 0; i < (rank == 1 ? calls : 2); i++)
                (void)schedule_collect(b, rank, HX_COLLECTIVE_ALL_TO_ALL, group, 96, 0);
        }
        check(b, calls ? "rank 1: collective 2 of group 0 (3 ranks) is missing, at rank 0 it is all-to-all of "
                         "96 B (all members of a group call the same)"
                       : "rank 1: collective 1 of group 0 (3 ranks) is missing, at rank 0 it is all-to-all of "
                         "96 B (all members of a group call the same)");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_match_by_source_and_tag),
        cmocka_unit_test(a_receive_without_a_send_is_named),
        cmocka_unit_test(a_send_without_a_receive_is_named),
        cmocka_unit_test(repeats_multiply),
        cmocka_unit_test(large_counts_match),
        cmocka_unit_test(wildcards_take_what_is_left),
        cmocka_unit_test(a_wildcard_without_a_send_is_named),
        cmocka_unit_test(a_wildcard_makes_room_for_another),
        cmocka_unit_test(many_wildcards_are_compared_by_sums),
        cmocka_unit_test(random_messages_match_as_one_by_one),
        cmocka_unit_test(members_call_the_same),
        cmocka_unit_test(many_iterations_are_compared_at_once),
        cmocka_unit_test(another_collective_is_named),
        cmocka_unit_test(a_missing_collective_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
