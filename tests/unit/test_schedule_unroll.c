/* test_schedule_unroll.c - a schedule without repeats takes as long as the schedule that it is made of. */
#include "schedule/build.h"
#include "schedule/unroll.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- how long a rank takes, if nothing waits for a stream ---- */

/* Returns when the operations begin .. end - 1 have all ended. None begins before `now`; they wait for earlier ones. */
static uint64_t end_of(const struct schedule *s, uint32_t begin, uint32_t end, uint64_t now)
{
    uint64_t *start = calloc(end + 1, sizeof *start);
    uint64_t last = now;
    assert_non_null(start);
    for (uint32_t i = begin; i < end; i = schedule_next(s, 0, i)) {
        const struct schedule_operation *o = schedule_at(s, 0, i);
        const uint32_t *list;
        uint32_t followers = schedule_followers(s, 0, i, &list);
        if (start[i] < now)
            start[i] = now;
        uint64_t ended = start[i];
        if (o->kind == SCHEDULE_COMPUTE)
            ended += o->amount;
        for (uint64_t n = 0; o->kind == SCHEDULE_REPEAT && n < o->amount; n++)
            ended = end_of(s, i + 1, i + 1 + o->peer, ended);
        for (uint32_t f = 0; f < followers; f++) {
            uint64_t from = list[f] & SCHEDULE_AFTER_START ? start[i] : ended;
            uint32_t later = list[f] >> 1;
            assert_true(later > i);
            start[later] = from > start[later] ? from : start[later];
        }
        last = ended > last ? ended : last;
    }
    free(start);
    return last;
}

/* Operations that are made, with marks. */
static uint64_t count_of(const struct schedule *s, uint32_t begin, uint32_t end)
{
    uint64_t count = 0;
    for (uint32_t i = begin; i < end; i = schedule_next(s, 0, i)) {
        const struct schedule_operation *o = schedule_at(s, 0, i);
        count++;
        if (o->kind == SCHEDULE_REPEAT && o->peer)
            count += o->amount * (1 + count_of(s, i + 1, i + 1 + o->peer));
    }
    return count;
}

/* ---- random schedules ---- */

/* Adds up to six operations, some of them repeats, and dependencies among them. */
static void add_body(struct schedule_builder *b, uint64_t *random, unsigned depth)
{
    uint32_t number[6];
    unsigned count = (unsigned)seeded_below(random, depth ? 7 : 6) + (depth == 0);
    for (unsigned i = 0; i < count && i < 6; i++) {
        if (depth < 3 && seeded_below(random, 3) == 0) {
            number[i] = schedule_repeat(b, 0, 1 + seeded_below(random, 3));
            add_body(b, random, depth + 1);
            schedule_repeat_end(b, 0);
        } else {
            number[i] = schedule_compute(b, 0, seeded_below(random, 100), (unsigned)seeded_below(random, 3));
        }
        for (unsigned k = 0; k < i; k++) {
            uint64_t kind = seeded_below(random, 4);
            if (kind < 2)
                (kind ? schedule_after : schedule_after_start)(b, 0, number[i], number[k]);
        }
    }
}

static void takes_as_long(void **state)
{
    (void)state;
    struct hx_problem problem;
    for (uint64_t seed = 1; seed <= effort(2000); seed++) {
        uint64_t random = seed;
        struct schedule_builder *b = schedule_builder_new(1);
        add_body(b, &random, 0);
        struct schedule *s = schedule_build(b, "built", &problem);
        assert_non_null(s);
        struct schedule *plain = schedule_unroll(s, "unrolled", &problem);
        assert_non_null(plain);
        assert_false(schedule_has_repeats(plain));
        assert_int_equal(schedule_count(plain, 0), count_of(s, 0, schedule_count(s, 0)));
        assert_int_equal(end_of(plain, 0, schedule_count(plain, 0), 0), end_of(s, 0, schedule_count(s, 0), 0));
        schedule_close(plain);
        schedule_close(s);
    }
}

/* ---- limits ---- */

static void refused(struct schedule_builder *b, const char *what)
{
    struct hx_problem problem;
    struct schedule *s = schedule_build(b, "built", &problem);
    assert_non_null(s);
    assert_true(schedule_has_repeats(s));
    assert_null(schedule_unroll(s, "x.goal", &problem));
    assert_string_equal(problem.where, "x.goal");
    assert_string_equal(problem.what, what);
    schedule_close(s);
}

static void too_many_operations(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(2);
    (void)schedule_repeat(b, 1, UINT64_C(1) << 29);
    (void)schedule_repeat(b, 1, UINT64_C(1) << 29);
    (void)schedule_compute(b, 1, 1, 0);
    schedule_repeat_end(b, 1);
    schedule_repeat_end(b, 1);
    refused(b, "its repeats are more than 16777216 operations when they are unrolled (hxmesh's own format has "
               "repeats)");
}

static void no_stream_is_free(void **state)
{
    (void)state;
    struct schedule_builder *b = schedule_builder_new(1);
    (void)schedule_repeat(b, 0, 2);
    for (unsigned stream = 0; stream < SCHEDULE_STREAMS; stream++)
        (void)schedule_compute(b, 0, 1, stream);
    schedule_repeat_end(b, 0);
    refused(b, "the repeats of rank 0 cannot be unrolled: it occupies all streams");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_as_long),
        cmocka_unit_test(too_many_operations),
        cmocka_unit_test(no_stream_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
