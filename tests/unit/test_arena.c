/* test_arena.c - the named shared memory of a fabric: locked while its owner lives, removed at every end but a kill,
 * and taken over after a kill. */
#include "tests/support/support_arena.h"

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
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 100000 };

static void zeroed_shared_and_removed(void **state)
{
    (void)state;
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    assert_true(arena_is_there());
    for (unsigned i = 0; i < BYTES; i++)
        assert_int_equal(a.base[i], 0);
    if (fork() == 0) {
        a.base[BYTES - 1] = 7;
        shm_arena_close(&a, false); /* as a worker does */
        _exit(0);
    }
    (void)wait(NULL);
    assert_int_equal(a.base[BYTES - 1], 7);
    assert_true(arena_is_there());
    shm_arena_close(&a, true);
    assert_false(arena_is_there());
    int another = open("/dev/null", O_RDONLY); /* takes the descriptor that the arena had */
    shm_arena_close(&a, true);
    assert_int_equal(close(another), 0);
}

static void a_name_in_use_is_refused(void **state)
{
    (void)state;
    struct shm_arena a;
    struct shm_arena b;
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    a.base[0] = 1;
    assert_int_equal(shm_arena_create(&b, arena_name, BYTES), -EEXIST);
    assert_int_equal(a.base[0], 1);
    assert_true(arena_is_there());
    shm_arena_close(&a, true);
    assert_int_equal(shm_arena_create(&b, arena_name, BYTES), 0);
    shm_arena_close(&b, true);
}

enum { MOMENT_NS = 5000000 };

/* A check whether an owner lives locks the object for an instant; this process does so for 5 ms. */
static void hold_for_a_moment(void)
{
    int fd = open(arena_path, O_RDWR);
    if (fd < 0 || flock(fd, LOCK_SH) != 0)
        _exit(1);
    (void)kill(getpid(), SIGSTOP);
    const struct timespec moment = {.tv_nsec = MOMENT_NS};
    (void)nanosleep(&moment, NULL);
    (void)close(fd);
}

static uint64_t time_ns(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Creates over an object that another process locks; returns the result of shm_arena_create, which gives up only after
 * a moment. */
static int create_over_held(struct shm_arena *a)
{
    arena_make_file(0600);
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
    const uint64_t begun = time_ns();
    int error = shm_arena_create(a, arena_name, BYTES);
    assert_true(error == 0 || time_ns() - begun >= MOMENT_NS);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return error;
}

/* On a busy machine the lock may last too long, but not every time. */
static void a_short_lock_is_waited_for(void **state)
{
    (void)state;
    struct shm_arena a;
    int error = -EEXIST;
    for (unsigned n = 0; error == -EEXIST && n < 50; n++) {
        error = create_over_held(&a);
        if (error)
            assert_int_equal(unlink(arena_path), 0);
    }
    assert_int_equal(error, 0);
    shm_arena_close(&a, true);
}

/* All memory is reserved from the start, and no more: for less than one piece, one piece, and a bit more. */
static void all_of_it_is_reserved(void **state)
{
    (void)state;
    static const size_t sizes[] = {BYTES, (size_t)64 << 20, (size_t)65 << 20};
    for (unsigned n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        struct shm_arena a;
        struct stat st;
        assert_int_equal(shm_arena_create(&a, arena_name, sizes[n]), 0);
        assert_int_equal(fstat(a.fd, &st), 0);
        assert_int_equal(st.st_size, sizes[n]);
        assert_true((size_t)st.st_blocks * 512 >= sizes[n]);
        shm_arena_close(&a, true);
    }
}

static void create_and_die(void)
{
    struct shm_arena a;
    if (shm_arena_create(&a, arena_name, 2 * BYTES) != 0)
        _exit(1);
    memset(a.base, 0xFF, 2 * BYTES);
    (void)raise(SIGKILL);
}

static void an_arena_of_a_killed_process_is_taken_over(void **state)
{
    (void)state;
    assert_true(WIFSIGNALED(arena_in_a_process(create_and_die)));
    assert_true(arena_is_there());
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    assert_int_equal(a.base[0], 0);
    assert_int_equal(a.base[BYTES - 1], 0);
    shm_arena_close(&a, true);
    assert_false(arena_is_there());
}

static void create_and_exit(void)
{
    struct shm_arena a;
    if (shm_arena_create(&a, arena_name, BYTES) != 0)
        _exit(1);
    if (access(arena_path, F_OK) != 0)
        _exit(2);
    exit(5); /* as a program does that dies of an error */
}

static void an_owner_that_ends_early_leaves_nothing(void **state)
{
    (void)state;
    int status = arena_in_a_process(create_and_exit);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    assert_false(arena_is_there());
}

static void just_exit(void)
{
    exit(0);
}

static void create_close_and_exit(void)
{
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    shm_arena_close(&a, true);
    arena_make_file(0600); /* the object of another run */
    exit(5);
}

static void a_closed_arena_is_removed_once(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(arena_in_a_process(create_close_and_exit)), 5);
    assert_true(arena_is_there());
    assert_int_equal(unlink(arena_path), 0);
}

static void a_worker_that_ends_early_removes_nothing(void **state)
{
    (void)state;
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    assert_true(WIFEXITED(arena_in_a_process(just_exit)));
    assert_true(arena_is_there());
    shm_arena_close(&a, true);
}

static void a_too_large_arena_leaves_nothing(void **state)
{
    (void)state;
    struct statvfs v;
    if (statvfs("/dev/shm", &v) != 0 || v.f_blocks == 0) {
        print_message("skipped: /dev/shm has no limit here\n");
        skip();
    }
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, arena_name, v.f_blocks * v.f_frsize + 1), -ENOSPC);
    assert_false(arena_is_there());
}

/* An arena that was not made or not found may be closed like any other. */
static void assert_empty(struct shm_arena *a)
{
    assert_null(a->base);
    assert_int_equal(a->fd, -1);
    shm_arena_close(a, true);
    memset(a, 0xFF, sizeof *a);
}

static void a_name_too_long_is_refused(void **state)
{
    (void)state;
    char longer[300];
    struct shm_arena a;
    size_t most = sizeof a.name - sizeof "/" SHM_PREFIX;
    memset(longer, 'x', sizeof longer - 1);
    longer[most] = 0;
    assert_int_equal(shm_arena_create(&a, longer, BYTES), 0);
    assert_string_equal(shm_arena_name(&a), longer);
    shm_arena_close(&a, true);
    for (size_t length = most + 1; length < sizeof longer; length++) {
        memset(longer, 'x', length);
        longer[length] = 0;
        memset(&a, 0xFF, sizeof a);
        assert_int_equal(shm_arena_create(&a, longer, BYTES), -ENAMETOOLONG);
        assert_empty(&a);
        assert_int_equal(shm_arena_attach(&a, longer, BYTES), -ENAMETOOLONG);
        assert_empty(&a);
        assert_int_equal(shm_arena_read(&a, longer), -ENAMETOOLONG);
        assert_empty(&a);
    }
}

static void create_without_addresses(void)
{
    struct shm_arena a;
    const struct rlimit none = {1 << 20, 1 << 20};
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    _exit(shm_arena_create(&a, arena_name, (size_t)4 << 20) == -ENOMEM && !a.base && a.fd == -1 ? 0 : 1);
}

static void attach_without_addresses(void)
{
    struct shm_arena a;
    const struct rlimit none = {1 << 20, 1 << 20};
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    _exit(shm_arena_attach(&a, arena_name, (size_t)4 << 20) == -ENOMEM && !a.base && a.fd == -1 ? 0 : 1);
}

/* A process without address space for the arena leaves nothing behind. */
static void an_arena_that_cannot_be_mapped_is_refused(void **state)
{
    (void)state;
    assert_int_equal(arena_in_a_process(create_without_addresses), 0);
    assert_false(arena_is_there());
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, arena_name, (size_t)4 << 20), 0);
    assert_int_equal(arena_in_a_process(attach_without_addresses), 0);
    shm_arena_close(&a, true);
}

static void count_own(const char *found, void *of)
{
    *(unsigned *)of += strcmp(found, arena_name) == 0;
}

static unsigned times_listed(void)
{
    unsigned times = 0;
    assert_int_equal(shm_arena_each(count_own, &times), 0);
    return times;
}

/* Runs in a child process, since a process does not see its own lock. */
static void attach_beside(void)
{
    struct shm_arena a;
    bool good = shm_arena_attach(&a, arena_name, 4096) == 0 && a.base[7] == 42;
    if (good)
        a.base[8] = 43;
    shm_arena_close(&a, false);
    _exit(good && shm_arena_attach(&a, arena_name, BYTES * 2) == -EPROTO ? 0 : 1);
}

static void others_attach_while_the_owner_lives(void **state)
{
    (void)state;
    struct shm_arena a;
    struct shm_arena other;
    assert_int_equal(shm_arena_attach(&other, arena_name, 4096), -ENOENT);
    assert_int_equal(times_listed(), 0);
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    a.base[7] = 42;
    assert_int_equal(times_listed(), 1);
    assert_int_equal(arena_in_a_process(attach_beside), 0);
    assert_int_equal(a.base[8], 43);
    assert_true(arena_is_there());
    shm_arena_close(&a, true);
    (void)arena_in_a_process(create_and_die);
    assert_true(arena_is_there());
    assert_int_equal(shm_arena_attach(&other, arena_name, 4096), -ESRCH);
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    shm_arena_close(&a, true);
}

/* A check for a living owner keeps no lock. */
static void checks_for_a_living_owner_keep_no_lock(void **state)
{
    (void)state;
    struct shm_arena a;
    arena_make_file(0600);
    int fd = open(arena_path, O_RDWR);
    assert_true(shm_arena_is_dead(fd));
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    (void)close(fd);
    fd = open(arena_path, O_RDWR);
    assert_false(shm_arena_is_dead(fd));
    (void)close(fd);
    shm_arena_close(&a, true);
}

/* A process that outlives the creator uses the arena before and after it was stopped. */
static struct shm_arena outlived;
static void outlive(void)
{
    uint8_t *base = outlived.base;
    assert_int_equal(shm_arena_reopen(&outlived), 0);
    assert_ptr_equal(outlived.base, base);
    base[0]++;
    (void)kill(getpid(), SIGSTOP);
    base[1]++;
    struct stat st;
    assert_int_equal(fstat(outlived.fd, &st), 0);
    shm_arena_close(&outlived, false);
    _exit(fstat(outlived.fd, &st) == 0 ? 1 : 0);
}

/* The memory stays mapped at its address, and the creator's lock ends with the creator. */
static void processes_that_outlive_the_creator_keep_the_memory(void **state)
{
    (void)state;
    assert_int_equal(shm_arena_create(&outlived, arena_name, BYTES), 0);
    outlived.base[0] = 41;
    (void)fflush(NULL);
    pid_t other = fork();
    if (other == 0)
        outlive();
    int status;
    assert_int_equal(waitpid(other, &status, WUNTRACED), other);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(outlived.base[0], 42);
    outlived.base[1] = 6;
    shm_arena_close(&outlived, false);
    int fd = open(arena_path, O_RDWR);
    assert_true(shm_arena_is_dead(fd));
    assert_int_equal(kill(other, SIGCONT), 0);
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
    uint8_t now[2] = {0};
    assert_int_equal(pread(fd, now, 2, 0), 2);
    assert_true(now[0] == 42 && now[1] == 7);
    (void)close(fd);
    assert_int_equal(unlink(arena_path), 0);
}

/* ---- objects of others ---- */

/* The arena is not created over, read, written or removed. */
static void assert_refused(void)
{
    struct shm_arena a;
    struct stat before;
    struct stat after;
    assert_int_equal(lstat(arena_path, &before), 0);
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), -EPERM);
    assert_int_equal(shm_arena_attach(&a, arena_name, 1), -EPERM);
    assert_int_equal(shm_arena_read(&a, arena_name), -EPERM);
    assert_int_equal(lstat(arena_path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
}

static void another_users_file_is_not_taken(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can make another user's file\n");
        skip();
    }
    arena_make_file(0666);
    assert_int_equal(chown(arena_path, 12345, 12345), 0);
    assert_refused();
    (void)shm_arena_clean(NULL);
    assert_true(arena_is_there());
    assert_int_equal(unlink(arena_path), 0);
}

static int read_all(void)
{
    struct shm_arena a;
    int error = shm_arena_read(&a, arena_name);
    bool good = !error && a.bytes == BYTES && a.base[BYTES - 1] == 9 && mprotect(a.base, 1, PROT_WRITE) != 0;
    shm_arena_close(&a, false);
    return error ? -error : good ? 0 : 1;
}

/* Runs in a child process. */
static void validate_sizes(void)
{
    struct shm_arena a;
    bool good = shm_arena_attach(&a, arena_name, BYTES) == 0 && a.bytes == BYTES && a.base[BYTES - 1] == 9;
    shm_arena_close(&a, false);
    _exit(good && shm_arena_attach(&a, arena_name, BYTES + 1) == -EPROTO && read_all() == 0 ? 0 : 1);
}

static void read_beside(void)
{
    _exit(read_all());
}

/* All of an arena can be mapped and read, and no byte beyond it. An empty object is still being created. */
static void an_arena_is_as_large_as_it_was_made(void **state)
{
    (void)state;
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    a.base[BYTES - 1] = 9;
    assert_int_equal(arena_in_a_process(validate_sizes), 0);
    assert_int_equal(ftruncate(a.fd, 0), 0);
    assert_int_equal(WEXITSTATUS(arena_in_a_process(read_beside)), EAGAIN);
    shm_arena_close(&a, true);
    arena_make_file(0600);
    assert_int_equal(WEXITSTATUS(arena_in_a_process(read_beside)), ESRCH);
    assert_int_equal(unlink(arena_path), 0);
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

/* Messages of a run that cannot have its memory. */
static void errors_have_messages(void **state)
{
    (void)state;
    struct shm_arena a;
    struct hx_problem problem;
    assert_problem("", BYTES, HX_EXIT_USAGE, "cannot name a fabric");
    assert_problem("a/b", BYTES, HX_EXIT_USAGE, "cannot name a fabric");
    assert_problem(arena_name, SIZE_MAX / 4, HX_EXIT_ENVIRONMENT,
                   "no room for 4398046511103 MiB of shared memory (fewer boards");
    assert_true(shm_arena_open(&a, arena_name, BYTES, "", NULL, &problem));
    assert_string_equal(shm_arena_name(&a), arena_name);
    assert_problem(arena_name, BYTES, HX_EXIT_ENVIRONMENT, "a fabric of this name is running");
    shm_arena_close(&a, true);
    arena_make_file(0600);
    char other[160];
    (void)snprintf(other, sizeof other, "/dev/shm/other-%s", arena_name);
    assert_int_equal(link(arena_path, other), 0);
    assert_problem(arena_name, BYTES, HX_EXIT_ENVIRONMENT, "is not a file of this user");
    assert_int_equal(unlink(arena_path) + unlink(other), 0);
    assert_true(shm_arena_open(&a, NULL, BYTES, "", NULL, &problem));
    assert_int_equal(strtol(shm_arena_name(&a), NULL, 10), getpid());
    shm_arena_close(&a, true);
}

static void only_regular_files_with_one_name_are_taken(void **state)
{
    (void)state;
    char other[160];
    (void)snprintf(other, sizeof other, "/dev/shm/other-%s", arena_name);
    arena_make_file(0600);
    assert_int_equal(link(arena_path, other), 0);
    assert_refused();
    assert_int_equal(unlink(arena_path), 0);
    assert_int_equal(symlink(other, arena_path), 0);
    assert_refused();
    assert_int_equal(unlink(arena_path), 0);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(mkfifo(arena_path, 0600), 0);
    assert_refused();
    assert_int_equal(unlink(arena_path), 0);
}

/* A process that holds the object of a killed run, or one that was open to all, sees nothing of the new one. */
static void a_leftover_object_is_replaced_by_a_new_file(void **state)
{
    (void)state;
    arena_make_file(0666);
    struct stat left;
    struct stat new;
    assert_int_equal(stat(arena_path, &left), 0);
    int held = open(arena_path, O_RDWR);
    assert_true(held >= 0);
    struct shm_arena a;
    assert_int_equal(shm_arena_create(&a, arena_name, BYTES), 0);
    assert_int_equal(stat(arena_path, &new), 0);
    assert_true(new.st_ino != left.st_ino && (new.st_mode & 0777) == 0600 && new.st_size == BYTES);
    (void)close(held);
    shm_arena_close(&a, true);
}

static bool not_further(void *of, double share)
{
    assert_in_range((int)(share * 100), 0, 100);
    return ++*(unsigned *)of < 2;
}

static void the_watch_ends_the_process(void **state)
{
    (void)state;
    struct shm_arena a;
    unsigned asked = 0;
    const struct shm_watch watch = {not_further, &asked};
    assert_int_equal(shm_arena_create_watched(&a, arena_name, (size_t)200 << 20, &watch), -EINTR);
    assert_int_equal(asked, 2);
    assert_false(arena_is_there());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(zeroed_shared_and_removed),
        ARENA_TEST(a_name_in_use_is_refused),
        ARENA_TEST(a_short_lock_is_waited_for),
        ARENA_TEST(an_arena_of_a_killed_process_is_taken_over),
        ARENA_TEST(an_owner_that_ends_early_leaves_nothing),
        ARENA_TEST(a_worker_that_ends_early_removes_nothing),
        ARENA_TEST(a_closed_arena_is_removed_once),
        ARENA_TEST(all_of_it_is_reserved),
        ARENA_TEST(a_too_large_arena_leaves_nothing),
        ARENA_TEST(an_arena_that_cannot_be_mapped_is_refused),
        ARENA_TEST(a_name_too_long_is_refused),
        ARENA_TEST(others_attach_while_the_owner_lives),
        ARENA_TEST(checks_for_a_living_owner_keep_no_lock),
        ARENA_TEST(processes_that_outlive_the_creator_keep_the_memory),
        ARENA_TEST(another_users_file_is_not_taken),
        ARENA_TEST(only_regular_files_with_one_name_are_taken),
        ARENA_TEST(a_leftover_object_is_replaced_by_a_new_file),
        ARENA_TEST(the_watch_ends_the_process),
        ARENA_TEST(an_arena_is_as_large_as_it_was_made),
        ARENA_TEST(errors_have_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
