/* prop_endings.c - every run under the virtual clock ends, whatever fails for ever: each message is acknowledged or
 * fails at its sender, within the time that endpoint.h states.
 *
 * Random fabrics, traffic and collectives, and one to six faults without an end. HX_SEED chooses other runs; a failure
 * names the seed of its run. */
#include "fabric-emu/virtual/watchdog.h"
#include "spec/faults/faults.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"
#include "tests/support/virtual/support_virtual.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RUNS = 100, MOST_FAULTS = 6, MOST_TEXT = 4096, LONGEST_S = 120 /* of a run that takes milliseconds */ };
/* Of driver.c: probes without news, each after at most MOST_US; the time that a message may be blocked. */
enum { PROBES = 50, MOST_US = 200, BLOCKED_US = 2000 };
#define PS_OF_US UINT64_C(1000000)

static uint64_t seed_of_run;

static unsigned below(unsigned what, unsigned n)
{
    return random_below(random_of(seed_of_run, what, 0), n);
}

enum { GRIDS = 5 }; /* the first fabrics: HammingMeshes */
static const char *const fabrics[] = {"2x2 Hx2Mesh",
                                      "4x4 Hx2Mesh",
                                      "3x2 H2x4Mesh",
                                      "4x4 Hx1Mesh",
                                      "2x2 Hx4Mesh",
                                      "fat-tree hosts=16 radix=8",
                                      "torus 4x4",
                                      "mesh 4x3",
                                      "hyperx 3x3 p=2",
                                      "mlfm h=2",
                                      "oft k=3",
                                      "slim-fly q=3 p=1",
                                      "kautz degree=2 length=2 p=2",
                                      "bigraph m=2 n=4",
                                      "dragonfly a=3 p=1 h=1",
                                      "Ring(4)_FC(4)"};
static const char *const effects[] = {
    "down", "down", "down", "loss=100%", "credit-loss=100%", "corrupt=60% duplicate=60%", "flaps every 4us"};
static const unsigned patterns[] = {HX_ALL_TO_ALL, HX_PERMUTATION, HX_UNIFORM, HX_ALL_TO_ALL_RANDOM,
                                    HX_COLLECTIVES + HX_ALL_REDUCE};
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* ---- a run ---- */

/* Adds lines "PLACE EFFECT [at TIME]". The places are those of random faults, which lie anywhere in the fabric. */
static void add_faults(char *text, const struct hx_fabric *g)
{
    const struct hx_fault_draw draw = {
        .seed = seed_of_run, .mtbf_ns = 1000, .mttr_ns = 1000, .until_ns = 1000 * (1 + below(1, MOST_FAULTS))};
    struct hx_faults drawn = {.count = 0};
    hx_faults_draw(&drawn, &draw, g);
    for (unsigned i = 0; i < drawn.count && i < MOST_FAULTS; i++) {
        const char *place = drawn.fault[i].text;
        file_add_text(text, MOST_TEXT, "%.*s %s", (int)strcspn(place, " "), place,
                      effects[below(10 + i, COUNT(effects))]);
        if (below(20 + i, 2))
            file_add_text(text, MOST_TEXT, " at %uns", 1 + below(30 + i, 20000));
        file_add_text(text, MOST_TEXT, "\n");
    }
    hx_faults_free(&drawn);
}

/* Returns a file of faults of a fabric. */
static const char *draw_faults(const char *fabric, unsigned planes)
{
    static char text[MOST_TEXT];
    struct hx_overrides overrides = {.planes = planes};
    struct hx_spec spec;
    struct hx_problem problem;
    if (!hx_spec_try_load(fabric, &overrides, &spec, &problem) ||
        (!hx_spec_fabric(&spec)->mesh.nodes && !hx_spec_search_updown(&spec, &problem)))
        fail_msg("%s: %s", fabric, problem.what);
    text[0] = '\0';
    add_faults(text, hx_spec_fabric(&spec));
    hx_spec_free(&spec);
    return file_write_text("faults.txt", text);
}

/* A run that does not end is killed. */
static void bound_run(struct worker *w)
{
    (void)w;
    (void)alarm(LONGEST_S);
}

/* The longest time that a rank's messages may take, each alone, by the rule of endpoint.h; they are shorter than a
 * window. */
static uint64_t longest_ps(const struct support_virtual *s, uint64_t begun)
{
    uint64_t packets = (s->traffic.settings.message + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD;
    uint64_t changes = 2 * s->faults.count * (1 + HX_MOST_FLAPS);
    return begun * (packets + changes + 1) * (PROBES * MOST_US + BLOCKED_US) * PS_OF_US;
}

static void assert_ended(const struct support_virtual *s, uint64_t *failed)
{
    uint64_t begun = 0;
    bool stuck = watchdog_was_stuck(&s->m);
    for (uint32_t rank = 0; rank < s->g->hosts; rank++) {
        const struct model_sum *sum = &s->m.sum[rank];
        uint64_t ended = sum->stats.messages_sent + sum->stats.messages_failed;
        if (ended != sum->begun || stuck)
            fail_msg("HX_SEED=%llu, %s: rank %u: %llu of %llu messages ended%s", (unsigned long long)seed_of_run,
                     s->plan->spec, rank, (unsigned long long)ended, (unsigned long long)sum->begun,
                     stuck ? ", the fabric is stuck" : "");
        *failed += sum->stats.messages_failed;
        begun = sum->begun > begun ? sum->begun : begun;
    }
    for (unsigned w = 0; w < s->m.workers; w++)
        assert_in_range(s->m.progress[w].now, 0, longest_ps(s, begun));
}

static void run_one(uint64_t *failed)
{
    const char *spec = fabrics[below(40, below(45, 3) ? GRIDS : COUNT(fabrics))];
    unsigned planes = 1 + below(41, 4) / 3;
    struct hx_fault_settings faults = HX_FAULT_DEFAULTS;
    struct support_virtual_plan plan = {
        .spec = spec, .planes = planes, .workers = 1 + below(42, 2), .change = bound_run};
    plan.settings = (struct hx_settings){.pattern = patterns[below(43, COUNT(patterns))],
                                         .message = 4096 << below(44, 7),
                                         .seed = seed_of_run,
                                         .given = HX_GIVEN_PATTERN | HX_GIVEN_MESSAGE | HX_GIVEN_SEED};
    faults.file = draw_faults(spec, planes);
    faults.given = HX_GIVEN_FAULTS;
    plan.faults = &faults;
    struct support_virtual s;
    support_virtual_open(&s, &plan);
    s.m.watchdog = 100000000;
    if (!support_virtual_run(&s))
        fail_msg("HX_SEED=%llu, %s: it did not end by itself: %s", (unsigned long long)seed_of_run, spec, s.said);
    assert_ended(&s, failed);
    support_virtual_close(&s);
}

static void every_run_ends(void **state)
{
    (void)state;
    uint64_t first = seeded_by(1);
    uint64_t failed = 0;
    for (seed_of_run = first; seed_of_run < first + effort(RUNS); seed_of_run++)
        run_one(&failed);
    assert_true(failed > 0);
}

/* One of its healthy paths leads over the dead accelerator. */
static void a_packet_goes_around_a_dead_accelerator(void **state)
{
    (void)state;
    const struct support_flow flow = {2, 24}; /* a2,0 to a0,4 */
    struct hx_fault_settings faults = HX_FAULT_DEFAULTS;
    struct support_virtual_plan plan = {
        .spec = "3x2 H2x4Mesh", .flow = &flow, .flows = 1, .faults = &faults, .change = bound_run};
    struct support_virtual s;
    faults.file = file_write_text("faults.txt", "a2,4 down\n");
    faults.given = HX_GIVEN_FAULTS;
    plan.settings = (struct hx_settings){.message = HX_MAX_PAYLOAD, .given = HX_GIVEN_MESSAGE};
    support_virtual_open(&s, &plan);
    assert_true(support_virtual_run(&s));
    assert_int_equal(s.m.sum[2].stats.messages_failed, 0);
    assert_int_equal(s.m.sum[2].stats.messages_sent, 1);
    assert_in_range(s.m.progress[0].now, 0, MOST_US * PS_OF_US);
    support_virtual_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_goes_around_a_dead_accelerator),
        cmocka_unit_test(every_run_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
