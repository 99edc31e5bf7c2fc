/* interference.c - runs the same job mixes on several fabrics of 256 hosts, each job alone against all together. It
 * makes its own runs, as these have jobs. */
#include "tools/interference/interference.h"
#include "allocation/placement.h"
#include "allocation/sizes.h"
#include "base/rng.h"
#include "spec/jobs.h"
#include "tools/child.h"
#include "tools/reproduce/experiment.h"

#include <math.h>
#include <stdlib.h>

enum {
    SIDE = 8,
    BOARDS = SIDE * SIDE,
    BOARD = 4 /* hosts */,
    MOST_JOBS = 12,
    TEXT = 64,
    MIXES = 10,
    QUICK_MIXES = 1,
    FABRICS = 4,
    HOWS = 3
};

static const struct fabric {
    const char *spec, *name;
    bool boards; /* has boards: a job can be placed in one manner only */
} fabrics[FABRICS] = {{"8x8 Hx2Mesh", "8x8 Hx2Mesh", true},
                      {"fat-tree hosts=256 radix=32 taper=2", "fat tree, taper 2", false},
                      {"dragonfly a=8 p=4 h=4 groups=8", "Dragonfly", false},
                      {"torus 8x8x4", "torus 8x8x4", false}};

/* A random mix: job sizes in boards, the largest first. */
struct drawn {
    unsigned jobs, boards[MOST_JOBS];
};

static int larger_first(const void *a, const void *b)
{
    unsigned one = *(const unsigned *)a, other = *(const unsigned *)b;
    return (one < other) - (one > other);
}

/* Drops jobs that find no room on the HammingMesh after those before them, so that all fabrics have the same mix. */
static void keep_placed(struct drawn *d)
{
    const struct hx_placement_rules rules = {
        .transpose = true, .aspect = HX_DEFAULT_ASPECT, .search = HX_DEFAULT_SEARCH};
    struct hx_boards boards;
    unsigned kept = 0;
    hx_boards_make(&boards, SIDE, SIDE);
    for (unsigned i = 0; i < d->jobs; i++) {
        struct hx_placement p;
        if (!hx_place(&p, &boards, hx_shape_of(d->boards[i]), &rules))
            continue;
        hx_placement_take(&p, &boards);
        hx_placement_free(&p);
        d->boards[kept++] = d->boards[i];
    }
    d->jobs = kept;
    hx_boards_free(&boards);
}

/* Draws jobs of two or more boards: jobs of one board have no traffic that can interfere. */
static void draw_mix(struct drawn *d, uint64_t seed)
{
    struct hx_job_sizes sizes;
    uint64_t state = split_mix(seed);
    unsigned left = BOARDS;
    *d = (struct drawn){.jobs = 0};
    hx_job_sizes_alibaba(&sizes);
    while (left > 1 && d->jobs < MOST_JOBS) {
        unsigned boards = hx_job_size(&sizes, split_mix_next(&state));
        if (boards < 2 || boards > BOARDS / 2)
            continue;
        d->boards[d->jobs++] = boards < left ? boards : left;
        left -= d->boards[d->jobs - 1];
    }
    hx_job_sizes_free(&sizes);
    qsort(d->boards, d->jobs, sizeof *d->boards, larger_first);
    keep_placed(d);
}

static void describe_job(char text[TEXT], const struct fabric *f, unsigned boards, unsigned number, const char *place)
{
    static const char *const traffic[] = {"all-reduce 1MiB", "all-to-all 32KiB", "permutation 512KiB"};
    if (f->boards)
        (void)snprintf(text, TEXT, "%u %s", boards, traffic[number % 3]);
    else
        (void)snprintf(text, TEXT, "%u %s place=%s", boards * BOARD, traffic[number % 3], place);
}

/* Statistics over all mixes on a fabric. */
struct sum {
    unsigned jobs;
    double slowdown, worst, packets, shared, foreign;
};

/* Measures one mix. false: interrupted. Exits if a run fails. */
static bool add_mix(struct sum *sum, const struct fabric *f, unsigned place, uint64_t seed)
{
    const struct hx_arguments nothing = {0};
    char text[MOST_JOBS][TEXT];
    struct drawn d;
    struct hx_spec spec;
    struct hx_problem problem;
    struct interference in;
    if (child_interrupted())
        return false;
    draw_mix(&d, seed);
    hx_spec_load(f->spec, NULL, &spec);
    for (unsigned i = 0; i < d.jobs; i++) {
        describe_job(text[i], f, d.boards[i], i, hx_hosts_rule_names[place]);
        spec.said.item[spec.said.count++] = text[i];
    }
    if (!hx_jobs_take_said(&spec, &problem))
        hx_die_of(&problem);
    bool good = interference_measure(&in, &spec, &nothing, true) == HX_EXIT_DONE;
    for (unsigned i = 0; good && i < in.jobs; i++) {
        const struct interference_job *j = &in.job[i];
        sum->jobs++;
        sum->slowdown += interference_slowdown(j);
        sum->worst = fmax(sum->worst, interference_slowdown(j));
        sum->packets += (double)j->packets;
        sum->shared += (double)j->shared_packets;
        sum->foreign += (double)j->foreign_packets;
    }
    if (!good && !child_interrupted())
        exit(HX_EXIT_FAILED); /* interference_measure() has reported the error */
    if (good)
        interference_free(&in);
    hx_spec_free(&spec);
    return good;
}

static const char columns[] =
    "fabric||text; |fabric|text; placed|place|text; jobs|jobs|count; slowdown: mean|slowdown_mean|3; "
    "worst|slowdown_max|3; over shared links (%)|packets_over_shared_links|1 x 100; "
    "over others' hosts (%)|foreign_packets|1 x 100";

/* All mixes on a fabric, placed in one manner. */
static void show_mixes(struct reproduce_figure *figure, struct text_table *t, unsigned mixes, unsigned fabric,
                       unsigned place)
{
    const struct fabric *f = &fabrics[fabric];
    struct plot *p = figure->plot[0];
    struct sum s = {0};
    const double at = fabric + (f->boards ? 0 : (place - 1.0) * 0.24);
    bool good = true;
    for (unsigned mix = 0; good && mix < mixes; mix++)
        good = add_mix(&s, f, place, mix + 1);
    if (!good || !s.jobs)
        return;
    const double packets = s.packets > 0 ? s.packets : 1, mean = s.slowdown / s.jobs;
    figure_row(figure, t, columns, TEXTS(f->name, f->spec, f->boards ? "boards" : hx_hosts_rule_names[place]),
               NUMBERS(s.jobs, mean, s.worst, s.shared / packets, s.foreign / packets));
    plot_point(&p->series[place], at, fmax(0, 100 * (mean - 1)));
    plot_point(&p->series[HOWS], at, fmax(0, 100 * (s.worst - 1)));
}

static void show_interference(struct reproduce_figure *f)
{
    unsigned mixes = f->plan->effort == REPRODUCE_QUICK ? QUICK_MIXES : MIXES;
    struct text_table *t = figure_table(f, 2, columns);
    struct plot *p =
        figure_plot(f, "fabric", PLOT_LINEAR, "slowdown against being alone (%)", "Jobs beside each other, 256 hosts");
    (void)snprintf(p->note, sizeof p->note, "hxmesh, simulated on the firmware; %u mix%s", mixes,
                   mixes == 1 ? "" : "es");
    p->bar_width = 0.22;
    for (unsigned place = 0; place < HOWS; place++)
        (void)plot_add(p, PLOT_BARS, place, "%s", place ? hx_hosts_rule_names[place] : "boards, contiguous");
    (void)plot_add(p, PLOT_LIMITS, HOWS, "worst job");
    for (unsigned fabric = 0; fabric < FABRICS; fabric++) {
        plot_category(p, fabrics[fabric].name);
        for (unsigned place = 0; place < (fabrics[fabric].boards ? 1 : HOWS); place++)
            show_mixes(f, t, mixes, fabric, place);
    }
    figure_annotation(
        f,
        "%u mix%s; sizes of the paper's figure 7, in boards of four hosts, of two boards and up to half of the fabric, "
        "until all of it is used; those that find no room on the HammingMesh are left out. All-reduce of 1 MiB, "
        "all-to-all of 32 KiB and permutation of 512 KiB messages in turn, the largest job first; all begin at once.",
        mixes, mixes == 1 ? "" : "es");
}

const struct experiment jobs_experiments[] = {
    {"interference", "Job mixes on four fabrics: each job alone against all together", 5, NULL, NULL, show_interference,
     NOTES("Slowdown is the time together over the time alone. Packets count once a link between switches.")},
    EXPERIMENTS_END};
