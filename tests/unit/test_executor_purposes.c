/* test_executor_purposes - time and messages by purpose (schedule/executor_time.c): closed forms, and random schedules
 * against intervals cut out of all entries. Schedules on a network of no delay (schedule/ideal.c) against estimates. */
#include "base/rng.h"
#include "schedule/ideal.h"
#include "tests/support/support_executed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define US UINT64_C(1000000)

static void assert_purpose(const struct executed *r, unsigned number, struct executor_purpose expected)
{
    const struct executor_purpose *p = &r->plan.result[0].purpose[number];
    assert_int_equal(p->busy_ps, expected.busy_ps);
    assert_int_equal(p->hidden_ps, expected.hidden_ps);
    assert_int_equal(p->exposed_ps, expected.exposed_ps);
    assert_int_equal(p->messages, expected.messages);
    assert_int_equal(p->bytes, expected.bytes);
}

/* Rank 0 computes from 0 to 3 us. Receives of two purposes end at 5 us and at 7 us + 1 ps, another without a purpose at
 * 4 us. So the three share 1 us, two of them the next, and one has the rest. */
static void exposed_time_is_shared(void **state)
{
    static const uint64_t end[] = {5 * US, 7 * US + 1, 4 * US};
    static const char *const purpose[] = {"tensor", "data", ""};
    struct schedule_builder *b = schedule_builder_new(2);
    (void)state;
    (void)schedule_compute(b, 0, 3 * US, 0);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t receive = schedule_receive(b, 0, 1, 10, i);
        uint32_t late = schedule_compute(b, 1, end[i] - US, i);
        schedule_after(b, 1, schedule_send(b, 1, 0, 10, i), late);
        assert_true(schedule_set_purpose(b, 0, receive, purpose[i]));
    }
    uint32_t send = schedule_send(b, 0, 1, 77, 9);
    (void)schedule_receive(b, 1, 0, 77, 9);
    assert_true(schedule_set_purpose(b, 0, send, "data"));
    const struct executed_settings settings = executed_plain();
    struct executed r = executed_of(b, &settings);
    const uint64_t third = US / 3;
    assert_int_equal(r.plan.result[0].exposed_ps, 4 * US + 1);
    assert_purpose(&r, SCHEDULE_NO_PURPOSE, (struct executor_purpose){4 * US, 3 * US, third + 1, 0, 0});
    assert_purpose(&r, 1, (struct executor_purpose){5 * US, 3 * US, third + US / 2, 0, 0});
    assert_purpose(&r, 2, (struct executor_purpose){7 * US + 1, 3 * US, third + US / 2 + 2 * US + 1, 1, 77});
    assert_purpose(&r, 3, (struct executor_purpose){0, 0, 0, 0, 0});
    executed_free(&r);
}

/* ---- random schedules ---- */

enum { RANKS = 4, ROUNDS = 12, PURPOSES = 5, MOST_TIMES = 4096 };

static const char *const words[PURPOSES] = {"", "a", "b", "c", "d"};

/* The operation waits for some earlier one of its body, so for an earlier round: no rank waits in a circle. */
static void add_one(struct schedule_builder *b, uint32_t rank, uint32_t number, uint32_t first, uint64_t *seed)
{
    if (number > first && hx_rng_below(seed, 3))
        schedule_after(b, rank, number, first + hx_rng_below(seed, number - first));
    assert_true(schedule_set_purpose(b, rank, number, words[hx_rng_below(seed, PURPOSES)]));
}

static struct schedule_builder *random_schedule(uint64_t *seed)
{
    static const uint32_t all[RANKS] = {0, 1, 2, 3};
    struct schedule_builder *b = schedule_builder_new(RANKS);
    static const enum hx_collective_kind kinds[] = {
        HX_ALL_REDUCE, HX_BROADCAST, HX_ALL_GATHER,     HX_COLLECTIVE_ALL_TO_ALL,
        HX_REDUCE,     HX_GATHER,    HX_REDUCE_SCATTER, HX_BARRIER};
    uint32_t group = schedule_add_group(b, all, RANKS);
    uint32_t first = hx_rng_below(seed, 2);
    for (uint32_t rank = 0; rank < RANKS && first; rank++)
        (void)schedule_repeat(b, rank, 3);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t from = hx_rng_below(seed, RANKS);
        uint32_t to = (from + 1 + hx_rng_below(seed, RANKS - 1)) % RANKS;
        uint32_t bytes = hx_rng_below(seed, 2000);
        if (hx_rng_below(seed, 4)) {
            add_one(b, from, schedule_send(b, from, to, bytes, round), first, seed);
            add_one(b, to, schedule_receive(b, to, from, bytes, round), first, seed);
        } else {
            enum hx_collective_kind kind = kinds[hx_rng_below(seed, sizeof kinds / sizeof *kinds)];
            bytes = kind == HX_BARRIER ? 0 : bytes;
            for (uint32_t rank = 0; rank < RANKS; rank++)
                add_one(b, rank, schedule_collect(b, rank, kind, group, bytes, 0), first, seed);
        }
        for (uint32_t rank = 0; rank < RANKS; rank++)
            add_one(b, rank, schedule_compute(b, rank, hx_rng_below(seed, 3000), hx_rng_below(seed, 2)), first, seed);
    }
    for (uint32_t rank = 0; rank < RANKS && first; rank++)
        schedule_repeat_end(b, rank);
    return b;
}

static int by_time(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* What is in progress all the time from .. to, at which no operation begins or ends in between. */
struct moment {
    bool computing;
    bool purpose[SCHEDULE_MOST_PURPOSES];
    unsigned purposes;
};

static struct moment moment_of(const struct executed *r, uint32_t rank, uint64_t from, uint64_t to)
{
    struct moment m = {.computing = false};
    const struct executor_entry *entry = r->plan.entry + r->first_entry[rank];
    for (uint64_t i = 0; i < r->plan.result[rank].entries; i++) {
        const struct schedule_operation *o = schedule_at(r->s, rank, entry[i].operation);
        if (o->kind == SCHEDULE_REPEAT || entry[i].begin > from || entry[i].end < to)
            continue;
        m.computing = m.computing || o->kind == SCHEDULE_COMPUTE;
        if (o->kind == SCHEDULE_COMPUTE || m.purpose[o->purpose])
            continue;
        m.purpose[o->purpose] = true;
        m.purposes++;
    }
    return m;
}

static void add_moment(struct executor_purpose *p, const struct moment *m, uint64_t passed)
{
    bool first = true;
    for (unsigned i = 0; i < SCHEDULE_MOST_PURPOSES; i++) {
        if (!m->purpose[i])
            continue;
        p[i].busy_ps += passed;
        if (m->computing)
            p[i].hidden_ps += passed;
        else
            p[i].exposed_ps += passed / m->purposes + (first ? passed % m->purposes : 0);
        first = false;
    }
}

static void assert_rank(const struct executed *r, uint32_t rank)
{
    const struct executor_result *result = &r->plan.result[rank];
    const struct executor_entry *entry = r->plan.entry + r->first_entry[rank];
    struct executor_purpose expected[SCHEDULE_MOST_PURPOSES] = {{0}};
    uint64_t time[MOST_TIMES] = {0};
    size_t times = 0;
    uint64_t exposed = 0;
    uint64_t messages = 0;
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < result->entries; i++) {
        time[times++] = entry[i].begin;
        time[times++] = entry[i].end;
    }
    qsort(time, times, sizeof *time, by_time);
    for (size_t i = 0; i + 1 < times; i++) {
        const struct moment m = moment_of(r, rank, time[i], time[i + 1]);
        if (time[i] < time[i + 1])
            add_moment(expected, &m, time[i + 1] - time[i]);
    }
    for (unsigned i = 0; i < SCHEDULE_MOST_PURPOSES; i++) {
        const struct executor_purpose *p = &result->purpose[i];
        assert_int_equal(p->busy_ps, expected[i].busy_ps);
        assert_int_equal(p->hidden_ps, expected[i].hidden_ps);
        assert_int_equal(p->exposed_ps, expected[i].exposed_ps);
        exposed += p->exposed_ps;
        messages += p->messages;
        bytes += p->bytes;
    }
    assert_int_equal(exposed, result->exposed_ps);
    assert_int_equal(messages, result->messages);
    assert_int_equal(bytes, result->bytes);
}

static void purposes_are_those_of_the_entries(void **state)
{
    enum { CASES = 200 };
    (void)state;
    for (uint64_t n = 0; n < CASES; n++) {
        uint64_t seed = n;
        struct executed_settings settings = executed_plain();
        settings.network = (struct estimate_network){.latency_ps = hx_rng_below(&seed, 900), .byte_ps = 0.5};
        if (hx_rng_below(&seed, 2))
            settings.costs = (struct executor_costs){
                .overhead_ps = 100, .overhead_byte_ps = 0.1, .eager = 700, .compute_scale = 1.5};
        struct executed r = executed_of(random_schedule(&seed), &settings);
        (void)executed_end(&r);
        for (uint32_t rank = 0; rank < RANKS; rank++)
            assert_rank(&r, rank);
        executed_free(&r);
    }
}

/* The estimate has messages for each collective; the ideal one a barrier. */
static void ideal_times_are_those_of_estimates_without_delay(void **state)
{
    enum { CASES = 200 };
    (void)state;
    for (uint64_t n = 0; n < CASES; n++) {
        uint64_t seed = n;
        struct executed_settings settings = executed_plain();
        settings.network.latency_ps = 0;
        settings.costs.compute_scale = n % 2 ? 2 : 1;
        struct executed r = executed_of(random_schedule(&seed), &settings);
        r.plan.groups = &r.groups;
        const struct schedule_ideal ideal = schedule_ideal(&r.plan);
        uint64_t computing = 0;
        for (uint32_t rank = 0; rank < RANKS; rank++)
            computing += r.plan.result[rank].computing_ps;
        assert_int_equal(llround(ideal.seconds * 1e12), executed_end(&r));
        assert_int_equal(llround(ideal.computing_seconds * RANKS * 1e12), computing);
        executed_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exposed_time_is_shared),
        cmocka_unit_test(purposes_are_those_of_the_entries),
        cmocka_unit_test(ideal_times_are_those_of_estimates_without_delay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
