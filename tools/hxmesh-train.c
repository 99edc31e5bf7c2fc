/* hxmesh-train - trains a model on one fabric or several: time of an iteration, communication, use and cost of the
 * fabric, by a run and by an estimate. */
#include "base/error.h"
#include "base/json.h"
#include "tools/simulation.h"
#include "tools/train/fabrics.h"

#include <stdlib.h>

struct program {
    struct train_options run;
    struct hx_option_list compare;
    struct hx_common common;
    const char *prices;
    const char *fabric[TRAIN_FABRICS];
    struct train train;
};

/* ---- the command line ---- */

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
    train_refuse_beside(t, &p->run);
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

static void parse(struct program *p, int argc, char **argv)
{
    struct train *t = &p->train;
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
        TRAIN_COST_OPTIONS(t, &p->prices),
        HX_OPTIONS_HEADING("The run, as in hxmesh run")};
    const int first = train_parse(t, &p->run, &command_template, own, sizeof own / sizeof *own, argc, argv, &p->common);
    t->job.path = argv[first + 1];
    p->fabric[0] = argv[first];
    for (unsigned i = 0; i < p->compare.count; i++)
        p->fabric[1 + i] = p->compare.item[i];
    check(p);
}

/* ---- all ---- */

static void estimate(const struct train *t, struct train_fabric *f)
{
    const double iterations = (double)t->job.iterations;
    struct train_estimate e;
    struct hx_problem problem;
    if (!train_estimate_make(&e, &t->job, &f->spec, &f->settings, &f->injected.timing,
                             t->only_estimate ? t->timeline : NULL, &problem)) {
        if (t->only_estimate || !hx_settings_is_irregular(&f->settings))
            hx_die_of(&problem);
        return;
    }
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
        train_place(&t->fabric[i], &t->job);
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
    t->lifetime = 5;
    train_options_init(&p->run);
    parse(p, argc, argv);
    simulation_check();
    t->prices = hx_prices_take(p->prices);
    train_open_fabrics(t, &p->run, p->fabric, 1 + p->compare.count);
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
    train_close_fabrics(t);
    train_memory_free(&t->memory);
    train_job_free(&t->job);
    free(p);
    hx_output_close(stdout, "-");
    return code;
}
