/* hxmesh-sweep - runs `hxmesh run` for every combination of lists and ranges of its options. Shows the figures side by
 * side: table, CSV, JSON, plot. */
#include "base/arguments.h"
#include "base/error.h"
#include "base/old_names.h"
#include "base/options/options.h"
#include "base/output.h"
#include "base/processor.h"
#include "base/progress.h"
#include "spec/spec.h"
#include "tools/draw/plot.h"
#include "tools/simulation.h"
#include "tools/sweep/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 500, SWEEP_SEEDS = 100 };
#define DEFAULT_Y    "share_of_injection"
#define COLLECTIVE_Y "collective.bus_gbps"

/* Options of a run that can be swept, and variables to parse a value into. */
struct run_options {
    struct hx_settings settings;
    struct hx_overrides overrides;
    struct hx_timing timing;
    struct hx_fault_settings faults;
};
/* clang-format off */
#define RUN_OPTIONS(r) \
    HX_SETTINGS_OPTIONS(&(r)->settings), HX_OVERRIDE_OPTIONS(&(r)->overrides), HX_CREDIT_OPTION(&(r)->overrides), \
    HX_VIRTUAL_OPTIONS(&(r)->settings), HX_TIMING_OPTIONS(&(r)->timing), \
    HX_FAILURES_OPTION(&(r)->faults), HX_OPTIONS_END
/* clang-format on */

struct program {
    struct run_options looked_at;
    const struct hx_option *option; /* options of a run; ends with HX_OPTIONS_END */
    unsigned options;
    struct hx_option_list text[HX_MOST_OPTIONS]; /* by option: the texts given */
    struct hx_option_list list;                  /* --target */
    const char *verify;                          /* "--verify", "--no-verify"; NULL: the default */
    const char *csv, *plot, *columns;
    bool saturation;
    uint64_t seeds, jobs;
    struct hx_common common;
    unsigned run_of[CHILD_MOST]; /* by child: its run */
    struct sweep sweep;
};

/* ---- the command line ---- */

/* The option of a run, but storing its text: lists and ranges are parsed later. */
static struct hx_option as_text(struct program *p, unsigned i)
{
    const struct hx_option *o = &p->option[i];
    struct hx_option text = *o;
    if (o->kind == HX_OPTION_FLAG)
        return text;
    text.shown = o;
    text.given = NULL;
    text.kind = HX_OPTION_LIST;
    text.to.list = o->kind == HX_OPTION_COORDINATES ? &p->list : &p->text[i];
    return text;
}

static struct sweep_axis *new_axis(struct sweep *s, const struct hx_option *option)
{
    if (s->axes == SWEEP_AXES)
        hx_die(HX_EXIT_USAGE, "hxmesh sweep", "more than %d options", SWEEP_AXES);
    s->axis[s->axes] = hx_allocate(1, sizeof **s->axis);
    s->axis[s->axes]->option = option;
    return s->axis[s->axes++];
}

/* The axis of a parameter, which is made if there is none yet; *values: those in NAME=VALUES. NULL: it is not of this
 * form. */
static struct sweep_axis *axis_of_set(struct sweep *s, const char *text, const char **values)
{
    struct sweep_axis named = {.count = 0};
    *values = sweep_set_values(&named, text);
    if (!*values)
        return NULL;
    for (unsigned i = 0; i < s->axes; i++)
        if (strcmp(s->axis[i]->set, named.set) == 0)
            return s->axis[i];
    struct sweep_axis *made = new_axis(s, NULL);
    (void)sweep_set_values(made, text);
    return made;
}

/* An option that is given again has more values. */
static void add_values(struct sweep *s, const struct hx_option *o, const char *text, bool first)
{
    char why[HX_WHY_TEXT], where[64];
    const char *wrong = "is NAME=VALUE (write for example --set batch=8 or --set batch=8,16)";
    (void)snprintf(where, sizeof where, "--%s", o->name);
    if (o->kind == HX_OPTION_LIST) {
        const char *values;
        struct sweep_axis *axis = axis_of_set(s, text, &values);
        wrong = axis ? sweep_set_add(axis, o, values, why) : wrong;
    } else
        wrong = sweep_axis_add(first ? new_axis(s, o) : s->axis[s->axes - 1], text, why);
    if (wrong)
        hx_die(HX_EXIT_USAGE, where, "%s", wrong);
}

static void make_axes(struct program *p, char **specs)
{
    struct sweep_axis *fabrics = new_axis(&p->sweep, NULL);
    for (char **spec = specs; *spec; spec++) {
        char why[HX_WHY_TEXT];
        const char *wrong = sweep_axis_add(fabrics, *spec, why);
        if (wrong)
            hx_die(HX_EXIT_USAGE, *spec, "%s", wrong);
    }
    for (unsigned i = 0; i < p->options; i++)
        for (unsigned n = 0; n < p->text[i].count; n++)
            add_values(&p->sweep, &p->option[i], p->text[i].item[n], n == 0);
    /* Check each fabric once here, instead of in every run. */
    const struct sweep_axis *planes = sweep_axis_of(&p->sweep, "planes");
    for (; *specs; specs++) {
        struct hx_spec spec;
        hx_spec_load(*specs, NULL, &spec);
        sweep_injection_add(&p->sweep, &spec, planes ? (uint64_t)planes->value[0].number : 0, &p->looked_at.timing);
        hx_spec_free(&spec);
    }
    sweep_injection_settle(&p->sweep);
}

/* The last axis of several seeds: their runs are neighbours. */
static void add_seeds(struct program *p)
{
    struct sweep *s = &p->sweep;
    const struct hx_option *seed = p->option;
    uint64_t first = hx_default_settings.seed;
    if (p->seeds < 2)
        return;
    while (strcmp(seed->name, "seed") != 0)
        seed++;
    for (unsigned i = 0; i < s->axes; i++) {
        if (s->axis[i]->option != seed)
            continue;
        if (s->axis[i]->count > 1)
            hx_die(HX_EXIT_USAGE, "--seed", "has several values, and --seeds counts them: which of both?");
        first = (uint64_t)s->axis[i]->value[0].number;
        free(s->axis[i]);
        s->axes--;
        for (unsigned next = i; next < s->axes; next++)
            s->axis[next] = s->axis[next + 1];
    }
    char range[SWEEP_VALUE];
    char why[HX_WHY_TEXT];
    (void)snprintf(range, sizeof range, "%" PRIu64 "..%" PRIu64 "/%" PRIu64, first, first + p->seeds - 1, p->seeds);
    const char *wrong = sweep_axis_add(new_axis(s, seed), range, why);
    if (wrong)
        hx_die(HX_EXIT_USAGE, "--seeds", "%s", wrong);
}

static void check(const struct program *p)
{
    const struct sweep *s = &p->sweep;
    const struct sweep_axis *clock = sweep_axis_of(s, "clock");
    bool all_virtual = clock != NULL;
    for (unsigned i = 0; clock && i < clock->count; i++)
        all_virtual = all_virtual && strcmp(clock->value[i].text, hx_clock_names[HX_CLOCK_VIRTUAL]) == 0;
    if (p->jobs > 1 && !all_virtual)
        hx_die(HX_EXIT_USAGE, "--jobs", "live runs side by side take each other's time (use --clock virtual)");
    if (p->saturation && sweep_axis_of(s, "rate"))
        hx_die(HX_EXIT_USAGE, "--rate", "is what --saturation looks for: which of both?");
    if (p->saturation && !sweep_axis_of(s, "duration"))
        hx_die(HX_EXIT_USAGE, "--saturation",
               "needs a --duration (and a --warm-up, so that what it takes to fill does not count)");
    sweep_figure_check("--y", s->y);
    for (unsigned i = 0; i < s->columns.count; i++)
        sweep_figure_check("--columns", s->columns.word[i]);
    if (s->x && !sweep_x(s))
        hx_die(HX_EXIT_USAGE, "--x", "'%s' is no number that is varied", s->x);
    if (p->plot && !sweep_x(s))
        hx_die(HX_EXIT_USAGE, "--plot", "no number is varied (write for example --message 1KiB..1MiB)");
    const struct hx_output outputs[] = {{"--json", p->common.json}, {"--csv", p->csv}, {"--plot", p->plot}};
    hx_outputs_apart(outputs, sizeof outputs / sizeof *outputs);
    plot_check_name(p->plot);
    if (p->plot && strstr(s->y, "share") && !all_virtual)
        hx_warn("--plot",
                "%s of the wall clock says how fast this machine is, and not the fabric (--clock virtual does)", s->y);
    hx_output_check(p->csv);
    hx_output_check(p->common.json);
    hx_output_check(p->plot);
}

static const char *default_y(const struct program *p)
{
    if (p->saturation)
        return "saturation";
    return sweep_algorithms(&p->sweep) < p->sweep.axes ? COLLECTIVE_Y : DEFAULT_Y;
}

static void rename_column(char word[COLUMNS_WORD])
{
    const char *name = hx_old_name_read("--columns", word);
    if (name != word)
        (void)snprintf(word, COLUMNS_WORD, "%s", name);
}

static void parse(struct program *p, int argc, char **argv)
{
    struct hx_option table[HX_MOST_OPTIONS];
    unsigned n = 0;
    const struct hx_option own[] = {
        HX_OPTIONS_HEADING("Sweep"),
        {HX_STRING("csv", "FILE", &p->csv,
                   "write a line for each run, its parameters and all its figures, to FILE; - is stdout")},
        {HX_STRING("plot", "FILE", &p->plot,
                   "draw --y over the number that is varied, a line for each combination of the rest (SVG)")},
        {HX_STRING("y", "FIGURE", &p->sweep.y,
                   "the figure to draw, as the JSON report calls it: latency_ns.p99, host.wall_seconds"),
         .otherwise = DEFAULT_Y "; of several algorithms " COLLECTIVE_Y},
        {HX_STRING("x", "OPTION", &p->sweep.x,
                   "the number to draw it over, or another figure: latency over throughput"),
         .otherwise = "the one with most values"},
        {HX_FLAG("relative", &p->sweep.relative, "draw it as a share of the first point of its line")},
        {HX_STRING("columns", "FIGURE,...", &p->columns, "the figures of the table, as the JSON report calls them"),
         .otherwise = "as many of the usual ones as fit 80 letters"},
        INJECTION_OPTIONS(&p->sweep.wish),
        {HX_FLAG("saturation", &p->saturation,
                 "look for the highest --rate, to 1 %, that is stable and of which 95 % arrive, by bisection; the row "
                 "is that of its run, saturation what arrives")},
        {HX_NUMBER("seeds", &p->seeds, 1, SWEEP_SEEDS,
                   "run each combination with so many seeds, from --seed on; figures are means, with half of their 95 "
                   "% interval")},
        {HX_NUMBER("jobs", &p->jobs, 1, CHILD_MOST,
                   "runs side by side under the virtual clock, each with one worker if --workers says nothing else"),
         .letter = 'j'},
        HX_OPTIONS_HEADING("Each run: a value, a list a,b,c, or a range low..high or low..high/N")};
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
        table[n++] = own[i];
    unsigned first_of_run = n;
    for (unsigned i = 0; i < p->options; i++)
        table[n++] = as_text(p, i);
    table[n] = (struct hx_option)HX_OPTIONS_END;
    const struct hx_command command = {
        HX_PROGRAM("hxmesh sweep", "hxmesh-run hxmesh-reproduce"),
        .examples =
            {{"hxmesh sweep \"4x4 Hx2Mesh\" --clock virtual -m 1KiB..1MiB --plot m.svg",
              "message sizes, each twice the one before"},
             {"hxmesh sweep \"slim-fly q=5\" --clock virtual --timing sc15 -t uniform --arrivals poisson -m 256 --rate "
              "0.05..1 -d 60us --warm-up 20us --y latency_ns.mean --x share_of_injection --plot l.svg",
              "latency over throughput, load by load"},
             {"hxmesh sweep \"8x8 Hx2Mesh\" --clock virtual -t all-to-all,all-reduce -m 1MiB --failures 0..32 --seeds "
              "5 "
              "--y gbps_per_host --relative --plot f.svg",
              "what dead links leave of the bandwidth"},
             {"hxmesh sweep \"4x4 Hx2Mesh\" \"2x2 Hx4Mesh\" --clock virtual -t all-to-all,uniform --csv s.csv",
              "fabrics and patterns"},
             {"hxmesh sweep \"4x4 Hx2Mesh\" --clock virtual -t all-reduce --algorithm all -m 1KiB..1GiB --jobs 2",
              "algorithms side by side, size by size"}},
        .failed = "a run failed or was refused; the others are kept",
        HX_OPERANDS("SPEC|FILE ...", 1, SWEEP_FABRICS),
        .summary = "Runs `hxmesh run` for every combination of fabrics and options, and puts the figures side by side.",
        .details =
            "A range doubles from low on and ends with high (1KiB..4MiB), of shares it goes in steps of 0.05 "
            "(0.05..1), of a count that begins with 0 it is 0, 1, 2, 4 and so on; with /N it "
            "is N values in even steps (0.1..0.9/9). --algorithm all is every algorithm that a run accepts for its "
            "fabric "
            "and size; a note says which are left out. "
            "Collectives by several algorithms have a line for each size, with time and bus bandwidth by each "
            "algorithm, "
            "and a * at the least time; with --columns they have a line for each run. --json has a list of the runs, "
            "each with its parameters and the "
            "flat figures of its report. "
            "What is interrupted keeps the runs that had ended. Exit code: 0 done, 1 a run failed or was refused, 130 "
            "interrupted.",
        .options = table};
    int first = hx_options_parse(&command, argc, argv, &p->common);
    hx_options_need(&command, &p->common, "plot", (const char *const[]){"relative", NULL});
    hx_options_need(&command, &p->common, "equal-injection", (const char *const[]){"injection", NULL});
    p->sweep.command = p->common.line;
    p->sweep.saturation = p->saturation;
    p->sweep.y = hx_old_name_read("--y", p->sweep.y);
    p->sweep.x = hx_old_name_read("--x", p->sweep.x);
    if (p->columns)
        columns_read(&p->sweep.columns, p->columns);
    for (unsigned i = 0; i < p->sweep.columns.count; i++)
        rename_column(p->sweep.columns.word[i]);
    p->sweep.y_given = p->sweep.y != NULL;
    if (p->sweep.x && sweep_is_figure(p->sweep.x)) {
        p->sweep.over = p->sweep.x;
        p->sweep.x = NULL;
    }
    for (unsigned i = 0; i < p->options; i++)
        if (p->option[i].kind == HX_OPTION_FLAG && p->common.used[first_of_run + i])
            p->verify = *p->option[i].to.flag ? "--verify" : "--no-verify";
    make_axes(p, argv + first);
    add_seeds(p);
    if (sweep_count(&p->sweep) > SWEEP_RUNS)
        hx_die(HX_EXIT_USAGE, "hxmesh sweep", "more than %d runs", SWEEP_RUNS);
    if (!p->sweep.y)
        p->sweep.y = default_y(p);
    check(p);
}

/* ---- running ---- */

static void start(struct program *p, struct child *c, unsigned run)
{
    const struct sweep *s = &p->sweep;
    struct hx_arguments a = simulation_arguments(sweep_value(s, run, 0)->text);
    for (unsigned i = 1; i < s->axes; i++) {
        if (!sweep_applies(s, run, i))
            continue;
        const struct sweep_axis *axis = s->axis[i];
        hx_arguments_add(&a, "--%s", axis->option->name);
        if (axis->set[0])
            hx_arguments_add(&a, "%s=%s", axis->set + strlen("set."), sweep_value(s, run, i)->text);
        else
            hx_arguments_add(&a, "%s", sweep_value(s, run, i)->text);
    }
    for (unsigned i = 0; i < p->list.count; i++) {
        hx_arguments_add(&a, "--target");
        hx_arguments_add(&a, "%s", p->list.item[i]);
    }
    if (p->saturation)
        hx_arguments_add(&a, "--rate=%.9g", s->row[run].search.rate);
    if (s->wish.equal)
        injected_add(&s->injected[sweep_fabric(s, run)], &a);
    if (p->jobs > 1 && !sweep_axis_of(s, "workers"))
        hx_arguments_add(&a, "--workers=1");
    if (p->verify)
        hx_arguments_add(&a, "%s", p->verify);
    hx_arguments_add(&a, "--no-links");
    simulation_ask(&a, p->common.quiet);
    simulation_start(c, &a);
}

/* Writes the run's varied values, for progress lines and errors. Returns text. */
static const char *name_run(const struct sweep *s, unsigned run, char *text, size_t bytes)
{
    text[0] = '\0';
    for (unsigned i = 0; i < s->axes; i++) {
        size_t used = strlen(text);
        if ((s->axis[i]->count > 1 && sweep_applies(s, run, i)) || i == 0)
            (void)snprintf(text + used, bytes - used, "%s%s%s%s", used ? " " : "", i ? sweep_axis_name(s->axis[i]) : "",
                           i ? " " : "", sweep_value(s, run, i)->text);
    }
    return text;
}

/* Keeps the figures of the highest rate that held, or of the lowest if none did. Saturation is the share that arrived:
 * a held rate may exceed a link's rate by the tolerance. Returns whether to try another rate. */
static bool note_rate(struct sweep_row *row, json_t *figures)
{
    double offered = json_number_value(json_object_get(figures, "share_offered"));
    double came = json_number_value(json_object_get(figures, "share_of_injection"));
    bool unstable = json_is_false(json_object_get(figures, "open_loop.stable"));
    bool held = offered > 0 && came >= SWEEP_HELD * offered && !unstable;
    double rate = row->search.rate;
    bool more = sweep_search_take(&row->search, held);
    if (held || row->search.holds <= 0) {
        json_decref(row->figures);
        row->figures = json_incref(figures);
        (void)json_object_set_new(figures, "rate", json_real(rate));
        (void)json_object_set_new(figures, "saturation", json_real(held ? rate * fmin(came / offered, 1) : 0));
    }
    return more;
}

/* Asks for what every run has: the usual figures, and those of the table or search of this sweep. */
static void need_figures(const struct sweep *s, const struct report *r)
{
    static const char *const usual[] = {"complete",       "seconds",        "gbps_per_host", "injection_gbps",
                                        "planes",         "host_links",     "link_gbps",     "share_of_injection",
                                        "share_of_bound", "alltoall_bound", "packet_hops",   "latency_ns.mean",
                                        "latency_ns.p50", "latency_ns.p99"};
    static const char *const of_collective[] = {"collective.seconds", "collective.bus_gbps"};
    for (unsigned i = 0; i < sizeof usual / sizeof *usual; i++)
        report_need(r, usual[i]);
    for (unsigned i = 0; sweep_algorithms(s) < s->axes && i < sizeof of_collective / sizeof *of_collective; i++)
        report_need(r, of_collective[i]);
    if (s->saturation)
        report_need(r, "share_offered");
}

/* Takes the figures of a run, unless its report is incomplete. Returns whether to repeat the run at another rate. */
static bool take_figures(struct program *p, const struct simulation *m, unsigned run)
{
    struct sweep_row *row = &p->sweep.row[run];
    const bool incomplete = m->exit_code == HX_EXIT_DONE && !simulation_is_good(m);
    row->exit_code = incomplete || m->exit_code > HX_EXIT_INTERRUPTED ? HX_EXIT_FAILED : m->exit_code;
    json_t *figures = m->json && !incomplete ? sweep_flatten(&p->sweep, run, m->json) : NULL;
    if (p->saturation && figures && row->exit_code == HX_EXIT_DONE) {
        const bool again = note_rate(row, figures);
        json_decref(figures);
        return again;
    }
    json_decref(row->figures);
    row->figures = figures;
    return false;
}

/* Returns whether to repeat the run at another rate. */
static bool take_result(struct program *p, struct child_result *r, unsigned run)
{
    char name[256];
    struct simulation m = simulation_take(name_run(&p->sweep, run, name, sizeof name), r);
    bool again = false;
    if (m.report.json)
        need_figures(&p->sweep, &m.report);
    if (!child_interrupted() || m.exit_code == HX_EXIT_DONE) {
        again = take_figures(p, &m, run);
        if (m.exit_code != HX_EXIT_CONFIG || !sweep_leave_out(&p->sweep, run, m.error))
            simulation_complain(&m);
    }
    simulation_free(&m);
    return again && !child_interrupted();
}

/* The next run to make, from `run` on; s->runs: none. */
static unsigned next_run(const struct sweep *s, unsigned run)
{
    while (run < s->runs && s->row[run].again)
        run++;
    return run;
}

static void show_progress(struct program *p, struct hx_progress *bar, const struct child *child, unsigned ended,
                          unsigned of)
{
    const struct sweep *s = &p->sweep;
    char name[128];
    char note[192];
    unsigned latest = 0;
    double done = ended;
    for (unsigned i = 0; i < p->jobs; i++) {
        done += child[i].pid && !p->saturation ? child[i].progress : 0;
        latest = child[i].pid && p->run_of[i] > latest ? p->run_of[i] : latest;
    }
    (void)snprintf(note, sizeof note, ", %u of %u runs: %s", ended, of, name_run(s, latest, name, sizeof name));
    hx_progress_show(bar, done / of, note);
}

static void run_all(struct program *p)
{
    struct sweep *s = &p->sweep;
    struct child child[CHILD_MOST] = {{0}};
    unsigned begun = 0;
    unsigned ended = 0;
    unsigned of = 0;
    unsigned next = next_run(s, 0);
    for (unsigned run = 0; run < s->runs; run++)
        of += !s->row[run].again;
    struct hx_progress bar = hx_progress_start("sweep", p->common.quiet);
    while (ended < begun || (next < s->runs && !child_interrupted())) {
        for (unsigned i = 0; i < p->jobs && next < s->runs && !child_interrupted(); i++) {
            if (child[i].pid)
                continue;
            begun++;
            p->run_of[i] = next;
            s->row[next].search = sweep_search_start();
            start(p, &child[i], next);
            next = next_run(s, next + 1);
        }
        unsigned i = child_wait(child, (unsigned)p->jobs, TICK_MS);
        show_progress(p, &bar, child, ended, of);
        if (i == p->jobs)
            continue;
        if (child[i].result.exit_code != HX_EXIT_DONE)
            hx_progress_end(&bar);
        if (take_result(p, &child[i].result, p->run_of[i]))
            start(p, &child[i], p->run_of[i]);
        else
            ended++;
    }
    hx_progress_end(&bar);
}

static void report(const struct program *p)
{
    bool data = (p->common.json && strcmp(p->common.json, "-") == 0) || (p->csv && strcmp(p->csv, "-") == 0);
    if (!data)
        sweep_print(&p->sweep, stdout);
    else
        sweep_say_left_out(&p->sweep, NULL);
    if (p->csv)
        sweep_write_csv(&p->sweep, p->csv);
    if (p->common.json)
        sweep_write_json(&p->sweep, p->common.json);
    if (p->plot)
        sweep_write_plot(&p->sweep, p->plot);
}

/* The exit code that all runs have in common, but those that are left out; else 1. */
static int exit_code_of(const struct sweep *s)
{
    const struct sweep_row *first = NULL;
    for (unsigned i = 0; i < s->runs; i++) {
        const struct sweep_row *row = &s->row[i];
        if (row->again || row->left_out)
            continue;
        first = first ? first : row;
        if (row->exit_code != first->exit_code)
            return HX_EXIT_FAILED;
    }
    return first ? first->exit_code : HX_EXIT_DONE;
}

static void complain_of(const struct sweep *s, unsigned run, const char *why)
{
    char name[256];
    hx_complain(name_run(s, run, name, sizeof name), "%s", why);
}

static void clean_up(struct program *p)
{
    struct sweep *s = &p->sweep;
    for (unsigned i = 0; i < s->runs; i++) {
        json_decref(s->row[i].figures);
        free(s->row[i].left_out);
    }
    for (unsigned i = 0; i < s->axes; i++)
        free(s->axis[i]);
    free(s->row);
}

int main(int argc, char **argv)
{
    struct program *p = hx_allocate(1, sizeof *p);
    p->looked_at = (struct run_options){hx_default_settings, hx_default_sizes, HX_DEFAULT_TIMING, HX_FAULT_DEFAULTS};
    const struct hx_option options[] = {RUN_OPTIONS(&p->looked_at)};
    p->option = options;
    p->options = sizeof options / sizeof *options - 1;
    p->seeds = p->jobs = 1;
    parse(p, argc, argv);
    struct sweep *s = &p->sweep;
    simulation_check();
    child_catch_signals();
    s->origin = origin_now();
    s->runs = sweep_count(s);
    s->row = hx_allocate(s->runs, sizeof *s->row);
    sweep_find_applying(s);
    for (unsigned i = 0; i < s->runs; i++)
        s->row[i] = (struct sweep_row){.exit_code = -1, .again = sweep_is_again(s, i)};
    run_all(p);
    sweep_settle_left_out(s, complain_of);
    if (p->seeds > 1)
        sweep_combine_seeds(s);
    report(p);
    int code = child_interrupted() ? HX_EXIT_INTERRUPTED : exit_code_of(s);
    clean_up(p);
    free(p);
    return code;
}
