/* hxmesh-reproduce - runs experiments of papers on the firmware: tables, JSON and plots beside the papers' values.
 *
 * One driver for all: it plans the runs of an experiment, does them within the time, lets the experiment show them, and
 * writes text, JSON and plots. An experiment is data in C (tools/reproduce/experiment.h): what runs, the paper's words,
 * the columns of its tables. The data are not in files, as half of the experiments have no run: their cells come from
 * functions (bills, bisections, searches of circuits, job mixes). A file format would be a second way beside these.
 * To compare runs without C, use `hxmesh sweep`. */
#include "base/error.h"
#include "base/json.h"
#include "base/options/options.h"
#include "spec/spec.h"
#include "tools/reproduce/experiment.h"
#include "tools/simulation.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct settings {
    bool quick, full;
    uint64_t workers;
    double fast_forward;
    uint64_t minutes; /* limit for an experiment; 0: none */
    uint64_t given;
    const char *folder;
    struct hx_common common;
    json_t *report; /* an array; NULL: no JSON report */
};
enum { GIVEN_MINUTES = 1 };

static enum reproduce_effort effort_of(const struct settings *s)
{
    return s->quick ? REPRODUCE_QUICK : s->full ? REPRODUCE_FULL : REPRODUCE_DEFAULT;
}

/* ---- running ---- */

/* Speed of this machine, from runs that took long enough to measure it. */
struct speed {
    double hops, seconds; /* of these runs: expected packet-hops, measured time */
    double spent;
};

static const double long_enough = 2;   /* seconds */
static const double first_guess = 3e6; /* packet-hops a second */

static bool fits(const struct speed *speed, double hops, double allowed)
{
    double rate = speed->seconds > 0 ? speed->hops / speed->seconds : first_guess;
    return allowed <= 0 || speed->spent + hops / rate <= allowed;
}

static void note(struct speed *speed, double hops, double seconds)
{
    speed->spent += seconds;
    if (seconds < long_enough)
        return;
    speed->hops += hops;
    speed->seconds += seconds;
}

/* Runs the plan. false: a run failed or a signal came; the rest is not run. */
static bool run_all(struct reproduce_plan *plan, const struct settings *s, const char *name, double allowed)
{
    struct speed speed = {0};
    for (unsigned i = 0; i < plan->count; i++) {
        struct reproduce_run *run = &plan->run[i];
        double hops = reproduce_estimate(run);
        if (child_interrupted())
            return false;
        if (!fits(&speed, hops, allowed)) {
            run->state = REPRODUCE_LEFT;
            continue;
        }
        if (!s->common.quiet)
            fprintf(stderr, "%s: run %u of %u: %s %s%s%s\n", name, i + 1, plan->count, run->fabric, run->traffic,
                    run->algorithm ? " by " : "", run->algorithm ? run->algorithm : "");
        if (!reproduce_do(run, (unsigned)s->workers, s->fast_forward, s->common.quiet))
            return false;
        note(&speed, hops, run->wall_seconds);
    }
    return true;
}

/* Time limit of an experiment in seconds; 0: none. */
static double seconds_of(const struct experiment *e, const struct settings *s)
{
    if (s->given & GIVEN_MINUTES)
        return 60.0 * (double)s->minutes;
    return effort_of(s) == REPRODUCE_DEFAULT ? 60.0 * e->minutes : 0;
}

static bool reproduce(const struct paper *paper, const struct experiment *e, struct settings *s)
{
    struct reproduce_plan *plan = hx_allocate(1, sizeof *plan);
    plan->effort = effort_of(s);
    experiment_plan(e, plan);
    bool good = run_all(plan, s, e->name, seconds_of(e, s));
    struct reproduce_figure figure = {.paper = paper->name, .name = e->name, .title = e->title, .plan = plan};
    experiment_stem(paper, e, figure.stem, sizeof figure.stem);
    figure_begin(&figure);
    e->show(&figure);
    if (e->notes)
        figure_notes(&figure, e->notes);
    if (s->report)
        (void)json_array_append_new(s->report, figure_json(&figure));
    if (!s->common.json || strcmp(s->common.json, "-") != 0) {
        figure_print(&figure, stdout);
        putchar('\n');
    }
    figure_write(&figure, s->folder);
    figure_free(&figure);
    for (unsigned i = 0; i < plan->count; i++)
        reproduce_run_free(&plan->run[i]);
    free(plan);
    return good;
}

/* ---- the command line ---- */

static void make_folders(const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        hx_die(HX_EXIT_USAGE, "--out", "the path is too long");
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(path, 0777); /* errors are reported for the last folder */
        *at = '/';
    }
    struct stat found;
    if (mkdir(path, 0777) != 0 && (errno != EEXIST || stat(path, &found) != 0 || !S_ISDIR(found.st_mode)))
        hx_die(HX_EXIT_ENVIRONMENT, folder, "cannot be made: %s", strerror(errno));
}

/* Dies if the word names no experiment. */
static void check_word(const char *word)
{
    unsigned index;
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_choice(word, experiment_words(), &index, why);
    if (wrong)
        hx_die(HX_EXIT_USAGE, "hxmesh reproduce", "%s", wrong);
}

/* Makes the output folder, and in it one for each paper that is run. */
static void make_folders_for(const char *word, const char *folder)
{
    make_folders(folder);
    for (const struct paper *paper = papers + 1; paper->name; paper++) {
        char path[PATH_MAX];
        bool runs = false;
        for (const struct experiment *e = paper->experiment; e->name; e++)
            runs |= experiment_is(paper, e, word);
        if (snprintf(path, sizeof path, "%s/%s", folder, paper->name) >= (int)sizeof path)
            hx_die(HX_EXIT_USAGE, "--out", "the path is too long");
        if (runs)
            make_folders(path);
    }
}

static const char *parse(struct settings *s, int argc, char **argv)
{
    const struct hx_option options[] = {
        {HX_FLAG("quick", &s->quick, "smaller fabrics and messages than the paper's, in a minute: a demonstration")},
        {HX_FLAG("full", &s->full, "the paper's sizes, as long as it takes")},
        {HX_NUMBER("minutes", &s->minutes, 0, 1000000,
                   "leave out runs with which an experiment would take longer; 0: none, as with --quick and --full"),
         .otherwise = "what is listed below", HX_GIVEN_IN(s, GIVEN_MINUTES)},
        {HX_NUMBER("workers", &s->workers, 0, HX_MOST_WORKERS, "worker processes of a run; 0: one a core"),
         .letter = 'w'},
        {HX_FORWARD(&s->fast_forward)},
        {HX_STRING("out", "DIR", &s->folder, "where tables, JSON and plots go")},
        HX_OPTIONS_END};
    char details[8192];
    (void)snprintf(
        details, sizeof details,
        "EXPERIMENT is one of these, a paper's name for all of its own, or all; the HammingMesh paper is also "
        "called sc22, and its experiments may be named without it. The time is what one may take on two cores:\n%s\n\n"
        "Every experiment writes DIR/NAME.txt, .json and .svg, of another paper than HammingMesh "
        "DIR/PAPER/NAME. Exit code: 0 done, 1 a run failed, 130 interrupted; what was run until then is "
        "written all the same.",
        experiment_list());
    const struct hx_command command = {
        HX_PROGRAM("hxmesh reproduce", "hxmesh-run hxmesh-sweep"),
        .examples = {{"hxmesh reproduce table2", "the clusters of the paper"},
                     {"hxmesh reproduce hammingmesh --quick", "all of a paper's, small"}},
        .failed = "a run failed",
        HX_OPERANDS("EXPERIMENT", 1, 1),
        .operand_words = experiment_words(),
        .summary = "Runs experiments of papers, HammingMesh (Hoefler et al., SC22), the diameter-two study (Kathareios "
                   "et al., SC15), EFLOPS (Dong et al., HPCA 2020), networks of dimensions (Won et al., 2021) and "
                   "TopoOpt (Wang et al., NSDI 2023), on the firmware under the virtual clock or by closed forms, and "
                   "puts what comes out beside what the paper says.",
        .details = details,
        .options = options};
    int first = hx_options_parse(&command, argc, argv, &s->common);
    if (s->quick && s->full)
        hx_die(HX_EXIT_USAGE, "--full", "--quick is the opposite");
    return argv[first];
}

int main(int argc, char **argv)
{
    struct settings s = {.folder = "build/reproduce"};
    const char *word = parse(&s, argc, argv);
    check_word(word);
    hx_output_check(s.common.json);
    make_folders_for(word, s.folder);
    simulation_check();
    child_catch_signals();
    s.report = s.common.json ? json_array() : NULL;
    bool good = true;
    for (const struct paper *paper = papers; paper->name; paper++)
        for (const struct experiment *e = paper->experiment; e->name && good; e++)
            good = !experiment_is(paper, e, word) || reproduce(paper, e, &s);
    if (s.report)
        hx_json_write(s.report, s.common.json);
    hx_output_close(stdout, "-");
    if (child_interrupted())
        return HX_EXIT_INTERRUPTED;
    return good ? HX_EXIT_DONE : HX_EXIT_FAILED;
}
