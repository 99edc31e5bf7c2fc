/* test_executor_collectives - collectives of schedules on an ideal network (schedule/executor_collectives.c,
 * choices.c). */
#include "base/rng.h"
#include "hxmesh/error.h"
#include "schedule/executor_parts.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_executed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define US UINT64_C(1000000)

/* Ranks 0 .. size - 1 with one collective each, without dependencies. */
static struct schedule_builder *one_collective(uint32_t size, enum hx_collective_kind kind, uint64_t bytes,
                                               uint32_t root, unsigned algorithm)
{
    struct schedule_builder *b = schedule_builder_new(size);
    uint32_t *member = hx_allocate(size, sizeof *member);
    for (uint32_t i = 0; i < size; i++)
        member[i] = size - 1 - i;
    uint32_t group = schedule_add_group(b, member, size);
    for (uint32_t rank = 0; rank < size; rank++) {
        uint32_t number = schedule_collect(b, rank, kind, group, bytes, kind == HX_COLLECTIVE_ALL_TO_ALL ? 0 : root);
        schedule_builder_at(b, rank, number)->algorithm = (uint8_t)algorithm;
    }
    free(member);
    return b;
}

/* Every message that was sent arrived at another member. Returns their number. */
static uint64_t messages_of(const struct executed *r)
{
    uint64_t sent = 0;
    uint64_t arrived = 0;
    for (uint32_t rank = 0; rank < schedule_ranks(r->s); rank++) {
        sent += atomic_load(&r->plan.result[rank].sent);
        arrived += atomic_load(&r->plan.result[rank].arrived);
    }
    assert_int_equal(sent, arrived);
    return sent;
}

/* ---- every kind and algorithm ---- */

/* A group in another order than that of the schedule, on a grid. */
struct grid {
    uint32_t columns;
    bool found; /* some algorithm was carried out on it */
};

static void order_backwards(struct executor_choice *choice, uint32_t size)
{
    uint32_t *member = hx_allocate(size, sizeof *member);
    uint32_t *position = hx_allocate(size, sizeof *position);
    for (uint32_t i = 0; i < size; i++) {
        member[i] = (2 * size - 2 - i) % size;
        position[member[i]] = i;
    }
    choice->config.root = position[choice->config.root];
    choice->member = member;
    choice->position = position;
}

static bool fill_grid(void *of, const struct schedule *s, const struct schedule_operation *o,
                      struct executor_choice *choice, struct hx_problem *problem)
{
    struct grid *grid = of;
    struct hx_collective_config *config = &choice->config;
    uint32_t size = schedule_group_size(s, o->peer);
    schedule_set_vector(o, size, config);
    config->algorithm = o->algorithm - HX_ALGORITHM_TREE;
    config->root = o->tag;
    config->chunk = 1024;
    config->window = HX_COLLECTIVE_MAX_WINDOW;
    config->dimensions = 2;
    config->dimension[0] = (struct hx_collective_dimension){grid->columns, HX_BY_DIRECT};
    config->dimension[1] = (struct hx_collective_dimension){size / grid->columns, HX_BY_BRUCK};
    grid->found = hx_collective_check(config) == HX_OK;
    if (!grid->found)
        return schedule_fill_plain(NULL, s, o, choice, problem);
    order_backwards(choice, size);
    return true;
}

/* Runs a collective of `size` members, with as many messages in flight to a peer. Returns whether it sent any. */
static bool carry_out(uint32_t size, enum hx_collective_kind kind, unsigned algorithm, uint64_t bytes,
                      const struct executed_settings *settings)
{
    struct executed r = executed_of(one_collective(size, kind, bytes, size / 2, algorithm), settings);
    (void)executed_end(&r);
    bool any = messages_of(&r) > 0;
    executed_free(&r);
    return any;
}

static void every_kind_by_every_algorithm_ends_at_all_members(void **state)
{
    static const uint64_t bytes[] = {0, 5, 40000};
    (void)state;
    for (unsigned kind = 0; kind < HX_COLLECTIVE_KINDS; kind++) {
        for (unsigned algorithm = HX_ALGORITHM_BEST; algorithm < HX_ALGORITHMS; algorithm++) {
            for (uint32_t size = 1; size <= 9; size++) {
                struct executed_settings settings = executed_plain();
                settings.window = size % 2 ? 1 : EXECUTOR_WINDOW;
                for (unsigned i = 0; i < 3; i++)
                    assert_int_equal(carry_out(size, kind, algorithm, bytes[i], &settings), size > 1);
            }
        }
    }
}

static void groups_have_an_order_of_their_own(void **state)
{
    static const uint32_t shapes[][2] = {{3, 2}, {2, 4}, {4, 4}, {8, 1}};
    (void)state;
    for (unsigned algorithm = HX_ALGORITHM_TREE; algorithm < HX_ALGORITHMS; algorithm++) {
        bool any = false;
        for (unsigned kind = 0; kind < HX_COLLECTIVE_KINDS; kind++) {
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                struct grid grid = {.columns = shapes[i][0]};
                struct executed_settings settings = executed_plain();
                settings.window = EXECUTOR_WINDOW;
                settings.fill = fill_grid;
                settings.of = &grid;
                assert_true(carry_out(shapes[i][0] * shapes[i][1], kind, algorithm, 9000, &settings));
                any = any || grid.found;
            }
        }
        assert_true(any);
    }
}

/* ---- closed forms ---- */

/* A named algorithm is used if a line of ranks has it, else one by kind and bytes. */
static void algorithms_are_those_of_operations(void **state)
{
    static const struct {
        enum hx_collective_kind kind;
        unsigned algorithm; /* enum hx_algorithm */
        uint64_t bytes;
        enum hx_collective_algorithm expected;
    } cases[] = {
        {HX_ALL_REDUCE, HX_ALGORITHM_TREE + HX_BY_HALVING, 1 << 20, HX_BY_HALVING},
        {HX_ALL_REDUCE, HX_ALGORITHM_TREE + HX_BY_RINGS, 1 << 20, HX_BY_RING},
        {HX_REDUCE, HX_ALGORITHM_TREE + HX_BY_RING, 64, HX_BY_TREE},
        {HX_REDUCE, HX_ALGORITHM_TREE + HX_BY_DIRECT, 64, HX_BY_DIRECT},
        {HX_REDUCE, HX_ALGORITHM_BEST, 1 << 20, HX_BY_CHAIN},
        {HX_ALL_REDUCE, HX_ALGORITHM_BEST, 64, HX_BY_TREE},
        {HX_BROADCAST, HX_ALGORITHM_BEST, 1 << 20, HX_BY_RING},
        {HX_GATHER, HX_ALGORITHM_BEST, 1 << 20, HX_BY_DIRECT},
        {HX_COLLECTIVE_ALL_TO_ALL, HX_ALGORITHM_BEST, 1 << 20, HX_BY_DIRECT},
        {HX_BARRIER, HX_ALGORITHM_BEST, 0, HX_BY_BRUCK},
    };
    const struct executed_settings settings = executed_plain();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct executed r;
        executed_prepare(&r, one_collective(6, cases[i].kind, cases[i].bytes, 0, cases[i].algorithm), &settings);
        const struct executor_choice *choice = schedule_choose(r.choices, schedule_at(r.s, 0, 0));
        assert_int_equal(choice->config.algorithm, cases[i].expected);
        executed_free(&r);
    }
}

/* On an ideal network all messages that wait for no other leave at once. */
static void times_have_closed_forms(void **state)
{
    enum { RANKS = 6, BYTES = 600 };
    static const struct {
        enum hx_collective_kind kind;
        uint64_t time;
        uint64_t bytes; /* of all messages */
    } cases[] = {{HX_COLLECTIVE_ALL_TO_ALL, US + BYTES / RANKS * 10, (RANKS - 1) * BYTES},
                 {HX_GATHER, US + BYTES / RANKS * 10, BYTES - BYTES / RANKS},
                 {HX_SCATTER, US + BYTES / RANKS * 10, BYTES - BYTES / RANKS},
                 {HX_REDUCE, 2 * (US + BYTES * 10), (RANKS - 1) * BYTES}, /* a binomial tree of two levels */
                 {HX_BARRIER, 3 * US, 0}};                                /* ceil(log2 6) rounds */
    struct executed_settings settings = executed_plain();
    (void)state;
    settings.network.byte_ps = 10;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct executed r = executed_of(one_collective(RANKS, cases[i].kind, BYTES, 2, HX_ALGORITHM_BEST), &settings);
        uint64_t bytes = 0;
        for (uint32_t rank = 0; rank < RANKS; rank++)
            bytes += r.plan.result[rank].bytes;
        assert_int_equal(executed_end(&r), cases[i].time + US); /* and the acknowledgement */
        assert_int_equal(bytes, cases[i].bytes);
        executed_free(&r);
    }
}

/* An all-to-all is rounded up to a multiple of its ranks, and each pair has one message. */
static void an_all_to_all_has_equal_parts(void **state)
{
    enum { RANKS = 7, BYTES = 1000000 };
    const struct executed_settings settings = executed_plain();
    (void)state;
    struct executed r =
        executed_of(one_collective(RANKS, HX_COLLECTIVE_ALL_TO_ALL, BYTES, 0, HX_ALGORITHM_BEST), &settings);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(r.plan.result[rank].messages, RANKS - 1);
        assert_int_equal(r.plan.result[rank].bytes, (RANKS - 1) * (BYTES / RANKS + 1));
    }
    executed_free(&r);
}

/* A member sends to those after it in their order. */
static void an_all_to_all_goes_around(void **state)
{
    enum { RANKS = 40 };
    const struct executed_settings settings = executed_plain();
    struct executor_message m;
    struct executed r;
    (void)state;
    executed_prepare(&r, one_collective(RANKS, HX_COLLECTIVE_ALL_TO_ALL, RANKS, 0, HX_ALGORITHM_BEST), &settings);
    struct executor *e = executor_new(&r.plan, 0); /* it has the last position */
    executor_start(e, 0);
    for (uint32_t i = 1; i < RANKS; i++) {
        assert_true(executor_next(e, 0, &m));
        assert_int_equal(m.to, RANKS - i);
        executor_take(e);
    }
    assert_false(executor_next(e, 0, &m));
    executor_free(e);
    executed_free(&r);
}

/* ---- many collectives ---- */

/* The root of broadcasts runs ahead of a member that computes first, by more collectives than a window. */
static void collectives_are_counted_in_their_groups(void **state)
{
    enum { TIMES = 50 };
    const struct executed_settings settings = executed_plain();
    struct schedule_builder *b = schedule_builder_new(3);
    uint32_t all[] = {0, 1, 2};
    uint32_t pair[] = {2, 0};
    (void)state;
    uint32_t of_all = schedule_add_group(b, all, 3);
    uint32_t of_pair = schedule_add_group(b, pair, 2);
    for (uint32_t rank = 0; rank < 3; rank++) {
        uint32_t pause = schedule_compute(b, rank, rank * 300 * US, 0);
        uint32_t repeat = schedule_repeat(b, rank, TIMES);
        (void)schedule_collect(b, rank, HX_BROADCAST, of_all, 4096, 0);
        if (rank != 1)
            (void)schedule_collect(b, rank, HX_ALL_REDUCE, of_pair, 4096, 0); /* at once */
        (void)schedule_collect(b, rank, HX_BROADCAST, of_all, 8192, 0);
        schedule_repeat_end(b, rank);
        schedule_after(b, rank, repeat, pause);
    }
    struct executed r = executed_of(b, &settings);
    assert_true(executed_end(&r) > 600 * US);
    assert_true(r.plan.result[1].early > 0);
    executed_free(&r);
}

/* A root has no message that says how far the others are. */
static void a_root_runs_thousands_of_collectives_ahead(void **state)
{
    enum { TIMES = 5000 };
    static const enum hx_collective_kind kinds[] = {HX_BROADCAST, HX_SCATTER};
    const struct executed_settings settings = executed_plain();
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
        struct executed r = executed_of(b, &settings);
        assert_int_equal(executed_end(&r), 100000 * US);
        executed_free(&r);
    }
}

/* All of them share the windows of few peers, in turn. */
static void thousands_of_collectives_are_in_progress_at_once(void **state)
{
    enum { RANKS = 4, TIMES = 3000 };
    struct executed_settings settings = executed_plain();
    struct schedule_builder *b = schedule_builder_new(RANKS);
    uint32_t all[RANKS] = {0, 1, 2, 3};
    (void)state;
    settings.window = EXECUTOR_WINDOW;
    uint32_t group = schedule_add_group(b, all, RANKS);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (unsigned i = 0; i < TIMES; i++)
            (void)schedule_collect(b, rank, i % 2 ? HX_COLLECTIVE_ALL_TO_ALL : HX_ALL_REDUCE, group, 64, 0);
    }
    struct executed r = executed_of(b, &settings);
    (void)executed_end(&r);
    assert_int_equal(messages_of(&r), TIMES / 2 * (RANKS * (RANKS - 1) + 2 * (RANKS - 1)));
    executed_free(&r);
}

/* With a window of one message, collectives that begin together end together: none goes before all others. */
static void collectives_take_turns(void **state)
{
    enum { COLLECTIVES = 5, CHUNKS = 16 };
    struct executed_settings settings = executed_plain();
    struct schedule_builder *b = schedule_builder_new(2);
    uint32_t all[] = {0, 1};
    (void)state;
    settings.window = 1;
    uint32_t group = schedule_add_group(b, all, 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        for (unsigned i = 0; i < COLLECTIVES; i++)
            schedule_builder_at(b, rank, schedule_collect(b, rank, HX_BROADCAST, group, CHUNKS << 16, 0))->algorithm =
                HX_ALGORITHM_TREE + HX_BY_CHAIN;
    }
    struct executed r = executed_of(b, &settings);
    uint64_t last = executed_end(&r);
    for (uint32_t i = 0; i < COLLECTIVES; i++)
        assert_true(executed_entry(&r, 0, i, 0).end + 2 * COLLECTIVES * US > last);
    executed_free(&r);
}

/* Peers move only when one is added: elsewhere their addresses are kept meanwhile. */
static void looking_for_a_peer_moves_none(void **state)
{
    enum { RANKS = 70 };
    const struct executed_settings settings = executed_plain();
    struct executed r;
    (void)state;
    executed_prepare(&r, one_collective(RANKS, HX_COLLECTIVE_ALL_TO_ALL, 4096, 0, HX_ALGORITHM_BEST), &settings);
    struct executor *e = executor_new(&r.plan, 0);
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        const uint32_t at = messages_peer(e, rank);
        const struct peer *peers = e->peer;
        assert_int_equal(messages_peer(e, rank), at);
        assert_ptr_equal(e->peer, peers);
        assert_int_equal(e->peer[messages_peer(e, 1)].rank, 1);
        assert_ptr_equal(e->peer, peers);
    }
    executor_free(e);
    executed_free(&r);
}

/* ---- messages that no executor sent ---- */

static void foreign_messages_are_refused(void **state)
{
    uint64_t seed = 7;
    const struct executed_settings settings = executed_plain();
    (void)state;
    for (unsigned round = 0; round < effort_few(500, 2000); round++) {
        struct schedule_builder *b = schedule_builder_new(3);
        uint32_t all[] = {0, 1, 2};
        uint32_t group = schedule_add_group(b, all, 3);
        for (uint32_t rank = 0; rank < 3; rank++) {
            (void)schedule_send(b, rank, (rank + 1) % 3, 8, 0);
            (void)schedule_receive(b, rank, (rank + 2) % 3, 8, 0);
            schedule_builder_at(b, rank, schedule_collect(b, rank, round % HX_COLLECTIVE_KINDS, group, 4096, 0))
                ->algorithm = (uint8_t)(round / HX_COLLECTIVE_KINDS % HX_ALGORITHMS);
        }
        struct executed r;
        executed_prepare(&r, b, &settings);
        struct executor *e = executor_new(&r.plan, 0);
        executor_start(e, 0);
        bool good = true;
        for (unsigned i = 0; i < 12 && good; i++) {
            uint32_t tag = hx_rng_below(&seed, 1U << 31) * 2U + hx_rng_below(&seed, 2);
            tag = hx_rng_below(&seed, 2) ? tag & 0xE0000003U : tag;
            good = executor_arrived(e, i, hx_rng_below(&seed, 4), hx_rng_below(&seed, 3), tag);
        }
        executor_free(e);
        executed_free(&r);
    }
}

/* ---- sums that take time ---- */

enum { BYTES = 4096, BYTE_PS = 20, BYTES_A_NS = 4 };
#define MESSAGE_PS (US + (uint64_t)BYTES * BYTE_PS)
#define SUM_PS     ((uint64_t)BYTES * 1000 / BYTES_A_NS)

static struct executed summed(struct schedule_builder *b)
{
    struct executed_settings settings = executed_plain();
    settings.costs.sum_rate = BYTES_A_NS;
    settings.network.byte_ps = BYTE_PS;
    return executed_of(b, &settings);
}

/* Recursive doubling: each step takes a message, and the sum that the next one needs. */
static void each_step_waits_for_its_sum(void **state)
{
    (void)state;
    for (unsigned steps = 1; steps <= 4; steps++) {
        struct executed r =
            summed(one_collective(1U << steps, HX_ALL_REDUCE, BYTES, 0, HX_ALGORITHM_TREE + HX_BY_DOUBLING));
        assert_int_equal(executed_end(&r), steps * (MESSAGE_PS + SUM_PS));
        executed_free(&r);
    }
}

/* What is not added costs nothing. */
static void copies_take_no_time(void **state)
{
    (void)state;
    struct executed r = summed(one_collective(2, HX_BROADCAST, BYTES, 0, HX_ALGORITHM_TREE + HX_BY_TREE));
    assert_int_equal(executed_entry(&r, 0, 0, 0).end, MESSAGE_PS); /* the root is rank 1 */
    executed_free(&r);
}

/* A rank adds one message after the other, of whatever collective. */
static void sums_of_a_rank_come_one_after_the_other(void **state)
{
    enum { COLLECTIVES = 3 };
    struct schedule_builder *b = schedule_builder_new(2);
    uint32_t group = schedule_add_group(b, (const uint32_t[]){0, 1}, 2);
    (void)state;
    for (uint32_t i = 0; i < 2 * COLLECTIVES; i++) {
        uint32_t number = schedule_collect(b, i % 2, HX_ALL_REDUCE, group, BYTES, 0);
        schedule_builder_at(b, i % 2, number)->algorithm = HX_ALGORITHM_TREE + HX_BY_DOUBLING;
    }
    struct executed r = summed(b);
    for (uint32_t i = 0; i < COLLECTIVES; i++)
        assert_int_equal(executed_entry(&r, 0, i, 0).end, MESSAGE_PS + (i + 1) * SUM_PS);
    executed_free(&r);
}

static struct executor_message first_message(struct executor *e)
{
    struct executor_message m;
    executor_start(e, 0);
    assert_true(executor_next(e, 0, &m));
    executor_take(e);
    return m;
}

/* A message that has waited for its sum, and that the network does not take yet, hides no later end on a stream. */
static void a_message_that_waits_hides_no_end(void **state)
{
    enum { RANKS = 4, COMPUTES = 100 };
    struct schedule_builder *b = one_collective(RANKS, HX_ALL_REDUCE, BYTES, 0, HX_ALGORITHM_TREE + HX_BY_DOUBLING);
    struct executed_settings settings = executed_plain();
    struct executed r;
    struct executor_message m;
    (void)state;
    settings.costs.sum_rate = BYTES_A_NS;
    (void)schedule_compute(b, 0, COMPUTES * US, 0);
    executed_prepare(&r, b, &settings);
    struct executor *e = executor_new(&r.plan, 0);
    struct executor *partner = executor_new(&r.plan, 1);
    (void)first_message(e);
    executor_settle(e, 0);
    assert_true(executor_arrived(e, US, 1, 0, first_message(partner).tag));
    executor_settle(e, US);
    assert_false(executor_next(e, US, &m));
    assert_int_equal(executor_wake(e), US + SUM_PS);
    executor_settle(e, US + SUM_PS);
    assert_true(executor_next(e, US + SUM_PS, &m));
    assert_int_equal(executor_wake(e), COMPUTES * US);
    executor_settle(e, COMPUTES * US);
    assert_int_equal(executor_wake(e), EXECUTOR_NEVER);
    assert_false(executor_is_quiet(e));
    executor_free(partner);
    executor_free(e);
    executed_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_by_every_algorithm_ends_at_all_members),
        cmocka_unit_test(groups_have_an_order_of_their_own),
        cmocka_unit_test(algorithms_are_those_of_operations),
        cmocka_unit_test(times_have_closed_forms),
        cmocka_unit_test(an_all_to_all_has_equal_parts),
        cmocka_unit_test(an_all_to_all_goes_around),
        cmocka_unit_test(collectives_are_counted_in_their_groups),
        cmocka_unit_test(a_root_runs_thousands_of_collectives_ahead),
        cmocka_unit_test(thousands_of_collectives_are_in_progress_at_once),
        cmocka_unit_test(collectives_take_turns),
        cmocka_unit_test(looking_for_a_peer_moves_none),
        cmocka_unit_test(foreign_messages_are_refused),
        cmocka_unit_test(each_step_waits_for_its_sum),
        cmocka_unit_test(copies_take_no_time),
        cmocka_unit_test(sums_of_a_rank_come_one_after_the_other),
        cmocka_unit_test(a_message_that_waits_hides_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
