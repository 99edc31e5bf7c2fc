/* interference.c - runs jobs alone and together (interference.h). */
#include "tools/interference/interference.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/value.h"
#include "tools/draw/text_table.h"
#include "tools/simulation.h"
#include "topology/name.h"

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

static struct simulation run_of(const struct hx_spec *spec, const struct hx_arguments *more, const char *only)
{
    struct hx_arguments a = simulation_arguments(spec->source);
    hx_arguments_add(&a, "--clock=virtual");
    simulation_ask(&a, true);
    for (unsigned i = 0; i < spec->said.count; i++) {
        hx_arguments_add(&a, "--job");
        hx_arguments_add(&a, "%s", spec->said.item[i]);
    }
    for (size_t i = 0; i < more->count; i++)
        hx_arguments_add(&a, "%s", more->item[i]);
    if (only)
        hx_arguments_add(&a, "--only=%s", only);
    return simulation_run("hxmesh run", &a, NULL, NULL);
}

/* The part of a job; a job that is missing reads as the first one beyond the list. */
static struct report job_in(const struct report *r, uint16_t tag)
{
    const size_t jobs = report_length(r, "jobs");
    for (size_t i = 0; i < jobs; i++) {
        const struct report job = report_entry(r, "jobs", i);
        if (report_number(&job, "job") == tag)
            return job;
    }
    return report_entry(r, "jobs", jobs);
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

static void take_link(struct counting *c, unsigned job, const struct report *link, size_t number)
{
    struct interference_job *j = &c->in->job[job];
    const uint64_t packets = (uint64_t)report_number(link, "packets");
    const char *from = report_text(link, "from");
    unsigned plane;
    unsigned port;
    uint32_t node;
    c->packets[job][number] = packets;
    if (!packets || !hx_port_parse(from, c->g, &plane, &node, &port))
        return;
    c->carriers[number]++;
    j->links++;
    j->packets += packets;
    j->foreign_packets += c->owner[node] < OF_NONE && c->owner[node] != j->job->tag ? packets : 0;
}

/* Every run has the same links. */
static void take_links(struct counting *c, unsigned job, const struct report *r)
{
    const size_t links = report_length(r, "links");
    if (!c->carriers) {
        c->links = links;
        c->carriers = hx_allocate(links, sizeof *c->carriers);
    }
    c->packets[job] = hx_allocate(c->links, sizeof **c->packets);
    for (size_t i = 0; i < c->links; i++) {
        const struct report link = report_entry(r, "links", i);
        take_link(c, job, &link, i);
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

static void take_alone(struct counting *c, unsigned i, const struct report *r)
{
    struct interference_job *j = &c->in->job[i];
    const struct report job = job_in(r, j->job->tag);
    j->alone = report_number(&job, "seconds");
    j->hosts = (uint32_t)report_number(&job, "accelerators");
    (void)hx_text_copy(j->traffic, sizeof j->traffic, report_text(&job, "traffic"));
    take_links(c, i, r);
}

static void take_together(struct interference *in, const struct report *r)
{
    for (unsigned i = 0; i < in->jobs; i++) {
        const struct report job = job_in(r, in->job[i].job->tag);
        in->job[i].together = report_number(&job, "seconds");
    }
}

static int run_all(struct counting *c, const struct hx_arguments *more, struct hx_progress *bar)
{
    struct interference *in = c->in;
    int code = HX_EXIT_DONE;
    for (unsigned i = 0; i <= in->jobs && code == HX_EXIT_DONE; i++) {
        char tag[8];
        (void)snprintf(tag, sizeof tag, "%u", i < in->jobs ? in->job[i].job->tag : 0U);
        hx_progress_show(bar, (double)i / (in->jobs + 1), "");
        struct simulation s = run_of(in->spec, more, i < in->jobs ? tag : NULL);
        if (s.report.json && i < in->jobs)
            take_alone(c, i, &s.report);
        else if (s.report.json)
            take_together(in, &s.report);
        code = simulation_end(&s);
    }
    return code;
}

int interference_measure(struct interference *in, const struct hx_spec *spec, const struct hx_arguments *more,
                         bool quiet)
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
    int code = run_all(&c, more, &bar);
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
