/* test_arena.c - the named shared memory of a fabric: held while its owner lives, removed at every end but a kill, and
 * taken over after one. */
#include "host/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 100000 };

static char name[64];
static char path[128];

static int choose_name(void **state)
{
    (void)state;
    static unsigned number;
    (void)snprintf(name, sizeof name, "arena-%ld-%u", (long)getpid(), number++);
    (void)snprintf(path, sizeof path, "/dev/shm/" SHM_PREFIX "%s", name);
    return 0;
}

static bool is_there(void)
{
    return access(path, F_OK) == 0;
}

/* Runs `life` in a process of its own; returns how it ended, as waitpid says. */
static int in_a_process(void (*life)(void))
{
    (void)fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        life();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void zeroed_shared_and_removed(void **state)
{
    (void)state;
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, name, BYTES), 0);
    assert_true(is_there());
    for (unsigned i = 0; i < BYTES; i++)
        assert_int_equal(a.base[i], 0);
    if (fork() == 0) {
        a.base[BYTES - 1] = 7;
        shm_arena_close(&a, false); /* as a worker does */
        _exit(0);
    }
    (void)wait(NULL);
    assert_int_equal(a.base[BYTES - 1], 7);
    assert_true(is_there());
    shm_arena_close(&a, true);
    assert_false(is_there());
    shm_arena_close(&a, true); /* once is enough */
}

static void a_name_in_use_is_refused(void **state)
{
    (void)state;
    struct shm_arena a;
    struct shm_arena b;
    assert_int_equal(shm_arena_create(&a, name, BYTES), 0);
    a.base[0] = 1;
    assert_int_equal(shm_arena_create(&b, name, BYTES), -EEXIST);
    assert_int_equal(a.base[0], 1);
    assert_true(is_there());
    shm_arena_close(&a, true);
    assert_int_equal(shm_arena_create(&b, name, BYTES), 0);
    shm_arena_close(&b, true);
}

static void make_file(mode_t mode)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0 && fchmod(fd, mode) == 0 && ftruncate(fd, 77) == 0);
    (void)close(fd);
}

/* Whoever looks whether an owner lives holds the lock of what was left for a moment, as this process does for 5 ms. */
static void hold_for_a_moment(void)
{
    int fd = open(path, O_RDWR);
    if (fd < 0 || flock(fd, LOCK_SH) != 0)
        _exit(1);
    (void)kill(getpid(), SIGSTOP);
    const struct timespec moment = {.tv_nsec = 5000000};
    (void)nanosleep(&moment, NULL);
    (void)close(fd);
}

/* Creates over what another process holds; returns what shm_arena_create does. */
static int create_over_held(struct shm_arena *a)
{
    make_file(0600);
    (void)fflush(NULL);
    pid_t holder = fork();
    assert_true(holder >= 0);
    if (holder == 0) {
        hold_for_a_moment();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(holder, &status, WUNTRACED), holder);
    assert_true(WIFSTOPPED(status)); /* it has the lock */
    assert_int_equal(kill(holder, SIGCONT), 0);
    int error = shm_arena_create(a, name, BYTES);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return error;
}

/* On a busy machine the moment may be too long, but not every time. */
static void a_lock_of_a_moment_is_waited_for(void **state)
{
    (void)state;
    struct shm_arena a;
    int error = -EEXIST;
    for (unsigned n = 0; error == -EEXIST && n < 50; n++) {
        error = create_over_held(&a);
        if (error)
            assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(error, 0);
    shm_arena_close(&a, true);
}

static void create_and_die(void)
{
    struct shm_arena a;
    if (shm_arena_create(&a, name, 2 * BYTES) != 0)
        _exit(1);
    memset(a.base, 0xFF, 2 * BYTES);
    (void)raise(SIGKILL);
}

static void what_a_killed_one_left_is_taken_over(void **state)
{
    (void)state;
    assert_true(WIFSIGNALED(in_a_process(create_and_die)));
    assert_true(is_there());
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, name, BYTES), 0);
    assert_int_equal(a.base[0], 0);
    assert_int_equal(a.base[BYTES - 1], 0);
    shm_arena_close(&a, true);
    assert_false(is_there());
}

static void create_and_exit(void)
{
    struct shm_arena a;
    if (shm_arena_create(&a, name, BYTES) != 0)
        _exit(1);
    if (access(path, F_OK) != 0)
        _exit(2);
    exit(5); /* as a program does that dies of an error */
}

static void one_that_ends_early_leaves_nothing(void **state)
{
    (void)state;
    int status = in_a_process(create_and_exit);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    assert_false(is_there());
}

static void just_exit(void)
{
    exit(0);
}

static void a_worker_that_ends_early_removes_nothing(void **state)
{
    (void)state;
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, name, BYTES), 0);
    assert_true(WIFEXITED(in_a_process(just_exit)));
    assert_true(is_there());
    shm_arena_close(&a, true);
}

static void what_is_too_much_leaves_nothing(void **state)
{
    (void)state;
    struct statvfs v;
    if (statvfs("/dev/shm", &v) != 0 || v.f_blocks == 0) {
        print_message("skipped: /dev/shm has no limit here\n");
        skip();
    }
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, name, v.f_blocks * v.f_frsize + 1), -ENOSPC);
    assert_false(is_there());
}

static void a_name_too_long_is_refused(void **state)
{
    (void)state;
    char longer[300];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, longer, BYTES), -ENAMETOOLONG);
}

static void count_own(const char *found, void *of)
{
    *(unsigned *)of += strcmp(found, name) == 0;
}

static unsigned times_listed(void)
{
    unsigned times = 0;
    assert_int_equal(shm_arena_each(count_own, &times), 0);
    return times;
}

/* Runs beside the owner: what is in a process of its own sees the owner's lock. */
static void attach_beside(void)
{
    struct shm_arena a;
    bool good = shm_arena_attach(&a, name, 4096) == 0 && a.base[7] == 42;
    if (good)
        a.base[8] = 43;
    shm_arena_close(&a, false);
    _exit(good && shm_arena_attach(&a, name, BYTES * 2) == -EPROTO ? 0 : 1);
}

static void others_attach_while_the_owner_lives(void **state)
{
    (void)state;
    struct shm_arena a;
    struct shm_arena other;
    assert_int_equal(shm_arena_attach(&other, name, 4096), -ENOENT);
    assert_int_equal(times_listed(), 0);
    assert_int_equal(shm_arena_create(&a, name, BYTES), 0);
    a.base[7] = 42;
    assert_int_equal(times_listed(), 1);
    assert_int_equal(in_a_process(attach_beside), 0);
    assert_int_equal(a.base[8], 43);
    assert_true(is_there());
    shm_arena_close(&a, true);
    (void)in_a_process(create_and_die);
    assert_true(is_there());
    assert_int_equal(shm_arena_attach(&other, name, 4096), -ESRCH);
    assert_int_equal(shm_arena_create(&a, name, BYTES), 0);
    shm_arena_close(&a, true);
}

/* ---- what others put there ---- */

/* Neither created over, nor read or written, nor removed. */
static void assert_refused(void)
{
    struct shm_arena a;
    struct stat before;
    struct stat after;
    assert_int_equal(lstat(path, &before), 0);
    assert_int_equal(shm_arena_create(&a, name, BYTES), -EPERM);
    assert_int_equal(shm_arena_attach(&a, name, 1), -EPERM);
    assert_int_equal(shm_arena_read(&a, name), -EPERM);
    assert_int_equal(lstat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
}

static void another_users_file_is_not_taken(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can make another user's file\n");
        skip();
    }
    make_file(0666);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_refused();
    (void)shm_arena_clean(NULL);
    assert_true(is_there());
    assert_int_equal(unlink(path), 0);
}

static int read_all(void)
{
    struct shm_arena a;
    int error = shm_arena_read(&a, name);
    bool good = !error && a.bytes == BYTES && a.base[BYTES - 1] == 9;
    shm_arena_close(&a, false);
    return error ? -error : good ? 0 : 1;
}

/* Runs beside the owner. */
static void judge_sizes(void)
{
    struct shm_arena a;
    bool good = shm_arena_attach(&a, name, BYTES) == 0 && a.bytes == BYTES && a.base[BYTES - 1] == 9;
    shm_arena_close(&a, false);
    _exit(good && shm_arena_attach(&a, name, BYTES + 1) == -EPROTO && read_all() == 0 ? 0 : 1);
}

static void read_beside(void)
{
    _exit(read_all());
}

/* All of an arena can be mapped and read, and not a byte more; one without a byte is only just being made. */
static void an_arena_is_as_large_as_it_was_made(void **state)
{
    (void)state;
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, name, BYTES), 0);
    a.base[BYTES - 1] = 9;
    assert_int_equal(in_a_process(judge_sizes), 0);
    assert_int_equal(ftruncate(a.fd, 0), 0);
    assert_int_equal(WEXITSTATUS(in_a_process(read_beside)), EAGAIN);
    shm_arena_close(&a, true);
    make_file(0600);
    assert_int_equal(WEXITSTATUS(in_a_process(read_beside)), ESRCH);
    assert_int_equal(unlink(path), 0);
}

static void assert_problem(const char *wanted, size_t bytes, int code, const char *what)
{
    struct shm_arena a;
    struct hx_problem problem = {0};
    assert_false(shm_arena_open(&a, wanted, bytes, "fewer boards", NULL, &problem));
    assert_int_equal(problem.exit_code, code);
    if (!strstr(problem.what, what))
        fail_msg("'%s' does not say '%s'", problem.what, what);
}

/* What a run says that cannot have its memory. */
static void errors_are_told_in_words(void **state)
{
    (void)state;
    struct shm_arena a;
    struct hx_problem problem;
    assert_problem("", BYTES, HX_EXIT_USAGE, "cannot name a fabric");
    assert_problem("a/b", BYTES, HX_EXIT_USAGE, "cannot name a fabric");
    assert_problem(name, SIZE_MAX / 4, HX_EXIT_ENVIRONMENT,
                   "no room for 4398046511103 MiB of shared memory (fewer boards");
    assert_true(shm_arena_open(&a, name, BYTES, "", NULL, &problem));
    assert_string_equal(shm_arena_name(&a), name);
    assert_problem(name, BYTES, HX_EXIT_ENVIRONMENT, "a fabric of this name is running");
    shm_arena_close(&a, true);
    make_file(0600);
    char other[160];
    (void)snprintf(other, sizeof other, "/dev/shm/other-%s", name);
    assert_int_equal(link(path, other), 0);
    assert_problem(name, BYTES, HX_EXIT_ENVIRONMENT, "is not a file of this user");
    assert_int_equal(unlink(path) + unlink(other), 0);
    assert_true(shm_arena_open(&a, NULL, BYTES, "", NULL, &problem));
    assert_int_equal(strtol(shm_arena_name(&a), NULL, 10), getpid());
    shm_arena_close(&a, true);
}

static void what_is_no_file_with_one_name_is_not_taken(void **state)
{
    (void)state;
    char other[160];
    (void)snprintf(other, sizeof other, "/dev/shm/other-%s", name);
    make_file(0600);
    assert_int_equal(link(path, other), 0);
    assert_refused();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_refused();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused();
    assert_int_equal(unlink(path), 0);
}

/* Whoever holds what a killed run left, or what was open to all, has nothing of the new one. */
static void what_was_left_is_replaced_by_a_new_file(void **state)
{
    (void)state;
    make_file(0666);
    struct stat left;
    struct stat new;
    assert_int_equal(stat(path, &left), 0);
    int held = open(path, O_RDWR);
    assert_true(held >= 0);
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, name, BYTES), 0);
    assert_int_equal(stat(path, &new), 0);
    assert_true(new.st_ino != left.st_ino && (new.st_mode & 0777) == 0600 && new.st_size == BYTES);
    (void)close(held);
    shm_arena_close(&a, true);
}

static bool not_further(void *of, double share)
{
    assert_in_range((int)(share * 100), 0, 100);
    return ++*(unsigned *)of < 2;
}

static void the_watch_ends_it(void **state)
{
    (void)state;
    struct shm_arena a;
    unsigned asked = 0;
    const struct shm_watch watch = {not_further, &asked};
    assert_int_equal(shm_arena_create_watched(&a, name, (size_t)200 << 20, &watch), -EINTR);
    assert_int_equal(asked, 2);
    assert_false(is_there());
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup(function, choose_name)
    const struct CMUnitTest tests[] = {
        TEST(zeroed_shared_and_removed),
        TEST(a_name_in_use_is_refused),
        TEST(a_lock_of_a_moment_is_waited_for),
        TEST(what_a_killed_one_left_is_taken_over),
        TEST(one_that_ends_early_leaves_nothing),
        TEST(a_worker_that_ends_early_removes_nothing),
        TEST(what_is_too_much_leaves_nothing),
        TEST(a_name_too_long_is_refused),
        TEST(others_attach_while_the_owner_lives),
        TEST(another_users_file_is_not_taken),
        TEST(what_is_no_file_with_one_name_is_not_taken),
        TEST(what_was_left_is_replaced_by_a_new_file),
        TEST(the_watch_ends_it),
        TEST(an_arena_is_as_large_as_it_was_made),
        TEST(errors_are_told_in_words),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
