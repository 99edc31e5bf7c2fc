/* json.c - the report as JSON, with the keys of DESIGN section 7. Figures that depend on the machine are in `host`. */
#include "base/json.h"
#include "base/counts.h"
#include "base/version.h"
#include "fabric-emu/report/class_report.h"
#include "fabric-emu/report/result.h"
#include "fabric-emu/report/schedule_report.h"
#include "topology/name.h"

#include <stdlib.h>

static json_t *latency_json(const struct fab_histogram *h)
{
    if (fab_histogram_is_empty(h))
        return json_pack("{s:n, s:n, s:n, s:n, s:n}", "mean", "p50", "p99", "p999", "max");
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "mean", (json_int_t)fab_histogram_mean(h), "p50",
                     (json_int_t)fab_histogram_quantile(h, 0.5), "p99", (json_int_t)fab_histogram_quantile(h, 0.99),
                     "p999", (json_int_t)fab_histogram_quantile(h, 0.999), "max", (json_int_t)h->most);
}

/* Of data packets, under the same keys for the run and for each job. */
static void set_latency(json_t *o, const struct result *r, const struct fab_histogram *latency,
                        const struct fab_histogram *network)
{
    static const struct fab_histogram none;
    (void)json_object_set_new(o, "latency_ns", latency_json(result_has_latency(r) ? latency : &none));
    if (r->outcome.open.on || !fab_histogram_is_empty(network))
        (void)json_object_set_new(o, "network_latency_ns", latency_json(network));
    (void)json_object_set_new(o, "measured_packets", json_integer((json_int_t)fab_histogram_count(latency)));
}

static json_t *real_or_null(bool is_known, double value)
{
    return is_known ? json_real(value) : json_null();
}

static json_t *open_loop_json(const struct result *r)
{
    static const char *const reasons[] = {[STABILITY_LATE] = "late", [STABILITY_GROWING] = "growing"};
    const struct open_outcome *o = &r->outcome.open;
    const enum stability stability = result_stability(r);
    const bool arrived = stability == STABILITY_STABLE || stability == STABILITY_GROWING;
    json_t *stable = stability == STABILITY_UNKNOWN ? json_null() : json_boolean(stability == STABILITY_STABLE);
    const char *warm_up = !o->finds ? "given" : o->steady ? "steady" : "half";
    return json_pack("{s:o, s:s?, s:s, s:I, s:I, s:o, s:o, s:f}", "stable", stable, "unstable_because",
                     reasons[stability], "warm_up", warm_up, "marked_messages", (json_int_t)o->marked,
                     "arrived_messages", (json_int_t)o->arrived, "growth", real_or_null(arrived, result_growth(r)),
                     "drain_seconds", real_or_null(arrived, (double)o->drained_ps / 1e12), "drain_limit_seconds",
                     (double)o->limit_ps / 1e12);
}

/* Counters of endpoints, under the same keys for the run and for each job. */
static void set_sum(json_t *o, const struct hx_endpoint_stats *sum, uint64_t messages_begun, uint64_t packets_lost,
                    uint64_t packets_in_flight, uint64_t bytes_corrupted)
{
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {{"packets_sent", sum->packets_sent},
                  {"packets_delivered", sum->packets_delivered},
                  {"packets_lost", packets_lost},
                  {"packets_in_flight", packets_in_flight},
                  {"packets_repeated", sum->packets_repeated},
                  {"bytes_delivered", sum->bytes_delivered},
                  {"bytes_corrupted", bytes_corrupted},
                  {"messages", sum->messages_received},
                  {"messages_begun", messages_begun},
                  {"messages_failed", sum->messages_failed},
                  {"acknowledgements", sum->acks_sent}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        (void)json_object_set_new(o, counts[i].key, json_integer((json_int_t)counts[i].value));
}

static void set_task(json_t *o, const struct result *r, const struct result_job *job)
{
    const struct hx_job *named = hx_spec_job(r->spec, job->tag);
    const struct hx_settings s = hx_job_settings(&r->settings, named);
    if (named)
        (void)json_object_set_new(o, "start_seconds", json_real((double)named->start_ns / 1e9));
    if (named && named->name[0])
        (void)json_object_set_new(o, "name", hx_json_text(named->name));
    (void)json_object_set_new(o, "traffic", hx_json_text(hx_settings_traffic(&s)));
    (void)json_object_set_new(o, "seconds", json_real(result_job_seconds(r, job)));
}

static json_t *jobs_json(const struct result *r)
{
    json_t *jobs = json_array();
    for (uint32_t i = 0; i < r->jobs; i++) {
        const struct result_job *job = &r->job[i];
        if (result_job_is_idle(r, job))
            continue;
        json_t *o = json_pack("{s:i, s:I}", "job", (int)job->tag, "accelerators", (json_int_t)job->accelerators);
        set_task(o, r, job);
        set_sum(o, &job->sum, job->messages_begun, job->packets_lost, job->packets_in_flight, job->bytes_corrupted);
        (void)json_object_set_new(o, "share_of_injection", json_real(job->share_of_injection));
        (void)json_object_set_new(o, "share_of_own_time", json_real(job->share_of_own_time));
        set_latency(o, r, &job->latency, &job->network);
        (void)json_array_append_new(jobs, o);
    }
    return jobs;
}

static json_t *links_json(const struct result *r)
{
    json_t *links = json_array();
    for (uint32_t i = 0; i < r->links; i++) {
        const struct link_use *use = &r->link[i];
        struct hx_end far = hx_fabric_far(r->g, use->node, use->port);
        char from[HX_NAME_BYTES];
        char to[HX_NAME_BYTES];
        (void)json_array_append_new(links, json_pack("{s:s, s:s, s:I, s:f}", "from",
                                                     hx_port_name(from, r->g, use->plane, use->node, use->port), "to",
                                                     hx_port_name(to, r->g, use->plane, far.node, far.port), "packets",
                                                     (json_int_t)use->packets, "busy", use->busy));
    }
    return links;
}

static json_t *repeats_json(const struct repeats_count *c)
{
    return json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I}", "cuts", (json_int_t)c->cuts, "periods",
                     (json_int_t)c->periods, "iterations", (json_int_t)c->iterations, "skipped_seconds",
                     (double)c->skipped_ps / 1e12, "states", (json_int_t)c->states, "pairs", (json_int_t)c->pairs,
                     "by_chance", (json_int_t)c->by_chance, "unlike", (json_int_t)c->unlike, "too_late",
                     (json_int_t)c->too_late);
}

static json_t *receive_json(const struct result *r)
{
    json_t *shares = json_array();
    for (uint32_t rank = 0; rank < r->g->hosts; rank++)
        (void)json_array_append_new(shares, json_real(r->receive_share[rank]));
    return shares;
}

static json_t *host_json(const struct result *r, const char *again)
{
    double seconds = (double)r->outcome.drained_ns / 1e9;
    double rate = seconds > 0 ? (double)r->packet_hops / seconds : 0;
    char date[RESULT_DATE];
    result_date(r, date);
    return json_pack("{s:s, s:o, s:o, s:i, s:f, s:f, s:f, s:f, s:f, s:I, s:i}", "date", date, "command",
                     hx_json_text(r->context.common->line), "again", hx_json_text(again), "workers", (int)r->workers,
                     "wall_seconds", seconds, "packet_hops_per_second", rate, "cpu_seconds", r->cpu_seconds,
                     "packet_hops_per_cpu_second", r->cpu_seconds > 0 ? (double)r->packet_hops / r->cpu_seconds : 0,
                     "verify_seconds", r->verify_seconds, "peak_memory_bytes", (json_int_t)r->peak_memory_bytes,
                     "worker_deaths", (int)r->outcome.deaths);
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
#define SET(key, value) (void)json_object_set_new(o, key, value)
    SET("schema", json_integer(RESULT_SCHEMA));
    SET("version", json_string(HXMESH_VERSION));
    SET("spec", hx_json_text(r->spec->fabric));
    SET("fabric", result_fabric_json(r));
    SET("routing", json_string(hx_routing_write(routing, &r->g->routing)));
    SET("settings", settings);
    SET("planes", json_integer(r->g->planes));
    SET("clock", json_string(hx_clock_names[s->clock]));
    SET("seed", json_integer((json_int_t)s->seed));
    SET("traffic", hx_json_text(r->context.instead ? r->context.instead : hx_settings_traffic(s)));
    if (flows)
        SET("flows", json_pack("{s:I, s:I}", "messages", (json_int_t)flows_count(flows), "left_out",
                               (json_int_t)flows->left_out));
    else if (!r->context.instead)
        SET("message_bytes", json_integer((json_int_t)s->message));
    SET("verify", json_boolean(s->verify));
    SET("accelerators", json_integer(r->g->hosts));
    SET("complete", json_boolean(r->outcome.complete));
    SET("interrupted", json_boolean(r->outcome.interrupted));
    set_sum(o, &r->sum, r->messages_begun, r->packets_lost, r->packets_in_flight, r->bytes_corrupted);
    SET("packet_hops", json_integer((json_int_t)r->packet_hops));
    SET("buffers_missing", json_integer((json_int_t)r->outcome.buffers_missing));
    SET("seconds", json_real(result_seconds(r)));
    if (s->warm_up_ns)
        SET("warm_up_seconds", json_real((double)s->warm_up_ns / 1e9));
    if (s->clock == HX_CLOCK_VIRTUAL) {
        SET("virtual_seconds", json_real(result_seconds(r)));
        SET("window_wait_share", json_real(result_window_wait(r)));
    }
    if (s->injection_rate > 0)
        SET("pace", json_real(s->injection_rate));
    SET("link_gbps", json_real(r->link_rate * 8 / 1e9));
    SET("host_links", json_integer(r->g->host_links));
    SET("injection_gbps", json_real(result_injection(r) * 8e-9));
    SET("gbps_per_host", json_real(r->share_of_injection * result_injection(r) * 8e-9));
    if (s->pattern < HX_PATTERNS && !r->context.instead)
        SET("share_offered", json_real(traffic_share_offered(r->context.traffic)));
    SET("share_of_injection", json_real(r->share_of_injection));
    SET("alltoall_bound", json_real(r->bound));
    SET("share_of_bound", r->context.collective || r->context.schedule ? json_null() : json_real(r->share_of_bound));
    set_latency(o, r, &r->latency, &r->network);
    if (r->outcome.open.on)
        SET("open_loop", open_loop_json(r));
    SET("max_vc", json_integer((json_int_t)r->max_vc));
    SET("drops", hx_json_counts(hx_drop_names, r->drops));
    SET("stalls", hx_json_counts(hx_stall_names, r->stalls));
    if (r->spec->job)
        SET("jobs", jobs_json(r));
    if (r->circuits.links)
        SET("circuits", circuits_report_json(&r->circuits));
    if (fault_report_count(r->fault, r->faults, false))
        SET("faults", fault_report_json(r->fault, r->faults, false));
    if (fault_report_count(r->fault, r->faults, true))
        SET("changes", fault_report_json(r->fault, r->faults, true));
    if (r->context.healthy) {
        const struct healthy_figures with = result_healthy_figures(r);
        SET("cost_of_faults", healthy_report_json(r->context.healthy, &with, r->g));
    }
    if (r->receive_share)
        SET("receive_share", receive_json(r));
    SET("link_classes", class_report_json(r));
    if (!r->context.hide_links)
        SET("links", links_json(r));
    if (r->context.schedule)
        SET("schedule", schedule_report_json(r->context.schedule));
    if (r->outcome.cuts_repeats)
        SET("repeats", repeats_json(&r->outcome.repeats));
    if (r->context.collective) {
        const struct collective_result collective = result_collective(r);
        SET("collective", collective_report_json(r->context.collective, &collective));
    }
    SET("host", host_json(r, again));
#undef SET
    free(again);
    return o;
}
