/* text.c - the report for a person. */
#include "base/text.h"
#include "base/counts.h"
#include "base/value.h"
#include "base/version.h"
#include "fabric-emu/report/class_report.h"
#include "fabric-emu/report/result.h"
#include "fabric-emu/report/schedule_report.h"
#include "hxmesh/endpoint.h"
#include "topology/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOTTEST = 5, MOST_JOBS = 16 };

#define WINDOW_WAIT_SHARE 0.01 /* of the time */

static void print_head(const struct result *r)
{
    printf("%s: %" PRIu32 " %ss, %u plane%s, %u worker%s", r->spec->name, r->g->hosts, hx_host_word(r->g), r->g->planes,
           hx_plural(r->g->planes), r->workers, hx_plural(r->workers));
    if (r->settings.workers > r->workers)
        printf(" (one a core, %u were asked for)", (unsigned)r->settings.workers);
    printf(", %s clock\n", hx_clock_names[r->settings.clock]);
    char date[RESULT_DATE];
    result_date(r, date);
    printf("  run            hxmesh %s, %s: %s\n", HXMESH_VERSION, date, r->context.common->line);
}

static void print_flows(const struct result *r, const struct flows *flows)
{
    uint64_t count = flows_count(flows);
    printf("  traffic        %s, %" PRIu64 " message%s", r->settings.traffic_file, count, hx_plural(count));
    if (flows->left_out)
        printf(", %" PRIu64 " of failed boards left out", flows->left_out);
    if (r->messages_begun < count)
        printf(", %" PRIu64 " not begun", count - r->messages_begun);
    printf("\n");
}

/* A message can be delivered though its sender gets no acknowledgement. */
static void print_messages(const struct result *r, const char *end)
{
    uint64_t over = r->sum.messages_received + r->sum.messages_failed;
    printf("  messages       %" PRIu64 " of %" PRIu64 " delivered, %" PRIu64 " given up", r->sum.messages_received,
           r->messages_begun, r->sum.messages_failed);
    if (over > r->messages_begun)
        printf(" (%" PRIu64 " of them delivered, but no answer came back)", over - r->messages_begun);
    printf(", %s\n", end);
}

/* Says that endpoints held messages back, where this is no small matter. */
static void print_window_wait(const struct result *r)
{
    if (result_window_wait(r) >= WINDOW_WAIT_SHARE)
        printf(
            "  windows        hosts waited %.3g %% of the time for an answer to the %u messages of a pair in flight\n",
            100 * result_window_wait(r), hx_peer_window(r->g->planes));
}

static void print_traffic(const struct result *r)
{
    char size[HX_VALUE_TEXT];
    const struct traffic *traffic = r->context.traffic;
    if (result_flows(r))
        print_flows(r, result_flows(r));
    else if (traffic && traffic_jobs_differ(traffic))
        printf("  traffic        %u jobs, each its own, seed %" PRIu64 "\n", r->spec->named_jobs, r->settings.seed);
    else if (traffic && r->context.schedule)
        printf("  traffic        a schedule, seed %" PRIu64 "\n", r->settings.seed);
    else if (traffic)
        printf("  traffic        %s, %s of %s, seed %" PRIu64 "\n", hx_pattern_names[r->settings.pattern],
               r->context.collective ? "a vector" : "messages", hx_value_print_bytes(size, r->settings.message),
               r->settings.seed);
    bool may_be_cut_off = r->sum.messages_failed && (hx_spec_has_failures(r->spec) || r->spec->job);
    const char *end = r->outcome.complete
                          ? r->outcome.interrupted ? "interrupted; all acknowledged" : "all acknowledged"
                      : r->outcome.interrupted ? "interrupted"
                      : may_be_cut_off         ? "NOT COMPLETE (`hxmesh check` says which pairs are cut off, and why)"
                                               : "NOT COMPLETE";
    print_messages(r, end);
    print_window_wait(r);
    printf("  packets        %" PRIu64 " sent, %" PRIu64 " delivered, %" PRIu64 " lost, %" PRIu64 " repeated",
           r->sum.packets_sent, r->sum.packets_delivered, r->packets_lost, r->sum.packets_repeated);
    if (r->packets_in_flight)
        printf(", %" PRIu64 " still in flight", r->packets_in_flight);
    printf("\n");
    printf("  payload        %s delivered, ", hx_value_print_bytes(size, r->sum.bytes_delivered));
    if (r->settings.verify)
        printf("every byte checked, %" PRIu64 " corrupted", r->bytes_corrupted);
    else
        printf("not checked");
    if (r->verify_seconds > 0)
        printf(" (that took %.0f %% of the workers' time)", result_verify_share(r) * 100);
    printf("\n");
}

/* The latency quantile of a share; "-": no packets. */
static const char *latency_text(char text[HX_VALUE_TEXT], const struct fab_histogram *h, double share)
{
    if (fab_histogram_is_empty(h))
        return "-";
    return hx_value_print_duration(text, share < 1 ? fab_histogram_quantile(h, share) : h->most);
}

/* Whether the traffic is uniform among all, so that the all-to-all bound applies. */
static bool is_all_to_all(const struct result *r)
{
    enum hx_pattern pattern = r->settings.pattern;
    return !r->context.collective && !r->context.schedule && !r->context.instead && !result_flows(r) &&
           (pattern == HX_ALL_TO_ALL || pattern == HX_ALL_TO_ALL_RANDOM || pattern == HX_UNIFORM);
}

static void print_latency(const char *of, const struct fab_histogram *h)
{
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};
    char text[HX_VALUE_TEXT];
    printf("  %-14s", of);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        printf("%s %s %s", i ? "," : "", quantiles[i].name, latency_text(text, h, quantiles[i].share));
    printf("\n");
}

static void print_unstable(const struct result *r)
{
    const struct open_outcome *o = &r->outcome.open;
    char text[HX_VALUE_TEXT];
    printf("  packet latency UNSTABLE: ");
    if (result_stability(r) == STABILITY_LATE)
        printf("%" PRIu64 " of %" PRIu64 " messages had not arrived %s after the measured interval, which generated "
               "them\n",
               o->marked - o->arrived, o->marked, hx_value_print_duration(text, o->limit_ps / 1000));
    else
        printf("it grew by %.3g us in each 100 us of the measured interval: more is offered than carried\n",
               100 * result_growth(r));
}

static void print_latencies(const struct result *r)
{
    if (result_has_latency(r))
        print_latency("packet latency", &r->latency);
    else
        print_unstable(r);
    if (!fab_histogram_is_empty(&r->network))
        print_latency("in the network", &r->network);
}

/* How the warm-up was chosen. */
static const char *warm_up_text(const struct result *r)
{
    const struct open_outcome *o = &r->outcome.open;
    if (!o->on || !o->finds)
        return "";
    return o->steady ? " (until steady)" : " (not steady by then)";
}

static void print_time(const struct result *r)
{
    char text[HX_VALUE_TEXT];
    bool simulated = r->settings.clock == HX_CLOCK_VIRTUAL;
    double seconds = result_seconds(r);
    double real = simulated ? (double)r->outcome.drained_ns / 1e9 : seconds;
    printf("  time           ");
    if (simulated)
        printf("%s simulated, ", hx_value_print_duration(text, r->outcome.virtual_ps / 1000));
    if (r->settings.warm_up_ns)
        printf("after a warm-up of %s%s, ", hx_value_print_duration(text, r->settings.warm_up_ns), warm_up_text(r));
    printf("%.3f s%s, %.1f M packet-hops/s", real, simulated ? " real" : "",
           real > 0 ? (double)r->outcome.hops / real / 1e6 : 0);
    printf(", %.2f GB/s of payload delivered, %.4g Gb/s a host\n",
           seconds > 0 ? (double)r->outcome.bytes_delivered / 1e9 / seconds : 0,
           r->share_of_injection * result_injection(r) * 8e-9);
    double gbps = r->link_rate * 8 / 1e9;
    printf("  share          %.4f %% of injection (%g x %g Gb/s a plane%s)", r->share_of_injection * 100,
           hx_fabric_injection(r->g, gbps), gbps, hx_injects_alike(r->g) ? "" : " on average");
    if (is_all_to_all(r))
        printf(", %.4f %% of the all-to-all bound", r->share_of_bound * 100);
    if (r->outcome.open.on)
        printf(", of %.4f %% offered", traffic_share_offered(r->context.traffic) * 100);
    printf("\n");
    print_latencies(r);
}

static void print_job(const struct result *r, const struct result_job *job)
{
    char text[4][HX_VALUE_TEXT];
    const struct hx_job *named = hx_spec_job(r->spec, job->tag);
    const bool stable = result_has_latency(r);
    if (result_job_is_idle(r, job)) {
        printf("  idle           %" PRIu32 " %s%s that no job has\n", job->accelerators, hx_host_word(r->g),
               hx_plural(job->accelerators));
        return;
    }
    printf("  job %-5u      %s%s%" PRIu32 " accelerator%s, %" PRIu64 " of %" PRIu64 " messages, %" PRIu64
           " packet%s, %s in %s, %.4f %% of its injection meanwhile (%.4f in the whole run), p50 %s, p99 %s, %" PRIu64
           " lost, %" PRIu64 " corrupted\n",
           job->tag, named ? named->name : "", named && named->name[0] ? ": " : "", job->accelerators,
           hx_plural(job->accelerators), job->sum.messages_received, job->messages_begun, job->sum.packets_delivered,
           hx_plural(job->sum.packets_delivered), hx_value_print_bytes(text[0], job->sum.bytes_delivered),
           hx_value_print_duration(text[3], (uint64_t)(result_job_seconds(r, job) * 1e9)), job->share_of_own_time * 100,
           job->share_of_injection * 100, stable ? latency_text(text[1], &job->latency, 0.5) : "unstable",
           stable ? latency_text(text[2], &job->latency, 0.99) : "unstable", job->packets_lost, job->bytes_corrupted);
}

static void print_jobs(const struct result *r)
{
    for (uint32_t i = 0; r->spec->job && i < r->jobs && i < MOST_JOBS; i++)
        print_job(r, &r->job[i]);
    if (r->spec->job && r->jobs > MOST_JOBS)
        printf("  and %" PRIu32 " job%s more (--json and --csv have all)\n", r->jobs - MOST_JOBS,
               hx_plural(r->jobs - MOST_JOBS));
}

static void print_health(const struct result *r)
{
    char size[HX_VALUE_TEXT];
    printf("  VCs used       0 to %u\n", r->max_vc);
    hx_print_counts("drops", hx_drop_names, r->drops);
    hx_print_counts("stalls", hx_stall_names, r->stalls);
    printf("  memory         %s at most\n", hx_value_print_bytes(size, r->peak_memory_bytes));
    if (r->outcome.deaths)
        printf("  workers lost   %u\n", r->outcome.deaths);
    if (r->outcome.buffers_missing)
        printf("  buffers        %" PRIu64 " MISSING\n", r->outcome.buffers_missing);
}

static int busier(const void *a, const void *b)
{
    const struct link_use *left = a;
    const struct link_use *right = b;
    return (left->packets < right->packets) - (left->packets > right->packets);
}

static void print_hottest(const struct result *r)
{
    struct link_use *sorted = hx_allocate(r->links + 1U, sizeof *sorted);
    memcpy(sorted, r->link, r->links * sizeof *sorted);
    qsort(sorted, r->links, sizeof *sorted, busier);
    printf("  hottest links  (packets)\n");
    for (uint32_t i = 0; i < r->links && i < HOTTEST; i++) {
        struct hx_end far = hx_fabric_far(r->g, sorted[i].node, sorted[i].port);
        char from[HX_NAME_BYTES];
        char to[HX_NAME_BYTES];
        printf("    %10" PRIu64 "  %s -> %s\n", sorted[i].packets,
               hx_port_name(from, r->g, sorted[i].plane, sorted[i].node, sorted[i].port),
               hx_port_name(to, r->g, sorted[i].plane, far.node, far.port));
    }
    free(sorted);
}

static void print_repeats(const struct outcome *o)
{
    const struct repeats_count *c = &o->repeats;
    if (c->cuts) {
        char skipped[HX_VALUE_TEXT];
        printf("  repeats        left out %" PRIu64 " periods of %s in all, %.1f %% of the time, %" PRIu64
               " iterations of a rank\n",
               c->periods, hx_value_print_duration(skipped, c->skipped_ps / 1000),
               100 * (double)c->skipped_ps / (double)(o->virtual_ps ? o->virtual_ps : 1), c->iterations);
        printf("                 cuts: %" PRIu64 ", each after two states of the whole fabric that were alike\n",
               c->cuts);
        return;
    }
    printf("  repeats        none left out: of %" PRIu64 " states at rest, %" PRIu64 " pairs seemed alike\n", c->states,
           c->pairs);
    if (c->pairs)
        printf("                 %" PRIu64 " with packets that had several paths, %" PRIu64 " that differ, %" PRIu64
               " too late\n",
               c->by_chance, c->unlike, c->too_late);
}

static void print_forwarded(const struct result *r)
{
    const struct fast_forward_counts *c = &r->outcome.forwarded;
    char text[HX_VALUE_TEXT];
    printf("  fast-forward   %.3g %% of the packets simulated; %" PRIu64 " messages of %s left out\n",
           100 * result_simulated_share(r), c->messages, hx_value_print_bytes(text, c->bytes));
    printf("                 %" PRIu64 " of %" PRIu64 " collectives without packets, %" PRIu64
           " in part; times differ by up to %.2g %% of the time\n",
           c->held, c->collectives, c->cut, 100 * c->worst_begin);
    if (r->settings.fast_forward_audit && !c->audits)
        printf("                 none compared: none might have been held\n");
    if (c->audits)
        printf("                 %" PRIu64 " compared: ends differ by up to %.2g %%%s\n", c->audits,
               100 * c->worst_audit, result_audit_failed(r) ? ", more than is allowed" : "");
}

void result_print(const struct result *r)
{
    print_head(r);
    print_traffic(r);
    if (r->context.schedule)
        schedule_report_print(r->context.schedule);
    if (r->context.collective) {
        const struct collective_result collective = result_collective(r);
        collective_report_print(r->context.collective, &collective);
    }
    if (r->outcome.cuts_repeats)
        print_repeats(&r->outcome);
    if (r->outcome.fast_forward > 0)
        print_forwarded(r);
    print_time(r);
    print_jobs(r);
    print_health(r);
    if (r->circuits.links)
        circuits_report_print(&r->circuits);
    if (r->faults)
        fault_report_print(r->fault, r->faults);
    if (r->context.healthy) {
        const struct healthy_figures with = result_healthy_figures(r);
        healthy_report_print(r->context.healthy, &with, r->g);
    }
    class_report_print(r);
    print_hottest(r);
    result_print_map(r);
}
