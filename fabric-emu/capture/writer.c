/* writer.c - starts and ends the process that writes a capture (writer.h). */
#include "fabric-emu/capture/writer.h"
#include "base/error.h"
#include "base/signals.h"

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

enum {
    START_MS = 5000,
    STOP_MS = 60000,   /* without progress: the disk hangs */
    GAVE_UP_MS = 1000, /* in all, if the user did not want to wait */
    BEGUN = 1,
    CANNOT = 2
};

struct capture_writer_shared {
    _Atomic uint32_t state; /* BEGUN, CANNOT; 0: not yet */
    _Atomic bool whole;     /* the run came to its end; set before the tap's `stop` */
    _Atomic bool done;      /* the report is complete */
    struct capture_report report;
    struct hx_problem problem;
};

static struct hx_tap *tap_of(const struct capture_writer *w)
{
    return w->capture->plan.memory->tap;
}

void capture_writer_begins(const struct capture_writer *w)
{
    atomic_store(&w->shared->state, BEGUN);
}

bool capture_writer_goes_on(const struct capture_writer *w)
{
    return atomic_load(&tap_of(w)->stop) == 0 && getppid() == w->supervisor;
}

_Noreturn static void write_all(struct capture_writer *w, capture_writer_work *work, void *of)
{
    struct capture_writer_shared *shared = w->shared;
    (void)prctl(PR_SET_NAME, "hxmesh-tap");
    (void)signal(SIGPIPE, SIG_IGN); /* the pipe's reader may leave */
    if (!work(w, of, &shared->problem)) {
        atomic_store(&shared->state, CANNOT);
        _exit(HX_EXIT_ENVIRONMENT);
    }
    if (w->patched && atomic_load(&shared->whole))
        capture_say_whole(&w->capture->report);
    shared->report = w->capture->report;
    atomic_store(&shared->done, true);
    _exit(HX_EXIT_DONE);
}

void capture_writer_start(struct capture_writer *w, struct capture *c, bool patched, capture_writer_work *work,
                          void *of)
{
    *w = (struct capture_writer){.capture = c, .patched = patched, .supervisor = getpid()};
    w->shared = mmap(NULL, sizeof *w->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w->shared == MAP_FAILED)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a capture: %s", strerror(errno));
    w->pid = fork();
    if (w->pid == 0)
        write_all(w, work, of);
    w->ends = w->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, w->pid, 0);
    if (w->ends < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot start the capture: %s", strerror(errno));
    capture_leave(c);
    struct pollfd ends = {.fd = w->ends, .events = POLLIN};
    for (unsigned ms = 0; ms < START_MS && atomic_load(&w->shared->state) == 0 && poll(&ends, 1, 1) == 0;)
        ms++;
    if (atomic_load(&w->shared->state) == CANNOT)
        hx_die_of(&w->shared->problem);
}

static uint64_t taken(const struct capture_writer *w)
{
    const struct capture_memory *m = w->capture->plan.memory;
    uint64_t bytes = 0;
    for (uint32_t ring = 0; ring < m->shape.rings; ring++)
        bytes += atomic_load(&hx_tap_ring(m->tap, &m->shape, ring)->tail);
    return bytes;
}

/* Waits while the writer makes progress; a signal shortens the wait. */
static void await_end(const struct capture_writer *w)
{
    struct pollfd wait[] = {{.fd = w->ends, .events = POLLIN}, {.fd = hx_signals_open(), .events = POLLIN}};
    bool patient = atomic_load(&tap_of(w)->gave_up) == 0;
    uint64_t before;
    do {
        before = taken(w);
        if (poll(wait, 2, patient ? STOP_MS : GAVE_UP_MS) != 0)
            break;
    } while (patient && before != taken(w));
    if (!wait[0].revents)
        (void)kill(w->pid, SIGKILL);
    (void)close(wait[1].fd);
}

void capture_writer_stop(struct capture_writer *w, bool whole, struct capture_report *report)
{
    atomic_store(&w->shared->whole, whole);
    atomic_store(&tap_of(w)->stop, 1);
    await_end(w);
    (void)waitpid(w->pid, NULL, 0);
    (void)close(w->ends);
    *report = w->shared->report;
    if (!atomic_load(&w->shared->done)) { /* killed: the length of the file is unknown */
        *report = (struct capture_report){.error = EOWNERDEAD};
        (void)snprintf(report->file, sizeof report->file, "%s", w->capture->report.file);
        capture_count(report, w->capture->plan.memory);
    }
    (void)munmap(w->shared, sizeof *w->shared);
}
