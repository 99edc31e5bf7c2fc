/* test_pool.c - free buffers: where they are taken, their return home, the reserve for acknowledgements. A step that
 * takes and returns buffers is invisible until its commit. */
#include "tests/support/shm/support_shm.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WORKERS = 3, MOST = 4096, STEP = HX_WINDOW /* buffers of a step */ };

static struct support s;
static struct worker workers[WORKERS];

static int open_workers(void **state)
{
    (void)state;
    support_open(&s, &(struct support_plan){"3x1 Hx1Mesh", .workers = WORKERS, .planes = 1, .message = 1, .count = 1});
    for (unsigned i = 0; i < WORKERS; i++)
        support_start(&s, &workers[i], i);
    return 0;
}

static int close_workers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WORKERS; i++)
        support_forget(&workers[i]);
    support_close(&s);
    return 0;
}

static void commit(struct worker *worker)
{
    shm_note_pools(&worker->shm, true);
    shm_note_pools(&worker->shm, false);
    shm_step_commit(&worker->shm.step);
    shm_commit_pools(&worker->shm);
}

static void assert_whole(void)
{
    struct support_audit a = support_audit(&s);
    assert_true(a.missing == 0 && a.doubled == 0 && a.foreign == 0 && a.in_links == 0);
}

static uint32_t take(struct worker *worker)
{
    uint32_t buffer = UINT32_MAX;
    assert_true(shm_buffer_get(&worker->shm, &buffer, 0));
    assert_int_equal(buffer / s.f.per_home, worker->self);
    return buffer;
}

static void every_worker_starts_with_its_own(void **state)
{
    (void)state;
    assert_whole();
    for (unsigned i = 0; i < WORKERS; i++) {
        bool seen[MOST] = {false};
        uint32_t buffer;
        unsigned n = 0;
        for (; shm_buffer_get(&workers[i].shm, &buffer, 0); n++) {
            assert_int_equal(buffer / s.f.per_home, i);
            assert_false(seen[buffer % s.f.per_home]);
            seen[buffer % s.f.per_home] = true;
        }
        assert_int_equal(n, s.f.per_home);
    }
}

static void some_buffers_are_reserved_for_acknowledgements(void **state)
{
    (void)state;
    uint32_t buffer;
    unsigned n = 0;
    while (shm_buffer_get(&workers[0].shm, &buffer, 20))
        n++;
    assert_int_equal(n, s.f.per_home - 20);
    for (n = 0; shm_buffer_get(&workers[0].shm, &buffer, 0);)
        n++;
    assert_int_equal(n, 20);
}

/* Every worker returns buffers that it got. Data does not use up the reserve, in any ring. */
static void the_reserve_includes_buffers_returned_by_others(void **state)
{
    (void)state;
    const uint32_t reserve = 20;
    uint32_t buffer;
    for (unsigned round = 0; round < 3 * reserve; round++) {
        uint32_t acknowledgement = take(&workers[0]);
        commit(&workers[0]);
        shm_buffer_put(&workers[1].shm, acknowledgement);
        commit(&workers[1]);
        while (shm_buffer_get(&workers[0].shm, &buffer, reserve))
            commit(&workers[0]);
    }
    unsigned n = 0;
    while (shm_buffer_get(&workers[0].shm, &buffer, 0))
        n++;
    assert_int_equal(n, reserve);
}

static void a_step_is_visible_when_committed(void **state)
{
    (void)state;
    uint32_t buffer[STEP];
    for (unsigned i = 0; i < STEP; i++)
        buffer[i] = take(&workers[0]);
    assert_whole(); /* a kill here leaves them all free */
    commit(&workers[0]);
    struct support_audit a = support_audit(&s);
    assert_true(a.missing == STEP && a.doubled == 0);
    for (unsigned i = 0; i < STEP; i++)
        shm_buffer_put(&workers[1].shm, buffer[i]);
    assert_true(support_audit(&s).missing == STEP);
    assert_true(workers[1].shm.touched == 0);
    commit(&workers[1]);
    assert_whole();
    assert_true(workers[1].shm.touched == 1); /* the home worker needs a wakeup */
}

/* Buffers freed by any worker return home. */
static void all_buffers_return_home(void **state)
{
    (void)state;
    uint64_t seed = 1;
    uint32_t held[MOST];
    unsigned n = 0;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t random = seeded_next(&seed);
        struct worker *at = &workers[(random >> 40) % WORKERS];
        uint32_t buffer;
        if (random >> 63 && n < MOST && shm_buffer_get(&at->shm, &buffer, 0)) {
            assert_int_equal(buffer / s.f.per_home, at->self);
            held[n++] = buffer;
        } else if (n) {
            unsigned which = (unsigned)(random >> 33) % n;
            shm_buffer_put(&at->shm, held[which]);
            held[which] = held[--n];
        }
        commit(at);
    }
    for (; n; n--)
        shm_buffer_put(&workers[n % WORKERS].shm, held[n - 1]);
    for (unsigned i = 0; i < WORKERS; i++)
        commit(&workers[i]);
    assert_whole();
}

/* The buffer of a dropped packet goes home, perhaps to another worker, in the step that takes it from its link, and
 * neither earlier nor later. */
static void a_dropped_packets_buffer_goes_home_with_the_step(void **state)
{
    (void)state;
    struct hal_switch *h = &workers[1].node[0].hal;
    unsigned port = (unsigned)__builtin_ctzll(h->brings);
    struct shm_link *link = h->rx[port].link;
    const uint64_t waiting[HX_VCS] = {0};
    for (unsigned n = 0; n < 3; n++) {
        const struct hx_desc d = {.buffer = take(&workers[n])};
        link->slots[hx_lane(link->heads, 0) & (s.f.slots - 1)] = d;
        shm_note(&workers[n].shm.step, &link->heads, hx_lane_add(link->heads, 0, 1));
        commit(&workers[n]);
        uint64_t drops = h->drops[HX_DROP_UNREACHABLE];
        uint64_t arrived = hal_arrived(h, port);
        hal_drop(h, port, 0, hal_arrival(h, port, 0, hx_lane(h->rx[port].tail, 0)), HX_DROP_UNREACHABLE);
        hal_release(h, port, arrived, arrived, waiting);
        assert_int_equal(h->drops[HX_DROP_UNREACHABLE], drops + 1);
        struct support_audit a = support_audit(&s);
        assert_true(a.missing == 0 && a.doubled == 0 && a.in_links == 1);
        workers[1].shm.touched = 0;
        hal_commit(h);
        assert_whole();
        assert_int_equal(workers[1].shm.touched >> n & 1, 1); /* the home worker needs a wakeup */
    }
    /* An invalid buffer number has no home. */
    const struct hx_desc foreign = {.buffer = s.f.per_home * WORKERS};
    hal_drop(h, port, 0, &foreign, HX_DROP_UNREACHABLE);
    hal_commit(h);
    assert_whole();
}

/* Until the commit, free buffers in rings stay as they were, even in a full ring, since a kill may happen in
 * between. */
static void buffers_taken_and_returned_within_a_step(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 100; round++) {
        uint32_t buffer[STEP];
        unsigned n = 1 + round * 7 % STEP;
        for (unsigned i = 0; i < n; i++)
            buffer[i] = take(&workers[2]);
        for (unsigned i = n / 2; i < n; i++)
            shm_buffer_put(&workers[2].shm, buffer[i]);
        assert_whole();
        for (unsigned i = 0; i < n / 2; i++)
            shm_buffer_put(&workers[2].shm, buffer[i]);
        commit(&workers[2]);
        assert_whole();
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_workers, close_workers)
    const struct CMUnitTest tests[] = {
        TEST(every_worker_starts_with_its_own),
        TEST(some_buffers_are_reserved_for_acknowledgements),
        TEST(the_reserve_includes_buffers_returned_by_others),
        TEST(a_step_is_visible_when_committed),
        TEST(all_buffers_return_home),
        TEST(a_dropped_packets_buffer_goes_home_with_the_step),
        TEST(buffers_taken_and_returned_within_a_step),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
