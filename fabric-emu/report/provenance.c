/* provenance.c - settings and versions that make a run repeatable. */
#include "base/options/command_line.h"
#include "base/options/json.h"
#include "fabric-emu/report/fields.h"
#include "fabric-emu/report/result.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- the fabric ---- */

static json_t *boards_json(const struct hx_spec *spec, bool (*belongs)(const struct hx_spec *, unsigned, uint16_t),
                           uint16_t tag)
{
    json_t *boards = json_array();
    for (unsigned board = 0; board < hx_spec_boards(spec); board++) {
        if (!belongs(spec, board, tag))
            continue;
        struct hx_coordinate at = spec->a ? (struct hx_coordinate){board % spec->x, board / spec->x}
                                          : hx_coordinate_of(hx_spec_fabric(spec), board);
        (void)json_array_append_new(boards, json_pack("[i, i]", (int)at.addr_hi, (int)at.addr_lo));
    }
    return boards;
}

static bool has_failed(const struct hx_spec *spec, unsigned board, uint16_t tag)
{
    (void)tag;
    return hx_spec_board_failed(spec, board);
}

static bool is_of_job(const struct hx_spec *spec, unsigned board, uint16_t tag)
{
    return hx_spec_board_job(spec, board) == tag;
}

static json_t *job_json(const struct result *r, uint16_t tag)
{
    json_t *o = json_object();
    REPORT_FABRIC_JOB(REPORT_SET, REPORT_SET_IF)
    return o;
}

/* Jobs that the spec names. */
static json_t *jobs_json(const struct result *r)
{
    json_t *jobs = json_array();
    for (uint32_t i = 0; r->spec->job && i < r->jobs; i++)
        if (r->job[i].tag != HX_NO_JOB)
            (void)json_array_append_new(jobs, job_json(r, r->job[i].tag));
    return jobs;
}

json_t *result_fabric_json(const struct result *r)
{
    json_t *o = json_object();
    const struct hx_spec *s = r->spec;
    REPORT_FABRIC(REPORT_SET, REPORT_SET_IF)
    return o;
}

/* ---- the settings ---- */

/* Removes the option that writes to `to` from a table. */
static void leave_out(struct hx_option *options, const void *to)
{
    while ((const void *)options->to.number != to)
        options++;
    for (; options->kind != HX_OPTION_END; options++)
        options[0] = options[1];
}

/* Removes options of faults that the run has not. Faults only by `hxmesh fault` leave none in the run. */
static void leave_out_faults(struct hx_option *options, const struct hx_fault_settings *s)
{
    bool any = s->lines.count || s->file;
    bool drawn = s->file && strcmp(s->file, HX_FAULTS_RANDOM) == 0;
    if (!any) {
        leave_out(options, &s->lines);
        leave_out(options, &s->file);
        leave_out(options, &s->detect_ns);
        leave_out(options, &s->notify_ns);
    }
    if (!s->failures)
        leave_out(options, &s->failures);
    if (!s->circuits)
        leave_out(options, &s->circuits);
    if (!drawn) {
        leave_out(options, &s->mtbf_ns);
        leave_out(options, &s->mttr_ns);
    }
}

void result_settings(const struct result *r, json_t **settings, char **again)
{
    /* An option table has writable targets, so it points to copies. */
    struct hx_settings s = r->settings;
    char routing[HX_ROUTING_BYTES];
    struct hx_overrides sizes = {r->g->planes, r->spec->radix, r->spec->taper, r->spec->credits,
                                 hx_routing_write(routing, &r->g->routing)};
    struct hx_timing timing = r->context.timing;
    struct hx_spec jobs = {.said = r->spec->said, .only = r->spec->only};
    struct hx_fault_settings faults =
        r->context.fault_settings ? *r->context.fault_settings : (struct hx_fault_settings)HX_FAULT_DEFAULTS;
    struct hx_option all[] = {HX_TRAFFIC_OPTIONS(&s),      HX_JOB_LIST_OPTIONS(&jobs), HX_CLOCK_OPTION(&s),
                              HX_OVERRIDE_OPTIONS(&sizes), HX_CREDIT_OPTION(&sizes),   HX_VIRTUAL_OPTIONS(&s),
                              HX_TIMING_OPTIONS(&timing),  HX_FAULT_OPTIONS(&faults),  HX_OPTIONS_END};
    /* Options of traffic come first; a run without the workload skips them. */
    size_t of_traffic = sizeof((struct hx_option[]){HX_TRAFFIC_OPTIONS(&s)}) / sizeof *all;
    struct hx_option *options = all + (r->context.instead ? of_traffic : 0);
    leave_out_faults(options, &faults);
    if (!r->spec->a) { /* only a HammingMesh has trees */
        leave_out(options, &sizes.radix);
        leave_out(options, &sizes.taper);
    }
    *settings = json_object();
    hx_options_json(options, hx_settings_run(&s), *settings);
    if (r->spec->said.count == 0)
        (void)json_object_del(*settings, "job");
    if (r->spec->only.count == 0)
        (void)json_object_del(*settings, "only");
    *again = r->context.instead ? NULL : hx_options_line("hxmesh run", r->spec->source, options, hx_settings_run(&s));
}

/* ---- when it began ---- */

void result_date(const struct result *r, char text[RESULT_DATE])
{
    struct tm utc;
    text[0] = '\0';
    if (gmtime_r(&r->context.common->started, &utc))
        (void)strftime(text, RESULT_DATE, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
