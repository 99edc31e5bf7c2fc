/* supervisor.c - runs the phases of a run (supervisor.h). */
#include "supervisor.h"
#include "base/error.h"
#include "base/huge.h"
#include "base/signals.h"
#include "external.h"
#include "fabric-emu/memory.h"
#include "recover.h"
#include "renotify.h"
#include "taps.h"
#include "workload/endpoint.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TICK_MS = 5,
    GATHER_MS = 40,      /* between huge pages of the arena: each takes a core some milliseconds */
    MOST_DEATHS = 1000,  /* of all workers, before the run fails */
    MOST_HOPELESS = 8,   /* consecutive deaths of a worker in its set-up */
    REFUSED_MS = 1000,   /* until the next try, after fork() failed */
    INTERRUPT_MS = 2000, /* to drain after SIGINT; a second one stops at once */
    STOP_MS = 5000       /* for workers to exit */
};
static const uint64_t drain_ns = UINT64_C(60) * 1000000000; /* after the end of sending */

/* State of a worker. Kept outside the shared memory: stray stores must not decide what is killed, or when a run is
 * over. */
struct member {
    pid_t pid; /* 0: none */
    uint32_t incarnation;
    bool down, ran;    /* ran: its set-up was complete */
    unsigned hopeless; /* consecutive deaths in its set-up */
    bool refused;      /* fork() failed: it is down until the next try */
    uint64_t start_at; /* ns of the run's clock: the next try */
};

struct supervisor {
    const struct run_plan *plan;
    struct fab_fabric *f;
    struct outcome *outcome;
    struct member member[SHM_MAX_WORKERS];
    enum fab_phase phase; /* phase, gone, started_ns: right values of the control words */
    uint64_t gone;
    uint64_t started_ns;
    struct renotify renotify; /* for changed links */
    uint64_t oom_kills;       /* of the machine, before the run */
    int signals;
    struct hx_requests requests; /* to end the run */
    uint64_t deadline;           /* of draining; 0: none */
    size_t gathered;             /* bytes of the arena moved to huge pages */
    uint64_t gather_at;          /* when the next page is due */
    bool stop;
    struct schedule_activity activity; /* at the last look */
};

/* Terminals, timeout(1) and service managers signal the whole process group; only the supervisor reacts. */
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
    (void)signal(SIGXFSZ, SIG_IGN); /* a file size limit then fails a write, as a full disk does */
}

static uint64_t now(const struct supervisor *s)
{
    return shm_clock_ns(&s->plan->duty.clock);
}

/* ---- workers ---- */

/* Forks a worker. Returns false with errno: fork() failed, and only the incarnation has changed. */
static bool start_worker(struct supervisor *s, unsigned worker)
{
    struct member *m = &s->member[worker];
    s->f->area[worker].incarnation = ++m->incarnation;
    atomic_store(&s->f->area[worker].built, 0);
    atomic_store(&s->f->area[worker].state, FAB_WORKER_STARTING);
    pid_t supervisor = getpid();
    pid_t pid = fork();
    if (pid < 0) {
        atomic_store(&s->f->area[worker].state, FAB_WORKER_DOWN);
        return false;
    }
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != supervisor)
            _exit(HX_EXIT_ENVIRONMENT); /* the supervisor died before prctl() */
        sigset_t set = hx_signals_ending();
        ignore_signals();
        (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
        worker_run(&s->plan->duty, worker);
    }
    m->pid = pid;
    m->down = m->ran = m->refused = false;
    atomic_store(&s->f->metrics.worker[worker].pid, (int32_t)pid);
    return true;
}

/* Starts all workers, or ends the program. */
static void start_all(struct supervisor *s)
{
    for (unsigned w = 0; w < s->f->workers; w++)
        if (!start_worker(s, w))
            hx_die(HX_EXIT_ENVIRONMENT, NULL, "cannot start worker %u: %s", w, strerror(errno));
}

/* For readers outside. */
static void show_states(const struct supervisor *s)
{
    for (unsigned w = 0; w < s->f->workers; w++)
        atomic_store(&s->f->metrics.worker[w].state, atomic_load(&s->f->area[w].state));
}

static void wake_all(struct supervisor *s)
{
    for (unsigned w = 0; w < s->f->workers; w++)
        fab_wake(s->f, w);
}

static void set_phase(struct supervisor *s, enum fab_phase phase)
{
    s->phase = phase;
    atomic_store(&s->f->control->phase, phase);
    atomic_store(&s->f->metrics.head->phase, phase);
    wake_all(s);
}

/* Restores words that only the supervisor writes, a tick after a stray store. */
static void restore_words(const struct supervisor *s)
{
    struct fab_control *c = s->f->control;
    if (atomic_load(&c->phase) != s->phase)
        atomic_store(&c->phase, s->phase);
    if (atomic_load(&c->gone) != s->gone)
        atomic_store(&c->gone, s->gone);
    c->started_ns = s->started_ns;
    for (unsigned w = 0; w < s->f->workers; w++) {
        _Atomic uint32_t *state = &s->f->area[w].state;
        if (s->member[w].down != (atomic_load(state) == FAB_WORKER_DOWN))
            atomic_store(state, s->member[w].down ? FAB_WORKER_DOWN : FAB_WORKER_RUNNING);
    }
}

static bool all_in(const struct supervisor *s, enum fab_worker_state state)
{
    for (unsigned w = 0; w < s->f->workers; w++) {
        if (!s->member[w].down && atomic_load(&s->f->area[w].state) != state)
            return false;
    }
    return true;
}

static void take_down(struct supervisor *s, unsigned worker)
{
    s->member[worker].pid = 0;
    s->member[worker].down = true;
    atomic_store(&s->f->area[worker].state, FAB_WORKER_DOWN);
    if (!s->plan->restart)
        s->gone |= (uint64_t)1 << worker;
    atomic_store(&s->f->control->gone, s->gone);
    atomic_fetch_add(&s->f->control->changes, 1);
    (void)recover_worker(s->f, worker);
}

/* Notes workers with a complete set-up. */
static void note_set_up(struct supervisor *s)
{
    for (unsigned w = 0; w < s->f->workers; w++) {
        uint32_t state = atomic_load(&s->f->area[w].state);
        s->member[w].ran = s->member[w].ran || state == FAB_WORKER_RUNNING || state == FAB_WORKER_DONE;
    }
}

/* Whether another start would fail, too; reports why. */
static bool is_hopeless(struct supervisor *s, unsigned worker, int signal_number)
{
    int code = HX_EXIT_FAILED;
    if (signal_number == SIGKILL && memory_oom_kills() > s->oom_kills) {
        code = HX_EXIT_ENVIRONMENT;
        hx_complain(NULL,
                    "the machine is out of memory, its kernel killed worker %u (a smaller fabric, fewer --planes, or "
                    "--clock virtual)",
                    worker);
    } else if (s->member[worker].hopeless >= MOST_HOPELESS) {
        hx_complain(NULL, "worker %u died %u times in a row while it was set up: it is not started again", worker,
                    s->member[worker].hopeless);
    } else if (s->outcome->deaths > MOST_DEATHS) {
        hx_complain(NULL, "%u workers died: no other is started", s->outcome->deaths);
    } else {
        return false;
    }
    s->outcome->exit_code = code;
    return true;
}

/* Restarts a dead worker. While fork() fails, the fabric runs without it. */
static void start_again(struct supervisor *s, unsigned worker)
{
    struct member *m = &s->member[worker];
    bool said = m->refused;
    if (start_worker(s, worker)) {
        atomic_fetch_add(&s->f->control->changes, 1);
        wake_all(s);
        return;
    }
    int why = errno;
    m->refused = true;
    m->start_at = now(s) + REFUSED_MS * NS_PER_MS;
    if (said)
        return;
    progress_end(s->plan->progress);
    hx_warn(NULL, "worker %u cannot be started again: %s; its nodes stay down, and it is tried each second", worker,
            strerror(why));
}

static void start_refused(struct supervisor *s)
{
    for (unsigned w = 0; w < s->f->workers; w++)
        if (s->member[w].refused && now(s) >= s->member[w].start_at)
            start_again(s, w);
}

static bool any_refused(const struct supervisor *s)
{
    bool any = false;
    for (unsigned w = 0; w < s->f->workers; w++)
        any = any || s->member[w].refused;
    return any;
}

static void worker_died(struct supervisor *s, unsigned worker, int signal_number)
{
    struct member *m = &s->member[worker];
    struct hx_metrics_worker *shown = &s->f->metrics.worker[worker];
    hx_metrics_set(&shown->deaths, hx_metrics_get(&shown->deaths) + 1);
    s->outcome->deaths++;
    progress_end(s->plan->progress);
    hx_warn(NULL, "worker %u (process %d) was killed by signal %d%s", worker, (int)m->pid, signal_number,
            s->plan->restart ? "; its nodes restart" : "; its nodes stay down");
    note_set_up(s);
    m->hopeless = m->ran ? 0 : m->hopeless + 1;
    take_down(s, worker);
    if (is_hopeless(s, worker, signal_number)) {
        s->stop = true;
    } else if (s->plan->restart && s->phase != FAB_STOPPING) {
        start_again(s, worker);
    }
    wake_all(s);
}

static unsigned worker_of_pid(const struct supervisor *s, pid_t pid)
{
    unsigned w = 0;
    while (w < s->f->workers && s->member[w].pid != pid)
        w++;
    return w;
}

static void machine_died(const struct supervisor *s, const struct machine *m, pid_t pid, int status)
{
    bool killed = WIFSIGNALED(status);
    progress_end(s->plan->progress);
    hx_warn(m->name, "its machine (process %d) %s %d%s", (int)pid, killed ? "was killed by signal" : "ended with code",
            killed ? WTERMSIG(status) : WEXITSTATUS(status), s->plan->restart ? "; it is started again" : "");
}

/* Whether `pid` held the hosts' namespaces: without it no program reaches the fabric. */
static bool netns_holder_died(struct supervisor *s, pid_t pid)
{
    if (pid != s->plan->netns_holder)
        return false;
    progress_end(s->plan->progress);
    hx_complain(NULL, "the process that held the hosts' namespaces (%d) died: the fabric ends", (int)pid);
    s->outcome->exit_code = HX_EXIT_FAILED;
    s->stop = true;
    return true;
}

static void reap(struct supervisor *s)
{
    int status;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
        unsigned worker = worker_of_pid(s, pid);
        const struct machine *machine = machines_ended(&s->plan->external->machines, pid);
        if (machine) {
            machine_died(s, machine, pid, status);
            continue;
        }
        if (netns_holder_died(s, pid))
            continue;
        if (s->plan->attachments && attach_server_ended(&s->plan->attachments->attach_server, pid))
            continue;
        if (worker == s->f->workers) {
            (void)watch_ended(&s->plan->progress->watch, pid);
            continue;
        }
        if (WIFSIGNALED(status)) {
            worker_died(s, worker, WTERMSIG(status));
            continue;
        }
        s->member[worker].pid = 0;
        if (s->phase != FAB_STOPPING || WEXITSTATUS(status) != 0) {
            s->outcome->exit_code = WEXITSTATUS(status) ? WEXITSTATUS(status) : HX_EXIT_FAILED;
            s->stop = true;
        }
    }
}

/* ---- phases ---- */

static void take_sums(struct supervisor *s, uint64_t at)
{
    struct outcome *o = s->outcome;
    struct warm_up *w = s->plan->warm_up;
    if (w->ns && !w->over_ns) /* the run was shorter than the warm-up */
        warm_up_end(w, s->f, w->ns < at - s->started_ns ? w->ns : at - s->started_ns);
    warm_up_count(s->f, &o->bytes_delivered, &o->packets_delivered, &o->hops);
    o->elapsed_ns = at - s->started_ns - w->over_ns;
    o->bytes_delivered -= w->bytes;
    o->packets_delivered -= w->packets;
    o->hops -= w->hops;
    free(o->job_bytes);
    o->job_bytes = warm_up_count_jobs(s->f);
    for (uint32_t job = 0; w->job_bytes && job < s->f->jobs.count; job++)
        o->job_bytes[job] -= w->job_bytes[job];
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
        s->outcome->interrupted = true;
        enum hx_request request = hx_signals_request(&s->requests, now(s));
        if (request == HX_REQUEST_AGAIN || s->phase == FAB_STARTING)
            s->stop = true;
        else if (request == HX_REQUEST_FIRST && s->phase == FAB_RUNNING)
            begin_draining(s, (uint64_t)INTERRUPT_MS * 1000000);
        else if (request == HX_REQUEST_FIRST)
            s->deadline = now(s) + (uint64_t)INTERRUPT_MS * 1000000;
    }
}

/* Whether no rank of a schedule goes on: none is active, and no message is in progress. One look cannot tell, since a
 * message may arrive behind it: two in a row with equal counts can. */
static bool schedule_rests(struct supervisor *s)
{
    const struct schedule_plan *plan = s->plan->duty.workload.schedule;
    const struct fab_control *control = s->f->control;
    if (!plan || atomic_load(&control->collective_ended) || atomic_load(&control->changes))
        return true;
    const struct schedule_activity before = s->activity;
    s->activity = schedule_plan_activity(plan);
    return !before.any && !s->activity.any && before.sent == s->activity.sent &&
           before.arrived == s->activity.arrived && before.sent == before.arrived;
}

/* Whether all running workers are done; the run is complete if none stays down. */
static bool all_done(struct supervisor *s)
{
    bool done = all_in(s, FAB_WORKER_DONE) && !any_refused(s) && schedule_rests(s);
    s->outcome->complete = done && s->gone == 0;
    return done;
}

/* Returns the end of the measurement: the end of sending, or of the duration if there is one. */
static uint64_t end_of_sending(const struct supervisor *s)
{
    uint64_t last = s->started_ns;
    if (s->plan->duration_ns)
        return s->started_ns + s->plan->duration_ns;
    for (unsigned w = 0; w < s->f->workers; w++)
        last = s->f->area[w].finished_ns > last ? s->f->area[w].finished_ns : last;
    return last < now(s) ? last : now(s);
}

static void note_warm_up(struct supervisor *s)
{
    struct warm_up *w = s->plan->warm_up;
    uint64_t elapsed = now(s) - s->started_ns;
    if (w->ns && !w->over_ns && elapsed >= w->ns)
        warm_up_end(w, s->f, elapsed);
}

static void send_signal(void *of, unsigned worker, int number)
{
    struct supervisor *s = of;
    if (s->member[worker].pid)
        (void)kill(s->member[worker].pid, number);
}

/* Carries out faults that are due. Records them first, so that their costs count from the start. Returns whether links
 * changed. */
static bool begin_faults(struct supervisor *s, uint64_t since_start_ns)
{
    faults_validate(s->plan->faults, since_start_ns, false);
    if (!faults_advance(s->plan->faults, since_start_ns, send_signal, s))
        return false;
    renotify_begin(&s->renotify, since_start_ns);
    return true;
}

static void advance(struct supervisor *s)
{
    switch (s->phase) {
    case FAB_STARTING:
        if (all_in(s, FAB_WORKER_RUNNING)) {
            s->started_ns = now(s);
            s->f->control->started_ns = s->started_ns;
            hx_metrics_set(&s->f->metrics.head->started_ns, hx_metrics_now());
            (void)begin_faults(s, 0); /* before the first packet */
            set_phase(s, FAB_RUNNING);
            if (s->plan->begun)
                s->plan->begun(s->plan->of);
        }
        break;
    case FAB_RUNNING:
        note_warm_up(s);
        if (all_done(s)) {
            take_sums(s, end_of_sending(s));
            s->stop = true;
        } else if (s->plan->duration_ns && now(s) - s->started_ns >= s->plan->duration_ns) {
            begin_draining(s, drain_ns);
        }
        break;
    default:
        s->stop = s->stop || all_done(s) || now(s) > s->deadline;
    }
}

/* ---- faults ---- */

static uint64_t since_start(const struct supervisor *s)
{
    return s->started_ns ? now(s) - s->started_ns : 0;
}

/* Whether all running workers route by the present conditions. */
static bool all_follow(const struct supervisor *s)
{
    uint32_t conditions = atomic_load(&s->f->control->conditions);
    for (unsigned w = 0; w < s->f->workers; w++) {
        if (!s->member[w].down && atomic_load(&s->f->area[w].conditions_seen) != conditions)
            return false;
    }
    return true;
}

/* Times count from the start of sending. */
static void tick_faults(struct supervisor *s)
{
    faults_answer(s->plan->faults, since_start(s));
    if (!s->started_ns)
        return;
    uint64_t now_ns = since_start(s);
    faults_note_followed(s->plan->faults);
    if (begin_faults(s, now_ns)) {
        wake_all(s);
    } else if (renotify_is_due(&s->renotify, now_ns, all_follow(s))) {
        atomic_fetch_add(&s->f->control->conditions, 1);
        wake_all(s);
    }
}

/* Returns the time to poll: a tick, or less if a fault is due sooner. */
static int tick_ms(const struct supervisor *s)
{
    uint64_t due = faults_due(s->plan->faults);
    uint64_t before = since_start(s);
    uint64_t ms = due > before ? (due - before) / NS_PER_MS : 0;
    return s->started_ns && ms < TICK_MS ? (int)ms : TICK_MS;
}

static void watch_external(struct supervisor *s)
{
    struct hx_problem problem;
    if (s->stop || external_watch(s->plan->external, now(s), &problem))
        return;
    progress_end(s->plan->progress);
    hx_complain(problem.where, "%s", problem.what);
    s->outcome->exit_code = problem.exit_code;
    s->stop = true;
}

/* Waits for events or a tick. Answers requests at the attach socket at once. */
static void await(const struct supervisor *s)
{
    struct attachments *a = s->plan->attachments;
    struct pollfd wait[] = {{.fd = s->signals, .events = POLLIN},
                            {.fd = a ? attach_server_poll_fd(&a->attach_server) : -1, .events = POLLIN}};
    (void)poll(wait, sizeof wait / sizeof *wait, tick_ms(s));
    if (a)
        attach_server_answer(&a->attach_server, &a->programs);
}

/* Moves one page at a time while workers run: short runs do not wait for it, and it takes little of a core. */
static void gather_memory(struct supervisor *s)
{
    if (!s->started_ns || now(s) < s->gather_at || s->gathered + HX_HUGE_PAGE > s->f->arena.bytes)
        return;
    hx_huge_gather(s->f->arena.base + s->gathered);
    s->gathered += HX_HUGE_PAGE;
    s->gather_at = now(s) + GATHER_MS * NS_PER_MS;
}

static void finish_dead(struct supervisor *s)
{
    for (unsigned w = 0; w < s->f->workers; w++) {
        if (s->member[w].down)
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
            any = any || s->member[w].pid;
        if (!any)
            return;
        (void)poll(NULL, 0, TICK_MS);
    }
    for (unsigned w = 0; w < s->f->workers; w++) {
        if (s->member[w].pid == 0)
            continue;
        (void)kill(s->member[w].pid, SIGKILL);
        (void)waitpid(s->member[w].pid, NULL, 0);
        take_down(s, w);
    }
}

void supervisor_run(const struct run_plan *plan, struct outcome *outcome)
{
    /* Workers see a constant fabric; the supervisor writes for dead ones. */
    struct supervisor s = {.plan = plan, .f = (struct fab_fabric *)(uintptr_t)plan->duty.f, .outcome = outcome};
    *outcome = (struct outcome){0};
    s.oom_kills = memory_oom_kills();
    s.signals = hx_signals_open();
    start_all(&s);
    while (!s.stop) {
        await(&s);
        take_signals(&s);
        reap(&s);
        finish_dead(&s);
        start_refused(&s);
        note_set_up(&s);
        restore_words(&s);
        taps_reap(s.f);
        tick_faults(&s);
        advance(&s);
        show_states(&s);
        progress_tick(plan->progress, s.f, now(&s));
        watch_external(&s);
        gather_memory(&s);
    }
    uint64_t end = now(&s);
    faults_note_followed(plan->faults);
    machines_stop(&plan->external->machines);
    for (unsigned w = 0; w < s.f->workers; w++)
        send_signal(&s, w, SIGCONT); /* a stopped worker cannot exit */
    stop_workers(&s);
    faults_validate(plan->faults, since_start(&s), true);
    show_states(&s);
    progress_end(plan->progress);
    if (outcome->elapsed_ns == 0 && s.started_ns)
        take_sums(&s, end);
    outcome->drained_ns = s.started_ns ? end - s.started_ns : 0;
    uint64_t all = (uint64_t)s.f->workers * s.f->per_home;
    outcome->buffers_missing = all - fab_count_buffers(s.f);
    (void)close(s.signals);
}
