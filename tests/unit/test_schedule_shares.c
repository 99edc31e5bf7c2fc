/* test_schedule_shares.c - all-to-alls with bytes for each pair: sizes, execution, files, matching
 * (schedule/shares.h). */
#include "hxmesh/error.h"
#include "schedule/matching.h"
#include "schedule/shares.h"
#include "tests/support/support_executed.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 24, CASES = 300 };

struct table {
    uint32_t n;
    uint32_t weight[MOST * MOST];
};

/* A table with a weight at least; some have rows and columns of zeros. */
static struct table draw(uint64_t *seed)
{
    struct table t = {.n = 1 + seeded_below(seed, MOST)};
    const uint32_t most = 1U << seeded_below(seed, 32);
    const unsigned zeros = seeded_below(seed, 3);
    for (uint32_t i = 0; i < t.n * t.n; i++)
        t.weight[i] = seeded_below(seed, 3) < zeros ? 0 : seeded_below(seed, most);
    t.weight[seeded_below(seed, t.n * t.n)] |= 1;
    return t;
}

static struct hx_collective_config config_of(uint32_t n, enum hx_collective_type type, uint64_t bytes)
{
    return (struct hx_collective_config){.bytes = bytes,
                                         .chunk = 1 << 30,
                                         .size = n,
                                         .kind = HX_COLLECTIVE_ALL_TO_ALL,
                                         .algorithm = HX_BY_DIRECT,
                                         .type = (uint8_t)type,
                                         .window = 1};
}

/* Elements of a pair, by long division: digits of all x weight / sum in base 2. */
static uint64_t divided(uint64_t all, uint64_t weight, uint64_t sum)
{
    uint64_t quotient = 0;
    uint64_t rest = 0;
    for (unsigned bit = sum ? 64 : 0; bit-- > 0;) {
        rest = 2 * rest + (all >> bit & 1 ? weight : 0);
        quotient = 2 * quotient + rest / sum;
        rest %= sum;
    }
    return quotient;
}

/* ---- sizes ---- */

static void each_pair_has_its_share_rounded_down(void **state)
{
    static const enum hx_collective_type types[] = {HX_UINT8, HX_FLOAT32, HX_FLOAT64};
    uint64_t seed = 1;
    (void)state;
    for (unsigned i = 0; i < CASES; i++) {
        const struct table t = draw(&seed);
        const enum hx_collective_type type = types[i % 3];
        const uint64_t elements = seeded_below(&seed, 1 << seeded_below(&seed, 31));
        struct hx_collective_config c = config_of(t.n, type, elements * hx_collective_element(type));
        uint64_t sum = 0;
        uint64_t longest = 0;
        for (uint32_t k = 0; k < t.n * t.n; k++)
            sum += t.weight[k];
        shares_set(&c, t.weight);
        for (uint32_t from = 0; from < t.n; from++) {
            shares_move(&c, from);
            assert_int_equal(hx_collective_check(&c), HX_OK);
            for (uint32_t to = 0; to < t.n; to++) {
                assert_int_equal(c.outgoing[to + 1] - c.outgoing[to],
                                 divided(elements * t.n, t.weight[from * t.n + to], sum));
                assert_int_equal(c.incoming[to + 1] - c.incoming[to],
                                 divided(elements * t.n, t.weight[to * t.n + from], sum));
            }
            longest = c.outgoing[t.n] > longest ? c.outgoing[t.n] : longest;
        }
        assert_int_equal(c.bytes, longest * hx_collective_element(type));
        shares_free(&c); /* at any position */
    }
}

static void equal_weights_are_equal_segments(void **state)
{
    (void)state;
    struct table t = {.n = 7};
    for (uint32_t i = 0; i < t.n * t.n; i++)
        t.weight[i] = 9;
    struct hx_collective_config c = config_of(t.n, HX_UINT8, 700);
    shares_set(&c, t.weight);
    assert_int_equal(c.bytes, 700);
    for (uint32_t i = 0; i <= t.n; i++)
        assert_int_equal(c.outgoing[i], 100 * i);
    const struct shares_bytes b = shares_bytes_of(&c);
    assert_true(b.mean == 700 && b.sent == 600 && b.fullest == 600);
    shares_free(&c);
}

/* Four members, all send member 0 twice as much as the others: of 20 KiB each has a fifth or two of 5 KiB. */
static void the_fullest_member_sends_or_receives_most(void **state)
{
    (void)state;
    enum { KIB = 1024, PART = 1024 };
    const uint32_t weight[] = {2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1};
    uint32_t turned[16];
    for (unsigned i = 0; i < 16; i++)
        turned[i] = weight[i % 4 * 4 + i / 4];
    for (unsigned back = 0; back < 2; back++) {
        struct hx_collective_config c = config_of(4, HX_UINT8, 5 * KIB);
        shares_set(&c, back ? turned : weight);
        const struct shares_bytes b = shares_bytes_of(&c);
        assert_true(b.mean == 5 * KIB && b.fullest == 3 * 2 * PART);
        assert_true(b.sent == (3 * 2 + 3 * 3) * PART / 4.0);
        assert_int_equal(c.bytes, (back ? 8 : 5) * PART);
        shares_free(&c);
    }
    assert_true(shares_of_others(weight, 4) == 0.75);
    assert_true(shares_reach_all(weight, 4) && shares_are_good(weight, 4));
    assert_false(shares_reach_all((const uint32_t[]){1, 1, 0, 1}, 2));
    assert_false(shares_are_good((const uint32_t[]){0, 0, 0, 0}, 2));
    assert_false(shares_are_good(weight, 0));
    assert_false(shares_are_good(weight, SHARES_MOST + 1));
}

static void without_shares_only_the_position_moves(void **state)
{
    (void)state;
    struct hx_collective_config c = config_of(4, HX_UINT8, 400);
    shares_move(&c, 3);
    assert_int_equal(c.position, 3);
    assert_null(c.outgoing);
    const struct shares_bytes b = shares_bytes_of(&c);
    assert_true(b.mean == 400 && b.sent == 300 && b.fullest == 300);
    shares_free(&c);
}

/* ---- execution ---- */

/* Members in another order than the ranks. */
static struct schedule_builder *exchange(const struct table *t, uint64_t bytes, unsigned algorithm)
{
    struct schedule_builder *b = schedule_builder_new(t->n);
    uint32_t member[MOST];
    for (uint32_t i = 0; i < t->n; i++)
        member[i] = t->n - 1 - i;
    const uint32_t group = schedule_add_group(b, member, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        const uint32_t tag = schedule_add_shares(b, t->weight, t->n);
        const uint32_t number = schedule_collect(b, i, HX_COLLECTIVE_ALL_TO_ALL, group, bytes, tag);
        schedule_builder_at(b, i, number)->algorithm = (uint8_t)algorithm;
    }
    return b;
}

static void each_member_sends_its_row(void **state)
{
    static const unsigned algorithms[] = {HX_ALGORITHM_BEST, HX_ALGORITHM_TREE + HX_BY_DIRECT,
                                          HX_ALGORITHM_TREE + HX_BY_PAIRWISE};
    uint64_t seed = 2;
    (void)state;
    for (unsigned i = 0; i < CASES / 3; i++) {
        const struct table t = draw(&seed);
        const uint64_t bytes = 1000 + seeded_below(&seed, 100000);
        const struct executed_settings settings = executed_plain();
        uint64_t sum = 0;
        for (uint32_t k = 0; k < t.n * t.n; k++)
            sum += t.weight[k];
        struct executed r = executed_of(exchange(&t, bytes, algorithms[i % 3]), &settings);
        (void)executed_end(&r);
        assert_int_equal(r.s->head->shares, 1);
        for (uint32_t from = 0; from < t.n; from++) {
            uint64_t sent = 0;
            for (uint32_t to = 0; to < t.n; to++)
                sent += from == to ? 0 : divided(bytes * t.n, t.weight[from * t.n + to], sum);
            assert_int_equal(r.plan.result[t.n - 1 - from].bytes, sent);
        }
        executed_free(&r);
    }
}

/* A picosecond a byte on an ideal network with links to each member: the last message of the longest pair. */
static void a_heavy_pair_takes_longest(void **state)
{
    (void)state;
    struct table t = {.n = 4};
    for (uint32_t i = 0; i < 16; i++)
        t.weight[i] = 1;
    t.weight[1] = 5; /* 16 x 1000 bytes over 20 */
    struct executed_settings settings = executed_plain();
    settings.network = (struct estimate_network){.latency_ps = 100, .byte_ps = 1};
    struct executed r = executed_of(exchange(&t, 5000, HX_ALGORITHM_BEST), &settings);
    assert_int_equal(executed_end(&r), 5000 + 100 + 100); /* and its acknowledgement */
    executed_free(&r);
}

/* ---- limits ---- */

/* A vector and what staging takes have 2^42 bytes at most (hxmesh/collective.h), at whichever position. */
static void each_position_must_be_possible(void **state)
{
    (void)state;
    static const struct table cases[] = {
        {.n = 4, .weight = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}, /* all have the mean */
        {.n = 4, .weight = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}}, /* the last one receives all */
        {.n = 4, .weight = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}}, /* and sends all */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned shift = 40; shift <= 41; shift++) {
            struct hx_collective_config c = config_of(4, HX_UINT8, (uint64_t)1 << shift);
            shares_set(&c, cases[i].weight);
            assert_int_equal(shares_are_possible(&c), i == 0 || shift == 40);
            assert_true(shares_bytes_of(&c).longest == (double)((uint64_t)1 << (shift + (i ? 2 : 0))));
            shares_free(&c);
        }
    }
    struct hx_collective_config equal = config_of(4, HX_UINT8, (uint64_t)1 << 42);
    assert_true(shares_are_possible(&equal));
    equal.chunk = 0;
    assert_false(shares_are_possible(&equal));
}

static void what_is_too_large_is_refused_without_a_fabric(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct executor_choice choice = {.position = NULL};
    const struct table t = {.n = 4, .weight = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}};
    struct schedule *s = schedule_build(exchange(&t, (uint64_t)1 << 41, HX_ALGORITHM_BEST), "x", &problem);
    assert_non_null(s);
    assert_false(schedule_fill_plain(NULL, s, schedule_at(s, 0, 0), &choice, &problem));
    assert_string_equal(problem.what, "all-to-all of 4 ranks is larger than can be carried out");
    shares_free(&choice.config);
    schedule_close(s);
}

/* ---- matching ---- */

static void members_with_other_shares_are_refused(void **state)
{
    (void)state;
    struct hx_problem problem;
    const struct table t = {.n = 2, .weight = {1, 2, 3, 4}};
    const struct table other = {.n = 2, .weight = {1, 2, 3, 5}};
    struct schedule_builder *b = schedule_builder_new(2);
    const uint32_t group = schedule_add_group(b, (const uint32_t[]){0, 1}, 2);
    (void)schedule_collect(b, 0, HX_COLLECTIVE_ALL_TO_ALL, group, 64, schedule_add_shares(b, t.weight, 2));
    (void)schedule_collect(b, 1, HX_COLLECTIVE_ALL_TO_ALL, group, 64, schedule_add_shares(b, other.weight, 2));
    struct schedule *s = schedule_build(b, "x", &problem);
    assert_non_null(s);
    assert_false(schedule_check_matching(s, "x", &problem));
    assert_string_equal(problem.what,
                        "rank 1: collective 1 of group 0 (2 ranks) is all-to-all of 64 B, shares 2, at rank 0 it is "
                        "all-to-all of 64 B, shares 1 (all members of a group call the same)");
    schedule_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pair_has_its_share_rounded_down),
        cmocka_unit_test(equal_weights_are_equal_segments),
        cmocka_unit_test(the_fullest_member_sends_or_receives_most),
        cmocka_unit_test(without_shares_only_the_position_moves),
        cmocka_unit_test(each_member_sends_its_row),
        cmocka_unit_test(a_heavy_pair_takes_longest),
        cmocka_unit_test(each_position_must_be_possible),
        cmocka_unit_test(what_is_too_large_is_refused_without_a_fabric),
        cmocka_unit_test(members_with_other_shares_are_refused),
    };
    return cmocka_run_group_tests_name("schedule/shares", tests, NULL, NULL);
}
