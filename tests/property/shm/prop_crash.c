/* prop_crash.c - a worker is killed at any instruction: no buffer and no message is lost or doubled.
 *
 * killed_at_any_instruction: a child process runs worker 0 of a small fabric, the test itself runs worker 1, in turn.
 * After a random number of sweeps the child is single-stepped (ptrace) a random number of instructions into a step and
 * killed with SIGKILL. Half of the kills aim at the publication of a step, where the redo record counts; the others are
 * anywhere. Then recover_worker() acts for it, an audit by the documented layout counts every buffer, and a new child
 * continues.
 *
 * Meanwhile links get all faults of faulty.h and lose them again, so their steps are interrupted, too.
 *
 * killed_between_steps: the same without processes, thousands of times, for either worker, also both at once.
 *
 * At the end of each, all begun messages must have arrived. HX_SEED chooses other runs. */
#include "fabric-emu/live/recover.h"
#include "tests/support/shm/support_shm.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"
#include "workload/random.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    KILLS = 60,               /* per fabric, by instruction */
    LIVES = 800,              /* per fabric, between steps */
    ROUNDS = 2,               /* of these */
    MOST_SWEEPS = 10,         /* of a life */
    MOST_INSTRUCTIONS = 1800, /* into a step */
    BEFORE_RECORD = 300,      /* most of the instructions from the first word of a record to the last */
    SURELY_DONE = 5000,       /* far more than a step takes, also in instrumented code */
    BEHIND_RECORD = 60,
    AN_ENTRY = 7, /* about the instructions to publish a word */
    NO_PTRACE = 77,
    PLENTY = 100000,       /* messages to each destination: more than any run needs */
    TIMEOUT_NS = 300000000 /* more than an endpoint's timeout */
};

/* clang-format off */
static const struct support_plan plans[] = {
    /* full of waiting packets and others that pass them */
    {"2x2 Hx2Mesh", .workers = 2, .planes = 1, .credits = 256, .pattern = HX_UNIFORM, .message = 40000},
    {"2x2 Hx2Mesh", .workers = 2, .planes = 2, .credits = 32, .pattern = HX_ALL_TO_ALL, .message = 200},
    {"3x2 H2x1Mesh", .workers = 3, .planes = 1, .credits = 256, .pattern = HX_ALL_TO_ALL_RANDOM, .message = 33000},
    {"2x1 Hx2Mesh", .workers = 2, .planes = 4, .credits = 64, .pattern = HX_INCAST, .message = 100},
    {"2x1 Hx2Mesh", .workers = 2, .planes = 1, .credits = 512, .pattern = HX_INCAST, .message = 163840},
    /* acknowledgements of one life that meet messages of the next */
    {"3x2 H2x1Mesh", .workers = 3, .planes = 1, .credits = 512, .pattern = HX_ALL_TO_ALL_RANDOM, .message = 8300},
};
/* clang-format on */
enum { PLANS = sizeof plans / sizeof *plans };

/* ---- one run ---- */

struct run {
    const struct support_plan *plan;
    uint64_t seed, drawn;
    struct support s;
    struct worker worker[SHM_MAX_WORKERS]; /* those that the test runs itself */
    bool runs[SHM_MAX_WORKERS];
    unsigned case_number;
    unsigned redone; /* kills that left a record to complete */
};

static uint32_t draw(struct run *r, uint32_t below)
{
    return random_below(random_of(r->seed, 77, r->drawn++), below);
}

static struct run the_run; /* a failed test leaves it open for close_after_failure() */

static struct run *open_run(const struct support_plan *plan, uint64_t seed)
{
    struct support_plan seeded = *plan;
    seeded.seed = seed;
    seeded.count = PLENTY;
    the_run = (struct run){.plan = plan, .seed = seed};
    support_open(&the_run.s, &seeded);
    return &the_run;
}

static void close_run(struct run *r)
{
    for (unsigned w = 0; w < r->s.f.workers; w++) {
        if (r->runs[w])
            support_forget(&r->worker[w]);
    }
    support_close(&r->s);
    r->plan = NULL;
}

static int close_after_failure(void **state)
{
    (void)state;
    if (the_run.plan)
        close_run(&the_run);
    return 0;
}

static void start(struct run *r, unsigned worker)
{
    support_start(&r->s, &r->worker[worker], worker);
    r->runs[worker] = true;
}

/* Counters of the endpoints, which survive restarts. */
static void validate_counts(const struct run *r, const char *when)
{
    uint64_t sent = 0;
    uint64_t delivered = 0;
    for (uint32_t rank = 0; rank < r->s.f.g->hosts; rank++) {
        sent += r->s.f.accelerator[rank].stats.packets_sent + r->s.f.accelerator[rank].stats.packets_repeated;
        delivered += r->s.f.accelerator[rank].stats.packets_delivered;
    }
    if (delivered > sent)
        fail_msg("%s, seed %llu, case %u, %s: %llu packets were sent and %llu delivered", r->plan->spec,
                 (unsigned long long)r->seed, r->case_number, when, (unsigned long long)sent,
                 (unsigned long long)delivered);
}

static void validate(struct run *r, const char *when)
{
    validate_counts(r, when);
    struct support_audit a = support_audit(&r->s);
    const struct support_ledger *l = r->s.ledger;
    if (a.missing || a.doubled || a.foreign)
        fail_msg("%s, seed %llu, case %u, %s: of %llu buffers %llu missing, %llu doubled, %llu entries of none",
                 r->plan->spec, (unsigned long long)r->seed, r->case_number, when, (unsigned long long)a.buffers,
                 (unsigned long long)a.missing, (unsigned long long)a.doubled, (unsigned long long)a.foreign);
    if (l->never_received || l->incomplete || l->mixed || l->wrong || l->failed)
        fail_msg("%s, seed %llu, case %u, %s: messages acknowledged but not received %llu, received in part %llu, "
                 "packets mixed %llu, wrong %llu, messages given up %llu",
                 r->plan->spec, (unsigned long long)r->seed, r->case_number, when,
                 (unsigned long long)l->never_received, (unsigned long long)l->incomplete, (unsigned long long)l->mixed,
                 (unsigned long long)l->wrong, (unsigned long long)l->failed);
}

/* ---- faulty links ---- */

/* A random probability, often 0. */
static uint32_t draw_share(struct run *r, uint32_t most)
{
    return draw(r, 2) ? 0 : draw(r, most);
}

static void mend_all(struct run *r)
{
    const struct shm_condition well = {.down = 0};
    for (uint32_t number = 0; number < fab_ports(&r->s.f); number++)
        fab_set_condition(&r->s.f, number, &well);
    atomic_fetch_add(&r->s.f.control->conditions, 1);
}

/* Sets random faults of a random switch's link; none stays down as long as a message waits for a path. */
static void set_random_faults(struct run *r)
{
    const struct hx_fabric *g = r->s.f.g;
    unsigned plane = draw(r, g->planes);
    uint32_t node = draw(r, g->nodes);
    unsigned port = draw(r, hx_fabric_ports(g, node));
    struct shm_condition c = {.down = draw(r, 8) == 0,
                              .loss = draw_share(r, HX_FAULT_WHOLE / 50),
                              .corrupt = draw_share(r, HX_FAULT_WHOLE / 50),
                              .duplicate = draw_share(r, HX_FAULT_WHOLE / 4),
                              .reorder = draw_share(r, HX_FAULT_WHOLE / 4),
                              .credit_loss = draw_share(r, HX_FAULT_WHOLE / 2),
                              .delay_ns = draw_share(r, 4000),
                              .bytes_a_second = draw(r, 4) ? 0 : 10000000000U};
    if (node < g->hosts && port == HX_LOCAL)
        return;
    if (draw(r, 4) == 0)
        c = (struct shm_condition){.down = 0};
    if (r->case_number % 4 == 0)
        mend_all(r);
    support_set_condition(&r->s, plane, node, port, &c);
}

static unsigned sweep_others(struct run *r, bool may_begin)
{
    unsigned work = 0;
    for (unsigned w = 0; w < r->s.f.workers; w++)
        work += r->runs[w] ? support_sweep(&r->s, &r->worker[w], may_begin) : 0;
    return work;
}

static void tell_others(struct run *r)
{
    for (unsigned w = 0; w < r->s.f.workers; w++) {
        if (r->runs[w])
            support_notice(&r->worker[w]);
    }
}

/* Acts as the supervisor after a death, while the others run for a while before and after they notice it. */
static void handle_death(struct run *r, unsigned worker)
{
    support_take_down(&r->s, worker);
    (void)recover_worker(&r->s.f, worker);
    validate(r, "after recovery");
    assert_int_equal(support_waiting_for(&r->s, worker), 0);
    for (unsigned n = draw(r, 3); n; n--)
        (void)sweep_others(r, true);
    if (draw(r, 2)) {
        tell_others(r);
        for (unsigned n = draw(r, 3); n; n--)
            (void)sweep_others(r, true);
    }
    (void)recover_worker(&r->s.f, worker);
    validate(r, "after late neighbours");
    assert_int_equal(support_waiting_for(&r->s, worker), 0);
    r->s.now += draw(r, 4) == 0 ? TIMEOUT_NS : 1000;
}

static void revive(struct run *r, unsigned worker)
{
    support_bring_back(&r->s, worker);
    if (draw(r, 2))
        tell_others(r);
}

/* Sweeps in which each endpoint checks all its sends: it checks one in a step. */
static unsigned sweeps_to_look(const struct run *r)
{
    unsigned most = 0;
    for (unsigned w = 0; w < r->s.f.workers; w++) {
        for (unsigned i = 0; i < r->worker[w].accelerators; i++) {
            unsigned sends = r->worker[w].accelerator[i].endpoint.config.sends;
            most = sends > most ? sends : most;
        }
    }
    return most;
}

/* No message begins; all begun ones must arrive, and every buffer must return home. Time advances once all endpoints
 * have checked for late packets and none is late. Otherwise an endpoint with rare checks fails messages without a
 * probe. */
static void finish(struct run *r)
{
    mend_all(r);
    for (unsigned w = 0; w < r->s.f.workers; w++) {
        if (!r->runs[w])
            start(r, w);
    }
    tell_others(r);
    const unsigned patience = sweeps_to_look(r);
    bool done = false;
    for (unsigned sweeps = 0, idle = 0; !done && sweeps < 200000; sweeps++) {
        idle = sweep_others(r, false) ? 0 : idle + 1;
        if (idle == patience) {
            r->s.now += TIMEOUT_NS;
            idle = 0;
        }
        done = true;
        for (unsigned w = 0; w < r->s.f.workers; w++)
            done = done && support_is_done(&r->worker[w], false);
    }
    /* Acknowledgements of complete messages may still be in flight. */
    while (sweep_others(r, false)) {
    }
    validate(r, "at the end");
    if (!done || support_unreceived(&r->s) || support_audit(&r->s).in_links)
        fail_msg("%s, seed %llu: %s, %llu messages never arrived, %llu buffers in links at the end", r->plan->spec,
                 (unsigned long long)r->seed, done ? "done" : "NOT done", (unsigned long long)support_unreceived(&r->s),
                 (unsigned long long)support_audit(&r->s).in_links);
}

/* ---- kills between steps ---- */

static void run_and_kill(struct run *r, unsigned victim)
{
    set_random_faults(r);
    if (draw(r, 2))
        tell_others(r);
    if (!r->runs[victim])
        start(r, victim);
    for (unsigned n = draw(r, MOST_SWEEPS); n; n--) {
        (void)sweep_others(r, true);
        r->s.now += 1000;
    }
    unsigned steps = draw(r, support_steps(&r->worker[victim]) + 1);
    for (unsigned step = 0; step < steps; step++)
        (void)support_step(&r->s, &r->worker[victim], step, true);
    support_forget(&r->worker[victim]);
    r->runs[victim] = false;
    handle_death(r, victim);
    revive(r, victim);
}

static void run_and_kill_often(struct run *r)
{
    for (unsigned w = 0; w < r->s.f.workers; w++)
        start(r, w);
    const unsigned lives = effort_few(LIVES / 4, LIVES);
    for (r->case_number = 0; r->case_number < lives; r->case_number++) {
        run_and_kill(r, draw(r, r->s.f.workers));
        for (unsigned w = 0; draw(r, 4) && w < r->s.f.workers; w++) {
            if (!r->runs[w])
                start(r, w);
        }
    }
    finish(r);
    close_run(r);
}

static void killed_between_steps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < effort(ROUNDS) * PLANS; i++)
        run_and_kill_often(open_run(&plans[i % PLANS], seeded_by(1) * 1000 + i));
}

/* ---- kills at any instruction: the child ---- */

/* Orders for the child, in memory shared with the test. */
struct orders {
    unsigned stop_at; /* stops before this step, modulo the steps of a sweep */
    bool aim;         /* stops again when that step, or a later one, begins to write its redo record */
};

/* Pages of the child's redo record, mapped a second time so that only they are protected. */
static struct {
    uint8_t *pages;
    size_t bytes;
} record;

static void record_is_written(int number, siginfo_t *info, void *context)
{
    (void)context;
    const uint8_t *at = info->si_addr;
    if (at < record.pages || at >= record.pages + record.bytes) {
        (void)signal(number, SIG_DFL); /* a crash of its own */
        return;
    }
    (void)mprotect(record.pages, record.bytes, PROT_READ | PROT_WRITE);
    (void)kill(getpid(), SIGSTOP);
}

static void map_record(const struct run *r, struct worker *w)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t at = (size_t)((uint8_t *)w->shm.step.redo - r->s.f.arena.base);
    record.bytes = (at % page + sizeof *w->shm.step.redo + page - 1) / page * page;
    record.pages =
        mmap(NULL, record.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->s.f.arena.fd, (off_t)(at / page * page));
    if (record.pages == MAP_FAILED)
        abort();
    w->shm.step.redo = (struct shm_redo *)(void *)(record.pages + at % page);
    const struct sigaction action = {.sa_sigaction = record_is_written, .sa_flags = SA_SIGINFO};
    (void)sigaction(SIGSEGV, &action, NULL);
}

_Noreturn static void live(struct run *r, const volatile struct orders *orders)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(NO_PTRACE);
    struct worker w;
    support_start(&r->s, &w, 0);
    map_record(r, &w);
    for (;;) {
        for (unsigned step = 0; step < support_steps(&w); step++) {
            if (step == orders->stop_at % support_steps(&w)) {
                (void)kill(getpid(), SIGSTOP);
                if (orders->aim)
                    (void)mprotect(record.pages, record.bytes, PROT_NONE);
            }
            (void)support_step(&r->s, &w, step, true);
        }
    }
}

/* ---- kills at any instruction: the test ---- */

enum fate { STOPPED, REFUSED /* no ptrace on this machine */ };

/* Lets the child run until it stops. `request` 0: it is running already. */
static enum fate go_on(struct run *r, pid_t child, int request, int *status)
{
    /* Only SIGSEGV is for the child itself: record_is_written(). */
    uintptr_t deliver = request && WIFSTOPPED(*status) && WSTOPSIG(*status) == SIGSEGV ? SIGSEGV : 0;
    if (request && ptrace((enum __ptrace_request)request, child, NULL, (void *)deliver) != 0)
        return REFUSED;
    assert_int_equal(waitpid(child, status, 0), child);
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == NO_PTRACE)
        return REFUSED;
    if (!WIFSTOPPED(*status))
        fail_msg("%s, seed %llu, case %u: the worker ended by itself, status %#x", r->plan->spec,
                 (unsigned long long)r->seed, r->case_number, (unsigned)*status);
    return STOPPED;
}

static uint32_t record_entries(const struct run *r)
{
    return (uint32_t)atomic_load(&r->s.f.area[0].redo.count);
}

enum until { NEVER, RECORD_SET, RECORD_CLEAR };

static bool is_there(const struct run *r, enum until until)
{
    return until != NEVER && (until == RECORD_SET) == (record_entries(r) != 0);
}

/* Steps so many instructions, but not beyond the point where the child stops by itself, or where its record is
 * `until`. */
static enum fate single_step(struct run *r, pid_t child, unsigned instructions, enum until until)
{
    int status = 0;
    for (unsigned i = 0; i < instructions && !is_there(r, until); i++) {
        if (go_on(r, child, PTRACE_SINGLESTEP, &status) == REFUSED)
            return REFUSED;
        if (WSTOPSIG(status) != SIGTRAP)
            break;
    }
    return STOPPED;
}

/* Steps from the first write of a record into the writing, into the publishing, or to just behind it. */
static enum fate step_around_record(struct run *r, pid_t child)
{
    unsigned where = draw(r, 8);
    if (where == 0)
        return single_step(r, child, draw(r, BEFORE_RECORD), NEVER);
    if (single_step(r, child, SURELY_DONE, RECORD_SET) == REFUSED)
        return REFUSED;
    if (where <= 5)
        return single_step(r, child, draw(r, 1 + AN_ENTRY * record_entries(r)), NEVER);
    if (single_step(r, child, SURELY_DONE, RECORD_CLEAR) == REFUSED)
        return REFUSED;
    return single_step(r, child, draw(r, BEHIND_RECORD), NEVER);
}

static enum fate step_into_record(struct run *r, pid_t child)
{
    int status = 0;
    if (go_on(r, child, PTRACE_CONT, &status) == REFUSED)
        return REFUSED;
    if (WSTOPSIG(status) == SIGSEGV && go_on(r, child, PTRACE_CONT, &status) == REFUSED)
        return REFUSED;
    return step_around_record(r, child);
}

/* A child's life: sweeps in turn with the others, then instruction by instruction up to its kill. */
static enum fate run_child(struct run *r, volatile struct orders *orders, pid_t child)
{
    int status = 0;
    enum fate fate = go_on(r, child, 0, &status);
    for (unsigned n = draw(r, MOST_SWEEPS); fate == STOPPED && n; n--) {
        if (draw(r, 3) == 0) /* a slow neighbour: packets wait, and others pass them */
            (void)sweep_others(r, true);
        fate = go_on(r, child, PTRACE_CONT, &status);
    }
    orders->stop_at = draw(r, UINT16_MAX);
    if (fate == STOPPED)
        fate = go_on(r, child, PTRACE_CONT, &status);
    orders->aim = draw(r, 2);
    if (fate == STOPPED)
        fate = orders->aim ? step_into_record(r, child) : single_step(r, child, draw(r, MOST_INSTRUCTIONS), NEVER);
    return fate;
}

static void kill_child(pid_t child)
{
    int status;
    (void)kill(child, SIGKILL);
    while (waitpid(child, &status, 0) == child && !WIFSIGNALED(status) && !WIFEXITED(status)) {
    }
}

static enum fate kill_once(struct run *r, volatile struct orders *orders)
{
    *orders = (struct orders){0};
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        live(r, orders);
    if (run_child(r, orders, child) == REFUSED) {
        kill_child(child);
        return REFUSED;
    }
    kill_child(child);
    r->redone += record_entries(r) != 0;
    handle_death(r, 0);
    revive(r, 0);
    return STOPPED;
}

/* Kills one child after the other. */
static enum fate kill_often(struct run *r, volatile struct orders *orders)
{
    for (unsigned w = 1; w < r->s.f.workers; w++)
        start(r, w);
    const unsigned kills = effort(KILLS);
    for (; r->case_number < kills; r->case_number++) {
        set_random_faults(r);
        tell_others(r);
        if (kill_once(r, orders) == REFUSED)
            return REFUSED;
    }
    finish(r);
    print_message("%s: %u kills, %u of them in the middle of publishing a step\n", r->plan->spec, kills, r->redone);
    assert_true(r->redone >= kills / 10); /* or this proves little */
    return STOPPED;
}

/* Switches between processes are many times faster on one core. */
static void stay_on_this_core(cpu_set_t *before)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    (void)sched_getaffinity(0, sizeof *before, before);
    (void)sched_setaffinity(0, sizeof one, &one);
}

static void killed_at_any_instruction(void **state)
{
    (void)state;
    volatile struct orders *orders =
        mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(orders != MAP_FAILED);
    cpu_set_t before;
    stay_on_this_core(&before);
    enum fate fate = STOPPED;
    for (unsigned i = 0; fate == STOPPED && i < PLANS; i++) {
        struct run *r = open_run(&plans[i], seeded_by(1) * 1000 + i);
        fate = kill_often(r, orders);
        close_run(r);
    }
    (void)sched_setaffinity(0, sizeof before, &before);
    (void)munmap((void *)(uintptr_t)orders, sizeof *orders);
    if (fate == REFUSED) {
        print_message("skipped: this machine does not permit ptrace\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(killed_between_steps, close_after_failure),
        cmocka_unit_test_teardown(killed_at_any_instruction, close_after_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
