/* hxmesh-plan - the best layout of a model on a fabric or several: tensor, context, data, expert and pipeline
 * parallelism, micro-batches, ZeRO and recomputation, of all that divide the model and fit. */
#include "base/error.h"
#include "base/json.h"
#include "base/output.h"
#include "base/processor.h"
#include "base/text.h"
#include "base/value.h"
#include "tools/child.h"
#include "tools/plan/plan.h"
#include "tools/simulation.h"
#include "tools/train/fabrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ONLY_TEXT = 512 };

struct program {
    struct train_options run;
    struct hx_option_list only;
    struct hx_common common;
    const char *prices, *write;
    uint64_t top, confirm, estimates;
    struct training_choices choices;
    struct train train;
    struct plan *plan; /* [fabrics] */
};

/* ---- the command line ---- */

static const struct hx_command command_template = {
    HX_PROGRAM("hxmesh plan", "hxmesh-train hxmesh-info"),
    .examples = {{"hxmesh plan examples/models/gpt-13b.model.yaml \"8x4 Hx2Mesh\"", "the fastest layouts that fit"},
                 {"hxmesh plan examples/models/llama3-70b.model.yaml \"16x16 Hx2Mesh\" \"fat-tree hosts=1024\" "
                  "--equal-injection",
                  "two fabrics, each by its own best layout"},
                 {"hxmesh plan examples/models/gpt-13b.model.yaml \"8x4 Hx2Mesh\" --only tensor=1,2,4,8 --only "
                  "zero=1 --write best.model.yaml",
                  "only some layouts; the best as a model file"}},
    HX_OPERANDS("MODEL SPEC|FILE...", 2, 1 + HX_OPTION_MOST_ITEMS),
    .failed = "no layout fits, or a run failed",
    .summary = "Finds the best layout of a model on a fabric: parallelism, micro-batches, ZeRO and recomputation.",
    .details =
        "A layout divides the model if all shares are whole, and fits if its fullest stage needs at most "
        "accelerator.memory (docs/which-layout.md). Layouts are estimated in the order of a bound of their iteration: "
        "computing, bubble, and bytes over the links of a host. It ends when none is left that can be expected to be "
        "near the best. Orders of axes and placements are tried for the two best, and that of the best for others. "
        "waits for: the longest part of the iteration beside computing. "
        "Exit code: 0 done, 1 no layout fits or a run failed, 130 interrupted: what has been found is printed."};

static void parse(struct program *p, int argc, char **argv, char ***fabrics, unsigned *count)
{
    struct train *t = &p->train;
    const struct hx_option own[] = {
        HX_OPTIONS_HEADING("Plan"),
        {HX_LIST("only", "KEY=VALUE,...", &p->only,
                 "only layouts with these: tensor, context, data, pipeline, expert, chunks, batch (samples of a "
                 "micro-batch), zero, recompute (false, selective, true); may be given for several keys"),
         .otherwise = "all that divide the model"},
        {HX_NUMBER("top", &p->top, 1, 1000, "layouts in the table")},
        {HX_NUMBER("confirm", &p->confirm, 0, 1000, "run the first so many with packets")},
        {HX_NUMBER("estimates", &p->estimates, 1, 1000000, "most layouts that are estimated by their bounds")},
        {HX_STRING("write", "FILE", &p->write, "write the best layout as a model file"), .otherwise = "none"},
        INJECTION_OPTIONS(&t->wish),
        TRAIN_COST_OPTIONS(t, &p->prices),
        HX_OPTIONS_HEADING("Estimates and runs, as in hxmesh run")};
    const int first = train_parse(t, &p->run, &command_template, own, sizeof own / sizeof *own, argc, argv, &p->common);
    t->only_estimate = true;
    t->job.path = argv[first];
    *fabrics = argv + first + 1;
    *count = (unsigned)(argc - first - 1);
    const struct hx_output outputs[] = {{"--json", p->common.json}, {"--write", p->write}};
    hx_outputs_apart(outputs, sizeof outputs / sizeof *outputs);
    hx_outputs_off(t->job.path, outputs, sizeof outputs / sizeof *outputs);
    if (t->wish.equal && *count < 2 && t->wish.gbps == 0)
        hx_die(HX_EXIT_USAGE, "--equal-injection", "needs several fabrics, or an --injection");
    if (p->write && *count > 1)
        hx_die(HX_EXIT_USAGE, "--write", "is of one fabric, not of several");
    if (hx_settings_is_irregular(&p->run.settings))
        hx_die(HX_EXIT_USAGE, p->run.settings.jitter > 0 ? "--jitter" : "--straggler",
               "is of runs: a plan takes all ranks of a stage as equal");
    train_refuse_beside(t, &p->run);
    hx_output_check(p->common.json);
    hx_output_check(p->write);
}

/* ---- --only ---- */

static void take_value(struct training_choices *c, unsigned choice, const char *item, const char *value)
{
    char why[HX_WHY_TEXT];
    unsigned word = 0;
    uint64_t number = 0;
    const bool is_zero = choice == TRAINING_CHOOSE_ZERO;
    const char *wrong = choice == TRAINING_CHOOSE_RECOMPUTE
                            ? hx_value_choice(value, training_recompute_names, &word, why)
                            : hx_value_number(value, !is_zero, is_zero ? 3 : UINT32_MAX, &number, why);
    if (wrong)
        hx_die(HX_EXIT_USAGE, "--only", "'%s': %s (each key has an --only)", item, wrong);
    if (c->values[choice] == TRAINING_MOST_CHOSEN)
        hx_die(HX_EXIT_USAGE, "--only", "'%s' has more than %d values", item, TRAINING_MOST_CHOSEN);
    c->value[choice][c->values[choice]++] = choice == TRAINING_CHOOSE_RECOMPUTE ? word : (uint32_t)number;
}

/* KEY=VALUE,VALUE */
static void take_only(struct training_choices *c, const char *item)
{
    char text[ONLY_TEXT];
    char why[HX_WHY_TEXT];
    char *rest = NULL;
    unsigned choice = 0;
    const size_t length = strlen(hx_text_copy(text, sizeof text, item));
    const size_t key = strcspn(text, "=");
    if (text[key] != '=' || !text[key + 1] || length + 1 == sizeof text)
        hx_die(HX_EXIT_USAGE, "--only", "'%s' is no KEY=VALUE,...: tensor=1,2,4", item);
    text[key] = '\0';
    const char *wrong = hx_value_choice(text, training_choice_names, &choice, why);
    if (wrong)
        hx_die(HX_EXIT_USAGE, "--only", "'%s': %s", item, wrong);
    for (char *value = strtok_r(text + key + 1, ",", &rest); value; value = strtok_r(NULL, ",", &rest))
        take_value(c, choice, item, value);
}

/* ---- all ---- */

static void read_model(struct program *p)
{
    struct train *t = &p->train;
    struct hx_problem problem;
    struct schedule_read_options reading = p->run.settings.read;
    reading.message = p->run.settings.message;
    reading.ranks = 0;
    if (!train_job_read(&t->job, t->job.path, &reading, &problem))
        hx_die_of(&problem);
    t->job.quiet = true;
    if (!t->job.model)
        hx_die(HX_EXIT_CONFIG, t->job.path, "is no model: another schedule has its layout already");
    const char *obstacle = training_layout_obstacle(t->job.model);
    if (obstacle)
        hx_die(HX_EXIT_CONFIG, t->job.path, "%s", obstacle);
}

/* Ranks of a plan: those that the user wants, or all hosts. */
static uint32_t ranks_on(const struct program *p, const struct train_fabric *f)
{
    const uint32_t hosts = train_estimate_hosts(&f->spec, &f->settings);
    const uint64_t wanted = p->run.settings.read.ranks;
    if (wanted > hosts)
        hx_die(HX_EXIT_CONFIG, f->spec.name, "has %" PRIu32 " hosts, and --ranks is %" PRIu64, hosts, wanted);
    return wanted ? (uint32_t)wanted : hosts;
}

static void count_layout(void *of, const struct training_layout *l)
{
    uint64_t *count = of;
    (void)l;
    ++*count;
}

/* Why no layout divides the model: a choice that no layout has, whatever else is chosen, or all choices together. */
static _Noreturn void refuse(const struct plan *plan)
{
    const char *path = plan->train->job.path;
    unsigned chosen = 0;
    for (unsigned i = 0; i < TRAINING_CHOICES; i++) {
        struct training_choices alone = {.values = {0}};
        uint64_t layouts = 0;
        if (plan->choices.values[i] == 0)
            continue;
        chosen++;
        alone.values[i] = plan->choices.values[i];
        memcpy(alone.value[i], plan->choices.value[i], sizeof alone.value[i]);
        training_layout_each(plan->model, plan->ranks, &alone, count_layout, &layouts);
        if (layouts == 0)
            hx_die(HX_EXIT_CONFIG, path,
                   "no layout over the %" PRIu32 " ranks of %s has the '%s' that --only says (%s)", plan->ranks,
                   plan->fabric->spec.name, training_choice_names[i], training_choice_rules[i]);
    }
    hx_die(HX_EXIT_CONFIG, path, "no layout divides it over the %" PRIu32 " ranks of %s%s", plan->ranks,
           plan->fabric->spec.name, chosen ? " (fewer --only)" : "");
}

static void plan_fabric(struct program *p, unsigned number)
{
    struct train *t = &p->train;
    struct train_fabric *f = &t->fabric[number];
    struct plan *plan = &p->plan[number];
    f->settings.read.ranks = 0;
    *plan = (struct plan){.train = t,
                          .model = t->job.model,
                          .fabric = f,
                          .choices = p->choices,
                          .ranks = ranks_on(p, f),
                          .most_estimates = p->estimates,
                          .workers = (uint32_t)hx_processor_cores()};
    if (train_may_place(f) && plan->ranks > 1) /* a single rank has no grid */
        f->settings.place = PLAN_FOLD;
    plan_find_candidates(plan);
    if (plan->counts.layouts == 0)
        refuse(plan);
    if (p->write || p->confirm)
        plan_check_writing(plan);
    plan_search(plan, f->spec.name);
}

static void write_best(const struct program *p)
{
    const struct plan *plan = &p->plan[0];
    if (!p->write || plan->results == 0)
        return;
    FILE *out = hx_output_open(p->write);
    plan_write_model(plan, &plan->result[0].candidate, out);
    hx_output_close(out, p->write);
}

static int find_all(struct program *p)
{
    int code = HX_EXIT_DONE;
    for (unsigned i = 0; i < p->train.fabrics; i++) {
        plan_fabric(p, i);
        const int own = p->plan[i].results ? plan_confirm(&p->plan[i], (unsigned)p->confirm) : HX_EXIT_FAILED;
        code = code ? code : own;
    }
    return child_interrupted() ? HX_EXIT_INTERRUPTED : code;
}

int main(int argc, char **argv)
{
    struct program *p = hx_allocate(1, sizeof *p);
    struct train *t = &p->train;
    char **fabrics = NULL;
    unsigned count = 0;
    t->lifetime = 5;
    p->top = 10;
    p->estimates = 200;
    train_options_init(&p->run);
    parse(p, argc, argv, &fabrics, &count);
    simulation_check();
    child_catch_signals();
    for (unsigned i = 0; i < p->only.count; i++)
        take_only(&p->choices, p->only.item[i]);
    t->prices = hx_prices_take(p->prices);
    read_model(p);
    train_open_fabrics(t, &p->run, (const char *const *)fabrics, count);
    p->plan = hx_allocate(count, sizeof *p->plan);
    const int code = find_all(p);
    write_best(p);
    if (p->common.json)
        hx_json_write(plan_json(p->plan, count, (unsigned)p->top), p->common.json);
    if (!hx_output_is_stdout(p->common.json))
        plan_print(p->plan, count, (unsigned)p->top);
    for (unsigned i = 0; i < count; i++)
        plan_free(&p->plan[i]);
    train_close_fabrics(t);
    train_job_free(&t->job);
    HX_FREE(p->plan, p);
    hx_output_close(stdout, "-");
    return code;
}
