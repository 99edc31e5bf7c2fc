/* allocation.c - figures 7 to 10 of the HammingMesh paper: random job mixes on the boards of its four clusters. */
#include "spec/spec.h"
#include "tools/allocate/mixes.h"
#include "tools/draw/violin.h"
#include "tools/reproduce/hammingmesh.h"

#include <math.h>
#include <stdlib.h>

enum { MIXES = 1000, QUICK_MIXES = 50, CLUSTERS = 4, SMALL = 2, RULES = 6, LEAF = 16 };

static const struct cluster {
    const char *name;
    unsigned across; /* boards in a row, and in a column */
    unsigned leaf;   /* boards of a leaf: 32 of its 64 ports, two a board; 0: single-level networks */
    double paper;    /* % with the greedy rule only, from the authors' logs */
} clusters[CLUSTERS] = {{"16x16 Hx2Mesh", 16, 0, 93},
                        {"8x8 Hx4Mesh", 8, 0, 96},
                        {"64x64 Hx2Mesh", 64, LEAF, 80},
                        {"32x32 Hx4Mesh", 32, 0, 86}};

static const struct rule {
    const char *name;
    bool transpose, sorted;
    unsigned aspect, locality;
} rules[RULES] = {{"greedy", false, false, 1, HX_ANYWHERE},
                  {"+ transpose", true, false, 1, HX_ANYWHERE},
                  {"+ aspect", true, false, 8, HX_ANYWHERE},
                  {"+ aspect, locality", true, false, 8, HX_NEAR_ALL_TO_ALL},
                  {"+ aspect, sorted", true, true, 8, HX_ANYWHERE},
                  {"+ aspect, sorted, locality", true, true, 8, HX_NEAR_ALL_TO_ALL}};

/* Runs mixes by a rule with `failed` failed boards. mixes_free() afterwards. */
static void run_mixes(struct mixes *m, struct hx_mix_rules *how, const struct reproduce_figure *f,
                      const struct cluster *cluster, const struct rule *rule, unsigned failed)
{
    struct hx_job_sizes sizes;
    *how = (struct hx_mix_rules){.columns = cluster->across,
                                 .rows = cluster->across,
                                 .failed = failed,
                                 .sorted = rule->sorted,
                                 .placement = {.transpose = rule->transpose,
                                               .aspect = rule->aspect,
                                               .locality = rule->locality,
                                               .leaf = {cluster->leaf, cluster->leaf}}};
    hx_job_sizes_alibaba(&sizes);
    mixes_run(m, how, &sizes, f->plan->effort == REPRODUCE_QUICK ? QUICK_MIXES : MIXES, 1);
    hx_job_sizes_free(&sizes);
}

/* Plots a figure of all mixes as a violin, in per cent. */
static void add_violin(struct plot_series *s, double at, double width, const struct mixes *m, enum mixes_figure figure)
{
    double *value = hx_allocate(m->count, sizeof *value);
    for (unsigned i = 0; i < m->count; i++)
        value[i] = 100 * mixes_value(m, i, figure);
    violin_add(s, at, width, value, m->count);
    free(value);
}

/* Percentiles of mixes: columns of a table, and an object of a row of results. */
static const char sums[] = "|mean|1; |p1|1; |p25|1; |p50|1; |p75|1; |p99|1";

static void add_sum(json_t *row, const char *key, struct mixes_sum s)
{
    json_t *o = json_object();
    figure_keys(o, sums, NULL, NUMBERS(s.mean, s.p1, s.p25, s.p50, s.p75, s.p99));
    (void)json_object_set_new(row, key, o);
}

/* ---- figure 7 ---- */

void show_job_sizes(struct reproduce_figure *f)
{
    static const char columns[] =
        "boards|boards|count; jobs that have no more (%)|jobs|3 x 100; boards in such jobs (%)|boards_in_them|2 x 100";
    struct hx_job_sizes sizes;
    hx_job_sizes_alibaba(&sizes);
    struct text_table *t = figure_table(f, 0, columns);
    struct plot *p = figure_plot(f, "boards", PLOT_BINARY, "%", "How large jobs are (figure 7)");
    struct plot_series *jobs = plot_add(p, PLOT_STEPS, 0, "jobs that have no more");
    struct plot_series *boards = plot_add(p, PLOT_STEPS, 1, "boards in such jobs");
    double mean = 0, asked = 0;
    for (unsigned i = 0; i < sizes.count; i++)
        mean += sizes.boards[i] * (sizes.share[i] - (i ? sizes.share[i - 1] : 0));
    for (unsigned i = 0; i < sizes.count; i++) {
        asked += sizes.boards[i] * (sizes.share[i] - (i ? sizes.share[i - 1] : 0));
        figure_row(f, t, columns, NULL, NUMBERS(sizes.boards[i], sizes.share[i], asked / mean));
        plot_point(jobs, sizes.boards[i], 100 * sizes.share[i]);
        plot_point(boards, sizes.boards[i], 100 * asked / mean);
    }
    figure_annotation(f, "Jobs of an Alibaba cluster (NSDI 2022), a size taken as that many boards: %.2f in the mean.",
                      mean);
    hx_job_sizes_free(&sizes);
}

/* ---- figure 8 ---- */

static const char used_columns[] =
    "boards in use (%)|fabric|text; rule|rule|text; mean||1; 1st||1; 25th||1; median||1; 75th||1; 99th||1; "
    "paper's logs||0";

static void utilization_row(struct reproduce_figure *f, struct text_table *t, struct plot *p, unsigned cluster,
                            unsigned rule)
{
    struct mixes m;
    struct hx_mix_rules how;
    run_mixes(&m, &how, f, &clusters[cluster], &rules[rule], 0);
    struct mixes_sum s = mixes_sum_of(&m, MIXES_USED);
    double at = cluster + (rule - (RULES - 1) / 2.0) * 0.15;
    add_violin(&p->series[rule], at, 0.14, &m, MIXES_USED);
    plot_point(&p->series[RULES], at, 100 * s.mean);
    mixes_free(&m);
    json_t *row = figure_row(f, t, used_columns, TEXTS(clusters[cluster].name, rules[rule].name),
                             NUMBERS(100 * s.mean, 100 * s.p1, 100 * s.p25, 100 * s.p50, 100 * s.p75, 100 * s.p99,
                                     rule ? NAN : clusters[cluster].paper));
    add_sum(row, "utilization", s);
}

void show_utilization(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 2, used_columns);
    struct plot *p =
        figure_plot(f, "fabric", PLOT_LINEAR, "boards in use (%)", "Boards in use, by rules of allocation (figure 8)");
    p->bar_width = 0.1;
    for (unsigned rule = 0; rule < RULES; rule++)
        (void)plot_add(p, PLOT_AREAS, rule, "%s", rules[rule].name);
    (void)plot_add(p, PLOT_LIMITS, RULES, "mean");
    for (unsigned cluster = 0; cluster < CLUSTERS; cluster++) {
        plot_category(p, clusters[cluster].name);
        for (unsigned rule = 0; rule < RULES; rule++)
            if (clusters[cluster].leaf || rules[rule].locality == HX_ANYWHERE)
                utilization_row(f, t, p, cluster, rule);
    }
}

/* ---- figure 9 ---- */

static const char upper_columns[] =
    "traffic over the upper level (%)|rule|text; all-to-all: mean||1; median||1; 99th||1; all-reduce: mean||1; "
    "median||1; 99th||1";

void show_upper_traffic(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 1, upper_columns);
    struct plot *p = figure_plot(f, "rules", PLOT_LINEAR, "of what the networks carry (%)",
                                 "Traffic over the upper level, 64x64 Hx2Mesh (figure 9)");
    p->bar_width = 0.2;
    struct plot_series *violins[2] = {plot_add(p, PLOT_AREAS, 0, "all-to-all"),
                                      plot_add(p, PLOT_AREAS, 1, "all-reduce")};
    struct plot_series *means = plot_add(p, PLOT_LIMITS, 2, "mean");
    for (unsigned rule = 0; rule < RULES; rule++) {
        struct mixes m;
        struct hx_mix_rules how;
        run_mixes(&m, &how, f, &clusters[SMALL], &rules[rule], 0);
        struct mixes_sum a = mixes_sum_of(&m, MIXES_ALL_TO_ALL), r = mixes_sum_of(&m, MIXES_ALL_REDUCE);
        add_violin(violins[0], rule - 0.16, 0.3, &m, MIXES_ALL_TO_ALL);
        add_violin(violins[1], rule + 0.16, 0.3, &m, MIXES_ALL_REDUCE);
        mixes_free(&m);
        plot_category(p, rules[rule].name);
        plot_point(means, rule - 0.16, 100 * a.mean);
        plot_point(means, rule + 0.16, 100 * r.mean);
        json_t *row =
            figure_row(f, t, upper_columns, TEXTS(rules[rule].name),
                       NUMBERS(100 * a.mean, 100 * a.p50, 100 * a.p99, 100 * r.mean, 100 * r.p50, 100 * r.p99));
        add_sum(row, "all_to_all", a);
        add_sum(row, "all_reduce", r);
    }
}

/* ---- figure 10 ---- */

static const char failed_columns[] =
    "boards in use (%)|fabric|text; jobs||text; |sorted|flag; failed|failed|count; mean||1; 1st||1; median||1; "
    "99th||1";

/* A cluster's rows, with more and more boards that failed. */
static void failed_rows(struct reproduce_figure *f, struct text_table *t, struct plot_series *line,
                        const struct cluster *cluster, bool sorted)
{
    static const unsigned failed[2][3] = {{0, 20, 40}, {0, 50, 100}};
    const struct rule *rule = &rules[(sorted ? 4 : 2) + (cluster->leaf > 0)];
    for (unsigned i = 0; i < 3; i++) {
        struct mixes m;
        struct hx_mix_rules how;
        run_mixes(&m, &how, f, cluster, rule, failed[cluster >= &clusters[SMALL]][i]);
        struct mixes_sum s = mixes_sum_of(&m, MIXES_USED);
        mixes_free(&m);
        plot_point(line, how.failed, 100 * s.p50);
        json_t *row = figure_row(f, t, failed_columns, TEXTS(cluster->name, sorted ? "sorted" : "as they come"),
                                 NUMBERS(sorted, how.failed, 100 * s.mean, 100 * s.p1, 100 * s.p50, 100 * s.p99));
        add_sum(row, "utilization", s);
    }
}

void show_failed_boards(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 2, failed_columns);
    struct plot *p = figure_plot(f, "failed boards", PLOT_LINEAR, "of those that have not failed, median (%)",
                                 "Boards in use, with boards that failed (figure 10)");
    for (unsigned cluster = 0; cluster < CLUSTERS; cluster++)
        for (unsigned sorted = 0; sorted < 2; sorted++)
            failed_rows(f, t,
                        plot_add(p, sorted ? PLOT_LINE : PLOT_DASHES, cluster, "%s%s", clusters[cluster].name,
                                 sorted ? ", sorted" : ""),
                        &clusters[cluster], sorted);
}
