/* hxmesh-schedule - what is in a schedule, whether its messages and collectives match, and its conversion. */
#include "base/json.h"
#include "base/options/options.h"
#include "base/options/runs.h"
#include "schedule/formats.h"
#include "schedule/matching.h"
#include "schedule/summary.h"
#include "spec/spec.h"
#include "tools/schedule/estimate.h"
#include "tools/schedule/schedule_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct arguments {
    struct hx_common common;
    struct hx_settings reading; /* what the file does not say */
    const char *write, *as, *pairs;
    bool formats;
    struct estimate_options estimate;
};

static void print_formats(void)
{
    for (const struct schedule_format *const *f = schedule_formats; *f; f++)
        printf("%-14s%s%s\n", (*f)->name, (*f)->what, (*f)->write ? " (also written)" : "");
}

/* Writes our own format, or the one that --as names. */
static void convert(const struct schedule *s, const struct arguments *a)
{
    struct hx_problem problem;
    if (!a->as) {
        schedule_write(s, a->write);
        return;
    }
    for (const struct schedule_format *const *f = schedule_formats; *f; f++) {
        if (strcmp((*f)->name, a->as) != 0 || !(*f)->write)
            continue;
        if (!(*f)->write(s, a->write, &problem))
            hx_die_of(&problem);
        return;
    }
    hx_die(HX_EXIT_USAGE, "--as", "no format '%s' is written (hxmesh schedule --formats lists them)", a->as);
}

static void parse(struct arguments *a, int argc, char **argv, const char **path)
{
    const struct hx_option options[] = {
        HX_OPTIONS_HEADING("Reading"),
        HX_SCHEDULE_READ_OPTIONS(&a->reading),
        {HX_BYTES("message", &a->reading.read.message, 1, SCHEDULE_MOST_BYTES,
                  "bytes of the vector, for formats that leave it open"),
         .otherwise = ""},
        HX_OPTIONS_HEADING("Estimate"),
        {HX_FLAG("estimate", &a->estimate.asked,
                 "carry it out on an ideal network: a rank's messages leave one after the other, and arrive so at "
                 "their receiver, each for its bytes at the rate")},
        {HX_DURATION("latency", &a->estimate.latency_ns, 0, HX_MOST_DURATION, "of a message")},
        {HX_REAL("link-rate", &a->estimate.gbps, 0, 1e9, "Gb/s out of a rank, and into it; 0: bytes take no time"),
         .argument = "GBPS"},
        {HX_DURATION("overhead", &a->estimate.overhead_ns, 0, HX_MOST_DURATION,
                     "of each message, at its sender and its receiver")},
        {HX_REAL("overhead-byte", &a->estimate.costs.overhead_byte_ps, 0, 1e9, "of each further byte, picoseconds"),
         .argument = "PS"},
        {HX_BYTES("eager", &a->estimate.costs.eager, 0, SCHEDULE_MOST_BYTES,
                  "the longest send that ends when it has begun")},
        {HX_REAL("compute-scale", &a->estimate.costs.compute_scale, 0, 1e6, "factor of computing times"),
         .argument = "FACTOR"},
        {HX_REAL("sum-rate", &a->estimate.costs.sum_rate, 0, 1e6,
                 "rate at which a rank adds what arrives to a collective's sum; 0: in no time"),
         .argument = "GB/s"},
        {HX_STRING("operations", "FILE|-", &a->estimate.operations,
                   "write CSV with a line for each operation, rank,number,begin_ps,end_ps,kind,name; - is stdout")},
        HX_OPTIONS_HEADING("Writing"),
        {.name = "write",
         .kind = HX_OPTION_STRING,
         .argument = "FILE",
         .to.string = &a->write,
         .help = "converts the schedule: hxmesh's own format, unless --as names another"},
        {.name = "as",
         .kind = HX_OPTION_STRING,
         .argument = "FORMAT",
         .to.string = &a->as,
         .help = "format of --write"},
        {.name = "pairs",
         .kind = HX_OPTION_STRING,
         .argument = "FILE|-",
         .to.string = &a->pairs,
         .help = "write CSV with a line for each pair of ranks, from,to,messages,bytes; - is stdout"},
        {.name = "formats", .kind = HX_OPTION_FLAG, .to.flag = &a->formats, .help = "lists the formats, and ends"},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh schedule", "hxmesh-run"),
        .examples = {{"hxmesh schedule tree.goal", "ranks, operations and bytes of a schedule, and whether it matches"},
                     {"hxmesh schedule tree.goal --pairs -", "bytes of each pair of ranks, as CSV"},
                     {"hxmesh schedule tree.goal --write tree.hxs", "hxmesh's own format, which needs no parsing"}},
        .operands = "FILE",
        .most_operands = 1,
        .summary = "Shows, checks and converts schedules of computing, messages and collectives.",
        .details = "A schedule is, for each rank, a partial order of operations. Its format is found by its content. "
                   "Operations count as written, and as executed: with the iterations of repeats. Messages and bytes "
                   "are of sends; those of collectives depend on the algorithm. The check: every receive has its send "
                   "and every send its receive, by source and tag, and the members of a group call the same "
                   "collectives.",
        .failed = "a message or collective lacks its counterpart, or an estimate never ends",
        .options = options};
    int first = hx_options_parse(&command, argc, argv, &a->common);
    *path = first < argc ? argv[first] : NULL;
    if (!*path && !a->formats)
        hx_die(HX_EXIT_USAGE, "FILE", "a schedule is wanted");
    hx_options_need(&command, &a->common, "write", (const char *const[]){"as", NULL});
    hx_options_need(&command, &a->common, "estimate",
                    (const char *const[]){"latency", "link-rate", "overhead", "overhead-byte", "eager", "compute-scale",
                                          "sum-rate", "operations", NULL});
}

/* Writes what was asked for; prints the summary if stdout is free. Returns whether all operations of an estimate
 * end. */
static bool show(const struct schedule *s, const struct arguments *a, struct summary_report *r)
{
    json_t *estimate = NULL;
    json_t *report = NULL;
    bool ends = true;
    FILE *pairs = a->pairs ? hx_output_open(a->pairs) : NULL;
    schedule_summarize(s, pairs, &r->summary);
    if (pairs)
        hx_output_close(pairs, a->pairs);
    if (a->write)
        convert(s, a);
    if (a->common.json)
        report = summary_json(r);
    else if (!hx_output_is_stdout(a->pairs) && !hx_output_is_stdout(a->write) &&
             !hx_output_is_stdout(a->estimate.operations))
        summary_print(r);
    if (a->estimate.asked && !r->unmatched)
        ends = estimate_schedule(s, r->path, &a->estimate, report ? &estimate : NULL);
    if (estimate)
        (void)json_object_set_new(report, "estimate", estimate);
    if (report)
        hx_json_write(report, a->common.json);
    return ends;
}

static void check_outputs(const struct arguments *a, const char *path)
{
    const struct hx_output outputs[] = {{"--write", a->write},
                                        {"--pairs", a->pairs},
                                        {"--operations", a->estimate.operations},
                                        {"--json", a->common.json}};
    enum { OUTPUTS = sizeof outputs / sizeof *outputs };
    hx_outputs_apart(outputs, OUTPUTS);
    hx_outputs_off(path, outputs, OUTPUTS);
    for (unsigned i = 0; i < OUTPUTS; i++)
        hx_output_check(outputs[i].path);
}

/* Shows, checks and converts. Returns the exit code. */
static int run(const struct schedule *s, const struct arguments *a, struct summary_report *r)
{
    struct hx_problem problem;
    r->schedule = s;
    bool matched = schedule_check_matching(s, r->path, &problem);
    r->unmatched = matched ? NULL : problem.what;
    bool ends = show(s, a, r);
    r->unmatched = NULL;
    hx_output_close(stdout, "-");
    if (!matched)
        hx_complain(problem.where, "%s", problem.what);
    return matched && ends ? HX_EXIT_DONE : HX_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct arguments a = {.estimate = {.costs = executor_costs_default, .latency_ns = 1000, .gbps = 400}};
    struct summary_report r = {.unmatched = NULL};
    struct hx_problem problem;
    int code = HX_EXIT_DONE;
    parse(&a, argc, argv, &r.path);
    if (a.formats) {
        print_formats();
        hx_output_close(stdout, "-");
        return code;
    }
    check_outputs(&a, r.path);
    struct schedule *s = schedule_read(r.path, &a.reading.read, &r.notes, &problem);
    if (s)
        code = run(s, &a, &r);
    else
        hx_die_of(&problem);
    schedule_close(s);
    return code;
}
