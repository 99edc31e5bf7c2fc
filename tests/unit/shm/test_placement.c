/* test_placement.c - hosts for the ranks of a schedule (workload/placement.h): words, folded grids, files. */
#include "schedule/build.h"
#include "spec/jobs.h"
#include "spec/spec.h"
#include "tests/support/support_file.h"
#include "workload/placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64 };

struct bench {
    struct hx_spec spec;
    struct traffic traffic;
    struct hx_problem problem;
    uint32_t host[MOST];
};

static void open_bench(struct bench *b, const char *spec, const char *job)
{
    *b = (struct bench){.host = {0}};
    assert_true(hx_spec_try_load(spec, NULL, &b->spec, &b->problem));
    if (job)
        b->spec.said = (struct hx_option_list){{job}, 1};
    assert_true(hx_jobs_take_said(&b->spec, &b->problem));
    traffic_init(&b->traffic, &b->spec, hx_spec_fabric(&b->spec), &hx_default_settings, NULL);
}

static void close_bench(struct bench *b)
{
    traffic_free(&b->traffic);
    hx_spec_free(&b->spec);
}

/* The lowest host that has a job. */
static uint32_t first_member(const struct bench *b)
{
    uint32_t host = 0;
    while (!b->traffic.members[host])
        host++;
    return host;
}

static bool place(struct bench *b, uint32_t ranks, const char *how)
{
    return placement_make(b->host, ranks, &b->traffic, first_member(b), how, NULL, &b->problem);
}

static void assert_each_once(const struct bench *b, uint32_t ranks)
{
    for (uint32_t i = 0; i < ranks; i++) {
        assert_true(b->traffic.members[b->host[i]] > 0);
        for (uint32_t other = 0; other < i; other++)
            assert_true(b->host[i] != b->host[other]);
    }
}

/* Whether two ranks are next to each other in the grid of hosts, of `columns` columns. */
static bool are_neighbours(const struct bench *b, uint32_t one, uint32_t other, uint32_t columns)
{
    int across = (int)(b->host[one] % columns) - (int)(b->host[other] % columns);
    int down = (int)(b->host[one] / columns) - (int)(b->host[other] / columns);
    return abs(across) + abs(down) == 1;
}

static void words(void **state)
{
    struct bench b;
    uint32_t drawn[MOST];
    (void)state;
    open_bench(&b, "4x2 Hx2Mesh", NULL);
    assert_true(place(&b, 20, NULL));
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(b.host[i], i);
    assert_true(place(&b, 32, "grid"));
    assert_each_once(&b, 32);
    for (uint32_t i = 1; i < 32; i++)
        assert_true(are_neighbours(&b, i - 1, i, 8));
    assert_true(place(&b, 32, "random"));
    assert_each_once(&b, 32);
    memcpy(drawn, b.host, sizeof drawn);
    assert_true(place(&b, 32, "random"));
    assert_memory_equal(drawn, b.host, sizeof drawn);
    close_bench(&b);
}

/* Neighbours in the first two dimensions are neighbours, and the third is folded: its neighbours at the fold are. */
static void assert_folds(const char *spec, uint32_t columns, const char *how, const uint32_t side[3])
{
    struct bench b;
    uint32_t ranks = side[0] * side[1] * side[2];
    bool any = false;
    open_bench(&b, spec, NULL);
    assert_true(place(&b, ranks, how));
    assert_each_once(&b, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t j = rank / side[0] % side[1];
        assert_true(rank % side[0] == 0 || are_neighbours(&b, rank - 1, rank, columns));
        assert_true(j == 0 || are_neighbours(&b, rank - side[0], rank, columns));
        any = any || (rank >= side[0] * side[1] && are_neighbours(&b, rank - side[0] * side[1], rank, columns));
    }
    assert_true(any);
    close_bench(&b);
}

static void grids_fold_onto_columns_and_rows(void **state)
{
    (void)state;
    assert_folds("4x2 Hx2Mesh", 8, "4x4x2", (const uint32_t[]){4, 4, 2});
    assert_folds("2x4 Hx2Mesh", 4, "4x4x2", (const uint32_t[]){4, 4, 2});
    assert_folds("4x2 Hx2Mesh", 8, "8x2x2", (const uint32_t[]){8, 2, 2});
    assert_folds("4x2 Hx2Mesh", 8, "4x2x2", (const uint32_t[]){4, 2, 2}); /* half of the hosts */
    assert_folds("torus 8x4", 8, "4x4x2", (const uint32_t[]){4, 4, 2});
}

/* A schedule of ranks that do nothing; count 0: it says no dimensions. */
static struct schedule *with_dimensions(uint32_t ranks, const uint32_t *size, unsigned count)
{
    struct hx_problem problem;
    struct schedule_builder *b = schedule_builder_new(ranks);
    if (count)
        schedule_set_dimensions(b, size, count);
    return schedule_build(b, "test", &problem);
}

static void a_schedule_folds_its_own_grid(void **state)
{
    static const struct {
        const char *grid;
        uint32_t ranks, size[SCHEDULE_MOST_DIMENSIONS];
        unsigned count;
    } cases[] = {{"4x4x2", 32, {4, 4, 2}, 3},
                 {"8x2x2", 32, {8, 2, 2}, 3},
                 {"2x2x2x2x2", 32, {2, 2, 2, 2, 2}, 5},
                 {"4x2x2", 16, {1, 4, 1, 2, 2, 1}, 6}};
    struct bench b;
    struct bench other;
    (void)state;
    open_bench(&b, "4x2 Hx2Mesh", NULL);
    open_bench(&other, "4x2 Hx2Mesh", NULL);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct schedule *s = with_dimensions(cases[i].ranks, cases[i].size, cases[i].count);
        assert_true(place(&other, cases[i].ranks, cases[i].grid));
        assert_true(placement_make(b.host, cases[i].ranks, &b.traffic, 0, "fold", s->head->dimension, &b.problem));
        assert_memory_equal(b.host, other.host, cases[i].ranks * sizeof *b.host);
        assert_each_once(&b, cases[i].ranks);
        schedule_close(s);
    }
    struct schedule *line = with_dimensions(30, (const uint32_t[]){30}, 1);
    assert_true(placement_make(b.host, 30, &b.traffic, 0, "fold", line->head->dimension, &b.problem));
    assert_true(place(&other, 30, "grid"));
    assert_memory_equal(b.host, other.host, 30 * sizeof *b.host);
    schedule_close(line);
    struct schedule *none = with_dimensions(4, NULL, 0);
    assert_false(placement_make(b.host, 4, &b.traffic, 0, "fold", none->head->dimension, &b.problem));
    assert_string_equal(b.problem.where, "--place");
    assert_string_equal(b.problem.what,
                        "fold is for a schedule that says its dimensions (give the grid of the ranks, as AxBxC)");
    assert_false(place(&b, 4, "fold"));
    schedule_close(none);
    close_bench(&b);
    close_bench(&other);
}

/* Boards of a job need not be adjacent: its rows and columns count as if they were. */
static void grids_of_a_job(void **state)
{
    struct bench b;
    (void)state;
    open_bench(&b, "3x3 Hx1Mesh", NULL);
    traffic_free(&b.traffic);
    b.spec.job = calloc(9, sizeof *b.spec.job);
    b.spec.job[0] = b.spec.job[2] = b.spec.job[6] = b.spec.job[8] = 1;
    traffic_init(&b.traffic, &b.spec, hx_spec_fabric(&b.spec), &hx_default_settings, NULL);
    assert_true(place(&b, 4, "grid"));
    assert_each_once(&b, 4);
    for (uint32_t i = 1; i < 4; i++)
        assert_true(b.host[i] % 3 == b.host[i - 1] % 3 || b.host[i] / 3 == b.host[i - 1] / 3);
    close_bench(&b);
}

/* No product of sides is the number of columns: all of the grid follows the walk. */
static void other_grids_follow_the_walk(void **state)
{
    struct bench b;
    (void)state;
    open_bench(&b, "4x2 Hx2Mesh", NULL);
    assert_true(place(&b, 27, "3x3x3"));
    assert_each_once(&b, 27);
    for (uint32_t i = 1; i < 27; i++)
        assert_true(i % 3 == 0 || are_neighbours(&b, i - 1, i, 8));
    assert_false(place(&b, 27, "3x3x4"));
    assert_string_equal(b.problem.where, "--place");
    assert_string_equal(b.problem.what, "3x3x4 has 36 places for 27 ranks");
    assert_false(place(&b, 16, "1073741824x1073741824x16x1073741825")); /* 16 modulo 2^64 */
    assert_false(place(&b, 1, "0x4"));
    close_bench(&b);
}

static struct bench for_files;

static bool place_by_file(const char *text, struct hx_problem *problem)
{
    bool good = place(&for_files, 3, file_write_text("hosts.txt", text));
    *problem = for_files.problem;
    return good;
}

static void files_name_a_host_for_each_rank(void **state)
{
    static const struct file_refusal cases[] = {
        {"1\n0\n", "", "has hosts for 2 of 3 ranks"},
        {"1\n0\n4\n5\n", ":4:1", "one line for each of 3 ranks: this is one more"},
        {"1\n0\n1\n", ":3:1", "host 1 has a rank already"},
        {"1\n 99\n", ":2:2", "'99' is no host: a number, gx:gy or agx:gy is expected"},
        {"1\n9:9\n", ":2:1", "'9:9' is no host: a number, gx:gy or agx:gy is expected"},
        {"1\n2, 3\n", ":2:1", "one host for rank 1 is expected: a number, gx:gy or agx:gy"},
        {"# of the job\n0:3\n", ":2:1", "host 0:3 is not of this job"},
    };
    struct hx_problem problem;
    (void)state;
    open_bench(&for_files, "2x2 Hx2Mesh", "a: 1");
    assert_true(place_by_file("# ranks\n5\na0:0\n1:0\n", &problem));
    assert_int_equal(for_files.host[0], 5);
    assert_int_equal(for_files.host[1], 0);
    assert_int_equal(for_files.host[2], 1);
    file_refused("hosts.txt", cases, sizeof cases / sizeof *cases, place_by_file);
    assert_false(place(&for_files, 3, "/tmp/there-is-no-such-file"));
    assert_string_equal(for_files.problem.where, "/tmp/there-is-no-such-file");
    close_bench(&for_files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(grids_fold_onto_columns_and_rows),
        cmocka_unit_test(a_schedule_folds_its_own_grid),
        cmocka_unit_test(grids_of_a_job),
        cmocka_unit_test(other_grids_follow_the_walk),
        cmocka_unit_test(files_name_a_host_for_each_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
