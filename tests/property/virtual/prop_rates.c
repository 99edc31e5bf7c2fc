/* prop_rates.c - under the virtual clock streams of packets take the time of closed forms: a full link, credit round
 * trips longer than the buffer lasts, windows of messages, shared links, collectives.
 *
 * Timing is that of table III unless stated: a packet takes 163,840 ps on a link. */
#include "spec/collective_model.h"
#include "tests/support/virtual/support_virtual.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ps */
#define BLOCK     UINT64_C(5120)
#define PACKET    (32 * BLOCK)
#define BUFFERING UINT64_C(80000) /* through an output and an input buffer */
#define TRACE     UINT64_C(1000)
#define CABLE     UINT64_C(20000)

/* Time of one packet over `hops` links of `latencies` in total: in, over them, out. */
static uint64_t alone(unsigned hops, uint64_t latencies, unsigned blocks)
{
    uint64_t in = BLOCK / 4 + 40000;
    uint64_t out = 40000 + (blocks / 4 > blocks - 1 ? blocks * BLOCK / 4 : (blocks - 1) * BLOCK);
    if (blocks == 1)
        out = 40000 + BLOCK / 4;
    return in + hops * (BUFFERING + BLOCK) + latencies + out;
}

struct lab {
    const char *spec;
    struct hx_timing timing;
    uint64_t message, count, duration_ns;
    unsigned workers, flows;
    struct support_flow flow[16];
};

/* Runs the plan; the caller closes *s. */
static void run(struct support_virtual *s, struct support_virtual_plan *plan, const struct lab *lab)
{
    *plan = (struct support_virtual_plan){
        .spec = lab->spec, .timing = lab->timing, .workers = lab->workers, .flow = lab->flow, .flows = lab->flows};
    plan->settings = (struct hx_settings){.message = lab->message,
                                          .count = lab->count,
                                          .duration_ns = lab->duration_ns,
                                          .given = HX_GIVEN_MESSAGE | HX_GIVEN_COUNT | HX_GIVEN_DURATION};
    support_virtual_open(s, plan);
    assert_true(support_virtual_run(s));
    assert_true(support_virtual_whole(s));
}

static uint64_t end_of(const struct lab *lab)
{
    struct support_virtual s;
    struct support_virtual_plan plan;
    run(&s, &plan, lab);
    uint64_t end = support_virtual_end(&s);
    support_virtual_close(&s);
    return end;
}

static void assert_near(uint64_t value, uint64_t expected, uint64_t tolerance)
{
    if (value + tolerance < expected || value > expected + tolerance)
        fail_msg("%llu ps is not within %llu of %llu", (unsigned long long)value, (unsigned long long)tolerance,
                 (unsigned long long)expected);
}

/* ---- a link that is full ---- */

/* Packets of one message on one path follow each other without a gap, through any switches. */
static void a_full_link(void **state)
{
    (void)state;
    for (unsigned packets = 1; packets <= 3000; packets += 1 + packets / 2) {
        struct lab lab = {.spec = "1x1 H5x1Mesh", .message = packets * 8192ULL, .count = 1, .flows = 1};
        lab.flow[0] = (struct support_flow){1, 2};
        assert_int_equal(end_of(&lab), alone(1, TRACE, 32) + (packets - 1) * PACKET);
        lab.flow[0] = (struct support_flow){3, 1};
        assert_int_equal(end_of(&lab), alone(2, 2 * TRACE, 32) + (packets - 1) * PACKET);
        /* From the western edge of one board to that of the other. */
        lab.spec = "2x1 H3x1Mesh";
        lab.flow[0] = (struct support_flow){0, 3};
        assert_int_equal(end_of(&lab), alone(2, 2 * CABLE, 32) + (packets - 1) * PACKET);
    }
}

/* The crossbar limits the rate. */
static void a_crossbar_as_slow_as_the_link(void **state)
{
    (void)state;
    struct lab lab = {.spec = "1x1 H5x1Mesh", .message = 500 * 8192, .count = 1, .flows = 1};
    lab.timing = (struct hx_timing){.crossbar = 400, .given = HX_GIVEN_CROSSBAR};
    lab.flow[0] = (struct support_flow){3, 1};
    assert_int_equal(end_of(&lab), alone(2, 2 * TRACE, 32) + 499 * PACKET);
}

/* A stream uses all its links: both directions, if both are equally long. */
static void two_links_at_once(void **state)
{
    (void)state;
    struct lab lab = {.spec = "1x1 H1x1Mesh", .message = 1000 * 8192, .count = 1, .flows = 1};
    lab.spec = "2x1 Hx1Mesh";
    lab.flow[0] = (struct support_flow){0, 1};
    assert_near(end_of(&lab), alone(2, 2 * CABLE, 32) + 499 * PACKET, PACKET);
}

/* ---- credits ---- */

/* A buffer of n packets a VC allows n packets a round trip: out, and back when the packet has left. */
static void buffers_smaller_than_a_round_trip(void **state)
{
    (void)state;
    const uint64_t trace = 700;
    const uint64_t trip = 2 * (BUFFERING + trace * 1000) + PACKET;
    for (unsigned buffer = 1; buffer <= 12; buffer++) {
        struct lab lab = {.spec = "1x1 H5x1Mesh", .message = 500 * 8192, .count = 1, .flows = 1};
        lab.timing = (struct hx_timing){
            .trace = trace, .buffer = 3ULL * 8192 * buffer, .given = HX_GIVEN_TRACE | HX_GIVEN_BUFFER};
        lab.flow[0] = (struct support_flow){1, 2};
        uint64_t rounds = 499 / buffer;
        uint64_t expected = alone(1, trace * 1000, 32) + rounds * trip + 499 % buffer * PACKET;
        if (buffer * PACKET > trip)
            expected = alone(1, trace * 1000, 32) + 499 * PACKET;
        assert_int_equal(end_of(&lab), expected);
    }
}

/* Each link of a path has its own credit: the slowest round trip is that of the path. */
static void a_round_trip_over_cables(void **state)
{
    (void)state;
    const uint64_t trip = 2 * (BUFFERING + 500000) + PACKET;
    for (unsigned buffer = 1; buffer <= 4; buffer++) {
        struct lab lab = {.spec = "2x1 H3x1Mesh", .message = 300 * 8192, .count = 1, .flows = 1, .workers = 2};
        lab.timing =
            (struct hx_timing){.cable = 500, .buffer = 3ULL * 8192 * buffer, .given = HX_GIVEN_CABLE | HX_GIVEN_BUFFER};
        lab.flow[0] = (struct support_flow){0, 3};
        assert_near(end_of(&lab), alone(2, 1000000, 32) + 299 / buffer * trip + 299 % buffer * PACKET, trip);
    }
}

/* ---- windows of messages ---- */

/* Four small messages to one peer are in flight; each acknowledgement, a block, makes room for the next. */
static void small_messages(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 4, 16};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct lab lab = {.spec = "1x1 H5x1Mesh", .message = sizes[i] * 256, .count = 401, .flows = 1};
        lab.flow[0] = (struct support_flow){1, 2};
        uint64_t trip = alone(1, TRACE, sizes[i]) + alone(1, TRACE, 1);
        assert_true(4 * sizes[i] * BLOCK < trip);
        assert_near(end_of(&lab), alone(1, TRACE, sizes[i]) + 100 * trip, 0);
    }
}

/* ---- sharing ---- */

/* Through a switch with its own stream and one from a neighbour: each always has half of the link. Its own starts
 * earlier, by the output's prefetch before the other arrives. */
static void two_flows(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct lab lab = {.spec = "1x1 H7x1Mesh", .message = 400 * 8192, .count = 1, .flows = 2, .workers = workers};
        lab.flow[0] = (struct support_flow){0, 3};
        lab.flow[1] = (struct support_flow){1, 2};
        struct support_virtual s;
        struct support_virtual_plan plan;
        run(&s, &plan, &lab);
        uint64_t tolerance = 3 * PACKET + s.m.timing.ahead;
        assert_near(s.m.receiver[2].last, alone(1, TRACE, 32) + 799 * PACKET, tolerance);
        assert_near(s.m.receiver[3].last, alone(3, 3 * TRACE, 32) + 799 * PACKET, tolerance);
        support_virtual_close(&s);
    }
}

/* At the switch next to the receiver, from its three neighbours and from afar: each board link delivers at its rate. */
static void shares_of_an_incast(void **state)
{
    (void)state;
    /* In a line of seven, 3 is reached from the left by 0, 1 and 2 and from the right by 4, 5 and 6. */
    struct lab lab = {.spec = "1x1 H7x1Mesh", .message = 200 * 8192, .count = 1, .flows = 6};
    for (uint32_t n = 0; n < 6; n++)
        lab.flow[n] = (struct support_flow){n < 3 ? n : n + 1, 3};
    assert_near(end_of(&lab), alone(1, TRACE, 32) + 599 * PACKET, 4 * PACKET);
}

/* Smaller packets fill a link as well, while windows of messages are longer than a round trip. */
static void small_packets_fill_a_link(void **state)
{
    (void)state;
    const uint64_t duration = 50000;
    struct lab lab = {.spec = "1x1 H7x1Mesh", .message = 4096, .duration_ns = duration, .flows = 6};
    for (uint32_t n = 0; n < 6; n++)
        lab.flow[n] = (struct support_flow){n < 3 ? n : n + 1, 3};
    struct support_virtual s;
    struct support_virtual_plan plan;
    run(&s, &plan, &lab);
    for (unsigned side = 0; side < 2; side++) {
        uint32_t neighbour = side ? 4 : 2;
        const struct model_span *span = &s.m.span[s.m.layout.first_link[neighbour] + (side ? HX_W : HX_E)];
        /* Begun messages go on to their end: four of each. */
        assert_near((span->to - span->from) * BLOCK, duration * 1000 + 6 * 16 * BLOCK, 8 * 16 * BLOCK);
    }
    support_virtual_close(&s);
}

/* ---- collectives ---- */

static double all_reduce_seconds(const char *spec, enum hx_algorithm algorithm, uint64_t bytes)
{
    const struct support_virtual_plan plan = {
        .spec = spec,
        .settings = {.pattern = HX_COLLECTIVES + HX_ALL_REDUCE,
                     .algorithm = algorithm,
                     .message = bytes,
                     .given = HX_GIVEN_PATTERN | HX_GIVEN_ALGORITHM | HX_GIVEN_MESSAGE}};
    struct support_virtual s;
    support_virtual_open(&s, &plan);
    assert_true(support_virtual_run(&s));
    assert_true(support_virtual_whole(&s));
    assert_int_equal(s.m.area[0].collectives_done, s.g->hosts);
    double seconds = (double)support_virtual_end(&s) / 1e12;
    support_virtual_close(&s);
    return seconds;
}

static struct hx_collective_model model_of(enum hx_collective_algorithm algorithm, unsigned side, uint64_t bytes,
                                           uint64_t alpha)
{
    return (struct hx_collective_model){.kind = HX_ALL_REDUCE,
                                        .algorithm = algorithm,
                                        .columns = side,
                                        .rows = side,
                                        .bytes = (double)bytes,
                                        .alpha = (double)alpha / 1e12,
                                        .link_rate = 50e9};
}

/* Neighbours on a ring are a trace or two cables apart. A segment is several messages, so the next step begins
 * before the last has ended: at best only the bytes take time. Tolerance: 3 % more than the slowest steps. */
static void against_model(const char *spec, enum hx_collective_algorithm algorithm, unsigned side, uint64_t bytes)
{
    const struct hx_collective_model best = model_of(algorithm, side, bytes, 0);
    const struct hx_collective_model worst = model_of(algorithm, side, bytes, alone(2, 2 * CABLE, 1));
    double seconds = all_reduce_seconds(spec, (enum hx_algorithm)(HX_ALGORITHM_TREE + algorithm), bytes);
    if (seconds < hx_model_seconds(&best) || seconds > hx_model_seconds(&worst) * 1.03)
        fail_msg("%s, algorithm %d: %.0f B in %.9f s, not in %.9f to %.9f", spec, (int)algorithm, (double)bytes,
                 seconds, hx_model_seconds(&best), hx_model_seconds(&worst) * 1.03);
}

static void all_reduce_of_long_vectors(void **state)
{
    (void)state;
    for (enum hx_collective_algorithm algorithm = HX_BY_RING; algorithm <= HX_BY_TORUS; algorithm++) {
        against_model("2x2 Hx2Mesh", algorithm, 4, 8 << 20);
        against_model("4x4 Hx2Mesh", algorithm, 8, 32 << 20);
        against_model("2x2 Hx4Mesh", algorithm, 8, 32 << 20);
    }
}

/* A segment of one block: a step takes as long as a packet from neighbour to neighbour. */
static void all_reduce_of_short_vectors(void **state)
{
    (void)state;
    for (enum hx_collective_algorithm algorithm = HX_BY_RING; algorithm <= HX_BY_TORUS; algorithm++) {
        const struct hx_collective_model steps = model_of(algorithm, 8, 1, 1000000000000);
        double seconds = all_reduce_seconds("2x2 Hx4Mesh", (enum hx_algorithm)(HX_ALGORITHM_TREE + algorithm), 4096);
        double step = seconds * 1e12 / floor(hx_model_seconds(&steps));
        if (step < (double)alone(1, TRACE, 1) || step > (double)alone(2, 2 * CABLE, 1))
            fail_msg("algorithm %d: a step takes %.0f ps", (int)algorithm, step);
    }
}

/* ---- steady state ---- */

/* Mean distance in cables to a random other host. */
static double mean_distance(const struct hx_fabric *g)
{
    double sum = 0;
    for (uint32_t from = 0; from < g->hosts; from++) {
        for (uint32_t to = 0; to < g->hosts; to++) {
            struct hx_coordinate a = hx_address_of(g, from);
            struct hx_coordinate b = hx_address_of(g, to);
            sum += hx_distance(&g->mesh, a.addr_hi, a.addr_lo, b.addr_hi, b.addr_lo);
        }
    }
    return sum / g->hosts / (g->hosts - 1.0);
}

struct steady {
    double share;   /* of the injection bandwidth that arrived */
    double loads;   /* of all links together, relative to one full link for all arrivals */
    double packets; /* with latency samples, relative to the injectable ones */
};

static struct steady steady_of(uint64_t warm_up_ns, uint64_t duration_ns, unsigned workers)
{
    struct support_virtual s;
    const struct support_virtual_plan plan = {.spec = "4x4 Hx2Mesh",
                                              .workers = workers,
                                              .settings = {.pattern = HX_UNIFORM,
                                                           .message = 8192,
                                                           .rate = 0.1,
                                                           .warm_up_ns = warm_up_ns,
                                                           .duration_ns = duration_ns,
                                                           .given = HX_GIVEN_PATTERN | HX_GIVEN_MESSAGE |
                                                                    HX_GIVEN_RATE | HX_GIVEN_WARM_UP |
                                                                    HX_GIVEN_DURATION}};
    support_virtual_open(&s, &plan);
    assert_true(support_virtual_run(&s));
    assert_true(support_virtual_whole(&s));
    struct steady is = {0};
    double interval = (double)(duration_ns - warm_up_ns) * 1000;
    double injectable = interval / BLOCK * 4 * s.g->hosts; /* blocks */
    for (unsigned w = 0; w < s.m.workers; w++)
        is.share += (double)s.m.area[w].bytes_measured / HX_BLOCK / injectable;
    for (uint32_t slot = 0; slot < s.m.jobs.slots; slot++) {
        for (unsigned bin = 0; bin < FAB_HISTOGRAM_BINS; bin++)
            is.packets += (double)s.m.job[slot].latency.count[bin];
    }
    for (uint32_t node = 0; node < s.g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(s.g, node); port++) {
            const struct model_span *span = &s.m.span[s.m.layout.first_link[node] + port];
            if (hx_fabric_far(s.g, node, port).node != HX_NOWHERE)
                is.loads += (double)(span->to - span->from) / injectable;
        }
    }
    is.loads /= mean_distance(s.g);
    is.packets /= injectable / 32;
    support_virtual_close(&s);
    return is;
}

/* Light uniform load: all offered traffic arrives, and crosses the cables of its path, as do its acknowledgements (a
 * block for 32 at most). Each accelerator sends a packet in 410 ns: the tolerance is one packet at either end. */
static void light_uniform_load_after_a_warm_up(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        const struct steady is = steady_of(4000, 44000, workers);
        if (fabs(is.share - 0.1) > 0.001 || fabs(is.packets - 0.1) > 0.001 || is.loads < 0.098 || is.loads > 0.1055)
            fail_msg("share %.5f, loads %.5f, packets %.5f", is.share, is.loads, is.packets);
    }
    /* The warm-up counts: in the first microsecond nothing arrives. */
    assert_true(steady_of(0, 10000, 1).share < 0.097);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_link),
        cmocka_unit_test(a_crossbar_as_slow_as_the_link),
        cmocka_unit_test(two_links_at_once),
        cmocka_unit_test(buffers_smaller_than_a_round_trip),
        cmocka_unit_test(a_round_trip_over_cables),
        cmocka_unit_test(small_messages),
        cmocka_unit_test(two_flows),
        cmocka_unit_test(shares_of_an_incast),
        cmocka_unit_test(small_packets_fill_a_link),
        cmocka_unit_test(all_reduce_of_long_vectors),
        cmocka_unit_test(all_reduce_of_short_vectors),
        cmocka_unit_test(light_uniform_load_after_a_warm_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
