/* launch.c - the supervisor of a virtual fabric (launch.h). It only waits; workers do all work. */
#include "launch.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/signals.h"
#include "fabric-emu/watch.h"
#include "recording.h"
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_NS = 50000000, STOP_NS = 1000000000 /* for workers to exit, after the second request */ };

struct run {
    const struct model *m;
    struct outcome outcome;
    pid_t pid[HX_MOST_WORKERS]; /* of those that this launcher forks; 0: it ended */
    unsigned alive;
    struct hx_progress bar;
    struct watch watch; /* replaces the bar */
    double due;         /* bytes to deliver, or messages of a collective to acknowledge; 0: unknown */
    uint64_t started_ns;
    struct hx_requests requests; /* to end the run */
    uint64_t broken_ns;          /* when the second one came */
};

static sigset_t awaited_signals(void)
{
    sigset_t set = hx_signals_ending();
    sigaddset(&set, SIGCHLD);
    if (virtual_channel_is_of_ranks())
        sigaddset(&set, SIGUSR1); /* mpirun passes it on */
    return set;
}

void launch_block_signals(void)
{
    sigset_t set = awaited_signals();
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Shows a worker's state to readers outside. */
static void show_state(const struct run *r, pid_t pid, enum hx_worker_state state)
{
    for (unsigned n = 0; n < r->m->forked; n++) {
        struct hx_metrics_worker *shown = &r->m->metrics.worker[r->m->first + n];
        if (r->pid[n] != pid)
            continue;
        atomic_store(&shown->state, state);
        atomic_store(&shown->pid, state == HX_WORKER_RUNNING ? (int32_t)pid : 0);
        hx_metrics_set(&shown->deaths, state == HX_WORKER_DOWN);
    }
}

static void show_phase(const struct run *r, enum hx_phase phase)
{
    atomic_store(&r->m->metrics.head->phase, phase);
}

static void start_workers(struct run *r)
{
    pid_t parent = getpid();
    hx_error_hand_over(NULL);
    for (unsigned n = 0; n < r->m->forked; n++) {
        pid_t pid = fork();
        if (pid < 0)
            hx_die(HX_EXIT_ENVIRONMENT, "fork", "%s", strerror(errno));
        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                _exit(HX_EXIT_ENVIRONMENT);
            worker_run(r->m, r->m->first + n);
        }
        r->pid[n] = pid;
        r->alive++;
        show_state(r, pid, HX_WORKER_RUNNING);
    }
}

static void forget_pid(struct run *r, pid_t pid)
{
    for (unsigned n = 0; n < r->m->forked; n++)
        r->pid[n] = r->pid[n] == pid ? 0 : r->pid[n];
}

/* The workers of other launchers show that they run (publish.h). A worker that has reported is the last of all. */
static void show_others(const struct model *m)
{
    for (unsigned w = 0; w < m->workers; w++) {
        struct hx_metrics_worker *shown = &m->metrics.worker[w];
        if (w - m->first >= m->forked && atomic_load(&shown->state) == HX_WORKER_RUNNING) {
            atomic_store(&shown->state, HX_WORKER_DONE);
            atomic_store(&shown->pid, 0);
        }
    }
}

static void note_end(struct run *r, pid_t pid, int status)
{
    r->alive--;
    show_state(r, pid, WIFSIGNALED(status) ? HX_WORKER_DOWN : HX_WORKER_DONE);
    show_others(r->m);
    forget_pid(r, pid);
    if ((WIFEXITED(status) && WEXITSTATUS(status) == HX_EXIT_DONE) || r->outcome.cut_short)
        return;
    virtual_channel_break(r->m->channel);
    if (r->outcome.exit_code == 0)
        r->outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : HX_EXIT_FAILED;
    if (!WIFSIGNALED(status))
        return;
    r->outcome.deaths++;
    hx_complain("hxmesh run", "worker %d was killed by signal %d: simulated time cannot go on without it", (int)pid,
                WTERMSIG(status));
}

static double share_done(const struct run *r, uint64_t now)
{
    if (r->m->settings.duration_ns && !r->m->workload.schedule)
        return (double)now / 1e3 / (double)r->m->settings.duration_ns;
    double done = 0;
    for (unsigned w = 0; w < r->m->workers; w++) {
        const struct model_progress *p = &r->m->progress[w];
        done += (double)(r->m->workload.schedule     ? hx_metrics_get(&r->m->metrics.worker[w].operations_ended)
                         : r->m->workload.collective ? atomic_load(&p->acknowledged)
                                                     : atomic_load(&p->delivered));
    }
    return r->due > 0 ? done / r->due : 0;
}

static void show_progress(struct run *r)
{
    if (watch_is_open(&r->watch) || !hx_progress_due(&r->bar))
        return;
    uint64_t hops = 0;
    for (unsigned w = 0; w < r->m->workers; w++)
        hops += atomic_load(&r->m->progress[w].hops);
    uint64_t now = atomic_load(&r->m->progress[r->m->first].now);
    double rate = (double)hops / 1e6;
    double seconds = (double)(hx_monotonic_ns() - r->started_ns) / 1e9;
    double share = share_done(r, now);
    char note[128];
    (void)snprintf(note, sizeof note, ", %.3f ms simulated, %.1f M packet-hops/s", (double)now / 1e9, rate / seconds);
    hx_progress_show(&r->bar, share < 1 ? share : 1, note);
}

static void end_at_once(struct run *r)
{
    r->outcome.cut_short = true;
    virtual_channel_break(r->m->channel);
    recording_abandon(r->m->recording);
}

/* mpirun ends this rank, because another one died, or on request; or mpirun itself was killed. Either is said
 * elsewhere. */
static void end_with_mpirun(struct run *r)
{
    end_at_once(r);
    r->outcome.exit_code = HX_EXIT_INTERRUPTED;
}

/* The first request ends the run with a report; the second ends it at once. */
static void take_request(struct run *r)
{
    if (hx_signals_request(&r->requests, hx_monotonic_ns()) == HX_REQUEST_AGAIN) {
        end_at_once(r);
        r->broken_ns = hx_monotonic_ns();
    }
    r->outcome.interrupted = true;
    show_phase(r, HX_PHASE_STOPPING);
    atomic_store(&r->m->control->stop, true);
}

/* A worker in a loop of a schedule that takes no time reaches no window, so it does not see a request. */
static void kill_late(const struct run *r)
{
    if (!r->outcome.cut_short || hx_monotonic_ns() < r->broken_ns + STOP_NS)
        return;
    for (unsigned n = 0; n < r->m->forked; n++) {
        if (r->pid[n])
            (void)kill(r->pid[n], SIGKILL);
    }
}

static void watch(struct run *r)
{
    sigset_t set = awaited_signals();
    while (r->alive) {
        const struct timespec tick = {.tv_nsec = TICK_NS};
        int got = sigtimedwait(&set, NULL, &tick);
        if (got > 0 && got != SIGCHLD && got != SIGUSR1 && virtual_channel_is_of_ranks())
            end_with_mpirun(r);
        else if (got > 0 && got != SIGCHLD)
            take_request(r);
        int status;
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            if (!recording_ended(r->m->recording, pid) && !watch_ended(&r->watch, pid))
                note_end(r, pid, status);
        kill_late(r);
        show_progress(r);
    }
    hx_progress_end(&r->bar);
}

/* Bytes to deliver, messages of a collective to acknowledge, or operations to end; 0: unknown. */
static double due_of(const struct model *m)
{
    if (m->workload.schedule)
        return schedule_plan_operations(m->workload.schedule);
    if (m->settings.duration_ns)
        return 0;
    return m->workload.collective ? (double)workload_messages(&m->workload) : traffic_bytes_of_all(m->workload.traffic);
}

struct outcome launch_model(const struct model *m, struct launch_show show)
{
    struct run r = {
        .m = m, .bar = hx_progress_start("run", show.quiet), .due = due_of(m), .started_ns = hx_monotonic_ns()};
    if (m->recording && model_is_reported(m))
        recording_start(m->recording);
    hx_metrics_set(&m->metrics.head->started_ns, r.started_ns);
    show_phase(&r, HX_PHASE_RUNNING);
    if (show.watch)
        watch_start(&r.watch, shm_arena_name(&m->arena));
    start_workers(&r);
    watch(&r);
    model_end(m);
    watch_end(&r.watch);
    r.outcome.drained_ns = hx_monotonic_ns() - r.started_ns;
    return r.outcome;
}
