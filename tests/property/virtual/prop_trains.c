/* prop_trains.c - trains of packets under the virtual clock: each packet arrives once and right, as many are counted as
 * with trains of one, and a lone message takes as long.
 *
 * HX_SEED chooses other runs; a failure names the seed of its run. */
#include "fabric-emu/virtual/audit.h"
#include "fabric-emu/virtual/state.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_seed.h"
#include "tests/support/virtual/support_virtual.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RUNS = 12, PACKET = HX_MAX_PAYLOAD, ALL_AT_ONCE = 20 /* packets that do not wait for room to be injected */ };

/* What a run counts. */
struct counts {
    uint64_t sent, delivered, bytes, packets_timed, latency, end, hops;
};

static void run(const struct support_virtual_plan *plan, unsigned train, struct counts *c)
{
    struct support_virtual_plan with = *plan;
    struct support_virtual s;
    with.timing.train = train;
    with.timing.given |= HX_GIVEN_TRAIN;
    support_virtual_open(&s, &with);
    s.m.check_steps = true;
    s.m.watchdog = 1000000;
    bool good = support_virtual_run(&s) && support_virtual_whole(&s) && !s.m.area[0].stuck;
    if (!good)
        print_message("trains of %u on %s: %s\n", train, plan->spec, s.said);
    assert_true(good);
    *c = (struct counts){.end = support_virtual_end(&s)};
    for (uint32_t rank = 0; rank < s.g->hosts; rank++) {
        c->sent += s.m.sum[rank].stats.packets_sent;
        c->delivered += s.m.sum[rank].stats.packets_delivered;
        c->bytes += s.m.sum[rank].stats.bytes_delivered;
    }
    for (unsigned w = 0; w < s.m.workers; w++) {
        assert_int_equal(s.m.area[w].bytes_corrupted, 0);
        c->hops += s.m.progress[w].hops;
    }
    for (unsigned slot = 0; slot < s.m.jobs.slots; slot++) {
        for (unsigned bin = 0; bin < FAB_HISTOGRAM_BINS; bin++)
            c->packets_timed += s.m.job[slot].latency.count[bin];
        c->latency += s.m.job[slot].latency.sum;
    }
    support_virtual_close(&s);
}

/* Random traffic, verified: all payload arrives, and trains count as their packets. */
static void counts_are_those_of_trains_of_one(void **state)
{
    (void)state;
    static const char *const specs[] = {"3x2 Hx2Mesh", "2x2 H3x2Mesh", "torus 4x3", "fat-tree hosts=32",
                                        "slim-fly q=5"};
    static const unsigned patterns[] = {HX_ALL_TO_ALL, HX_PERMUTATION, HX_NEIGHBOUR};
    uint64_t first = seeded_by(1);
    for (uint64_t seed = first; seed < first + effort(RUNS); seed++) {
        const struct support_virtual_plan plan = {
            .spec = specs[random_below(random_of(seed, 1, 0), 5)],
            .planes = 1 + random_below(random_of(seed, 2, 0), 3),
            .workers = 1 + random_below(random_of(seed, 3, 0), 3),
            .settings = {.pattern = patterns[random_below(random_of(seed, 4, 0), 3)],
                         .message = 1 + random_below(random_of(seed, 5, 0), 60 * PACKET),
                         .shifts = 2,
                         .seed = seed,
                         .verify = random_below(random_of(seed, 6, 0), 2),
                         .given =
                             HX_GIVEN_PATTERN | HX_GIVEN_MESSAGE | HX_GIVEN_SEED | HX_GIVEN_VERIFY | HX_GIVEN_SHIFTS}};
        struct counts one;
        print_message("seed %llu\n", (unsigned long long)seed);
        run(&plan, 1, &one);
        for (unsigned train = 2; train <= 4; train *= 2) {
            struct counts c;
            run(&plan, train, &c);
            assert_int_equal(c.sent, one.sent);
            assert_int_equal(c.delivered, one.delivered);
            assert_int_equal(c.bytes, one.bytes);
        }
    }
}

/* One message with one path. Latencies begin at injection, which trains await longer. */
static void a_lone_message_takes_as_long(void **state)
{
    (void)state;
    static const struct support_flow flow = {0, 1};
    static const char *const specs[] = {"fat-tree hosts=4",
                                        "mesh 3x2"}; /* two links to the sender, three to the other */
    for (unsigned packets = 1; packets <= 70; packets += packets < 20 ? 1 : 10) {
        for (unsigned n = 0; n < 4; n++) {
            const unsigned less = n / 2 * 5000;
            const struct support_virtual_plan plan = {.spec = specs[n % 2],
                                                      .settings = {.message = packets * PACKET - less,
                                                                   .verify = true,
                                                                   .given = HX_GIVEN_MESSAGE | HX_GIVEN_VERIFY},
                                                      .flow = &flow,
                                                      .flows = 1};
            struct counts one;
            struct counts four;
            run(&plan, 1, &one);
            run(&plan, 4, &four);
            assert_int_equal(four.delivered, packets);
            assert_int_equal(four.end, one.end);
            assert_int_equal(four.packets_timed, one.packets_timed);
            if (packets <= ALL_AT_ONCE)
                assert_int_equal(four.latency, one.latency);
            assert_int_equal(four.hops, one.hops);
        }
    }
}

/* A short message leaves room for three packets behind three trains: the next train waits, so it stays whole. */
static void a_train_waits_for_room(void **state)
{
    (void)state;
    enum { FOUR = 4, LONG = 16 * FOUR };
    static const struct support_flow flow = {1, 0}; /* the first node sends nothing itself */
    const struct support_virtual_plan plan = {
        .spec = "1x1 Hx2Mesh", .timing = {.train = FOUR, .given = HX_GIVEN_TRAIN}, .flow = &flow, .flows = 1};
    struct support_virtual s;
    struct worker w;
    support_virtual_open_worker(&s, &plan, &w);
    struct driver *d = w.sim_node[0]->of;
    const struct virtual_rx *rx = &w.sim_node[0]->node[0].hal.rx[HX_LOCAL];
    assert_int_equal(hx_endpoint_send(&d->endpoint, 1, 0, 1, 0, 0), HX_OK);
    assert_int_equal(hx_endpoint_send(&d->endpoint, 0, 1, (uint64_t)LONG * PACKET, 0, 0), HX_OK);
    (void)hx_endpoint_step(&d->endpoint);
    assert_int_equal(virtual_injected(&d->hal, 0), VIRTUAL_INJECTED - FOUR + 1);
    assert_int_equal(hx_lane(rx->head, 0), 4);
    for (uint16_t at = 1; at < 4; at++)
        assert_int_equal(virtual_queue_at(&rx->queue[0], at)->d.length, FOUR * PACKET);
    assert_int_equal(d->endpoint.send[1].next, 3 * FOUR);
    support_virtual_close_worker(&s, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_those_of_trains_of_one),
                                       cmocka_unit_test(a_train_waits_for_room),
                                       cmocka_unit_test(a_lone_message_takes_as_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
