/* recording.c - a run that is captured from its start: a child of the supervisor writes the file (recorder.h).
 *
 * A process of its own, so that a disk that hangs stops nobody. It ends when the supervisor says so, or is gone. */
#include "host/error.h"
#include "host/signals.h"
#include "recorder.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 5000, STOP_MS = 60000 /* without a frame written: the disk hangs */ };

struct recording_end {
    _Atomic uint32_t taps; /* 1: yes, 2: it could not */
    _Atomic uint32_t done;
    _Atomic bool whole; /* the run came to its end; told before the tap's `stop` */
    struct capture_report report;
    struct hx_problem problem;
};

static bool supervisor_runs_on(struct recorder *r, void *of)
{
    const pid_t *supervisor = of;
    return atomic_load(&r->memory.tap->stop) == 0 && getppid() == *supervisor;
}

_Noreturn static void record(struct recording *r, pid_t supervisor)
{
    (void)prctl(PR_SET_NAME, "hxmesh-tap");
    struct hx_problem *problem = &r->end->problem;
    int error = shm_arena_reopen(&r->recorder.fabric.arena);
    bool taps = !error && recorder_tap(&r->recorder, problem);
    if (error)
        (void)hx_fail(problem, HX_EXIT_ENVIRONMENT, "capture", "cannot open this fabric's memory: %s",
                      strerror(-error));
    atomic_store(&r->end->taps, taps ? 1 : 2);
    if (!taps)
        _exit(HX_EXIT_ENVIRONMENT);
    recorder_run(&r->recorder, -1, supervisor_runs_on, &supervisor);
    recorder_close(&r->recorder);
    if (r->recorder.whole_later && atomic_load(&r->end->whole))
        capture_say_whole(&r->recorder.capture.report);
    r->end->report = r->recorder.capture.report;
    atomic_store(&r->end->done, 1);
    _exit(HX_EXIT_DONE);
}

void recording_start(struct recording *r, const struct recorder_plan *plan, const struct recorder_fabric *fabric)
{
    struct hx_problem problem;
    pid_t supervisor = getpid();
    if (!recorder_open(&r->recorder, plan, fabric, &problem))
        hx_die_of(&problem);
    r->end = mmap(NULL, sizeof *r->end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r->end == MAP_FAILED)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a capture: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        record(r, supervisor);
    r->child = child < 0 ? -1 : (int)syscall(SYS_pidfd_open, child, 0);
    if (r->child < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot start the capture: %s", strerror(errno));
    r->pid = child;
    capture_memory_keep(&r->recorder.memory);
    capture_leave(&r->recorder.capture);
    struct pollfd ends = {.fd = r->child, .events = POLLIN};
    for (unsigned ms = 0; ms < START_MS && atomic_load(&r->end->taps) == 0 && poll(&ends, 1, 1) == 0;)
        ms++;
    if (atomic_load(&r->end->taps) == 2)
        hx_die_of(&r->end->problem);
}

static uint64_t taken(const struct recording *r)
{
    const struct capture_memory *m = &r->recorder.memory;
    uint64_t bytes = 0;
    for (uint32_t ring = 0; ring < m->shape.rings; ring++)
        bytes += atomic_load(&hx_tap_ring(m->tap, &m->shape, ring)->tail);
    return bytes;
}

/* While it gets on; a signal cuts it short. */
static void await_end(const struct recording *r)
{
    struct pollfd wait[] = {{.fd = r->child, .events = POLLIN}, {.fd = hx_signals_open(), .events = POLLIN}};
    uint64_t before = UINT64_MAX;
    while (before != taken(r)) {
        before = taken(r);
        if (poll(wait, 2, STOP_MS) != 0)
            break;
    }
    if (!wait[0].revents)
        (void)kill(r->pid, SIGKILL);
    (void)close(wait[1].fd);
}

void recording_stop(struct recording *r, bool whole, struct capture_report *report)
{
    atomic_store(&r->end->whole, whole);
    atomic_store(&r->recorder.memory.tap->stop, 1);
    await_end(r);
    (void)waitpid(r->pid, NULL, 0);
    (void)close(r->child);
    bool done = atomic_load(&r->end->done);
    *report = r->end->report;
    if (!done) { /* killed: how much of the file is there nobody knows */
        (void)snprintf(report->file, sizeof report->file, "%s", r->recorder.capture.report.file);
        report->error = EOWNERDEAD;
        capture_count(report, &r->recorder.memory);
    }
    (void)munmap(r->end, sizeof *r->end);
    capture_memory_free(&r->recorder.memory);
    capture_ports_free(&r->recorder.ports);
}
