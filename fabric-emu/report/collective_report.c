/* collective_report.c - collectives in the report (collective_report.h). */
#include "fabric-emu/report/collective_report.h"
#include "base/text.h"
#include "base/value.h"
#include "fabric-emu/report/fields.h"
#include "schedule/shares.h"

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
    return shares_bytes_of(&job->config).mean * 8e-9 / seconds;
}

double collective_bus_gbps(const struct collective_job *job, double seconds)
{
    if (job->weight)
        return shares_bytes_of(&job->config).sent * 8e-9 / seconds;
    return collective_algorithm_gbps(job, seconds) * collective_bus_factor(job->config.kind, job->config.size);
}

double collective_vector_share(const struct collective_job *job, double injectable)
{
    const double vector = shares_bytes_of(&job->config).mean;
    return injectable > 0 ? vector * (job->config.kind == HX_ALL_REDUCE ? 2 : 1) / injectable : 0;
}

double collective_share(const struct collective_job *job, double injectable)
{
    const double least = job->weight
                             ? shares_bytes_of(&job->config).fullest
                             : (double)job->config.bytes * collective_bus_factor(job->config.kind, job->config.size);
    return injectable > 0 ? least / injectable : 0;
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

/* done: all members finished. same: all jobs have the same collective. */
static json_t *job_json(const struct collective_plan *p, const struct collective_job *job, double seconds, bool done,
                        bool same)
{
    json_t *o = json_object();
    const bool moved = done && seconds > 0;
    REPORT_COLLECTIVE_JOB(REPORT_SET, REPORT_SET_IF)
    return o;
}

json_t *collective_report_json(const struct collective_plan *p, const struct collective_result *r)
{
    const struct collective_job *one;
    const bool same = is_one(p, &one);
    const bool done = has_share(r->count);
    json_t *jobs = json_array();
    for (unsigned i = 0; i < p->jobs; i++)
        (void)json_array_append_new(jobs, job_json(p, &p->job[i], r->seconds[i], done, same));
    const unsigned number = p->jobs ? slowest(p, r->seconds) : 0;
    const struct collective_job *last = &p->job[number];
    const double seconds = p->jobs ? r->seconds[number] : 0;
    const bool moved = done && seconds > 0;
    json_t *o = json_object();
    REPORT_COLLECTIVE(REPORT_SET, REPORT_SET_IF)
    return o;
}
