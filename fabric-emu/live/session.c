/* session.c - a fabric from creation to removal (session.h). */
#include "session.h"
#include "base/error.h"
#include "base/text.h"
#include "collect.h"
#include "fabric-emu/report/schedule_report.h"
#include "validate.h"
#include "workload/goals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void open_fabric(struct session *s, struct hx_spec *spec, const struct fab_options *options)
{
    fab_create(&s->f, spec, options);
    faults_open(&s->faults, &s->f);
    struct hx_problem problem;
    if (!external_open(&s->external, &s->f, &problem)) {
        fab_destroy(&s->f);
        hx_die_of(&problem);
    }
}

void session_open(struct session *s, struct hx_spec *spec, const struct fab_options *options)
{
    *s = (struct session){.netns_holder.line = -1};
    open_fabric(s, spec, options);
}

/* Before the fabric exists, so that an error leaves none behind. */
static void plan_schedule(struct session *s)
{
    struct hx_problem problem;
    if (traffic_has_schedules(&s->traffic) && !schedule_plan_init(&s->schedule, &s->traffic, &problem))
        hx_die_of(&problem);
}

void session_open_traffic(struct session *s, struct hx_spec *spec, const struct fab_options *options,
                          const struct hx_settings *settings, const struct flows *flows)
{
    struct fab_options with = *options;
    *s = (struct session){.netns_holder.line = -1, .context.traffic = &s->traffic};
    traffic_init(&s->traffic, spec, hx_spec_fabric(spec), settings, flows);
    s->traffic.quiet = options->quiet;
    plan_schedule(s);
    with.traffic = &s->traffic;
    open_fabric(s, spec, &with);
    s->traffic.spec = &s->f.spec; /* *spec moved there */
}

void session_schedule(struct session *s, struct hx_faults *faults)
{
    struct hx_problem problem;
    bool good = faults_schedule(&s->faults, faults, &problem);
    hx_faults_free(faults);
    if (good)
        return;
    session_close(s);
    hx_die_of(&problem);
}

static void start_recording(struct session *s)
{
    const struct recording_plan plan = {.settings = s->capture,
                                        .ports_option = "--capture-ports",
                                        .filter_option = "--capture-filter",
                                        .whole_run = true,
                                        .wait_slots = s->capture->drop ? 0 : s->f.slots};
    const struct recording_fabric fabric = {
        .metrics = s->f.metrics.head, .head = s->f.head, .control = s->f.control, .arena = s->f.arena, .g = s->f.g};
    recording_start(&s->recording, &plan, &fabric);
}

static void run(struct session *s, const struct hx_settings *settings)
{
    s->plan.duty.f = &s->f;
    s->plan.duty.wire = s->external.wire;
    s->plan.external = &s->external;
    s->plan.progress = &s->progress;
    s->plan.faults = &s->faults;
    s->warm_up.ns = settings->warm_up_ns;
    s->plan.warm_up = &s->warm_up;
    shm_clock_start(&s->plan.duty.clock);
    fab_announce(&s->f, &s->plan.duty.clock, settings->verify ? HX_CAPTURE_CRC_ON : HX_CAPTURE_CRC_OFF);
    if (s->capture)
        start_recording(s);
    if (s->watched)
        watch_start(&s->progress.watch, shm_arena_name(&s->f.arena));
    struct outcome outcome;
    supervisor_run(&s->plan, &outcome);
    fab_end(&s->f);
    watch_end(&s->progress.watch);
    if (s->capture)
        recording_stop(&s->recording, outcome.complete, &s->captured);
    struct hx_problem problem;
    if (!validate_counts(&s->f, s->plan.duty.workload.traffic, &outcome, &problem))
        hx_die_of(&problem);
    collect(&s->result, &(struct collected){.context = &s->context,
                                            .f = &s->f,
                                            .settings = settings,
                                            .outcome = &outcome,
                                            .warm_up = &s->warm_up,
                                            .faults = &s->faults});
}

static void plan_collective(struct session *s)
{
    struct hx_problem problem;
    if (!collective_plan_init(&s->collective, &s->traffic, &problem))
        hx_die_of(&problem);
    s->plan.duty.workload.collective = &s->collective;
    s->context.collective = &s->collective;
}

static void validate_collective(struct session *s)
{
    const struct collective_count *count = &s->result.collective_count;
    if (count->done < count->members && !s->result.outcome.interrupted)
        hx_complain(s->f.spec.source, "%s ended with %u of %u %ss done: a worker died or a message was given up",
                    collective_kinds(&s->collective), count->done, count->members, hx_host_word(s->f.g));
}

static uint64_t messages_of_all(const struct session *s)
{
    uint64_t sum = s->collective.job ? collective_messages(&s->collective) : 0;
    for (uint32_t rank = 0; rank < s->f.g->hosts; rank++)
        sum += fab_is_external(&s->f, rank) ? 0 : traffic_messages(&s->traffic, rank);
    return sum;
}

static struct workload_plan traffic_workload(const struct session *s, const struct hx_settings *settings)
{
    return (struct workload_plan){.traffic = &s->traffic,
                                  .rate = settings->rate < 1 ? settings->rate : 0,
                                  .link_rate = HX_NOMINAL_LINK_RATE / 1e12,
                                  .link_gbps = HX_LINK_GBPS,
                                  .verify = settings->verify};
}

void session_run_traffic(struct session *s, bool restart, bool quiet)
{
    const struct hx_settings *settings = &s->traffic.settings;
    s->plan = (struct run_plan){
        .duty = {.workload = traffic_workload(s, settings)}, .duration_ns = settings->duration_ns, .restart = restart};
    if (s->schedule.job)
        s->plan.duty.workload.schedule = s->context.schedule = &s->schedule;
    if (traffic_has_collectives(&s->traffic))
        plan_collective(s);
    external_expect(&s->external, &s->traffic);
    struct hx_problem problem;
    if (!machines_expect(&s->external.machines, &s->traffic, restart, &problem))
        hx_die_of(&problem);
    uint64_t messages = settings->duration_ns ? 0 : messages_of_all(s);
    goals_publish(s->f.metrics.head, &s->plan.duty.workload,
                  messages ? messages + machines_messages(&s->external.machines) : 0);
    progress_start(&s->progress, quiet, messages, settings->duration_ns);
    run(s, settings);
    if (s->collective.job)
        validate_collective(s);
    if (s->schedule.job && !s->result.outcome.interrupted)
        (void)schedule_report_complain(&s->schedule,
                                       atomic_load(&s->f.control->collective_ended) || s->result.outcome.deaths);
}

/* Runs without traffic settings; `what` names the workload. */
static void run_instead(struct session *s, const struct hx_settings *settings, const char *what)
{
    (void)hx_text_copy(s->f.metrics.head->traffic, sizeof s->f.metrics.head->traffic, what);
    s->context.instead = what;
    run(s, settings);
}

void session_run_transfer(struct session *s, const struct transfer *transfer, bool quiet)
{
    struct hx_settings settings = hx_default_settings;
    settings.verify = true;
    s->plan = (struct run_plan){.duty = {.workload = {.transfer = transfer, .verify = true}}, .restart = true};
    s->f.metrics.head->goal_messages = transfer_messages(transfer);
    progress_start(&s->progress, quiet, transfer_messages(transfer), 0);
    run_instead(s, &settings, "a file");
}

/* Makes eventfds: workers wait for programs and for each other in one call. */
static void make_wakes(struct session *s)
{
    s->wake = hx_allocate(s->f.workers, sizeof *s->wake);
    for (unsigned w = 0; w < s->f.workers; w++) {
        s->wake[w] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (s->wake[w] < 0)
            hx_die(HX_EXIT_ENVIRONMENT, NULL, "workers cannot be woken: %s", strerror(errno));
    }
    s->f.wake = s->wake;
}

void session_run_packets(struct session *s, unsigned mtu, bool quiet, void (*begun)(void *of), void *of)
{
    struct hx_problem problem;
    struct hx_settings settings = hx_default_settings;
    settings.verify = true;
    if (!netns_holder_start(&s->netns_holder, &s->f, mtu, &problem) ||
        !attachments_open(&s->attachments, &s->f, &problem))
        hx_die_of(&problem); /* its socket closes, and the holder exits */
    make_wakes(s);
    s->f.head->netns_holder = s->netns_holder.pid;
    s->packets = (struct packets){
        .g = s->f.g, .tun = s->netns_holder.tun, .readable = hx_allocate(s->f.g->hosts, sizeof *s->packets.readable)};
    s->plan = (struct run_plan){
        .duty = {.workload = {.packets = &s->packets, .programs = &s->attachments.programs, .verify = true}},
        .attachments = &s->attachments,
        .restart = true,
        .netns_holder = s->netns_holder.pid,
        .begun = begun,
        .of = of};
    progress_start(&s->progress, quiet, 0, 0);
    run_instead(s, &settings, "packets of programs");
    attachments_close(&s->attachments);
}

void session_run_programs(struct session *s, struct attachments *attachments, uint64_t duration_ns)
{
    struct hx_settings settings = hx_default_settings;
    settings.duration_ns = duration_ns;
    settings.verify = false; /* programs check their data, and packets have no CRC */
    s->plan = (struct run_plan){.duty = {.workload = {.programs = &attachments->programs}},
                                .duration_ns = duration_ns,
                                .restart = true,
                                .attachments = attachments};
    make_wakes(s);
    progress_start(&s->progress, true, 0, duration_ns);
    run_instead(s, &settings, "programs");
}

json_t *session_json(const struct session *s)
{
    json_t *report = result_json(&s->result);
    if (s->capture)
        (void)json_object_set_new(report, "capture", capture_report_json(&s->captured));
    if (s->f.spec.externals)
        (void)json_object_set_new(report, "external", external_json(&s->external));
    return report;
}

void session_print(const struct session *s)
{
    result_print(&s->result);
    external_print(&s->external);
    if (s->capture)
        capture_report_print(&s->captured);
}

int session_exit_code(const struct session *s)
{
    const struct outcome *o = &s->result.outcome;
    if (o->exit_code)
        return o->exit_code;
    if (o->interrupted)
        return HX_EXIT_INTERRUPTED;
    return result_is_good(&s->result) && machines_are_good(&s->external.machines) ? HX_EXIT_DONE : HX_EXIT_FAILED;
}

void session_close(struct session *s)
{
    result_free(&s->result);
    warm_up_free(&s->warm_up);
    collective_plan_free(&s->collective);
    schedule_plan_free(&s->schedule);
    if (s->context.traffic)
        traffic_free(&s->traffic);
    external_close(&s->external);
    netns_holder_stop(&s->netns_holder);
    free(s->packets.readable);
    for (unsigned w = 0; s->wake && w < s->f.workers; w++)
        (void)close(s->wake[w]);
    free(s->wake);
    faults_close(&s->faults);
    fab_destroy(&s->f);
}
