/* test_calls.c - a worker that sleeps hears every program that calls, or knows that one cannot (fabric-emu/live/calls.h). */
#include "fabric-emu/live/fabric.h"
#include "fabric-emu/live/node.h"
#include "program/attachment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { HOSTS = FUTEX_WAITV_MAX + 8, LONGEST_NS = 999999999 };

static struct programs programs;
static struct fab_fabric fabric;
static struct accelerator of_host[HOSTS];
static struct workload_plan plan = {.programs = &programs};
static struct worker worker;

static int set_up(void **state)
{
    (void)state;
    programs.at = calloc(HOSTS, sizeof *programs.at);
    fabric.area = aligned_alloc(64, sizeof *fabric.area);
    memset(fabric.area, 0, sizeof *fabric.area);
    for (uint32_t host = 0; host < HOSTS; host++) {
        of_host[host].rank = host;
        assert_int_equal(attachment_make(&programs.at[host], 2), 0);
    }
    worker =
        (struct worker){.f = &fabric, .workload = &plan, .accelerator = of_host, .accelerators = HOSTS, .tuns = -1};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (uint32_t host = 0; host < HOSTS; host++)
        attachment_close(&programs.at[host]);
    free(programs.at);
    free(fabric.area);
    return 0;
}

static struct attachment_head *head(uint32_t host)
{
    return programs.at[host].head;
}

static void hold(uint32_t first, uint32_t count)
{
    for (uint32_t host = first; host < first + count; host++)
        atomic_store(&head(host)->served, 1);
}

/* Whoever calls after a worker has said that it will sleep, and before it does, is heard: or this would take over a minute. */
static void nobody_calls_in_vain(void **state)
{
    (void)state;
    enum { ROUNDS = 80, CALLERS = 3 };
    time_t begin = time(NULL);
    hold(4, CALLERS);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t host = 4 + round % CALLERS;
        uint32_t before = atomic_load(&head(host)->call);
        calls_begin(&worker, 0);
        assert_false(worker.calls.unheard);
        attachment_call(&programs.at[host]);
        assert_int_equal(atomic_load(&head(host)->call), before + 1);
        attachment_call(&programs.at[host]); /* once is enough */
        assert_int_equal(atomic_load(&head(host)->call), before + 1);
        calls_sleep(&worker, LONGEST_NS);
        calls_end(&worker);
    }
    if (worker.calls.refused)
        skip(); /* this kernel cannot wait for several words */
    assert_in_range(time(NULL) - begin, 0, ROUNDS / 2);
}

static void who_is_awake_is_not_called(void **state)
{
    (void)state;
    hold(0, 2);
    calls_begin(&worker, 0);
    calls_end(&worker);
    attachment_call(&programs.at[0]);
    attachment_call(&programs.at[2]); /* nobody holds it */
    assert_int_equal(atomic_load(&head(0)->call), 0);
    assert_int_equal(atomic_load(&head(2)->call), 0);
}

static void too_many_to_hear_are_known(void **state)
{
    (void)state;
    hold(0, FUTEX_WAITV_MAX - 1);
    calls_begin(&worker, 0);
    assert_false(worker.calls.unheard);
    calls_end(&worker);
    hold(0, FUTEX_WAITV_MAX);
    calls_begin(&worker, 0);
    assert_true(worker.calls.unheard);
    calls_end(&worker);
    worker.calls.refused = true;
    hold(0, 1);
    calls_begin(&worker, 0);
    assert_true(worker.calls.unheard);
    calls_end(&worker);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(nobody_calls_in_vain), TEST(who_is_awake_is_not_called),
                                       TEST(too_many_to_hear_are_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
