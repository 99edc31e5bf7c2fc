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

/* ---- for experiments ---- */

__attribute__((format(printf, 2, 3))) void figure_annotation(struct reproduce_figure *f, const char *format, ...);
/* Annotations without a format; ends with NULL. */
void figure_notes(struct reproduce_figure *f, const char *const *notes);

/* Columns are "HEAD|KEY|FORM; ...": what stands above them in the table (nothing: only in the results), their key in
 * the results (nothing: only in the table), and how they are shown: "text", "count", "bytes" ("4 MiB" in the table),
 * "short" (three significant digits), "flag" (true or false), or a real's digits in the table, "2", or "2 x 1e3" if the
 * table shows the value times that. The results have null for what is not finite. A row's texts and numbers: */
#define TEXTS(...)   ((const char *const[]){__VA_ARGS__})
#define NUMBERS(...) ((const double[]){__VA_ARGS__})

/* Adds a table, and its head. The first `left` columns are left aligned. */
struct text_table *figure_table(struct reproduce_figure *f, unsigned left, const char *columns);
/* The same with a column for each name behind the title's. */
struct text_table *figure_matrix(struct reproduce_figure *f, const char *title, unsigned count,
                                 const char *const *names);
/* Adds a row to the table (NULL: none) and to the results: the columns take their texts and numbers in order. Returns
 * the row of the results, for more keys; not valid if no column has a key. */
json_t *figure_row(struct reproduce_figure *f, struct text_table *t, const char *columns, const char *const *text,
                   const double *number);
/* Only the keys, into an object. */
void figure_keys(json_t *o, const char *columns, const char *const *text, const double *number);
/* A row of a name and numbers. */
void figure_numbers(struct text_table *t, const char *name, int digits, unsigned count, const double *number);

/* Adds a plot; the note below its title names the effort. */
__attribute__((format(printf, 5, 6))) struct plot *figure_plot(struct reproduce_figure *f, const char *x_label,
                                                               enum plot_scale x_scale, const char *y_label,
                                                               const char *title, ...);

/* Marks a value of the paper, if there is one: the legend has no series without points. */
void figure_mark(struct plot_series *s, double x, double value);

/* A value of the paper; NAN in quick results, since their fabrics are smaller. */
double figure_paper(const struct reproduce_figure *f, double value);

/* ---- for the program ---- */

/* Notes date and machine. The caller has set name, title and plan. */
void figure_begin(struct reproduce_figure *f);
void figure_print(const struct reproduce_figure *f, FILE *out);
json_t *figure_json(const struct reproduce_figure *f);
/* Writes DIR/NAME.txt, .json and .svg (NAME-2.svg, ... for more plots); dies if it cannot. */
void figure_write(const struct reproduce_figure *f, const char *folder);
void figure_free(struct reproduce_figure *f);

#endif
