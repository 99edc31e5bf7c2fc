/* result_json.c - the report as JSON; the keys are those of DESIGN section 7. What depends on the machine is apart,
 * in `host`. */
#include "host/json.h"
#include "host/name.h"
#include "result.h"

static const char *const drop_names[] = {
#define DROP_NAME(name, text) text,
    HX_DROP_REASONS(DROP_NAME)
#undef DROP_NAME
};

static json_t *drops_json(const struct result *r)
{
    json_t *drops = json_object();
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        (void)json_object_set_new(drops, drop_names[reason], json_integer((json_int_t)r->drops[reason]));
    return drops;
}

static json_t *latency_json(const struct result *r)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "p50", (json_int_t)fab_histogram_quantile(&r->latency, 0.5), "p99",
                     (json_int_t)fab_histogram_quantile(&r->latency, 0.99), "p999",
                     (json_int_t)fab_histogram_quantile(&r->latency, 0.999), "max", (json_int_t)r->latency.most);
}

static json_t *links_json(const struct result *r)
{
    json_t *links = json_array();
    for (uint32_t i = 0; i < r->links; i++) {
        const struct link_use *use = &r->link[i];
        struct hx_end far = hx_far_end(r->g, use->node, use->port);
        char from[HX_NAME_BYTES];
        char to[HX_NAME_BYTES];
        (void)json_array_append_new(links, json_pack("{s:s, s:s, s:I, s:f}", "from",
                                                     hx_port_name(from, r->g, use->plane, use->node, use->port), "to",
                                                     hx_port_name(to, r->g, use->plane, far.node, far.port), "packets",
                                                     (json_int_t)use->packets, "busy", use->busy));
    }
    return links;
}

static json_t *receive_json(const struct result *r)
{
    json_t *shares = json_array();
    for (uint32_t rank = 0; rank < r->g->accelerators; rank++)
        (void)json_array_append_new(shares, json_real(r->receive_share[rank]));
    return shares;
}

static json_t *host_json(const struct result *r)
{
    double seconds = (double)r->outcome.drained_ns / 1e9;
    double rate = seconds > 0 ? (double)r->packet_hops / seconds : 0;
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:I, s:i}", "workers", (int)r->workers, "wall_seconds", seconds,
                     "packet_hops_per_second", rate, "cpu_seconds", r->cpu_seconds, "packet_hops_per_cpu_second",
                     r->cpu_seconds > 0 ? (double)r->packet_hops / r->cpu_seconds : 0, "verify_cpu_seconds",
                     r->verify_seconds, "peak_memory_bytes", (json_int_t)r->peak_memory_bytes, "worker_deaths",
                     (int)r->outcome.deaths);
}

json_t *result_json(const struct result *r)
{
    json_t *o = json_object();
    const struct hx_settings *s = &r->settings;
#define SET(key, value) (void)json_object_set_new(o, key, value)
    SET("spec", json_string(r->spec->fabric));
    SET("planes", json_integer(r->g->planes));
    SET("clock", json_string(hx_clock_names[s->clock]));
    SET("seed", json_integer((json_int_t)s->seed));
    SET("traffic", json_string(hx_pattern_names[s->pattern]));
    SET("message_bytes", json_integer((json_int_t)s->message));
    SET("verify", json_boolean(s->verify));
    SET("accelerators", json_integer(r->g->accelerators));
    SET("complete", json_boolean(r->outcome.complete));
    SET("interrupted", json_boolean(r->outcome.interrupted));
    SET("packets_sent", json_integer((json_int_t)r->sum.packets_sent));
    SET("packets_delivered", json_integer((json_int_t)r->sum.packets_delivered));
    SET("packets_lost", json_integer((json_int_t)r->packets_lost));
    SET("packets_repeated", json_integer((json_int_t)r->sum.packets_repeated));
    SET("bytes_delivered", json_integer((json_int_t)r->sum.bytes_delivered));
    SET("bytes_corrupted", json_integer((json_int_t)r->bytes_corrupted));
    SET("messages", json_integer((json_int_t)r->sum.messages_received));
    SET("messages_begun", json_integer((json_int_t)r->messages_begun));
    SET("messages_failed", json_integer((json_int_t)r->sum.messages_failed));
    SET("acknowledgements", json_integer((json_int_t)r->sum.acks_sent));
    SET("packet_hops", json_integer((json_int_t)r->packet_hops));
    SET("buffers_missing", json_integer((json_int_t)r->outcome.buffers_missing));
    if (r->outcome.virtual_ps)
        SET("virtual_seconds", json_real(result_seconds(r)));
    if (s->pace > 0)
        SET("pace", json_real(s->pace));
    SET("share_of_injection", json_real(r->share_of_injection));
    SET("alltoall_bound", json_real(r->bound));
    SET("share_of_bound", json_real(r->share_of_bound));
    SET("latency_ns", latency_json(r));
    SET("max_vc", json_integer((json_int_t)r->max_vc));
    SET("drops", drops_json(r));
    if (r->receive_share)
        SET("receive_share", receive_json(r));
    if (!r->hide_links)
        SET("links", links_json(r));
    if (r->collective)
        SET("collective", collective_report_json(r->collective, r->collective_count, result_seconds(r)));
    SET("host", host_json(r));
#undef SET
    return o;
}
