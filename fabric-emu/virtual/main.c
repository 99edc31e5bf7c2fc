/* main.c - the program hxmesh-virtual: `hxmesh run --clock virtual`. */
#include "base/error.h"
#include "base/json.h"
#include "base/processor.h"
#include "build.h"
#include "fabric-emu/memory.h"
#include "fabric-emu/run_options.h"
#include "recording.h"
#include "run.h"

_Static_assert((int)HX_MOST_WORKERS == (int)VIRTUAL_MOST_WORKERS, "what may be asked for can be had");

/* Workers take turns in each window of time, so that more than there are cores only wait for each other: by any number
 * the result is the same. */
static unsigned workers_of(const struct run_options *o)
{
    unsigned asked = (unsigned)o->settings.workers;
    unsigned cores = hx_processor_cores();
    unsigned n = asked && (asked < cores || o->share_cores) ? asked : cores;
    return n < VIRTUAL_MOST_WORKERS ? n : VIRTUAL_MOST_WORKERS;
}

static int exit_code(const struct result *r)
{
    if (r->outcome.exit_code)
        return r->outcome.exit_code;
    if (r->outcome.interrupted)
        return HX_EXIT_INTERRUPTED;
    return result_is_good(r) ? HX_EXIT_DONE : HX_EXIT_FAILED;
}

static void report(const struct result *r, const struct traffic *traffic, const struct recording *captured,
                   const struct run_options *o)
{
    json_t *document = result_json(r);
    if (captured)
        (void)json_object_set_new(document, "capture", capture_report_json(&captured->report));
    run_options_write(o, document);
    if (run_options_print(o))
        result_print(r, traffic);
    if (run_options_print(o) && captured)
        capture_report_print(&captured->report);
    if (captured)
        (void)capture_report_complain(&captured->report);
}

/* An agenda has bits for no more than that and a few seconds. */
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
        if (fault->at_ns + fault->for_ns + o->faults.detect_ns + o->faults.notify_ns > HX_MOST_SIMULATED)
            hx_die(HX_EXIT_USAGE, "--fault",
                   "'%s': all are to know of it %dh after the start at most where time is simulated", fault->text,
                   HX_MOST_SIMULATED_HOURS);
    }
    return faults;
}

/* Each VC has its share of a port's buffer, which takes a packet at least: else nothing ever moves. */
static void check_buffer(const struct hx_timing *timing, const struct hx_fabric *g)
{
    char said[HX_VALUE_TEXT];
    char least[HX_VALUE_TEXT];
    uint64_t needed = (uint64_t)g->vcs * HX_MAX_PAYLOAD;
    if (timing->buffer < needed)
        hx_die(HX_EXIT_USAGE, "--buffer",
               "%s has no room for a packet of each of the %u VCs of this fabric: %s at least",
               hx_value_write_bytes(said, timing->buffer), g->vcs, hx_value_write_bytes(least, needed));
}

int main(int argc, char **argv)
{
    run_block_signals();
    struct run_options o;
    run_options_parse(&o, argc, argv);
    o.settings.clock = HX_CLOCK_VIRTUAL;
    check_jobs(&o);
    struct hx_faults faults = load_faults(&o);
    const struct hx_timing timing = hx_timing_complete(&o.timing);
    check_buffer(&timing, o.g);
    struct flows *flows = flows_load(&o.settings, &o.spec, o.g);
    struct traffic traffic;
    traffic_init(&traffic, &o.spec, o.g, &o.settings, flows);
    struct collective_plan plan = {0};
    bool collective = traffic_has_collectives(&traffic);
    struct hx_problem problem;
    if (collective && !collective_plan_init(&plan, &traffic, &problem))
        hx_die_of(&problem);
    struct model m;
    model_create(&m, &traffic, collective ? &plan : NULL, &timing, workers_of(&o));
    memory_check(
        o.spec.name, build_bytes(&m),
        "a smaller fabric or fewer --planes, or traffic with fewer partners, such as all-to-all with --shifts 32");
    if (faults.count)
        model_schedule(&m, &faults, &o.faults);
    model_announce(&m, o.name);
    m.watchdog = o.watchdog_ns * 1000;
    m.check_steps = o.check_steps;
    struct recording recording;
    if (o.capture.file) {
        recording_open(&recording, &m, &o.capture);
        m.recording = &recording;
    }
    struct result r;
    run_model(&m, (struct run_show){.quiet = o.common.quiet, .watch = o.watch}, &r);
    r.common = &o.common;
    r.fault_settings = &o.faults;
    r.timing = timing;
    r.hide_links = !o.links;
    if (r.outcome.cut_short)
        hx_complain("hxmesh run", "interrupted again before all workers had reported: no report");
    else
        report(&r, &traffic, m.recording, &o);
    int code = exit_code(&r);
    result_free(&r);
    if (m.recording)
        recording_close(m.recording);
    model_destroy(&m);
    hx_faults_free(&faults);
    collective_plan_free(&plan);
    traffic_free(&traffic);
    flows_free(flows);
    hx_spec_free(&o.spec);
    hx_output_close(stdout, "-");
    return code;
}
