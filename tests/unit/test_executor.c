/* test_executor - executors on an ideal network against closed forms (schedule/executor.h, schedule/estimate.h). */
#include "base/rng.h"
#include "schedule/build.h"
#include "schedule/choices.h"
#include "schedule/estimate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define US UINT64_C(1000000)

enum { MOST_ENTRIES = 4096 };

/* A schedule and what its operations did. */
struct run {
    struct schedule *s;
    struct schedule_groups groups;
    struct schedule_choices *choices;
    struct executor_plan plan;
    uint64_t *first_entry;
};

/* latest, stop: as in the plan. */
static struct run run_until(struct schedule_builder *b, struct executor_costs costs, struct estimate_network network,
                            uint64_t latest, const atomic_bool *stop)
{
    struct hx_problem problem;
    struct run r = {.s = schedule_build(b, "test", &problem)};
    assert_non_null(r.s);
    uint32_t ranks = schedule_ranks(r.s);
    schedule_groups_make(&r.groups, r.s);
    r.choices = schedule_choices_make(r.s, schedule_fill_plain, NULL, &problem);
    assert_non_null(r.choices);
    r.first_entry = hx_allocate(ranks + 1U, sizeof *r.first_entry);
    for (uint32_t i = 0; i < ranks; i++)
        r.first_entry[i + 1] = r.first_entry[i] + MOST_ENTRIES;
    r.plan = (struct executor_plan){.schedule = r.s,
                                    .costs = costs,
                                    .window = UINT32_MAX,
                                    .latest_ps = latest,
                                    .stop = stop,
                                    .choose = schedule_choose,
                                    .of = r.choices,
                                    .result = hx_allocate(ranks, sizeof(struct executor_result)),
                                    .entry = hx_allocate(r.first_entry[ranks], sizeof(struct executor_entry)),
                                    .first_entry = r.first_entry,
                                    .groups = &r.groups};
    assert_true(schedule_estimate(&r.plan, &network));
    return r;
}

static struct run run_with(struct schedule_builder *b, struct executor_costs costs, struct estimate_network network)
{
    return run_until(b, costs, network, 0, NULL);
}

static struct run run(struct schedule_builder *b)
{
    return run_with(b, executor_costs_default, (struct estimate_network){.latency_ps = US});
}

static void free_run(struct run *r)
{
    schedule_choices_free(r->choices);
    schedule_groups_free(&r->groups);
    schedule_close(r->s);
    HX_FREE(r->plan.result, r->plan.entry, r->first_entry);
}

static uint64_t end_of(const struct run *r)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < schedule_ranks(r->s); i++) {
        assert_true(r->plan.result[i].done);
        end = r->plan.result[i].end_ps > end ? r->plan.result[i].end_ps : end;
    }
    return end;
}

/* The n-th entry of an operation of a rank. */
static struct executor_entry entry_of(const struct run *r, uint32_t rank, uint32_t operation, unsigned n)
{
    const struct executor_entry *entry = r->plan.entry + r->first_entry[rank];
    for (uint64_t i = 0; i < r->plan.result[rank].entries; i++) {
        if (entry[i].operation == operation && n-- == 0)
            return entry[i];
    }
    fail_msg("operation %u of rank %u has no such entry", operation, rank);
    return entry[0];
}

/* ---- closed forms ---- */

static void a_ping_pong_takes_its_messages(void **state)
{
    enum { TURNS = 7 };
    struct schedule_builder *b = schedule_builder_new(2);
    (void)state;
    for (unsigned i = 0; i < TURNS; i++) {
        unsigned from = i % 2;
        uint32_t send = schedule_send(b, from, 1 - from, 100, i);
        uint32_t receive = schedule_receive(b, 1 - from, from, 100, i);
        if (i)
            schedule_after(b, from, send, send - 1);
        (void)receive;
    }
    struct run r = run_with(b, executor_costs_default, (struct estimate_network){US, 10});
    assert_int_equal(end_of(&r), TURNS * (US + 1000));
    free_run(&r);
}

/* P stages and M micro-batches, each of one step: (P + M - 1) steps, with messages of no duration. */
static void a_pipeline_takes_stages_and_batches_less_one(void **state)
{
    enum { STAGES = 5, BATCHES = 9, STEP = 1000 };
    struct schedule_builder *b = schedule_builder_new(STAGES);
    (void)state;
    for (uint32_t rank = 0; rank < STAGES; rank++) {
        for (uint32_t tag = 0; tag < BATCHES; tag++) {
            uint32_t receive = rank ? schedule_receive(b, rank, rank - 1, 8, tag) : 0;
            uint32_t compute = schedule_compute(b, rank, STEP, 0);
            if (rank)
                schedule_after(b, rank, compute, receive);
            if (rank + 1 < STAGES)
                schedule_after(b, rank, schedule_send(b, rank, rank + 1, 8, tag), compute);
        }
    }
    struct run r = run_with(b, executor_costs_default, (struct estimate_network){0, 0});
    assert_int_equal(end_of(&r), (STAGES + BATCHES - 1) * STEP);
    assert_int_equal(r.plan.result[0].computing_ps, BATCHES * STEP);
    free_run(&r);
}

/* A receiver of N messages spends o + (s - 1) * O on each, one after the other. */
static void a_fan_in_costs_the_receiver_its_overheads(void **state)
{
    enum { SENDERS = 6, BYTES = 11 };
    struct schedule_builder *b = schedule_builder_new(SENDERS + 1);
    (void)state;
    for (uint32_t i = 1; i <= SENDERS; i++) {
        (void)schedule_send(b, i, 0, BYTES, 0);
        (void)schedule_receive(b, 0, i, BYTES, 0);
    }
    struct executor_costs costs = executor_costs_default;
    costs.overhead_ps = 500;
    costs.overhead_byte_ps = 3;
    struct run r = run_with(b, costs, (struct estimate_network){US, 2});
    uint64_t overhead = 500 + (BYTES - 1) * 3;
    assert_int_equal(end_of(&r), overhead + US + 2 * BYTES + SENDERS * overhead);
    free_run(&r);
}

/* LogGOPS: an eager send ends after o; a rendezvous takes a request, an answer and the data, and one more latency for
 * the acknowledgement. */
static void sends_end_as_loggops_says(void **state)
{
    struct executor_costs costs = executor_costs_default;
    (void)state;
    costs.overhead_ps = 700;
    costs.eager = 100;
    for (unsigned longer = 0; longer < 2; longer++) {
        uint64_t bytes = 100 + longer;
        struct schedule_builder *b = schedule_builder_new(2);
        uint32_t send = schedule_send(b, 0, 1, bytes, 4);
        uint32_t receive = schedule_receive(b, 1, 0, bytes, 4);
        struct run r = run_with(b, costs, (struct estimate_network){US, 10});
        uint64_t arrival = 700 + US + bytes * 10 + (longer ? 2 * US : 0);
        assert_int_equal(entry_of(&r, 0, send, 0).end, longer ? arrival + US : 700);
        assert_int_equal(entry_of(&r, 1, receive, 0).end, arrival + 700);
        free_run(&r);
    }
}

/* ---- order ---- */

static void streams_take_what_was_ready_first(void **state)
{
    struct schedule_builder *b = schedule_builder_new(1);
    (void)state;
    uint32_t first = schedule_compute(b, 0, 100, 1);
    uint32_t late = schedule_compute(b, 0, 10, 0); /* ready at 100 */
    uint32_t early = schedule_compute(b, 0, 10, 0);
    uint32_t long_one = schedule_compute(b, 0, 300, 0);
    uint32_t after_start = schedule_compute(b, 0, 5, 2);
    schedule_after(b, 0, late, first);
    schedule_after_start(b, 0, after_start, long_one);
    struct run r = run(b);
    assert_int_equal(entry_of(&r, 0, early, 0).begin, 0);
    assert_int_equal(entry_of(&r, 0, long_one, 0).begin, 10);
    assert_int_equal(entry_of(&r, 0, after_start, 0).begin, 10);
    assert_int_equal(entry_of(&r, 0, late, 0).begin, 310);
    assert_int_equal(entry_of(&r, 0, late, 0).cause, 3); /* the entry of long_one, the fourth that ended */
    free_run(&r);
}

static void repeats_run_one_iteration_after_the_other(void **state)
{
    struct schedule_builder *b = schedule_builder_new(2);
    (void)state;
    for (uint32_t rank = 0; rank < 2; rank++) {
        (void)schedule_repeat(b, rank, 3);
        uint32_t compute = schedule_compute(b, rank, 100, 0);
        uint32_t inner = schedule_repeat(b, rank, 2);
        uint32_t message = rank ? schedule_receive(b, rank, 0, 8, SCHEDULE_ANY) : schedule_send(b, rank, 1, 8, 7);
        (void)message;
        schedule_repeat_end(b, rank);
        schedule_after(b, rank, inner, compute);
        schedule_repeat_end(b, rank);
    }
    struct run r = run(b);
    assert_int_equal(end_of(&r), 300 + US);
    assert_int_equal(r.plan.result[0].messages, 6);
    assert_int_equal(atomic_load(&r.plan.result[1].ended), 1 + 3 * (1 + 1 + 2));
    assert_int_equal(r.plan.result[1].early, 0);
    free_run(&r);
}

/* Sends of one source are matched in their order, whatever receives ask for. */
static void wildcards_take_messages_in_order(void **state)
{
    struct schedule_builder *b = schedule_builder_new(3);
    (void)state;
    (void)schedule_send(b, 0, 2, 1, 10);
    uint32_t second = schedule_send(b, 0, 2, 2, 20);
    uint32_t pause = schedule_compute(b, 1, 5 * US, 0);
    schedule_after(b, 1, schedule_send(b, 1, 2, 3, 10), pause);
    schedule_after(b, 0, second, 0);
    uint32_t any = schedule_receive(b, 2, SCHEDULE_ANY, 9, SCHEDULE_ANY);
    uint32_t tag = schedule_receive(b, 2, SCHEDULE_ANY, 9, 10);
    uint32_t source = schedule_receive(b, 2, 0, 9, SCHEDULE_ANY);
    struct run r = run(b);
    assert_int_equal(entry_of(&r, 2, any, 0).cause, 0);
    assert_int_equal(entry_of(&r, 2, source, 0).cause, second);
    assert_int_equal(entry_of(&r, 2, tag, 0).source, 1);
    assert_int_equal(entry_of(&r, 2, tag, 0).end, 6 * US);
    free_run(&r);
}

static void a_message_before_its_receive_waits_and_is_counted(void **state)
{
    struct schedule_builder *b = schedule_builder_new(2);
    (void)state;
    (void)schedule_send(b, 0, 1, 4, 0);
    uint32_t compute = schedule_compute(b, 1, 9 * US, 0);
    uint32_t receive = schedule_receive(b, 1, 0, 4, 0);
    schedule_after(b, 1, receive, compute);
    uint32_t self = schedule_send(b, 1, 1, 3, 5);
    uint32_t own = schedule_receive(b, 1, 1, 3, 5);
    (void)self;
    struct run r = run(b);
    assert_int_equal(entry_of(&r, 1, receive, 0).end, 9 * US);
    assert_int_equal(entry_of(&r, 1, own, 0).end, 0);
    assert_int_equal(r.plan.result[1].early, 2); /* the own message left before its receive began */
    free_run(&r);
}

/* ---- what never ends ---- */

static void a_deadlock_names_what_waits(void **state)
{
    struct schedule_builder *b = schedule_builder_new(2);
    (void)state;
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t receive = schedule_receive(b, rank, 1 - rank, 8, 0);
        schedule_after(b, rank, schedule_send(b, rank, 1 - rank, 8, 0), receive);
        (void)schedule_compute(b, rank, 50, 0);
    }
    struct run r = run(b);
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_false(r.plan.result[rank].done);
        assert_int_equal(r.plan.result[rank].blocked, 0);
        assert_int_equal(r.plan.result[rank].blocked_count, 1);
        assert_int_equal(atomic_load(&r.plan.result[rank].ended), 1);
    }
    free_run(&r);
}

/* Of two computations at each rank the second would end too late. So does an overhead that no integer holds. */
static void nothing_ends_after_the_latest_time(void **state)
{
    static const struct estimate_network network = {.latency_ps = US};
    struct schedule_builder *b = schedule_builder_new(2);
    struct executor_costs costs = executor_costs_default;
    (void)state;
    for (uint32_t rank = 0; rank < 2; rank++) {
        (void)schedule_repeat(b, rank, 1000);
        (void)schedule_compute(b, rank, 600 * US, 0);
        schedule_repeat_end(b, rank);
    }
    (void)schedule_send(b, 1, 0, UINT64_C(1) << 44, 0);
    (void)schedule_receive(b, 0, 1, UINT64_C(1) << 44, 0);
    costs.overhead_byte_ps = 1e9;
    struct run r = run_until(b, costs, network, 1000 * US, NULL);
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_true(r.plan.result[rank].late);
        assert_false(r.plan.result[rank].done);
    }
    assert_int_equal(r.plan.result[0].end_ps, 600 * US);
    free_run(&r);
}

static void a_repeat_without_duration_can_be_stopped(void **state)
{
    struct schedule_builder *b = schedule_builder_new(2);
    const atomic_bool stop = true;
    (void)state;
    (void)schedule_repeat(b, 0, UINT64_C(1) << 50);
    (void)schedule_compute(b, 0, 0, 0);
    schedule_repeat_end(b, 0);
    (void)schedule_repeat(b, 1, UINT64_C(1) << 50);
    (void)schedule_repeat(b, 1, 1);
    schedule_repeat_end(b, 1);
    schedule_repeat_end(b, 1);
    struct run r = run_until(b, executor_costs_default, (struct estimate_network){.latency_ps = US}, 0, &stop);
    assert_false(r.plan.result[0].done);
    free_run(&r);
}

/* ---- collectives ---- */

static void every_collective_ends_at_all_members(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < SCHEDULE_COLLECTIVES; kind++) {
        for (uint32_t size = 1; size <= 9; size++) {
            for (unsigned large = 0; large < 2; large++) {
                struct schedule_builder *b = schedule_builder_new(size + 1); /* the last rank is in no group */
                uint32_t member[9];
                for (uint32_t i = 0; i < size; i++)
                    member[i] = size - i; /* ranks size .. 1 */
                uint32_t group = schedule_add_group(b, member, size);
                for (uint32_t i = 1; i <= size; i++)
                    (void)schedule_collect(b, i, (enum schedule_collective)kind, group, large ? 1 << 20 : 360,
                                           size - 1);
                struct run r = run(b);
                (void)end_of(&r);
                free_run(&r);
            }
        }
    }
}

/* All-to-all, reduce and barrier have closed forms on an ideal network: all messages leave at once. */
static void direct_collectives_take_one_message(void **state)
{
    enum { RANKS = 6, BYTES = 600 };
    static const struct {
        enum schedule_collective kind;
        uint64_t time;
    } cases[] = {{SCHEDULE_ALL_TO_ALL, US + BYTES / RANKS * 10},
                 {SCHEDULE_GATHER, US + BYTES / RANKS * 10},
                 {SCHEDULE_SCATTER, US + BYTES / RANKS * 10},
                 {SCHEDULE_REDUCE, US + BYTES * 10},
                 {SCHEDULE_BARRIER, 3 * US}}; /* ceil(log2 6) rounds */
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct schedule_builder *b = schedule_builder_new(RANKS);
        uint32_t all[RANKS] = {0, 1, 2, 3, 4, 5};
        uint32_t group = schedule_add_group(b, all, RANKS);
        for (uint32_t rank = 0; rank < RANKS; rank++)
            (void)schedule_collect(b, rank, cases[i].kind, group, BYTES, 2);
        struct run r = run_with(b, executor_costs_default, (struct estimate_network){US, 10});
        assert_int_equal(end_of(&r), cases[i].time + US); /* and the acknowledgement */
        free_run(&r);
    }
}

/* The root of broadcasts runs ahead of a member that computes first, by more collectives than a window. */
static void collectives_are_counted_in_their_groups(void **state)
{
    enum { TIMES = 50 };
    struct schedule_builder *b = schedule_builder_new(3);
    uint32_t all[] = {0, 1, 2};
    uint32_t pair[] = {2, 0};
    (void)state;
    uint32_t of_all = schedule_add_group(b, all, 3);
    uint32_t of_pair = schedule_add_group(b, pair, 2);
    for (uint32_t rank = 0; rank < 3; rank++) {
        uint32_t pause = schedule_compute(b, rank, rank * 300 * US, 0);
        uint32_t repeat = schedule_repeat(b, rank, TIMES);
        (void)schedule_collect(b, rank, SCHEDULE_BROADCAST, of_all, 4096, 0);
        if (rank != 1)
            (void)schedule_collect(b, rank, SCHEDULE_ALL_REDUCE, of_pair, 4096, 0); /* at once */
        (void)schedule_collect(b, rank, SCHEDULE_BROADCAST, of_all, 8192, 0);
        schedule_repeat_end(b, rank);
        schedule_after(b, rank, repeat, pause);
    }
    struct run r = run(b);
    assert_true(end_of(&r) > 600 * US);
    assert_true(r.plan.result[1].early > 0);
    free_run(&r);
}

/* A root has no message that says how far the others are. */
static void a_root_runs_thousands_of_collectives_ahead(void **state)
{
    enum { TIMES = 5000 };
    static const enum schedule_collective kinds[] = {SCHEDULE_BROADCAST, SCHEDULE_SCATTER};
    uint32_t all[] = {0, 1, 2};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct schedule_builder *b = schedule_builder_new(3);
        uint32_t group = schedule_add_group(b, all, 3);
        for (uint32_t rank = 0; rank < 3; rank++) {
            uint32_t pause = schedule_compute(b, rank, rank == 1 ? 100000 * US : 0, 0);
            uint32_t repeat = schedule_repeat(b, rank, TIMES);
            (void)schedule_collect(b, rank, kinds[i], group, 12, 0);
            schedule_repeat_end(b, rank);
            schedule_after(b, rank, repeat, pause);
        }
        struct run r = run(b);
        assert_int_equal(end_of(&r), 100000 * US);
        free_run(&r);
    }
}

/* ---- messages that no executor sent ---- */

static void foreign_messages_are_refused(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        struct schedule_builder *b = schedule_builder_new(3);
        uint32_t all[] = {0, 1, 2};
        uint32_t group = schedule_add_group(b, all, 3);
        for (uint32_t rank = 0; rank < 3; rank++) {
            (void)schedule_send(b, rank, (rank + 1) % 3, 8, 0);
            (void)schedule_receive(b, rank, (rank + 2) % 3, 8, 0);
            (void)schedule_collect(b, rank, (enum schedule_collective)(round % SCHEDULE_COLLECTIVES), group, 4096, 0);
        }
        struct hx_problem problem;
        struct schedule *s = schedule_build(b, "test", &problem);
        assert_non_null(s);
        struct schedule_groups groups;
        schedule_groups_make(&groups, s);
        struct schedule_choices *choices = schedule_choices_make(s, schedule_fill_plain, NULL, &problem);
        struct executor_result result[3] = {{0}};
        const struct executor_plan plan = {.schedule = s,
                                           .costs = executor_costs_default,
                                           .window = EXECUTOR_WINDOW,
                                           .choose = schedule_choose,
                                           .of = choices,
                                           .result = result,
                                           .groups = &groups};
        struct executor *e = executor_new(&plan, 0);
        executor_start(e, 0);
        bool good = true;
        for (unsigned i = 0; i < 12 && good; i++) {
            uint32_t tag = hx_rng_below(&seed, 1U << 31) * 2U + hx_rng_below(&seed, 2);
            tag = hx_rng_below(&seed, 2) ? tag & 0xE0000003U : tag;
            good = executor_arrived(e, i, hx_rng_below(&seed, 4), hx_rng_below(&seed, 3), tag);
        }
        executor_free(e);
        schedule_choices_free(choices);
        schedule_groups_free(&groups);
        schedule_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ping_pong_takes_its_messages),
        cmocka_unit_test(a_pipeline_takes_stages_and_batches_less_one),
        cmocka_unit_test(a_fan_in_costs_the_receiver_its_overheads),
        cmocka_unit_test(sends_end_as_loggops_says),
        cmocka_unit_test(streams_take_what_was_ready_first),
        cmocka_unit_test(repeats_run_one_iteration_after_the_other),
        cmocka_unit_test(wildcards_take_messages_in_order),
        cmocka_unit_test(a_message_before_its_receive_waits_and_is_counted),
        cmocka_unit_test(a_deadlock_names_what_waits),
        cmocka_unit_test(nothing_ends_after_the_latest_time),
        cmocka_unit_test(a_repeat_without_duration_can_be_stopped),
        cmocka_unit_test(every_collective_ends_at_all_members),
        cmocka_unit_test(direct_collectives_take_one_message),
        cmocka_unit_test(collectives_are_counted_in_their_groups),
        cmocka_unit_test(a_root_runs_thousands_of_collectives_ahead),
        cmocka_unit_test(foreign_messages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
