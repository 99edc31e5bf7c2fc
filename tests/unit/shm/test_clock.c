/* test_clock.c - the fast clock: within its calibration of the system's, monotonic, and the same for all processes.
 * Also the clock of endpoints, which stops while their worker waits for a capture. */
#include "base/split_mix.h"
#include "hal/shm/clock.h"
#include "hal/shm/hal_port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { READINGS = 200000, SLACK_NS = 20000 };

/* Calibrated for 5 ms, the counter is accurate to a thousandth: intervals differ by no more than that. */
static uint64_t allowed_error(uint64_t since)
{
    return since / 1000 + SLACK_NS;
}

/* Each reading is between two of the system's clock; compared is the progress since the start. */
static void the_clock_follows_the_systems_time(void **state)
{
    (void)state;
    struct shm_clock c;
    uint64_t before_start = hx_monotonic_ns();
    shm_clock_start(&c);
    uint64_t last = 0;
    for (unsigned n = 0; n < READINGS; n++) {
        uint64_t before = hx_monotonic_ns();
        uint64_t now = shm_clock_ns(&c);
        uint64_t after = hx_monotonic_ns();
        uint64_t slack = allowed_error(after - before_start);
        assert_true(now + slack >= before && now <= after + slack);
        assert_true(now >= last);
        last = now;
    }
}

static void without_a_counter_it_is_the_systems_clock(void **state)
{
    (void)state;
    const struct shm_clock c = {.ticks = 12345, .ns = 6789};
    uint64_t before = hx_monotonic_ns();
    uint64_t now = shm_clock_ns(&c);
    assert_in_range(now, before, hx_monotonic_ns());
}

/* Several endpoints of a worker read the clock at different times, and waits begin and end in between. */
static void time_of_endpoints_excludes_waits(void **state)
{
    (void)state;
    struct shm_worker w = {.now = 0};
    struct hal_endpoint ep = {.worker = &w};
    uint64_t random = 1, now = 0, expected = 0;
    for (unsigned n = 0; n < READINGS; n++) {
        uint64_t step = split_mix_next(&random) % 1000;
        now += step;
        expected += w.waits ? 0 : step;
        shm_set_now(&w, now);
        assert_int_equal(hal_now(&ep), expected);
        if (split_mix_next(&random) % 8 == 0)
            w.waits = !w.waits;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_follows_the_systems_time),
        cmocka_unit_test(without_a_counter_it_is_the_systems_clock),
        cmocka_unit_test(time_of_endpoints_excludes_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
