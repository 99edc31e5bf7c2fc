/* main.c - the program hxmesh-virtual: `hxmesh run --clock virtual`. */
#include "base/arguments.h"
#include "base/error.h"
#include "base/json.h"
#include "base/processor.h"
#include "build.h"
#include "fabric-emu/memory.h"
#include "fabric-emu/run_options.h"
#include "healthy.h"
#include "launch.h"
#include "mpirun.h"
#include "recording.h"
#include "virtual_report.h"

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

/* An event queue has bits for that time and a few seconds more. */
_Static_assert(HX_MOST_SIMULATED *PS_PER_NS < VIRTUAL_NEVER, "all times fit");

static void check_jobs(const struct run_options *o)
{
    if (o->settings.duration_ns > HX_MOST_SIMULATED)
        hx_die(HX_EXIT_USAGE, "--duration", "is to be %dh at most where time is simulated", HX_MOST_SIMULATED_HOURS);
    for (unsigned i = 0; i < o->spec.named_jobs; i++) {
        const struct hx_job *job = &o->spec.named[i];
        if (job->start_ns + hx_job_settings(&o->settings, job).duration_ns > HX_MOST_SIMULATED)
            hx_die(HX_EXIT_CONFIG, o->spec.source,
                   "job %u: is to end %dh after the start at most where time is simulated", job->tag,
                   HX_MOST_SIMULATED_HOURS);
    }
}

static struct hx_faults load_faults(struct run_options *o)
{
    struct hx_faults faults = run_options_faults(o);
    for (size_t i = 0; i < faults.count; i++) {
        const struct hx_fault *fault = &faults.fault[i];
        if (fault->target.place == HX_PLACE_WORKER)
            hx_die(HX_EXIT_USAGE, "--fault",
                   "'%s': simulated time cannot go on without a worker: faults of workers are for --clock wall",
                   fault->text);
        const char *plan = fault->kind == HX_FAULT_CLOSED ? o->faults.circuits : NULL;
        if (fault->at_ns + fault->for_ns + o->faults.detect_ns + o->faults.notify_ns > HX_MOST_SIMULATED)
            hx_die(plan ? HX_EXIT_CONFIG : HX_EXIT_USAGE, plan ? plan : "--fault",
                   "'%s': all are to know of it %dh after the start at most where time is simulated", fault->text,
                   HX_MOST_SIMULATED_HOURS);
    }
    return faults;
}

/* Each VC's share of a port's buffer must hold a packet; otherwise no packet ever moves. */
static void check_buffer(const struct hx_timing *timing, const struct hx_fabric *g)
{
    char given[HX_VALUE_TEXT];
    char least[HX_VALUE_TEXT];
    uint64_t needed = (uint64_t)g->vcs * HX_MAX_PAYLOAD;
    if (timing->buffer < needed)
        hx_die(HX_EXIT_USAGE, "--buffer",
               "%s has no room for a packet of each of the %u VCs of this fabric: %s at least",
               hx_value_write_bytes(given, timing->buffer), g->vcs, hx_value_write_bytes(least, needed));
}

/* A run, from its options to its report. The model points into the other members. */
struct setup {
    struct run_options o;
    struct hx_faults faults;
    struct hx_timing timing;
    struct flows *flows;
    struct traffic traffic;
    struct collective_plan collectives;
    struct schedule_plan schedules;
    struct model m;
    struct recording recording;
    struct healthy_run healthy;    /* with --compare-healthy */
    struct healthy without_faults; /* the same */
};

/* Only schedules say what they are about to do. */
static void check_forward(const struct setup *s)
{
    for (uint32_t host = 0; s->o.settings.fast_forward > 0 && host < s->o.g->hosts; host++) {
        if (s->traffic.members[host] && !traffic_is_schedule(&s->traffic, host))
            hx_die(HX_EXIT_USAGE, "--fast-forward", "is for schedules and models alone (--traffic FILE)");
    }
}

/* Sets what replaces messages in `plan`. */
static void plan_traffic(struct setup *s, struct workload_plan *plan)
{
    struct hx_problem problem;
    s->flows = flows_load(&s->o.settings, &s->o.spec, s->o.g);
    traffic_init(&s->traffic, &s->o.spec, s->o.g, &s->o.settings, s->flows);
    s->traffic.chosen = s->o.chosen;
    s->traffic.quiet = s->o.common.quiet;
    plan->traffic = &s->traffic;
    plan->collective = traffic_has_collectives(&s->traffic) ? &s->collectives : NULL;
    plan->schedule = traffic_has_schedules(&s->traffic) ? &s->schedules : NULL;
    if (plan->collective && !collective_plan_init(&s->collectives, &s->traffic, &problem))
        hx_die_of(&problem);
    check_forward(s);
    if (plan->schedule && !schedule_plan_init(&s->schedules, &s->traffic, &problem))
        hx_die_of(&problem);
}

static void make_model(struct setup *s, const struct workload_plan *plan)
{
    model_create(&s->m, plan, &s->timing, workers_of(&s->o));
    schedule_plan_stop(&s->schedules, &s->m.control->stop);
    memory_check(
        s->o.spec.name, build_bytes(&s->m) + schedule_plan_memory(&s->schedules),
        "a smaller fabric or fewer --planes, or traffic with fewer partners, such as all-to-all with --shifts 32");
    if (s->faults.count)
        model_schedule(&s->m, &s->faults, &s->o.faults);
    if (model_is_reported(&s->m))
        model_announce(&s->m, s->o.name);
    s->m.watchdog = s->o.watchdog_ns * 1000;
    s->m.check_steps = s->o.check_steps;
    s->m.cuts_repeats = s->o.repeats == RUN_REPEATS_CUT;
    if (s->o.capture.file) {
        recording_open(&s->recording, &s->m, &s->o.capture);
        s->m.recording = &s->recording;
    }
}

/* Forks the run without faults, which has no output but its figures. */
static void compare(struct setup *s)
{
    struct run_options *o = &s->o;
    if (virtual_channel_is_of_ranks())
        hx_die(HX_EXIT_USAGE, "--compare-healthy", "is not for ranks of mpirun (run each of both by itself)");
    healthy_fork(&s->healthy);
    if (!s->healthy.is_child)
        return;
    hx_fault_settings_clear(&o->faults);
    o->capture.file = NULL;
    o->watch = false;
    o->common.quiet = true;
}

static void take_options(struct setup *s, int argc, char **argv)
{
    run_options_parse(&s->o, argc, argv);
    if (virtual_channel_is_of_ranks() && s->o.settings.clock != HX_CLOCK_VIRTUAL)
        hx_die(HX_EXIT_USAGE, "--clock", "wall is of one machine: ranks of mpirun are for --clock virtual");
    s->o.settings.clock = HX_CLOCK_VIRTUAL;
    check_jobs(&s->o);
    if (s->o.compare_healthy)
        compare(s);
    s->faults = load_faults(&s->o);
    s->timing = hx_timing_complete(&s->o.timing);
    check_buffer(&s->timing, s->o.g);
    run_options_choose(&s->o);
}

static void prepare(struct setup *s)
{
    struct workload_plan plan = {.traffic = NULL};
    plan_traffic(s, &plan);
    make_model(s, &plan);
}

static void tell_healthy(const struct setup *s, const struct result *r)
{
    const struct healthy_figures figures = result_healthy_figures(r);
    if (exit_code(r) == HX_EXIT_DONE)
        healthy_tell(&s->healthy, &figures);
    else if (!r->outcome.interrupted)
        hx_complain("--compare-healthy", "without the faults something was lost, corrupted or not finished");
}

/* Runs what the child of --compare-healthy runs. Returns its exit code. */
static int wait_for_healthy(struct setup *s)
{
    healthy_begin(&s->healthy);
    const int code = healthy_wait(&s->healthy);
    s->without_faults = (struct healthy){.without = s->healthy.figures, .left = links_left_of(&s->faults, s->o.g)};
    return code;
}

static int run(const struct setup *s)
{
    struct result r;
    const struct result_context context = {.common = &s->o.common,
                                           .fault_settings = &s->o.faults,
                                           .traffic = &s->traffic,
                                           .collective = s->m.workload.collective,
                                           .schedule = s->m.workload.schedule,
                                           .healthy = s->o.compare_healthy ? &s->without_faults : NULL,
                                           .timing = s->timing,
                                           .hide_links = !s->o.links || !s->o.common.json};
    const bool reported = model_is_reported(&s->m);
    const struct outcome outcome = launch_model(
        &s->m, (struct launch_show){.quiet = s->o.common.quiet || !reported, .watch = s->o.watch && reported});
    const bool is_over = outcome.exit_code && (outcome.cut_short || !atomic_load(&s->m.control->begun));
    if (!reported || is_over)
        return outcome.exit_code;
    report_make(&s->m, &context, &outcome, &r);
    if (s->healthy.is_child)
        tell_healthy(s, &r);
    else if (r.outcome.cut_short)
        hx_complain("hxmesh run", "interrupted again before all workers had reported: no report");
    else
        report(&r, s->m.recording, &s->o);
    int code = exit_code(&r);
    result_free(&r);
    return code;
}

/* Where runs are compared: the child awaits its begin, and this process the child's end. Returns an exit code. */
static int begin_compared(struct setup *s)
{
    if (s->healthy.is_child)
        healthy_await(&s->healthy);
    return s->o.compare_healthy && !s->healthy.is_child ? wait_for_healthy(s) : HX_EXIT_DONE;
}

static void clean_up(struct setup *s)
{
    if (s->m.recording)
        recording_close(s->m.recording);
    if (s->m.channel)
        model_destroy(&s->m);
    hx_faults_free(&s->faults);
    collective_plan_free(&s->collectives);
    schedule_plan_free(&s->schedules);
    traffic_free(&s->traffic);
    flows_free(s->flows);
    hx_spec_free(&s->o.spec);
    free(s->o.chosen);
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
    struct setup s = {.collectives = {0}};
    if (!virtual_channel_is_of_ranks())
        run_options_join_ranks(argv);
    launch_block_signals();
    begin_rank();
    struct hx_arguments given = hx_arguments_copy(argv); /* parsing puts operands last */
    take_options(&s, argc, argv);
    int code;
    if (s.o.ranks.count && !virtual_channel_is_of_ranks()) {
        code = mpirun_run(&s.o, given.item);
    } else {
        code = begin_compared(&s);
        if (code == HX_EXIT_DONE) {
            prepare(&s);
            code = run(&s);
        }
    }
    hx_arguments_free(&given);
    clean_up(&s);
    hx_output_close(stdout, "-");
    return code;
}
