/* tsan */
/* prop_two_workers.c - workers side by side on one fabric in shared memory, each in its own thread.
 *
 * Between processes only the heads and tails of rings order the workers' accesses. In threads the thread sanitizer
 * checks that order for descriptors, frames, free buffers, and the ledger. One side writes the ledger before it
 * acknowledges, and the other reads it once acknowledged. Without the sanitizer the test checks that everything
 * arrives. HX_SEED chooses other sizes; a failure names the seed of its run. */
#include "tests/support/shm/support_shm.h"
#include "tests/support/support_seed.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { WORKERS = 2 };

struct side {
    struct support *s;
    struct worker worker;
    _Atomic bool *done; /* [WORKERS] */
    pthread_t thread;
};

/* All its messages are acknowledged, and it has acknowledged all its arrivals. */
static bool all_are_done(const struct side *side)
{
    for (unsigned w = 0; w < WORKERS; w++) {
        if (!atomic_load(&side->done[w]))
            return false;
    }
    return true;
}

static void *live(void *of)
{
    struct side *side = of;
    while (!all_are_done(side)) {
        (void)support_sweep(side->s, &side->worker, true);
        atomic_store(&side->done[side->worker.self], support_is_done(&side->worker, true));
    }
    return NULL;
}

static void deliver(const struct support_plan *plan)
{
    static struct support s;
    static struct side side[WORKERS];
    _Atomic bool done[WORKERS] = {false};
    support_open(&s, plan);
    for (unsigned w = 0; w < WORKERS; w++) {
        side[w] = (struct side){.s = &s, .done = done};
        support_start(&s, &side[w].worker, w);
    }
    for (unsigned w = 0; w < WORKERS; w++)
        assert_int_equal(pthread_create(&side[w].thread, NULL, live, &side[w]), 0);
    for (unsigned w = 0; w < WORKERS; w++)
        assert_int_equal(pthread_join(side[w].thread, NULL), 0);

    uint64_t messages = 0;
    for (uint32_t rank = 0; rank < s.f.g->hosts; rank++) {
        messages += s.f.accelerator[rank].stats.messages_received;
        assert_true(s.f.accelerator[rank].issued == traffic_messages(&s.traffic, rank));
    }
    uint64_t n = s.f.g->hosts;
    assert_true(messages == n * (n - 1) * plan->count);
    assert_true(support_unreceived(&s) == 0);
    const struct support_ledger *l = s.ledger;
    assert_true(l->never_received + l->incomplete + l->mixed + l->wrong + l->failed == 0);
    struct support_audit audit = support_audit(&s);
    assert_true(audit.missing + audit.doubled + audit.foreign + audit.in_links == 0);
    for (unsigned w = 0; w < WORKERS; w++)
        support_forget(&side[w].worker);
    support_close(&s);
}

static void all_to_all_arrives(void **state)
{
    (void)state;
    deliver(&(struct support_plan){"2x2 Hx2Mesh", .workers = WORKERS, .planes = 1, .credits = 512, .message = 20000,
                                   .count = 6});
}

static void all_to_all_arrives_over_planes_and_tiny_links(void **state)
{
    (void)state;
    deliver(&(struct support_plan){"2x1 Hx2Mesh", .workers = WORKERS, .planes = 4, .credits = 32, .message = 100,
                                   .count = 40});
}

static void any_sizes_arrive(void **state)
{
    (void)state;
    enum { RUNS = 4 };
    seeded_run = seeded_by(1);
    for (unsigned run = 0; run < RUNS; run++, seeded_run++) {
        uint64_t random = seeded_run;
        deliver(&(struct support_plan){.spec = "2x1 Hx2Mesh",
                                       .workers = WORKERS,
                                       .planes = 1 + seeded_below(&random, 4),
                                       .credits = 32U << seeded_below(&random, 5),
                                       .message = 1 + seeded_below(&random, 30000),
                                       .count = 1 + seeded_below(&random, 8),
                                       .seed = seeded_run});
    }
    seeded_run = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_to_all_arrives),
        cmocka_unit_test(all_to_all_arrives_over_planes_and_tiny_links),
        cmocka_unit_test_teardown(any_sizes_arrive, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
