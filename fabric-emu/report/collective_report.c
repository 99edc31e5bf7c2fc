/* collective_report.c - collectives in the report (collective_report.h). */
#include "fabric-emu/report/collective_report.h"
#include "base/text.h"
#include "base/value.h"

#include <math.h>
#include <stdio.h>

enum { LISTED = 4 };

static uint64_t start_of(const struct collective_plan *p, const struct collective_job *job)
{
    return traffic_job_start_ns(p->traffic, job->host[0]);
}

/* Whether all jobs have the same collective, vector and start. Then *job is any of them. */
static bool is_one(const struct collective_plan *p, const struct collective_job **job)
{
    *job = p->job;
    for (unsigned i = 1; i < p->jobs; i++)
        if (p->job[i].config.kind != p->job->config.kind || p->job[i].config.bytes != p->job->config.bytes ||
            start_of(p, &p->job[i]) != start_of(p, p->job))
            return false;
    for (uint32_t rank = 0; rank < p->traffic->g->hosts; rank++)
        if (p->traffic->members[rank] && !p->job_of[rank])
            return false;
    return p->jobs > 0;
}

/* Whether all members finished; otherwise there is no share. */
static bool has_share(struct collective_count count)
{
    return count.members > 0 && count.done == count.members;
}

double collective_bus_factor(enum hx_collective_kind kind, double ranks)
{
    static const struct {
        unsigned vectors;
        bool without_own; /* a rank's own segment stays */
    } sent[HX_COLLECTIVE_KINDS] = {
        [HX_BROADCAST] = {1, false}, [HX_REDUCE_SCATTER] = {1, true},
        [HX_ALL_GATHER] = {1, true}, [HX_ALL_REDUCE] = {2, true},
        [HX_REDUCE] = {1, false},    [HX_GATHER] = {1, true},
        [HX_SCATTER] = {1, true},    [HX_COLLECTIVE_ALL_TO_ALL] = {1, true},
        [HX_BARRIER] = {0, false},
    };
    return sent[kind].vectors * (sent[kind].without_own ? (ranks - 1) / ranks : 1);
}

double collective_algorithm_gbps(const struct collective_job *job, double seconds)
{
    return (double)job->config.bytes * 8e-9 / seconds;
}

double collective_bus_gbps(const struct collective_job *job, double seconds)
{
    return collective_algorithm_gbps(job, seconds) * collective_bus_factor(job->config.kind, job->config.size);
}

double collective_vector_share(const struct collective_job *job, double injectable)
{
    return injectable > 0 ? (double)job->config.bytes * (job->config.kind == HX_ALL_REDUCE ? 2 : 1) / injectable : 0;
}

double collective_share(const struct collective_job *job, double injectable)
{
    return injectable > 0
               ? (double)job->config.bytes * collective_bus_factor(job->config.kind, job->config.size) / injectable
               : 0;
}

/* The largest job: with the same collective it has the most work. */
static const struct collective_job *largest(const struct collective_plan *p)
{
    const struct collective_job *most = p->job;
    for (unsigned i = 1; i < p->jobs; i++)
        if (p->job[i].config.size > most->config.size)
            most = &p->job[i];
    return most;
}

/* Index of the job that took longest. */
static unsigned slowest(const struct collective_plan *p, const double *seconds)
{
    unsigned most = 0;
    for (unsigned i = 1; i < p->jobs; i++)
        most = seconds[i] > seconds[most] ? i : most;
    return most;
}

static void print_job(const struct collective_job *job, double seconds, bool done)
{
    char text[HX_VALUE_TEXT];
    printf("    job %-5u      %u x %u by %s, in messages of up to %s\n", job->tag, job->columns, job->rows,
           hx_collective_algorithm_names[job->config.algorithm], hx_value_print_bytes(text, job->config.chunk));
    if (!done || seconds <= 0)
        return;
    printf("                   %s, algorithm bandwidth %.6g Gb/s, bus bandwidth %.6g Gb/s\n",
           hx_value_print_duration(text, (uint64_t)llround(seconds * 1e9)), collective_algorithm_gbps(job, seconds),
           collective_bus_gbps(job, seconds));
}

void collective_report_print(const struct collective_plan *p, const struct collective_result *r)
{
    const struct collective_job *one;
    bool same = is_one(p, &one);
    bool done = has_share(r->count);
    printf("  collective%-5s%u of %u %ss done", same ? "" : "s", r->count.done, r->count.members,
           hx_host_word(p->traffic->g));
    if (same && done)
        printf(", %.4f %% of the best possible", collective_share(largest(p), r->injectable) * 100);
    printf("\n");
    for (unsigned i = 0; i < p->jobs && i < LISTED; i++)
        print_job(&p->job[i], r->seconds[i], done);
    if (p->jobs > LISTED)
        printf("    and %u job%s more\n", p->jobs - LISTED, hx_plural(p->jobs - LISTED));
}

static json_t *root_json(const struct hx_fabric *g, const struct collective_job *job)
{
    const struct hx_coordinate at = hx_coordinate_of(g, job->host[job->config.root]);
    return json_pack("[i, i]", (int)at.addr_hi, (int)at.addr_lo);
}

/* A figure of a finished collective; else null. */
static json_t *real_or_null(bool has, double value)
{
    return has ? json_real(value) : json_null();
}

/* Sets time and bandwidths. A collective of one rank has no packet, and so no time. */
static void set_speed(json_t *o, const struct collective_job *job, double seconds, bool done)
{
    bool moved = done && seconds > 0;
    (void)json_object_set_new(o, "seconds", real_or_null(done, seconds));
    (void)json_object_set_new(o, "algorithm_gbps", real_or_null(moved, collective_algorithm_gbps(job, seconds)));
    (void)json_object_set_new(o, "bus_gbps", real_or_null(moved, collective_bus_gbps(job, seconds)));
}

static void set_kind(json_t *o, const struct collective_job *job)
{
    (void)json_object_set_new(o, "kind", json_string(hx_collective_kind_names[job->config.kind]));
    (void)json_object_set_new(o, "vector_bytes", json_integer((json_int_t)job->config.bytes));
}

static json_t *job_json(const struct collective_plan *p, const struct collective_job *job, bool same)
{
    json_t *o = json_pack("{s:i, s:i, s:i, s:s, s:I}", "job", (int)job->tag, "columns", (int)job->columns, "rows",
                          (int)job->rows, "algorithm", hx_collective_algorithm_names[job->config.algorithm],
                          "chunk_bytes", (json_int_t)job->config.chunk);
    if (HX_FOR_TARGET & HX_FOR_PATTERN(HX_COLLECTIVES + job->config.kind))
        (void)json_object_set_new(o, "root", root_json(p->traffic->g, job));
    if (!same)
        set_kind(o, job);
    return o;
}

json_t *collective_report_json(const struct collective_plan *p, const struct collective_result *r)
{
    const struct collective_job *one;
    bool same = is_one(p, &one);
    bool done = has_share(r->count);
    json_t *jobs = json_array();
    for (unsigned i = 0; i < p->jobs; i++) {
        json_t *o = job_json(p, &p->job[i], same);
        set_speed(o, &p->job[i], r->seconds[i], done);
        (void)json_array_append_new(jobs, o);
    }
    json_t *report = json_object();
    if (same)
        set_kind(report, one);
    (void)json_object_update_new(
        report, json_pack("{s:i, s:i}", "accelerators", (int)r->count.members, "done", (int)r->count.done));
    if (same) {
        unsigned last = slowest(p, r->seconds);
        (void)json_object_set_new(report, "share", real_or_null(done, collective_share(largest(p), r->injectable)));
        (void)json_object_set_new(report, "vector_share",
                                  real_or_null(done, collective_vector_share(one, r->injectable)));
        set_speed(report, &p->job[last], r->seconds[last], done);
    }
    (void)json_object_set_new(report, "jobs", jobs);
    return report;
}
