/* eflops.c - figures 12 and 16 of Dong et al., "EFLOPS: Algorithm and System Co-Design for a High Performance
 * Distributed Training Platform", HPCA 2020: all-reduce on BiGraphs and fat trees of 100 Gb/s links. */
#include "tools/reproduce/eflops.h"
#include "base/value.h"
#include "tools/reproduce/experiment.h"

#include <math.h>
#include <string.h>

/* ---- what is compared ---- */

/* BiGraphs have m <= n / 2, so that HDRM shares no link. */
enum { SIZES = 8, AT_64 = 3 };
static const unsigned sizes[SIZES] = {8, 16, 32, 64, 128, 256, 512, 1024}; /* hosts */
static const struct plan_fabric trees[SIZES] = {
    {PLAN_ALWAYS("fat-tree hosts=8 radix=8")},    {PLAN_ALWAYS("fat-tree hosts=16 radix=8")},
    {PLAN_ALWAYS("fat-tree hosts=32 radix=8")},   {PLAN_ALWAYS("fat-tree hosts=64 radix=16")},
    {PLAN_ALWAYS("fat-tree hosts=128 radix=16")}, {PLAN_ALWAYS("fat-tree hosts=256 radix=32")},
    {PLAN_ALWAYS("fat-tree hosts=512 radix=32")}, {PLAN_ALWAYS("fat-tree hosts=1024 radix=64")}};
static const struct plan_fabric bigraphs[SIZES] = {
    {PLAN_ALWAYS("bigraph m=2 n=4")},   {PLAN_ALWAYS("bigraph m=2 n=8")},  {PLAN_ALWAYS("bigraph m=4 n=8")},
    {PLAN_ALWAYS("bigraph m=4 n=16")},  {PLAN_ALWAYS("bigraph m=8 n=16")}, {PLAN_ALWAYS("bigraph m=8 n=32")},
    {PLAN_ALWAYS("bigraph m=16 n=32")}, {PLAN_ALWAYS("bigraph m=16 n=64")}};

enum { TREE_RING, TREE_HALVING, RING, RANDOM, LINEAR, HDRM, WAYS };
static const char random_ranks[] = "random", linear_ranks[] = "linear";
static const struct way {
    const char *name;
    const struct plan_fabric *fabric; /* [SIZES] */
    struct plan_way way;
    double paper_1mib;   /* Gb/s of 64 workers in figure 12; NAN: not known */
    double paper_256mib; /* the same */
} ways[WAYS] = {[TREE_RING] = {"fat tree, ring", trees, {"ring", NULL, NULL}, NAN, NAN},
                [TREE_HALVING] = {"fat tree, halving", trees, {"halving", NULL, NULL}, NAN, NAN},
                [RING] = {"BiGraph, ring", bigraphs, {"ring", NULL, NULL}, 3.68, 25.01},
                [RANDOM] = {"BiGraph, halving, random", bigraphs, {"halving", random_ranks, NULL}, 13.95, 14.07},
                [LINEAR] = {"BiGraph, halving, linear", bigraphs, {"halving", linear_ranks, NULL}, NAN, NAN},
                [HDRM] = {"BiGraph, HDRM", bigraphs, {"halving", NULL, NULL}, NAN, 34.85}};

/* The paper's times of HDRM for 256 KiB at 64 and 1,024 hosts, us. */
enum { PAPER_AT_64 = 130, PAPER_AT_1024 = 181 };

/* What software takes for a step, ns: one number for a figure. Figure 16: between what the paper's HDRM of 256 KiB
 * needs at 64 and at 1,024 nodes. Figure 12: as the ring needs for 1 MiB. */
enum { FIG12_STEP_NS = 16600, FIG16_STEP_NS = 6500 };

unsigned eflops_steps(const char *algorithm, unsigned n)
{
    return 2 * (strcmp(algorithm, "ring") == 0 ? n - 1 : (unsigned)__builtin_ctz(n));
}

/* ---- what runs ---- */

/* Runs on clusters of a size, by the ways from `first` on; a buffer is of a port. */
static void add(struct reproduce_plan *p, unsigned size, unsigned first, uint64_t bytes)
{
    for (unsigned w = first; w < WAYS; w++) {
        const struct plan_batch one = {.fabric = &ways[w].fabric[size],
                                       .fabrics = 1,
                                       .traffic = "all-reduce",
                                       .way = {ways[w].way},
                                       .timing = "sc15",
                                       .buffer = 3276800};
        plan_add(p, &one, bytes, 0);
    }
}

static uint64_t largest(enum reproduce_effort effort)
{
    return effort == REPRODUCE_QUICK ? 4 * MIB : 256 * MIB;
}

/* The paper measured BiGraphs only. */
static void plan_fig12(struct reproduce_plan *p)
{
    for (uint64_t bytes = KIB; bytes <= largest(p->effort); bytes *= 4)
        for (unsigned s = 0; s <= AT_64; s++)
            add(p, s, RING, bytes);
}

static void plan_fig16(struct reproduce_plan *p)
{
    const unsigned end = p->effort == REPRODUCE_QUICK ? AT_64 + 1 : SIZES;
    for (unsigned s = AT_64; s < end; s++)
        add(p, s, 0, 256 * KIB);
    for (unsigned s = AT_64; s < end; s += p->effort == REPRODUCE_DEFAULT ? 2 : 1)
        add(p, s, 0, largest(p->effort));
}

/* ---- results ---- */

static bool is_run_of(const struct reproduce_run *run, const struct way *way, unsigned size)
{
    return run->place == way->way.place && strcmp(run->algorithm, way->way.algorithm) == 0 &&
           strcmp(run->fabric, way->fabric[size].spec[REPRODUCE_QUICK]) == 0;
}

static double seconds_with(const struct reproduce_run *run, unsigned size, unsigned step_ns)
{
    return run->virtual_seconds + eflops_steps(run->algorithm, sizes[size]) * (step_ns * 1e-9);
}

/* Simulated time with `step_ns` more for each step, s; NAN: not run. */
static double seconds_of(const struct reproduce_plan *p, unsigned size, const struct way *way, uint64_t bytes,
                         unsigned step_ns)
{
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(p, run));)
        if (run->bytes == bytes && is_run_of(run, way, size))
            return seconds_with(run, size, step_ns);
    return NAN;
}

static double gbps(uint64_t bytes, double seconds)
{
    return (double)bytes * 8 / seconds / 1e9;
}

static const char columns[] =
    "|way|text; |fabric|text; |hosts|count; |vector_bytes|bytes; |virtual_seconds|9; |seconds|9; |gbps|2";

static void add_results(struct reproduce_figure *f, unsigned step_ns)
{
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        for (unsigned i = 0; i < WAYS * SIZES; i++) {
            const struct way *way = &ways[i / SIZES];
            const unsigned size = i % SIZES;
            if (!is_run_of(run, way, size))
                continue;
            const double seconds = seconds_with(run, size, step_ns);
            figure_row(
                f, NULL, columns, TEXTS(way->name, run->fabric),
                NUMBERS(sizes[size], (double)run->bytes, run->virtual_seconds, seconds, gbps(run->bytes, seconds)));
        }
    }
}

static void note_ways(struct reproduce_figure *f, unsigned step_ns)
{
    figure_annotation(f,
                      "Times are simulated times with %.1f us of software added for each step: 2 (n - 1) of a ring, "
                      "2 log2 n of halving. The JSON has both.",
                      step_ns / 1e3);
    figure_annotation(f,
                      "Halving is recursive halving and doubling. HDRM is the same with its ranks in the order that "
                      "the BiGraph gives; random ranks are drawn by seed %d.",
                      PLAN_SEED);
}

/* ---- figure 16 ---- */

static void show_vector(struct reproduce_figure *f, uint64_t bytes)
{
    static const char *const head[] = {"64", "128", "256", "512", "1024", "growth"};
    enum { SHOWN = SIZES - AT_64 };
    char vector[HX_VALUE_TEXT], title[64];
    hx_value_print_bytes(vector, bytes);
    (void)snprintf(title, sizeof title, "%s, us, by hosts", vector);
    struct text_table *t = figure_matrix(f, title, SHOWN + 1, head);
    struct plot *p = figure_plot(f, "hosts", PLOT_BINARY, "time (us)", "All-reduce of %s (EFLOPS, figure 16)", vector);
    p->y_scale = PLOT_DECADES;
    for (unsigned w = 0; w < WAYS; w++) {
        double us[SHOWN + 1];
        struct plot_series *line = plot_add(p, PLOT_LINE, w, "%s", ways[w].name);
        for (unsigned s = 0; s < SHOWN; s++) {
            us[s] = seconds_of(f->plan, AT_64 + s, &ways[w], bytes, FIG16_STEP_NS) * 1e6;
            plot_point(line, sizes[AT_64 + s], us[s]);
        }
        us[SHOWN] = us[SHOWN - 1] - us[0];
        figure_numbers(t, ways[w].name, 1, SHOWN + 1, us);
    }
    if (bytes != 256 * KIB || f->plan->effort == REPRODUCE_QUICK)
        return;
    figure_numbers(t, "HDRM, paper", 0, SHOWN + 1,
                   NUMBERS(PAPER_AT_64, NAN, NAN, NAN, PAPER_AT_1024, PAPER_AT_1024 - PAPER_AT_64));
    struct plot_series *theirs = plot_add(p, PLOT_DIAMONDS, HDRM, "HDRM, paper");
    plot_point(theirs, sizes[AT_64], PAPER_AT_64);
    plot_point(theirs, sizes[SIZES - 1], PAPER_AT_1024);
}

static void show_fig16(struct reproduce_figure *f)
{
    show_vector(f, 256 * KIB);
    show_vector(f, largest(f->plan->effort));
    add_results(f, FIG16_STEP_NS);
    note_ways(f, FIG16_STEP_NS);
}

/* ---- figure 12 ---- */

static double paper_gbps(const struct reproduce_figure *f, const struct way *way, unsigned size, uint64_t bytes)
{
    if (size != AT_64 || (bytes != MIB && bytes != 256 * MIB))
        return NAN;
    return figure_paper(f, bytes == MIB ? way->paper_1mib : way->paper_256mib);
}

static void show_workers(struct reproduce_figure *f, unsigned size)
{
    static const unsigned shown[] = {RING, RANDOM, LINEAR, HDRM, WAYS + RING, WAYS + RANDOM, WAYS + HDRM};
    enum { SHOWN = sizeof shown / sizeof *shown };
    static const char *const head[SHOWN] = {"ring", "random", "linear", "HDRM", "paper: ring", "halving", "HDRM"};
    char title[32];
    (void)snprintf(title, sizeof title, "%u workers, Gb/s", sizes[size]);
    struct text_table *t = figure_matrix(f, title, SHOWN, head);
    struct plot *p = figure_plot(f, "vector", PLOT_BINARY, "algorithm bandwidth (Gb/s)",
                                 "All-reduce of %u workers (EFLOPS, figure 12)", sizes[size]);
    p->x_unit = PLOT_BYTES;
    for (unsigned w = RING; w < WAYS; w++) {
        (void)plot_add(p, PLOT_LINE, w, "%s", ways[w].name);
        (void)plot_add(p, PLOT_DIAMONDS, w, "%s, paper", ways[w].name);
    }
    for (uint64_t bytes = KIB; bytes <= largest(f->plan->effort); bytes *= 4) {
        double rate[2 * WAYS]; /* ours, the paper's */
        char cell[SHOWN + 1][HX_VALUE_TEXT] = {""};
        const char *row[SHOWN + 1] = {hx_value_print_bytes(cell[0], bytes)};
        for (unsigned w = RING; w < WAYS; w++) {
            rate[w] = gbps(bytes, seconds_of(f->plan, size, &ways[w], bytes, FIG12_STEP_NS));
            rate[WAYS + w] = paper_gbps(f, &ways[w], size, bytes);
            plot_point(&p->series[2 * (w - RING)], (double)bytes, rate[w]);
            plot_point(&p->series[2 * (w - RING) + 1], (double)bytes, rate[WAYS + w]);
        }
        for (unsigned i = 0; i < SHOWN; i++) {
            const double value = rate[shown[i]];
            if (isfinite(value))
                (void)snprintf(cell[1 + i], sizeof cell[1 + i], "%.*f", value < 0.1 ? 4 : 2, value);
            row[1 + i] = cell[1 + i];
        }
        text_table_cells(t, SHOWN + 1, row);
    }
}

static void show_fig12(struct reproduce_figure *f)
{
    for (unsigned s = 0; s <= AT_64; s++)
        show_workers(f, s);
    add_results(f, FIG12_STEP_NS);
    note_ways(f, FIG12_STEP_NS);
}

/* ---- the experiments ---- */

const struct experiment eflops_experiments[] = {
    {"fig12", "Figure 12: all-reduce on BiGraphs over vector sizes, 8 to 64 workers", 5, NULL, plan_fig12, show_fig12,
     NOTES("Algorithm bandwidth: vector over time. The paper has 64 workers' values as text, the rest as plotted "
           "curves.")},
    {"fig16", "Figure 16: all-reduce on fat trees and BiGraphs of 64 to 1,024 nodes", 30, NULL, plan_fig16, show_fig16,
     NOTES("Paper: HDRM takes 130 us at 64 nodes and 181 us at 1,024 for 256 KiB, the others grow by 500 to 10,000 us; "
           "HDRM is never behind halving, and ahead of the ring at 64 nodes.")},
    EXPERIMENTS_END};
