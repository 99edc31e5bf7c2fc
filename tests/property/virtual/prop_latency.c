/* prop_latency.c - under the virtual clock one packet in an empty fabric takes exactly the time of its path.
 *
 * The oracle uses only the prose of hal/virtual/timing.h: it searches the minimal paths itself, walks each and adds
 * up the terms. If minimal paths differ in cables and traces, either time is right. HX_SEED chooses other random
 * fabrics and timings; a failure names the seed of its run. */
#include "tests/support/support_effort.h"
#include "tests/support/support_seed.h"
#include "tests/support/virtual/support_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- the oracle: paths ---- */

struct path {
    unsigned traces, cables;
};
enum { MOST_PATHS = 5 };
struct paths {
    struct path path[MOST_PATHS];
    unsigned count;
};

static void add_path(struct paths *w, unsigned traces, unsigned cables)
{
    unsigned best = w->count ? w->path[0].traces + w->path[0].cables : UINT32_MAX;
    if (traces + cables > best)
        return;
    if (traces + cables < best)
        w->count = 0;
    w->path[w->count++] = (struct path){traces, cables};
}

static unsigned apart(unsigned a, unsigned b)
{
    return a > b ? a - b : b - a;
}

/* Along one dimension, on boards of `side` accelerators with edges on network n. Edge 0 is west (north), 1 east. */
static struct paths paths_along(const struct hx_network *n, unsigned side, unsigned from, unsigned to)
{
    struct paths w = {.count = 0};
    if (from / side == to / side)
        add_path(&w, apart(from, to), 0);
    for (unsigned leave = 0; leave < 2; leave++) {
        for (unsigned enter = 0; enter < 2; enter++) {
            unsigned out = 2 * (from / side) + leave;
            unsigned in = 2 * (to / side) + enter;
            if (out == in)
                continue;
            unsigned traces = apart(from % side, leave * (side - 1)) + apart(to % side, enter * (side - 1));
            add_path(&w, traces, n->leaves == 1 || out / n->down == in / n->down ? 2 : 4);
        }
    }
    return w;
}

/* ---- the oracle: time. A crossbar is as fast as a link at least, so one packet never waits for it ---- */

struct clock {
    uint64_t link, cable, trace, input, output; /* Gb/s, ps */
};

static uint64_t blocks_at(unsigned blocks, uint64_t gbps)
{
    return blocks * UINT64_C(256) * 8 * 1000 / gbps;
}

static uint64_t hop(const struct clock *c, uint64_t ready, uint64_t latency)
{
    uint64_t first_bit = ready + c->output;
    return first_bit + blocks_at(1, c->link) + latency + c->input;
}

static uint64_t latency_of(const struct clock *c, struct path x, struct path y, unsigned blocks)
{
    uint64_t ready = blocks_at(1, 4 * c->link) + c->input;
    for (unsigned n = 0; n < x.traces + y.traces; n++)
        ready = hop(c, ready, c->trace);
    for (unsigned n = 0; n < x.cables + y.cables; n++)
        ready = hop(c, ready, c->cable);
    uint64_t out = ready + c->output + blocks_at(blocks, 4 * c->link);
    uint64_t tail = ready + blocks_at(blocks, c->link) - blocks_at(1, c->link) + c->output;
    return out > tail ? out : tail;
}

static bool is_right(const struct hx_geometry *g, const struct clock *c, uint32_t from, uint32_t to, unsigned blocks,
                     uint64_t took)
{
    unsigned columns = g->a * g->x;
    struct paths x = paths_along(&g->row, g->a, from % columns, to % columns);
    struct paths y = paths_along(&g->column, g->b, from / columns, to / columns);
    for (unsigned i = 0; i < x.count; i++) {
        for (unsigned j = 0; j < y.count; j++) {
            if (latency_of(c, x.path[i], y.path[j], blocks) == took)
                return true;
        }
    }
    print_message("%u to %u took %llu ps; %u traces and %u cables take %llu ps\n", from, to, (unsigned long long)took,
                  x.path[0].traces + y.path[0].traces, x.path[0].cables + y.path[0].cables,
                  (unsigned long long)latency_of(c, x.path[0], y.path[0], blocks));
    return false;
}

/* ---- the runs ---- */

struct lab {
    const char *spec;
    unsigned radix, planes, workers;
    struct hx_timing timing;
    struct clock clock; /* the resulting clock */
};

static void one_packet(const struct lab *lab, uint32_t from, uint32_t to, unsigned bytes)
{
    const struct support_flow flow = {from, to};
    const struct support_virtual_plan plan = {.spec = lab->spec,
                                              .radix = lab->radix,
                                              .planes = lab->planes,
                                              .workers = lab->workers,
                                              .settings = {.message = bytes, .given = HX_GIVEN_MESSAGE},
                                              .timing = lab->timing,
                                              .flow = &flow,
                                              .flows = 1};
    struct support_virtual s;
    support_virtual_open(&s, &plan);
    assert_true(support_virtual_run(&s));
    assert_true(support_virtual_whole(&s));
    assert_true(is_right(&s.g->mesh, &lab->clock, from, to, (bytes + 255) / 256, support_virtual_end(&s)));
    support_virtual_close(&s);
}

/* From one accelerator to others, in check-all to every one, with packets of all sizes. */
static void from_one(const struct lab *lab, uint32_t from, uint32_t accelerators)
{
    static const unsigned bytes[] = {8192, 1, 256, 257, 5000};
    for (uint32_t n = 0; n < effort_few(accelerators / 2, accelerators); n++) {
        const uint32_t to = effort_case(n, accelerators);
        if (to != from)
            one_packet(lab, from, to, bytes[(from + to) % (sizeof bytes / sizeof *bytes)]);
    }
}

#define PAPER                                                                                                          \
    {                                                                                                                  \
        400, 20000, 1000, 40000, 40000                                                                                 \
    }
#define ODD_TIMING                                                                                                     \
    {                                                                                                                  \
        .link = 333, .crossbar = 777, .cable = 130, .trace = 3, .input = 7, .output = 11,                              \
        .given =                                                                                                       \
            HX_GIVEN_LINK | HX_GIVEN_CROSSBAR | HX_GIVEN_CABLE | HX_GIVEN_TRACE | HX_GIVEN_INPUT | HX_GIVEN_OUTPUT     \
    }
#define ODD                                                                                                            \
    {                                                                                                                  \
        333, 130000, 3000, 7000, 11000                                                                                 \
    }

/* A corner has wraps on its own board, hops, a row and a column crossbar, and both; an inner accelerator has longer
 * hops. */
static void crossbars_boards_and_wraps(void **state)
{
    (void)state;
    const struct lab lab = {.spec = "2x2 Hx4Mesh", .clock = PAPER};
    from_one(&lab, 0, 64);
    from_one(&lab, 2 * 8 + 5, 64);
}

static void board_of_its_own(void **state)
{
    (void)state;
    const struct lab lab = {.spec = "1x1 H6x5Mesh", .clock = PAPER, .workers = 2};
    from_one(&lab, 0, 30);
    from_one(&lab, 14, 30);
}

static void boards_of_one(void **state)
{
    (void)state;
    const struct lab lab = {.spec = "5x3 Hx1Mesh", .clock = PAPER, .planes = 4};
    from_one(&lab, 7, 15);
}

static void two_level_trees(void **state)
{
    (void)state;
    const struct lab lab = {.spec = "9x2 H1x2Mesh", .radix = 8, .clock = PAPER, .workers = 3};
    from_one(&lab, 0, 36);
    from_one(&lab, 22, 36);
}

static void other_presets(void **state)
{
    (void)state;
    const struct lab lab = {.spec = "3x2 H2x3Mesh",
                            .timing = {.preset = HX_TIMING_AUTHORS, .given = HX_GIVEN_PRESET},
                            .clock = {400, 40000, 40000, 20000, 20000}};
    from_one(&lab, 8, 36);
    const struct lab study = {.spec = "3x2 H2x3Mesh",
                              .timing = {.preset = HX_TIMING_SC15, .given = HX_GIVEN_PRESET},
                              .clock = {100, 50000, 50000, 50000, 50000}};
    from_one(&study, 8, 36);
}

static void odd_timing(void **state)
{
    (void)state;
    const struct lab lab = {.spec = "3x2 H3x2Mesh", .timing = ODD_TIMING, .clock = ODD, .workers = 2};
    from_one(&lab, 4, 36);
    const struct lab trees = {.spec = "9x1 H2x1Mesh", .radix = 8, .timing = ODD_TIMING, .clock = ODD};
    from_one(&trees, 5, 18);
}

static void the_longest_latencies(void **state)
{
    (void)state;
    const uint64_t most = UINT64_C(1000) * HX_MOST_LATENCY;
    const struct lab lab = {
        .spec = "2x2 Hx2Mesh",
        .timing = {.cable = HX_MOST_LATENCY,
                   .trace = HX_MOST_LATENCY,
                   .input = HX_MOST_LATENCY,
                   .output = HX_MOST_LATENCY,
                   .given = HX_GIVEN_CABLE | HX_GIVEN_TRACE | HX_GIVEN_INPUT | HX_GIVEN_OUTPUT},
        .clock = {400, most, most, most, most},
    };
    from_one(&lab, 5, 16);
}

static void no_latency_at_all(void **state)
{
    (void)state;
    const struct lab lab = {
        .spec = "2x2 Hx3Mesh",
        .timing = {.given = HX_GIVEN_CABLE | HX_GIVEN_TRACE | HX_GIVEN_INPUT | HX_GIVEN_OUTPUT},
        .clock = {.link = 400},
    };
    from_one(&lab, 0, 36);
}

/* Latencies of all magnitudes, links of any rate. */
static struct lab drawn(uint64_t seed)
{
    static const struct {
        const char *spec;
        unsigned radix;
    } shapes[] = {
        {"3x2 Hx2Mesh", 0}, {"2x2 H3x2Mesh", 0}, {"5x3 Hx1Mesh", 0}, {"1x1 H5x4Mesh", 0}, {"9x1 H1x2Mesh", 8}};
    unsigned shape = seeded_below(&seed, sizeof shapes / sizeof *shapes);
    struct hx_timing t = {.given = HX_GIVEN_LINK | HX_GIVEN_CROSSBAR | HX_GIVEN_CABLE | HX_GIVEN_TRACE |
                                   HX_GIVEN_INPUT | HX_GIVEN_OUTPUT};
    t.link = 50 + seeded_below(&seed, 950);
    t.crossbar = t.link + seeded_below(&seed, 1000);
    t.cable = 1U << seeded_below(&seed, 12);
    t.trace = 1 + seeded_below(&seed, 60);
    t.input = seeded_below(&seed, 80);
    t.output = seeded_below(&seed, 80);
    return (struct lab){.spec = shapes[shape].spec,
                        .radix = shapes[shape].radix,
                        .planes = 1 + seeded_below(&seed, 4),
                        .workers = 1 + seeded_below(&seed, 3),
                        .timing = t,
                        .clock = {.link = t.link,
                                  .cable = UINT64_C(1000) * t.cable,
                                  .trace = UINT64_C(1000) * t.trace,
                                  .input = UINT64_C(1000) * t.input,
                                  .output = UINT64_C(1000) * t.output}};
}

static void any_fabric_and_timing(void **state)
{
    (void)state;
    enum { RUNS = 12, PACKETS = 12, PLACES = 15 /* of the smallest fabric */ };
    seeded_run = seeded_by(1);
    for (unsigned run = 0; run < effort(RUNS); run++, seeded_run++) {
        const struct lab lab = drawn(seeded_run);
        uint64_t random = seeded_run;
        for (unsigned n = 0; n < PACKETS; n++) {
            uint32_t from = seeded_below(&random, PLACES);
            uint32_t to = (from + 1 + seeded_below(&random, PLACES - 1)) % PLACES;
            one_packet(&lab, from, to, 1 + seeded_below(&random, HX_MAX_PAYLOAD));
        }
    }
    seeded_run = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossbars_boards_and_wraps),
        cmocka_unit_test(board_of_its_own),
        cmocka_unit_test(boards_of_one),
        cmocka_unit_test(two_level_trees),
        cmocka_unit_test(other_presets),
        cmocka_unit_test(odd_timing),
        cmocka_unit_test(no_latency_at_all),
        cmocka_unit_test(the_longest_latencies),
        cmocka_unit_test_teardown(any_fabric_and_timing, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
