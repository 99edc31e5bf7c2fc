/* setup.c - makes a model from the options of a run (setup.h). */
#include "setup.h"
#include "base/error.h"
#include "build.h"
#include "fabric-emu/memory.h"
#include "virtual_report.h"

#include <stdlib.h>

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

void setup_parse(struct setup *s, int argc, char **argv, bool called)
{
    run_options_parse(&s->o, argc, argv, called);
    if (virtual_channel_is_of_ranks() && s->o.settings.clock != HX_CLOCK_VIRTUAL)
        hx_die(HX_EXIT_USAGE, "--clock", "wall is of one machine: ranks of mpirun are for --clock virtual");
    s->o.settings.clock = HX_CLOCK_VIRTUAL;
    check_jobs(&s->o);
}

void setup_settle(struct setup *s)
{
    s->faults = load_faults(&s->o);
    s->timing = hx_timing_complete(&s->o.timing);
    check_buffer(&s->timing, s->o.g);
    if (!s->o.posted)
        run_options_choose(&s->o);
}

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
    if (plan->posted)
        return;
    plan->collective = traffic_has_collectives(&s->traffic) ? &s->collectives : NULL;
    plan->schedule = traffic_has_schedules(&s->traffic) ? &s->schedules : NULL;
    if (plan->collective && !collective_plan_init(&s->collectives, &s->traffic, &problem))
        hx_die_of(&problem);
    check_forward(s);
    if (plan->schedule && !schedule_plan_init(&s->schedules, &s->traffic, &problem))
        hx_die_of(&problem);
}

static void make_model(struct setup *s, const struct workload_plan *plan, unsigned workers)
{
    model_create(&s->m, plan, &s->timing, workers);
    schedule_plan_stop(&s->schedules, &s->m.control->stop);
    memory_check(
        s->o.spec.name, build_bytes(&s->m) + schedule_plan_memory(&s->schedules),
        "a smaller fabric or fewer --planes, or traffic with fewer partners, such as all-to-all with --shifts 32");
    if (s->faults.count)
        model_schedule(&s->m, &s->faults, &s->o.faults);
    s->m.watchdog = s->o.watchdog_ns * 1000;
    s->m.check_steps = s->o.check_steps;
    s->m.cuts_repeats = s->o.repeats == RUN_REPEATS_CUT;
}

void setup_prepare(struct setup *s, unsigned workers)
{
    struct workload_plan plan = {.traffic = NULL, .posted = s->posted};
    plan_traffic(s, &plan);
    make_model(s, &plan, workers);
}

void setup_report(const struct setup *s, const struct outcome *outcome, bool as_json, struct result *result)
{
    const struct result_context context = {.common = &s->o.common,
                                           .fault_settings = &s->o.faults,
                                           .traffic = &s->traffic,
                                           .collective = s->m.workload.collective,
                                           .schedule = s->m.workload.schedule,
                                           .instead = s->posted ? "posted" : NULL,
                                           .healthy = s->o.compare_healthy ? &s->without_faults : NULL,
                                           .timing = s->timing,
                                           .hide_links = !s->o.links || !as_json};
    report_make(&s->m, &context, outcome, result);
}

void setup_close(struct setup *s)
{
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
