/* test_wakeup.c - a sleeping worker wakes up for each program, for any number of held hosts, for each interface, and
 * for other workers (fabric-emu/live/wakeup.h). Sockets stand for interfaces. */
#include "fabric-emu/live/fabric.h"
#include "fabric-emu/live/node.h"
#include "fabric-emu/live/wakeup.h"
#include "hal/program/attachment.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { HOSTS = 200, LONGEST_NS = 999999999, PATIENCE_S = 60 };

static struct programs programs;
static struct packets packets;
static struct fab_fabric fabric;
static struct accelerator of_host[HOSTS];
static struct workload_plan plan = {.programs = &programs, .packets = &packets};
static struct worker worker;
static int wake, interface_end, program_end;

static int set_up(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    interface_end = ends[0];
    program_end = ends[1];
    programs.at = calloc(HOSTS, sizeof *programs.at);
    packets.tun = calloc(HOSTS, sizeof *packets.tun);
    packets.readable = calloc(HOSTS, sizeof *packets.readable);
    fabric.area = aligned_alloc(64, sizeof *fabric.area);
    memset(fabric.area, 0, sizeof *fabric.area);
    wake = eventfd(0, EFD_NONBLOCK);
    fabric.wake = &wake;
    for (uint32_t host = 0; host < HOSTS; host++) {
        of_host[host].rank = host;
        packets.tun[host] = host ? -1 : interface_end;
        assert_int_equal(attachment_make(&programs.at[host], 2), 0);
    }
    worker = (struct worker){.f = &fabric, .workload = &plan, .accelerator = of_host, .accelerators = HOSTS};
    wakeup_open(&worker);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wakeup_close(&worker);
    for (uint32_t host = 0; host < HOSTS; host++)
        attachment_close(&programs.at[host]);
    (void)close(wake);
    (void)close(interface_end);
    (void)close(program_end);
    HX_FREE(programs.at, packets.tun, packets.readable, fabric.area);
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

/* Wakeups of a host's worker that it has not consumed. */
static uint64_t wakeup_of(uint32_t host)
{
    eventfd_t wakeup = 0;
    return eventfd_read(programs.at[host].wakeup_fd, &wakeup) == 0 ? wakeup : 0;
}

/* An emulated processor may lack it. */
static void needs_sleep(void)
{
    static const struct timespec at_once;
    struct epoll_event event;
    if (epoll_pwait2(worker.wakeup, &event, 1, &at_once, NULL) < 0 && errno == ENOSYS)
        skip(); /* no epoll_pwait2 here */
}

/* A wakeup between the announcement of sleep and the sleep itself is not lost; otherwise this takes minutes. */
static void no_wakeup_is_lost(void **state)
{
    (void)state;
    needs_sleep();
    time_t begin = time(NULL);
    hold(0, HOSTS);
    for (uint32_t host = 0; host < HOSTS; host++) {
        wakeup_begin(&worker);
        attachment_wakeup(&programs.at[host]);
        wakeup_sleep(&worker, 0, LONGEST_NS);
        wakeup_end(&worker);
        assert_int_equal(wakeup_of(host), 0); /* it was consumed */
    }
    assert_in_range(time(NULL) - begin, 0, HOSTS / 2);
}

static void one_wakeup_is_enough(void **state)
{
    (void)state;
    hold(4, 1);
    wakeup_begin(&worker);
    attachment_wakeup(&programs.at[4]);
    attachment_wakeup(&programs.at[4]);
    wakeup_end(&worker);
    assert_int_equal(wakeup_of(4), 1);
}

static void an_awake_worker_gets_no_wakeup(void **state)
{
    (void)state;
    hold(0, 2);
    wakeup_begin(&worker);
    wakeup_end(&worker);
    attachment_wakeup(&programs.at[0]);
    wakeup_begin(&worker);
    attachment_wakeup(&programs.at[2]); /* without a program */
    wakeup_end(&worker);
    assert_int_equal(wakeup_of(0), 0);
    assert_int_equal(wakeup_of(2), 0);
}

static void packets_and_other_workers_wake_it_too(void **state)
{
    (void)state;
    enum { ROUNDS = 60 };
    needs_sleep();
    time_t begin = time(NULL);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        packets.readable[0] = false;
        assert_int_equal(send(program_end, "", 1, 0), 1);
        wakeup_sleep(&worker, atomic_load(&fabric.area->wake), LONGEST_NS);
        assert_true(packets.readable[0]);
        uint32_t before = atomic_load(&fabric.area->wake);
        atomic_store(&fabric.area->asleep, 1);
        fab_wake(&fabric, 0);
        wakeup_look(&worker); /* as a last sweep may, and consumes the wakeup: */
        wakeup_sleep(&worker, before, LONGEST_NS);
    }
    assert_in_range(time(NULL) - begin, 0, ROUNDS / 2);
    packets.readable[0] = false;
    wakeup_sleep(&worker, atomic_load(&fabric.area->wake), 1); /* without a wakeup it ends by its time */
    assert_false(packets.readable[0]);
}

static volatile sig_atomic_t waited;

static void note_wait(int signal_number)
{
    (void)signal_number;
    waited = 1;
}

/* Two events belong to one wakeup, so the second finds nothing to read, as when a program of the host reads first. */
static void a_worker_never_blocks_on_a_wakeup(void **state)
{
    (void)state;
    needs_sleep();
    struct sigaction before;
    const struct sigaction note = {.sa_handler = note_wait};
    int wakeup_fd = programs.at[0].wakeup_fd;
    programs.at[0].wakeup_fd = dup(programs.at[1].wakeup_fd);
    wakeup_close(&worker);
    wakeup_open(&worker);
    assert_int_equal(fcntl(programs.at[1].wakeup_fd, F_SETFL, 0), 0); /* no O_NONBLOCK: any holder may clear it */
    hold(0, 2);
    assert_int_equal(sigaction(SIGALRM, &note, &before), 0);
    (void)alarm(PATIENCE_S);
    wakeup_begin(&worker);
    attachment_wakeup(&programs.at[1]);
    wakeup_sleep(&worker, 0, LONGEST_NS);
    wakeup_end(&worker);
    (void)alarm(0);
    (void)sigaction(SIGALRM, &before, NULL);
    assert_int_equal(fcntl(programs.at[1].wakeup_fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(wakeup_of(1), 0); /* it was consumed */
    assert_false(waited);
    (void)close(programs.at[0].wakeup_fd);
    programs.at[0].wakeup_fd = wakeup_fd;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_wakeup_is_lost), TEST(one_wakeup_is_enough), TEST(an_awake_worker_gets_no_wakeup),
        TEST(packets_and_other_workers_wake_it_too), TEST(a_worker_never_blocks_on_a_wakeup)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
