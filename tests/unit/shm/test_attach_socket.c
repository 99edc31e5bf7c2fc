/* test_attach_socket.c - the attach socket of a fabric (program/attach_socket.h, fabric-emu/live/attach_server.h): a
 * valid request gets a descriptor of its own for memory that cannot shrink, and nothing else. The requester
 * validates what it gets. */
#include "fabric-emu/live/attach_server.h"
#include "hal/wire/passing.h"
#include "program/attach_socket.h"
#include "tests/support/shm/support_lingering.h"
#include "tests/support/support_arena.h"
#include "tests/support/support_fabric.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIVES = 2 /* the host that a program may attach to */, TICK_MS = 5 };

static struct hx_fabric fabric;
static struct programs programs;
static struct attach_server attach_server;
static pid_t supervisor;

static _Noreturn void serve(void)
{
    for (;;) {
        struct pollfd wait = {.fd = attach_server_poll_fd(&attach_server), .events = POLLIN};
        (void)poll(&wait, 1, TICK_MS);
        attach_server_answer(&attach_server, &programs);
        (void)attach_server_ended(&attach_server, waitpid(-1, NULL, WNOHANG));
    }
}

static int set_up(void **state)
{
    struct hx_problem problem;
    (void)arena_choose_name(state);
    fabric_make(&fabric, "1x1 Hx2Mesh");
    programs = (struct programs){.g = &fabric, .at = calloc(fabric.hosts, sizeof *programs.at)};
    assert_int_equal(attachment_make(&programs.at[LIVES], fabric.hosts), 0);
    *programs.at[LIVES].head = (struct attachment_head){
        .magic = ATTACHMENT_MAGIC, .version = ATTACHMENT_VERSION, .host = LIVES, .hosts = fabric.hosts};
    assert_true(attach_server_open(&attach_server, arena_name, &problem));
    supervisor = fork();
    if (supervisor == 0)
        serve();
    return 0;
}

static void end_supervisor(void)
{
    if (supervisor > 0) {
        assert_int_equal(kill(supervisor, SIGKILL), 0);
        assert_int_equal(waitpid(supervisor, NULL, 0), supervisor);
    }
    supervisor = 0;
}

static int tear_down(void **state)
{
    end_supervisor();
    attach_server_close(&attach_server);
    attachment_close(&programs.at[LIVES]);
    free(programs.at);
    hx_fabric_free(&fabric);
    return arena_validate_closed(state);
}

/* The test reads the worker's wakeups itself: the supervisor's other end receives them. */
static int ask(const char *host)
{
    int wakeup_fd = -1;
    eventfd_t calls;
    int attach_socket = attach_socket_find(arena_name);
    assert_true(attach_socket >= 0);
    int answer = attach_socket_request(attach_socket, host, &wakeup_fd);
    (void)close(attach_socket);
    if (answer < 0)
        return answer;
    assert_int_equal(eventfd_write(wakeup_fd, 3), 0);
    assert_int_equal(eventfd_read(programs.at[LIVES].wakeup_fd, &calls), 0);
    assert_int_equal(calls, 3);
    (void)close(wakeup_fd);
    return answer;
}

/* ---- answers ---- */

static void attached_memory_keeps_its_size(void **state)
{
    (void)state;
    int fd = ask("2");
    assert_true(fd >= 0);
    for (off_t more = -4096; more <= 4096; more += 8192) {
        assert_int_equal(ftruncate(fd, (off_t)programs.at[LIVES].bytes + more), -1);
        assert_int_equal(errno, EPERM);
    }
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1); /* or a program could take the memory from the
                                                                 * supervisor */
    assert_int_equal(errno, EPERM);
    (void)close(fd);
}

static void each_requester_has_its_own_lock(void **state)
{
    (void)state;
    struct attachment first;
    struct attachment second;
    int fd = ask("a0,1");
    int other = ask("h2");
    assert_false(attachment_is_held(&programs.at[LIVES]));
    assert_int_equal(attachment_hold(&first, fd, -1), 0);
    assert_int_equal(first.head->host, LIVES);
    assert_true(attachment_is_held(&programs.at[LIVES]));
    assert_int_equal(attachment_hold(&second, other, -1), -EBUSY);
    attachment_close(&first);
    assert_false(attachment_is_held(&programs.at[LIVES]));
    assert_int_equal(attachment_hold(&second, other, -1), 0);
    attachment_close(&second);
}

static void absent_hosts_are_not_found(void **state)
{
    (void)state;
    char longest[200];
    memset(longest, '1', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    const char *const names[] = {"", "4", "1", "a1,0", "a9,9", "-1", "2 ", "0x2", "4294967298", longest};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(ask(names[i]), -ENOENT);
}

/* ---- invalid requests ---- */

static void garbage_gets_nothing_and_does_no_harm(void **state)
{
    (void)state;
    int attach_socket = attach_socket_find(arena_name);
    struct attach_request q = {.magic = ATTACH_SOCKET_MAGIC, .version = ATTACHMENT_VERSION, .host = "2"};
    int pair[2];
    char byte;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_true(send(attach_socket, &q, sizeof q, 0) == sizeof q); /* no descriptor for an answer */
    assert_true(passing_send(attach_socket, &q, sizeof q - 1, pair[1], 0));
    assert_true(passing_send(attach_socket, &q, sizeof q, STDERR_FILENO, 0)); /* not a socket */
    q.magic++;
    assert_true(passing_send(attach_socket, &q, sizeof q, pair[1], 0));
    (void)close(pair[1]);
    assert_int_equal(read(pair[0], &byte, 1), 0); /* every descriptor is closed, nothing arrived */
    (void)close(pair[0]);
    (void)close(attach_socket);
    int fd = ask("2");
    assert_true(fd >= 0);
    (void)close(fd);
}

static void another_version_gets_an_error(void **state)
{
    (void)state;
    int attach_socket = attach_socket_find(arena_name);
    struct attach_request q = {.magic = ATTACH_SOCKET_MAGIC, .version = ATTACHMENT_VERSION + 1, .host = "2"};
    struct attach_reply a;
    int pair[2];
    int passed;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_true(passing_send(attach_socket, &q, sizeof q, pair[1], 0));
    assert_int_equal(passing_receive(pair[0], &a, sizeof a, &passed, 0), sizeof a);
    assert_int_equal(a.error, -EPROTO);
    assert_int_equal(passed, -1);
    (void)close(pair[0]);
    (void)close(pair[1]);
    (void)close(attach_socket);
}

/* ---- after a program ---- */

static void overwritten_memory_is_restored_for_the_next_program(void **state)
{
    (void)state;
    struct attachment at;
    struct hx_coordinate last = hx_address_of(&fabric, fabric.hosts - 1);
    assert_int_equal(attachment_hold(&at, ask("2"), -1), 0);
    memset(at.head, 0xff, sizeof *at.head);
    memset(at.address, 0xff, fabric.hosts * sizeof *at.address);
    attachment_close(&at);
    assert_int_equal(attachment_hold(&at, ask("2"), -1), 0);
    assert_int_equal(at.head->host, LIVES);
    assert_int_equal(at.hosts, fabric.hosts);
    assert_int_equal(atomic_load(&at.head->ended), 0);
    assert_int_equal(at.address[fabric.hosts - 1][0], last.addr_hi);
    assert_int_equal(at.address[fabric.hosts - 1][1], last.addr_lo);
    attachment_close(&at);
}

/* ---- slow closes ---- */

/* A socket with that descriptor in its queue. */
static int wrapped(int fd)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_true(passing_send(pair[0], "", 1, fd, 0));
    (void)close(fd);
    (void)close(pair[0]);
    return pair[1];
}

/* More descriptors than any requester sends. */
static void ask_by_many(int attach_socket, const struct attach_request *q, int fd)
{
    enum { MANY = 5 };
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int[MANY]))];
    } room = {.header = {.cmsg_len = CMSG_LEN(sizeof(int[MANY])), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    const int many[MANY] = {fd, fd, fd, fd, fd};
    struct iovec part = {.iov_base = (void *)(uintptr_t)q, .iov_len = sizeof *q};
    const struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room.bytes};
    memcpy(CMSG_DATA(&room.header), many, sizeof many);
    assert_int_equal(sendmsg(attach_socket, &message, 0), sizeof *q);
}

static void a_slow_close_delays_no_requester(void **state)
{
    (void)state;
    enum { ITSELF, BESIDE_OTHERS, WITHIN_ANOTHER, CASES };
    const struct attach_request q = {.magic = ATTACH_SOCKET_MAGIC, .version = ATTACHMENT_VERSION, .host = "2"};
    int attach_socket = attach_socket_find(arena_name);
    int peer[CASES];
    for (unsigned which = 0; which < CASES; which++) {
        int fd = lingering_open(&peer[which]);
        if (fd < 0)
            skip();
        if (which == WITHIN_ANOTHER)
            fd = wrapped(fd);
        assert_int_equal(kill(supervisor, SIGSTOP), 0); /* the supervisor's close is to be the last */
        if (which == BESIDE_OTHERS)
            ask_by_many(attach_socket, &q, fd);
        else
            assert_true(passing_send(attach_socket, &q, sizeof q, fd, 0));
        (void)close(fd);
        assert_int_equal(kill(supervisor, SIGCONT), 0);
        int answer = ask("2");
        assert_true(answer >= 0);
        (void)close(answer);
    }
    for (unsigned which = 0; which < CASES; which++)
        (void)close(peer[which]);
    (void)close(attach_socket);
}

/* ---- dead and foreign sockets ---- */

/* Closes as the end of a process does: the name stays. */
static void let_go(struct attach_server *p)
{
    (void)close(p->attach_socket);
    p->attach_socket = -1;
}

static void a_dead_socket_is_replaced(void **state)
{
    (void)state;
    struct hx_problem problem;
    end_supervisor();
    int again = attach_socket_find(arena_name); /* this process has it open as well */
    assert_true(again >= 0);
    (void)close(again);
    let_go(&attach_server);
    assert_int_equal(attach_socket_find(arena_name), -ENOENT);
    assert_true(attach_server_open(&attach_server, arena_name, &problem));
    struct attach_server second;
    assert_false(attach_server_open(&second, arena_name, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_ENVIRONMENT);
    assert_false(attach_server_remove_dead(arena_name));
    let_go(&attach_server);
    assert_true(attach_server_has_socket(arena_name));
    assert_true(attach_server_remove_dead(arena_name));
    assert_false(attach_server_has_socket(arena_name));
    assert_false(attach_server_remove_dead(arena_name));
    assert_true(attach_server_open(&attach_server, arena_name, &problem));
}

static void another_users_socket_is_ignored(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a file to another user */
    assert_int_equal(chown(attach_server.name.sun_path, 65534, 65534), 0);
    assert_int_equal(attach_socket_find(arena_name), -ENOENT);
    assert_false(attach_server_remove_dead(arena_name));
}

/* ---- invalid attachments ---- */

/* Memory like an attachment's with this head, of so many bytes (0: correct), with these F_SEAL_* flags. */
static int forge(const struct attachment_head *head, size_t bytes, int seals)
{
    int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, (off_t)(bytes ? bytes : programs.at[LIVES].bytes)), 0);
    assert_int_equal(pwrite(fd, head, sizeof *head, 0), sizeof *head);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void invalid_attachments_are_refused(void **state)
{
    (void)state;
    enum { SEALED = F_SEAL_SHRINK | F_SEAL_GROW };
    const struct attachment_head good = *programs.at[LIVES].head;
    struct attachment_head wrong[4] = {good, good, good, good};
    wrong[0].magic++;
    wrong[1].version++;
    wrong[2].host = good.hosts;
    wrong[3].hosts = 1U << 20;
    const int bad[] = {
        forge(&good, 0, 0),          forge(&good, 0, F_SEAL_SHRINK), forge(&good, programs.at[LIVES].bytes - 1, SEALED),
        forge(&wrong[0], 0, SEALED), forge(&wrong[1], 0, SEALED),    forge(&wrong[2], 0, SEALED),
        forge(&wrong[3], 0, SEALED)};
    struct attachment at;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(attachment_hold(&at, bad[i], -1), -EPROTO);
        (void)close(bad[i]);
    }
    assert_int_equal(attachment_hold(&at, forge(&good, 0, SEALED), -1), 0);
    attachment_close(&at);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(attached_memory_keeps_its_size),   TEST(each_requester_has_its_own_lock),
        TEST(absent_hosts_are_not_found),       TEST(garbage_gets_nothing_and_does_no_harm),
        TEST(another_version_gets_an_error),    TEST(overwritten_memory_is_restored_for_the_next_program),
        TEST(a_slow_close_delays_no_requester), TEST(a_dead_socket_is_replaced),
        TEST(another_users_socket_is_ignored),  TEST(invalid_attachments_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
