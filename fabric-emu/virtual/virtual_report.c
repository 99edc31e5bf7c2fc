/* virtual_report.c - the report of a virtual fabric, from what its workers wrote (virtual_report.h). */
#include "virtual_report.h"
#include "audit.h"
#include "base/error.h"
#include "fabric-emu/report/gather.h"
#include "fabric-emu/report/schedule_report.h"
#include "faults.h"
#include "recording.h"
#include "watchdog.h"

#include <stdlib.h>

/* Whether some worker gave the workload up. */
static bool was_given_up(const struct model *m)
{
    bool any = false;
    for (unsigned w = 0; w < m->workers; w++)
        any = any || m->area[w].collective_ended;
    return any;
}

/* Checks what no worker can check alone. */
static void validate(const struct model *m, struct outcome *o)
{
    bool stuck = watchdog_was_stuck(m);
    if (stuck)
        watchdog_explain(m);
    bool whole = o->exit_code || o->cut_short || !m->check_steps || audit_links(m);
    const struct schedule_plan *schedule = m->workload.schedule;
    bool reported = o->exit_code == 0 && !o->interrupted;
    bool ended = !schedule || !reported || stuck || schedule_report_complain(schedule, was_given_up(m));
    if (o->exit_code == 0 && (stuck || !whole || !ended))
        o->exit_code = HX_EXIT_FAILED;
}

/* ---- reports of workers ---- */

/* Takes what a run at a rate says of its load, and the end of its warm-up. */
static void take_open_loop(struct result *r, const struct model *m)
{
    struct open_outcome *o = &r->outcome.open;
    struct model_mean half[2] = {{0, 0}, {0, 0}};
    const uint64_t over = m->settings.duration_ns * 1000;
    uint64_t last = 0;
    *o = (struct open_outcome){.on = m->area[0].open,
                               .stopped = m->area[0].stopped,
                               .finds = !(m->settings.given & HX_GIVEN_WARM_UP),
                               .steady = m->area[0].steady,
                               .limit_ps = (over - m->area[0].warm) / 2};
    for (unsigned w = 0; w < m->workers; w++) {
        const struct model_area *area = &m->area[w];
        o->marked += area->marked;
        o->arrived += area->arrived;
        last = area->last_marked > last ? area->last_marked : last;
        for (unsigned i = 0; i < 2; i++) {
            half[i].sum += area->half[i].sum;
            half[i].count += area->half[i].count;
        }
    }
    o->drained_ps = last > over ? last - over : 0;
    for (unsigned i = 0; i < 2; i++)
        o->half_ps[i] = half[i].count ? (double)half[i].sum / (double)half[i].count : 0;
    r->settings.warm_up_ns = m->area[0].warm / 1000;
}

static void take_areas(struct result *r, const struct model *m)
{
    struct outcome *o = &r->outcome;
    o->complete = o->exit_code == 0;
    for (unsigned w = 0; w < m->workers; w++) {
        const struct model_area *area = &m->area[w];
        o->complete = o->complete && area->complete;
        o->virtual_ps = area->last_delivery > o->virtual_ps ? area->last_delivery : o->virtual_ps;
        o->bytes_delivered += area->bytes_measured;
        o->window_wait_ps += area->window_wait;
        o->buffers_missing += area->complete ? area->buffers_used : 0;
        gather_worker(r, &(struct gathered_worker){.drops = area->drops,
                                                   .stalls = area->stalls,
                                                   .bytes_corrupted = area->bytes_corrupted,
                                                   .cpu_ns = hx_metrics_get(&m->metrics.worker[w].cpu_ns),
                                                   .private_bytes = area->private_bytes,
                                                   .max_vc = area->max_vc});
    }
    for (uint32_t rank = 0; rank < m->g->hosts; rank++)
        gather_accelerator(r, &m->jobs, rank, &m->sum[rank].stats, m->sum[rank].begun);
    o->cuts_repeats = m->cuts_repeats;
    o->fast_forward = m->settings.fast_forward;
    o->forwarded = m->area[0].fast_forward;
    o->repeats = m->area[0].repeats;
    for (unsigned w = 1; w < m->workers; w++)
        if (m->area[w].repeats.iterations > o->repeats.iterations)
            o->repeats.iterations = m->area[w].repeats.iterations;
    /* With a duration, the rate is over the time in which hosts may send, without the warm-up. */
    uint64_t duration = m->settings.duration_ns * 1000;
    uint64_t warm_up = r->settings.warm_up_ns * 1000;
    if (duration && (o->complete || duration < o->virtual_ps))
        o->virtual_ps = duration;
    o->virtual_ps -= warm_up < o->virtual_ps ? warm_up : o->virtual_ps;
}

static void take_collective(struct result *r, const struct model *m)
{
    uint32_t done = 0;
    for (unsigned w = 0; w < m->workers; w++)
        done += m->area[w].collectives_done;
    if (m->workload.collective)
        gather_collective(r, done);
}

static void take_receivers(struct result *r, const struct model *m)
{
    r->receive_share = hx_allocate(m->g->hosts, sizeof *r->receive_share);
    for (uint32_t rank = 0; rank < m->g->hosts; rank++) {
        const struct model_receiver *receiver = &m->receiver[rank];
        uint64_t warm_up = r->settings.warm_up_ns * 1000;
        double bytes_per_ps = result_host_injection(r, rank) / 1e12;
        if (receiver->last > warm_up)
            r->receive_share[rank] = (double)receiver->bytes / (double)(receiver->last - warm_up) / bytes_per_ps;
    }
}

/* The interval over which links' load is a share. */
struct measured {
    const struct model *m;
    double ps;
};

/* ps; `link` counts those of all planes. */
static double rate_of(const struct model *m, uint32_t link)
{
    const struct hx_fabric_port *p = &m->g->port[link % m->g->ports];
    bool linked = p->far.node != HX_NOWHERE;
    return linked ? m->timing.of[p->link_class].rate.blocks[1] : m->timing.link.blocks[1];
}

static double busy(const void *of, unsigned plane, uint32_t link)
{
    const struct measured *measured = of;
    const struct model *m = measured->m;
    const struct model_span *span = &m->span[link + plane * m->g->hosts];
    return (double)(span->to - span->from) * rate_of(m, link) / measured->ps;
}

void report_make(const struct model *m, const struct result_context *context, const struct outcome *outcome,
                 struct result *result)
{
    *result = (struct result){.context = *context,
                              .spec = m->spec,
                              .g = m->g,
                              .workers = m->workers,
                              .settings = m->settings,
                              .outcome = *outcome,
                              .link_rate = virtual_timing_link_rate(&m->timing) * 1e12};
    validate(m, &result->outcome);
    result_jobs(result, &m->jobs, m->job);
    if (m->area[0].open)
        take_open_loop(result, m);
    take_areas(result, m);
    if (m->faults)
        faults_gather(result, m);
    if (m->recording)
        recording_stop(m->recording, result->outcome.complete);
    take_collective(result, m);
    take_receivers(result, m);
    const struct measured measured = {m, (double)(result->outcome.virtual_ps ? result->outcome.virtual_ps : 1)};
    gather_links(result, &m->metrics, &m->layout, busy, &measured);
    result->packet_hops -= result->outcome.forwarded.hops; /* links count what was left out */
    result->outcome.hops = result->packet_hops;
    result_finish(result);
}
