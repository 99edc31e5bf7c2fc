/* test_bandwidth.c - bytes and times of a training iteration on a network of dimensions, by hand; how a budget is
 * divided; what the paper of Won et al. (2021) publishes. */
#include "tools/bandwidth/allocate.h"
#include "tools/bandwidth/packets.h"
#include "tools/bandwidth/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.9g, expected %.9g", value, expected);
}

static struct bandwidth_network network(const char *text)
{
    struct bandwidth_network n;
    struct hx_problem problem;
    if (!bandwidth_network_read(&n, text, &problem))
        fail_msg("%s: %s", problem.where, problem.what);
    return n;
}

/* Places a group of `size` members, `stride` ranks apart. */
static bool place(const struct bandwidth_network *n, struct bandwidth_need *need, uint32_t stride, uint32_t size)
{
    uint32_t rank[4096];
    assert_in_range(size, 1, 4096);
    for (uint32_t i = 0; i < size; i++)
        rank[i] = stride * i;
    return bandwidth_place(n, need, rank, size);
}

static struct bandwidth_need need_of(const struct bandwidth_network *n, bool data, uint32_t stride, uint32_t size,
                                     double vector)
{
    struct bandwidth_need need = {
        .purpose = "test", .data = data, .bytes = 2 * vector * (double)(size - 1) / (double)size, .calls = 1};
    assert_true(place(n, &need, stride, size));
    return need;
}

/* ---- networks and groups ---- */

static void a_network_is_read_and_written(void **state)
{
    (void)state;
    char text[BANDWIDTH_NAME];
    const struct bandwidth_network n = network("ring(2)_FC(8)_Ring(8)_Switch(1000)");
    assert_string_equal(bandwidth_network_write(&n, text), "Ring(2)_FC(8)_Ring(8)_Switch(1000)");
    assert_int_equal(bandwidth_npus(&n), 128000);
}

static void what_is_no_network_is_refused(void **state)
{
    (void)state;
    static const char *const texts[][2] = {{"4x4 Hx2Mesh", "no network"},
                                           {"", "no network"},
                                           {"Ring(8)_", "no network"},
                                           {"Ring(8)Switch(4)", "no network"},
                                           {"Ring(8x)", "no network"},
                                           {"Ring(8)_Switch(4) gbps=400", "leave gbps= out"},
                                           {"Ring(1)_FC(2)", "a dimension of 1"},
                                           {"FC(2)_FC(2)_FC(2)_FC(2)_FC(2)_FC(2)", "more than 5"},
                                           {"Switch(1000000)_Switch(1000000)_Switch(1000000)", "NPUs"}};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct bandwidth_network n;
        struct hx_problem problem = {.exit_code = 0};
        assert_false(bandwidth_network_read(&n, texts[i][0], &problem));
        assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
        assert_non_null(strstr(problem.what, texts[i][1]));
    }
}

static void groups_fill_dimensions_in_order(void **state)
{
    (void)state;
    const struct bandwidth_network n = network("Ring(8)_FC(8)_Switch(16)");
    static const struct {
        uint32_t stride, size;
        unsigned members[3];
        uint64_t step[3];
    } all[] = {{1, 8, {8, 1, 1}, {1, 0, 0}},      {1, 16, {8, 2, 1}, {1, 8, 0}},    {16, 64, {1, 4, 16}, {0, 16, 64}},
               {1, 1024, {8, 8, 16}, {1, 8, 64}}, {128, 8, {1, 1, 8}, {0, 0, 128}}, {2, 2, {2, 1, 1}, {2, 0, 0}}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        struct bandwidth_need need;
        assert_true(place(&n, &need, all[i].stride, all[i].size));
        for (unsigned d = 0; d < 3; d++) {
            assert_int_equal(need.members[d], all[i].members[d]);
            assert_true(need.members[d] == 1 || need.stride[d] == all[i].step[d]);
        }
    }
}

static void a_group_that_does_not_fill_a_dimension_is_refused(void **state)
{
    (void)state;
    const struct bandwidth_network n = network("Ring(8)_FC(8)_Switch(16)");
    static const uint32_t uneven[] = {0, 1, 3}, corner[] = {0, 1, 8};
    struct bandwidth_need need;
    assert_false(place(&n, &need, 1, 6));
    assert_false(place(&n, &need, 1, 12));
    assert_false(place(&n, &need, 1, 2048));
    assert_false(bandwidth_place(&n, &need, uneven, 3));
    assert_false(bandwidth_place(&n, &need, corner, 3));
}

/* Two kinds of parallelism in one group, with another between them. */
static void a_group_may_leave_out_dimensions(void **state)
{
    (void)state;
    const struct bandwidth_network n = network("Ring(2)_FC(4)_Ring(3)");
    static const uint32_t ends[] = {0, 1, 8, 9, 16, 17};
    struct bandwidth_need need;
    assert_true(bandwidth_place(&n, &need, ends, 6));
    assert_int_equal(need.members[0], 2);
    assert_int_equal(need.members[1], 1);
    assert_int_equal(need.members[2], 3);
    assert_int_equal(need.stride[2], 8);
}

/* ---- bytes and times ---- */

static void an_all_reduce_sends_less_along_each_dimension(void **state)
{
    (void)state;
    const struct bandwidth_network n = network("Ring(2)_FC(8)_Ring(8)_Switch(8)");
    const struct bandwidth_need need = need_of(&n, true, 1, 1024, 1000);
    double bytes[BANDWIDTH_DIMENSIONS];
    bandwidth_bytes(&n, &need, bytes);
    near(bytes[0], 2 * 1000 / 2.0, 1e-12);
    near(bytes[1], 2 * 1000 * 7 / 8.0 / 2, 1e-12);
    near(bytes[2], 2 * 1000 * 7 / 8.0 / 16, 1e-12);
    near(bytes[3], 2 * 1000 * 7 / 8.0 / 128, 1e-12);
    near(bytes[0] + bytes[1] + bytes[2] + bytes[3], need.bytes, 1e-12);
}

static void an_exchange_sends_the_same_along_each_dimension(void **state)
{
    (void)state;
    const struct bandwidth_network n = network("Ring(4)_Switch(4)");
    struct bandwidth_need need = {.pattern = BANDWIDTH_EXCHANGE, .bytes = 15};
    assert_true(place(&n, &need, 1, 16));
    double bytes[BANDWIDTH_DIMENSIONS];
    bandwidth_bytes(&n, &need, bytes);
    near(bytes[0], 12, 1e-12);
    near(bytes[1], 12, 1e-12);
}

static void the_slowest_dimension_gives_the_time(void **state)
{
    (void)state;
    const struct bandwidth_network n = network("Ring(8)_Switch(4)");
    const double rate[] = {7e9, 1e9};
    struct bandwidth_work w = {.needs = 2, .computing = 3, .bubble = 1};
    w.need[0] = need_of(&n, false, 1, 8, 4e9); /* 7e9 bytes along the ring: 1 s */
    w.need[1] = need_of(&n, true, 8, 4, 2e9);  /* 3e9 along the switch: 3 s */
    struct bandwidth_time t = bandwidth_time_of(&n, &w, rate, 0);
    near(t.model, 1, 1e-12);
    near(t.data, 3, 1e-12);
    near(t.iteration, 7, 1e-12);
    near(t.use, 1, 1e-12);
    t = bandwidth_time_of(&n, &w, rate, 1e-3); /* a ring of 8: 14 hops; a switch of 4: two steps, there and back */
    near(t.model, 1 + 14e-3, 1e-12);
    near(t.data, 3 + 8e-3, 1e-12);
    w.need[1].beside = true;
    w.room = 2;
    t = bandwidth_time_of(&n, &w, rate, 0);
    near(t.exposed, 2, 1e-12);
    near(t.iteration, 5, 1e-12);
    w.room = 4;
    near(bandwidth_time_of(&n, &w, rate, 0).iteration, 4, 1e-12);
    w.bubble = 1.5; /* of computing and the model's communication */
    near(bandwidth_time_of(&n, &w, rate, 0).iteration, 6, 1e-12);
}

static void what_a_network_costs(void **state)
{
    (void)state;
    const double rate[] = {1e9, 10e9, 100e9};
    const struct bandwidth_network n = network("Ring(4)_FC(2)_Switch(2)");
    /* Ring: 16 cables of 0.5 GB/s. FC: 8 of 10. Switch: 16 of 100, as many NICs and ports. */
    near(bandwidth_cost(&n, rate, &hx_default_prices), 16 * 0.5 * 2 + 8 * 10 * 2 + 16 * 100.0 * (2 + 48 + 24), 1e-12);
}

/* ---- division of a budget ---- */

static void equal_and_in_proportion(void **state)
{
    (void)state;
    const struct bandwidth_load l = {3, {6, 2, 0}, {0, 1, 1}};
    double rate[BANDWIDTH_DIMENSIONS];
    bandwidth_equal(&l, 30, rate);
    near(rate[0], 10, 1e-12);
    near(rate[2], 10, 1e-12);
    bandwidth_message(&l, 30, rate);
    near(rate[0], 18, 1e-12);
    near(rate[1], 9, 1e-12);
    near(rate[2], 3, 1e-12);
}

/* The three cases of one shared dimension, and none, by the formulas of the header. */
static void smart_has_the_closed_form(void **state)
{
    (void)state;
    double rate[BANDWIDTH_DIMENSIONS];
    bandwidth_smart(&(struct bandwidth_load){2, {9, 0}, {0, 4}}, 50, rate); /* 3 : 2 */
    near(rate[0], 30, 1e-9);
    near(rate[1], 20, 1e-9);
    /* p = 1/2, q = 1/2, D small: the shared dimension is the model's. x : y = sqrt(M) : sqrt(2 D) */
    bandwidth_smart(&(struct bandwidth_load){3, {8, 8, 0}, {0, 1, 1}}, 60, rate); /* 4 : 2, x + y / 2 = 60 */
    near(rate[0], 24, 1e-9);
    near(rate[1], 24, 1e-9);
    near(rate[2], 12, 1e-9);
    bandwidth_smart(&(struct bandwidth_load){3, {1, 1, 0}, {0, 8, 8}}, 60, rate); /* the opposite */
    near(rate[0], 12, 1e-9);
    near(rate[1], 24, 1e-9);
    near(rate[2], 24, 1e-9);
    /* p = 1/2, q = 1, D small: q y <= p x holds at the border only. x : y = 2 : 1, and x = 40 */
    bandwidth_smart(&(struct bandwidth_load){2, {50, 50}, {0, 1}}, 40, rate);
    near(rate[0], 20, 1e-9);
    near(rate[1], 20, 1e-9);
}

static void without_one_kind_smart_is_in_proportion(void **state)
{
    (void)state;
    double rate[BANDWIDTH_DIMENSIONS];
    bandwidth_smart(&(struct bandwidth_load){2, {0, 0}, {3, 1}}, 40, rate);
    near(rate[0], 30, 1e-12);
    bandwidth_smart(&(struct bandwidth_load){2, {0, 0}, {0, 0}}, 40, rate);
    near(rate[0], 20, 1e-12);
}

/* ---- the search ---- */

struct bowl {
    double at[3];
    unsigned asked;
};

/* Not smooth: the bottom is where all three are as long. */
static double bowl_of(void *of, const double *rate)
{
    struct bowl *b = of;
    b->asked++;
    return fmax(b->at[0] / rate[0], fmax(b->at[1] / rate[1], b->at[2] / rate[2]));
}

static void the_search_finds_the_bottom_of_a_bowl_with_an_edge(void **state)
{
    (void)state;
    struct bowl b = {.at = {70, 25, 5}};
    double rate[] = {100 / 3.0, 100 / 3.0, 100 / 3.0};
    const double best = bandwidth_search(3, rate, bowl_of, &b, 0, 2, 1.00001);
    near(best, 1, 1e-4);
    for (unsigned d = 0; d < 3; d++)
        near(rate[d], b.at[d], 1e-3);
    near(rate[0] + rate[1] + rate[2], 100, 1e-9);
}

static void the_search_keeps_to_its_runs_and_never_gets_worse(void **state)
{
    (void)state;
    for (unsigned runs = 1; runs < 40; runs++) {
        struct bowl b = {.at = {70, 25, 5}};
        double rate[] = {60, 30, 10};
        const double start = bowl_of(&b, rate);
        b.asked = 0;
        assert_true(bandwidth_search(3, rate, bowl_of, &b, runs, 1.5, 1.01) <= start);
        assert_in_range(b.asked, 1, runs);
    }
}

/* ---- the schedule of a simulation ---- */

static void a_chunk_goes_along_the_dimensions_and_back(void **state)
{
    (void)state;
    const struct bandwidth_network n = network("Ring(8)_FC(8)_Switch(16)");
    const struct bandwidth_need need = need_of(&n, false, 1, 128, 1);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    bandwidth_schedule(&n, &need, 16 << 20, out);
    (void)fclose(out);
    assert_non_null(strstr(text, "ranks: 1024\n"));
    assert_non_null(strstr(text, "{d0: {size: 8, stride: 1}, d1: {size: 8, stride: 8}, d2: {size: 2, stride: 64}}"));
    assert_non_null(strstr(text, "- name: p0-0\n        do:\n          - for: {step: 1..7}\n"));
    assert_non_null(strstr(text, "{send: 65536, to: \"rank + ((rank / 1 + 1) % 8 - rank / 1 % 8) * 1\", tag: 0}"));
    assert_non_null(strstr(text, "{send: 65536, to: \"rank + ((rank / 1 + 7) % 8 - rank / 1 % 8) * 1\", tag: 1}"));
    assert_non_null(strstr(text, "- name: p1-0\n        after: [p0-0]\n        collective: reduce-scatter\n        "
                                 "group: d1\n        bytes: 131072\n        algorithm: direct\n"));
    assert_non_null(strstr(text,
                           "- name: p2-15\n        after: [p1-15, p2-14]\n        collective: all-reduce\n        "
                           "group: d2\n        bytes: 16384\n        algorithm: direct\n"));
    assert_non_null(strstr(text, "- name: p4-15\n        after: [p3-15, p4-14]\n        do:\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_is_read_and_written),
        cmocka_unit_test(what_is_no_network_is_refused),
        cmocka_unit_test(groups_fill_dimensions_in_order),
        cmocka_unit_test(a_group_that_does_not_fill_a_dimension_is_refused),
        cmocka_unit_test(a_group_may_leave_out_dimensions),
        cmocka_unit_test(an_all_reduce_sends_less_along_each_dimension),
        cmocka_unit_test(an_exchange_sends_the_same_along_each_dimension),
        cmocka_unit_test(the_slowest_dimension_gives_the_time),
        cmocka_unit_test(what_a_network_costs),
        cmocka_unit_test(equal_and_in_proportion),
        cmocka_unit_test(smart_has_the_closed_form),
        cmocka_unit_test(without_one_kind_smart_is_in_proportion),
        cmocka_unit_test(the_search_finds_the_bottom_of_a_bowl_with_an_edge),
        cmocka_unit_test(the_search_keeps_to_its_runs_and_never_gets_worse),
        cmocka_unit_test(a_chunk_goes_along_the_dimensions_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
