/* json.c - the report as JSON, by the table of its fields. Figures that depend on the machine are in `host`. */
#include "base/counts.h"
#include "base/version.h"
#include "fabric-emu/report/class_report.h"
#include "fabric-emu/report/fields.h"
#include "fabric-emu/report/result.h"
#include "fabric-emu/report/schedule_report.h"
#include "topology/name.h"

#include <stdlib.h>

static json_t *stalls_json(const struct result *r)
{
    json_t *o = json_object();
    REPORT_STALLS(REPORT_SET)
    return o;
}

/* h NULL: latencies mean nothing. */
static json_t *latency_json(const struct fab_histogram *h)
{
    json_t *o = json_object();
    const bool any = h && !fab_histogram_is_empty(h);
    REPORT_LATENCY(REPORT_SET, "")
    return o;
}

static json_t *flows_json(const struct flows *flows)
{
    json_t *o = json_object();
    REPORT_FLOWS(REPORT_SET)
    return o;
}

static json_t *open_loop_json(const struct result *r)
{
    static const char *const reasons[STABILITY_GROWING + 1] = {
        [STABILITY_LATE] = "late", [STABILITY_GROWING] = "growing"};
    json_t *o = json_object();
    const struct open_outcome *open = &r->outcome.open;
    const enum stability stability = result_stability(r);
    const bool arrived = stability == STABILITY_STABLE || stability == STABILITY_GROWING;
    REPORT_OPEN_LOOP(REPORT_SET)
    return o;
}

static json_t *job_json(const struct result *r, const struct result_job *job)
{
    json_t *o = json_object();
    const struct hx_job *named = hx_spec_job(r->spec, job->tag);
    const struct hx_settings s = hx_job_settings(&r->settings, named);
    REPORT_JOB(REPORT_SET, REPORT_SET_IF)
    return o;
}

static json_t *jobs_json(const struct result *r)
{
    json_t *jobs = json_array();
    for (uint32_t i = 0; i < r->jobs; i++) {
        if (!result_job_is_idle(r, &r->job[i]))
            (void)json_array_append_new(jobs, job_json(r, &r->job[i]));
    }
    return jobs;
}

static json_t *link_json(const struct hx_fabric *g, const struct link_use *use)
{
    json_t *o = json_object();
    struct hx_end far = hx_fabric_far(g, use->node, use->port);
    char from[HX_NAME_BYTES];
    char to[HX_NAME_BYTES];
    (void)hx_port_name(from, g, use->plane, use->node, use->port);
    (void)hx_port_name(to, g, use->plane, far.node, far.port);
    REPORT_LINK(REPORT_SET)
    return o;
}

static json_t *links_json(const struct result *r)
{
    json_t *links = json_array();
    for (uint32_t i = 0; i < r->links; i++)
        (void)json_array_append_new(links, link_json(r->g, &r->link[i]));
    return links;
}

static json_t *repeats_json(const struct repeats_count *c)
{
    json_t *o = json_object();
    REPORT_REPEATS(REPORT_SET)
    return o;
}

static json_t *forward_json(const struct result *r)
{
    const struct fast_forward_counts *c = &r->outcome.forwarded;
    json_t *o = json_object();
    REPORT_FORWARD(REPORT_SET)
    return o;
}

static json_t *receive_json(const struct result *r)
{
    json_t *shares = json_array();
    for (uint32_t rank = 0; rank < r->g->hosts; rank++)
        (void)json_array_append_new(shares, json_real(r->receive_share[rank]));
    return shares;
}

static json_t *cost_json(const struct result *r)
{
    const struct healthy_figures with = result_healthy_figures(r);
    return healthy_report_json(r->context.healthy, &with, r->g);
}

static json_t *collective_json(const struct result *r)
{
    const struct collective_result collective = result_collective(r);
    return collective_report_json(r->context.collective, &collective);
}

static json_t *host_json(const struct result *r, const char *again)
{
    json_t *o = json_object();
    const double real = (double)r->outcome.drained_ns / 1e9;
    char date[RESULT_DATE];
    result_date(r, date);
    REPORT_HOST(REPORT_SET)
    return o;
}

json_t *result_json(const struct result *r)
{
    json_t *o = json_object();
    const struct hx_settings *s = &r->settings;
    const struct flows *flows = result_flows(r);
    json_t *settings;
    char *again;
    char routing[HX_ROUTING_BYTES];
    result_settings(r, &settings, &again);
    (void)hx_routing_write(routing, &r->g->routing);
    REPORT_RUN(REPORT_SET, REPORT_SET_IF)
    free(again);
    return o;
}
