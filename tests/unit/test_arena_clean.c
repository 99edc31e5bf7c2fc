/* test_arena_clean.c - cleaning removes objects of killed runs from /dev/shm, and keeps locked ones and those of
 * other users. Every descriptor number works, in a process started without some. */
#include "tests/support/support_arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 100000 };

/* ---- clean ---- */

/* Reported objects: names by their first letter behind the prefix. */
static struct {
    unsigned found, removed;
    size_t bytes;
} reported['z' + 1];

static void note(const char *name, bool removed, size_t bytes)
{
    assert_memory_equal(name, SHM_PREFIX, strlen(SHM_PREFIX));
    unsigned char first = (unsigned char)name[strlen(SHM_PREFIX)];
    assert_in_range(first, 'a', 'z');
    reported[first].found++;
    reported[first].removed += removed;
    reported[first].bytes = bytes;
}

/* Makes a file without a lock; returns its descriptor. */
static int make(const char *path, size_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
    return fd;
}

static void assert_reported(char first, unsigned found, unsigned removed, size_t bytes)
{
    unsigned at = (unsigned char)first;
    assert_int_equal(reported[at].found, found);
    assert_int_equal(reported[at].removed, removed);
    assert_int_equal(reported[at].bytes, bytes);
}

static bool is_at(const char *path)
{
    return access(path, F_OK) == 0;
}

/* An object with the longest name that a file can have. */
static void make_longest(char *path, size_t bytes)
{
    (void)snprintf(path, bytes, "/dev/shm/" SHM_PREFIX);
    memset(path + strlen(path), 'l', NAME_MAX - strlen(SHM_PREFIX));
    (void)close(make(path, 5));
}

static void clean_among_others(void)
{
    static char longest[64 + NAME_MAX];
    (void)close(make("/dev/shm/" SHM_PREFIX "a", 5000));
    int held = make("/dev/shm/" SHM_PREFIX "h", 300);
    assert_int_equal(flock(held, LOCK_EX), 0);
    int read = make("/dev/shm/" SHM_PREFIX "r", 400);
    assert_int_equal(flock(read, LOCK_SH), 0);
    (void)close(make("/dev/shm/other", 7));
    (void)close(make("/dev/shm/my-" SHM_PREFIX "b", 7));
    assert_int_equal(mkfifo("/dev/shm/" SHM_PREFIX "p", 0600), 0);
    make_longest(longest, sizeof longest);
    assert_int_equal(shm_arena_clean(note), 2);
    assert_reported('a', 1, 1, 5000);
    assert_reported('h', 1, 0, 300);
    assert_reported('r', 1, 0, 400);
    assert_reported('l', 1, 1, 5);
    assert_reported('p', 0, 0, 0); /* not a regular file */
    assert_reported('b', 0, 0, 0);
    assert_false(is_at("/dev/shm/" SHM_PREFIX "a") || is_at(longest));
    assert_true(is_at("/dev/shm/" SHM_PREFIX "h") && is_at("/dev/shm/" SHM_PREFIX "r"));
    assert_true(is_at("/dev/shm/" SHM_PREFIX "p") && is_at("/dev/shm/other"));
    (void)close(held);
    (void)close(read);
    assert_int_equal(shm_arena_clean(NULL), 2); /* without a report */
    assert_int_equal(shm_arena_clean(note), 0);
}

/* Runs `life` in a child process; its assertions fail the test. */
static void validated(void (*life)(void))
{
    (void)arena_choose_name(NULL);
    life();
    (void)arena_validate_closed(NULL);
}

static void clean_validated(void)
{
    validated(clean_among_others);
}

static void unlocked_objects_are_removed(void **state)
{
    (void)state;
    assert_int_equal(arena_in_own_shm(clean_validated, "16m"), 0);
}

/* ---- room ---- */

static void create_one(void)
{
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    shm_arena_close(&a, true);
}

static void without_a_limit_there_is_room(void **state)
{
    (void)state;
    assert_int_equal(arena_in_own_shm(create_one, NULL), 0);
}

/* ---- descriptor 0 ---- */

static void with_descriptor_0(void)
{
    struct shm_arena a;
    arena_make_file(0600);
    (void)close(0);
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0); /* it takes over the leftover object */
    assert_int_equal(a.fd, 0);
    assert_int_equal(shm_arena_reopen(&a), 0);
    assert_int_not_equal(a.fd, 0);
    assert_int_equal(shm_arena_reopen(&a), 0);
    assert_int_equal(a.fd, 0);
    a.base[0] = 1;
    shm_arena_close(&a, true);
    arena_make_file(0600);
    assert_int_equal(shm_arena_clean(NULL), 1);
    assert_false(arena_is_there());
}

static void without_descriptor_0(void)
{
    (void)close(0);
    validated(with_descriptor_0);
}

static void attach_with_descriptor_0(void)
{
    struct shm_arena a;
    (void)close(0);
    assert_int_equal(shm_arena_attach(&a, arena_name, BYTES), 0);
    assert_int_equal(a.fd, 0);
    a.base[1] = 2;
    shm_arena_close(&a, false);
}

static void a_process_without_stdin(void **state)
{
    (void)state;
    struct shm_arena a;
    assert_int_equal(arena_in_own_shm(without_descriptor_0, "16m"), 0);
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    assert_int_equal(arena_in_a_process(attach_with_descriptor_0), 0);
    assert_int_equal(a.base[1], 2);
    shm_arena_close(&a, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(unlocked_objects_are_removed),
        ARENA_TEST(without_a_limit_there_is_room),
        ARENA_TEST(a_process_without_stdin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
