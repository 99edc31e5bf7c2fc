/* hxmesh-jobs - runs a queue of jobs over time on boards of a HammingMesh, or on hosts of another fabric. Jobs come
 * from a trace or are random; boards may fail. */
#include "allocation/trace.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output.h"
#include "spec/jobs.h"
#include "tools/allocate/rules.h"
#include "tools/draw/plot.h"
#include "tools/jobs/jobs_report.h"

#include <stdlib.h>

enum { MOST_JOBS = 1000000 /* random jobs: 200 MiB */ };
#define HOUR         UINT64_C(3600000000000)
#define LONGEST_TIME (100 * 365 * 24 * HOUR)

static struct {
    struct allocate_rules rules;
    unsigned policy;
    uint64_t draw, between, duration, failing, repair, seed;
    const char *fabric, *distribution, *csv, *plot;
} asked = {.policy = HX_BACKFILL, .between = HOUR / 6, .duration = HOUR, .repair = 4 * HOUR, .seed = 1};

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void check_command(unsigned traces)
{
    if (!asked.fabric)
        hx_die(HX_EXIT_USAGE, "--fabric", "is missing (write for example --fabric \"16x16 Hx2Mesh\")");
    if (traces == 0 && !asked.draw)
        hx_die(HX_EXIT_USAGE, NULL, "no jobs: name a trace, or draw some with --draw N");
    if (traces && asked.draw)
        hx_die(HX_EXIT_USAGE, "--draw", "draws the jobs that a trace would name: one of the two");
}

static void load_jobs(struct hx_job_trace *trace, const char *path)
{
    struct hx_job_sizes sizes;
    struct hx_problem problem;
    if (path) {
        if (!hx_job_trace_read(trace, path, &problem))
            hx_die_of(&problem);
        return;
    }
    if (!hx_job_sizes_load(&sizes, asked.distribution, &problem))
        hx_die_of(&problem);
    hx_job_trace_draw(trace, &sizes, (uint32_t)asked.draw, seconds(asked.between), seconds(asked.duration), asked.seed);
    hx_job_sizes_free(&sizes);
}

static void schedule(const struct hx_spec *spec, struct hx_job_trace *trace, const char *json)
{
    bool *taken = hx_spec_taken(spec);
    const struct hx_schedule_rules rules = {.columns = spec->a ? spec->x : spec->graph->hosts,
                                            .rows = spec->a ? spec->y : 1,
                                            .taken = taken,
                                            .fabric = spec->a ? NULL : spec->graph,
                                            .place = asked.rules.place,
                                            .policy = asked.policy,
                                            .placement = asked.rules.placement,
                                            .mean_time_between_failures = seconds(asked.failing),
                                            .mean_time_to_repair = seconds(asked.repair),
                                            .seed = asked.seed};
    struct hx_schedule s;
    hx_schedule_run(&s, &rules, trace->job, trace->jobs);
    if (asked.csv)
        schedule_write_csv(&s, asked.csv);
    if (asked.plot)
        schedule_plot(&s, &rules, spec->fabric, asked.plot);
    if (json)
        hx_json_write(schedule_json(&s, &rules, spec->fabric), json);
    else if (!hx_output_is_stdout(asked.csv) && !hx_output_is_stdout(asked.plot))
        schedule_print(&s, &rules, spec->fabric);
    hx_schedule_free(&s);
    free(taken);
}

int main(int argc, char **argv)
{
    static const struct hx_option options[] = {
        {HX_STRING("fabric", "SPEC|FILE", &asked.fabric,
                   "the fabric that they run on: boards of a HammingMesh, or hosts")},
        HX_OPTIONS_HEADING("Drawn jobs"),
        {HX_NUMBER("draw", &asked.draw, 0, MOST_JOBS, "so many jobs, in place of a trace")},
        ALLOCATE_SIZES_OPTION(&asked.distribution),
        {HX_DURATION("between", &asked.between, 1, LONGEST_TIME, "mean time from one arrival to the next")},
        {HX_DURATION("duration", &asked.duration, 1, LONGEST_TIME, "mean time that a job runs")},
        HX_OPTIONS_HEADING("Queue and failures"),
        {HX_CHOICE("policy", &asked.policy, hx_queue_policy_names,
                   "jobs that may start while the first one waits for boards: none, or those that do not delay it")},
        {HX_DURATION("failing", &asked.failing, 0, LONGEST_TIME,
                     "mean time until a board fails, and the job that has it begins again; 0: never")},
        {HX_DURATION("repair", &asked.repair, 1, LONGEST_TIME, "mean time until a board that failed is back")},
        ALLOCATE_SEED_OPTION(&asked.seed, NULL, 0, "of everything random"),
        HX_OPTIONS_HEADING("Boards"),
        ALLOCATE_RULE_OPTIONS(&asked.rules),
        ALLOCATE_PLACE_OPTION(&asked.rules),
        HX_OPTIONS_HEADING("Report"),
        ALLOCATE_CSV_OPTION(&asked.csv, "job"),
        {HX_STRING("plot", "FILE", &asked.plot, "draw boards in use over time (SVG) to FILE; - is stdout")},
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh jobs", "hxmesh-allocate hxmesh-run"),
        .examples = {{"hxmesh jobs examples/jobs.csv --fabric \"16x16 Hx2Mesh\"", "the jobs of a trace"},
                     {"hxmesh jobs --fabric \"64x64 Hx2Mesh\" --draw 10000 --between "
                      "5s",
                      "random ones"},
                     {"hxmesh jobs examples/jobs.csv --fabric \"fat-tree hosts=256\" --place group",
                      "the same jobs on hosts of another fabric"}},
        HX_OPERANDS("TRACE", 0, 1),
        .summary =
            "Runs a queue of jobs over time on a HammingMesh's boards, or other hosts: utilization, waiting, failures.",
        .details =
            "A trace is CSV: arrival,job,duration, a job a number of boards or COLUMNSxROWS of them, times as "
            "90s or 2h. "
            "Boards, and hosts of other fabrics, are found as hxmesh allocate finds them; those that have failed, "
            "and those that a FILE gives to jobs, are none of them. No packet is sent: "
            "jobs on different boards of a "
            "HammingMesh do not meet. What comes out is a function of jobs, options and seed.",
        .options = options};
    struct hx_common common;
    struct hx_spec spec;
    struct hx_job_trace trace;
    asked.rules = allocate_default_rules;
    int first = hx_options_parse(&command, argc, argv, &common);
    plot_check_name(asked.plot);
    const struct hx_output outputs[] = {{"--json", common.json}, {"--csv", asked.csv}, {"--plot", asked.plot}};
    check_command((unsigned)(argc - first));
    hx_options_need(&command, &common, "draw", (const char *const[]){"sizes", "between", "duration", NULL});
    hx_options_need(&command, &common, "failing", (const char *const[]){"repair", NULL});
    hx_outputs_apart(outputs, sizeof outputs / sizeof *outputs);
    hx_spec_load(asked.fabric, NULL, &spec);
    allocate_rules_check(&asked.rules, &spec, NULL);
    if (spec.a)
        allocate_rules_settle(&asked.rules, &spec);
    char why[HX_WHY_TEXT];
    const char *impossible = hx_jobs_impossible(&spec, why);
    if (impossible)
        hx_die(HX_EXIT_CONFIG, spec.fabric, "%s", impossible);
    load_jobs(&trace, argc > first ? argv[first] : NULL);
    schedule(&spec, &trace, common.json);
    hx_job_trace_free(&trace);
    hx_spec_free(&spec);
    hx_output_close(stdout, "-");
    return HX_EXIT_DONE;
}
