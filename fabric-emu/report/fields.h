/* fields.h - the fields of a report: one table each of a run and of its parts. JSON, the keys in docs/report.md and the
 * figures of `hxmesh sweep` come from their rows, so a new field is a new row.
 *
 *     F(key, value, unit, meaning)           IF(when, key, value, unit, meaning): only runs for which `when` holds
 *
 *     result and its parts ---- the table with F = REPORT_SET ----> JSON in the order of the rows ----> --json, --csv
 *     (of the run; read only)   the table with F = KEY (fields.c) -> report_keys_print(): `make docs`, docs/report.md
 *
 * A value is an expression of variables at the place where the table is written as JSON; the comment of a table names
 * them. Elsewhere it is not evaluated, so a table can be used where its variables are unknown. Values are
 *
 *     COUNT(number)   REAL(number; NAN: null)   SWITCH(bool)   TEXT(text; NULL: null)   COUNT_OR_NULL(known, number)
 *     PART(keys, json), LIST(keys, json)        an object, or a list of objects, with a table of their own
 *     OTHER(type, json)                         without one
 *
 * where json is a new reference. Units are "s", "ns", "bytes", "Gb/s", "share" (1 is all), or what is counted.
 *
 * Not in tables: text (its lines are sentences of several fields, with words that depend on others); `settings`, which
 * have the options' table; what the parts that know it add (capture, external). */
#ifndef FIELDS_H
#define FIELDS_H

#include "base/json.h"

#include <math.h>

/* Prints each key with type, unit and meaning as rows of a table in Markdown. */
void report_keys_print(FILE *out);

/* A real as JSON; NAN or infinite: null. A new reference. */
static inline json_t *report_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* clang-format off */

/* F and IF for JSON: set the field in the object `o`. */
#define REPORT_SET(key, value, unit, meaning) (void)json_object_set_new(o, key, REPORT_JSON_##value);
#define REPORT_SET_IF(when, key, value, unit, meaning) \
    if (when) \
        (void)json_object_set_new(o, key, REPORT_JSON_##value);
#define REPORT_JSON_COUNT(number)                json_integer((json_int_t)(number))
#define REPORT_JSON_COUNT_OR_NULL(known, number) ((known) ? json_integer((json_int_t)(number)) : json_null())
#define REPORT_JSON_REAL(number)                 report_real(number)
#define REPORT_JSON_SWITCH(on)                   json_boolean(on)
#define REPORT_JSON_TEXT(text)                   hx_json_text(text)
#define REPORT_JSON_PART(keys, json)             (json)
#define REPORT_JSON_LIST(keys, json)             (json)
#define REPORT_JSON_OTHER(type, json)            (json)

/* Type of a value. */
#define REPORT_TYPE_COUNT(number)                "integer"
#define REPORT_TYPE_COUNT_OR_NULL(known, number) "integer"
#define REPORT_TYPE_REAL(number)                 "number"
#define REPORT_TYPE_SWITCH(on)                   "bool"
#define REPORT_TYPE_TEXT(text)                   "text"
#define REPORT_TYPE_PART(keys, json)             "object"
#define REPORT_TYPE_LIST(keys, json)             "list"
#define REPORT_TYPE_OTHER(type, json)            type

/* Variables: struct result *r, struct hx_settings *s (of the run), struct flows *flows; json_t *settings; texts again,
 * routing. */
#define REPORT_RUN(F, IF) \
    F("schema", COUNT(RESULT_SCHEMA), "", \
      "grows when a key changes its meaning or is removed, or the results of equal settings change") \
    F("version", TEXT(HXMESH_VERSION), "", "of hxmesh") \
    F("spec", TEXT(r->spec->fabric), "", "the fabric as `run` takes it") \
    F("fabric", PART(fabric_keys, result_fabric_json(r)), "", "") \
    F("routing", TEXT(routing), "", "as `--routing` takes it ([topologies.md](topologies.md))") \
    F("settings", OTHER("object", settings), "", \
      "every option for this clock and traffic, by its name, as used: given, from the file, or the default") \
    F("planes", COUNT(r->g->planes), "", "from the settings") \
    F("clock", TEXT(hx_clock_names[s->clock]), "", "from the settings") \
    F("seed", COUNT(s->seed), "", "from the settings") \
    F("traffic", TEXT(r->context.instead ? r->context.instead : hx_settings_traffic(s)), "", \
      "the pattern or the file; `programs` of `serve`, `packets of programs` of `up`; `posted` by a program that " \
      "calls libhxmesh-sim") \
    IF(flows, "flows", PART(flows_keys, flows_json(flows)), "", "") \
    IF(!flows && !r->context.instead, "message_bytes", COUNT(s->message), "bytes", \
       "from the settings; absent if programs or a file send") \
    F("verify", SWITCH(s->verify), "", "from the settings") \
    F("accelerators", COUNT(r->g->hosts), "hosts", "of the fabric") \
    F("complete", SWITCH(r->outcome.complete), "", "all sent was acknowledged, and no worker stayed down") \
    F("interrupted", SWITCH(r->outcome.interrupted), "", \
      "by Ctrl-C or another signal; open messages may still have been delivered") \
    REPORT_SUM(F, r) \
    F("packet_hops", COUNT(r->packet_hops), "packets", "forwarded by switches, with deliveries") \
    F("buffers_missing", COUNT(r->outcome.buffers_missing), "buffers", \
      "packet buffers without an owner at the end: a bug") \
    F("seconds", REAL(result_seconds(r)), "s", \
      "measured interval, run's clock: to the last delivery or the end of `--duration`, without warm-up") \
    IF(s->warm_up_ns, "warm_up_seconds", REAL((double)s->warm_up_ns / 1e9), "s", \
       "length of `--warm-up`, or of the one that the run chose") \
    IF(s->clock == HX_CLOCK_VIRTUAL, "virtual_seconds", REAL(result_seconds(r)), "s", \
       "`seconds` again, under the virtual clock") \
    IF(s->clock == HX_CLOCK_VIRTUAL, "window_wait_share", REAL(result_window_wait(r)), "share", \
       "virtual clock, mean of hosts that sent: share of the time in which a message of a pattern waited for its " \
       "pair's window, and its host had nothing to inject: the most that a larger window could bring") \
    IF(s->injection_rate > 0, "injection_rate", REAL(s->injection_rate), "", \
       "share of its injection bandwidth at which a host sends; absent live") \
    F("link_gbps", REAL(r->link_rate * 8 / 1e9), "Gb/s", "rate of a link: `--link`, 400 live") \
    F("host_links", COUNT(r->g->host_links), "links", "of a host in a plane; the fewest, if hosts differ") \
    F("injection_gbps", REAL(result_injection(r) * 8e-9), "Gb/s", \
      "injection bandwidth of a host over all planes, for shares; the mean, if hosts differ") \
    F("gbps_per_host", REAL(r->share_of_injection * result_injection(r) * 8e-9), "Gb/s", "payload delivered, a host") \
    IF(s->pattern < HX_PATTERNS && !r->context.instead, "share_offered", \
       REAL(traffic_share_offered(r->context.traffic)), "share", \
       "of a pattern: `--rate` times the share of accelerators that send") \
    F("share_of_injection", REAL(r->share_of_injection), "share", \
      "delivered share of the injection bandwidth of all accelerators") \
    F("alltoall_bound", REAL(r->bound), "share", "upper bound of `share_of_injection` for all-to-all traffic") \
    F("share_of_bound", \
      REAL(r->context.collective || r->context.schedule || r->context.instead ? (double)NAN : r->share_of_bound), \
      "share", "reached share of that bound; null: a collective, a schedule, or what a program sends") \
    REPORT_LATENCIES(F, IF, r) \
    IF(r->outcome.open.on, "open_loop", PART(open_loop_keys, open_loop_json(r)), "", "") \
    F("max_vc", COUNT(r->max_vc), "", "highest virtual channel in use") \
    F("drops", OTHER("object", hx_json_counts(hx_drop_names, r->drops)), "frames", "dropped frames by reason") \
    F("stalls", PART(stall_keys, stalls_json(r)), "", "") \
    IF(r->spec->job, "jobs", LIST(job_keys, jobs_json(r)), "", "") \
    IF(r->circuits.links, "circuits", PART(circuits_keys, circuits_report_json(&r->circuits)), "", "") \
    IF(fault_report_count(r->fault, r->faults, false), "faults", \
       LIST(fault_keys, fault_report_json(r->fault, r->faults, false)), "", "") \
    IF(fault_report_count(r->fault, r->faults, true), "changes", \
       LIST(change_keys, fault_report_json(r->fault, r->faults, true)), "", "") \
    IF(r->context.healthy, "cost_of_faults", PART(healthy_keys, cost_json(r)), "", "") \
    IF(r->receive_share, "receive_share", OTHER("list of numbers", receive_json(r)), "share", \
       "virtual clock, by rank: received share of its own injection, up to its last byte") \
    F("link_classes", LIST(class_keys, class_report_json(r)), "", "") \
    IF(!r->context.hide_links, "links", LIST(link_keys, links_json(r)), "", "") \
    IF(r->context.schedule, "schedule", OTHER("list", schedule_report_json(r->context.schedule)), "", \
       "an entry for each job with a schedule ([schedules.md](schedules.md#the-report))") \
    IF(r->outcome.cuts_repeats, "repeats", PART(repeats_keys, repeats_json(&r->outcome.repeats)), "", "") \
    IF(r->outcome.fast_forward > 0, "fast_forward", PART(forward_keys, forward_json(r)), "", "") \
    IF(r->context.collective, "collective", PART(collective_keys, collective_json(r)), "", "") \
    F("host", PART(host_keys, host_json(r, again)), "", "")

/* struct result *r. Packets that had to wait at a switch, by cause at their arrival, each switch counted. */
#define REPORT_STALLS(F) \
    F("no_credit", COUNT(r->stalls[HX_STALL_NO_CREDIT]), "packets", \
      "waited at a switch, each counted: an output could send, but the next buffer had no room for the packet or for " \
      "older ones before it") \
    F("output_busy", COUNT(r->stalls[HX_STALL_OUTPUT_BUSY]), "packets", \
      "virtual clock, likewise: each output that the packet may take was sending another packet")

/* struct hx_spec *s. */
#define REPORT_FABRIC(F, IF) \
    F("name", TEXT(s->name), "", "the file's `name`, or the fabric") \
    F("a", COUNT(s->a), "", "columns of accelerators on a board") \
    F("b", COUNT(s->b), "", "rows of accelerators on a board") \
    F("x", COUNT(s->x), "", "columns of boards") \
    F("y", COUNT(s->y), "", "rows of boards") \
    IF(s->a, "failed_boards", OTHER("list of pairs", boards_json(s, has_failed, 0)), "", \
       "[X, Y] of each failed board of a HammingMesh") \
    IF(!s->a, "failed_hosts", OTHER("list of pairs", boards_json(s, has_failed, 0)), "", \
       "address of each failed host of another fabric") \
    F("jobs", LIST(fabric_job_keys, jobs_json(r)), "", "")

/* struct result *r, uint16_t tag. */
#define REPORT_FABRIC_JOB(F, IF) \
    F("tag", COUNT(tag), "", "job tag of each job in the file") \
    IF(r->spec->a, "boards", OTHER("list of pairs", boards_json(r->spec, is_of_job, tag)), "", "[X, Y] of its boards") \
    IF(!r->spec->a, "hosts", OTHER("list of pairs", boards_json(r->spec, is_of_job, tag)), "", \
       "in another fabric the addresses of its hosts")

/* struct flows *flows. */
#define REPORT_FLOWS(F) \
    F("messages", COUNT(flows_count(flows)), "messages", "that a file of messages lists") \
    F("left_out", COUNT(flows->left_out), "messages", "those of failed boards, not in `flows.messages`")

/* Counters of endpoints. c: the result, or one of its jobs. */
#define REPORT_SUM(F, c) \
    F("packets_sent", COUNT((c)->sum.packets_sent), "packets", "without retransmissions") \
    F("packets_delivered", COUNT((c)->sum.packets_delivered), "packets", "") \
    F("packets_lost", COUNT((c)->packets_lost), "packets", "should have arrived, and did not") \
    F("packets_in_flight", COUNT((c)->packets_in_flight), "packets", "in flight when the run was interrupted") \
    F("packets_repeated", COUNT((c)->sum.packets_repeated), "packets", \
      "retransmitted after a late answer or an unreachable report") \
    F("bytes_delivered", COUNT((c)->sum.bytes_delivered), "bytes", "payload") \
    F("bytes_corrupted", COUNT((c)->bytes_corrupted), "bytes", "corrupted payload; only if `verify` is true") \
    F("messages", COUNT((c)->sum.messages_received), "messages", "delivered whole") \
    F("messages_begun", COUNT((c)->messages_begun), "messages", "") \
    F("messages_failed", COUNT((c)->sum.messages_failed), "messages", "given up") \
    F("acknowledgements", COUNT((c)->sum.acks_sent), "", "sent by endpoints")

/* Latencies of data packets. c: the result, or one of its jobs; r. */
#define REPORT_LATENCIES(F, IF, c) \
    F("latency_ns", PART(latency_keys, latency_json(result_has_latency(r) ? &(c)->latency : NULL)), "", "") \
    IF(r->outcome.open.on || !fab_histogram_is_empty(&(c)->network), "network_latency_ns", \
       PART(network_latency_keys, latency_json(&(c)->network)), "", "") \
    F("measured_packets", COUNT(fab_histogram_count(&(c)->latency)), "packets", \
      "data packets with a latency that counts, copies included; acknowledgements are not among them")

/* struct fab_histogram *h, bool any (it has packets). of: what latencies are of. */
#define REPORT_LATENCY(F, of) \
    F("mean", COUNT_OR_NULL(any, fab_histogram_mean(h)), "ns", of) \
    F("p50", COUNT_OR_NULL(any, fab_histogram_quantile(h, 0.5)), "ns", "quantile in steps of 3 %; so are the next") \
    F("p99", COUNT_OR_NULL(any, fab_histogram_quantile(h, 0.99)), "ns", "") \
    F("p999", COUNT_OR_NULL(any, fab_histogram_quantile(h, 0.999)), "ns", "") \
    F("max", COUNT_OR_NULL(any, h->most), "ns", "")

/* struct result *r, struct open_outcome *open (of it), enum stability stability, char *reasons[]; bool arrived (all in
 * time). */
#define REPORT_OPEN_LOOP(F) \
    F("stable", \
      OTHER("bool", stability == STABILITY_UNKNOWN ? json_null() : json_boolean(stability == STABILITY_STABLE)), "", \
      "of a run at a rate for a time, see below; null: it was interrupted") \
    F("unstable_because", TEXT(reasons[stability]), "", "`late` or `growing`; null: it is stable") \
    F("warm_up", TEXT(!open->finds ? "given" : open->steady ? "steady" : "half"), "", \
      "how it was chosen: `given`, `steady`, or `half` of `--duration`, for the load was not steady") \
    F("marked_messages", COUNT(open->marked), "messages", "generated in the measured interval") \
    F("arrived_messages", COUNT(open->arrived), "messages", "arrived of these") \
    F("growth", REAL(arrived ? result_growth(r) : (double)NAN), "", \
      "growth of the latency in the measured interval, share of the time; null: `late`") \
    F("drain_seconds", REAL(arrived ? (double)open->drained_ps / 1e12 : (double)NAN), "s", \
      "from the end of the interval to the last of these arrivals; null: `late`") \
    F("drain_limit_seconds", REAL((double)open->limit_ps / 1e12), "s", "how long it may be: half of the interval")

/* struct result *r, struct result_job *job, struct hx_job *named (NULL: the spec does not name it), struct hx_settings
 * s (of the job). */
#define REPORT_JOB(F, IF) \
    F("job", COUNT(job->tag), "", "job tag") \
    F("accelerators", COUNT(job->accelerators), "hosts", "living ones") \
    IF(named, "start_seconds", REAL((double)named->start_ns / 1e9), "s", "its start") \
    IF(named && named->name[0], "name", TEXT(named->name), "", "") \
    F("traffic", TEXT(hx_settings_traffic(&s)), "", "") \
    F("seconds", REAL(result_job_seconds(r, job)), "s", "from its start to its last packet") \
    REPORT_SUM(F, job) \
    F("share_of_injection", REAL(job->share_of_injection), "share", "over the whole run's time") \
    F("share_of_own_time", REAL(job->share_of_own_time), "share", \
      "the same from its start, or the end of the warm-up, to its last packet") \
    REPORT_LATENCIES(F, IF, job)

/* struct circuits_report *circuits. */
#define REPORT_CIRCUITS(F, IF) \
    F("links", COUNT(circuits->links), "links", "that were [closed as planned](faults.md#circuits-that-change)") \
    F("changes", COUNT(circuits->changes), "", "times at which links closed or opened") \
    F("closed_ns", COUNT(circuits->closed_ns), "ns", "for which they were closed, added up over the links") \
    F("rerouted", COUNT(circuits->rerouted), "packets", \
      "that waited for a link when it closed, so that they chose another") \
    IF(circuits->followed, "followed_after_ns", PART(followed_keys, followed_json(circuits)), "", "")
#define REPORT_FOLLOWED(F) \
    F("median", COUNT(circuits->median_ns), "ns", "live: from a change until all routes follow it, of all changes") \
    F("most", COUNT(circuits->most_ns), "ns", "")

/* struct fault_report *f. */
#define REPORT_FAULT(F) \
    F("fault", TEXT(f->text), "", "line of each fault") \
    F("at_ns", COUNT(f->at_ns), "ns", "its begin") \
    F("lost", COUNT(f->cost.lost), "packets", "that links lost for it; 0 of `up`") \
    F("corrupted", COUNT(f->cost.corrupted), "packets", "that links damaged for it") \
    F("duplicated", COUNT(f->cost.duplicated), "packets", "that links duplicated for it") \
    F("reordered", COUNT(f->cost.reordered), "packets", "that links reordered for it") \
    F("credits_lost", COUNT(f->cost.credits_lost), "credits", "that came late") \
    F("hits", COUNT(f->hits), "", "what it hit, see below") \
    F("whole_after_ns", COUNT_OR_NULL(f->whole, took(f)), "ns", \
      "from its begin until traffic recovered; null: not in this run")
#define REPORT_CHANGE(F) \
    F("change", TEXT(f->text), "", "line of each planned change") \
    F("at_ns", COUNT(f->at_ns), "ns", "its begin") \
    F("followed_after_ns", COUNT_OR_NULL(f->whole, took(f)), "ns", \
      "until all routes follow it; 0 under the virtual clock; null: not in this run")

/* struct healthy *h, struct healthy_figures *with, struct hx_fabric *f. */
#define REPORT_HEALTHY(F, IF) \
    F("seconds", PART(healthy_seconds_keys, pair_json(with->seconds, h->without.seconds)), "", "") \
    F("gbps_per_host", PART(healthy_gbps_keys, pair_json(with->gbps, h->without.gbps)), "", "") \
    IF(h->left.dead, "links_left", PART(links_left_keys, links_left_json(f, &h->left)), "", "")
/* double with, without. */
#define REPORT_PAIR(F, unit, of) \
    F("with", REAL(with), unit, of ", with the faults") \
    F("without", REAL(without), unit, "of the same run without them") \
    F("difference", REAL(with - without), unit, "with less without") \
    F("ratio", REAL(ratio_of(with, without)), "", "with over without; null by 0")
/* char *name (of the host), struct links_left *left. */
#define REPORT_LINKS_LEFT(F) \
    F("host", TEXT(name), "", "the host that keeps the least share of its links; absent if no host lost one") \
    F("links", COUNT(left->links), "links", "of it in all planes") \
    F("dead", COUNT(left->dead), "links", "those of them that are down or closed in the end") \
    F("least_ratio", REAL(ratio_of(left->links, left->links - left->dead)), "", \
      "a bound: `links / (links - dead)`, of the time for bytes that fill all of them; null: none is left")

/* struct hx_link_class *class (of the fabric), struct class_use *u. */
#define REPORT_CLASS(F) \
    F("class", TEXT(class->name), "", "kind of links between two switches; a dimension of a grid, or `host`") \
    F("links", COUNT(u->links), "links", "") \
    F("busy", REAL(u->sum / u->links), "share", "of the time, mean of its links") \
    F("busiest", REAL(u->most), "share", "the largest of its links")

/* struct link_use *use, char *from and *to (names). */
#define REPORT_LINK(F) \
    F("from", TEXT(from), "", "each link between two switches; not with `--no-links`") \
    F("to", TEXT(to), "", "") \
    F("packets", COUNT(use->packets), "packets", "") \
    F("busy", REAL(use->busy), "share", "of the time")

/* struct result *r; struct fast_forward_counts *c. */
#define REPORT_FORWARD(F) \
    F("tolerance", REAL(r->outcome.fast_forward), "share", "of `--fast-forward`") \
    F("simulated_share", REAL(result_simulated_share(r)), "share", "of all packets, those that were simulated") \
    F("collectives", COUNT(c->collectives), "", "that ended") \
    F("held", COUNT(c->held), "", "of these: without packets") \
    F("cut", COUNT(c->cut), "", "without packets for a part of their time") \
    F("messages", COUNT(c->messages), "messages", "left out: in counts of `schedule`, not of the run") \
    F("packets", COUNT(c->packets), "packets", "of these; those of links have them") \
    F("bytes", COUNT(c->bytes), "bytes", "of these") \
    F("unlike", COUNT(c->unlike), "", "that were held until none fitted that was simulated") \
    F("worst_begin", REAL(c->worst_begin), "share", "most by which begins and neighbours differed, of the duration") \
    F("audits", COUNT(c->audits), "", "of `--fast-forward-audit`: compared") \
    F("worst_audit", REAL(c->worst_audit), "share", "most by which an end differed in these, of the duration")

/* struct repeats_count *c. */
#define REPORT_REPEATS(F) \
    F("cuts", COUNT(c->cuts), "", "of `--repeats cut`: how often periods were left out") \
    F("periods", COUNT(c->periods), "", "left out") \
    F("iterations", COUNT(c->iterations), "", "of the repeats of a rank in them; the most") \
    F("skipped_seconds", REAL((double)c->skipped_ps / 1e12), "s", "simulated time in them") \
    F("states", COUNT(c->states), "", "of the fabric at rest") \
    F("pairs", COUNT(c->pairs), "", "of states that seemed alike") \
    F("by_chance", COUNT(c->by_chance), "", "of these: with packets between them that had several paths") \
    F("unlike", COUNT(c->unlike), "", "of these: that differ") \
    F("too_late", COUNT(c->too_late), "", "of these: alike, with no whole period left to leave out")

/* struct collective_plan *p, struct collective_job *one, *last and bool same (one collective for all; `last` takes
 * longest), struct collective_result *r, bool done (all members), json_t *jobs. */
#define REPORT_COLLECTIVE(F, IF) \
    REPORT_COLLECTIVE_KIND(IF, same, one) \
    F("accelerators", COUNT(r->count.members), "hosts", "participants") \
    F("done", COUNT(r->count.done), "hosts", "those that finished") \
    IF(same, "share", REAL(done ? collective_share(largest(p), r->injectable) : (double)NAN), "share", \
       "best possible time over its time, at most 1; null: not all finished") \
    IF(same, "vector_share", REAL(done ? collective_vector_share(one, r->injectable) : (double)NAN), "share", \
       "time of the whole vector over its time, as in the paper; null: not all finished") \
    REPORT_COLLECTIVE_SPEED(IF, same, last, "from its start to its last packet, with `--sum-rate` its last sum, of " \
                            "the job that takes longest; null: not all finished") \
    F("jobs", LIST(collective_job_keys, jobs), "", "")
#define REPORT_COLLECTIVE_KIND(IF, when, job) \
    IF(when, "kind", TEXT(hx_collective_kind_names[(job)->config.kind]), "", "") \
    IF(when, "vector_bytes", COUNT((uint64_t)llround(shares_bytes_of(&(job)->config).mean)), "bytes", \
       "with `--shares` the mean of the hosts")
/* double seconds; bool moved: it is known and above 0. A collective of one rank has no packet, and so no time. */
#define REPORT_COLLECTIVE_SPEED(IF, when, job, of) \
    IF(when, "seconds", REAL(done ? seconds : (double)NAN), "s", of) \
    IF(when, "algorithm_gbps", REAL(moved ? collective_algorithm_gbps(job, seconds) : (double)NAN), "Gb/s", \
       "algorithm bandwidth of that job: vector over time; null: no `seconds`, or 0") \
    IF(when, "bus_gbps", REAL(moved ? collective_bus_gbps(job, seconds) : (double)NAN), "Gb/s", \
       "bus bandwidth of that job, see below")
/* struct collective_job *job. */
#define REPORT_COLLECTIVE_JOB(F, IF) \
    F("job", COUNT(job->tag), "", "tag") \
    F("columns", COUNT(job->columns), "", "") \
    F("rows", COUNT(job->rows), "", "") \
    F("algorithm", TEXT(hx_collective_algorithm_names[job->config.algorithm]), "", "") \
    F("chunk_bytes", COUNT(job->config.chunk), "bytes", "") \
    IF(HX_FOR_TARGET & HX_FOR_PATTERN(HX_COLLECTIVES + job->config.kind), "root", \
       OTHER("pair", root_json(p->traffic->g, job)), "", "of a broadcast, reduce, gather or scatter") \
    REPORT_COLLECTIVE_KIND(IF, !same, job) \
    REPORT_COLLECTIVE_SPEED(IF, true, job, "of each job")

/* struct result *r; char *date, *again; double real (seconds). */
#define REPORT_HOST(F) \
    F("date", TEXT(date), "", "start, UTC") \
    F("command", TEXT(r->context.common->line), "", "the command line, quoted for a shell") \
    F("again", TEXT(again), "", "a command line with all settings explicit; null for `serve` and `up`") \
    F("workers", COUNT(r->workers), "processes", "") \
    F("wall_seconds", REAL(real), "s", "real time until nothing was in flight") \
    F("packet_hops_per_second", REAL(real > 0 ? (double)r->packet_hops / real : 0), "", "`packet_hops` over it") \
    F("cpu_seconds", REAL(r->cpu_seconds), "s", "processor time of all workers") \
    F("packet_hops_per_cpu_second", REAL(r->cpu_seconds > 0 ? (double)r->packet_hops / r->cpu_seconds : 0), "", \
      "`packet_hops` over it") \
    F("verify_seconds", REAL(r->verify_seconds), "s", \
      "real time for payload, its CRC-32C and checks, all workers; 0 under the virtual clock") \
    F("peak_memory_bytes", COUNT(r->peak_memory_bytes), "bytes", \
      "private memory of the workers at the end, without the report; see below") \
    F("worker_deaths", COUNT(r->outcome.deaths), "", "how often a worker was killed")
/* clang-format on */

#endif
