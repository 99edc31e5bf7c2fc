/* json.c - a line of `hxmesh top --json` (docs/top.md lists the keys). */
#include "base/json.h"
#include "base/counts.h"
#include "base/error.h"
#include "spec/spec.h"
#include "tools/top/top.h"
#include "topology/name.h"

#include <stdlib.h>

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *rates_json(const struct top *t)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "packet_hops_per_wall_second", t->rate.wall_hops,
                     "packets_delivered_per_second", t->rate.packets, "bytes_delivered_per_second", t->rate.bytes,
                     "messages_per_second", t->rate.messages, "share_of_injection", top_injection(t));
}

static json_t *workers_json(const struct top *t)
{
    json_t *workers = json_array();
    for (unsigned w = 0; w < t->head.workers; w++) {
        const struct hx_metrics_worker *now = &t->now.worker[w];
        (void)json_array_append_new(workers, json_pack("{s:i, s:s, s:i, s:I, s:f, s:f, s:f, s:I}", "worker", (int)w,
                                                       "state", top_state(t, w), "pid", (int)now->pid, "packet_hops",
                                                       (json_int_t)now->hops, "packet_hops_per_wall_second",
                                                       t->worker[w].wall_hops, "cpu_seconds", (double)now->cpu_ns / 1e9,
                                                       "busy", t->worker[w].busy, "deaths", (json_int_t)now->deaths));
    }
    return workers;
}

static json_t *links_json(const struct top *t, unsigned most)
{
    struct top_link *link = hx_allocate(most + 1U, sizeof *link);
    unsigned count = top_links(t, TOP_BY_RATE, TOP_ALL_PLANES, link, most);
    json_t *links = json_array();
    for (unsigned i = 0; i < count; i++) {
        struct hx_end far = hx_fabric_far(&t->g, link[i].node, link[i].port);
        char from[HX_NAME_BYTES];
        char to[HX_NAME_BYTES];
        (void)json_array_append_new(links,
                                    json_pack("{s:s, s:s, s:I, s:f, s:f, s:f}", "from",
                                              hx_port_name(from, &t->g, link[i].plane, link[i].node, link[i].port),
                                              "to", hx_port_name(to, &t->g, link[i].plane, far.node, far.port),
                                              "packets", (json_int_t)t->now.link[link[i].number].packets,
                                              "packets_per_second", t->packets[link[i].number], "gbps",
                                              t->gbps[link[i].number], "load", top_load(t, link[i].number)));
    }
    free(link);
    return links;
}

/* The faults that hold, the latest first. */
static json_t *faults_json(const struct top *t)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < t->now.faults.holding && i < HX_METRICS_FAULTS; i++)
        (void)json_array_append_new(list, json_pack("{s:o, s:o}", "fault", hx_json_text(top_fault_line(t, i)),
                                                    "since_ns", number(t->now.faults.fault[i].since_ns)));
    return list;
}

/* Null: the run has no schedule. */
static json_t *operations_json(const struct top *t)
{
    return t->head.goal_operations ? json_pack("{s:o, s:o, s:o}", "all", number(t->head.goal_operations), "ended",
                                               number(t->sum.operations_ended), "open", number(t->sum.operations_open))
                                   : json_null();
}

json_t *top_json(const struct top *t, double interval, unsigned links)
{
    json_t *o = json_object();
    const struct top_sum *s = &t->sum;
    double done = top_done(t);
#define SET(key, value) (void)json_object_set_new(o, key, value)
    SET("schema", json_integer(HX_JSON_SCHEMA));
    SET("name", hx_json_text(t->name));
    SET("spec", hx_json_text(t->head.fabric));
    SET("clock", json_string(top_is_virtual(t) ? hx_clock_names[HX_CLOCK_VIRTUAL] : hx_clock_names[HX_CLOCK_WALL]));
    SET("traffic", hx_json_text(t->head.traffic));
    SET("state", json_string(top_phase(t)));
    SET("interval_seconds", json_real(interval));
    SET("wall_seconds", json_real(t->wall_seconds));
    if (top_is_virtual(t))
        SET("virtual_seconds", json_real(t->simulated_seconds));
    SET("done", done < 0 ? json_null() : json_real(done));
    SET("packet_hops", number(s->hops));
    SET("packets_sent", number(s->packets_sent));
    SET("packets_repeated", number(s->packets_repeated));
    SET("packets_delivered", number(s->packets_delivered));
    SET("bytes_delivered", number(s->bytes_delivered));
    SET("bytes_corrupted", number(s->bytes_corrupted));
    SET("messages", number(s->messages_received));
    SET("messages_failed", number(s->messages_failed));
    SET("operations", operations_json(t));
    SET("acknowledgements", number(s->acks_sent));
    SET("worker_deaths", json_integer((json_int_t)s->deaths));
    SET("drops", hx_json_counts(hx_drop_names, t->sum.drops));
    SET("stalls", hx_json_counts(hx_stall_names, t->sum.stalls));
    SET("faults", faults_json(t));
    SET("faults_holding", number(t->now.faults.holding));
    SET("changes_holding", number(t->now.faults.planned));
    SET("rates", rates_json(t));
    SET("workers", workers_json(t));
    SET("links", links_json(t, links));
#undef SET
    return o;
}
