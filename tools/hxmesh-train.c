/* hxmesh-train - trains a model on one fabric or several: time of an iteration, communication, use and cost of the
 * fabric, by a run and by an estimate. */
#include "base/error.h"
#include "base/json.h"
#include "base/options/applies.h"
#include "base/options/options.h"
#include "tools/simulation.h"
#include "tools/train/train.h"

#include <stdlib.h>
#include <string.h>

/* Values of the options of a run. */
struct run_values {
    struct hx_settings settings;
    struct hx_overrides sizes;
    struct hx_timing timing;
};

struct program {
    struct run_values run;
    struct hx_option run_option[HX_MOST_OPTIONS]; /* those that apply to a schedule under the virtual clock */
    unsigned run_options;
    struct hx_option_list compare;
    struct hx_common common;
    const char *prices;
    struct train train;
};

/* ---- the command line ---- */

/* Takes the options of a run that are left to the user: neither what is trained nor the clock. */
static void take_run_options(struct program *p)
{
    const struct hx_option all[] = {HX_SETTINGS_OPTIONS(&p->run.settings), HX_VIRTUAL_OPTIONS(&p->run.settings),
                                    HX_OVERRIDE_OPTIONS(&p->run.sizes), HX_TIMING_OPTIONS(&p->run.timing)};
    const uint64_t run = HX_FOR_VIRTUAL | HX_FOR_PATTERN(HX_SCHEDULE);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        const char *name = all[i].name;
        const bool own = strcmp(name, "traffic") == 0 || strcmp(name, "clock") == 0 || strcmp(name, "verify") == 0;
        if (own || !hx_applies(all[i].applies, run))
            continue;
        p->run_option[p->run_options] = all[i];
        if (strcmp(name, "place") == 0)
            p->run_option[p->run_options].otherwise =
                "fold, if the hosts are a grid and MODEL says that of its ranks; else linear";
        p->run_options++;
    }
    p->run_option[p->run_options] = (struct hx_option)HX_OPTIONS_END;
}

static void refuse_beside(const struct program *p, const char *name, const char *option)
{
    for (unsigned i = 0; i < p->run_options; i++) {
        if (p->train.used[i] && strcmp(p->run_option[i].name, name) == 0)
            hx_die(HX_EXIT_USAGE, option, "is what --equal-injection sets: which of both?");
    }
}

static void check(const struct program *p)
{
    const struct train *t = &p->train;
    const struct hx_output outputs[] = {{"--json", p->common.json}, {"--timeline", t->timeline}};
    hx_outputs_apart(outputs, sizeof outputs / sizeof *outputs);
    hx_outputs_off(t->job.path, outputs, sizeof outputs / sizeof *outputs);
    if (t->timeline && p->compare.count)
        hx_die(HX_EXIT_USAGE, "--timeline", "is of one fabric, not of several (--compare)");
    if (hx_output_is_stdout(t->timeline))
        hx_die(HX_EXIT_USAGE, "--timeline", "the report goes to stdout: name a file");
    if (t->wish.equal && !p->compare.count && t->wish.gbps == 0)
        hx_die(HX_EXIT_USAGE, "--equal-injection", "needs a --compare, or an --injection");
    if (t->wish.equal) {
        refuse_beside(p, "planes", "--planes");
        refuse_beside(p, "link", "--link");
        refuse_beside(p, "crossbar", "--crossbar");
    }
    hx_output_check(p->common.json);
    hx_output_check(t->timeline);
}

static const struct hx_command command_template = {
    HX_PROGRAM("hxmesh train", "hxmesh-run hxmesh-schedule hxmesh-info hxmesh-sweep"),
    .examples = {{"hxmesh train \"4x4 Hx1Mesh\" examples/schedules/pipeline-data.schedule.yaml",
                  "time of an iteration, communication, links, cost"},
                 {"hxmesh train \"4x4 Hx1Mesh\" examples/schedules/pipeline-data.schedule.yaml --estimate",
                  "the estimate alone, at once"},
                 {"hxmesh train \"4x4 Hx1Mesh\" examples/schedules/pipeline-data.schedule.yaml --equal-injection "
                  "--compare \"fat-tree hosts=16\" --compare \"torus 4x4\"",
                  "three fabrics side by side"}},
    HX_OPERANDS("SPEC|FILE MODEL", 2, 2),
    .failed = "a run failed or lost something",
    .summary =
        "Trains a model on a fabric under the virtual clock: time of an iteration, communication by purpose, use "
        "of links, cost.",
    .details =
        "MODEL is a model (docs/training.md) or any schedule (docs/schedules.md). Bubble is the time that a rank waits "
        "on an ideal network, where everything arrives at once; network is what the fabric adds. A message that a rank "
        "waits for counts as communication, so the exposed time of a pipeline contains the bubble. Time and bytes of "
        "communication are means of the ranks. The estimate executes the same schedule without packets: messages over "
        "links, or by closed forms if they are many. Costs are those of the planes that are simulated. saving is "
        "figure 15 of the HammingMesh paper: (cost of the other / cost of the first) x (network time of the other / "
        "network time of the first). "
        "Exit code: 0 done, 1 a run failed, 130 interrupted."};

static void parse(struct program *p, int argc, char **argv, char **fabrics)
{
    struct train *t = &p->train;
    struct hx_option table[HX_MOST_OPTIONS];
    unsigned n = 0;
    const struct hx_option own[] = {
        HX_OPTIONS_HEADING("Training"),
        {HX_LIST("compare", "SPEC|FILE", &p->compare, "another fabric, beside the first; may be given again"),
         .otherwise = "none"},
        INJECTION_OPTIONS(&t->wish),
        {HX_FLAG("estimate", &t->only_estimate, "the estimate only, without a run")},
        {HX_FLAG("fit", &t->must_fit, "refuse a model that needs more than the memory of an accelerator")},
        {HX_STRING("timeline", "FILE", &t->timeline,
                   "write what each rank did, and when, to FILE: a picture if it ends in .svg, else Chrome trace "
                   "events, for ui.perfetto.dev")},
        {HX_REAL("lifetime", &t->lifetime, 0.01, 100, "years over which the fabric's cost is spread"),
         .argument = "YEARS"},
        HX_PRICES_OPTION(&p->prices),
        HX_OPTIONS_HEADING("The run, as in hxmesh run")};
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
        table[n++] = own[i];
    const unsigned first_of_run = n;
    for (unsigned i = 0; i < p->run_options; i++)
        table[n++] = p->run_option[i];
    table[n] = (struct hx_option)HX_OPTIONS_END;
    struct hx_command command = command_template;
    command.options = table;
    const int first = hx_options_parse(&command, argc, argv, &p->common);
    hx_options_need(&command, &p->common, "equal-injection", (const char *const[]){"injection", NULL});
    t->option = p->run_option;
    t->used = p->common.used + first_of_run;
    t->quiet = p->common.quiet;
    t->job.path = argv[first + 1];
    fabrics[0] = argv[first];
    t->fabrics = 1 + p->compare.count;
    check(p);
}

/* ---- fabrics ---- */

static void load(struct train_fabric *f, const struct run_values *run)
{
    hx_spec_load(f->argument, &run->sizes, &f->spec);
    hx_spec_refuse_external(&f->spec, "training");
    if (f->spec.named_jobs)
        hx_die(HX_EXIT_CONFIG, f->spec.source, "names jobs: a model is trained on the whole fabric");
    f->injected = injected_of(f->spec.name, &f->spec, run->sizes.planes, &run->timing);
}

/* Sets planes and timing of a run, and its settings, once all fabrics are known. */
static void settle(struct train_fabric *f, const struct program *p)
{
    struct hx_settings given = p->run.settings;
    const struct injection bought = injection_of(hx_spec_fabric(&f->spec), f->spec.graph->bought_planes, HX_LINK_GBPS);
    f->spec.graph->planes = f->injected.injection.planes;
    f->bought = bought.planes;
    f->usd = injection_usd(&f->injected.injection, f->spec.graph, &p->train.prices);
    f->usd_bought = injection_usd(&bought, f->spec.graph, &p->train.prices);
    given.clock = HX_CLOCK_VIRTUAL;
    given.pattern = HX_SCHEDULE;
    given.traffic_file = p->train.job.path;
    given.given |= HX_GIVEN_CLOCK | HX_GIVEN_PATTERN;
    f->settings = f->spec.settings;
    hx_settings_merge(&f->settings, &given);
}

/* Folds the job's grid onto the fabric's, unless the user or the file says how. */
static void place(struct train_fabric *f, const struct train_job *job)
{
    if (f->settings.given & HX_GIVEN_PLACE_OF_RANKS || !job->dimension[0] ||
        !hx_spec_fabric(&f->spec)->topology->near_on_grid)
        return;
    f->folds = true;
    f->settings.place = "fold";
}

static void open_fabrics(struct program *p, char **fabrics)
{
    struct train *t = &p->train;
    struct injected *of = hx_allocate(t->fabrics, sizeof *of);
    t->fabric = hx_allocate(t->fabrics, sizeof *t->fabric);
    for (unsigned i = 0; i < t->fabrics; i++) {
        t->fabric[i].argument = i ? p->compare.item[i - 1] : fabrics[0];
        load(&t->fabric[i], &p->run);
        of[i] = t->fabric[i].injected;
    }
    injected_settle(of, t->fabrics, &t->wish, true);
    for (unsigned i = 0; i < t->fabrics; i++) {
        t->fabric[i].injected = of[i];
        settle(&t->fabric[i], p);
    }
    free(of);
}

/* ---- all ---- */

static void estimate(const struct train *t, struct train_fabric *f)
{
    const double iterations = (double)t->job.iterations;
    struct train_estimate e;
    struct hx_problem problem;
    if (!train_estimate_make(&e, &t->job, &f->spec, &f->settings, &f->injected.timing,
                             t->only_estimate ? t->timeline : NULL, &problem))
        hx_die_of(&problem);
    f->estimate = (struct train_times){.there = true,
                                       .iteration = e.seconds / iterations,
                                       .ideal = e.ideal / iterations,
                                       .computing = e.computing / iterations};
    f->spent = e.spent;
}

/* Returns the exit code: that of the first run that failed. */
static int measure(struct train *t)
{
    int code = HX_EXIT_DONE;
    for (unsigned i = 0; i < t->fabrics; i++) {
        place(&t->fabric[i], &t->job);
        estimate(t, &t->fabric[i]);
    }
    for (unsigned i = 0; i < t->fabrics && !t->only_estimate && !child_interrupted(); i++) {
        train_run(t, &t->fabric[i]);
        code = code ? code : t->fabric[i].exit_code;
    }
    return child_interrupted() ? HX_EXIT_INTERRUPTED : code;
}

static void find_memory(struct train *t)
{
    struct hx_problem problem;
    if (!train_memory_find(&t->memory, t->job.model, &problem))
        hx_die_of(&problem);
    if (!t->must_fit)
        return;
    char excess[256];
    if (!t->job.model || t->job.model->memory == 0)
        hx_die(HX_EXIT_USAGE, "--fit", "needs a model with accelerator: {memory: 80 GB}");
    if (train_memory_fits(&t->memory))
        return;
    train_memory_excess(&t->memory, excess, sizeof excess);
    hx_die(HX_EXIT_CONFIG, t->job.path, "%s", excess);
}

static bool any_is_there(const struct train *t)
{
    bool any = false;
    for (unsigned i = 0; i < t->fabrics; i++)
        any = any || train_times_of(t, &t->fabric[i])->there;
    return any;
}

int main(int argc, char **argv)
{
    struct program *p = hx_allocate(1, sizeof *p);
    struct train *t = &p->train;
    struct hx_problem problem;
    char *first;
    p->run = (struct run_values){.settings = hx_default_settings, .timing = HX_DEFAULT_TIMING};
    p->run.settings.given = 0;
    t->lifetime = 5;
    take_run_options(p);
    parse(p, argc, argv, &first);
    simulation_check();
    t->prices = hx_prices_take(p->prices);
    open_fabrics(p, &first);
    struct schedule_read_options reading = p->run.settings.read;
    reading.message = p->run.settings.message;
    if (!train_job_read(&t->job, t->job.path, &reading, &problem))
        hx_die_of(&problem);
    t->job.quiet = t->quiet;
    find_memory(t);
    const int code = measure(t);
    if (any_is_there(t)) {
        if (p->common.json)
            hx_json_write(train_json(t), p->common.json);
        if (!hx_output_is_stdout(p->common.json))
            train_print(t);
    }
    for (unsigned i = 0; i < t->fabrics; i++) {
        hx_spec_free(&t->fabric[i].spec);
        spent_free(&t->fabric[i].spent);
    }
    train_memory_free(&t->memory);
    train_job_free(&t->job);
    HX_FREE(t->fabric, p);
    hx_output_close(stdout, "-");
    return code;
}
