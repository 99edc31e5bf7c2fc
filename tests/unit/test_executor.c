/* test_executor - executors on an ideal network against closed forms (schedule/executor.h, schedule/estimate.h). */
#include "tests/support/support_executed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define US UINT64_C(1000000)

static struct executed run_with(struct schedule_builder *b, struct executor_costs costs,
                                struct estimate_network network)
{
    struct executed_settings settings = executed_plain();
    settings.costs = costs;
    settings.network = network;
    return executed_of(b, &settings);
}

static struct executed run(struct schedule_builder *b)
{
    const struct executed_settings settings = executed_plain();
    return executed_of(b, &settings);
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
    struct executed r = run_with(b, executor_costs_default, (struct estimate_network){.latency_ps = US, .byte_ps = 10});
    assert_int_equal(executed_end(&r), TURNS * (US + 1000));
    executed_free(&r);
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
    struct executed r = run_with(b, executor_costs_default, (struct estimate_network){.latency_ps = 0, .byte_ps = 0});
    assert_int_equal(executed_end(&r), (STAGES + BATCHES - 1) * STEP);
    assert_int_equal(r.plan.result[0].computing_ps, BATCHES * STEP);
    executed_free(&r);
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
    struct executed r = run_with(b, costs, (struct estimate_network){.latency_ps = US, .byte_ps = 2});
    uint64_t overhead = 500 + (BYTES - 1) * 3;
    assert_int_equal(executed_end(&r), overhead + US + 2 * BYTES + SENDERS * overhead);
    executed_free(&r);
}

/* Ranks 1 .. OTHERS send to rank 0, or it sends to them, all at time 0. */
static void a_rank_sends_and_receives_at_the_rate_of_its_host(void **state)
{
    enum { OTHERS = 7, BYTES = 1000000, BYTE_PS = 20 };
    const struct estimate_network network = {.latency_ps = US, .byte_ps = BYTE_PS, .host_byte_ps = BYTE_PS};
    (void)state;
    for (unsigned out = 0; out < 2; out++) {
        struct schedule_builder *b = schedule_builder_new(OTHERS + 1);
        uint32_t receive[OTHERS + 1] = {0};
        for (uint32_t i = 1; i <= OTHERS; i++) {
            (void)schedule_send(b, out ? 0 : i, out ? i : 0, BYTES, 0);
            receive[i] = schedule_receive(b, out ? i : 0, out ? 0 : i, BYTES, 0);
        }
        struct executed r = run_with(b, executor_costs_default, network);
        for (uint32_t i = 1; i <= OTHERS; i++)
            assert_int_equal(executed_entry(&r, out ? i : 0, receive[i], 0).end, US + (uint64_t)i * BYTES * BYTE_PS);
        assert_int_equal(executed_end(&r), US + (uint64_t)OTHERS * BYTES * BYTE_PS);
        executed_free(&r);
    }
}

/* Two messages to rank 1, then one to rank 2: they leave in this order, and the last one is third. */
static void messages_leave_in_the_order_of_sending(void **state)
{
    enum { BYTES = 1000, BYTE_PS = 20 };
    const struct estimate_network network = {.latency_ps = US, .byte_ps = BYTE_PS, .host_byte_ps = BYTE_PS};
    struct schedule_builder *b = schedule_builder_new(3);
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        (void)schedule_send(b, 0, i < 2 ? 1 : 2, BYTES, i);
        (void)schedule_receive(b, i < 2 ? 1 : 2, 0, BYTES, i);
    }
    struct executed_settings settings = executed_plain();
    struct executed r;
    settings.network = network;
    executed_prepare(&r, b, &settings);
    r.plan.in_order = true;
    assert_true(schedule_estimate(&r.plan, &network));
    assert_int_equal(executed_entry(&r, 1, 1, 0).end, US + UINT64_C(2) * BYTES * BYTE_PS);
    assert_int_equal(executed_entry(&r, 2, 0, 0).end, US + UINT64_C(3) * BYTES * BYTE_PS);
    executed_free(&r);
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
        struct executed r = run_with(b, costs, (struct estimate_network){.latency_ps = US, .byte_ps = 10});
        uint64_t arrival = 700 + US + bytes * 10 + (longer ? 2 * US : 0);
        assert_int_equal(executed_entry(&r, 0, send, 0).end, longer ? arrival + US : 700);
        assert_int_equal(executed_entry(&r, 1, receive, 0).end, arrival + 700);
        executed_free(&r);
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
    struct executed r = run(b);
    assert_int_equal(executed_entry(&r, 0, early, 0).begin, 0);
    assert_int_equal(executed_entry(&r, 0, long_one, 0).begin, 10);
    assert_int_equal(executed_entry(&r, 0, after_start, 0).begin, 10);
    assert_int_equal(executed_entry(&r, 0, late, 0).begin, 310);
    assert_int_equal(executed_entry(&r, 0, late, 0).cause, 3); /* the entry of long_one, the fourth that ended */
    executed_free(&r);
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
    struct executed r = run(b);
    assert_int_equal(executed_end(&r), 300 + US);
    assert_int_equal(r.plan.result[0].messages, 6);
    assert_int_equal(atomic_load(&r.plan.result[1].ended), 1 + 3 * (1 + 1 + 2));
    assert_int_equal(r.plan.result[1].early, 0);
    executed_free(&r);
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
    struct executed r = run(b);
    assert_int_equal(executed_entry(&r, 2, any, 0).cause, 0);
    assert_int_equal(executed_entry(&r, 2, source, 0).cause, second);
    assert_int_equal(executed_entry(&r, 2, tag, 0).source, 1);
    assert_int_equal(executed_entry(&r, 2, tag, 0).end, 6 * US);
    executed_free(&r);
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
    struct executed r = run(b);
    assert_int_equal(executed_entry(&r, 1, receive, 0).end, 9 * US);
    assert_int_equal(executed_entry(&r, 1, own, 0).end, 0);
    assert_int_equal(r.plan.result[1].early, 2); /* the own message left before its receive began */
    executed_free(&r);
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
    struct executed r = run(b);
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_false(r.plan.result[rank].done);
        assert_int_equal(r.plan.result[rank].blocked, 0);
        assert_int_equal(r.plan.result[rank].blocked_count, 1);
        assert_int_equal(atomic_load(&r.plan.result[rank].ended), 1);
    }
    executed_free(&r);
}

/* Of two computations at each rank the second would end too late. So does an overhead that no integer holds. */
static void nothing_ends_after_the_latest_time(void **state)
{
    struct schedule_builder *b = schedule_builder_new(2);
    struct executed_settings settings = executed_plain();
    (void)state;
    for (uint32_t rank = 0; rank < 2; rank++) {
        (void)schedule_repeat(b, rank, 1000);
        (void)schedule_compute(b, rank, 600 * US, 0);
        schedule_repeat_end(b, rank);
    }
    (void)schedule_send(b, 1, 0, UINT64_C(1) << 44, 0);
    (void)schedule_receive(b, 0, 1, UINT64_C(1) << 44, 0);
    settings.costs.overhead_byte_ps = 1e9;
    settings.latest_ps = 1000 * US;
    struct executed r = executed_of(b, &settings);
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_true(r.plan.result[rank].late);
        assert_false(r.plan.result[rank].done);
    }
    assert_int_equal(r.plan.result[0].end_ps, 600 * US);
    executed_free(&r);
}

static void a_repeat_without_duration_can_be_stopped(void **state)
{
    struct schedule_builder *b = schedule_builder_new(2);
    const atomic_bool stop = true;
    struct executed_settings settings = executed_plain();
    (void)state;
    (void)schedule_repeat(b, 0, UINT64_C(1) << 50);
    (void)schedule_compute(b, 0, 0, 0);
    schedule_repeat_end(b, 0);
    (void)schedule_repeat(b, 1, UINT64_C(1) << 50);
    (void)schedule_repeat(b, 1, 1);
    schedule_repeat_end(b, 1);
    schedule_repeat_end(b, 1);
    settings.stop = &stop;
    struct executed r = executed_of(b, &settings);
    assert_false(r.plan.result[0].done);
    executed_free(&r);
}

/* ---- sends that begin together ---- */

/* Rank 0 sends six messages to rank 1, one to rank 2 and one to rank 3. */
static void prepare_sends(struct executed *r, bool in_order)
{
    struct executed_settings settings = executed_plain();
    struct schedule_builder *b = schedule_builder_new(4);
    static const uint32_t to[] = {1, 1, 1, 1, 1, 1, 2, 3};
    for (uint32_t i = 0; i < sizeof to / sizeof *to; i++) {
        (void)schedule_send(b, 0, to[i], 100 + i, i);
        (void)schedule_receive(b, to[i], 0, 100 + i, i);
    }
    settings.window = HX_PEER_WINDOW;
    executed_prepare(r, b, &settings);
    r->plan.in_order = in_order;
}

/* Takes what may go: `to`, ranks, ends with 0. */
static void assert_sends(struct executor *e, const uint32_t *to)
{
    struct executor_message m;
    for (; *to; to++) {
        assert_true(executor_next(e, 0, &m));
        assert_int_equal(m.to, *to);
        executor_take(e);
    }
    assert_false(executor_next(e, 0, &m));
}

/* The fifth message waits for the first to arrive, and those behind it wait for the fifth. */
static void sends_in_order_wait_for_those_before(void **state)
{
    struct executed r;
    (void)state;
    prepare_sends(&r, true);
    struct executor *e = executor_new(&r.plan, 0);
    executor_start(e, 0);
    assert_sends(e, (const uint32_t[]){1, 1, 1, 1, 0});
    assert_true(executor_is_quiet(e));
    assert_true(executor_sent(e, 0, 1, 0));
    assert_sends(e, (const uint32_t[]){1, 0});
    assert_true(executor_sent(e, 0, 1, 1));
    assert_sends(e, (const uint32_t[]){1, 2, 3, 0});
    executor_free(e);
    executed_free(&r);
}

static void shared_sends_take_turns_between_ranks(void **state)
{
    struct executed r;
    (void)state;
    prepare_sends(&r, false);
    struct executor *e = executor_new(&r.plan, 0);
    executor_start(e, 0);
    assert_sends(e, (const uint32_t[]){1, 2, 3, 1, 1, 1, 0});
    assert_true(executor_sent(e, 0, 1, 0));
    assert_sends(e, (const uint32_t[]){1, 0});
    executor_free(e);
    executed_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ping_pong_takes_its_messages),
        cmocka_unit_test(a_pipeline_takes_stages_and_batches_less_one),
        cmocka_unit_test(a_fan_in_costs_the_receiver_its_overheads),
        cmocka_unit_test(a_rank_sends_and_receives_at_the_rate_of_its_host),
        cmocka_unit_test(messages_leave_in_the_order_of_sending),
        cmocka_unit_test(sends_end_as_loggops_says),
        cmocka_unit_test(streams_take_what_was_ready_first),
        cmocka_unit_test(repeats_run_one_iteration_after_the_other),
        cmocka_unit_test(wildcards_take_messages_in_order),
        cmocka_unit_test(a_message_before_its_receive_waits_and_is_counted),
        cmocka_unit_test(a_deadlock_names_what_waits),
        cmocka_unit_test(nothing_ends_after_the_latest_time),
        cmocka_unit_test(a_repeat_without_duration_can_be_stopped),
        cmocka_unit_test(sends_in_order_wait_for_those_before),
        cmocka_unit_test(shared_sends_take_turns_between_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
