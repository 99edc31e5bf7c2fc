/* figure.h - results of an experiment: tables, plots, JSON and annotations; and their files. */
#ifndef HXMESH_TOOLS_REPRODUCE_FIGURE_H
#define HXMESH_TOOLS_REPRODUCE_FIGURE_H

#include "tools/draw/plot.h"
#include "tools/draw/text_table.h"
#include "tools/origin.h"
#include "tools/reproduce/plan.h"

enum { FIGURE_PARTS = 8, FIGURE_ANNOTATIONS = 12, FIGURE_ANNOTATION = 400, FIGURE_STEM = 64 };

struct reproduce_figure {
    const char *paper;
    const char *name;       /* in the paper */
    char stem[FIGURE_STEM]; /* path of its files, without suffix */
    const char *title;
    const struct reproduce_plan *plan;
    struct origin origin;
    struct text_table *table[FIGURE_PARTS];
    unsigned tables;
    struct plot *plot[FIGURE_PARTS];
    unsigned plots;
    json_t *results; /* an array: a row for each point */
    char annotation[FIGURE_ANNOTATIONS][FIGURE_ANNOTATION];
    unsigned annotations;
};

/* Each fills the results of its experiment from a plan after its runs. */
void show_table2(struct reproduce_figure *f);
void show_fig11(struct reproduce_figure *f);
void show_fig12(struct reproduce_figure *f);
void show_all_reduce(struct reproduce_figure *f); /* figures 13 and 17 */

/* ---- for experiments ---- */

__attribute__((format(printf, 2, 3))) void figure_annotation(struct reproduce_figure *f, const char *format, ...);
struct text_table *figure_table(struct reproduce_figure *f, unsigned left);
/* Adds a plot; the note below its title names the effort. */
struct plot *figure_plot(struct reproduce_figure *f, const char *title, const char *x_label, enum plot_scale x_scale,
                         enum plot_unit x_unit, const char *y_label);
void figure_result(struct reproduce_figure *f, json_t *row);

/* Numbers as the cells of one row: empty if not finite. */
struct cells {
    unsigned used;
    char text[TEXT_TABLE_COLUMNS][32];
};
const char *cell(struct cells *c, int digits, double value);
const char *cell_bytes(struct cells *c, uint64_t bytes);

/* A value of the paper; NAN in quick results, since their fabrics are smaller. */
double figure_paper(const struct reproduce_figure *f, double value);

/* A real; null if not finite. */
json_t *figure_number(double value);

/* ---- for the program ---- */

/* Notes date and machine. The caller has set name, title and plan. */
void figure_begin(struct reproduce_figure *f);
void figure_print(const struct reproduce_figure *f, FILE *out);
json_t *figure_json(const struct reproduce_figure *f);
/* Writes DIR/NAME.txt, .json and .svg (NAME-2.svg, ... for more plots); dies if it cannot. */
void figure_write(const struct reproduce_figure *f, const char *folder);
void figure_free(struct reproduce_figure *f);

#endif
