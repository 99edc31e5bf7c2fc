/* prop_repeats.c - a run that leaves out periods reports what the whole run reports, to the bit: times, counters of
 * links, hosts and jobs, latencies, and what each operation did. Random schedules with repeats, on several fabrics.
 *
 * HX_SEED chooses other runs; a failure names the seed of its run. */
#include "schedule/build.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"
#include "tests/support/virtual/support_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 24, MOST_STEPS = 4, RANKS = 8 };

/* ---- a random schedule ---- */

/* Draws alike for all ranks: what a step is. Times differ by rank at random. */
struct draw {
    uint64_t state;
    struct schedule_builder *b;
    uint64_t unit; /* ps of computing */
    uint32_t all, halves[2];
    uint32_t last[RANKS]; /* operation that the next one waits for; UINT32_MAX: none */
};

static uint32_t below(struct draw *d, uint32_t bound)
{
    return seeded_below(&d->state, bound);
}

/* The next operation of a rank waits for this one, which waits for the one before. */
static void chain(struct draw *d, uint32_t rank, uint32_t number)
{
    if (d->last[rank] != UINT32_MAX)
        schedule_after(d->b, rank, number, d->last[rank]);
    d->last[rank] = number;
}

static void compute(struct draw *d)
{
    uint64_t common = d->unit * (1 + below(d, 5));
    bool alike = below(d, 4);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        chain(d, rank, schedule_compute(d->b, rank, alike ? common : common + below(d, 800000), 0));
}

static void collective(struct draw *d)
{
    static const uint8_t algorithms[] = {HX_ALGORITHM_TREE, HX_ALGORITHM_TREE + HX_BY_RING,
                                         HX_ALGORITHM_TREE + HX_BY_HALVING};
    uint8_t algorithm = algorithms[below(d, 3)];
    bool halves = below(d, 2);
    bool waits = below(d, 3);
    uint64_t bytes = 4 * (1 + below(d, 20000));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint32_t group = halves ? d->halves[rank / (RANKS / 2)] : d->all;
        uint32_t before = d->last[rank];
        uint32_t o = schedule_collect(d->b, rank, HX_ALL_REDUCE, group, bytes, 0);
        schedule_builder_at(d->b, rank, o)->algorithm = algorithm;
        chain(d, rank, o);
        d->last[rank] = waits ? o : before;
    }
}

/* Each rank to the one at a distance, round. */
static void send_around(struct draw *d, uint32_t by)
{
    uint64_t bytes = below(d, 60000);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint32_t before = d->last[rank];
        uint32_t out = schedule_send(d->b, rank, (rank + by) % RANKS, bytes, 0);
        if (before != UINT32_MAX)
            schedule_after(d->b, rank, out, before);
        chain(d, rank, schedule_receive(d->b, rank, (rank + RANKS - by) % RANKS, bytes, 0));
    }
}

/* Mostly to neighbours: others have several ways. */
static void short_shift(struct draw *d)
{
    send_around(d, below(d, 8) ? 1 : 1 + below(d, RANKS - 1));
}

/* A stage after the other: receives, computes, sends. */
static void pipeline(struct draw *d)
{
    uint64_t bytes = 1 + below(d, 60000);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        if (rank)
            chain(d, rank, schedule_receive(d->b, rank, rank - 1, bytes, 1));
        chain(d, rank, schedule_compute(d->b, rank, d->unit, 0));
        if (rank + 1 < RANKS)
            chain(d, rank, schedule_send(d->b, rank, rank + 1, bytes, 1));
    }
}

static void steps(struct draw *d, unsigned depth);

static void repeated(struct draw *d, unsigned depth, uint64_t times)
{
    uint32_t number[RANKS];
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        number[rank] = schedule_repeat(d->b, rank, times);
        chain(d, rank, number[rank]);
        d->last[rank] = UINT32_MAX;
    }
    steps(d, depth + 1);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        schedule_repeat_end(d->b, rank);
        d->last[rank] = number[rank];
    }
}

static void steps(struct draw *d, unsigned depth)
{
    static void (*const kinds[])(struct draw *) = {compute, collective, short_shift, pipeline};
    compute(d);
    for (uint32_t left = 1 + below(d, MOST_STEPS); left; left--) {
        if (depth < 3 && below(d, 4) == 0)
            repeated(d, depth, 1 + below(d, 9));
        else
            kinds[below(d, 4)](d);
    }
}

static const char *written(uint64_t seed)
{
    static const uint64_t units[] = {1000000, 50000000, 3000000000}; /* the longest runs meet timers */
    uint32_t ranks[RANKS];
    struct draw d = {.state = seed, .b = schedule_builder_new(RANKS)};
    struct hx_problem problem;
    d.unit = units[below(&d, 3)];
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        ranks[rank] = rank;
        d.last[rank] = UINT32_MAX;
    }
    d.all = schedule_add_group(d.b, ranks, RANKS);
    d.halves[0] = schedule_add_group(d.b, ranks, RANKS / 2);
    d.halves[1] = schedule_add_group(d.b, ranks + RANKS / 2, RANKS / 2);
    repeated(&d, 1, 4 + below(&d, 60));
    send_around(&d, 1 + below(&d, RANKS - 1)); /* by several ways: random numbers have gone on */
    collective(&d);
    struct schedule *s = schedule_build(d.b, "drawn", &problem);
    if (!s)
        fail_msg("HX_SEED=%llu: %s", (unsigned long long)seed, problem.what);
    schedule_write(s, file_path("repeats.schedule"));
    schedule_close(s);
    return file_path("repeats.schedule");
}

/* ---- both runs ---- */

static struct support_virtual_plan plan_of(uint64_t seed, const char *path)
{
    static const char *const specs[] = {"2x2 Hx2Mesh", "4x1 Hx2Mesh", "fat-tree hosts=8 radix=32",
                                        "torus 4x4",   "2x1 Hx4Mesh", "3x3 Hx1Mesh"};
    uint64_t state = seed + 77;
    return (struct support_virtual_plan){.spec = specs[seeded_below(&state, 6)],
                                         .planes = 1 + seeded_below(&state, 2),
                                         .workers = 1 + seeded_below(&state, 2),
                                         .settings = {.pattern = HX_SCHEDULE,
                                                      .traffic_file = path,
                                                      .eager = seeded_below(&state, 2) ? 20000 : SCHEDULE_MOST_BYTES,
                                                      .overhead_ns = seeded_below(&state, 2) * 300,
                                                      .place = "grid",
                                                      .injection_rate = 1,
                                                      .given = HX_GIVEN_PATTERN | HX_GIVEN_EAGER | HX_GIVEN_OVERHEAD |
                                                               HX_GIVEN_INJECTION_RATE | HX_GIVEN_PLACE_OF_RANKS}};
}

static void run(struct support_virtual *s, const struct support_virtual_plan *plan, bool cut)
{
    support_virtual_open(s, plan);
    s->m.cuts_repeats = cut;
    bool good = support_virtual_run(s) && support_virtual_whole(s) && schedule_plan_is_done(&s->schedule);
    if (!good)
        fail_msg("%s%s", cut ? "cut: " : "whole: ", s->said);
}

/* What differs; NULL: nothing. */
static const char *apart(const struct support_virtual *a, const struct support_virtual *b)
{
    const struct schedule_results *r = &a->schedule.job[0].results;
    size_t links = (size_t)a->g->planes * a->m.layout.links;
    for (unsigned w = 0; w < a->m.workers; w++) {
        const struct model_area *one = &a->m.area[w];
        const struct model_area *other = &b->m.area[w];
        const struct model_progress *here = &a->m.progress[w];
        const struct model_progress *there = &b->m.progress[w];
        if (here->hops != there->hops || here->acknowledged != there->acknowledged || one->max_vc != other->max_vc ||
            one->bytes_measured != other->bytes_measured || one->last_delivery != other->last_delivery)
            return "a worker's counts";
    }
    if (memcmp(a->m.span, b->m.span, links * sizeof *a->m.span) != 0)
        return "links";
    if (memcmp(a->m.sum, b->m.sum, a->g->hosts * sizeof *a->m.sum) != 0)
        return "endpoints";
    if (memcmp(a->m.receiver, b->m.receiver, a->g->hosts * sizeof *a->m.receiver) != 0)
        return "receivers";
    if (memcmp(a->m.job, b->m.job, a->m.jobs.slots * sizeof *a->m.job) != 0)
        return "latencies";
    return memcmp(r->shared, b->schedule.job[0].results.shared, r->bytes) == 0 ? NULL : "operations";
}

static void cut_runs_are_whole_runs(void **state)
{
    (void)state;
    uint64_t first = seeded_by(1);
    uint64_t cuts = 0;
    for (uint64_t seed = first; seed < first + effort(RUNS); seed++) {
        static struct support_virtual whole;
        static struct support_virtual cut;
        const struct support_virtual_plan plan = plan_of(seed, written(seed));
        run(&whole, &plan, false);
        run(&cut, &plan, true);
        const char *what = apart(&whole, &cut);
        if (what)
            fail_msg("HX_SEED=%llu, %s with %u workers: %s differ", (unsigned long long)seed, plan.spec, plan.workers,
                     what);
        cuts += cut.m.area[0].repeats.cuts;
        support_virtual_close(&cut);
        support_virtual_close(&whole);
    }
    assert_true(cuts > 0 || effort(RUNS) < RUNS / 2 || getenv("HX_SEED"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_runs_are_whole_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
