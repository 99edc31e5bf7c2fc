/* interference.c - runs jobs alone and together (interference.h). */
#include "tools/interference/interference.h"
#include "base/arguments.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/value.h"
#include "tools/child.h"
#include "tools/draw/text_table.h"
#include "topology/name.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { OF_NONE = UINT16_MAX + 1, OF_MANY };

/* State while the runs are made. */
struct counting {
    struct interference *in;
    const struct hx_fabric *g;
    uint32_t *owner;    /* [nodes]: the tag of the node's hosts; OF_MANY: several jobs; OF_NONE: no hosts */
    uint32_t *carriers; /* [links]: number of jobs with packets on the link */
    uint64_t **packets; /* [jobs][links] */
    size_t links;
};

/* ---- runs ---- */

static json_t *report_of(const struct hx_spec *spec, const char *const *arguments, const char *only, int *code)
{
    char hxmesh[PATH_MAX];
    static const char *const head[] = {"--clock", "virtual", "--quiet", "--json", "-"};
    struct hx_arguments a = {.count = 0};
    json_error_t wrong;
    child_beside("hxmesh", hxmesh, sizeof hxmesh);
    hx_arguments_add(&a, "%s", hxmesh);
    hx_arguments_add(&a, "run");
    hx_arguments_add(&a, "%s", spec->source);
    for (unsigned i = 0; i < sizeof head / sizeof *head; i++)
        hx_arguments_add(&a, "%s", head[i]);
    for (unsigned i = 0; i < spec->said.count; i++) {
        hx_arguments_add(&a, "--job");
        hx_arguments_add(&a, "%s", spec->said.item[i]);
    }
    for (; *arguments; arguments++)
        hx_arguments_add(&a, "%s", *arguments);
    if (only) {
        hx_arguments_add(&a, "--only");
        hx_arguments_add(&a, "%s", only);
    }
    struct child_result r = child_run(a.item);
    hx_arguments_free(&a);
    json_t *report = r.exit_code == HX_EXIT_DONE ? json_loads(r.output, 0, &wrong) : NULL;
    *code = child_interrupted() ? HX_EXIT_INTERRUPTED : r.exit_code;
    if (!report && !child_interrupted())
        hx_complain("hxmesh run", "%s", r.error[0] ? r.error : "ended without a report");
    free(r.output);
    return report;
}

static const json_t *job_in(const json_t *report, uint16_t tag)
{
    const json_t *jobs = json_object_get(report, "jobs");
    for (size_t i = 0; i < json_array_size(jobs); i++)
        if (json_integer_value(json_object_get(json_array_get(jobs, i), "job")) == tag)
            return json_array_get(jobs, i);
    return NULL;
}

static double seconds_of(const json_t *report, uint16_t tag)
{
    return json_real_value(json_object_get(job_in(report, tag), "seconds"));
}

/* ---- links ---- */

static uint32_t owner_of_host(const struct hx_spec *spec, uint32_t host)
{
    return hx_spec_board_job(spec, hx_spec_board_of(spec, host));
}

static void find_owners(struct counting *c)
{
    const struct hx_fabric *g = c->g;
    for (uint32_t node = 0; node < g->nodes; node++)
        c->owner[node] = node < g->hosts ? owner_of_host(c->in->spec, node) : OF_NONE;
    for (uint32_t host = 0; host < g->hosts && !g->mesh.nodes; host++) {
        for (unsigned port = 0; port < hx_fabric_ports(g, host); port++) {
            uint32_t router = hx_fabric_far(g, host, port).node;
            if (router == HX_NOWHERE || router < g->hosts)
                continue;
            uint32_t *owner = &c->owner[router];
            *owner = *owner == OF_NONE || *owner == c->owner[host] ? c->owner[host] : OF_MANY;
        }
    }
}

static void take_links(struct counting *c, unsigned job, const json_t *report)
{
    const json_t *links = json_object_get(report, "links");
    struct interference_job *j = &c->in->job[job];
    c->links = json_array_size(links);
    if (!c->carriers)
        c->carriers = hx_allocate(c->links, sizeof *c->carriers);
    c->packets[job] = hx_allocate(c->links, sizeof **c->packets);
    for (size_t i = 0; i < c->links; i++) {
        const json_t *link = json_array_get(links, i);
        uint64_t packets = (uint64_t)json_integer_value(json_object_get(link, "packets"));
        unsigned plane;
        unsigned port;
        uint32_t node;
        c->packets[job][i] = packets;
        if (!packets || !hx_port_parse(json_string_value(json_object_get(link, "from")), c->g, &plane, &node, &port))
            continue;
        c->carriers[i]++;
        j->links++;
        j->packets += packets;
        j->foreign_packets += c->owner[node] < OF_NONE && c->owner[node] != j->job->tag ? packets : 0;
    }
}

static void count_shared(const struct counting *c, unsigned job)
{
    struct interference_job *j = &c->in->job[job];
    for (size_t i = 0; i < c->links; i++) {
        if (!c->packets[job][i] || c->carriers[i] < 2)
            continue;
        j->shared++;
        j->shared_packets += c->packets[job][i];
    }
}

/* ---- all ---- */

static int run_all(struct counting *c, const char *const *arguments, struct hx_progress *bar)
{
    struct interference *in = c->in;
    int code = HX_EXIT_DONE;
    for (unsigned i = 0; i <= in->jobs; i++) {
        char tag[8];
        (void)snprintf(tag, sizeof tag, "%u", i < in->jobs ? in->job[i].job->tag : 0U);
        hx_progress_show(bar, (double)i / (in->jobs + 1), "");
        json_t *report = report_of(in->spec, arguments, i < in->jobs ? tag : NULL, &code);
        if (!report)
            return code ? code : HX_EXIT_FAILED;
        for (unsigned job = 0; job < in->jobs && i == in->jobs; job++)
            in->job[job].together = seconds_of(report, in->job[job].job->tag);
        if (i < in->jobs) {
            struct interference_job *j = &in->job[i];
            const json_t *of_job = job_in(report, j->job->tag);
            j->alone = seconds_of(report, j->job->tag);
            j->hosts = (uint32_t)json_integer_value(json_object_get(of_job, "accelerators"));
            (void)hx_text_copy(j->traffic, sizeof j->traffic, json_string_value(json_object_get(of_job, "traffic")));
            take_links(c, i, report);
        }
        json_decref(report);
    }
    return HX_EXIT_DONE;
}

int interference_measure(struct interference *in, const struct hx_spec *spec, const char *const *arguments, bool quiet)
{
    struct hx_progress bar = hx_progress_start("interference", quiet);
    struct counting c = {.in = in, .g = hx_spec_fabric(spec)};
    *in = (struct interference){.spec = spec, .jobs = spec->named_jobs};
    in->job = hx_allocate(in->jobs, sizeof *in->job);
    for (unsigned i = 0; i < in->jobs; i++)
        in->job[i].job = &spec->named[i];
    c.owner = hx_allocate(c.g->nodes, sizeof *c.owner);
    c.packets = hx_allocate(in->jobs, sizeof(uint64_t *));
    find_owners(&c);
    int code = run_all(&c, arguments, &bar);
    hx_progress_end(&bar);
    for (unsigned i = 0; i < in->jobs && code == HX_EXIT_DONE; i++)
        count_shared(&c, i);
    for (unsigned i = 0; i < in->jobs; i++)
        free(c.packets[i]);
    free(c.packets);
    free(c.carriers);
    free(c.owner);
    if (code != HX_EXIT_DONE)
        interference_free(in);
    return code;
}

void interference_free(struct interference *in)
{
    free(in->job);
    *in = (struct interference){.jobs = 0};
}

/* ---- reports ---- */

void interference_print(const struct interference *in)
{
    struct text_table *t = text_table_new(3);
    text_table_row(t, "job", "name", "traffic", "hosts", "alone", "together", "slowdown", "links", "shared",
                   "foreign packets");
    for (unsigned i = 0; i < in->jobs; i++) {
        const struct interference_job *j = &in->job[i];
        char text[7][HX_VALUE_TEXT];
        (void)snprintf(text[0], sizeof text[0], "%u", j->job->tag);
        (void)snprintf(text[1], sizeof text[1], "%u", j->hosts);
        (void)snprintf(text[2], sizeof text[2], "%.3f", interference_slowdown(j));
        (void)snprintf(text[3], sizeof text[3], "%u", j->links);
        (void)snprintf(text[4], sizeof text[4], "%u", j->shared);
        (void)snprintf(text[5], sizeof text[5], "%llu", (unsigned long long)j->foreign_packets);
        (void)hx_value_print_duration(text[6], (uint64_t)(j->alone * 1e9));
        char together[HX_VALUE_TEXT];
        text_table_row(t, text[0], j->job->name, j->traffic, text[1], text[6],
                       hx_value_print_duration(together, (uint64_t)(j->together * 1e9)), text[2], text[3], text[4],
                       text[5]);
    }
    text_table_print(t, stdout);
    text_table_free(t);
}

json_t *interference_json(const struct interference *in)
{
    json_t *jobs = json_array();
    for (unsigned i = 0; i < in->jobs; i++) {
        const struct interference_job *j = &in->job[i];
        json_array_append_new(
            jobs, json_pack("{s:i, s:o, s:o, s:i, s:f, s:f, s:f, s:i, s:i, s:I, s:I, s:I}", "job", (int)j->job->tag,
                            "name", hx_json_text(j->job->name), "traffic", hx_json_text(j->traffic), "hosts",
                            (int)j->hosts, "alone_seconds", j->alone, "together_seconds", j->together, "slowdown",
                            interference_slowdown(j), "links", (int)j->links, "shared_links", (int)j->shared,
                            "packets_over_links", (json_int_t)j->packets, "packets_over_shared_links",
                            (json_int_t)j->shared_packets, "foreign_packets", (json_int_t)j->foreign_packets));
    }
    return json_pack("{s:o, s:o}", "fabric", hx_json_text(in->spec->fabric), "jobs", jobs);
}
