/* test_executor_skips.c - collectives that are held: they end at a time without messages, or are carried out after all
 * (schedule/executor_skip.c). */
#include "schedule/build.h"
#include "schedule/choices.h"
#include "schedule/executor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BYTES = 1 << 20, US = 1000000, RANKS = 2 };

/* Two ranks: computing of 5 us, an all-reduce, a message to the other, computing of 1 us. */
struct world {
    struct schedule *s;
    struct schedule_groups groups;
    struct schedule_choices *choices;
    struct executor_skips skips;
    struct executor_plan plan;
    struct executor *e[RANKS];
    bool holds;
    struct executor_collective begun[RANKS];
    uint64_t begun_at[RANKS], ended_at[RANKS];
    struct executor_carried carried[RANKS];
    int going[RANKS]; /* messages */
    uint64_t asked_at[RANKS];
    unsigned asks;
};

static bool begins(void *of, const struct executor_collective *c, uint64_t now)
{
    struct world *w = of;
    w->begun[c->rank] = *c;
    w->begun_at[c->rank] = now;
    return w->holds;
}

static void asked(void *of, const struct executor_collective *c, uint64_t now)
{
    struct world *w = of;
    assert_int_equal(c->ordinal, w->begun[c->rank].ordinal);
    w->asked_at[c->rank] = now;
    w->asks++;
}

static void ended(void *of, const struct executor_collective *c, uint64_t now, const struct executor_carried *carried)
{
    struct world *w = of;
    assert_int_equal(c->ordinal, w->begun[c->rank].ordinal);
    w->ended_at[c->rank] = now;
    w->carried[c->rank] = *carried;
}

static void message(void *of, uint32_t from, uint32_t to, bool begins_to_go, uint64_t now)
{
    struct world *w = of;
    (void)now;
    assert_int_equal(to, 1 - from);
    w->going[from] += begins_to_go ? 1 : -1;
    assert_in_range(w->going[from], 0, 1);
}

static void open_world(struct world *w)
{
    struct hx_problem problem;
    struct schedule_builder *b = schedule_builder_new(RANKS);
    const uint32_t group = schedule_add_group(b, (const uint32_t[]){0, 1}, RANKS);
    *w = (struct world){.holds = true};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const uint32_t first = schedule_compute(b, rank, 5 * US, 0);
        const uint32_t sum = schedule_collect(b, rank, HX_ALL_REDUCE, group, BYTES, 0);
        const uint32_t sent = schedule_send(b, rank, 1 - rank, 100, 0);
        const uint32_t received = schedule_receive(b, rank, 1 - rank, 100, 0);
        const uint32_t last = schedule_compute(b, rank, US, 0);
        (void)schedule_set_purpose(b, rank, sum, "data");
        schedule_after(b, rank, sum, first);
        schedule_after(b, rank, sent, sum);
        schedule_after(b, rank, received, sum);
        schedule_after(b, rank, last, received);
    }
    w->s = schedule_build(b, "x", &problem);
    assert_non_null(w->s);
    schedule_groups_make(&w->groups, w->s);
    w->choices = schedule_choices_make(w->s, schedule_fill_plain, NULL, &problem);
    w->skips = (struct executor_skips){.begins = begins, .asked = asked, .ended = ended, .message = message, .of = w};
    w->plan = (struct executor_plan){.schedule = w->s,
                                     .costs = executor_costs_default,
                                     .window = 4,
                                     .choose = schedule_choose,
                                     .of = w->choices,
                                     .skips = &w->skips,
                                     .result = calloc(RANKS, sizeof(struct executor_result)),
                                     .groups = &w->groups};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        w->e[rank] = executor_new(&w->plan, rank);
        executor_start(w->e[rank], 0);
        executor_settle(w->e[rank], 0);
        assert_int_equal(executor_wake(w->e[rank]), 5 * US);
        executor_settle(w->e[rank], 5 * US);
    }
}

static void close_world(struct world *w)
{
    for (uint32_t rank = 0; rank < RANKS; rank++)
        executor_free(w->e[rank]);
    free(w->plan.result);
    schedule_choices_free(w->choices);
    schedule_groups_free(&w->groups);
    schedule_close(w->s);
}

/* Passes messages on, a microsecond each, until none is left. Returns their bytes. */
static uint64_t pass_messages(struct world *w, uint64_t *now)
{
    uint32_t number[RANKS] = {0, 0};
    uint64_t bytes = 0;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            struct executor_message m;
            if (!executor_next(w->e[rank], *now, &m))
                continue;
            any = true;
            executor_take(w->e[rank]);
            *now += US;
            bytes += m.bytes;
            assert_true(executor_arrived(w->e[m.to], *now, rank, number[rank]++, m.tag));
            assert_true(executor_sent(w->e[rank], *now, m.to, m.tag));
        }
    }
    return bytes;
}

static void a_held_collective_ends_when_it_is_told(void **state)
{
    static const struct executor_carried carried = {3, 130, 7000};
    struct world w;
    (void)state;
    open_world(&w);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct executor_message m;
        assert_int_equal(w.begun_at[rank], 5 * US);
        assert_false(executor_next(w.e[rank], 5 * US, &m)); /* no message goes */
        assert_true(executor_is_quiet(w.e[rank]));
    }
    executor_skip(w.e[0], w.begun[0].group, w.begun[0].ordinal, 30 * US, &carried);
    executor_skip(w.e[1], w.begun[1].group, w.begun[1].ordinal, 60 * US, &carried);
    executor_skip(w.e[1], w.begun[1].group, w.begun[1].ordinal, 31 * US, &carried); /* the later call counts */
    assert_int_equal(executor_wake(w.e[0]), 30 * US);
    assert_int_equal(executor_wake(w.e[1]), 31 * US);
    assert_false(executor_is_quiet(w.e[0]));
    executor_settle(w.e[0], 30 * US);
    executor_settle(w.e[1], 31 * US);
    assert_int_equal(w.ended_at[0], 30 * US);
    assert_int_equal(w.ended_at[1], 31 * US);
    assert_int_equal(w.going[0], 1); /* the send behind it */
    uint64_t now = 31 * US;
    assert_int_equal(pass_messages(&w, &now), 200);
    assert_int_equal(w.going[0], 0);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        executor_settle(w.e[rank], now + US);
        assert_true(w.plan.result[rank].done);
        assert_int_equal(w.plan.result[rank].bytes, 7000 + 100);
        assert_int_equal(w.plan.result[rank].messages, 3 + 1);
    }
    close_world(&w);
}

static void the_rest_of_a_held_collective_is_carried_out(void **state)
{
    static const struct executor_carried before = {1, 2, 3000};
    struct world w;
    (void)state;
    open_world(&w);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        executor_skip(w.e[rank], w.begun[rank].group, w.begun[rank].ordinal, 30 * US, &before);
        executor_carry(w.e[rank], w.begun[rank].group, w.begun[rank].ordinal, 10 * US, 0.25, &before);
        assert_int_equal(executor_wake(w.e[rank]), 10 * US);
        executor_settle(w.e[rank], 10 * US);
    }
    uint64_t now = 10 * US;
    const uint64_t bytes = pass_messages(&w, &now);
    assert_int_equal(bytes, 2 * (BYTES / 4) + 200); /* a ring of two: a quarter of the vector from each */
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        executor_settle(w.e[rank], now + US);
        assert_true(w.plan.result[rank].done);
        assert_int_equal(w.carried[rank].bytes, BYTES / 4);
        assert_int_equal(w.plan.result[rank].bytes, BYTES / 4 + 3000 + 100);
    }
    close_world(&w);
}

static void the_module_is_asked_at_the_last_time_that_it_said(void **state)
{
    static const struct executor_carried carried = {3, 130, 7000};
    struct world w;
    (void)state;
    open_world(&w);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        executor_ask(w.e[rank], w.begun[rank].group, w.begun[rank].ordinal, 8 * US);
        executor_ask(w.e[rank], w.begun[rank].group, w.begun[rank].ordinal, 9 * US);
        executor_skip(w.e[rank], w.begun[rank].group, w.begun[rank].ordinal, EXECUTOR_NEVER, &carried);
        assert_int_equal(executor_wake(w.e[rank]), 9 * US);
        executor_settle(w.e[rank], 9 * US);
        assert_int_equal(w.asked_at[rank], 9 * US);
        assert_int_equal(executor_wake(w.e[rank]), EXECUTOR_NEVER); /* its end is not known */
        executor_ask(w.e[rank], w.begun[rank].group, w.begun[rank].ordinal, 20 * US);
        executor_skip(w.e[rank], w.begun[rank].group, w.begun[rank].ordinal, 15 * US, &carried);
        executor_settle(w.e[rank], 15 * US);
        assert_int_equal(w.ended_at[rank], 15 * US);
        executor_settle(w.e[rank], 20 * US); /* it is held no more: the question is void */
    }
    assert_int_equal(w.asks, RANKS);
    close_world(&w);
}

static void a_rank_says_what_it_has_sent_so_far(void **state)
{
    struct world w;
    struct executor_message m;
    const struct executor_carried nothing = {0, 0, 0};
    (void)state;
    open_world(&w);
    assert_int_equal(executor_has_carried(w.e[0], w.begun[0].group, w.begun[0].ordinal).messages, 0);
    executor_carry(w.e[0], w.begun[0].group, w.begun[0].ordinal, 6 * US, 1, &nothing);
    executor_settle(w.e[0], 6 * US);
    assert_true(executor_next(w.e[0], 6 * US, &m));
    executor_take(w.e[0]);
    const struct executor_carried sent = executor_has_carried(w.e[0], w.begun[0].group, w.begun[0].ordinal);
    assert_int_equal(sent.messages, 1);
    assert_int_equal(sent.bytes, m.bytes);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_collective_ends_when_it_is_told),
        cmocka_unit_test(the_rest_of_a_held_collective_is_carried_out),
        cmocka_unit_test(the_module_is_asked_at_the_last_time_that_it_said),
        cmocka_unit_test(a_rank_says_what_it_has_sent_so_far),
    };
    return cmocka_run_group_tests_name("schedule/executor_skips", tests, NULL, NULL);
}
