/* test_collective_plan.c - collectives of a fabric's jobs, and the check of their results. */
/* sanitizers: check-all */
#include "spec/jobs.h"
#include "spec/spec.h"
#include "workload/collective_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- plans ---- */

struct bench {
    struct hx_spec spec;
    const struct hx_fabric *g;
    struct traffic traffic;
    struct collective_plan plan;
    struct hx_problem problem;
    bool planned;
};

static void bench_build(struct bench *b, const char *fabric, const uint16_t *jobs)
{
    memset(b, 0, sizeof *b);
    assert_true(hx_spec_parse(fabric, &b->spec, &b->problem) && hx_spec_build(&b->spec, &b->problem));
    unsigned boards = hx_spec_boards(&b->spec);
    if (jobs) {
        b->spec.job = calloc(boards, sizeof *b->spec.job);
        memcpy(b->spec.job, jobs, boards * sizeof *b->spec.job);
    }
    b->g = hx_spec_fabric(&b->spec);
}

static void bench_plan(struct bench *b, unsigned kind, unsigned algorithm, uint32_t root, uint64_t bytes)
{
    struct hx_settings settings = hx_default_settings;
    settings.pattern = HX_COLLECTIVES + kind;
    settings.algorithm = algorithm;
    settings.message = bytes;
    settings.target = (struct hx_coordinates){1, {hx_address_of(b->g, root)}};
    traffic_init(&b->traffic, &b->spec, b->g, &settings, NULL);
    b->planned = collective_plan_init(&b->plan, &b->traffic, &b->problem);
}

static void bench_open_bytes(struct bench *b, const char *fabric, const uint16_t *jobs, unsigned kind,
                             unsigned algorithm, uint32_t root, uint64_t bytes)
{
    bench_build(b, fabric, jobs);
    bench_plan(b, kind, algorithm, root, bytes);
}

static void bench_open(struct bench *b, const char *fabric, const uint16_t *jobs, unsigned kind, unsigned algorithm,
                       uint32_t root)
{
    bench_open_bytes(b, fabric, jobs, kind, algorithm, root, 4000);
}

static void bench_close(struct bench *b)
{
    if (b->planned)
        collective_plan_free(&b->plan);
    traffic_free(&b->traffic);
    hx_spec_free(&b->spec);
}

static void validate_best(const char *fabric, unsigned kind, uint64_t bytes, unsigned algorithm)
{
    struct bench b;
    bench_open_bytes(&b, fabric, NULL, kind, HX_ALGORITHM_BEST, 0, bytes);
    assert_true(b.planned);
    assert_int_equal(b.plan.jobs, 1);
    if (b.plan.job[0].config.algorithm != algorithm)
        fail_msg("%s, kind %u, %llu B: %s, not %s", fabric, kind, (unsigned long long)bytes,
                 hx_collective_algorithm_names[b.plan.job[0].config.algorithm],
                 hx_collective_algorithm_names[algorithm]);
    bench_close(&b);
}

/* The fastest of all runs under the virtual clock, or at most a tenth slower. */
static void the_best_algorithm_is_that_of_the_least_time(void **state)
{
    (void)state;
    static const uint64_t kib = 1024;
    validate_best("slim-fly q=5 p=3", HX_ALL_REDUCE, 4, HX_BY_DOUBLING);
    validate_best("slim-fly q=5 p=3", HX_ALL_REDUCE, 64 * kib, HX_BY_DIRECT);
    validate_best("8x8 Hx2Mesh", HX_ALL_REDUCE, 16 * kib * kib, HX_BY_TORUS);
    validate_best("8x8 Hx2Mesh", HX_BROADCAST, 4, HX_BY_TREE);
    validate_best("8x8 Hx2Mesh", HX_REDUCE_SCATTER, 64 * kib, HX_BY_SWING);
    validate_best("4x4 Hx2Mesh", HX_BROADCAST, 8 * kib * kib, HX_BY_RINGS);
    validate_best("4x4 Hx2Mesh", HX_ALL_GATHER, 4, HX_BY_DIRECT);
    validate_best("torus 8x8", HX_ALL_REDUCE, 16 * kib * kib, HX_BY_RINGS);
    validate_best("torus 8x8", HX_ALL_REDUCE, 256 * kib, HX_BY_SWING);
    validate_best("Ring(4)_FC(4)_Switch(4)", HX_ALL_REDUCE, 4 * kib * kib, HX_BY_HIERARCHY);
}

/* On large vectors the fastest one keeps all links busy, on any shape. */
static void the_best_algorithm_is_one_that_the_shape_has(void **state)
{
    (void)state;
    static const uint64_t large = 1 << 28;
    validate_best("3x1 H1x2Mesh", HX_ALL_REDUCE, large, HX_BY_TORUS); /* as fast as a hierarchy */
    validate_best("1x1 Hx1Mesh", HX_ALL_REDUCE, large, HX_BY_TREE);
}

/* Job 5 has boards (0,0), (2,0), (0,1), (2,1), job 6 the others. */
static void jobs_are_grids_of_their_own_rows_and_columns(void **state)
{
    (void)state;
    static const uint16_t jobs[] = {5, 6, 5, 5, 6, 5};
    struct bench b;
    bench_open(&b, "3x2 H2x1Mesh", jobs, HX_BROADCAST, HX_ALGORITHM_TREE + HX_BY_TORUS, 6 + 4);
    assert_true(b.planned);
    assert_int_equal(b.plan.jobs, 2);
    struct hx_collective_config config = collective_config(&b.plan, 6 + 4);
    assert_int_equal(config.dimension[0].size, 4);
    assert_int_equal(config.dimension[1].size, 2);
    assert_int_equal(config.position, 4 + 2);
    assert_int_equal(collective_job_of(&b.plan, 6 + 4)->host[2], 4);
    assert_int_equal(config.root, 4 + 2);
    config = collective_config(&b.plan, 3);
    assert_int_equal(config.dimension[0].size, 2);
    assert_int_equal(config.position, 1);
    assert_int_equal(collective_job_of(&b.plan, 3)->host[1], 3);
    assert_int_equal(config.root, 0);
    bench_close(&b);
}

/* A job of 3 x 2 hosts on a 3x2 Hx1Mesh, rank = row * 3 + column, on other grids of the same size. */
static void validate_grid(unsigned columns, unsigned rows, const uint32_t expected[6])
{
    static const uint16_t jobs[] = {5, 5, 5, 5, 5, 5};
    struct hx_settings settings = hx_default_settings;
    struct bench b = {.planned = false};
    assert_true(hx_spec_parse("3x2 Hx1Mesh", &b.spec, &b.problem) && hx_spec_build(&b.spec, &b.problem));
    b.spec.job = calloc(6, sizeof *b.spec.job);
    memcpy(b.spec.job, jobs, sizeof jobs);
    b.spec.named = calloc(1, sizeof *b.spec.named);
    b.spec.named_jobs = 1;
    b.spec.named[0] = (struct hx_job){.tag = 5, .grid = {columns, rows}};
    settings.pattern = HX_COLLECTIVES + HX_ALL_REDUCE;
    settings.algorithm = HX_ALGORITHM_TREE + HX_BY_TORUS;
    traffic_init(&b.traffic, &b.spec, hx_spec_fabric(&b.spec), &settings, NULL);
    b.planned = collective_plan_init(&b.plan, &b.traffic, &b.problem);
    assert_int_equal(b.planned, expected != NULL);
    for (unsigned i = 0; expected && i < 6; i++) {
        assert_int_equal(b.plan.job[0].host[i], expected[i]);
        assert_int_equal(collective_config(&b.plan, expected[i]).position, i);
    }
    if (!expected)
        assert_string_equal(b.problem.what, "job 5 has 6 accelerators, no grid of 4 x 2");
    bench_close(&b);
}

static void all_hosts_are_on_the_grid(void **state)
{
    (void)state;
    static const uint16_t jobs[] = {5, 5, 6, 6};
    struct bench b;
    bench_open(&b, "2x2 Hx2Mesh", jobs, HX_ALL_REDUCE, HX_ALGORITHM_TREE, 0);
    assert_true(b.planned);
    assert_int_equal(b.plan.jobs, 2);
    assert_string_equal(collective_kinds(&b.plan), "all-reduce");
    b.plan.job[1].config.kind = HX_BROADCAST;
    assert_string_equal(collective_kinds(&b.plan), "the collectives");
    bench_close(&b);
}

static void grids_are_exchanged_and_folded(void **state)
{
    (void)state;
    validate_grid(3, 2, (const uint32_t[]){0, 1, 2, 3, 4, 5});
    validate_grid(2, 3, (const uint32_t[]){0, 3, 1, 4, 2, 5});
    /* A line that turns back, so that neighbours on it are neighbours on the fabric. */
    validate_grid(6, 1, (const uint32_t[]){0, 1, 2, 5, 4, 3});
    validate_grid(1, 6, (const uint32_t[]){0, 1, 2, 5, 4, 3});
    validate_grid(4, 2, NULL);
}

/* Job 5 has boards (1,0) and (0,1) of a 2x2 Hx1Mesh, ranks 1 and 2: by columns the other would be first. A job's own
 * target is its lowest rank, for any target of the run. */
static void the_first_host_of_a_job_is_its_lowest_rank(void **state)
{
    (void)state;
    static const unsigned patterns[] = {HX_INCAST, HX_HOTSPOT, HX_COLLECTIVES + HX_BROADCAST};
    for (unsigned i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct bench b = {.planned = false};
        struct hx_settings settings = hx_default_settings;
        settings.target = (struct hx_coordinates){1, {{0, 1}}};
        assert_true(hx_spec_parse("2x2 Hx1Mesh", &b.spec, &b.problem) && hx_spec_build(&b.spec, &b.problem));
        b.spec.job = calloc(4, sizeof *b.spec.job);
        b.spec.job[1] = b.spec.job[2] = 5;
        b.spec.named = calloc(1, sizeof *b.spec.named);
        b.spec.named_jobs = 1;
        b.spec.named[0] =
            (struct hx_job){.tag = 5, .grid = {2, 1}, .settings = {.pattern = patterns[i], .given = HX_GIVEN_PATTERN}};
        traffic_init(&b.traffic, &b.spec, hx_spec_fabric(&b.spec), &settings, NULL);
        assert_int_equal(traffic_target(&b.traffic, 1), 1);
        assert_int_equal(traffic_target(&b.traffic, 2), 1);
        if (patterns[i] == HX_INCAST)
            assert_int_equal(traffic_destination(&b.traffic, 2, 0), 1);
        b.planned = collective_plan_init(&b.plan, &b.traffic, &b.problem);
        assert_true(b.planned);
        assert_int_equal(b.plan.jobs, patterns[i] >= HX_COLLECTIVES);
        if (b.plan.jobs) {
            assert_int_equal(b.plan.job[0].host[0], 1);
            assert_int_equal(b.plan.job[0].config.root, 0);
        }
        bench_close(&b);
    }
}

static void refuses_jobs_that_are_no_grid(void **state)
{
    (void)state;
    static const uint16_t jobs[] = {5, 5, 5, 6};
    struct bench b;
    bench_open(&b, "2x2 Hx1Mesh", jobs, HX_ALL_REDUCE, HX_ALGORITHM_BEST, 0);
    assert_false(b.planned);
    assert_int_equal(b.problem.exit_code, HX_EXIT_CONFIG);
    assert_non_null(strstr(b.problem.what, "the 3 accelerators of job 5"));
    bench_close(&b);
    bench_open(&b, "3x2 Hx1Mesh", NULL, HX_ALL_REDUCE, HX_ALGORITHM_TREE + HX_BY_RINGS, 0);
    assert_false(b.planned);
    assert_int_equal(b.problem.exit_code, HX_EXIT_CONFIG);
    bench_close(&b);
}

/* Boards of a job, as letters. */
static void assert_boards(const struct bench *b, uint16_t tag, const char *expected)
{
    for (unsigned board = 0; board < hx_spec_boards(&b->spec); board++)
        assert_int_equal(hx_spec_board_job(&b->spec, board) == tag, expected[board] == 'x');
}

static void validate_largest(const char *fabric, const char *expected, uint32_t columns, uint32_t rows)
{
    struct bench b;
    bench_build(&b, fabric, NULL);
    hx_job_keep_largest(&b.spec, HX_NO_JOB);
    assert_int_equal(b.spec.named_jobs, expected != NULL);
    if (expected)
        assert_boards(&b, b.spec.named[0].tag, expected);
    bench_plan(&b, HX_ALL_REDUCE, HX_ALGORITHM_BEST, 0, 4000);
    assert_true(b.planned);
    assert_int_equal(b.plan.job[0].columns, columns);
    assert_int_equal(b.plan.job[0].rows, rows);
    bench_close(&b);
}

static void the_largest_part_can_run_it(void **state)
{
    (void)state;
    validate_largest("3x2 Hx2Mesh fail=board0,0", ".xx.xx", 4, 4);
    validate_largest("3x3 H2x1Mesh fail=board1,1", "xxx...xxx", 6, 2);
    validate_largest("4x2 Hx1Mesh fail=board3,0+board3,1+board0,0", ".xx..xx.", 2, 2);
    /* A sub-mesh stays as it is. */
    validate_largest("3x2 Hx2Mesh", NULL, 6, 4);
    validate_largest("3x2 Hx2Mesh fail=board0,0+board1,0+board2,0", NULL, 6, 2);
}

/* Job 5 loses its corner and keeps a row; the rest of its boards is idle, and job 6 stays. */
static void a_job_keeps_its_largest_part(void **state)
{
    (void)state;
    static const uint16_t jobs[] = {5, 5, 6, 5, 5, 6};
    struct bench b;
    bench_build(&b, "3x2 Hx1Mesh fail=board1,1", jobs);
    hx_job_keep_largest(&b.spec, 5);
    assert_boards(&b, 5, "xx....");
    assert_boards(&b, 6, "..x..x");
    hx_job_keep_largest(&b.spec, 6);
    assert_boards(&b, 6, "..x..x");
    bench_plan(&b, HX_BROADCAST, HX_ALGORITHM_TREE, 0, 4000);
    assert_true(b.planned);
    assert_int_equal(b.plan.jobs, 2);
    bench_close(&b);
}

/* ---- values ---- */

enum { SIDE = 3, N = SIDE * SIDE, ELEMENTS = 1000 };

/* The collective of a rank. One of each rank stays valid. */
static struct hx_collective program(const struct bench *b, uint32_t rank)
{
    static uint64_t states[N][4096];
    const struct hx_collective_config config = collective_config(&b->plan, rank);
    struct hx_collective c;
    assert_true(hx_collective_state(&config) <= sizeof states[rank]);
    assert_int_equal(hx_collective_init(&c, &config, states[rank], NULL, NULL), 0);
    return c;
}

static uint8_t *bytes_of(float *vector)
{
    return (uint8_t *)vector;
}

static uint64_t wrong(const struct collective_values *v, const struct hx_collective *c, float *vector)
{
    return collective_values_wrong(v, c, bytes_of(vector));
}

static void write_all(const struct bench *b, const struct collective_values *v, float vector[N][ELEMENTS])
{
    for (uint32_t rank = 0; rank < N; rank++) {
        const struct hx_collective c = program(b, rank);
        collective_values_write(v, &c.config, bytes_of(vector[rank]));
        collective_values_keep_pieces(v, &c, bytes_of(vector[rank]));
    }
}

static float vectors[N][ELEMENTS], sum[ELEMENTS];

static void sums_are_right_and_errors_are_found(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, "3x3 Hx1Mesh", NULL, HX_ALL_REDUCE, HX_ALGORITHM_BEST, 0);
    const struct collective_values v = collective_values_of(&b.plan, &b.plan.job[0]);
    const struct hx_collective c = program(&b, 4);
    write_all(&b, &v, vectors);
    memset(sum, 0, sizeof sum);
    for (uint32_t rank = 0; rank < N; rank++) {
        for (unsigned i = 0; i < ELEMENTS; i++)
            sum[i] += vectors[rank][i];
    }
    assert_int_equal(wrong(&v, &c, sum), 0);
    for (unsigned i = 0; i < ELEMENTS; i++) {
        float right = sum[i];
        for (uint32_t rank = 0; rank < N; rank++) {
            assert_true(vectors[rank][i] != 0);
            sum[i] = right - vectors[rank][i];
            assert_true(wrong(&v, &c, sum) > 0);
            sum[i] = right + vectors[rank][i];
            assert_true(wrong(&v, &c, sum) > 0);
        }
        sum[i] = right;
    }
    bench_close(&b);
}

static void pieces_and_copies_are_checked_alone(void **state)
{
    (void)state;
    struct bench b;
    uint64_t offset, bytes;
    bench_open(&b, "3x3 Hx1Mesh", NULL, HX_ALL_GATHER, HX_ALGORITHM_BEST, 0);
    struct collective_values v = collective_values_of(&b.plan, &b.plan.job[0]);
    struct hx_collective c = program(&b, 4);
    write_all(&b, &v, vectors);
    assert_true(wrong(&v, &c, vectors[4]) > 0);
    for (uint32_t rank = 0; rank < N; rank++) {
        const struct hx_collective other = program(&b, rank);
        for (unsigned i = 0; hx_collective_piece(&other, i, &offset, &bytes); i++)
            memcpy((uint8_t *)sum + offset, (uint8_t *)vectors[rank] + offset, bytes);
    }
    assert_int_equal(wrong(&v, &c, sum), 0);
    bench_close(&b);
    bench_open(&b, "3x3 Hx1Mesh", NULL, HX_BROADCAST, HX_ALGORITHM_BEST, 7);
    v = collective_values_of(&b.plan, &b.plan.job[0]);
    c = program(&b, 4);
    write_all(&b, &v, vectors);
    assert_int_equal(wrong(&v, &c, vectors[7]), 0);
    assert_true(wrong(&v, &c, vectors[4]) > 0);
    bench_close(&b);
    bench_open(&b, "3x3 Hx1Mesh", NULL, HX_REDUCE_SCATTER, HX_ALGORITHM_BEST, 0);
    v = collective_values_of(&b.plan, &b.plan.job[0]);
    c = program(&b, 4);
    write_all(&b, &v, vectors);
    memset(sum, 0, sizeof sum);
    for (unsigned i = 0; hx_collective_piece(&c, i, &offset, &bytes); i++) {
        for (uint32_t rank = 0; rank < N; rank++) {
            for (uint64_t at = offset / 4; at < (offset + bytes) / 4; at++)
                sum[at] += vectors[rank][at];
        }
    }
    assert_int_equal(wrong(&v, &c, sum), 0);
    bench_close(&b);
}

/* The largest sum of 16,384 accelerators is within the exact integers of float32. */
static void no_sum_is_rounded(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, "32x32 Hx4Mesh", NULL, HX_ALL_REDUCE, HX_ALGORITHM_BEST, 0);
    const struct collective_values v = collective_values_of(&b.plan, &b.plan.job[0]);
    assert_int_equal(v.job->config.size, 16384);
    assert_true(v.weights * 255 <= 1 << 24);
    assert_true(v.weights > 2 * 16384);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_algorithm_is_that_of_the_least_time),
        cmocka_unit_test(the_best_algorithm_is_one_that_the_shape_has),
        cmocka_unit_test(jobs_are_grids_of_their_own_rows_and_columns),
        cmocka_unit_test(all_hosts_are_on_the_grid),
        cmocka_unit_test(the_largest_part_can_run_it),
        cmocka_unit_test(a_job_keeps_its_largest_part),
        cmocka_unit_test(grids_are_exchanged_and_folded),
        cmocka_unit_test(the_first_host_of_a_job_is_its_lowest_rank),
        cmocka_unit_test(refuses_jobs_that_are_no_grid),
        cmocka_unit_test(sums_are_right_and_errors_are_found),
        cmocka_unit_test(pieces_and_copies_are_checked_alone),
        cmocka_unit_test(no_sum_is_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
