/* plan_report.c - what `hxmesh plan` prints (plan.h). */
#include "base/json.h"
#include "base/text.h"
#include "base/value.h"
#include "tools/draw/text_table.h"
#include "tools/plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

double plan_use(const struct plan *p, const struct plan_result *r, bool recomputed)
{
    struct training_model m;
    training_layout_apply(&m, p->model, &r->candidate.layout);
    const double flops = training_flops(&m, recomputed);
    return flops > 0 && m.flops > 0 ? flops / r->seconds / p->ranks / m.flops : NAN;
}

/* Tokens of an iteration, or samples if they have none. */
static double work_of(const struct plan *p)
{
    return (double)p->model->samples * (p->model->sample_tokens ? (double)p->model->sample_tokens : 1);
}

/* Dollars of the fabric for a million of these. */
static double usd_of(const struct plan *p, const struct plan_result *r)
{
    return 1e6 * train_usd(p->train, p->fabric, r->seconds) / work_of(p);
}

static double rate_of(const struct plan *p, const struct plan_result *r)
{
    return work_of(p) / r->seconds;
}

/* ---- where the time goes ---- */

enum { MOST_PARTS = SCHEDULE_MOST_PURPOSES + 3 };

struct part {
    char name[TRAIN_NAME];
    double seconds;
};

/* Parts of an iteration that add up to it: computing, bubble, exposed communication by purpose, what is left. What a
 * stage waits for on an ideal network is bubble, and no communication of the pipeline. */
static unsigned parts_of(const struct plan_result *r, struct part part[MOST_PARTS])
{
    const double bubble = fmax(0, r->ideal - r->computing);
    double rest = r->seconds - r->computing - bubble;
    unsigned count = 0;
    part[count++] = (struct part){"computing", r->computing};
    part[count++] = (struct part){"bubble", bubble};
    for (unsigned i = 0; i < r->spent.purposes; i++) {
        const struct train_purpose *p = &r->spent.purpose[i];
        const double waits = strcmp(p->name, "pipeline") == 0 ? bubble : 0;
        part[count].seconds = fmin(fmax(0, rest), fmax(0, p->exposed - waits));
        (void)snprintf(part[count].name, TRAIN_NAME, "%s", p->name[0] ? p->name : "other");
        rest -= part[count++].seconds;
    }
    part[count++] = (struct part){"waiting", fmax(0, rest)};
    return count;
}

/* The longest part beside computing. */
static struct part longest_wait(const struct plan_result *r)
{
    struct part part[MOST_PARTS];
    const unsigned count = parts_of(r, part);
    unsigned longest = 1;
    for (unsigned i = 2; i < count; i++)
        longest = part[i].seconds > part[longest].seconds ? i : longest;
    return part[longest];
}

/* ---- text ---- */

static const char *percent(char text[HX_VALUE_TEXT], double share)
{
    (void)snprintf(text, HX_VALUE_TEXT, isnan(share) ? "-" : "%.1f", 100 * share);
    return text;
}

enum { CELL = TRAIN_NAME + 32 };

enum column {
    NUMBER,
    TENSOR,
    CONTEXT,
    DATA,
    PIPELINE,
    EXPERT,
    BATCH,
    ZERO,
    RECOMPUTE,
    ITERATION,
    MFU,
    MEMORY,
    PACKETS,
    WAITS,
    COLUMNS
};

/* Columns in which some result differs from what most models have. */
static bool is_column(const struct plan *p, enum column column)
{
    bool any = column != CONTEXT && column != EXPERT && column != RECOMPUTE && column != PACKETS;
    for (size_t i = 0; i < p->results && !any; i++) {
        const struct training_layout *l = &p->result[i].candidate.layout;
        any = (column == CONTEXT && l->parallel[TRAINING_CONTEXT] > 1) || (column == EXPERT && l->expert > 1) ||
              (column == RECOMPUTE && l->recompute) || (column == PACKETS && p->result[i].confirmed > 0);
    }
    return any;
}

static void add_cells(struct text_table *table, const struct plan *p, const char *const all[COLUMNS])
{
    const char *cell[COLUMNS];
    unsigned count = 0;
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (is_column(p, (enum column)i))
            cell[count++] = all[i];
    }
    text_table_cells(table, count, cell);
}

static void add_head(struct text_table *table, const struct plan *p)
{
    static const char *const name[COLUMNS] = {
        [TENSOR] = "tensor", [CONTEXT] = "context",     [DATA] = "data", [PIPELINE] = "pipeline",
        [EXPERT] = "expert", [BATCH] = "batch",         [ZERO] = "ZeRO", [RECOMPUTE] = "recompute",
        [MFU] = "MFU %",     [ITERATION] = "iteration", [MEMORY] = "GB", [PACKETS] = "packets",
        [NUMBER] = "",       [WAITS] = "waits for"};
    add_cells(table, p, name);
}

__attribute__((format(printf, 2, 3))) static const char *print(char text[CELL], const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, CELL, format, values);
    va_end(values);
    return text;
}

static const char *pipeline_text(char text[CELL], const struct training_layout *l)
{
    if (l->chunks == 1)
        return print(text, "%" PRIu32, l->parallel[TRAINING_PIPELINE]);
    return print(text, "%" PRIu32 " x %" PRIu32, l->parallel[TRAINING_PIPELINE], l->chunks);
}

static const char *packets_text(char text[CELL], const struct plan_result *r)
{
    char seconds[HX_VALUE_TEXT];
    if (r->confirmed <= 0)
        return "-";
    return print(text, "%s (%+.1f %%)", hx_value_print_seconds(seconds, r->confirmed),
                 100 * (r->seconds / r->confirmed - 1));
}

static void add_row(struct text_table *table, const struct plan *p, const struct plan_result *r, unsigned number)
{
    const struct training_layout *l = &r->candidate.layout;
    const struct part wait = longest_wait(r);
    char text[COLUMNS][CELL];
    const char *cell[COLUMNS] = {[NUMBER] = print(text[NUMBER], "%u", number),
                                 [TENSOR] = print(text[TENSOR], "%" PRIu32, l->parallel[TRAINING_TENSOR]),
                                 [CONTEXT] = print(text[CONTEXT], "%" PRIu32, l->parallel[TRAINING_CONTEXT]),
                                 [DATA] = print(text[DATA], "%" PRIu32, l->parallel[TRAINING_DATA]),
                                 [PIPELINE] = pipeline_text(text[PIPELINE], l),
                                 [EXPERT] = print(text[EXPERT], "%" PRIu32, l->expert),
                                 [BATCH] = print(text[BATCH], "%" PRIu64, l->batch),
                                 [ZERO] = print(text[ZERO], "%u", l->zero),
                                 [RECOMPUTE] = l->recompute ? training_recompute_names[l->recompute] : "-",
                                 [ITERATION] = hx_value_print_seconds(text[ITERATION], r->seconds),
                                 [MFU] = percent(text[MFU], plan_use(p, r, false)),
                                 [MEMORY] = print(text[MEMORY], "%.3g", (double)r->bytes / 1e9),
                                 [PACKETS] = packets_text(text[PACKETS], r),
                                 [WAITS] =
                                     print(text[WAITS], "%.40s %.0f %%", wait.name, 100 * wait.seconds / r->seconds)};
    add_cells(table, p, cell);
}

bool plan_is_first(const struct plan *p, size_t number)
{
    size_t i = 0;
    while (i < number &&
           !training_layout_has_shares(&p->result[i].candidate.layout, &p->result[number].candidate.layout))
        i++;
    return i == number;
}

/* Whether no shorter iteration needs as little memory. */
static bool is_on_front(const struct plan *p, size_t number)
{
    for (size_t i = 0; i < number; i++) {
        if (p->result[i].bytes <= p->result[number].bytes)
            return false;
    }
    return true;
}

typedef bool is_shown(const struct plan *p, size_t number);

/* Prints up to `top` results, if there are more than `least`. */
static void print_results(const struct plan *p, is_shown *shown, unsigned top, unsigned least, const char *title)
{
    struct text_table *table = text_table_new(0);
    unsigned count = 0;
    add_head(table, p);
    for (size_t i = 0; i < p->results && count < top; i++) {
        if (shown(p, i))
            add_row(table, p, &p->result[i], ++count);
    }
    if (count > least) {
        printf("%s", title);
        text_table_print(table, stdout);
    }
    text_table_free(table);
}

/* The first result with other degrees of parallelism; p->results: none. */
static size_t runner_up(const struct plan *p)
{
    const struct training_layout *best = &p->result[0].candidate.layout;
    size_t number = 1;
    while (number < p->results &&
           memcmp(best->parallel, p->result[number].candidate.layout.parallel, sizeof best->parallel) == 0)
        number++;
    return number;
}

/* What the runner-up spends more time on. */
static void print_runner_up(const struct plan *p)
{
    const size_t number = runner_up(p);
    if (number >= p->results)
        return;
    const struct plan_result *best = &p->result[0];
    const struct plan_result *r = &p->result[number];
    struct part of_best[MOST_PARTS];
    struct part of_it[MOST_PARTS];
    const unsigned count = parts_of(r, of_it);
    const unsigned best_count = parts_of(best, of_best);
    const char *before = ": ";
    char text[HX_VALUE_TEXT];
    char layout[TRAINING_LAYOUT_TEXT];
    printf("%-16s%s, is %.1f %% slower", "runner-up", training_layout_text(layout, &r->candidate.layout),
           100 * (r->seconds / best->seconds - 1));
    for (unsigned i = 0; i < count; i++) {
        double difference = of_it[i].seconds;
        for (unsigned k = 0; k < best_count; k++)
            difference -= strcmp(of_best[k].name, of_it[i].name) == 0 ? of_best[k].seconds : 0;
        if (fabs(difference) < 0.001 * best->seconds)
            continue;
        printf("%s%s%s %s", before, difference > 0 ? "+" : "-", hx_value_print_seconds(text, fabs(difference)),
               of_it[i].name);
        before = ", ";
    }
    printf("\n");
}

static void print_of_best(const struct plan *p)
{
    const struct plan_result *best = &p->result[0];
    char text[TRAINING_LAYOUT_TEXT];
    char rate[HX_VALUE_TEXT];
    const bool tokens = p->model->sample_tokens > 0;
    const double mfu = plan_use(p, best, false);
    printf("\n%-16s%s, --place %s\n", "best", training_layout_text(text, &best->candidate.layout),
           best->candidate.place ? best->candidate.place : "linear");
    printf("%-16s%s %s/s, %.4g $ a million %s", "", train_rate_text(rate, rate_of(p, best)),
           tokens ? "tokens" : "samples", usd_of(p, best), tokens ? "tokens" : "samples");
    if (!isnan(mfu))
        printf(", MFU %.1f %%, HFU %.1f %%", 100 * mfu, 100 * plan_use(p, best, true));
    printf("\n");
}

static void print_counts(const struct plan *p)
{
    const struct plan_counts *c = &p->counts;
    printf("%-16s%" PRIu64 " divide the model, %" PRIu64 " surely too large, %" PRIu64 " of %" PRIu64
           " looked at do not fit\n",
           "layouts", c->layouts, c->too_large, c->unfit, c->tried);
    printf("%-16s%" PRIu64 " estimated, and %" PRIu64 " orders of axes and placements\n", "", c->estimated, c->varied);
    if (p->interrupted)
        printf("%-16sinterrupted: the best so far\n", "");
    else if (c->open && c->estimated >= p->most_estimates)
        printf("%-16s%" PRIu64 " others have a bound below the best: --estimates ended the search\n", "", c->open);
    else if (c->open)
        printf("%-16s%" PRIu64 " others have a bound below the best, but are slower by what their kind takes\n", "",
               c->open);
    else
        printf("%-16sno other has a bound below the best\n", "");
    if (p->model->memory == 0)
        printf("%-16snot known (accelerator.memory): all fit\n", "memory");
    printf("\n");
}

static void print_none(const struct plan *p)
{
    const struct plan_counts *c = &p->counts;
    if (c->failed)
        printf("none can be estimated: %s: %s\n", p->problem.where, p->problem.what);
    else if (c->least != UINT64_MAX)
        printf("none fits into %.4g GB: the smallest looked at needs %.4g GB\n", (double)p->model->memory / 1e9,
               (double)c->least / 1e9);
    else
        printf("none fits into %.4g GB\n", (double)p->model->memory / 1e9);
}

static void print_plan(const struct plan *p, unsigned top)
{
    printf("%s: %s, %" PRIu32 " rank%s\n", p->fabric->spec.name, p->train->job.path, p->ranks, hx_plural(p->ranks));
    print_counts(p);
    if (p->results == 0) {
        print_none(p);
        return;
    }
    print_results(p, plan_is_first, top, 0, "");
    print_results(p, is_on_front, top, 1, "\nless memory, each the fastest of those estimated\n");
    print_of_best(p);
    print_runner_up(p);
}

/* Each fabric by its own best layout. */
static void print_compared(const struct plan *p, unsigned count)
{
    struct text_table *table = text_table_new(1);
    text_table_row(table, "fabric", "injects", "M$", "iteration", p->model->sample_tokens ? "tokens/s" : "samples/s",
                   "a M$", "best layout");
    for (unsigned i = 0; i < count; i++) {
        const struct plan *of = &p[i];
        char text[6][HX_VALUE_TEXT];
        char layout[TRAINING_LAYOUT_TEXT] = "-";
        const bool any = of->results > 0;
        (void)snprintf(text[0], sizeof text[0], "%.6g", injection_total(&of->fabric->injected.injection));
        (void)snprintf(text[1], sizeof text[1], "%.4g", of->fabric->usd / 1e6);
        if (any)
            (void)training_layout_text(layout, &of->result[0].candidate.layout);
        text_table_row(table, of->fabric->spec.name, text[0], text[1],
                       any ? hx_value_print_seconds(text[2], of->result[0].seconds) : "-",
                       any ? train_rate_text(text[3], rate_of(of, &of->result[0])) : "-",
                       any ? train_rate_text(text[4], rate_of(of, &of->result[0]) / of->fabric->usd * 1e6) : "-",
                       layout);
    }
    printf("\n");
    text_table_print(table, stdout);
    text_table_free(table);
}

void plan_print(const struct plan *p, unsigned count, unsigned top)
{
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            printf("\n");
        print_plan(&p[i], top);
    }
    if (count > 1)
        print_compared(p, count);
}

/* ---- JSON ---- */

static json_t *layout_json(const struct training_layout *l)
{
    json_t *o = json_object();
    json_t *order = json_array();
    for (unsigned axis = 0; axis < TRAINING_AXES; axis++) {
        json_object_set_new(o, training_axis_names[axis], json_integer(l->parallel[axis]));
        json_array_append_new(order, json_string(training_axis_names[l->order[axis]]));
    }
    json_object_set_new(o, "expert", json_integer(l->expert));
    json_object_set_new(o, "chunks", json_integer(l->chunks));
    json_object_set_new(o, "batch", json_integer((json_int_t)l->batch));
    json_object_set_new(o, "zero", json_integer(l->zero));
    json_object_set_new(o, "recompute", json_string(training_recompute_names[l->recompute]));
    json_object_set_new(o, "order", order);
    return o;
}

static json_t *result_json(const struct plan *p, size_t number)
{
    const struct plan_result *r = &p->result[number];
    struct part part[MOST_PARTS];
    const unsigned count = parts_of(r, part);
    json_t *parts = json_object();
    for (unsigned i = 0; i < count; i++)
        json_object_set_new(parts, part[i].name, json_real(part[i].seconds));
    json_t *o = json_pack("{s:o, s:o, s:f, s:f, s:I, s:b, s:o}", "layout", layout_json(&r->candidate.layout), "place",
                          hx_json_text(r->candidate.place), "iteration_seconds", r->seconds, "bound_seconds",
                          r->candidate.bound, "memory_bytes", (json_int_t)r->bytes, "on_front", is_on_front(p, number),
                          "parts", parts);
    json_object_set_new(o, "tokens_per_second", hx_json_real(p->model->sample_tokens ? rate_of(p, r) : NAN));
    json_object_set_new(o, "samples_per_second", json_real((double)p->model->samples / r->seconds));
    json_object_set_new(o, "mfu", hx_json_real(plan_use(p, r, false)));
    json_object_set_new(o, "hfu", hx_json_real(plan_use(p, r, true)));
    json_object_set_new(o, "usd_per_million", json_real(usd_of(p, r)));
    json_object_set_new(o, "confirmed_seconds", hx_json_real(r->confirmed > 0 ? r->confirmed : NAN));
    return o;
}

static json_t *plan_of_json(const struct plan *p, unsigned top)
{
    const struct plan_counts *c = &p->counts;
    json_t *results = json_array();
    unsigned count = 0;
    for (size_t i = 0; i < p->results; i++) {
        const bool is_first = plan_is_first(p, i);
        if ((is_first && count < top) || is_on_front(p, i))
            json_array_append_new(results, result_json(p, i));
        count += is_first;
    }
    json_t *o = json_pack("{s:o, s:o, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "spec",
                          hx_json_text(p->fabric->spec.fabric), "name", hx_json_text(p->fabric->spec.name), "ranks",
                          (json_int_t)p->ranks, "injection_gbps", injection_total(&p->fabric->injected.injection),
                          "usd", p->fabric->usd, "layouts", (json_int_t)c->layouts, "too_large",
                          (json_int_t)c->too_large, "tried", (json_int_t)c->tried, "unfit", (json_int_t)c->unfit,
                          "estimated", (json_int_t)c->estimated, "open", (json_int_t)c->open, "results", results);
    json_object_set_new(o, "varied", json_integer((json_int_t)c->varied));
    json_object_set_new(o, "interrupted", json_boolean(p->interrupted));
    return o;
}

json_t *plan_json(const struct plan *p, unsigned count, unsigned top)
{
    json_t *fabrics = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(fabrics, plan_of_json(&p[i], top));
    return json_pack("{s:o, s:o}", "model", hx_json_text(p->train->job.path), "fabrics", fabrics);
}
