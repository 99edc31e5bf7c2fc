/* test_eject.c - what an endpoint takes from the links to it. Each VC of each plane has its turn, and an impossible
 * descriptor costs no buffer, even if its worker is killed at any instruction. */
#include "fabric-emu/live/recover.h"
#include "tests/support/shm/support_shm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLANES = 3 };

static struct support s;
static struct worker worker;

static int open_worker(void **state)
{
    (void)state;
    support_open(&s, &(struct support_plan){"2x1 Hx1Mesh", .workers = 1, .planes = PLANES, .message = 1, .count = 1});
    support_start(&s, &worker, 0);
    return 0;
}

static int close_worker(void **state)
{
    (void)state;
    support_forget(&worker);
    support_close(&s);
    return 0;
}

/* Sends a packet to the first accelerator's endpoint, as its switch does; returns its buffer. */
static uint32_t deliver(unsigned plane, unsigned vc, uint16_t length)
{
    struct shm_link *link = fab_link(&s.f, plane, 0, HX_LOCAL);
    struct hx_desc d = {.length = length, .vc = (uint8_t)vc};
    assert_true(shm_buffer_get(&worker.shm, &d.buffer, 0));
    shm_note_pools(&worker.shm, false);
    shm_commit_pools(&worker.shm);
    link->slots[vc * s.f.slots + (hx_lane(link->heads, vc) & (s.f.slots - 1))] = d;
    shm_note(&worker.shm.step, &link->heads, hx_lane_add(link->heads, vc, 1));
    shm_step_commit(&worker.shm.step);
    return d.buffer;
}

static void every_vc_has_its_turn_on_every_plane(void **state)
{
    (void)state;
    struct hal_endpoint *h = &worker.accelerator[0].hal;
    unsigned turns[PLANES][HX_MESH_VCS] = {{0}};
    for (unsigned round = 0; round < HX_MESH_VCS; round++) {
        for (unsigned plane = 0; plane < PLANES; plane++) {
            struct hx_desc d = {.vc = 0};
            for (unsigned vc = 0; vc < HX_MESH_VCS; vc++)
                (void)deliver(plane, vc, 8);
            assert_int_equal(hal_ejected(h, plane, &d, 1), 1);
            turns[plane][d.vc]++;
            hal_buffer_put(h, d.buffer);
            hal_endpoint_commit(h);
        }
    }
    for (unsigned plane = 0; plane < PLANES; plane++) {
        for (unsigned vc = 0; vc < HX_MESH_VCS; vc++)
            assert_int_equal(turns[plane][vc], 1);
    }
}

static uint64_t reported_age; /* of the last packet, ns */

static void report_age(void *of, const struct hx_desc *burst, unsigned n)
{
    (void)of;
    reported_age = shm_age(&worker.shm, &burst[n - 1]);
}

/* From the injection to the delivery, at any time of the clock. */
static void a_delivery_has_its_latency(void **state)
{
    (void)state;
    struct hal_endpoint *h = &worker.accelerator[0].hal;
    h->delivered = report_age;
    static const uint64_t injected[] = {0, 1, 5000000000};
    static const uint64_t took[] = {0, 1, 999, 4000000000, 5000000000};
    for (unsigned i = 0; i < 3 * 5; i++) {
        uint32_t buffer = deliver(0, 0, 8);
        worker.shm.now = injected[i / 5];
        const struct hx_desc out = {.buffer = buffer, .length = 8};
        hal_inject(h, 1, &out); /* not published: only its time matters */
        worker.shm.now += took[i % 5];
        struct hx_desc in = {0};
        assert_int_equal(hal_ejected(h, 0, &in, 1), 1);
        assert_int_equal(in.buffer, buffer);
        assert_int_equal(reported_age, took[i % 5]);
        hal_buffer_put(h, buffer);
        h->inject[1].head = shm_load(&h->inject[1].link->heads);
        h->injected = 0;
        hal_endpoint_commit(h);
    }
}

static void assert_nothing_doubled(void)
{
    struct support_audit a = support_audit(&s);
    assert_true(a.missing == 0 && a.doubled == 0 && a.foreign == 0);
}

/* The step after the one that found it publishes the returned buffer, which must not be in the link then. */
static void the_buffer_of_a_broken_descriptor_is_returned_once(void **state)
{
    (void)state;
    (void)deliver(1, 0, HX_MAX_PAYLOAD + 1);
    assert_nothing_doubled();
    for (unsigned step = 0; step < support_steps(&worker); step++) {
        (void)support_step(&s, &worker, step, false);
        assert_nothing_doubled();
    }
    (void)deliver(0, 0, 8); /* the next step with something to publish */
    for (unsigned step = 0; step < support_steps(&worker); step++)
        (void)support_step(&s, &worker, step, false);
    assert_int_equal(s.f.area[0].drops[HX_DROP_MALFORMED], 2); /* the second has no header */
    support_take_down(&s, 0);
    (void)recover_worker(&s.f, 0);
    assert_nothing_doubled();
    support_bring_back(&s, 0);
}

/* The step of another accelerator publishes the returned buffer. */
static void the_step_of_another_accelerator_returns_it_once(void **state)
{
    (void)state;
    (void)deliver(1, 0, HX_MAX_PAYLOAD + 1);
    (void)support_step(&s, &worker, 0, false);
    hal_endpoint_commit(&worker.accelerator[1].hal);
    assert_nothing_doubled();
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, open_worker, close_worker)
    const struct CMUnitTest tests[] = {
        TEST(every_vc_has_its_turn_on_every_plane),
        TEST(a_delivery_has_its_latency),
        TEST(the_buffer_of_a_broken_descriptor_is_returned_once),
        TEST(the_step_of_another_accelerator_returns_it_once),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
