/* test_circuits_schedule - an iteration as a schedule: bytes of each pair, time on an ideal network (schedule.h). */
#include "schedule/matching.h"
#include "schedule/summary.h"
#include "tests/support/support_executed.h"
#include "tests/support/support_file.h"
#include "tests/support/support_seed.h"
#include "tools/circuits/demand_schedule.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SERVERS = 12, LATENCY = 1000 /* ps */, MOST_BYTES = 100000 };

/* The demand of a test, and the bytes that each pair has of it. */
struct asked {
    struct circuits_demand d;
    struct circuits_exchange exchange[4];
    double scatter[SERVERS], gather[SERVERS];
    uint64_t bytes[SERVERS][SERVERS];
};

static struct schedule *built(const struct circuits_demand *d, const struct circuits_ring *ring, unsigned rings)
{
    struct hx_problem problem;
    struct schedule_builder *b = circuits_schedule(d, ring, rings, 64, &problem);
    assert_non_null(b);
    struct schedule *s = schedule_build(b, "test", &problem);
    assert_non_null(s);
    assert_true(schedule_check_matching(s, "test", &problem));
    assert_int_equal(s->head->samples, 64);
    return s;
}

/* Asserts that the pairs of a schedule have the asked bytes. */
static void assert_bytes(const struct schedule *s, const struct asked *a)
{
    uint64_t got[SERVERS][SERVERS] = {{0}};
    struct schedule_summary summary;
    FILE *out = file_begin_text();
    schedule_summarize(s, out, &summary);
    char *text = file_end_text();
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        char *rest;
        const unsigned long from = strtoul(line + 1, &rest, 10), to = strtoul(rest + 1, &rest, 10);
        (void)strtoul(rest + 1, &rest, 10);
        assert_true(from < SERVERS && to < SERVERS);
        got[from][to] = strtoull(rest + 1, NULL, 10);
    }
    free(text);
    assert_memory_equal(got, a->bytes, sizeof got);
}

static struct asked exchanges_by(uint64_t *seed)
{
    struct asked a = {.d = {.servers = SERVERS, .forward = 3e-6, .backward = 5e-6}};
    a.d.exchange = NULL;
    a.d.exchanges = 1 + seeded_below(seed, 4);
    a.d.forward_exchanges = seeded_below(seed, a.d.exchanges + 1);
    for (uint32_t i = 0; i < SERVERS; i++) {
        a.scatter[i] = seeded_below(seed, 3) ? seeded_below(seed, MOST_BYTES) : 0;
        a.gather[i] = seeded_below(seed, 3) ? seeded_below(seed, MOST_BYTES) : 0;
    }
    return a;
}

/* Fills the exchanges of *a, which stays where it is. */
static void fill_exchanges(struct asked *a, uint64_t *seed)
{
    a->d.exchange = a->exchange;
    for (unsigned i = 0; i < a->d.exchanges; i++) {
        struct circuits_exchange *e = &a->exchange[i];
        e->scatter = seeded_below(seed, 2) ? a->scatter : NULL;
        e->gather = seeded_below(seed, 2) ? a->gather : NULL;
        e->all = seeded_below(seed, 2) ? seeded_below(seed, MOST_BYTES) : 0;
        for (uint32_t from = 0; from < SERVERS; from++) {
            for (uint32_t to = 0; to < SERVERS; to++)
                if (from != to)
                    a->bytes[from][to] +=
                        (uint64_t)((e->scatter ? e->scatter[from] : 0) + (e->gather ? e->gather[to] : 0) + e->all);
        }
    }
}

/* Adds a sum over all servers, or over every second one, and its bytes by rings of these strides. */
static void add_sum(struct asked *a, const uint32_t *member, uint32_t members, uint64_t segment, unsigned rings,
                    const uint32_t *stride)
{
    a->d.reduce[a->d.reduces++] = (struct circuits_reduce){
        .members = members, .member = member, .bytes = (double)(segment * members * 4 * rings)};
    for (unsigned r = 0; r < rings; r++) {
        for (uint32_t i = 0; i < members; i++) {
            const uint32_t next = (i + stride[r]) % members;
            const uint32_t from = member ? member[i] : i, to = member ? member[next] : next;
            a->bytes[from][to] += 4 * (members - 1) * segment;
            a->bytes[to][from] += 4 * (members - 1) * segment;
        }
    }
}

static const uint32_t strides[] = {1, 5};
static const uint32_t even[SERVERS / 2] = {0, 2, 4, 6, 8, 10};
static const struct circuits_ring all_rings[] = {{0, 1}, {1, 1}, {0, 5}};

static void each_pair_has_the_bytes_of_the_demand(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        seeded_run = seeded_by(1) + i;
        uint64_t seed = seeded_run;
        struct asked a = exchanges_by(&seed);
        fill_exchanges(&a, &seed);
        add_sum(&a, NULL, SERVERS, 1 + seeded_below(&seed, MOST_BYTES), 2, strides);
        add_sum(&a, even, SERVERS / 2, 1 + seeded_below(&seed, MOST_BYTES), 1, strides);
        struct schedule *s = built(&a.d, all_rings, 3);
        assert_bytes(s, &a);
        schedule_close(s);
    }
    seeded_run = 0;
}

static void a_sum_without_rings_has_one_of_stride_1(void **state)
{
    struct asked a = {.d = {.servers = SERVERS}};
    (void)state;
    add_sum(&a, NULL, SERVERS, 7, 1, strides);
    struct schedule *s = built(&a.d, NULL, 0);
    assert_bytes(s, &a);
    schedule_close(s);
}

/* Time on a network where a byte takes a picosecond and no message waits for another. */
static uint64_t time_of(const struct circuits_demand *d)
{
    struct hx_problem problem;
    struct executed_settings settings = executed_plain();
    settings.network = (struct estimate_network){.latency_ps = LATENCY, .byte_ps = 1};
    struct schedule_builder *b = circuits_schedule(d, all_rings, 3, 64, &problem);
    assert_non_null(b);
    struct executed r = executed_of(b, &settings);
    const uint64_t end = executed_end(&r);
    executed_free(&r);
    return end;
}

/* A message of an exchange holds up its receiver alone, so all have one length. */
static void exchanges_follow_one_another_and_computing(void **state)
{
    struct asked a = {.d = {.servers = SERVERS, .forward = 3e-6, .backward = 5e-6}};
    (void)state;
    a.d.exchange = a.exchange;
    a.d.exchanges = 4;
    for (unsigned i = 0; i < 4; i++)
        a.exchange[i].all = 100 * (i + 1);
    for (a.d.forward_exchanges = 0; a.d.forward_exchanges <= 4; a.d.forward_exchanges++) {
        const uint64_t end = time_of(&a.d);
        const uint64_t acknowledged = 4 * LATENCY; /* an exchange also waits for its sends */
        assert_in_range(end, 8000000 + 4 * LATENCY + 1000, 8000000 + 4 * LATENCY + 1000 + acknowledged);
    }
}

static void sums_go_on_beside_the_hidden_computing(void **state)
{
    struct asked a = {.d = {.servers = SERVERS, .forward = 3e-6, .backward = 5e-6}};
    const uint64_t segment = 50000, sums = 2 * (SERVERS - 1) * (LATENCY + segment);
    (void)state;
    add_sum(&a, NULL, SERVERS, segment, 2, strides);
    const double hidden[] = {0, 1e-6, 1.1e-6, 5e-6};
    for (unsigned i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        const uint64_t beside = (uint64_t)(hidden[i] * 1e12);
        a.d.hidden = hidden[i];
        const uint64_t expected = 8000000 - beside + (sums > beside ? sums : beside);
        assert_in_range(time_of(&a.d), expected, expected + LATENCY);
    }
}

static void what_no_schedule_can_hold_is_refused(void **state)
{
    struct asked a = {.d = {.servers = SERVERS}};
    struct hx_problem problem;
    (void)state;
    a.d.forward = 1e9;
    assert_null(circuits_schedule(&a.d, NULL, 0, 0, &problem));
    a.d.forward = 0;
    add_sum(&a, NULL, SERVERS, UINT64_C(1) << 50, 1, strides);
    assert_null(circuits_schedule(&a.d, NULL, 0, 0, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(each_pair_has_the_bytes_of_the_demand, seeded_report),
                                       cmocka_unit_test(a_sum_without_rings_has_one_of_stride_1),
                                       cmocka_unit_test(exchanges_follow_one_another_and_computing),
                                       cmocka_unit_test(sums_go_on_beside_the_hidden_computing),
                                       cmocka_unit_test(what_no_schedule_can_hold_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
