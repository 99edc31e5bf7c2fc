/* support_virtual.c - runs a model in child processes (support_virtual.h). */
#include "tests/support/virtual/support_virtual.h"
#include "base/error.h"
#include "fabric-emu/virtual/build.h"
#include "spec/circuits/circuits.h"
#include "spec/jobs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void set_flows(struct support_virtual *s)
{
    const struct support_virtual_plan *p = s->plan;
    for (uint32_t rank = 0; p->flows && rank < s->g->hosts; rank++) {
        s->traffic.partner[rank] = TRAFFIC_NOBODY;
        s->traffic.senders[rank] = 0;
    }
    for (unsigned n = 0; n < p->flows; n++) {
        assert_true(s->traffic.partner[p->flow[n].from] == TRAFFIC_NOBODY);
        s->traffic.partner[p->flow[n].from] = p->flow[n].to;
        s->traffic.senders[p->flow[n].to]++;
    }
}

/* Boards fail before jobs are placed. */
static void name_jobs(struct support_virtual *s)
{
    const struct support_virtual_plan *p = s->plan;
    struct hx_problem problem;
    if (p->failed) {
        s->spec.failed = hx_allocate(hx_spec_boards(&s->spec), sizeof *s->spec.failed);
        memcpy(s->spec.failed, p->failed, hx_spec_boards(&s->spec) * sizeof *s->spec.failed);
    }
    if (p->jobs)
        s->spec.said = *p->jobs;
    if (p->only)
        s->spec.only = *p->only;
    if (!hx_jobs_take_said(&s->spec, &problem))
        fail_msg("%s: %s: %s", p->spec, problem.where, problem.what);
}

/* Sets what replaces messages. */
static void plan_replacements(struct support_virtual *s)
{
    struct hx_problem problem;
    bool collectives = traffic_has_collectives(&s->traffic);
    bool schedules = traffic_has_schedules(&s->traffic);
    s->workload = (struct workload_plan){.traffic = &s->traffic,
                                         .collective = collectives ? &s->collective : NULL,
                                         .schedule = schedules ? &s->schedule : NULL};
    if ((collectives && !collective_plan_init(&s->collective, &s->traffic, &problem)) ||
        (schedules && !schedule_plan_init(&s->schedule, &s->traffic, &problem)))
        fail_msg("%s: %s: %s", s->plan->spec, problem.where, problem.what);
}

/* Loads the schedule of faults, and searches routes that may change. */
static void load_faults(struct support_virtual *s)
{
    struct hx_problem problem;
    if ((!s->g->mesh.nodes && !hx_spec_search_updown(&s->spec, &problem)) ||
        !hx_faults_load(&s->faults, s->plan->faults, hx_spec_fabric(&s->spec), 1, 0, &problem) ||
        !hx_circuits_order(s->spec.graph, &s->faults, &problem))
        fail_msg("%s: %s: %s", s->plan->spec, problem.where, problem.what);
    s->g = hx_spec_fabric(&s->spec);
}

void support_virtual_open(struct support_virtual *s, const struct support_virtual_plan *plan)
{
    struct hx_overrides overrides = {.planes = plan->planes, .radix = plan->radix, .taper = plan->taper};
    *s = (struct support_virtual){.plan = plan};
    struct hx_problem problem;
    if (!hx_spec_try_load(plan->spec, &overrides, &s->spec, &problem))
        fail_msg("%s: %s", plan->spec, problem.what);
    name_jobs(s);
    s->g = hx_spec_fabric(&s->spec);
    if (plan->faults)
        load_faults(s);
    struct hx_settings settings = hx_default_settings;
    settings.verify = false;
    if (plan->flows)
        settings.pattern = HX_PERMUTATION;
    hx_settings_merge(&settings, &plan->settings);
    traffic_init(&s->traffic, &s->spec, s->g, &settings, NULL);
    set_flows(s);
    plan_replacements(s);
    const struct hx_timing timing = hx_timing_complete(&plan->timing);
    model_create(&s->m, &s->workload, &timing, plan->workers ? plan->workers : 1);
    if (plan->faults)
        model_schedule(&s->m, &s->faults, plan->faults);
}

void support_virtual_close(struct support_virtual *s)
{
    if (s->workload.collective)
        collective_plan_free(&s->collective);
    if (s->workload.schedule)
        schedule_plan_free(&s->schedule);
    model_destroy(&s->m);
    hx_faults_free(&s->faults);
    traffic_free(&s->traffic);
    hx_spec_free(&s->spec);
}

void support_virtual_open_worker(struct support_virtual *s, const struct support_virtual_plan *plan, struct worker *w)
{
    support_virtual_open(s, plan);
    virtual_channel_join(s->m.channel, 0, true);
    build_worker(w, &s->m, 0);
}

void support_virtual_forget(struct virtual_sim_node *e)
{
    while (virtual_event_queue_count(&e->event_queue))
        (void)virtual_event_queue_take(&e->event_queue);
}

void support_virtual_close_worker(struct support_virtual *s, struct worker *w)
{
    HX_FREE(w->sim_node, w->visit, w->neighbour, w->open.of_job);
    support_virtual_close(s);
}

/* ---- stderr ---- */

/* Redirects stderr to an unnamed file until give_back(). */
static int take_stderr(FILE *file)
{
    (void)fflush(stderr);
    int before = dup(STDERR_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    return before;
}

static void give_back(struct support_virtual *s, FILE *file, int before)
{
    (void)fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    (void)close(before);
    rewind(file);
    size_t n = fread(s->said, 1, sizeof s->said - 1, file);
    s->said[n] = 0;
    (void)fclose(file);
}

void support_virtual_listen(struct support_virtual *s, void (*report)(const struct model *m))
{
    FILE *file = tmpfile();
    assert_non_null(file);
    int before = take_stderr(file);
    report(&s->m);
    give_back(s, file, before);
}

/* ---- workers ---- */

static _Noreturn void live(const struct support_virtual *s, unsigned self)
{
    static struct worker w;
    virtual_channel_join(s->m.channel, self, false);
    build_worker(&w, &s->m, self);
    if (s->plan->change)
        s->plan->change(&w);
    struct virtual_turn turn = worker_simulate(&w);
    worker_report(&w, &turn);
    _exit(HX_EXIT_DONE);
}

bool support_virtual_run(struct support_virtual *s)
{
    pid_t pid[HX_MOST_WORKERS];
    FILE *file = tmpfile();
    assert_non_null(file);
    int before = take_stderr(file);
    for (unsigned w = 0; w < s->m.workers; w++) {
        pid[w] = fork();
        assert_true(pid[w] >= 0);
        if (pid[w] == 0)
            live(s, w);
    }
    bool good = true;
    for (unsigned w = 0; w < s->m.workers; w++) {
        int status;
        assert_true(waitpid(pid[w], &status, 0) == pid[w]);
        good = good && WIFEXITED(status) && WEXITSTATUS(status) == HX_EXIT_DONE;
        if (!good)
            virtual_channel_break(s->m.channel);
    }
    give_back(s, file, before);
    return good;
}

uint64_t support_virtual_end(const struct support_virtual *s)
{
    uint64_t end = 0;
    for (unsigned w = 0; w < s->m.workers; w++)
        end = s->m.area[w].last_delivery > end ? s->m.area[w].last_delivery : end;
    return end;
}

bool support_virtual_whole(const struct support_virtual *s)
{
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t drops = 0;
    bool complete = true;
    for (unsigned w = 0; w < s->m.workers; w++) {
        const struct model_area *area = &s->m.area[w];
        complete = complete && area->complete && area->buffers_used == 0 && area->bytes_corrupted == 0;
        for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
            drops += area->drops[reason];
    }
    for (uint32_t rank = 0; rank < s->g->hosts; rank++) {
        const struct hx_endpoint_stats *sum = &s->m.sum[rank].stats;
        complete = complete && sum->messages_failed == 0 && sum->packets_repeated == 0;
        sent += sum->packets_sent;
        received += sum->packets_delivered;
    }
    return complete && sent == received && drops == 0;
}
