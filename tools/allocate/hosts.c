/* hosts.c - finds hosts for jobs and reports them (hosts.h). */
#include "tools/allocate/hosts.h"
#include "base/json.h"
#include "base/output.h"
#include "spec/yaml/spec_write.h"
#include "tools/draw/text_table.h"

#include <stdlib.h>
#include <string.h>

/* Returns the job's tag; HX_NO_JOB: no room. */
static uint16_t place_job(struct hx_spec *spec, unsigned place, const char *asked)
{
    struct hx_job_values v = hx_job_defaults;
    struct hx_job_refusal r;
    v.size = asked;
    v.place = place;
    const struct hx_job *job = hx_jobs_add_placed(spec, &v, &r);
    if (!job && r.key)
        hx_die(HX_EXIT_USAGE, asked, "%s", r.what);
    return job ? job->tag : HX_NO_JOB;
}

void hosts_allocate(struct hosts_allocation *a, struct hx_spec *spec, unsigned place, char *const *asked, unsigned jobs)
{
    char why[HX_WHY_TEXT];
    const char *impossible = hx_jobs_impossible(spec, why);
    if (impossible)
        hx_die(HX_EXIT_CONFIG, spec->fabric, "%s", impossible);
    *a = (struct hosts_allocation){.spec = spec, .jobs = jobs, .place = place};
    a->job = hx_allocate(jobs, sizeof *a->job);
    for (unsigned i = 0; i < jobs; i++)
        a->job[i] = (struct hosts_job){.asked = asked[i], .tag = place_job(spec, place, asked[i])};
}

void hosts_free(struct hosts_allocation *a)
{
    free(a->job);
}

unsigned hosts_placed(const struct hosts_allocation *a)
{
    unsigned placed = 0;
    for (unsigned i = 0; i < a->jobs; i++)
        placed += a->job[i].tag != HX_NO_JOB;
    return placed;
}

/* Finds the next run of hosts with a tag, *from to *to inclusive, at or above *from. false: none. */
static bool next_run(const struct hx_spec *s, uint16_t tag, uint32_t *from, uint32_t *to)
{
    uint32_t host = *from;
    while (host < s->graph->hosts && hx_spec_board_job(s, host) != tag)
        host++;
    *from = *to = host;
    while (*to + 1 < s->graph->hosts && hx_spec_board_job(s, *to + 1) == tag)
        ++*to;
    return host < s->graph->hosts;
}

/* Writes "0-3,7"; ends with ",..." if the text is too short. */
static void write_runs(const struct hx_spec *s, uint16_t tag, char *text, size_t bytes)
{
    size_t used = 0;
    uint32_t to;
    for (uint32_t from = 0; next_run(s, tag, &from, &to); from = to + 1) {
        if (used + 32 >= bytes) {
            (void)snprintf(text + used, bytes - used, ",...");
            return;
        }
        used += (size_t)snprintf(text + used, bytes - used, to > from ? "%s%u-%u" : "%s%u", used ? "," : "", from, to);
    }
}

static unsigned groups_of(const struct hx_spec *s, uint16_t tag)
{
    bool *seen = hx_allocate(s->graph->groups, sizeof *seen);
    unsigned count = 0;
    for (uint32_t host = 0; host < s->graph->hosts; host++) {
        if (hx_spec_board_job(s, host) != tag)
            continue;
        count += !seen[s->graph->node[host].group];
        seen[s->graph->node[host].group] = true;
    }
    free(seen);
    return count;
}

static unsigned hosts_in_use(const struct hx_spec *s, unsigned *usable)
{
    unsigned used = 0;
    *usable = 0;
    for (uint32_t host = 0; host < s->graph->hosts; host++) {
        *usable += !hx_spec_board_failed(s, host);
        used += !hx_spec_board_failed(s, host) && hx_spec_board_job(s, host) != HX_NO_JOB;
    }
    return used;
}

void hosts_print(const struct hosts_allocation *a)
{
    struct text_table *t = text_table_new(3);
    text_table_row(t, "job", "asked", "hosts", a->spec->graph->group_word);
    for (unsigned i = 0; i < a->jobs; i++) {
        char tag[16] = "-", list[160] = "no room", groups[16] = "";
        if (a->job[i].tag) {
            (void)snprintf(tag, sizeof tag, "%u", a->job[i].tag);
            (void)snprintf(groups, sizeof groups, "%u", groups_of(a->spec, a->job[i].tag));
            write_runs(a->spec, a->job[i].tag, list, sizeof list);
        }
        text_table_row(t, tag, a->job[i].asked, list, groups);
    }
    text_table_print(t, stdout);
    text_table_free(t);
    unsigned usable, used = hosts_in_use(a->spec, &usable);
    printf("\n%u of %u jobs placed; %u of %u hosts in use, %.1f %%\n", hosts_placed(a), a->jobs, used, usable,
           usable ? 100.0 * used / usable : 0);
}

static json_t *runs_json(const struct hx_spec *s, uint16_t tag)
{
    json_t *runs = json_array();
    uint32_t to;
    for (uint32_t from = 0; next_run(s, tag, &from, &to); from = to + 1)
        (void)json_array_append_new(runs, json_pack("[i, i]", (int)from, (int)to));
    return runs;
}

json_t *hosts_json(const struct hosts_allocation *a)
{
    unsigned usable, used = hosts_in_use(a->spec, &usable);
    json_t *jobs = json_array();
    for (unsigned i = 0; i < a->jobs; i++) {
        uint16_t tag = a->job[i].tag;
        (void)json_array_append_new(jobs,
                                    json_pack("{s:i, s:s, s:b, s:o, s:i}", "tag", (int)tag, "asked", a->job[i].asked,
                                              "placed", tag != 0, "hosts", tag ? runs_json(a->spec, tag) : json_array(),
                                              "groups", tag ? (int)groups_of(a->spec, tag) : 0));
    }
    return json_pack("{s:o, s:s, s:i, s:i, s:f, s:i, s:o}", "fabric", hx_json_text(a->spec->fabric), "place",
                     hx_hosts_rule_names[a->place], "usable", (int)usable, "in_use", (int)used, "utilization",
                     usable ? (double)used / usable : 0, "placed", (int)hosts_placed(a), "jobs", jobs);
}

/* The spec string already names failures. */
void hosts_write_file(const struct hosts_allocation *a, const char *path)
{
    const struct hx_spec *s = a->spec;
    FILE *out = hx_output_open(path);
    hx_spec_write_names(s, out);
    (void)fprintf(out, "planes: %u\njobs:\n", s->planes);
    for (unsigned i = 0; i < s->named_jobs; i++) {
        const char *before = "";
        uint32_t to;
        hx_job_write(&s->named[i], out);
        (void)fprintf(out, "    hosts: [");
        for (uint32_t from = 0; next_run(s, s->named[i].tag, &from, &to); from = to + 1, before = ", ")
            (void)fprintf(out, "%s[%u, %u]", before, from, to);
        (void)fprintf(out, "]\n");
    }
    hx_output_close(out, path);
}
