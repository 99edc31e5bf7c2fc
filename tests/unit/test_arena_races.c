/* test_arena_races.c - other processes remove, take or lock an arena's name while it is opened, locked, checked and
 * removed.
 *
 * The system calls of arena.c are replaced by functions of this file. Before the real call they let the other
 * process act, which is this process too. */
#include "tests/support/support_arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum call { OPEN, LOCK, UNLINK, CALLS };

/* Action of the other process before the n-th of these calls; once. */
static struct {
    void (*act)(void);
    enum call call;
    unsigned before; /* calls until then; 1: the next one */
} other;
static int held = -1; /* descriptor of the other process */
static int unlink_error;

static void other_acts(enum call call)
{
    if (other.act && other.call == call && --other.before == 0) {
        void (*act)(void) = other.act;
        other.act = NULL;
        act();
    }
}

static void before_call(enum call call, unsigned number, void (*act)(void))
{
    other.act = act;
    other.call = call;
    other.before = number;
}

/* These three replace the library's functions in every suite of the runner. */
int shm_open(const char *name, int oflag, mode_t mode)
{
    char path[NAME_MAX + 16];
    other_acts(OPEN);
    (void)snprintf(path, sizeof path, "/dev/shm%s", name);
    return open(path, oflag | O_CLOEXEC | O_NOFOLLOW, mode);
}

int flock(int fd, int operation)
{
    other_acts(LOCK);
    return (int)syscall(SYS_flock, fd, operation);
}

int shm_unlink(const char *name)
{
    char path[NAME_MAX + 16];
    other_acts(UNLINK);
    if (unlink_error) {
        errno = unlink_error;
        return -1;
    }
    (void)snprintf(path, sizeof path, "/dev/shm%s", name);
    return unlink(path);
}

/* ---- the other process ---- */

static void removes(void)
{
    assert_int_equal(unlink(arena_path), 0);
}

static void locks(void)
{
    held = open(arena_path, O_RDWR | O_CLOEXEC);
    assert_true(held >= 0);
    assert_int_equal(syscall(SYS_flock, held, LOCK_EX | LOCK_NB), 0);
}

/* Another fabric starts under this name. */
static void takes(void)
{
    removes();
    arena_make_file(0600);
    locks();
}

static void ends(void)
{
    (void)close(held);
    held = -1;
    (void)unlink(arena_path);
}

/* ---- the promises ---- */

/* The arena is the object of that name, and locked. */
static void validate_created(struct shm_arena *a)
{
    struct stat by_name;
    struct stat by_fd;
    assert_int_equal(stat(arena_path, &by_name), 0);
    assert_int_equal(fstat(a->fd, &by_fd), 0);
    assert_true(by_name.st_ino == by_fd.st_ino);
    int fd = open(arena_path, O_RDWR | O_CLOEXEC);
    assert_int_equal(syscall(SYS_flock, fd, LOCK_EX | LOCK_NB), -1);
    (void)close(fd);
    shm_arena_close(a, true);
    assert_false(arena_is_there());
}

static void an_object_removed_before_its_lock_is_created_again(void **state)
{
    (void)state;
    struct shm_arena a;
    before_call(LOCK, 1, removes);
    assert_int_equal(shm_arena_create(&a, arena_name, 4096), 0);
    validate_created(&a);
}

/* The same if the object has descriptor 0. */
static void without_standard_input(void)
{
    struct shm_arena a;
    (void)close(0);
    before_call(LOCK, 1, removes);
    if (shm_arena_create(&a, arena_name, 4096) != 0)
        _exit(1);
    bool first = a.fd == 0;
    shm_arena_close(&a, true);
    _exit(first ? 0 : 2);
}

static void descriptor_zero_is_usable(void **state)
{
    (void)state;
    assert_int_equal(arena_in_a_process(without_standard_input), 0);
}

static void refused_before_lock(void (*act)(void))
{
    struct shm_arena a;
    before_call(LOCK, 1, act);
    assert_int_equal(shm_arena_create(&a, arena_name, 4096), -EEXIST);
    assert_true(arena_is_there());
    ends();
}

static void a_name_that_another_fabric_takes_meanwhile_is_refused(void **state)
{
    (void)state;
    refused_before_lock(takes);
}

static void an_object_that_another_process_locks_first_is_refused(void **state)
{
    (void)state;
    refused_before_lock(locks);
}

/* The object of a killed run vanishes before it is checked or removed: the arena is created all the same. */
static void a_leftover_object_may_vanish(void **state)
{
    (void)state;
    static const struct {
        enum call call;
        unsigned before;
    } moments[] = {{OPEN, 2}, {LOCK, 1}, {UNLINK, 1}};
    for (unsigned i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct shm_arena a;
        arena_make_file(0600);
        before_call(moments[i].call, moments[i].before, removes);
        assert_int_equal(shm_arena_create(&a, arena_name, 4096), 0);
        assert_null(other.act);
        validate_created(&a);
    }
}

/* The object of a killed run is replaced by another fabric's before the lock: that fabric stays. */
static void a_leftover_object_may_be_replaced(void **state)
{
    (void)state;
    struct shm_arena a;
    arena_make_file(0600);
    before_call(LOCK, 1, takes);
    assert_int_equal(shm_arena_create(&a, arena_name, 4096), -EEXIST);
    assert_true(arena_is_there());
    ends();
}

static void an_object_that_cannot_be_removed_is_reported(void **state)
{
    (void)state;
    struct shm_arena a;
    arena_make_file(0600);
    unlink_error = EROFS;
    assert_int_equal(shm_arena_create(&a, arena_name, 4096), -EROFS);
    unlink_error = 0;
    removes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(an_object_removed_before_its_lock_is_created_again),
        ARENA_TEST(descriptor_zero_is_usable),
        ARENA_TEST(a_name_that_another_fabric_takes_meanwhile_is_refused),
        ARENA_TEST(an_object_that_another_process_locks_first_is_refused),
        ARENA_TEST(a_leftover_object_may_vanish),
        ARENA_TEST(a_leftover_object_may_be_replaced),
        ARENA_TEST(an_object_that_cannot_be_removed_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
