/* prop_jobs.c - jobs on random boards of random HammingMeshes with failures: each has a sub-HammingMesh, its sums are
 * right, its packets enter only its own boards, and a forged tag gives access to no other job.
 *
 * The test computes the boards of a job itself, from the spec's tags. HX_SEED chooses other runs. */
#include "spec/jobs.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"
#include "tests/support/virtual/support_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ALLOCATIONS = 1000, MOST_SIDE = 7, MOST_BOARDS = MOST_SIDE * MOST_SIDE, MOST_JOBS = 6, TEXT = 80 };

/* A fabric and its requested jobs. */
struct ground {
    char fabric[32];
    unsigned x, y, jobs;
    bool failed[MOST_BOARDS];
    char text[MOST_JOBS][TEXT];
    struct hx_option_list said;
};

/* ---- random grounds ---- */

static void draw_job(struct ground *g, uint64_t *random, char *text)
{
    static const char *const traffic[] = {"all-reduce",
                                          "all-reduce algorithm=torus",
                                          "all-reduce algorithm=tree",
                                          "reduce-scatter",
                                          "all-gather",
                                          "broadcast",
                                          "all-to-all",
                                          "permutation"};
    unsigned columns = 1 + seeded_below(random, g->x), rows = 1 + seeded_below(random, g->y);
    const char *what = traffic[seeded_below(random, sizeof traffic / sizeof *traffic)];
    char size[16];
    (void)snprintf(size, sizeof size, seeded_below(random, 2) ? "%ux%u" : "%u", columns, rows);
    (void)snprintf(text, TEXT, "%s traffic=%s message=%u start=%uns", size, what, 4 * (1 + seeded_below(random, 5000)),
                   seeded_below(random, 2) * 3000);
}

/* Jobs that find room, one by one. */
static void draw_ground(struct ground *g, uint64_t *random)
{
    struct hx_spec spec;
    struct hx_problem problem;
    *g = (struct ground){.x = 1 + seeded_below(random, MOST_SIDE), .y = 1 + seeded_below(random, MOST_SIDE)};
    (void)snprintf(g->fabric, sizeof g->fabric, "%ux%u Hx%uMesh", g->x, g->y, 1 + seeded_below(random, 2));
    hx_spec_load(g->fabric, NULL, &spec);
    spec.failed = hx_allocate(g->x * g->y, sizeof *spec.failed);
    for (unsigned board = 1; board < g->x * g->y; board++)
        g->failed[board] = spec.failed[board] = seeded_below(random, 8) == 0;
    for (unsigned tries = 0; tries < 3 * MOST_JOBS && g->jobs < MOST_JOBS; tries++) {
        draw_job(g, random, g->text[g->jobs]);
        spec.said = (struct hx_option_list){{g->text[g->jobs]}, 1};
        if (hx_jobs_take_said(&spec, &problem))
            g->said.item[g->jobs] = g->text[g->jobs], g->jobs++;
        else
            assert_non_null(strstr(problem.what, "no room for"));
    }
    g->said.count = g->jobs;
    hx_spec_free(&spec);
}

/* ---- checks ---- */

/* The boards of a tag are all crossings of some rows and some columns, they work, and their number is the requested
 * one. */
static void validate_boards(const struct hx_spec *s, const struct hx_job *job)
{
    bool row[MOST_SIDE] = {false}, column[MOST_SIDE] = {false};
    unsigned boards = 0, rows = 0, columns = 0;
    for (unsigned board = 0; board < s->x * s->y; board++) {
        if (s->job[board] != job->tag)
            continue;
        assert_false(s->failed[board]);
        row[board / s->x] = column[board % s->x] = true;
        boards++;
    }
    for (unsigned i = 0; i < MOST_SIDE; i++) {
        rows += row[i];
        columns += column[i];
    }
    assert_int_equal(boards, rows * columns);
    assert_int_equal(boards, job->size[0] * (job->size[1] ? job->size[1] : 1));
}

/* Packets that left the switches of hosts on boards with this tag, by cables. */
static uint64_t packets_from(const struct support_virtual *s, unsigned tag)
{
    uint64_t sum = 0;
    for (uint32_t host = 0; host < s->g->hosts; host++) {
        if (hx_spec_board_job(&s->spec, hx_spec_board_of(&s->spec, host)) != tag)
            continue;
        for (unsigned port = 0; port < HX_LOCAL; port++)
            sum += hx_metrics_get(&s->m.metrics.link[s->g->node[host].first_port + port].packets);
    }
    return sum;
}

/* Each host of a collective has finished, and its sums are right: support_virtual_whole() has counted the errors. */
static void validate_collectives(const struct support_virtual *s)
{
    uint32_t members = 0, done = 0;
    for (uint32_t rank = 0; s->m.workload.collective && rank < s->g->hosts; rank++)
        members += collective_job_of(&s->collective, rank) != NULL;
    for (unsigned w = 0; w < s->m.workers; w++)
        done += s->m.area[w].collectives_done;
    assert_int_equal(done, members);
}

static struct support_virtual_plan plan_of(const struct ground *g)
{
    return (struct support_virtual_plan){.spec = g->fabric,
                                         .failed = g->failed,
                                         .jobs = &g->said,
                                         .settings = {.verify = true, .given = HX_GIVEN_VERIFY}};
}

static void every_job_runs_on_its_own_boards(void **state)
{
    (void)state;
    uint64_t random = seeded_by(11);
    for (unsigned allocations = 0; allocations < effort_few(ALLOCATIONS / 4, ALLOCATIONS);) {
        struct ground g;
        struct support_virtual s;
        draw_ground(&g, &random);
        const struct support_virtual_plan plan = plan_of(&g);
        support_virtual_open(&s, &plan);
        for (unsigned i = 0; i < s.spec.named_jobs; i++, allocations++)
            validate_boards(&s.spec, &s.spec.named[i]);
        assert_true(support_virtual_run(&s));
        if (!support_virtual_whole(&s))
            fail_msg("%s with %u jobs did not finish: %s", g.fabric, g.jobs, s.said);
        validate_collectives(&s);
        assert_int_equal(packets_from(&s, HX_NO_JOB), 0);
        support_virtual_close(&s);
    }
}

/* With a single job, all moving packets are its own. */
static void alone_it_touches_no_other_board(void **state)
{
    (void)state;
    enum { RUNS = 150 };
    uint64_t random = seeded_by(12), moved = 0;
    for (unsigned run = 0; run < effort(RUNS); run++) {
        struct ground g;
        struct support_virtual s;
        char tag[16];
        draw_ground(&g, &random);
        if (g.jobs == 0)
            continue;
        unsigned only = 1 + seeded_below(&random, g.jobs);
        (void)snprintf(tag, sizeof tag, "%u", only);
        const struct hx_option_list list = {{tag}, 1};
        struct support_virtual_plan plan = plan_of(&g);
        plan.only = &list;
        support_virtual_open(&s, &plan);
        assert_true(support_virtual_run(&s) && support_virtual_whole(&s));
        for (unsigned other = 0; other <= g.jobs; other++)
            if (other != only)
                assert_int_equal(packets_from(&s, other), 0);
        moved += packets_from(&s, only);
        support_virtual_close(&s);
    }
    assert_true(moved > (effort(RUNS) == RUNS ? 10000 : 50 * effort(RUNS)));
}

/* ---- forged tags ---- */

/* The first host of job 1 claims to belong to job 2. */
static void forge(struct worker *w)
{
    for (uint32_t i = 0; i < w->accelerators; i++)
        if (w->driver[i].rank == 0)
            w->driver[i].endpoint.config.job = 2;
}

/* All its packets are dropped at their entry into the fabric, and counted; job 2 receives only its own bytes. */
static void a_forged_tag_reaches_no_host(void **state)
{
    (void)state;
    const struct hx_option_list jobs = {{"a: 2x2 all-to-all 8KiB", "b: 2x2 all-reduce 64KiB"}, 2};
    struct support_virtual_plan plan = {.spec = "4x2 Hx2Mesh", .jobs = &jobs};
    uint64_t received[2];
    for (unsigned forged = 0; forged < 2; forged++) {
        struct support_virtual s;
        plan.change = forged ? forge : NULL;
        support_virtual_open(&s, &plan);
        (void)support_virtual_run(&s);
        assert_int_equal(s.m.area[0].drops[HX_DROP_FOREIGN_JOB] > 0, forged);
        received[forged] = 0;
        for (uint32_t rank = 0; rank < s.g->hosts; rank++)
            if (hx_spec_board_job(&s.spec, hx_spec_board_of(&s.spec, rank)) == 2)
                received[forged] += s.m.sum[rank].stats.bytes_delivered;
        assert_int_equal(s.m.area[0].collectives_done, 16);
        support_virtual_close(&s);
    }
    assert_int_equal(received[0], received[1]);
    assert_true(received[0] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_runs_on_its_own_boards),
        cmocka_unit_test(alone_it_touches_no_other_board),
        cmocka_unit_test(a_forged_tag_reaches_no_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
