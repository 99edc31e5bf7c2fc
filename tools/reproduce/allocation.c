/* allocation.c - figures 7 to 10 of the HammingMesh paper: random job mixes on the boards of its four clusters. */
#include "tools/reproduce/allocation.h"
#include "spec/spec.h"
#include "tools/allocate/mixes.h"
#include "tools/draw/violin.h"

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

static json_t *sum_json(struct mixes_sum s)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "mean", s.mean, "p1", s.p1, "p25", s.p25, "p50", s.p50, "p75",
                     s.p75, "p99", s.p99);
}

/* ---- figure 7 ---- */

void show_job_sizes(struct reproduce_figure *f)
{
    struct hx_job_sizes sizes;
    hx_job_sizes_alibaba(&sizes);
    struct text_table *t = figure_table(f, 0);
    text_table_row(t, "boards", "jobs that have no more (%)", "boards in such jobs (%)");
    struct plot *p = figure_plot(f, "How large jobs are (figure 7)", "boards", PLOT_BINARY, PLOT_NUMBER, "%");
    struct plot_series *jobs = plot_add(p, PLOT_STEPS, 0, "jobs that have no more");
    struct plot_series *boards = plot_add(p, PLOT_STEPS, 1, "boards in such jobs");
    double mean = 0, asked = 0;
    for (unsigned i = 0; i < sizes.count; i++)
        mean += sizes.boards[i] * (sizes.share[i] - (i ? sizes.share[i - 1] : 0));
    for (unsigned i = 0; i < sizes.count; i++) {
        struct cells c = {0};
        asked += sizes.boards[i] * (sizes.share[i] - (i ? sizes.share[i - 1] : 0));
        text_table_row(t, cell(&c, 0, sizes.boards[i]), cell(&c, 3, 100 * sizes.share[i]),
                       cell(&c, 2, 100 * asked / mean));
        plot_point(jobs, sizes.boards[i], 100 * sizes.share[i]);
        plot_point(boards, sizes.boards[i], 100 * asked / mean);
        figure_result(f, json_pack("{s:i, s:f, s:f}", "boards", (int)sizes.boards[i], "jobs", sizes.share[i],
                                   "boards_in_them", asked / mean));
    }
    figure_annotation(f, "Jobs of an Alibaba cluster (NSDI 2022), a size taken as that many boards: %.2f in the mean.",
                      mean);
    hx_job_sizes_free(&sizes);
}

/* ---- figure 8 ---- */

static void utilization_row(struct reproduce_figure *f, struct text_table *t, struct plot_series *violins,
                            struct plot_series *means, unsigned cluster, unsigned rule)
{
    struct mixes m;
    struct hx_mix_rules how;
    struct cells c = {0};
    run_mixes(&m, &how, f, &clusters[cluster], &rules[rule], 0);
    struct mixes_sum s = mixes_sum_of(&m, MIXES_USED);
    double at = cluster + (rule - (RULES - 1) / 2.0) * 0.15;
    add_violin(violins, at, 0.14, &m, MIXES_USED);
    mixes_free(&m);
    text_table_row(t, clusters[cluster].name, rules[rule].name, cell(&c, 1, 100 * s.mean), cell(&c, 1, 100 * s.p1),
                   cell(&c, 1, 100 * s.p25), cell(&c, 1, 100 * s.p50), cell(&c, 1, 100 * s.p75),
                   cell(&c, 1, 100 * s.p99), cell(&c, 0, rule ? NAN : clusters[cluster].paper));
    plot_point(means, at, 100 * s.mean);
    figure_result(f, json_pack("{s:s, s:s, s:o}", "fabric", clusters[cluster].name, "rule", rules[rule].name,
                               "utilization", sum_json(s)));
}

void show_utilization(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 2);
    text_table_row(t, "boards in use (%)", "rule", "mean", "1st", "25th", "median", "75th", "99th", "paper's logs");
    struct plot *p = figure_plot(f, "Boards in use, by rules of allocation (figure 8)", "fabric", PLOT_LINEAR,
                                 PLOT_NUMBER, "boards in use (%)");
    struct plot_series *violins[RULES];
    p->bar_width = 0.1;
    for (unsigned rule = 0; rule < RULES; rule++)
        violins[rule] = plot_add(p, PLOT_AREAS, rule, "%s", rules[rule].name);
    struct plot_series *means = plot_add(p, PLOT_LIMITS, RULES, "mean");
    for (unsigned cluster = 0; cluster < CLUSTERS; cluster++) {
        plot_category(p, clusters[cluster].name);
        for (unsigned rule = 0; rule < RULES; rule++)
            if (clusters[cluster].leaf || rules[rule].locality == HX_ANYWHERE)
                utilization_row(f, t, violins[rule], means, cluster, rule);
    }
    figure_annotation(
        f, "Paper: greedy alone uses 90 %% by its text; its logs say 93, 96, 80 and 86 %%, of mixes with sizes "
           "drawn otherwise than by its published script (docs/jobs.md). Transposing gives it 5 to 8 points "
           "more, sorted jobs above 98 %%.");
    figure_annotation(f, "Locality changes nothing where a line has one switch, as in three of the four clusters.");
}

/* ---- figure 9 ---- */

void show_upper_traffic(struct reproduce_figure *f)
{
    const struct cluster *large = &clusters[SMALL];
    struct text_table *t = figure_table(f, 1);
    text_table_row(t, "traffic over the upper level (%)", "all-to-all: mean", "median", "99th", "all-reduce: mean",
                   "median", "99th");
    struct plot *p = figure_plot(f, "Traffic over the upper level, 64x64 Hx2Mesh (figure 9)", "rules", PLOT_LINEAR,
                                 PLOT_NUMBER, "of what the networks carry (%)");
    p->bar_width = 0.2;
    struct plot_series *violins[2] = {plot_add(p, PLOT_AREAS, 0, "all-to-all"),
                                      plot_add(p, PLOT_AREAS, 1, "all-reduce")};
    struct plot_series *means = plot_add(p, PLOT_LIMITS, 2, "mean");
    for (unsigned rule = 0; rule < RULES; rule++) {
        struct mixes m;
        struct hx_mix_rules how;
        struct cells c = {0};
        run_mixes(&m, &how, f, large, &rules[rule], 0);
        struct mixes_sum a = mixes_sum_of(&m, MIXES_ALL_TO_ALL), r = mixes_sum_of(&m, MIXES_ALL_REDUCE);
        add_violin(violins[0], rule - 0.16, 0.3, &m, MIXES_ALL_TO_ALL);
        add_violin(violins[1], rule + 0.16, 0.3, &m, MIXES_ALL_REDUCE);
        mixes_free(&m);
        text_table_row(t, rules[rule].name, cell(&c, 1, 100 * a.mean), cell(&c, 1, 100 * a.p50),
                       cell(&c, 1, 100 * a.p99), cell(&c, 1, 100 * r.mean), cell(&c, 1, 100 * r.p50),
                       cell(&c, 1, 100 * r.p99));
        plot_category(p, rules[rule].name);
        plot_point(means, rule - 0.16, 100 * a.mean);
        plot_point(means, rule + 0.16, 100 * r.mean);
        figure_result(f, json_pack("{s:s, s:o, s:o}", "rule", rules[rule].name, "all_to_all", sum_json(a), "all_reduce",
                                   sum_json(r)));
    }
    figure_annotation(
        f, "Of each network, and then the mean over all row and column networks, those without traffic included, "
           "as the authors' script counts. Paper: below half; with locality lower still.");
    figure_annotation(f, "The 32x32 Hx4Mesh has one switch a line, and so no upper level.");
}

/* ---- figure 10 ---- */

void show_failed_boards(struct reproduce_figure *f)
{
    static const unsigned failed[2][3] = {{0, 20, 40}, {0, 50, 100}};
    struct text_table *t = figure_table(f, 2);
    text_table_row(t, "boards in use (%)", "jobs", "failed", "mean", "1st", "median", "99th");
    struct plot *p = figure_plot(f, "Boards in use, with boards that failed (figure 10)", "failed boards", PLOT_LINEAR,
                                 PLOT_NUMBER, "of those that have not failed, median (%)");
    for (unsigned cluster = 0; cluster < CLUSTERS; cluster++) {
        for (unsigned sorted = 0; sorted < 2; sorted++) {
            bool near = clusters[cluster].leaf;
            const struct rule *rule = &rules[(sorted ? 4 : 2) + near];
            struct plot_series *line = plot_add(p, sorted ? PLOT_LINE : PLOT_DASHES, cluster, "%s%s",
                                                clusters[cluster].name, sorted ? ", sorted" : "");
            for (unsigned i = 0; i < 3; i++) {
                struct mixes m;
                struct hx_mix_rules how;
                struct cells c = {0};
                run_mixes(&m, &how, f, &clusters[cluster], rule, failed[cluster >= SMALL][i]);
                struct mixes_sum s = mixes_sum_of(&m, MIXES_USED);
                mixes_free(&m);
                text_table_row(t, clusters[cluster].name, sorted ? "sorted" : "as they come", cell(&c, 0, how.failed),
                               cell(&c, 1, 100 * s.mean), cell(&c, 1, 100 * s.p1), cell(&c, 1, 100 * s.p50),
                               cell(&c, 1, 100 * s.p99));
                plot_point(line, how.failed, 100 * s.p50);
                figure_result(f, json_pack("{s:s, s:b, s:i, s:o}", "fabric", clusters[cluster].name, "sorted", sorted,
                                           "failed", (int)how.failed, "utilization", sum_json(s)));
            }
        }
    }
    figure_annotation(
        f, "Of the boards that have not failed. Paper: the median stays above 70 %% with up to 40 failed boards.");
}
