/* collective_report.c - what a run says of its collectives (collective_report.h). */
#include "fabric-emu/report/collective_report.h"
#include "host/value.h"

#include <stdio.h>

enum { LISTED = 4 };

double collective_share(const struct collective_plan *p, double injectable)
{
    return injectable > 0 ? (double)p->bytes * (p->kind == HX_ALL_REDUCE ? 2 : 1) / injectable : 0;
}

void collective_report_print(const struct collective_plan *p, struct collective_count count, double injectable)
{
    printf("  collective     %u of %u %ss done, %.4f %% of %sinjection\n", count.done, count.members,
           hx_host_word(p->traffic->g), collective_share(p, injectable) * 100,
           p->kind == HX_ALL_REDUCE ? "half the " : "");
    for (unsigned i = 0; i < p->jobs && i < LISTED; i++) {
        const struct collective_job *job = &p->job[i];
        char size[HX_VALUE_TEXT];
        printf("    job %-5u      %u x %u by %s, in messages of up to %s\n", job->tag, job->columns, job->rows,
               collective_algorithm_names[job->algorithm], hx_value_print_bytes(size, job->chunk));
    }
    if (p->jobs > LISTED)
        printf("    and %u jobs more\n", p->jobs - LISTED);
}

/* Its address. */
static json_t *root_json(const struct hx_fabric *g, const struct collective_job *job)
{
    uint32_t root = hx_fabric_at(g, job->gx[job->root_column], job->gy[job->root_row]);
    const struct hx_coordinate at = hx_address_of(g, root);
    return json_pack("[i, i]", (int)at.d0, (int)at.d1);
}

json_t *collective_report_json(const struct collective_plan *p, struct collective_count count, double injectable)
{
    json_t *jobs = json_array();
    for (unsigned i = 0; i < p->jobs; i++) {
        const struct collective_job *job = &p->job[i];
        json_t *o = json_pack("{s:i, s:i, s:i, s:s, s:I}", "job", (int)job->tag, "columns", (int)job->columns, "rows",
                              (int)job->rows, "algorithm", collective_algorithm_names[job->algorithm], "chunk_bytes",
                              (json_int_t)job->chunk);
        if (p->kind == HX_BROADCAST)
            (void)json_object_set_new(o, "root", root_json(p->traffic->g, job));
        (void)json_array_append_new(jobs, o);
    }
    return json_pack("{s:s, s:I, s:i, s:i, s:f, s:o}", "kind", hx_pattern_names[HX_COLLECTIVES + p->kind],
                     "vector_bytes", (json_int_t)p->bytes, "accelerators", (int)count.members, "done", (int)count.done,
                     "share", collective_share(p, injectable), "jobs", jobs);
}
