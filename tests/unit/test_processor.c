/* test_processor.c - each worker has a core of its own if there are enough; otherwise neighbours share one. */
#include "base/processor.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ASTRAY = CPU_SETSIZE };

/* Number of the worker's core, or ASTRAY. */
static int core_of(unsigned self, unsigned workers)
{
    bool enough = workers <= hx_processor_cores();
    if (hx_processor_keep(self, workers) != enough || (workers > 1 && hx_processor_cores() != 1))
        return ASTRAY;
    return sched_getcpu();
}

/* Pinning is permanent, so each worker reports from a child process. */
static int reported_core(unsigned self, unsigned workers)
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int core = core_of(self, workers);
        _exit(write(pipes[1], &core, sizeof core) == sizeof core ? 0 : 1);
    }
    int core;
    int status;
    assert_int_equal(read(pipes[0], &core, sizeof core), sizeof core);
    assert_true(waitpid(pid, &status, 0) == pid && status == 0);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    return core;
}

static void each_worker_has_its_own_core_if_there_are_enough(void **state)
{
    (void)state;
    unsigned cores = hx_processor_cores();
    bool taken[CPU_SETSIZE] = {false};
    for (unsigned self = 0; self < cores; self++) {
        int core = reported_core(self, cores);
        assert_in_range(core, 0, CPU_SETSIZE - 1);
        assert_false(taken[core]);
        taken[core] = true;
    }
}

/* In runs: as many on each core as on any other, or one more. */
static void neighbours_share_a_core(void **state)
{
    (void)state;
    unsigned cores = hx_processor_cores();
    unsigned workers = 2 * cores + 1;
    unsigned on[CPU_SETSIZE] = {0};
    int last = -1;
    for (unsigned self = 0; self < workers; self++) {
        int core = reported_core(self, workers);
        assert_in_range(core, 0, CPU_SETSIZE - 1);
        assert_true(core >= last);
        last = core;
        on[core]++;
    }
    unsigned used = 0;
    for (unsigned core = 0; core < CPU_SETSIZE; core++) {
        assert_true(on[core] == 0 || on[core] == 2 || on[core] == 3);
        used += on[core] != 0;
    }
    assert_int_equal(used, cores);
}

/* Any result is that of a cache: more than a first-level one, and less than memory. */
static void the_second_cache_has_a_size(void **state)
{
    (void)state;
    assert_in_range(hx_processor_cache(), 128 << 10, 64 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_cache_has_a_size),
        cmocka_unit_test(each_worker_has_its_own_core_if_there_are_enough),
        cmocka_unit_test(neighbours_share_a_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
