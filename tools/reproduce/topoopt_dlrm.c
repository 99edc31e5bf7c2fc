/* topoopt_dlrm.c - figures 12 to 15 of TopoOpt: DLRM with 128 tables, one a server (tools/reproduce/topoopt.h). */
#include "tools/reproduce/topoopt.h"
#include "tools/reproduce/topoopt_job.h"

#include <math.h>
#include <stdlib.h>

enum { GBPS = 100, SMALL = 64, LARGE = 2048, TEXT = 32 };
static const unsigned degrees[] = {4, 8};
enum { DEGREES = sizeof degrees / sizeof *degrees };

/* Of the paper, by degree: bandwidth tax, mean path, TopoOpt's time over the fat tree's. NAN: not known to us. */
static const struct {
    double tax_small, tax_large, path, slower;
} paper[DEGREES] = {{1.11, 3.03, 5.7, 1.1}, {1.05, NAN, 3, NAN}};

static struct topoopt_answer answer_of(const struct reproduce_figure *f, unsigned degree, unsigned batch,
                                       enum topoopt_network network, struct topoopt_case *c)
{
    char size[TEXT];
    (void)snprintf(size, sizeof size, "batch=%u", batch);
    *c = (struct topoopt_case){.job = TOPOOPT_DLRM,
                               .degree = degree,
                               .gbps = GBPS,
                               .set = {topoopt_set_servers(f->plan->effort),
                                       f->plan->effort == REPRODUCE_QUICK ? "tables=16" : "tables=128", size}};
    return topoopt_answer(c, network);
}

/* ---- figures 12 and 13 ---- */

static const char batch_columns[] =
    "DLRM, ms||text; batch||count; exchanges (%)||1; TopoOpt||2; ideal||2; fat tree||2; over ideal||2; over tree||2; "
    "paper||1";
static const char network_columns[] =
    "|degree|count; |batch|count; |network|text; |seconds|9; |exchanged_bytes|0; |summed_bytes|0; |exchanges|9; "
    "|sums|9";
static const char *const of_degree[DEGREES] = {"d = 4", "d = 8"};

static void show_batch(struct reproduce_figure *f, struct text_table *table, unsigned d, unsigned batch, struct plot *p)
{
    static const enum topoopt_network networks[] = {TOPOOPT_CIRCUITS, TOPOOPT_IDEAL, TOPOOPT_TREE};
    double ms[3], part = 0;
    for (unsigned n = 0; n < 3; n++) {
        struct topoopt_case unused;
        struct topoopt_answer a = answer_of(f, degrees[d], batch, networks[n], &unused);
        const double exchanged = circuits_exchanged(&a.result.demand), summed = circuits_reduced(&a.result.demand);
        ms[n] = 1e3 * a.iteration;
        part = exchanged / (exchanged + summed);
        plot_point(&p->series[3 * d + n], batch, ms[n]);
        figure_row(
            f, NULL, network_columns, TEXTS(topoopt_network_names[networks[n]]),
            NUMBERS(degrees[d], batch, a.iteration, exchanged, summed, a.result.time.exchanges, a.result.time.sums));
        topoopt_free(&a);
    }
    figure_row(f, table, batch_columns, TEXTS(of_degree[d]),
               NUMBERS(batch, 100 * part, ms[0], ms[1], ms[2], ms[0] / ms[1], ms[0] / ms[2],
                       figure_paper(f, batch == LARGE ? paper[d].slower : NAN)));
}

void show_topoopt_batch(struct reproduce_figure *f)
{
    struct text_table *table = figure_table(f, 1, batch_columns);
    struct plot *p =
        figure_plot(f, "batch of a GPU", PLOT_BINARY, "iteration (ms)", "DLRM by batch (Wang et al., figure 12)");
    for (unsigned d = 0; d < DEGREES; d++)
        for (unsigned n = 0; n < 3; n++)
            (void)plot_add(p, d ? PLOT_DASHES : PLOT_LINE, n, "%s, %s", topoopt_network_names[n], of_degree[d]);
    for (unsigned d = 0; d < DEGREES; d++)
        for (unsigned batch = SMALL; batch <= LARGE; batch *= 2)
            show_batch(f, table, d, batch, p);
}

void show_topoopt_tax(struct reproduce_figure *f)
{
    static const char shown[] = "batch||count; tax, d = 4||3; d = 8||3; paper: d = 4||2; d = 8||2";
    static const char columns[] = "|degree|count; |batch|count; |tax|3; |rings|count";
    struct text_table *table = figure_table(f, 1, shown);
    struct plot *p = figure_plot(f, "batch of a GPU", PLOT_BINARY, "bytes on links / bytes sent",
                                 "Bandwidth tax of DLRM (Wang et al., figure 13)");
    for (unsigned d = 0; d < DEGREES; d++)
        (void)plot_add(p, PLOT_LINE, d, "%s", of_degree[d]);
    struct plot_series *theirs = plot_add(p, PLOT_DIAMONDS, DEGREES, "paper");
    for (unsigned batch = SMALL; batch <= LARGE; batch *= 2) {
        double tax[DEGREES], known[DEGREES];
        for (unsigned d = 0; d < DEGREES; d++) {
            struct topoopt_case unused;
            struct topoopt_answer a = answer_of(f, degrees[d], batch, TOPOOPT_CIRCUITS, &unused);
            tax[d] = a.result.time.tax;
            known[d] = figure_paper(f, batch == SMALL ? paper[d].tax_small : batch == LARGE ? paper[d].tax_large : NAN);
            plot_point(&p->series[d], batch, tax[d]);
            plot_point(theirs, batch, known[d]);
            figure_row(f, NULL, columns, NULL, NUMBERS(degrees[d], batch, tax[d], a.result.circuits.rings));
            topoopt_free(&a);
        }
        figure_row(f, table, shown, NULL, NUMBERS(batch, tax[0], tax[1], known[0], known[1]));
    }
}

/* ---- figure 14 ---- */

static const char length_columns[] =
    "circuits of a path||count; pairs, d = 4 (%)||2; sum||2; pairs, d = 8 (%)||2; sum||2";
static const char pairs_columns[] = "|degree|count; |circuits|count; |pairs|4";
static const char mean_columns[] = "paths||text; mean||2; longest||count; paper: mean||1";

void show_topoopt_paths(struct reproduce_figure *f)
{
    const double servers = topoopt_servers(f->plan->effort), pairs = servers * (servers - 1);
    struct text_table *table = figure_table(f, 1, length_columns), *means = figure_table(f, 1, mean_columns);
    struct plot *p = figure_plot(f, "circuits of a path", PLOT_LINEAR, "pairs (%, at most so long)",
                                 "Lengths of paths, DLRM (Wang et al., figure 14)");
    struct circuits_paths paths[DEGREES];
    unsigned longest = 0;
    for (unsigned d = 0; d < DEGREES; d++) {
        struct topoopt_case unused;
        struct topoopt_answer a = answer_of(f, degrees[d], SMALL, TOPOOPT_CIRCUITS, &unused);
        (void)circuits_measure(&a.result.circuits, &paths[d]);
        longest = paths[d].diameter > longest ? paths[d].diameter : longest;
        (void)plot_add(p, PLOT_STEPS, d, "%s", of_degree[d]);
        topoopt_free(&a);
    }
    double sum[DEGREES] = {0};
    for (unsigned length = 1; length <= longest; length++) {
        double part[DEGREES];
        for (unsigned d = 0; d < DEGREES; d++) {
            part[d] = length <= paths[d].diameter ? 100 * (double)paths[d].of_length[length] / pairs : 0;
            sum[d] += part[d];
            plot_point(&p->series[d], length, sum[d]);
            figure_row(f, NULL, pairs_columns, NULL, NUMBERS(degrees[d], length, part[d] / 100));
        }
        figure_row(f, table, length_columns, NULL, NUMBERS(length, part[0], sum[0], part[1], sum[1]));
    }
    for (unsigned d = 0; d < DEGREES; d++) {
        figure_row(f, means, mean_columns, TEXTS(of_degree[d]),
                   NUMBERS(paths[d].mean, paths[d].diameter, figure_paper(f, paper[d].path)));
        free(paths[d].of_length);
    }
}

/* ---- figure 15 ---- */

static const char load_columns[] =
    "|degree|count; |batch|count; MB a link||text; |links|count; least|least|1 x 1e-6; 25 % of links||1 x 1e-6; "
    "50 %||1 x 1e-6; |median|0; 75 %||1 x 1e-6; most|most|1 x 1e-6; least / most||2";

static void show_loads_of(struct reproduce_figure *f, struct text_table *table, struct plot *p, unsigned d,
                          unsigned batch)
{
    enum { POINTS = 64 };
    struct topoopt_case at;
    struct topoopt_answer a = answer_of(f, degrees[d], batch, TOPOOPT_CIRCUITS, &at);
    uint32_t count;
    double *load = topoopt_link_loads(&a, &at, &count);
    const uint32_t last = count - 1;
    struct plot_series *line = plot_add(p, PLOT_CURVE, p->count, "%s, batch %u", of_degree[d], batch);
    for (unsigned i = 0; i <= POINTS; i++)
        plot_point(line, load[(uint64_t)i * last / POINTS] / 1e6, 100.0 * i / POINTS);
    figure_row(f, table, load_columns, TEXTS(line->name),
               NUMBERS(degrees[d], batch, count, load[0], load[(uint32_t)(0.25 * last)], load[(uint32_t)(0.5 * last)],
                       load[count / 2], load[(uint32_t)(0.75 * last)], load[last], load[0] / load[last]));
    free(load);
    topoopt_free(&a);
}

void show_topoopt_loads(struct reproduce_figure *f)
{
    struct text_table *table = figure_table(f, 1, load_columns);
    struct plot *p = figure_plot(f, "MB of an iteration", PLOT_LINEAR, "links (%, with at most so much)",
                                 "Loads of links, DLRM (Wang et al., figure 15)");
    for (unsigned d = 0; d < DEGREES; d++)
        for (unsigned batch = SMALL; batch <= LARGE; batch *= LARGE / SMALL)
            show_loads_of(f, table, p, d, batch);
}
