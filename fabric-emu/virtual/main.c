/* main.c - the program hxmesh-virtual: `hxmesh run --clock virtual`. */
#include "base/arguments.h"
#include "base/error.h"
#include "base/json.h"
#include "base/processor.h"
#include "healthy.h"
#include "launch.h"
#include "mpirun.h"
#include "recording.h"
#include "setup.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

_Static_assert((int)HX_MOST_TRAIN == (int)VIRTUAL_MOST_TRAIN, "all accepted trains are possible");
_Static_assert((int)HX_MOST_WORKERS <= (int)VIRTUAL_MOST_WORKERS && (int)HX_MOST_RANKS == (int)VIRTUAL_MOST_WORKERS,
               "all accepted numbers of workers are possible");

/* Workers wait for each other in each window, so more workers than cores do not help. Their number does not change
 * results. */
static unsigned workers_of(const struct run_options *o)
{
    unsigned asked = o->settings.fast_forward > 0 ? 1 : (unsigned)o->settings.workers;
    unsigned cores = hx_processor_cores();
    unsigned n = asked && (asked < cores || o->share_cores) ? asked : cores;
    return n < HX_MOST_WORKERS ? n : HX_MOST_WORKERS;
}

static int exit_code(const struct result *r)
{
    if (r->outcome.exit_code)
        return r->outcome.exit_code;
    if (r->outcome.interrupted)
        return HX_EXIT_INTERRUPTED;
    return result_is_good(r) ? HX_EXIT_DONE : HX_EXIT_FAILED;
}

static void report(const struct result *r, const struct recording *captured, const struct run_options *o)
{
    json_t *document = result_json(r);
    if (captured)
        (void)json_object_set_new(document, "capture", capture_report_json(&captured->report));
    run_options_write(o, r, document);
    if (run_options_print(o))
        result_print(r);
    if (run_options_print(o) && captured)
        capture_report_print(&captured->report);
    if (captured)
        (void)capture_report_complain(&captured->report);
}

/* A run, and that without faults with --compare-healthy. */
struct launch {
    struct setup s;
    struct recording recording;
    struct healthy_run healthy;
};

/* Forks the run without faults, which has no output but its figures. */
static void compare(struct launch *l)
{
    struct run_options *o = &l->s.o;
    if (virtual_channel_is_of_ranks())
        hx_die(HX_EXIT_USAGE, "--compare-healthy", "is not for ranks of mpirun (run each of both by itself)");
    healthy_fork(&l->healthy);
    if (!l->healthy.is_child)
        return;
    hx_fault_settings_clear(&o->faults);
    o->capture.file = NULL;
    o->watch = false;
    o->common.quiet = true;
}

static void take_options(struct launch *l, int argc, char **argv)
{
    setup_parse(&l->s, argc, argv, false);
    if (l->s.o.compare_healthy)
        compare(l);
    setup_settle(&l->s);
}

static void prepare(struct launch *l)
{
    struct setup *s = &l->s;
    setup_prepare(s, workers_of(&s->o));
    if (model_is_reported(&s->m))
        model_announce(&s->m, s->o.name);
    if (s->o.capture.file) {
        recording_open(&l->recording, &s->m, &s->o.capture);
        s->m.recording = &l->recording;
    }
}

static void tell_healthy(const struct launch *l, const struct result *r)
{
    const struct healthy_figures figures = result_healthy_figures(r);
    if (exit_code(r) == HX_EXIT_DONE)
        healthy_tell(&l->healthy, &figures);
    else if (!r->outcome.interrupted)
        hx_complain("--compare-healthy", "without the faults something was lost, corrupted or not finished");
}

/* Runs what the child of --compare-healthy runs. Returns its exit code. */
static int wait_for_healthy(struct launch *l)
{
    healthy_begin(&l->healthy);
    const int code = healthy_wait(&l->healthy);
    l->s.without_faults =
        (struct healthy){.without = l->healthy.figures, .left = links_left_of(&l->s.faults, l->s.o.g)};
    return code;
}

static int run(const struct launch *l)
{
    const struct setup *s = &l->s;
    struct result r;
    const bool reported = model_is_reported(&s->m);
    const struct outcome outcome = launch_model(
        &s->m, (struct launch_show){.quiet = s->o.common.quiet || !reported, .watch = s->o.watch && reported});
    const bool is_over = outcome.exit_code && (outcome.cut_short || !atomic_load(&s->m.control->begun));
    if (!reported || is_over)
        return outcome.exit_code;
    setup_report(s, &outcome, s->o.common.json != NULL, &r);
    if (l->healthy.is_child)
        tell_healthy(l, &r);
    else if (r.outcome.cut_short)
        hx_complain("hxmesh run", "interrupted again before all workers had reported: no report");
    else
        report(&r, s->m.recording, &s->o);
    int code = exit_code(&r);
    result_free(&r);
    return code;
}

/* Where runs are compared: the child awaits its begin, and this process the child's end. Returns an exit code. */
static int begin_compared(struct launch *l)
{
    if (l->healthy.is_child)
        healthy_await(&l->healthy);
    return l->s.o.compare_healthy && !l->healthy.is_child ? wait_for_healthy(l) : HX_EXIT_DONE;
}

static void clean_up(struct launch *l)
{
    if (l->s.m.recording)
        recording_close(l->s.m.recording);
    setup_close(&l->s);
}

/* Ranks end when mpirun, or its daemon on this machine, is killed. */
static void begin_rank(void)
{
    pid_t parent = getppid();
    if (!virtual_channel_is_of_ranks())
        return;
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        exit(HX_EXIT_ENVIRONMENT);
    virtual_channel_begin();
}

int main(int argc, char **argv)
{
    struct launch l = {.s = {.collectives = {0}}};
    if (!virtual_channel_is_of_ranks())
        run_options_join_ranks(argv);
    launch_block_signals();
    begin_rank();
    struct hx_arguments given = hx_arguments_copy(argv); /* parsing puts operands last */
    take_options(&l, argc, argv);
    int code;
    if (l.s.o.ranks.count && !virtual_channel_is_of_ranks()) {
        code = mpirun_run(&l.s.o, given.item);
    } else {
        code = begin_compared(&l);
        if (code == HX_EXIT_DONE) {
            prepare(&l);
            code = run(&l);
        }
    }
    hx_arguments_free(&given);
    clean_up(&l);
    hx_output_close(stdout, "-");
    return code;
}
