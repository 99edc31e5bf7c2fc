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

static void note_job(struct reproduce_figure *f)
{
    figure_annotation(f,
                      "DLRM with as many tables as servers, one on each, all else replicated, without a search; d "
                      "links of %d Gb/s. Batches are those of a GPU, four a server.",
                      GBPS);
    figure_annotation(f,
                      "Bytes of exchanges: 4 of an element of what leaves a table, forward and backward, and 8 of an "
                      "index, 100 indices a sample and table.");
}

/* ---- figures 12 and 13 ---- */

static void show_batch(struct reproduce_figure *f, struct text_table *table, unsigned degree, unsigned batch,
                       struct plot *p)
{
    static const enum topoopt_network networks[] = {TOPOOPT_CIRCUITS, TOPOOPT_IDEAL, TOPOOPT_TREE};
    const unsigned at = degree == degrees[1];
    struct cells c = {0};
    double ms[3], part = 0;
    for (unsigned n = 0; n < 3; n++) {
        struct topoopt_case unused;
        struct topoopt_answer a = answer_of(f, degree, batch, networks[n], &unused);
        const double exchanged = circuits_exchanged(&a.result.demand), summed = circuits_reduced(&a.result.demand);
        ms[n] = 1e3 * a.iteration;
        part = exchanged / (exchanged + summed);
        plot_point(&p->series[3 * at + n], batch, ms[n]);
        figure_result(f, json_pack("{s:i, s:i, s:s, s:f, s:f, s:f, s:f, s:f}", "degree", (int)degree, "batch",
                                   (int)batch, "network", topoopt_network_names[networks[n]], "seconds", a.iteration,
                                   "exchanged_bytes", exchanged, "summed_bytes", summed, "exchanges",
                                   a.result.time.exchanges, "sums", a.result.time.sums));
        topoopt_free(&a);
    }
    char name[TEXT];
    (void)snprintf(name, sizeof name, "d = %u", degree);
    text_table_row(table, name, cell(&c, 0, batch), cell(&c, 1, 100 * part), cell(&c, 2, ms[0]), cell(&c, 2, ms[1]),
                   cell(&c, 2, ms[2]), cell(&c, 2, ms[0] / ms[1]), cell(&c, 2, ms[0] / ms[2]),
                   cell(&c, 1, figure_paper(f, batch == LARGE ? paper[at].slower : NAN)));
}

void show_topoopt_batch(struct reproduce_figure *f)
{
    struct text_table *table = figure_table(f, 1);
    struct plot *p = figure_plot(f, "DLRM by batch (Wang et al., figure 12)", "batch of a GPU", PLOT_BINARY,
                                 PLOT_NUMBER, "iteration (ms)");
    text_table_row(table, "DLRM, ms", "batch", "exchanges (%)", "TopoOpt", "ideal", "fat tree", "over ideal",
                   "over tree", "paper");
    for (unsigned d = 0; d < DEGREES; d++) {
        (void)plot_add(p, d ? PLOT_DASHES : PLOT_LINE, 0, "TopoOpt, d = %u", degrees[d]);
        (void)plot_add(p, d ? PLOT_DASHES : PLOT_LINE, 1, "ideal, d = %u", degrees[d]);
        (void)plot_add(p, d ? PLOT_DASHES : PLOT_LINE, 2, "fat tree, d = %u", degrees[d]);
    }
    for (unsigned d = 0; d < DEGREES; d++)
        for (unsigned batch = SMALL; batch <= LARGE; batch *= 2)
            show_batch(f, table, degrees[d], batch, p);
    note_job(f);
    figure_annotation(
        f, "Fat tree: as many interfaces of %d Gb/s, also parts of one, as cost what d at patch panels cost.", GBPS);
}

void show_topoopt_tax(struct reproduce_figure *f)
{
    struct text_table *table = figure_table(f, 1);
    struct plot *p = figure_plot(f, "Bandwidth tax of DLRM (Wang et al., figure 13)", "batch of a GPU", PLOT_BINARY,
                                 PLOT_NUMBER, "bytes on links / bytes sent");
    text_table_row(table, "batch", "tax, d = 4", "d = 8", "paper: d = 4", "d = 8");
    for (unsigned d = 0; d < DEGREES; d++)
        (void)plot_add(p, PLOT_LINE, d, "d = %u", degrees[d]);
    struct plot_series *theirs = plot_add(p, PLOT_DIAMONDS, DEGREES, "paper");
    for (unsigned batch = SMALL; batch <= LARGE; batch *= 2) {
        struct cells c = {0};
        double tax[DEGREES], known[DEGREES];
        for (unsigned d = 0; d < DEGREES; d++) {
            struct topoopt_case unused;
            struct topoopt_answer a = answer_of(f, degrees[d], batch, TOPOOPT_CIRCUITS, &unused);
            tax[d] = a.result.time.tax;
            known[d] = figure_paper(f, batch == SMALL ? paper[d].tax_small : batch == LARGE ? paper[d].tax_large : NAN);
            plot_point(&p->series[d], batch, tax[d]);
            plot_point(theirs, batch, known[d]);
            figure_result(f, json_pack("{s:i, s:i, s:f, s:i}", "degree", (int)degrees[d], "batch", (int)batch, "tax",
                                       tax[d], "rings", (int)a.result.circuits.rings));
            topoopt_free(&a);
        }
        text_table_row(table, cell(&c, 0, batch), cell(&c, 3, tax[0]), cell(&c, 3, tax[1]), cell(&c, 2, known[0]),
                       cell(&c, 2, known[1]));
    }
    note_job(f);
    figure_annotation(f,
                      "Tax: bytes that servers send and forward over bytes that they send of their own. Sums go over "
                      "one circuit a step, exchanges over paths.");
}

/* ---- figure 14 ---- */

void show_topoopt_paths(struct reproduce_figure *f)
{
    struct text_table *table = figure_table(f, 1), *means = figure_table(f, 1);
    struct plot *p = figure_plot(f, "Lengths of paths, DLRM (Wang et al., figure 14)", "circuits of a path",
                                 PLOT_LINEAR, PLOT_NUMBER, "pairs (%, at most so long)");
    struct circuits_paths paths[DEGREES];
    unsigned longest = 0;
    for (unsigned d = 0; d < DEGREES; d++) {
        struct topoopt_case unused;
        struct topoopt_answer a = answer_of(f, degrees[d], SMALL, TOPOOPT_CIRCUITS, &unused);
        (void)circuits_measure(&a.result.circuits, &paths[d]);
        longest = paths[d].diameter > longest ? paths[d].diameter : longest;
        (void)plot_add(p, PLOT_STEPS, d, "d = %u", degrees[d]);
        topoopt_free(&a);
    }
    text_table_row(table, "circuits of a path", "pairs, d = 4 (%)", "sum", "pairs, d = 8 (%)", "sum");
    double sum[DEGREES] = {0};
    for (unsigned length = 1; length <= longest; length++) {
        struct cells c = {0};
        const char *row[1 + 2 * DEGREES] = {cell(&c, 0, length)};
        for (unsigned d = 0; d < DEGREES; d++) {
            const double servers = topoopt_servers(f->plan->effort), pairs = servers * (servers - 1);
            const double part = length <= paths[d].diameter ? 100 * (double)paths[d].of_length[length] / pairs : 0;
            sum[d] += part;
            row[1 + 2 * d] = cell(&c, 2, part);
            row[2 + 2 * d] = cell(&c, 2, sum[d]);
            plot_point(&p->series[d], length, sum[d]);
            figure_result(f, json_pack("{s:i, s:i, s:f}", "degree", (int)degrees[d], "circuits", (int)length, "pairs",
                                       part / 100));
        }
        text_table_cells(table, 1 + 2 * DEGREES, row);
    }
    text_table_row(means, "paths", "mean", "longest", "paper: mean");
    for (unsigned d = 0; d < DEGREES; d++) {
        struct cells c = {0};
        char name[TEXT];
        (void)snprintf(name, sizeof name, "d = %u", degrees[d]);
        text_table_row(means, name, cell(&c, 2, paths[d].mean), cell(&c, 0, paths[d].diameter),
                       cell(&c, 1, figure_paper(f, paper[d].path)));
        free(paths[d].of_length);
    }
    note_job(f);
    figure_annotation(f, "Circuits of batch %d. Paths are the shortest.", SMALL);
}

/* ---- figure 15 ---- */

static void show_loads_of(struct reproduce_figure *f, struct text_table *table, struct plot *p, unsigned degree,
                          unsigned batch)
{
    static const double parts[] = {0, 0.25, 0.5, 0.75, 1};
    enum { PARTS = sizeof parts / sizeof *parts, POINTS = 64 };
    struct topoopt_case at;
    struct topoopt_answer a = answer_of(f, degree, batch, TOPOOPT_CIRCUITS, &at);
    uint32_t count;
    double *load = topoopt_link_loads(&a, &at, &count);
    char name[TEXT];
    struct cells c = {0};
    const char *row[PARTS + 2] = {name};
    (void)snprintf(name, sizeof name, "d = %u, batch %u", degree, batch);
    for (unsigned i = 0; i < PARTS; i++)
        row[1 + i] = cell(&c, 1, load[(uint32_t)(parts[i] * (count - 1))] / 1e6);
    row[1 + PARTS] = cell(&c, 2, load[0] / load[count - 1]);
    text_table_cells(table, PARTS + 2, row);
    struct plot_series *line = plot_add(p, PLOT_CURVE, p->count, "%s", name);
    for (unsigned i = 0; i <= POINTS; i++)
        plot_point(line, load[(uint64_t)i * (count - 1) / POINTS] / 1e6, 100.0 * i / POINTS);
    figure_result(f, json_pack("{s:i, s:i, s:i, s:f, s:f, s:f}", "degree", (int)degree, "batch", (int)batch, "links",
                               (int)count, "least", load[0], "median", load[count / 2], "most", load[count - 1]));
    free(load);
    topoopt_free(&a);
}

void show_topoopt_loads(struct reproduce_figure *f)
{
    struct text_table *table = figure_table(f, 1);
    struct plot *p = figure_plot(f, "Loads of links, DLRM (Wang et al., figure 15)", "MB of an iteration", PLOT_LINEAR,
                                 PLOT_NUMBER, "links (%, with at most so much)");
    text_table_row(table, "MB a link", "least", "25 % of links", "50 %", "75 %", "most", "least / most");
    for (unsigned d = 0; d < DEGREES; d++)
        for (unsigned batch = SMALL; batch <= LARGE; batch *= LARGE / SMALL)
            show_loads_of(f, table, p, degrees[d], batch);
    note_job(f);
}
