/* test_arena.c - memory of a worker under the virtual clock: disjoint pieces, returned rings, and as many packets as
 * its pool states. */
#include "base/error.h"
#include "hal/virtual/arena.h"
#include "hal/virtual/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* ---- pieces ---- */

static bool is_zero(const uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (at[i])
            return false;
    }
    return true;
}

/* Pieces of many sizes, in all much more than the arena requests at once: each is zero and belongs to one caller. */
static void pieces_do_not_overlap(void **state)
{
    (void)state;
    enum { PIECES = 200 };
    static const size_t sizes[] = {1, 63, 64, 65, 4096, 1000003, MIB, 2 * MIB + 1, 17 * MIB, 80 * MIB};
    static struct {
        uint8_t *at;
        size_t bytes;
    } piece[PIECES];
    for (unsigned n = 0; n < PIECES; n++) {
        size_t bytes = sizes[n % (sizeof sizes / sizeof *sizes)];
        uint8_t *at = virtual_arena_take(bytes);
        assert_int_equal((uintptr_t)at % 64, 0);
        assert_true(is_zero(at, bytes < 4096 ? bytes : 4096) && at[bytes - 1] == 0);
        memset(at, 0xFF, bytes < 4096 ? bytes : 4096);
        at[bytes - 1] = 0xFF;
        for (unsigned before = 0; before < n; before++)
            assert_true(at + bytes <= piece[before].at || piece[before].at + piece[before].bytes <= at);
        piece[n].at = at;
        piece[n].bytes = bytes;
    }
}

/* A byte here and there of 64 MiB is touched: each costs a page, not a huge one. */
static void sparse_memory_takes_small_pages(void **state)
{
    (void)state;
    enum { TOUCHED = 16 };
    uint8_t *before = virtual_arena_take_small(1);
    assert_ptr_equal(virtual_arena_take_small(65), before + 64);
    uint8_t *at = virtual_arena_take_small(64 * MIB);
    for (size_t n = 0; n < TOUCHED; n++) {
        assert_int_equal(at[n * 4 * MIB], 0);
        at[n * 4 * MIB] = 1;
    }
    static uint8_t there[64 * MIB / 4096];
    unsigned pages = 0;
    assert_int_equal(mincore(at, 64 * MIB, there), 0);
    for (size_t page = 0; page < 64 * MIB / (size_t)sysconf(_SC_PAGESIZE); page++)
        pages += there[page] & 1;
    assert_int_equal(pages, TOUCHED);
}

/* Small pieces are contiguous, so that data used together shares cache lines. */
static void small_pieces_follow_each_other(void **state)
{
    (void)state;
    uint8_t *first = virtual_arena_take(1);
    assert_ptr_equal(virtual_arena_take(65), first + 64);
    assert_ptr_equal(virtual_arena_take(1), first + 192);
    (void)virtual_arena_take(500 * MIB);
    assert_ptr_equal(virtual_arena_take(1), first + 256); /* large pieces are elsewhere */
}

static void large_pieces_have_all_their_bytes(void **state)
{
    (void)state;
    static const size_t sizes[] = {16 * MIB - 64, 16 * MIB, 16 * MIB + 1, 64 * MIB, 64 * MIB + 1, 5 * GIB};
    for (unsigned n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        uint8_t *at = virtual_arena_take(sizes[n]);
        assert_int_equal((uintptr_t)at % 64, 0);
        at[0] = at[sizes[n] - 1] = 1;
        at = virtual_arena_reserve(sizes[n]);
        assert_int_equal((uintptr_t)at % (2 * MIB), 0); /* a huge page */
        at[0] = at[sizes[n] - 1] = 1;
    }
}

/* Runs it in a child process; returns its exit code, and its stderr in `said`. */
static char said[500];
static int exit_of(void (*life)(void))
{
    int pipe_of[2];
    assert_int_equal(pipe(pipe_of), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (dup2(pipe_of[1], STDERR_FILENO) < 0)
            _exit(HX_EXIT_USAGE);
        life();
        _exit(HX_EXIT_DONE);
    }
    (void)close(pipe_of[1]);
    memset(said, 0, sizeof said);
    assert_true(read(pipe_of[0], said, sizeof said - 1) >= 0);
    (void)close(pipe_of[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void reserve_too_much(void)
{
    (void)virtual_arena_reserve((size_t)1 << 60);
}

static void a_refused_allocation_ends_the_run(void **state)
{
    (void)state;
    assert_int_equal(exit_of(reserve_too_much), HX_EXIT_ENVIRONMENT);
    assert_non_null(strstr(said, "cannot reserve 1099511627776 MiB of addresses"));
}

/* ---- rings ---- */

/* A returned ring is the next one of its power of two, and of no other; the last one returned is first. */
static void rings_are_reused(void **state)
{
    (void)state;
    for (size_t size = 64; size <= 64 * 1024; size *= 2) {
        void *a = virtual_arena_take_ring(size);
        void *b = virtual_arena_take_ring(size / 2 + 1); /* of 33 bytes and more: at least 64 */
        assert_ptr_not_equal(a, b);
        virtual_arena_give_ring(NULL, size); /* without a ring */
        virtual_arena_give_ring(a, size);
        virtual_arena_give_ring(b, size / 2 + 1);
        void *smaller = size > 64 ? virtual_arena_take_ring(size / 2) : NULL;
        void *larger = virtual_arena_take_ring(size + 1);
        assert_true(smaller != a && smaller != b && larger != a && larger != b);
        assert_ptr_equal(virtual_arena_take_ring(size), b);
        assert_ptr_equal(virtual_arena_take_ring(size / 2 + 1), a);
        void *other = virtual_arena_take_ring(size);
        assert_true(other != a && other != b);
    }
}

/* A ring has room for the whole power of two, and no more. */
static void rings_do_not_overlap(void **state)
{
    (void)state;
    for (size_t size = 64; size <= 64 * 1024; size *= 2) {
        uint8_t *a = virtual_arena_take_ring(size / 2 + 1);
        uint8_t *b = virtual_arena_take(1);
        assert_ptr_equal(b, a + size);
    }
    uint8_t *least = virtual_arena_take_ring(1);
    uint8_t *next = virtual_arena_take_ring(1);
    assert_int_equal(next - least, 64);
}

/* ---- a limit of addresses ---- */

/* Addresses that this process has. */
static size_t addresses(void)
{
    char text[128] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    assert_true(f && fgets(text, sizeof text, f));
    (void)fclose(f);
    return strtoul(text, NULL, 10) * 4096;
}

/* Reserves what fits in 4 GiB more, and as much again. */
static void reserve_under_a_limit(void)
{
    const rlim_t most = addresses() + 4 * GIB;
    const struct rlimit limit = {most, most};
    bool good = setrlimit(RLIMIT_AS, &limit) == 0;
    uint64_t fits = virtual_arena_fit(64 * GIB, 1);
    good = good && fits >= GIB / 2 && fits <= 2 * GIB;
    uint8_t *at = virtual_arena_reserve(fits);
    at[fits - 1] = 1;
    (void)virtual_arena_reserve(fits - 4 * MIB); /* places of huge pages take a little more */
    _exit(good ? HX_EXIT_DONE : HX_EXIT_FAILED);
}

static void a_reservation_fits_a_limit_of_addresses(void **state)
{
    (void)state;
    assert_int_equal(virtual_arena_fit(1000, 64), 1000);
    assert_int_equal(virtual_arena_fit((uint64_t)1 << 26, 128), 1 << 26);
    assert_int_equal(exit_of(reserve_under_a_limit), HX_EXIT_DONE);
}

/* ---- the pool ---- */

static struct virtual_pool pool;

static void the_pool_has_its_stated_size(void **state)
{
    (void)state;
    for (unsigned payload = 0; payload < 2; payload++) {
        virtual_pool_open(&pool, payload);
        assert_int_equal(pool.stride, payload ? HX_MAX_FRAME : VIRTUAL_HEADER_FRAME);
        assert_true((uint64_t)pool.limit * pool.stride <= 64 * GIB);
        assert_true(pool.limit == 1U << 26 || ((uint64_t)pool.limit + 1) * pool.stride > 64 * GIB);
        for (unsigned n = 0; n < 3; n++) {
            assert_int_equal(virtual_pool_used(&pool), n);
            assert_int_equal(virtual_pool_get(&pool), n);
            assert_ptr_equal(virtual_pool_frame(&pool, n), pool.frames + (size_t)n * pool.stride);
        }
        uint8_t *last = virtual_pool_frame(&pool, pool.limit - 1);
        last[0] = last[pool.stride - 1] = 1;
        pool.freed[pool.limit - 1] = 1;
        const uint8_t *freed = (const uint8_t *)pool.freed;
        assert_true(freed + (size_t)pool.limit * sizeof *pool.freed <= pool.frames || freed > last);
        virtual_pool_put(&pool, 0);
        virtual_pool_put(&pool, 2);
        assert_int_equal(virtual_pool_used(&pool), 1);
        assert_int_equal(virtual_pool_get(&pool), 2); /* freed last, taken first */
        assert_int_equal(virtual_pool_get(&pool), 0);
        assert_int_equal(virtual_pool_get(&pool), 3);
    }
}

static void get_one_too_many(void)
{
    (void)virtual_pool_get(&pool);
}

static void a_pool_without_buffers_ends_the_run(void **state)
{
    (void)state;
    virtual_pool_open(&pool, false);
    pool.limit = 2;
    (void)virtual_pool_get(&pool);
    assert_int_equal(exit_of(get_one_too_many), HX_EXIT_DONE);
    (void)virtual_pool_get(&pool);
    assert_int_equal(exit_of(get_one_too_many), HX_EXIT_ENVIRONMENT);
    assert_non_null(strstr(said, "more than 2 packets in flight"));
    virtual_pool_put(&pool, 1);
    assert_int_equal(exit_of(get_one_too_many), HX_EXIT_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pieces_follow_each_other),
        cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(sparse_memory_takes_small_pages),
        cmocka_unit_test(large_pieces_have_all_their_bytes),
        cmocka_unit_test(a_refused_allocation_ends_the_run),
        cmocka_unit_test(rings_are_reused),
        cmocka_unit_test(rings_do_not_overlap),
        cmocka_unit_test(a_reservation_fits_a_limit_of_addresses),
        cmocka_unit_test(the_pool_has_its_stated_size),
        cmocka_unit_test(a_pool_without_buffers_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
