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

void figure_notes(struct reproduce_figure *f, const char *const *notes)
{
    for (; *notes; notes++)
        figure_annotation(f, "%s", *notes);
}

struct plot *figure_plot(struct reproduce_figure *f, const char *x_label, enum plot_scale x_scale, const char *y_label,
                         const char *title, ...)
{
    char text[PLOT_TEXT];
    va_list arguments;
    va_start(arguments, title);
    (void)vsnprintf(text, sizeof text, title, arguments);
    va_end(arguments);
    struct plot *p = plot_new(text, x_label, x_scale, PLOT_NUMBER, y_label);
    (void)snprintf(p->note, sizeof p->note, "hxmesh, %s%s",
                   f->plan->count ? "simulated on the firmware" : "counted on the graphs",
                   f->plan->effort == REPRODUCE_QUICK ? "; quick version, small fabrics" : "");
    return f->plot[f->plots++] = p;
}

/* ---- rows ---- */

struct column {
    char head[48], key[32], form[16];
};

/* Reads the next column; NULL: there is none. Returns what is behind it. */
static const char *next_column(const char *columns, struct column *c)
{
    char *const part[] = {c->head, c->key, c->form};
    const size_t room[] = {sizeof c->head, sizeof c->key, sizeof c->form};
    if (*columns == '\0')
        return NULL;
    for (unsigned i = 0; i < 3; i++) {
        const size_t length = strcspn(columns, i < 2 ? "|" : ";");
        (void)snprintf(part[i], room[i], "%.*s", (int)length, columns);
        columns += length + (columns[length] != '\0');
    }
    return columns + (*columns == ' ');
}

static bool is(const struct column *c, const char *form)
{
    return strcmp(c->form, form) == 0;
}

/* Texts of the cells of one row. */
struct cells {
    unsigned used;
    const char *cell[TEXT_TABLE_COLUMNS];
    char text[TEXT_TABLE_COLUMNS][32];
};

static void add_cell(struct cells *c, const struct column *column, double value)
{
    char *text = c->text[c->used], *end;
    const int digits = (int)strtol(column->form, &end, 10);
    c->cell[c->used++] = text;
    if (!isfinite(value))
        *text = '\0';
    else if (is(column, "bytes"))
        (void)hx_value_print_bytes(text, (uint64_t)value);
    else if (is(column, "short"))
        (void)snprintf(text, sizeof c->text[0], "%.3g", value);
    else
        (void)snprintf(text, sizeof c->text[0], "%.*f", digits,
                       value * (strncmp(end, " x ", 3) == 0 ? strtod(end + 3, NULL) : 1));
}

static json_t *json_of(const struct column *column, double value)
{
    if (!isfinite(value))
        return json_null();
    if (is(column, "flag"))
        return json_boolean(value != 0);
    return is(column, "count") || is(column, "bytes") ? json_integer((json_int_t)value) : json_real(value);
}

struct text_table *figure_table(struct reproduce_figure *f, unsigned left, const char *columns)
{
    struct column c[TEXT_TABLE_COLUMNS];
    const char *head[TEXT_TABLE_COLUMNS];
    unsigned count = 0;
    while ((columns = next_column(columns, &c[count]))) {
        head[count] = c[count].head;
        count += *head[count] != '\0';
    }
    f->table[f->tables] = text_table_new(left);
    text_table_cells(f->table[f->tables], count, head);
    return f->table[f->tables++];
}

struct text_table *figure_matrix(struct reproduce_figure *f, const char *title, unsigned count,
                                 const char *const *names)
{
    const char *head[TEXT_TABLE_COLUMNS] = {title};
    for (unsigned i = 0; i < count; i++)
        head[1 + i] = names[i];
    f->table[f->tables] = text_table_new(1);
    text_table_cells(f->table[f->tables], 1 + count, head);
    return f->table[f->tables++];
}

void figure_keys(json_t *o, const char *columns, const char *const *text, const double *number)
{
    for (struct column c; (columns = next_column(columns, &c));) {
        json_t *value = is(&c, "text") ? json_string(*text++) : json_of(&c, *number++);
        if (c.key[0])
            (void)json_object_set(o, c.key, value);
        json_decref(value);
    }
}

static void add_cells(struct text_table *t, const char *columns, const char *const *text, const double *number)
{
    struct cells cells = {.used = 0};
    for (struct column c; (columns = next_column(columns, &c));) {
        const char *word = is(&c, "text") ? *text++ : NULL;
        const double value = word ? NAN : *number++;
        if (c.head[0] && word)
            cells.cell[cells.used++] = word;
        else if (c.head[0])
            add_cell(&cells, &c, value);
    }
    text_table_cells(t, cells.used, cells.cell);
}

json_t *figure_row(struct reproduce_figure *f, struct text_table *t, const char *columns, const char *const *text,
                   const double *number)
{
    json_t *result = json_object();
    if (t)
        add_cells(t, columns, text, number);
    figure_keys(result, columns, text, number);
    if (json_object_size(result) > 0)
        (void)json_array_append(f->results, result);
    json_decref(result);
    return result;
}

void figure_numbers(struct text_table *t, const char *name, int digits, unsigned count, const double *number)
{
    struct cells c = {.used = 1, .cell = {name}};
    struct column column = {.head = ""};
    (void)snprintf(column.form, sizeof column.form, "%d", digits);
    for (unsigned i = 0; i < count; i++)
        add_cell(&c, &column, number[i]);
    text_table_cells(t, c.used, c.cell);
}

void figure_mark(struct plot_series *s, double x, double value)
{
    if (isfinite(value))
        plot_point(s, x, value);
}

double figure_paper(const struct reproduce_figure *f, double value)
{
    return f->plan->effort == REPRODUCE_QUICK ? NAN : value;
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
        char seconds[32], hops[32];
        (void)snprintf(seconds, sizeof seconds, "%.1f", run->wall_seconds);
        (void)snprintf(hops, sizeof hops, "%.2f", run->hops_per_second / 1e6);
        text_table_row(t, run->command, seconds, hops);
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
