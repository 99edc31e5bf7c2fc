/* collective_report.c - collectives in the report (collective_report.h). */
#include "fabric-emu/report/collective_report.h"
#include "base/value.h"

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
        if (p->job[i].kind != p->job->kind || p->job[i].bytes != p->job->bytes ||
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

double collective_vector_share(const struct collective_job *job, double injectable)
{
    return injectable > 0 ? (double)job->bytes * (job->kind == HX_ALL_REDUCE ? 2 : 1) / injectable : 0;
}

double collective_share(const struct collective_job *job, double injectable)
{
    double ranks = (double)job->columns * job->rows;
    double others = job->kind == HX_BROADCAST ? 1 : (ranks - 1) / ranks;
    return collective_vector_share(job, injectable) * others;
}

/* The largest job: with the same collective it has the most work. */
static const struct collective_job *largest(const struct collective_plan *p)
{
    const struct collective_job *most = p->job;
    for (unsigned i = 1; i < p->jobs; i++)
        if (p->job[i].columns * p->job[i].rows > most->columns * most->rows)
            most = &p->job[i];
    return most;
}

void collective_report_print(const struct collective_plan *p, struct collective_count count, double injectable)
{
    const struct collective_job *one;
    bool same = is_one(p, &one);
    printf("  collective%-5s%u of %u %ss done", same ? "" : "s", count.done, count.members,
           hx_host_word(p->traffic->g));
    if (same && has_share(count))
        printf(", %.4f %% of the best possible", collective_share(largest(p), injectable) * 100);
    printf("\n");
    for (unsigned i = 0; i < p->jobs && i < LISTED; i++) {
        const struct collective_job *job = &p->job[i];
        char size[HX_VALUE_TEXT];
        printf("    job %-5u      %u x %u by %s, in messages of up to %s\n", job->tag, job->columns, job->rows,
               collective_algorithm_names[job->algorithm], hx_value_print_bytes(size, job->chunk));
    }
    if (p->jobs > LISTED)
        printf("    and %u jobs more\n", p->jobs - LISTED);
}

static json_t *root_json(const struct hx_fabric *g, const struct collective_job *job)
{
    const struct hx_coordinate at = hx_address_of(g, job->host[job->root_row * job->columns + job->root_column]);
    return json_pack("[i, i]", (int)at.addr_hi, (int)at.addr_lo);
}

json_t *collective_report_json(const struct collective_plan *p, struct collective_count count, double injectable)
{
    const struct collective_job *one;
    bool same = is_one(p, &one);
    json_t *jobs = json_array();
    for (unsigned i = 0; i < p->jobs; i++) {
        const struct collective_job *job = &p->job[i];
        json_t *o = json_pack("{s:i, s:i, s:i, s:s, s:I}", "job", (int)job->tag, "columns", (int)job->columns, "rows",
                              (int)job->rows, "algorithm", collective_algorithm_names[job->algorithm], "chunk_bytes",
                              (json_int_t)job->chunk);
        if (job->kind == HX_BROADCAST)
            (void)json_object_set_new(o, "root", root_json(p->traffic->g, job));
        if (!same)
            (void)json_object_update_new(o,
                                         json_pack("{s:s, s:I}", "kind", hx_pattern_names[HX_COLLECTIVES + job->kind],
                                                   "vector_bytes", (json_int_t)job->bytes));
        (void)json_array_append_new(jobs, o);
    }
    json_t *report = json_object();
    if (same)
        (void)json_object_update_new(report,
                                     json_pack("{s:s, s:I}", "kind", hx_pattern_names[HX_COLLECTIVES + one->kind],
                                               "vector_bytes", (json_int_t)one->bytes));
    (void)json_object_update_new(report,
                                 json_pack("{s:i, s:i}", "accelerators", (int)count.members, "done", (int)count.done));
    if (same) {
        bool has = has_share(count);
        (void)json_object_set_new(report, "share",
                                  has ? json_real(collective_share(largest(p), injectable)) : json_null());
        (void)json_object_set_new(report, "vector_share",
                                  has ? json_real(collective_vector_share(one, injectable)) : json_null());
    }
    (void)json_object_set_new(report, "jobs", jobs);
    return report;
}
