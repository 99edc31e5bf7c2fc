/* test_request.c - requests of other processes to a running fabric: each gets its own answer, even after a dead
 * requester. */
#include "base/signals.h"
#include "fabric-emu/live/request.h"
#include "tests/support/shm/support_shm.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOOKS = 5000, LOOK_NS = 1000000, WRONG = 99 };

/* The test is the supervisor, its children send requests. */
static struct support s;

static int open_fabric(void **state)
{
    (void)state;
    support_open(&s, &(struct support_plan){"1x1 Hx2Mesh", .workers = 1, .planes = 1, .message = 1, .count = 1});
    fab_announce(&s.f, &s.clock, HX_CAPTURE_CRC_ON);
    return 0;
}

static int close_fabric(void **state)
{
    (void)state;
    support_close(&s);
    return 0;
}

/* Starts a process that requests `line`, and ends with the code it got, or WRONG if the answer is not the line. */
static pid_t begin_to_ask(const char *line)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    sigset_t set = hx_signals_ending();
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    struct attached a;
    struct hx_problem problem;
    char *answer;
    if (!attach_open(&a, shm_arena_name(&s.f.arena), &problem))
        hx_die_of(&problem);
    int code = request_ask(&a, line, &answer);
    _exit(code || strcmp(answer, line) == 0 ? code : WRONG);
}

static int end_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void look_again(void)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    (void)nanosleep(&look, NULL);
}

static void await_request(struct request *r, const char *line)
{
    unsigned looks = 0;
    for (; !request_take(&s.f, r); looks++) {
        assert_in_range(looks, 0, LOOKS);
        look_again();
    }
    assert_string_equal(r->line, line);
}

/* Waits until this process holds a lock of the arena. */
static void await_lock(pid_t pid)
{
    for (unsigned looks = 0;; looks++) {
        struct flock any = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        assert_int_equal(fcntl(s.f.arena.fd, F_GETLK, &any), 0);
        if (any.l_type != F_UNLCK && any.l_pid == pid)
            return;
        assert_in_range(looks, 0, LOOKS);
        look_again();
    }
}

static void a_request_after_a_dead_one_gets_its_own_answer(void **state)
{
    (void)state;
    struct request first;
    struct request second;
    pid_t dead = begin_to_ask("first");
    await_request(&first, "first");
    (void)kill(dead, SIGKILL);
    assert_int_equal(end_of(dead), -SIGKILL);
    pid_t pid = begin_to_ask("second");
    await_lock(pid);
    request_answer(&s.f, &first, HX_EXIT_DONE, "first");
    await_request(&second, "second");
    request_answer(&s.f, &second, HX_EXIT_DONE, "second");
    assert_int_equal(end_of(pid), HX_EXIT_DONE);
}

static void an_exit_code_comes_with_the_answer(void **state)
{
    (void)state;
    struct request r;
    pid_t pid = begin_to_ask("line");
    await_request(&r, "line");
    request_answer(&s.f, &r, HX_EXIT_CONFIG, "no");
    assert_int_equal(end_of(pid), HX_EXIT_CONFIG);
}

static void an_interrupted_request_stops_waiting(void **state)
{
    (void)state;
    struct request first;
    struct request second;
    pid_t pid = begin_to_ask("first");
    await_request(&first, "first");
    pid_t behind = begin_to_ask("behind"); /* waits for the lock, or will */
    (void)kill(pid, SIGINT);
    assert_int_equal(end_of(pid), HX_EXIT_INTERRUPTED);
    request_answer(&s.f, &first, HX_EXIT_DONE, "first");
    await_request(&second, "behind");
    (void)kill(behind, SIGINT);
    assert_int_equal(end_of(behind), HX_EXIT_INTERRUPTED);
}

int main(void)
{
#define WITH_FABRIC(test) cmocka_unit_test_setup_teardown(test, open_fabric, close_fabric)
    const struct CMUnitTest tests[] = {
        WITH_FABRIC(a_request_after_a_dead_one_gets_its_own_answer),
        WITH_FABRIC(an_exit_code_comes_with_the_answer),
        WITH_FABRIC(an_interrupted_request_stops_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
