/* sweep_report.c - results of a sweep as table, JSON, CSV and plot (tools/sweep/sweep.h). */
#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output.h"
#include "base/value.h"
#include "base/version.h"
#include "tools/draw/plot.h"
#include "tools/draw/text_table.h"
#include "tools/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_KEY = 128 };

/* ---- rows ---- */

static void flatten(json_t *into, const char *prefix, const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        char path[LONGEST_KEY];
        (void)snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", key);
        if (json_is_object(value))
            flatten(into, path, value);
        else if (!json_is_array(value))
            (void)json_object_set(into, path, value);
    }
}

json_t *sweep_flatten(const struct sweep *s, unsigned run, const json_t *report)
{
    json_t *row = json_object();
    for (unsigned i = 0; i < s->axes; i++) {
        const struct sweep_axis *a = s->axis[i];
        const struct sweep_value *v = sweep_value(s, run, i);
        bool has = sweep_applies(s, run, i);
        json_t *value = has ? hx_json_text(v->text) : json_null();
        if (a->numeric && has) {
            json_decref(value);
            value = a->option->kind == HX_OPTION_REAL ? json_real(v->number) : json_integer((json_int_t)v->number);
        }
        (void)json_object_set_new(row, sweep_axis_name(a), value);
    }
    flatten(row, "", report);
    const double iteration = sweep_iteration(report);
    if (!isnan(iteration))
        (void)json_object_set_new(row, "iteration_seconds", json_real(iteration));
    return row;
}

double sweep_figure(const struct sweep_row *row, const char *name)
{
    const json_t *value = row->figures ? json_object_get(row->figures, name) : NULL;
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- table ---- */

static bool has_unit(const char *figure, const char *unit)
{
    return strcmp(sweep_figure_unit(figure), unit) == 0;
}

const char *sweep_figure_text(char text[HX_VALUE_TEXT], const char *name, double value)
{
    if (!isfinite(value))
        return "";
    if (has_unit(name, "%"))
        (void)snprintf(text, HX_VALUE_TEXT, "%.4g %%", value * 100);
    else if (has_unit(name, "ns") || has_unit(name, "s"))
        return hx_value_print_duration(text, (uint64_t)llround(value * (has_unit(name, "s") ? 1e9 : 1)));
    else if (has_unit(name, "Gb/s"))
        (void)snprintf(text, HX_VALUE_TEXT, value < 9999.5 ? "%.4g" : "%.0f", value);
    else if (has_unit(name, "B"))
        return hx_value_print_bytes(text, (uint64_t)value);
    else
        (void)snprintf(text, HX_VALUE_TEXT, "%.6g", value);
    return text;
}

static bool is_unstable(const struct sweep_row *row)
{
    return row->figures && json_is_false(json_object_get(row->figures, "open_loop.stable"));
}

/* Whether rows differ by their rate. */
static bool varies_rate(const struct sweep *s)
{
    const struct sweep_axis *rates = sweep_axis_of(s, "rate");
    return s->saturation || (rates && rates->count > 1);
}

/* Whether it is the end of a range of rates, where sources send as fast as the fabric accepts. */
static bool offers_no_load(const struct sweep *s, const struct sweep_row *row)
{
    const json_t *rate = row->figures ? json_object_get(row->figures, "rate") : NULL;
    bool simulated = row->figures && json_object_get(row->figures, "virtual_seconds");
    bool full = rate && json_number_value(rate) == 1 && varies_rate(s);
    return simulated && full && !json_object_get(row->figures, "open_loop.stable");
}

const char *sweep_outcome(const struct sweep *s, const struct sweep_row *row)
{
    if (row->exit_code < 0)
        return "not run";
    if (row->exit_code == HX_EXIT_DONE)
        return is_unstable(row) ? "unstable" : offers_no_load(s, row) ? "full rate" : "good";
    return row->figures ? "FAILED" : "refused";
}

static unsigned varied(const struct sweep *s)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->axes; i++)
        n += s->axis[i]->count > 1;
    return n;
}

/* Empty if the option does not apply to the run. */
static const char *value_text(const struct sweep *s, unsigned run, unsigned axis)
{
    return sweep_applies(s, run, axis) ? sweep_value(s, run, axis)->text : "";
}

static bool has_figure(const struct sweep *s, const char *name)
{
    unsigned run = 0;
    while (run < s->runs && isnan(sweep_figure(&s->row[run], name)))
        run++;
    return run < s->runs;
}

enum { VARIED = 5, MOST_FIGURES = COLUMNS_MOST };

/* Chooses the table's figures, the most important first: time, Gb/s, then injection if there are several fabrics. */
static unsigned figures_of(const struct sweep *s, const char *figures[MOST_FIGURES])
{
    static const char *const usual[] = {"seconds",        "gbps_per_host",  "injection_gbps",     "planes",
                                        "host_links",     "link_gbps",      "share_of_injection", "share_of_bound",
                                        "latency_ns.p50", "latency_ns.p99", "latency_ns.mean"};
    enum { FIRST_BOUGHT = 2, LAST_BOUGHT = 5 };
    unsigned n = 0;
    for (; n < s->columns.count; n++)
        figures[n] = s->columns.word[n];
    if (n)
        return n;
    const char *first = s->saturation ? "saturation" : s->y_given ? s->y : "";
    if (*first)
        figures[n++] = first;
    if (has_figure(s, "iteration_seconds") && strcmp(first, "iteration_seconds") != 0)
        figures[n++] = "iteration_seconds";
    for (unsigned i = 0; i < sizeof usual / sizeof *usual; i++) {
        const struct sweep_axis *varied_too = sweep_axis_of(s, usual[i]);
        bool there =
            strcmp(sweep_figure_head(first), sweep_figure_head(usual[i])) == 0 || (varied_too && varied_too->count > 1);
        bool bought = i >= FIRST_BOUGHT && i <= LAST_BOUGHT;
        if (!there && (!bought || s->axis[0]->count > 1))
            figures[n++] = usual[i];
    }
    return n;
}

static const char *const *heads_of(const char *heads[MOST_FIGURES], const char *const *figures, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        heads[i] = sweep_figure_head(figures[i]);
    return heads;
}

enum { CELL = 2 * HX_VALUE_TEXT + 4 };

/* A figure, and its interval if several seeds ran. */
static const char *figure_cell(char text[CELL], const struct sweep_row *row, const char *figure)
{
    char value[HX_VALUE_TEXT] = "";
    char half[HX_VALUE_TEXT] = "";
    char name[SWEEP_INTERVAL_NAME];
    const char *mean = sweep_figure_text(value, figure, sweep_figure(row, figure));
    const char *by = sweep_figure_text(half, figure, sweep_figure(row, sweep_interval_name(name, figure)));
    (void)snprintf(text, CELL, "%s%s%s", mean, *by ? " +- " : "", by);
    return text;
}

/* run < 0: the head. */
static void add_row(struct text_table *t, const struct sweep *s, int run, const char *const *figures, unsigned count)
{
    const struct sweep_row *row = run < 0 ? NULL : &s->row[run];
    const char *cells[TEXT_TABLE_COLUMNS];
    char text[MOST_FIGURES][CELL];
    unsigned n = 0;
    for (unsigned i = 0; i < s->axes && n < VARIED; i++)
        if (s->axis[i]->count > 1)
            cells[n++] = row ? value_text(s, (unsigned)run, i) : sweep_axis_name(s->axis[i]);
    for (unsigned i = 0; i < count; i++)
        cells[n++] = row ? figure_cell(text[i], row, figures[i]) : sweep_figure_head(figures[i]);
    cells[n++] = row ? sweep_outcome(s, row) : "result";
    text_table_cells(t, n, cells);
}

static void print_runs(const struct sweep *s, FILE *out)
{
    unsigned first = varied(s) < VARIED ? varied(s) : VARIED;
    const char *figures[MOST_FIGURES];
    const char *heads[MOST_FIGURES];
    unsigned count = figures_of(s, figures);
    struct text_table *t = text_table_new(first);
    for (int run = -1; run < (int)s->runs; run++)
        if (run < 0 || (!s->row[run].again && !s->row[run].left_out))
            add_row(t, s, run, figures, count);
    unsigned gone = s->columns.count ? 0 : text_table_narrow(t, TEXT_TABLE_WIDTH, first, count);
    text_table_print(t, out);
    columns_say_left_out(heads_of(heads, figures, count), count, gone, out);
    text_table_free(t);
}

void sweep_print(const struct sweep *s, FILE *out)
{
    fprintf(out, "%s\n  %s, %s, hxmesh %s\n\n", s->command, s->origin.date, s->origin.machine, HXMESH_VERSION);
    if (s->columns.count || sweep_algorithms(s) == s->axes)
        print_runs(s, out);
    else
        sweep_print_algorithms(s, out);
    sweep_say_left_out(s, out);
}

/* ---- JSON and CSV ---- */

void sweep_write_json(const struct sweep *s, const char *path)
{
    json_t *rows = json_array();
    for (unsigned run = 0; run < s->runs; run++)
        if (s->row[run].figures)
            (void)json_array_append(rows, s->row[run].figures);
    hx_json_write(rows, path);
}

/* Writes every column that any row has. */
void sweep_write_csv(const struct sweep *s, const char *path)
{
    FILE *out = hx_output_open(path);
    json_t *columns = json_object();
    for (unsigned run = 0; run < s->runs; run++)
        if (s->row[run].figures)
            (void)json_object_update_missing(columns, s->row[run].figures);
    for (int run = -1; run < (int)s->runs; run++) {
        const json_t *row = run < 0 ? columns : s->row[run].figures;
        const char *key;
        json_t *value;
        const char *comma = "";
        json_object_foreach(columns, key, value)
        {
            if (!row)
                break;
            (void)fputs(comma, out);
            comma = ",";
            if (run < 0)
                hx_csv_text(out, key);
            else
                hx_csv_value(out, json_object_get(row, key));
        }
        if (row)
            (void)fputc('\n', out);
    }
    json_decref(columns);
    hx_output_close(out, path);
}

/* ---- plot ---- */

const struct sweep_axis *sweep_x(const struct sweep *s)
{
    const struct sweep_axis *best = NULL;
    for (unsigned i = 0; i < s->axes; i++) {
        const struct sweep_axis *a = s->axis[i];
        bool wanted = s->x ? strcmp(sweep_axis_name(a), s->x) == 0 : a->count > 1;
        if (a->numeric && wanted && (!best || a->count > best->count))
            best = a;
    }
    return best;
}

/* Writes the values that distinguish a run's line from the others. */
static void name_line(const struct sweep *s, unsigned run, const struct sweep_axis *x, char name[PLOT_TEXT])
{
    name[0] = '\0';
    for (unsigned i = 0; i < s->axes; i++) {
        const struct sweep_axis *a = s->axis[i];
        size_t used = strlen(name);
        bool is_fabric = i == 0; /* always shown, so that a line has a name */
        if (a == x || (a->count < 2 && !is_fabric) || !sweep_applies(s, run, i))
            continue;
        const char *word = a->numeric || a->set[0] ? sweep_axis_name(a) : "";
        (void)snprintf(name + used, PLOT_TEXT - used, "%s%s%s%.60s", used ? ", " : "", word, *word ? " " : "",
                       sweep_value(s, run, i)->text);
    }
}

static struct plot_series *line_of(struct plot *p, const char *name)
{
    for (unsigned i = 0; i < p->count; i++)
        if (strcmp(p->series[i].name, name) == 0)
            return &p->series[i];
    return plot_add(p, PLOT_LINE, p->count, "%s", name);
}

/* The value of an axis with one value; "varied" if it has several. */
static const char *only_value(const struct sweep *s, const char *name, const char *otherwise)
{
    for (unsigned i = 0; i < s->axes; i++)
        if (strcmp(sweep_axis_name(s->axis[i]), name) == 0)
            return s->axis[i]->count == 1 ? s->axis[i]->value[0].text : "varied";
    return otherwise;
}

/* Display unit of a figure: its name, and a factor. It suits the greatest value, `most`. */
struct drawn_unit {
    const char *name;
    double scale;
};

static struct drawn_unit unit_of(const char *unit, double most)
{
    static const struct drawn_unit times[] = {{"s", 1e-9}, {"ms", 1e-6}, {"us", 1e-3}, {"ns", 1}};
    static const struct drawn_unit sizes[] = {{"GiB", 0x1p-30}, {"MiB", 0x1p-20}, {"KiB", 0x1p-10}, {"B", 1}};
    bool seconds = strcmp(unit, "s") == 0;
    bool time = seconds || strcmp(unit, "ns") == 0;
    if (strcmp(unit, "%") == 0)
        return (struct drawn_unit){unit, 100};
    if (!time && strcmp(unit, "B") != 0)
        return (struct drawn_unit){unit, 1};
    double whole = seconds ? 1e9 : 1;
    unsigned i = 0;
    while (i < 3 && most * whole * (time ? times : sizes)[i].scale < 1)
        i++;
    struct drawn_unit u = (time ? times : sizes)[i];
    u.scale *= whole;
    return u;
}

/* Range of the values of all runs on a plot axis. */
struct drawn {
    double least, most; /* of those above 0 */
    bool some_are_0;
};

static double value_of(const struct sweep *s, unsigned run, const char *figure, unsigned axis)
{
    return figure ? sweep_figure(&s->row[run], figure) : sweep_value(s, run, axis)->number;
}

static struct drawn look_at(const struct sweep *s, const char *figure, unsigned axis)
{
    struct drawn d = {INFINITY, 0, false};
    for (unsigned run = 0; run < s->runs; run++) {
        double value = value_of(s, run, figure, axis);
        d.some_are_0 = d.some_are_0 || value <= 0;
        d.least = value > 0 ? fmin(d.least, value) : d.least;
        d.most = value > 0 ? fmax(d.most, value) : d.most;
    }
    return d;
}

/* A logarithmic scale for a range of two decades or more, unless some values are 0. */
static enum plot_scale scale_of(const struct drawn *d, enum plot_scale otherwise)
{
    enum { MANY = 100 };
    return !d->some_are_0 && d->most >= MANY * d->least ? PLOT_DECADES : otherwise;
}

/* Writes the name of a figure or option in words: "share of injection", "latency p99", "collective bus bandwidth",
 * "time". */
static void write_words(char words[PLOT_TEXT], const char *name)
{
    bool is_time = strcmp(name, "seconds") == 0 || strcmp(name, "virtual_seconds") == 0;
    (void)snprintf(words, PLOT_TEXT, "%.60s", is_time ? "time" : name);
    char *unit = strstr(words, "_ns.");
    if (unit)
        memmove(unit + 1, unit + 4, strlen(unit + 4) + 1);
    char *rate = strstr(words, "_gbps");
    if (rate && !rate[5])
        (void)snprintf(rate, 12, " bandwidth");
    for (char *at = words; (at = strpbrk(at, "_."));)
        *at = ' ';
}

static void write_label(char label[PLOT_TEXT], const char *words, const char *unit)
{
    (void)snprintf(label, PLOT_TEXT, "%.60s%s%s%s", words, *unit ? " (" : "", unit, *unit ? ")" : "");
}

static enum plot_scale x_scale_of(const struct sweep_axis *x, const struct drawn *across)
{
    if (x->doubling && !across->some_are_0)
        return PLOT_BINARY;
    return x->option->kind == HX_OPTION_REAL ? PLOT_LINEAR : PLOT_WHOLE;
}

/* Whether the plotted figure is a count. */
static bool is_whole(const struct sweep *s)
{
    for (unsigned run = 0; run < s->runs; run++) {
        const json_t *value = s->row[run].figures ? json_object_get(s->row[run].figures, s->y) : NULL;
        if (json_is_real(value))
            return false;
    }
    return true;
}

/* Half of the interval around a run's point; 0: it has none. */
static double half_of(const struct sweep *s, unsigned run)
{
    char interval[SWEEP_INTERVAL_NAME];
    double half = sweep_figure(&s->row[run], sweep_interval_name(interval, s->y));
    return isfinite(half) ? half : 0;
}

/* A line of latencies has stable loads only; sources that do not offer a load, as at --rate 1, have another latency. */
static bool is_drawn(const struct sweep *s, unsigned run)
{
    const struct sweep_row *row = &s->row[run];
    return !strstr(s->y, "latency_ns.") || !(is_unstable(row) || offers_no_load(s, row));
}

static void draw_runs(struct plot *p, const struct sweep *s, const struct sweep_axis *x, double x_scale, double y_scale,
                      const char *path)
{
    bool left_out = false;
    unsigned at = 0;
    while (x && s->axis[at] != x)
        at++;
    for (unsigned run = 0; run < s->runs; run++) {
        char name[PLOT_TEXT];
        if (s->row[run].again)
            continue;
        name_line(s, run, x, name);
        struct plot_series *line = line_of(p, name);
        left_out = left_out || !line;
        if (!is_drawn(s, run))
            continue;
        double y = sweep_figure(&s->row[run], s->y) * y_scale;
        plot_point_within(line, value_of(s, run, s->over, at) * x_scale, y, half_of(s, run) * y_scale);
    }
    if (left_out)
        hx_warn(path, "only the first %d lines are drawn", PLOT_MOST_SERIES);
}

/* Makes each line a share of its first point above 0, in percent. */
static void make_relative(struct plot *p)
{
    for (unsigned n = 0; n < p->count; n++) {
        struct plot_series *line = &p->series[n];
        unsigned first = 0;
        while (first < line->points && !(line->y[first] > 0))
            first++;
        const double each = first < line->points ? 100 / line->y[first] : (double)NAN;
        for (unsigned i = 0; i < line->points; i++) {
            line->y[i] *= each;
            line->half[i] *= each;
        }
    }
}

void sweep_write_plot(const struct sweep *s, const char *path)
{
    const struct sweep_axis *x = sweep_x(s);
    const struct sweep_axis *fabrics = s->axis[0];
    unsigned at = 0;
    while (x && s->axis[at] != x)
        at++;
    const struct drawn across = look_at(s, s->over, at);
    const struct drawn up = look_at(s, s->y, 0);
    char title[PLOT_TEXT];
    char label[PLOT_TEXT];
    char x_label[PLOT_TEXT];
    bool bytes = !s->over && x->option->kind == HX_OPTION_BYTES;
    const char *x_unit = s->over ? sweep_figure_unit(s->over) : x->option->kind == HX_OPTION_DURATION ? "ns" : "";
    const struct drawn_unit in_x = unit_of(x_unit, across.most);
    const struct drawn_unit in_y = unit_of(sweep_figure_unit(s->y), up.most);
    char y_words[PLOT_TEXT];
    char x_words[PLOT_TEXT];
    write_words(y_words, s->y);
    write_words(x_words, s->over ? s->over : sweep_axis_name(x));
    (void)snprintf(title, sizeof title, "%.36s over %.36s", y_words, x_words);
    write_label(label, y_words, s->relative ? "% of the first" : in_y.name);
    write_label(x_label, x_words, in_x.name);
    enum plot_scale along = s->over ? PLOT_LINEAR : x_scale_of(x, &across);
    struct plot *p = plot_new(title, x_label, along == PLOT_BINARY ? along : scale_of(&across, along),
                              bytes ? PLOT_BYTES : PLOT_NUMBER, label);
    p->y_scale = scale_of(&up, is_whole(s) && !s->relative ? PLOT_WHOLE : PLOT_LINEAR);
    (void)snprintf(p->note, sizeof p->note, "%.40s, %.8s clock, seed %.16s",
                   fabrics && fabrics->count == 1 ? fabrics->value[0].text : "several fabrics",
                   only_value(s, "clock", "wall"), only_value(s, "seed", "1"));
    (void)snprintf(p->foot[0], PLOT_FOOT, "%s", s->command);
    (void)snprintf(p->foot[1], PLOT_FOOT, "hxmesh %s, %s, %s", HXMESH_VERSION, s->origin.machine, s->origin.date);
    draw_runs(p, s, x, in_x.scale, in_y.scale, path);
    if (s->relative)
        make_relative(p);
    FILE *out = hx_output_open(path);
    plot_write(p, out);
    hx_output_close(out, path);
    free(p);
}
