/* figure.c - prints and writes the results of an experiment (tools/reproduce/figure.h). */
#include "tools/reproduce/figure.h"
#include "base/error.h"
#include "base/json.h"
#include "base/processor.h"
#include "base/text.h"
#include "base/value.h"
#include "base/version.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

void figure_annotation(struct reproduce_figure *f, const char *format, ...)
{
    if (f->annotations == FIGURE_ANNOTATIONS)
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(f->annotation[f->annotations++], FIGURE_ANNOTATION, format, arguments);
    va_end(arguments);
}

struct text_table *figure_table(struct reproduce_figure *f, unsigned left)
{
    return f->table[f->tables++] = text_table_new(left);
}

struct plot *figure_plot(struct reproduce_figure *f, const char *title, const char *x_label, enum plot_scale x_scale,
                         enum plot_unit x_unit, const char *y_label)
{
    struct plot *p = plot_new(title, x_label, x_scale, x_unit, y_label);
    (void)snprintf(p->note, sizeof p->note, "hxmesh, %s%s",
                   f->plan->count ? "simulated on the firmware" : "counted on the graphs",
                   f->plan->effort == REPRODUCE_QUICK ? "; quick version, small fabrics" : "");
    return f->plot[f->plots++] = p;
}

void figure_result(struct reproduce_figure *f, json_t *row)
{
    (void)json_array_append_new(f->results, row);
}

const char *cell(struct cells *c, int digits, double value)
{
    char *text = c->text[c->used++ % TEXT_TABLE_COLUMNS];
    (void)snprintf(text, sizeof c->text[0], "%.*f", digits, value);
    return isfinite(value) ? text : "";
}

const char *cell_bytes(struct cells *c, uint64_t bytes)
{
    return hx_value_print_bytes(c->text[c->used++ % TEXT_TABLE_COLUMNS], bytes);
}

double figure_paper(const struct reproduce_figure *f, double value)
{
    return f->plan->effort == REPRODUCE_QUICK ? NAN : value;
}

json_t *figure_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void figure_begin(struct reproduce_figure *f)
{
    f->origin = origin_now();
    f->results = json_array();
}

/* ---- text ---- */

static unsigned count_of(const struct reproduce_plan *p, enum reproduce_state state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < p->count; i++)
        count += p->run[i].state == state;
    return count;
}

static void print_runs(const struct reproduce_plan *p, FILE *out)
{
    if (p->count == 0)
        return;
    fputc('\n', out);
    struct text_table *t = text_table_new(1);
    text_table_row(t, "command", "wall s", "M packet-hops/s");
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(p, run));) {
        struct cells c = {0};
        text_table_row(t, run->command, cell(&c, 1, run->wall_seconds), cell(&c, 2, run->hops_per_second / 1e6));
    }
    text_table_print(t, out);
    text_table_free(t);
}

static void print_missing(const struct reproduce_plan *p, FILE *out)
{
    unsigned left = count_of(p, REPRODUCE_LEFT);
    unsigned rest = p->count - left - count_of(p, REPRODUCE_DONE);
    if (left)
        fprintf(out, "  - %u of %u runs left out: they would not have ended within the time (--minutes, --full).\n",
                left, p->count);
    if (rest)
        fprintf(out, "  - INCOMPLETE: %u of %u runs were not run to their end.\n", rest, p->count);
}

void figure_print(const struct reproduce_figure *f, FILE *out)
{
    fprintf(out, "%s\n  %s, %s, %u core%s, hxmesh %s, %s version%s\n", f->title, f->origin.date, f->origin.machine,
            hx_processor_cores(), hx_plural(hx_processor_cores()), HXMESH_VERSION, reproduce_efforts[f->plan->effort],
            f->plan->effort == REPRODUCE_QUICK ? ": smaller fabrics than the paper's, so no values of the paper" : "");
    for (unsigned i = 0; i < f->tables; i++) {
        fputc('\n', out);
        text_table_print(f->table[i], out);
    }
    print_runs(f->plan, out);
    fputc('\n', out);
    print_missing(f->plan, out);
    for (unsigned i = 0; i < f->annotations; i++)
        fprintf(out, "  - %s\n", f->annotation[i]);
}

/* ---- JSON and files ---- */

static json_t *runs_json(const struct reproduce_plan *p)
{
    json_t *runs = json_array();
    for (unsigned i = 0; i < p->count; i++)
        (void)json_array_append_new(runs, reproduce_run_json(&p->run[i]));
    return runs;
}

json_t *figure_json(const struct reproduce_figure *f)
{
    json_t *annotations = json_array();
    for (unsigned i = 0; i < f->annotations; i++)
        (void)json_array_append_new(annotations, json_string(f->annotation[i]));
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:b, s:s, s:{s:s, s:I}, s:s, s:O, s:o, s:o}", "schema", 2, "paper",
                     f->paper, "experiment", f->name, "title", f->title, "effort", reproduce_efforts[f->plan->effort],
                     "complete", count_of(f->plan, REPRODUCE_DONE) == f->plan->count, "date", f->origin.date, "machine",
                     "cpu", f->origin.machine, "cores", (json_int_t)hx_processor_cores(), "version", HXMESH_VERSION,
                     "results", f->results, "runs", runs_json(f->plan), "annotations", annotations);
}

static void path_of(const struct reproduce_figure *f, const char *folder, const char *ending, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s%s", folder, f->stem, ending) >= PATH_MAX)
        hx_die(HX_EXIT_ENVIRONMENT, folder, "the path is too long");
}

void figure_write(const struct reproduce_figure *f, const char *folder)
{
    char path[PATH_MAX];
    path_of(f, folder, ".txt", path);
    FILE *out = hx_output_open(path);
    figure_print(f, out);
    hx_output_close(out, path);
    path_of(f, folder, ".json", path);
    hx_json_write(figure_json(f), path);
    for (unsigned i = 0; i < f->plots; i++) {
        char ending[16] = ".svg";
        if (i)
            (void)snprintf(ending, sizeof ending, "-%u.svg", i + 1);
        path_of(f, folder, ending, path);
        out = hx_output_open(path);
        plot_write(f->plot[i], out);
        hx_output_close(out, path);
    }
}

void figure_free(struct reproduce_figure *f)
{
    for (unsigned i = 0; i < f->tables; i++)
        text_table_free(f->table[i]);
    for (unsigned i = 0; i < f->plots; i++)
        free(f->plot[i]);
    json_decref(f->results);
}
