/* supervisor.c - the life of a run (supervisor.h). */
#include "supervisor.h"
#include "external.h"
#include "host/error.h"
#include "host/signals.h"
#include "recover.h"
#include "taps.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TICK_MS = 5,
    MOST_DEATHS = 1000,  /* of all workers together, then something is wrong with the program */
    INTERRUPT_MS = 2000, /* for draining after SIGINT; a second one stops at once */
    STOP_MS = 5000       /* for workers to end by themselves */
};
static const uint64_t drain_ns = UINT64_C(60) * 1000000000; /* after the end of sending */

struct supervisor {
    const struct run_plan *plan;
    struct fab_fabric *f;
    struct outcome *outcome;
    int signals;
    uint64_t deadline; /* of draining, 0: none */
    bool stop;
};

/* Terminals, timeout(1) and service managers signal the whole process group; only the supervisor decides. */
static void ignore_signals(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    hx_signals_handle(&ignore);
}

void supervisor_block_signals(void)
{
    sigset_t set = hx_signals_ending();
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of writing, like a full disk */
}

static uint64_t now(const struct supervisor *s)
{
    return shm_clock_ns(&s->plan->job.clock);
}

/* ---- workers ---- */

static void start_worker(struct supervisor *s, unsigned worker)
{
    atomic_store(&s->f->area[worker].state, FAB_WORKER_STARTING);
    pid_t supervisor = getpid();
    pid_t pid = fork();
    if (pid < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot start worker %u: %s", worker, strerror(errno));
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != supervisor)
            _exit(HX_EXIT_ENVIRONMENT); /* it died before this process asked to die with it */
        sigset_t set = hx_signals_ending();
        ignore_signals();
        (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
        worker_run(&s->plan->job, worker);
    }
    s->f->area[worker].pid = (int32_t)pid;
}

static void wake_all(struct supervisor *s)
{
    for (unsigned w = 0; w < s->f->workers; w++)
        worker_wake(s->f, w);
}

static void set_phase(struct supervisor *s, enum fab_phase phase)
{
    atomic_store(&s->f->control->phase, phase);
    wake_all(s);
}

static enum fab_phase phase_of(const struct supervisor *s)
{
    return atomic_load(&s->f->control->phase);
}

static bool all_in(const struct supervisor *s, enum fab_worker_state state)
{
    for (unsigned w = 0; w < s->f->workers; w++) {
        enum fab_worker_state is = atomic_load(&s->f->area[w].state);
        if (is != state && is != FAB_WORKER_DOWN)
            return false;
    }
    return true;
}

static void take_down(struct supervisor *s, unsigned worker)
{
    s->f->area[worker].pid = 0;
    atomic_store(&s->f->area[worker].state, FAB_WORKER_DOWN);
    if (!s->plan->restart)
        atomic_fetch_or(&s->f->control->gone, (uint64_t)1 << worker);
    atomic_fetch_add(&s->f->control->changes, 1);
    (void)recover_worker(s->f, worker);
}

static void worker_died(struct supervisor *s, unsigned worker, int signal_number)
{
    struct fab_area *area = &s->f->area[worker];
    s->outcome->deaths++;
    hx_progress_end(&s->plan->progress->bar);
    hx_warn(NULL, "worker %u (process %d) was killed by signal %d%s", worker, area->pid, signal_number,
            s->plan->restart ? "; its boards restart" : "; its boards stay down");
    take_down(s, worker);
    if (s->outcome->deaths > MOST_DEATHS) {
        s->outcome->exit_code = HX_EXIT_FAILED;
        s->stop = true;
    } else if (s->plan->restart && phase_of(s) != FAB_STOPPING) {
        area->incarnation++;
        start_worker(s, worker);
        atomic_fetch_add(&s->f->control->changes, 1);
    }
    wake_all(s);
}

static unsigned worker_of_pid(const struct supervisor *s, pid_t pid)
{
    unsigned w = 0;
    while (w < s->f->workers && s->f->area[w].pid != pid)
        w++;
    return w;
}

static void reap(struct supervisor *s)
{
    int status;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
        unsigned worker = worker_of_pid(s, pid);
        if (worker == s->f->workers)
            continue;
        if (WIFSIGNALED(status)) {
            worker_died(s, worker, WTERMSIG(status));
            continue;
        }
        s->f->area[worker].pid = 0;
        if (phase_of(s) != FAB_STOPPING || WEXITSTATUS(status) != 0) {
            s->outcome->exit_code = WEXITSTATUS(status) ? WEXITSTATUS(status) : HX_EXIT_FAILED;
            s->stop = true;
        }
    }
}

/* ---- phases ---- */

static void take_sums(struct supervisor *s, uint64_t at)
{
    struct outcome *o = s->outcome;
    o->elapsed_ns = at - s->f->control->started_ns;
    o->bytes_delivered = o->packets_delivered = o->hops = 0;
    for (uint32_t rank = 0; rank < s->f->g.accelerators; rank++) {
        o->bytes_delivered += s->f->accelerator[rank].stats.bytes_delivered;
        o->packets_delivered += s->f->accelerator[rank].stats.packets_delivered;
    }
    for (unsigned w = 0; w < s->f->workers; w++)
        o->hops += atomic_load(&s->f->area[w].hops);
}

static void begin_draining(struct supervisor *s, uint64_t within_ns)
{
    take_sums(s, now(s));
    s->deadline = now(s) + within_ns;
    set_phase(s, FAB_DRAINING);
}

static void take_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (s->outcome->interrupted)
            s->stop = true;
        s->outcome->interrupted = true;
        if (phase_of(s) == FAB_RUNNING)
            begin_draining(s, (uint64_t)INTERRUPT_MS * 1000000);
        else if (phase_of(s) == FAB_STARTING)
            s->stop = true;
        else
            s->deadline = now(s) + (uint64_t)INTERRUPT_MS * 1000000;
    }
}

/* Everybody who runs is done; whole if nobody stays down. */
static bool all_done(struct supervisor *s)
{
    bool done = all_in(s, FAB_WORKER_DONE);
    s->outcome->complete = done && atomic_load(&s->f->control->gone) == 0;
    return done;
}

static uint64_t last_finish(const struct supervisor *s)
{
    uint64_t last = s->f->control->started_ns;
    for (unsigned w = 0; w < s->f->workers; w++)
        last = s->f->area[w].finished_ns > last ? s->f->area[w].finished_ns : last;
    return last;
}

static void advance(struct supervisor *s)
{
    switch (phase_of(s)) {
    case FAB_STARTING:
        if (all_in(s, FAB_WORKER_RUNNING)) {
            s->f->control->started_ns = now(s);
            set_phase(s, FAB_RUNNING);
        }
        break;
    case FAB_RUNNING:
        if (all_done(s)) {
            take_sums(s, last_finish(s));
            s->stop = true;
        } else if (s->plan->duration_ns && now(s) - s->f->control->started_ns >= s->plan->duration_ns) {
            begin_draining(s, drain_ns);
        }
        break;
    default:
        s->stop = s->stop || all_done(s) || now(s) > s->deadline;
    }
}

static void watch_external(struct supervisor *s)
{
    struct hx_problem problem;
    if (s->stop || external_watch(s->plan->external, now(s), &problem))
        return;
    hx_progress_end(&s->plan->progress->bar);
    hx_complain(problem.where, "%s", problem.what);
    s->outcome->exit_code = problem.exit_code;
    s->stop = true;
}

static void finish_dead(struct supervisor *s)
{
    for (unsigned w = 0; w < s->f->workers; w++) {
        if (fab_worker_is_down(s->f, w) && s->f->area[w].pid == 0)
            (void)recover_worker(s->f, w);
    }
}

static void stop_workers(struct supervisor *s)
{
    set_phase(s, FAB_STOPPING);
    for (unsigned waited = 0; waited < STOP_MS; waited += TICK_MS) {
        reap(s);
        bool any = false;
        for (unsigned w = 0; w < s->f->workers; w++)
            any = any || s->f->area[w].pid;
        if (!any)
            return;
        (void)poll(NULL, 0, TICK_MS);
    }
    for (unsigned w = 0; w < s->f->workers; w++) {
        if (s->f->area[w].pid == 0)
            continue;
        (void)kill(s->f->area[w].pid, SIGKILL);
        (void)waitpid(s->f->area[w].pid, NULL, 0);
        take_down(s, w);
    }
}

void supervisor_run(const struct run_plan *plan, struct outcome *outcome)
{
    /* The workers' view of the fabric is constant; the supervisor acts for dead ones. */
    struct supervisor s = {.plan = plan, .f = (struct fab_fabric *)(uintptr_t)plan->job.f, .outcome = outcome};
    *outcome = (struct outcome){0};
    s.signals = hx_signals_open();
    for (unsigned w = 0; w < s.f->workers; w++)
        start_worker(&s, w);
    struct pollfd wait = {.fd = s.signals, .events = POLLIN};
    while (!s.stop) {
        (void)poll(&wait, 1, TICK_MS);
        take_signals(&s);
        reap(&s);
        finish_dead(&s);
        taps_reap(s.f);
        advance(&s);
        progress_tick(plan->progress, s.f, now(&s));
        watch_external(&s);
    }
    uint64_t end = now(&s);
    stop_workers(&s);
    hx_progress_end(&plan->progress->bar);
    if (outcome->elapsed_ns == 0 && s.f->control->started_ns)
        take_sums(&s, end);
    outcome->drained_ns = s.f->control->started_ns ? end - s.f->control->started_ns : 0;
    uint64_t all = (uint64_t)s.f->workers * s.f->per_home;
    outcome->buffers_missing = all - fab_count_buffers(s.f);
    (void)close(s.signals);
}
