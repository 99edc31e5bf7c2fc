/* run.c - the supervisor of a virtual fabric (run.h). It only waits; workers do all work. */
#include "run.h"
#include "audit.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/signals.h"
#include "fabric-emu/report/gather.h"
#include "fabric-emu/report/schedule_report.h"
#include "fabric-emu/watch.h"
#include "faults.h"
#include "recording.h"
#include "watchdog.h"
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
    pid_t pid[VIRTUAL_MOST_WORKERS]; /* 0: it ended */
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
    return set;
}

void run_block_signals(void)
{
    sigset_t set = awaited_signals();
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Shows a worker's state to readers outside. */
static void show_state(const struct run *r, pid_t pid, enum hx_worker_state state)
{
    for (unsigned w = 0; w < r->m->workers; w++) {
        struct hx_metrics_worker *shown = &r->m->metrics.worker[w];
        if (r->pid[w] != pid)
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
    for (unsigned w = 0; w < r->m->workers; w++) {
        pid_t pid = fork();
        if (pid < 0)
            hx_die(HX_EXIT_ENVIRONMENT, "fork", "%s", strerror(errno));
        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                _exit(HX_EXIT_ENVIRONMENT);
            worker_run(r->m, w);
        }
        r->pid[w] = pid;
        r->alive++;
        show_state(r, pid, HX_WORKER_RUNNING);
    }
}

static void forget_pid(struct run *r, pid_t pid)
{
    for (unsigned w = 0; w < r->m->workers; w++)
        r->pid[w] = r->pid[w] == pid ? 0 : r->pid[w];
}

static void note_end(struct run *r, pid_t pid, int status)
{
    r->alive--;
    show_state(r, pid, WIFSIGNALED(status) ? HX_WORKER_DOWN : HX_WORKER_DONE);
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
    if (r->m->workload.schedule)
        return (double)schedule_plan_ended(r->m->workload.schedule) / r->due;
    if (r->m->settings.duration_ns)
        return (double)now / 1e3 / (double)r->m->settings.duration_ns;
    double done = 0;
    for (unsigned w = 0; w < r->m->workers; w++) {
        const struct model_area *area = &r->m->area[w];
        done += (double)atomic_load(r->m->workload.collective ? &area->acknowledged : &area->delivered);
    }
    return r->due > 0 ? done / r->due : 0;
}

static void show_progress(struct run *r)
{
    if (watch_is_open(&r->watch) || !hx_progress_due(&r->bar))
        return;
    uint64_t hops = 0;
    for (unsigned w = 0; w < r->m->workers; w++)
        hops += atomic_load(&r->m->area[w].hops);
    uint64_t now = atomic_load(&r->m->area[0].now);
    double seconds = (double)(hx_monotonic_ns() - r->started_ns) / 1e9;
    double share = share_done(r, now);
    char note[128];
    (void)snprintf(note, sizeof note, ", %.3f ms simulated, %.1f M packet-hops/s", (double)now / 1e9,
                   (double)hops / seconds / 1e6);
    hx_progress_show(&r->bar, share < 1 ? share : 1, note);
}

/* The first request ends the run with a report; the second ends it at once. */
static void take_request(struct run *r)
{
    if (hx_signals_request(&r->requests, hx_monotonic_ns()) == HX_REQUEST_AGAIN) {
        r->outcome.cut_short = true;
        r->broken_ns = hx_monotonic_ns();
        virtual_channel_break(r->m->channel);
        recording_abandon(r->m->recording);
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
    for (unsigned w = 0; w < r->m->workers; w++) {
        if (r->pid[w])
            (void)kill(r->pid[w], SIGKILL);
    }
}

static void watch(struct run *r)
{
    sigset_t set = awaited_signals();
    while (r->alive) {
        const struct timespec tick = {.tv_nsec = TICK_NS};
        int got = sigtimedwait(&set, NULL, &tick);
        if (got > 0 && got != SIGCHLD)
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

/* Whether some worker gave the workload up. */
static bool was_given_up(const struct model *m)
{
    bool any = false;
    for (unsigned w = 0; w < m->workers; w++)
        any = any || m->area[w].collective_ended;
    return any;
}

/* Checks what no worker can check alone. */
static void validate(struct run *r)
{
    bool stuck = watchdog_was_stuck(r->m);
    if (stuck)
        watchdog_explain(r->m);
    bool whole = r->outcome.exit_code || r->outcome.cut_short || !r->m->check_steps || audit_links(r->m);
    const struct schedule_plan *schedule = r->m->workload.schedule;
    bool reported = r->outcome.exit_code == 0 && !r->outcome.interrupted;
    bool ended = !schedule || !reported || stuck || schedule_report_complain(schedule, was_given_up(r->m));
    if (r->outcome.exit_code == 0 && (stuck || !whole || !ended))
        r->outcome.exit_code = HX_EXIT_FAILED;
}

/* ---- reports of workers ---- */

static void take_areas(struct result *r, const struct model *m)
{
    struct outcome *o = &r->outcome;
    o->complete = o->exit_code == 0;
    for (unsigned w = 0; w < m->workers; w++) {
        const struct model_area *area = &m->area[w];
        o->complete = o->complete && area->complete;
        o->virtual_ps = area->last_delivery > o->virtual_ps ? area->last_delivery : o->virtual_ps;
        o->bytes_delivered += area->bytes_measured;
        o->buffers_missing += area->complete ? area->buffers_used : 0;
        gather_worker(r, &(struct gathered_worker){.drops = area->drops,
                                                   .bytes_corrupted = area->bytes_corrupted,
                                                   .cpu_ns = hx_metrics_get(&m->metrics.worker[w].cpu_ns),
                                                   .private_bytes = area->private_bytes,
                                                   .max_vc = area->max_vc});
    }
    for (uint32_t rank = 0; rank < m->g->hosts; rank++)
        gather_accelerator(r, &m->jobs, rank, &m->sum[rank].stats, m->sum[rank].begun);
    o->cuts_repeats = m->cuts_repeats;
    o->repeats = m->area[0].repeats;
    for (unsigned w = 1; w < m->workers; w++)
        if (m->area[w].repeats.iterations > o->repeats.iterations)
            o->repeats.iterations = m->area[w].repeats.iterations;
    /* With a duration, the rate is over the time in which hosts may send, without the warm-up. */
    uint64_t duration = m->settings.duration_ns * 1000;
    uint64_t warm_up = m->settings.warm_up_ns * 1000;
    if (duration && (o->complete || duration < o->virtual_ps))
        o->virtual_ps = duration;
    o->virtual_ps -= warm_up < o->virtual_ps ? warm_up : o->virtual_ps;
}

static void take_collective(struct result *r, const struct model *m)
{
    uint32_t done = 0;
    for (unsigned w = 0; w < m->workers; w++)
        done += m->area[w].collectives_done;
    if (m->workload.collective)
        gather_collective(r, done);
}

static void take_receivers(struct result *r, const struct model *m)
{
    r->receive_share = hx_allocate(m->g->hosts, sizeof *r->receive_share);
    for (uint32_t rank = 0; rank < m->g->hosts; rank++) {
        const struct model_receiver *receiver = &m->receiver[rank];
        uint64_t warm_up = m->settings.warm_up_ns * 1000;
        double bytes_per_ps = result_host_injection(r, rank) / 1e12;
        if (receiver->last > warm_up)
            r->receive_share[rank] = (double)receiver->bytes / (double)(receiver->last - warm_up) / bytes_per_ps;
    }
}

/* The interval over which links' load is a share. */
struct measured {
    const struct model *m;
    double ps;
};

/* ps; `link` counts those of all planes. */
static double rate_of(const struct model *m, uint32_t link)
{
    const struct hx_fabric_port *p = &m->g->port[link % m->g->ports];
    bool linked = p->far.node != HX_NOWHERE;
    return linked ? m->timing.of[p->link_class].rate.blocks[1] : m->timing.link.blocks[1];
}

static double busy(const void *of, unsigned plane, uint32_t link)
{
    const struct measured *measured = of;
    const struct model *m = measured->m;
    const struct model_span *span = &m->span[link + plane * m->g->hosts];
    return (double)(span->to - span->from) * rate_of(m, link) / measured->ps;
}

void run_model(const struct model *m, struct run_show show, const struct result_context *context, struct result *result)
{
    struct run r = {.m = m, .bar = hx_progress_start("run", show.quiet), .started_ns = hx_monotonic_ns()};
    if (m->workload.schedule)
        r.due = schedule_plan_operations(m->workload.schedule);
    else if (m->workload.collective && !m->settings.duration_ns)
        r.due = (double)workload_messages(&m->workload);
    else if (!m->settings.duration_ns)
        r.due = traffic_bytes_of_all(m->workload.traffic);
    if (m->recording)
        recording_start(m->recording);
    hx_metrics_set(&m->metrics.head->started_ns, r.started_ns);
    show_phase(&r, HX_PHASE_RUNNING);
    if (show.watch)
        watch_start(&r.watch, shm_arena_name(&m->arena));
    start_workers(&r);
    watch(&r);
    model_end(m);
    watch_end(&r.watch);
    validate(&r);
    r.outcome.drained_ns = hx_monotonic_ns() - r.started_ns;
    *result = (struct result){.context = *context,
                              .spec = m->spec,
                              .g = m->g,
                              .workers = m->workers,
                              .settings = m->settings,
                              .outcome = r.outcome,
                              .link_rate = virtual_timing_link_rate(&m->timing) * 1e12};
    result_jobs(result, &m->jobs, m->job);
    take_areas(result, m);
    if (m->faults)
        faults_gather(result, m);
    if (m->recording)
        recording_stop(m->recording, result->outcome.complete);
    take_collective(result, m);
    take_receivers(result, m);
    const struct measured measured = {m, (double)(result->outcome.virtual_ps ? result->outcome.virtual_ps : 1)};
    gather_links(result, &m->metrics, &m->layout, busy, &measured);
    result->outcome.hops = result->packet_hops;
    result_finish(result);
}
