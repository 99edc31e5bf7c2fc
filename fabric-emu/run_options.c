/* run_options.c - reads the command line of `hxmesh run` (run_options.h). */
#include "run_options.h"
#include "base/beside.h"
#include "base/error.h"
#include "base/json.h"
#include "fabric-emu/report/fields.h"
#include "fabric-emu/report/result.h"
#include "fabric-emu/report/timeline.h"
#include "hxmesh/collective.h"
#include "spec/circuits/circuits.h"
#include "spec/jobs.h"
#include "topology/bounds.h"
#include "workload/collective_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_INJECTION_RATE 0.001

/* Dies if keys of the spec file do not fit its clock or pattern, unless the command line names others. */
static void check_file(const struct run_options *o, const struct hx_settings *given)
{
    if (o->spec.of_default_clock.exit_code && !(given->given & HX_GIVEN_CLOCK))
        hx_die_of(&o->spec.of_default_clock);
    if (o->spec.of_default_pattern.exit_code && !(given->given & HX_GIVEN_PATTERN))
        hx_die_of(&o->spec.of_default_pattern);
}

static void settle(struct run_options *o, const struct hx_settings *given)
{
    check_file(o, given);
    if (given->given & HX_GIVEN_COUNT && given->count && given->duration_ns)
        hx_die(HX_EXIT_USAGE, "--count", "%s", HX_COUNT_OR_DURATION);
    o->settings = o->spec.settings;
    hx_settings_merge(&o->settings, given);
    /* Under the virtual clock payload is carried only on request: it costs time. */
    if (o->settings.clock == HX_CLOCK_VIRTUAL && !(o->settings.given & HX_GIVEN_VERIFY))
        o->settings.verify = false;
    if (o->settings.warm_up_ns && o->settings.warm_up_ns >= o->settings.duration_ns)
        hx_die(HX_EXIT_USAGE, "--warm-up", "%s",
               o->settings.duration_ns ? "is to be shorter than --duration"
                                       : "needs a --duration, of which it is a part");
    if (o->settings.duration_ns)
        o->settings.count = 0;
    if (o->settings.count == 0 && o->settings.duration_ns == 0)
        hx_die(HX_EXIT_USAGE, "--count", "0 messages need a --duration");
}

static void settle_capture(struct run_options *o, const struct hx_capture_settings *given)
{
    o->capture = o->spec.capture;
    hx_capture_settings_merge(&o->capture, given);
    if (!o->capture.file && o->capture.given)
        hx_die(HX_EXIT_USAGE, "--capture", "is missing: where are the captured frames to go?");
    if (o->capture.file && strcmp(o->capture.file, "-") == 0)
        hx_die(HX_EXIT_USAGE, "--capture", "the report of a run goes to stdout: name a file (or use `hxmesh capture`)");
}

/* 0,0 if that host exists and a collective does not leave it out. */
static uint32_t default_target(const struct run_options *o)
{
    uint32_t rank = 0;
    while (o->settings.largest && rank + 1 < o->g->hosts &&
           (hx_spec_board_failed(&o->spec, hx_spec_board_of(&o->spec, rank)) ||
            hx_spec_board_idle(&o->spec, hx_spec_board_of(&o->spec, rank))))
        rank++;
    return rank;
}

static void check_target(const struct run_options *o, struct hx_coordinate target)
{
    hx_spec_check_coordinate(&o->spec, "--target", target);
    unsigned pattern = o->settings.pattern;
    bool has_target = HX_FOR_TARGET & HX_FOR_PATTERN(pattern);
    if (has_target && hx_spec_board_failed(&o->spec, hx_spec_board_at(&o->spec, target.addr_hi, target.addr_lo)))
        hx_die(HX_EXIT_USAGE, "--target", "a%u,%u is on a failed board", target.addr_hi, target.addr_lo);
    bool left_out =
        o->settings.largest && hx_spec_board_idle(&o->spec, hx_spec_board_at(&o->spec, target.addr_hi, target.addr_lo));
    if (has_target && left_out)
        hx_die(HX_EXIT_USAGE, "--target", "a%u,%u is on no board of the largest sub-mesh", target.addr_hi,
               target.addr_lo);
}

static void keep_largest(struct run_options *o)
{
    unsigned named = o->spec.a ? o->spec.named_jobs : 0; /* without boards nothing is left out */
    for (unsigned i = 0; i < named; i++) {
        const struct hx_settings s = hx_job_settings(&o->settings, &o->spec.named[i]);
        if (s.largest && s.pattern >= HX_COLLECTIVES)
            hx_job_keep_largest(&o->spec, o->spec.named[i].tag);
    }
    if (o->spec.a && !o->spec.named_jobs && o->settings.largest)
        hx_job_keep_largest(&o->spec, HX_NO_JOB);
}

static void check_traffic(struct run_options *o)
{
    unsigned pattern = o->settings.pattern;
    struct hx_coordinates *target = &o->settings.target;
    struct hx_problem problem;
    if (target->count == 0)
        *target = (struct hx_coordinates){1, {hx_coordinate_of(o->g, default_target(o))}};
    for (unsigned i = 0; i < target->count; i++)
        check_target(o, target->at[i]);
    if (target->count > 1 && pattern != HX_HOTSPOT)
        hx_die(HX_EXIT_USAGE, "--target", "%s has one target, %u are given", hx_settings_traffic(&o->settings),
               target->count);
    if (o->settings.arrivals == HX_ARRIVALS_POISSON && !(o->settings.given & HX_GIVEN_RATE))
        hx_die(HX_EXIT_USAGE, "--arrivals", "poisson is for messages that are due at a rate: --rate below 1");
    if (!traffic_check(&o->spec, o->g, &o->settings, &problem))
        hx_die_of(&problem);
    if (pattern >= HX_PATTERNS)
        hx_spec_refuse_external(&o->spec, hx_settings_traffic(&o->settings));
}

void run_options_choose(struct run_options *o)
{
    if (o->settings.pattern >= HX_COLLECTIVES || o->spec.named_jobs)
        o->chosen = collective_plan_require(&o->spec, &o->settings, o->common.quiet);
}

static void check_clock(const struct run_options *o)
{
    if (o->settings.clock == HX_CLOCK_VIRTUAL)
        hx_spec_refuse_external(&o->spec, "the virtual clock");
    if (o->settings.select == HX_SELECT_X_FIRST && !hx_hosts_forward(o->g))
        hx_die(HX_EXIT_USAGE, "--select", "x-first is where hosts forward: the routers of a %s have neither X nor Y",
               o->g->topology->word);
    if (o->settings.select == HX_SELECT_D_MOD_K && !hx_fabric_has_d_mod_k(o->g))
        hx_die(HX_EXIT_USAGE, "--select",
               "d-mod-k is for minimal routing in a whole fat tree with leaves and pods that are wired alike");
    struct hx_timing complete = hx_timing_complete(&o->timing);
    if (complete.crossbar < complete.link)
        hx_die(HX_EXIT_USAGE, "--crossbar", "%u Gb/s is less than a link's %u", (unsigned)complete.crossbar,
               (unsigned)complete.link);
    if (complete.train == 3)
        hx_die(HX_EXIT_USAGE, "--train", "3 packets are no train: 1, 2 or 4");
}

static bool paces_itself(const struct run_options *o)
{
    bool all_to_all = o->settings.pattern == HX_ALL_TO_ALL || o->settings.pattern == HX_ALL_TO_ALL_RANDOM;
    return all_to_all && !hx_spec_has_failures(&o->spec) && !o->spec.job;
}

/* The share of the bound at which queues stay short (docs/topologies.md). */
static double share_of_bound(const struct run_options *o, double bound)
{
    bool has_one_link = !o->spec.a && o->g->host_links == 1;
    bool has_twin_links = o->spec.a == 1 || o->spec.b == 1; /* both to one switch: credits load them unevenly */
    if (has_one_link && bound >= 1)
        return 0.998;
    return has_twin_links ? 0.97 : 0.98;
}

/* Default injection rate. Sources at full rate fill the fabric: some are served first, and all wait for the last.
 * Slightly below the bound they end together. */
static double injection_rate_of(const struct run_options *o)
{
    if (!paces_itself(o))
        return 1;
    double bound = hx_fabric_alltoall_bound(o->g);
    if (o->spec.a && o->g->hosts > 1) /* few accelerators send little to themselves: keep their cables full */
        bound = fmin(1, bound * o->g->hosts / (o->g->hosts - 1.0));
    bound *= hx_fabric_injection(o->g, HX_LINK_GBPS) / hx_fabric_most_injection(o->g, HX_LINK_GBPS);
    if (hx_settings_d_mod_k(&o->settings, o->g))
        return bound >= 1 ? 1 : 0.9995 * bound; /* destinations share only links narrower than the hosts' */
    double links = o->g->routing.policy == HX_VALIANT ? 2 : 1; /* a detour takes twice the links */
    return share_of_bound(o, bound) * bound / links;
}

static void settle_injection_rate(struct run_options *o)
{
    if (o->settings.clock != HX_CLOCK_VIRTUAL)
        return;
    if (o->settings.injection_rate > 0 && o->settings.injection_rate < LEAST_INJECTION_RATE)
        hx_die(HX_EXIT_USAGE, "--injection-rate", "%g is below %g (0: by the traffic)", o->settings.injection_rate,
               LEAST_INJECTION_RATE);
    if (o->settings.injection_rate == 0)
        o->settings.injection_rate =
            round(injection_rate_of(o) * 1e9) / 1e9; /* rounded as the report prints it, so that it can be repeated */
}

static void check_outputs(const struct run_options *o)
{
    hx_output_check(o->common.json);
    hx_output_check(o->csv);
    hx_output_check(o->timeline);
    const struct hx_output outputs[] = {
        {"--json", o->common.json}, {"--csv", o->csv}, {"--timeline", o->timeline}, {"--capture", o->capture.file}};
    hx_outputs_apart(outputs, sizeof outputs / sizeof *outputs);
}

/* Loads the schedule. Random faults last as long as traffic, or without a duration for a thousand faults. */
static bool load(struct hx_faults *faults, const struct run_options *o, struct hx_problem *problem)
{
    uint64_t until = o->settings.duration_ns ? o->settings.duration_ns : 1000 * o->faults.mtbf_ns;
    return hx_faults_load(faults, &o->faults, o->g, o->settings.seed, until, problem);
}

/* Whether links go down or are closed. A fault of kind up says that links may go down later, in a live fabric. */
static bool any_goes_down(const struct hx_faults *faults)
{
    bool any = false;
    for (size_t i = 0; i < faults->count; i++)
        any = any || hx_fault_closes(&faults->fault[i]) || faults->fault[i].kind == HX_FAULT_UP;
    return any;
}

/* If links go down, a HammingMesh needs the escape VC. Elsewhere routes are searched, and hosts that forward become
 * routers with other names. So a line that does not fit before the search is validated after it. */
struct hx_faults run_options_faults(struct run_options *o)
{
    struct hx_faults faults;
    struct hx_problem problem;
    struct hx_problem of_search;
    bool known = load(&faults, o, &problem);
    if (o->g->mesh.nodes && known && any_goes_down(&faults))
        hx_spec_add_escape_vc(&o->spec);
    if (!o->g->mesh.nodes && (!known || any_goes_down(&faults))) {
        bool searched = hx_spec_search_updown(&o->spec, &of_search);
        if (!searched && known)
            hx_die(HX_EXIT_CONFIG, o->faults.circuits ? "--circuits" : "--fault",
                   "links go down, so paths have to be searched: %s", of_search.what);
        hx_faults_free(&faults);
        o->g = hx_spec_fabric(&o->spec);
        known = searched && load(&faults, o, &problem) && hx_circuits_order(o->spec.graph, &faults, &problem);
    }
    if (!known)
        hx_die_of(&problem);
    return faults;
}

bool run_options_print(const struct run_options *o)
{
    return !hx_output_is_stdout(o->common.json) && !hx_output_is_stdout(o->csv) && !hx_output_is_stdout(o->timeline);
}

void run_options_write(const struct run_options *o, const struct result *r, json_t *report)
{
    if (o->timeline && r->context.schedule)
        timeline_write(r->context.schedule, o->timeline);
    if (o->csv)
        result_csv(report, o->csv);
    if (o->common.json)
        hx_json_write(report, o->common.json);
    else
        json_decref(report);
}

static void name_jobs(struct hx_spec *spec, const struct hx_spec *said)
{
    struct hx_problem problem;
    spec->said = said->said;
    spec->only = said->only;
    if (!hx_jobs_take_said(spec, &problem))
        hx_die_of(&problem);
}

/* The kinds of this run: the clock, the run's pattern, and schedules that are those of jobs. */
static uint64_t runs_of(const struct run_options *o)
{
    uint64_t runs = hx_settings_run(&o->settings);
    for (unsigned i = 0; i < o->spec.named_jobs; i++) {
        if (hx_job_settings(&o->settings, &o->spec.named[i]).pattern == HX_SCHEDULE)
            runs |= HX_FOR_PATTERN(HX_SCHEDULE);
    }
    return runs;
}

static const char *const repeats_names[] = {[RUN_REPEATS_RUN] = "run", [RUN_REPEATS_CUT] = "cut", NULL};

/* Why nothing of a run may be left out: it depends on time itself, or shows each packet. NULL: something may. */
static const char *needs_all_packets(const struct run_options *o)
{
    return o->faults.circuits                                  ? "--circuits: they change at their times"
           : hx_fault_settings_any(&o->faults)                 ? "faults: they have their times"
           : o->settings.duration_ns || o->settings.warm_up_ns ? "--duration or --warm-up"
           : o->settings.verify                                ? "--verify: it checks each byte"
           : o->capture.file                                   ? "--capture: it would lack frames"
                                                               : NULL;
}

static void check_repeats(const struct run_options *o)
{
    if (o->repeats == RUN_REPEATS_RUN)
        return;
    const char *with = needs_all_packets(o);
    if (with)
        hx_die(HX_EXIT_USAGE, "--repeats", "cut is not for a run with %s", with);
    if (!(runs_of(o) & HX_FOR_PATTERN(HX_SCHEDULE)))
        hx_die(HX_EXIT_USAGE, "--repeats", "cut is for a schedule (--traffic FILE)");
}

static void check_forward(const struct run_options *o)
{
    if (o->settings.fast_forward <= 0) {
        if (o->settings.fast_forward_audit)
            hx_die(HX_EXIT_USAGE, "--fast-forward-audit", "needs --fast-forward, as 1%%");
        return;
    }
    const char *with = needs_all_packets(o);
    with = o->repeats != RUN_REPEATS_RUN ? "--repeats cut" : with;
    with = o->ranks.count ? "ranks: one worker has all executors" : with;
    if (with)
        hx_die(HX_EXIT_USAGE, "--fast-forward", "is not for a run with %s", with);
}

static void check_compare(const struct hx_command *command, const struct run_options *o)
{
    static const char *const of_ranks[] = {"mpi", "hostfile", NULL};
    if (!o->compare_healthy)
        return;
    hx_options_apart(command, &o->common, "compare-healthy", of_ranks);
    if (o->settings.clock != HX_CLOCK_VIRTUAL)
        hx_die(HX_EXIT_USAGE, "--compare-healthy",
               "compares simulated times: those of the wall clock depend on this machine (--clock virtual)");
    if (!hx_fault_settings_any(&o->faults))
        hx_die(HX_EXIT_USAGE, "--compare-healthy", "is for a run with faults (--fault, --faults or --failures)");
}

static void check_ranks(const struct hx_command *command, const struct hx_common *common)
{
    static const char *const of_ranks[] = {"hostfile", NULL};
    static const char *const of_workers[] = {"workers", NULL};
    hx_options_need(command, common, "mpi", of_ranks);
    hx_options_apart(command, common, "mpi", of_workers);
}

void run_options_join_ranks(char **argv)
{
    const char *ranks = getenv("OMPI_COMM_WORLD_SIZE");
    if (!ranks || strcmp(ranks, "1") == 0)
        return;
    beside_run("virtual-mpi", argv);
    hx_die(HX_EXIT_ENVIRONMENT, "hxmesh-virtual-mpi", "%s", RUN_NO_VIRTUAL_MPI);
}

/* For a library: what it has no use for, and options of traffic where there is none. */
static void check_called(const struct hx_command *command, struct run_options *o)
{
    static const char *const of_programs[] = {"csv", "timeline", "name",    "watch",           "workers", "share-cores",
                                              "mpi", "hostfile", "capture", "compare-healthy", NULL};
    static const char *const of_traffic[] = {"duration", "warm-up",      "rate",    "message",
                                             "count",    "fast-forward", "repeats", NULL};
    hx_options_refuse(command, &o->common, of_programs, "is for the program hxmesh run");
    if (o->settings.clock != HX_CLOCK_VIRTUAL)
        hx_die(HX_EXIT_USAGE, "--clock", "wall is for the program hxmesh run");
    o->posted = !(o->settings.given & HX_GIVEN_PATTERN) && !o->spec.named_jobs;
    if (!o->posted)
        return;
    hx_options_refuse(command, &o->common, of_traffic, "is for --traffic, and none is given");
    o->settings.pattern = HX_PERMUTATION; /* routes and rates of any messages, not those of an all-to-all */
}

void run_options_parse(struct run_options *o, int argc, char **argv, bool called)
{
    *o = (struct run_options){.restart = true, .links = true, .watchdog_ns = RUN_WATCHDOG_NS};
    struct hx_settings settings = hx_default_settings;
    settings.given = 0;
    struct hx_overrides overrides = {0};
    struct hx_capture_settings capture = HX_CAPTURE_DEFAULTS;
    struct hx_timing timing = HX_DEFAULT_TIMING;
    struct hx_fault_settings faults = HX_FAULT_DEFAULTS;
    struct hx_spec said = {.named_jobs = 0}; /* of jobs, read before the fabric */
    const struct hx_option options[] = {
        HX_OPTIONS_HEADING("Traffic"),
        HX_SETTINGS_OPTIONS(&settings),
        HX_OPTIONS_HEADING("Jobs"),
        HX_JOB_LIST_OPTIONS(&said),
        HX_OPTIONS_HEADING("Fabric"),
        HX_OVERRIDE_OPTIONS(&overrides),
        {HX_STRING("name", "NAME", &o->name, "of the fabric's shared memory, /dev/shm/hxmesh-NAME"),
         .otherwise = "the process number"},
        HX_OPTIONS_HEADING("Report"),
        {HX_STRING(
            "csv", "FILE", &o->csv,
            "write the flat figures as CSV to FILE, a line of names and one of the run, and one of each job; - is "
            "stdout")},
        {HX_STRING(
             "timeline", "FILE", &o->timeline,
             "write what each rank of a schedule did, and when, to FILE: a picture if it ends in .svg, else Chrome "
             "trace events, for ui.perfetto.dev; - is stdout"),
         .applies = HX_FOR_PATTERN(HX_SCHEDULE)},
        {HX_FLAG("links", &o->links, "list every link in the JSON report"), .negatable = true},
        {HX_FLAG("watch", &o->watch, "show the run as `hxmesh top` does, in place of the bar")},
        HX_OPTIONS_HEADING("Wall clock"),
        HX_CREDIT_OPTION(&overrides),
        {HX_FLAG("restart", &o->restart, "start workers that were killed again"), .negatable = true,
         .applies = HX_FOR_WALL},
        HX_OPTIONS_HEADING("Virtual clock"),
        HX_VIRTUAL_OPTIONS(&settings),
        HX_TIMING_OPTIONS(&timing),
        {HX_DURATION(
             "watchdog", &o->watchdog_ns, 0, HX_MOST_DURATION,
             "longest time without a move while packets wait, beyond the longest possible wait: then the run ends "
             "and prints the dependency cycle; 0: no limit"),
         .applies = HX_FOR_VIRTUAL},
        {HX_FLAG("check-steps", &o->check_steps,
                 "check after each window of time that no credit and no packet is lost or invented (slow)"),
         .applies = HX_FOR_VIRTUAL},
        {HX_CHOICE("repeats", &o->repeats, repeats_names,
                   "run: simulate all; cut: of a schedule, leave out what repeats itself exactly"),
         .argument = "HOW", .applies = HX_FOR_VIRTUAL},
        {HX_FLAG("share-cores", &o->share_cores,
                 "start as many workers as --workers says, or as many ranks as --mpi, where there are fewer cores: "
                 "slower, with the same result; else no more than one a core are started"),
         .applies = HX_FOR_VIRTUAL},
        HX_RANKS_OPTIONS(&o->ranks),
        HX_OPTIONS_HEADING("Faults"),
        HX_FAULT_OPTIONS(&faults),
        {HX_FLAG("compare-healthy", &o->compare_healthy,
                 "simulate the same without the faults first, and report what they cost"),
         .applies = HX_FOR_VIRTUAL},
        HX_OPTIONS_HEADING("Capture"),
        HX_CAPTURE_OPTIONS(&capture),
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh run", "hxmesh-sweep hxmesh-top hxmesh-capture hxmesh-check"),
        .examples =
            {{"hxmesh run \"4x4 Hx2Mesh\"", "all-to-all on 64 accelerators, every byte checked"},
             {"hxmesh run \"8x8 Hx2Mesh\" -t uniform -d 10s --planes 4", "other traffic, for a time, four planes"},
             {"hxmesh run \"4x4 Hx2Mesh\" -t all-reduce -m 64MiB", "a collective; the sums are checked"},
             {"hxmesh run \"16x16 Hx2Mesh\" --clock virtual -m 1MiB", "simulated time"},
             {"hxmesh run \"64x64 Hx2Mesh\" --clock virtual --mpi 8 --hostfile machines",
              "the same by several machines"},
             {"hxmesh run \"8x8 Hx2Mesh\" --clock virtual -t all-reduce -m 16MiB --failures 4 --compare-healthy",
              "what four dead links cost"},
             {"hxmesh run lab.hxm.yaml --json -", "a file says what a spec cannot"}},
        .failed = "something was lost, corrupted or not delivered",
        .called = called,
        .no_json = called,
        .report_keys = report_keys_print,
        HX_OPERANDS("SPEC|FILE", 1, 1),
        .summary =
            "Runs a whole fabric of the firmware on this machine, a HammingMesh or any other, sends traffic through "
            "it and checks every byte that arrives.",
        .details = "SPEC is a fabric such as \"4x4 Hx2Mesh\" (hxmesh topologies lists the others); FILE a *.hxm.yaml. "
                   "With --clock virtual time is simulated: "
                   "the report depends on the spec and the seed alone, and payload is carried only if --verify asks. "
                   "Exit code: 0 all arrived, 1 something was lost or corrupted, 130 interrupted.",
        .options = options};
    int first = hx_options_parse(&command, argc, argv, &o->common);
    hx_spec_load(argv[first], &overrides, &o->spec);
    name_jobs(&o->spec, &said);
    o->g = hx_spec_fabric(&o->spec);
    settle(o, &settings);
    if (called)
        check_called(&command, o);
    o->faults = o->spec.faults;
    hx_fault_settings_merge(&o->faults, &faults);
    check_compare(&command, o);
    hx_options_check(&command, &o->common, runs_of(o));
    check_ranks(&command, &o->common);
    settle_capture(o, &capture);
    if (called)
        o->capture.file = NULL; /* of the file of the fabric */
    else
        check_outputs(o);
    o->timing = o->spec.timing;
    hx_timing_merge(&o->timing, &timing);
    check_clock(o);
    keep_largest(o);
    settle_injection_rate(o);
    check_traffic(o);
    check_repeats(o);
    check_forward(o);
}
