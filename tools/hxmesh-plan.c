/* hxmesh-plan - the best layout of a model on a fabric or several: tensor, context, data, expert and pipeline
 * parallelism, micro-batches, ZeRO and recomputation, of all that divide the model and fit. */
#include "base/error.h"
#include "base/json.h"
#include "base/output.h"
#include "base/processor.h"
#include "tools/child.h"
#include "tools/plan/plan.h"
#include "tools/simulation.h"
#include "tools/train/fabrics.h"

#include <stdlib.h>
#include <string.h>

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
                 "only layouts with these: tensor, context, data, pipeline, expert, chunks, batch (of a micro-batch), "
                 "zero, "
                 "recompute (false, selective, true); may be given for several keys"),
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
    if (p->run.settings.jitter > 0 || p->run.settings.straggler.count)
        hx_die(HX_EXIT_USAGE, p->run.settings.jitter > 0 ? "--jitter" : "--straggler",
               "is of runs: a plan takes all ranks of a stage as equal");
    train_refuse_beside(t, &p->run);
    hx_output_check(p->common.json);
    hx_output_check(p->write);
}

/* ---- --only ---- */

static void take_value(struct training_choices *c, unsigned choice, const char *item, const char *value)
{
    static const char *const recompute[] = {"false", "selective", "true"};
    char *end = NULL;
    unsigned long number = strtoul(value, &end, 10);
    if (choice == TRAINING_CHOOSE_RECOMPUTE) {
        for (number = 0; number < 3 && strcmp(recompute[number], value) != 0;)
            number++;
        if (number == 3)
            hx_die(HX_EXIT_USAGE, "--only", "'%s': recompute is false, selective or true, not '%s'", item, value);
    } else if (end == value || *end || number > UINT32_MAX || (number == 0 && choice != TRAINING_CHOOSE_ZERO)) {
        hx_die(HX_EXIT_USAGE, "--only", "'%s': '%s' is no whole number from %d on (each key has an --only)", item,
               value, choice == TRAINING_CHOOSE_ZERO ? 0 : 1);
    }
    if (choice == TRAINING_CHOOSE_ZERO && number > 3)
        hx_die(HX_EXIT_USAGE, "--only", "'%s': stages of ZeRO are 0 to 3", item);
    if (c->values[choice] == TRAINING_MOST_CHOSEN)
        hx_die(HX_EXIT_USAGE, "--only", "'%s' has more than %d values", item, TRAINING_MOST_CHOSEN);
    c->value[choice][c->values[choice]++] = (uint32_t)number;
}

/* Returns the choice with the name that `item` begins with; TRAINING_CHOICES: none. */
static unsigned choice_of(const char *item, size_t length)
{
    unsigned choice = 0;
    while (choice < TRAINING_CHOICES && (strlen(training_choice_names[choice]) != length ||
                                         strncmp(training_choice_names[choice], item, length) != 0))
        choice++;
    return choice;
}

/* KEY=VALUE,VALUE */
static void take_only(struct training_choices *c, const char *item)
{
    const size_t key = strcspn(item, "=");
    const unsigned choice = choice_of(item, key);
    if (item[key] != '=')
        hx_die(HX_EXIT_USAGE, "--only", "'%s' is no KEY=VALUE,...: tensor=1,2,4", item);
    if (choice == TRAINING_CHOICES)
        hx_die(HX_EXIT_USAGE, "--only",
               "'%.*s' is none of tensor, context, data, pipeline, expert, chunks, batch, zero, recompute", (int)key,
               item);
    if (!item[key + 1])
        hx_die(HX_EXIT_USAGE, "--only", "'%s' has no value: tensor=1,2,4", item);
    for (const char *value = item + key + 1; *value;) {
        char text[32] = "";
        const size_t length = strcspn(value, ",");
        (void)snprintf(text, sizeof text, "%.*s", (int)length, value);
        take_value(c, choice, item, text);
        value += length + (value[length] == ',');
    }
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
    const uint32_t hosts = hx_spec_fabric(&f->spec)->hosts;
    const uint64_t wanted = p->run.settings.read.ranks;
    if (wanted > hosts)
        hx_die(HX_EXIT_CONFIG, f->spec.name, "has %u hosts, and --ranks is %llu", hosts, (unsigned long long)wanted);
    return wanted ? (uint32_t)wanted : hosts;
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
    if (!(f->settings.given & HX_GIVEN_PLACE_OF_RANKS) && hx_spec_fabric(&f->spec)->topology->near_on_grid)
        f->settings.place = "fold";
    plan_find_candidates(plan);
    if (plan->counts.layouts == 0)
        hx_die(HX_EXIT_CONFIG, t->job.path, "no layout divides it over the %u ranks of %s%s", plan->ranks, f->spec.name,
               p->only.count ? " (fewer --only)" : "");
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
