/* session.c - one fabric from creation to removal (session.h). */
#include "session.h"
#include "collect.h"
#include "host/error.h"

#include <stdlib.h>

void session_open(struct session *s, struct hx_spec *spec, const struct fab_options *options)
{
    *s = (struct session){.has_traffic = false};
    fab_create(&s->f, spec, options);
}

static void run(struct session *s, const struct hx_settings *settings)
{
    s->plan.job.f = &s->f;
    s->plan.progress = &s->progress;
    shm_clock_start(&s->plan.job.clock);
    struct outcome outcome;
    supervisor_run(&s->plan, &outcome);
    collect(&s->result, &s->f, settings, &outcome);
}

static uint64_t messages_of_all(const struct session *s)
{
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < s->f.g.accelerators; rank++)
        sum += traffic_messages(&s->traffic, rank);
    return sum;
}

void session_run_traffic(struct session *s, const struct hx_settings *settings, uint32_t incast_target, bool restart,
                         bool quiet)
{
    traffic_init(&s->traffic, &s->f.spec, &s->f.g, settings, incast_target);
    s->has_traffic = true;
    s->plan = (struct run_plan){.job = {.traffic = &s->traffic, .verify = settings->verify},
                                .duration_ns = settings->duration_ns,
                                .restart = restart};
    uint64_t messages = settings->duration_ns ? 0 : messages_of_all(s);
    progress_start(&s->progress, quiet, messages, settings->duration_ns);
    run(s, settings);
}

void session_run_transfer(struct session *s, const struct transfer *transfer, bool quiet)
{
    struct hx_settings settings = hx_default_settings;
    settings.verify = true;
    s->plan = (struct run_plan){.job = {.transfer = transfer, .verify = true}, .restart = true};
    progress_start(&s->progress, quiet, transfer_messages(transfer), 0);
    run(s, &settings);
}

int session_exit_code(const struct session *s)
{
    const struct outcome *o = &s->result.outcome;
    if (o->exit_code)
        return o->exit_code;
    if (o->interrupted)
        return HX_EXIT_INTERRUPTED;
    return result_is_good(&s->result) ? HX_EXIT_DONE : HX_EXIT_FAILED;
}

void session_close(struct session *s)
{
    result_free(&s->result);
    if (s->has_traffic)
        traffic_free(&s->traffic);
    fab_destroy(&s->f);
}
