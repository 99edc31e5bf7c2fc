/* train_report.c - what `hxmesh train` prints (train.h). */
#include "base/json.h"
#include "base/text.h"
#include "base/value.h"
#include "schedule/notes.h"
#include "schedule/training/loads.h"
#include "tools/draw/text_table.h"
#include "tools/train/train.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct train_times *train_times_of(const struct train *t, const struct train_fabric *f)
{
    return t->only_estimate ? &f->estimate : &f->exact;
}

/* What `first` saves beside `other` for the same speed-up: ratio of costs times ratio of overheads (SC22, figure 15);
 * NAN: an overhead is 0. */
static double saving_of(const struct train *t, const struct train_fabric *first, const struct train_fabric *other)
{
    const struct train_times *a = train_times_of(t, first);
    const struct train_times *b = train_times_of(t, other);
    const bool any = a->there && b->there && train_overhead(a) > 0 && first->usd > 0;
    return any ? other->usd / first->usd * (train_overhead(b) / train_overhead(a)) : NAN;
}

/* The estimate's difference from the run, as a share of the run; NAN: there are not both. */
static double difference(const struct train_fabric *f)
{
    const bool both = f->exact.there && f->estimate.there && f->exact.iteration > 0;
    return both ? f->estimate.iteration / f->exact.iteration - 1 : NAN;
}

/* ---- text ---- */

enum { MOST_COLUMNS = 10 + SCHEDULE_MOST_PURPOSES };

static void print_share(const char *label, double seconds, const struct train_times *times, const char *what)
{
    char text[HX_VALUE_TEXT];
    const double share = times->iteration > 0 ? 100 * fmax(0, seconds) / times->iteration : 0;
    printf("%-16s%s, %.1f %%: %s\n", label, hx_value_print_seconds(text, seconds), share, what);
}

static void print_times(const struct train *t, const struct train_fabric *f)
{
    const struct train_times *times = train_times_of(t, f);
    char text[2][HX_VALUE_TEXT];
    printf("%-16s%s", "iteration", hx_value_print_seconds(text[0], times->iteration));
    if (t->only_estimate)
        printf(" by the estimate");
    else if (f->estimate.there)
        printf(", by the estimate %s (%+.1f %%)", hx_value_print_seconds(text[1], f->estimate.iteration),
               100 * difference(f));
    printf("\n");
    print_share("computing", times->computing, times, "of a rank, mean");
    print_share("bubble", times->ideal - times->computing, times, "a rank waits even on an ideal network, mean");
    print_share("network", train_overhead(times), times, "the network adds to both");
}

static const char *purpose_name(const struct train_purpose *p)
{
    return p->name[0] ? p->name : "other";
}

static void print_purposes(const struct train_fabric *f)
{
    if (f->spent.purposes == 0)
        return;
    struct text_table *table = text_table_new(1);
    text_table_row(table, "communication", "bytes", "time", "exposed", "hidden");
    for (unsigned i = 0; i < f->spent.purposes; i++) {
        const struct train_purpose *p = &f->spent.purpose[i];
        char text[4][HX_VALUE_TEXT];
        text_table_row(table, purpose_name(p), hx_value_print_bytes(text[0], (uint64_t)llround(p->bytes)),
                       hx_value_print_seconds(text[1], p->seconds), hx_value_print_seconds(text[2], p->exposed),
                       hx_value_print_seconds(text[3], p->hidden));
    }
    printf("\n");
    text_table_print(table, stdout);
    text_table_free(table);
}

/* By the estimate: what a stage computes, and what it waits for. */
static void print_stages(const struct train_fabric *f)
{
    struct text_table *table = text_table_new(1);
    const char *cell[2 + SCHEDULE_MOST_PURPOSES] = {"stage", "computing"};
    char text[2 + SCHEDULE_MOST_PURPOSES][HX_VALUE_TEXT];
    const unsigned columns = 2 + f->spent.purposes;
    for (unsigned i = 0; i < f->spent.purposes; i++)
        cell[2 + i] = purpose_name(&f->spent.purpose[i]);
    text_table_cells(table, columns, cell);
    for (uint32_t stage = 0; stage < f->spent.stages; stage++) {
        const struct train_stage *s = &f->spent.stage[stage];
        (void)snprintf(text[0], sizeof text[0], "%" PRIu32, stage);
        cell[0] = text[0];
        cell[1] = hx_value_print_seconds(text[1], s->computing);
        for (unsigned i = 0; i < f->spent.purposes; i++)
            cell[2 + i] = hx_value_print_seconds(text[2 + i], s->exposed[i]);
        text_table_cells(table, columns, cell);
    }
    if (f->spent.stages) {
        printf("\n");
        text_table_print(table, stdout);
    }
    text_table_free(table);
}

static void print_links(const struct train_fabric *f)
{
    struct text_table *table = text_table_new(1);
    text_table_row(table, "links", "number", "busy %", "busiest %");
    for (unsigned i = 0; i < f->spent.link_classes; i++) {
        const struct train_class *c = &f->spent.link_class[i];
        char text[3][HX_VALUE_TEXT];
        (void)snprintf(text[0], sizeof text[0], "%.0f", c->links);
        (void)snprintf(text[1], sizeof text[1], "%.1f", 100 * c->busy);
        (void)snprintf(text[2], sizeof text[2], "%.1f", 100 * c->busiest);
        text_table_row(table, c->name, text[0], text[1], text[2]);
    }
    printf("\n");
    text_table_print(table, stdout);
    text_table_free(table);
    for (unsigned i = 0; i < f->spent.links; i++)
        printf("%-16s%s to %s: %.1f %%\n", i ? "" : "busiest", f->spent.link[i].from, f->spent.link[i].to,
               100 * f->spent.link[i].busy);
    printf("\n");
}

const char *train_rate_text(char *text, double rate)
{
    static const char *const letter[] = {"", " k", " M", " G", " T"};
    unsigned i = 0;
    for (; rate >= 1e4 && i + 1 < sizeof letter / sizeof *letter; i++)
        rate /= 1e3;
    (void)snprintf(text, HX_VALUE_TEXT, "%.4g%s", rate, letter[i]);
    return text;
}

/* Operations a second of an accelerator, with what is recomputed or without; NAN: not known. */
static double flops_of(const struct train *t, const struct train_fabric *f, bool recomputed)
{
    const struct training_model *m = t->job.model;
    const double iteration = train_times_of(t, f)->iteration;
    if (!m)
        return NAN;
    const double flops = training_flops(m, recomputed);
    return flops > 0 && m->flops > 0 && iteration > 0 ? flops / iteration / t->job.ranks : NAN;
}

static void print_use(const struct train *t, const struct train_fabric *f)
{
    const double model = flops_of(t, f, false);
    const double all = flops_of(t, f, true);
    if (isnan(model))
        return;
    printf("%-16s%.1f %% of peak by the model's operations (MFU), %.4g TFLOP/s an accelerator", "use",
           100 * model / t->job.model->flops, model / 1e12);
    if (all > model)
        printf("; with recomputation (HFU) %.1f %%, %.4g", 100 * all / t->job.model->flops, all / 1e12);
    printf("\n");
}

static void print_cost(const struct train *t, const struct train_fabric *f)
{
    const double iteration = train_times_of(t, f)->iteration;
    const unsigned planes = f->injected.injection.planes;
    char text[2][HX_VALUE_TEXT];
    if (t->job.samples && iteration > 0) {
        printf("%-16s%s samples/s", "rate", train_rate_text(text[0], (double)t->job.samples / iteration));
        if (t->job.tokens)
            printf(", %s tokens/s", train_rate_text(text[1], (double)t->job.tokens / iteration));
        printf("\n");
    }
    print_use(t, f);
    printf("%-16s%.4g M$ for the %u plane%s simulated (hxmesh info prices %u: %.4g M$)%s%s\n", "fabric", f->usd / 1e6,
           planes, hx_plural(planes), f->bought, f->usd_bought / 1e6, t->prices.path ? ", at prices of " : "",
           t->prices.path ? t->prices.path : "");
    printf("%-16s%.4g $ an iteration over %g years", "cost", train_usd(t, f, train_times_of(t, f)->iteration),
           t->lifetime);
    if (t->job.samples)
        printf(", %.4g $ a million samples",
               1e6 * train_usd(t, f, train_times_of(t, f)->iteration) / (double)t->job.samples);
    if (t->job.tokens)
        printf(", %.4g $ a billion tokens",
               1e9 * train_usd(t, f, train_times_of(t, f)->iteration) / (double)t->job.tokens);
    printf("\n");
}

/* Load of the fullest rank of any layer's experts, over the mean. */
static double fullest_load(const struct train *t)
{
    const struct training_model *m = t->job.model;
    double most = 1;
    for (uint32_t i = 0; m && i < m->layers; i++)
        most = fmax(most, training_load(m, &m->layer[i], TRAINING_FULLEST));
    return most;
}

static void print_load(const struct train *t)
{
    const double load = fullest_load(t);
    if (load > 1)
        printf("%-16sthe fullest rank has %.3g times the mean load\n", "experts", load);
}

static void print_one(const struct train *t, const struct train_fabric *f)
{
    printf("%s: %s, %" PRIu32 " rank%s%s%s\n", f->spec.name, t->job.path, t->job.ranks, hx_plural(t->job.ranks),
           f->settings.place ? ", placed by " : "", f->settings.place ? f->settings.place : "");
    train_memory_print(&t->memory);
    print_load(t);
    print_times(t, f);
    schedule_notes_print(&t->job.notes, "", 16);
    print_purposes(f);
    print_stages(f);
    print_links(f);
    print_cost(t, f);
}

/* ---- side by side ---- */

/* Cells of a line. */
struct line {
    const char *cell[MOST_COLUMNS];
    char text[MOST_COLUMNS][HX_VALUE_TEXT];
    unsigned count;
};

static char *next(struct line *l)
{
    l->text[l->count][0] = '\0';
    l->cell[l->count] = l->text[l->count];
    return l->text[l->count++];
}

__attribute__((format(printf, 3, 4))) static void add(struct line *l, bool there, const char *format, ...)
{
    char *text = next(l);
    va_list values;
    va_start(values, format);
    if (there)
        (void)vsnprintf(text, HX_VALUE_TEXT, format, values);
    va_end(values);
}

static void add_seconds(struct line *l, bool there, double seconds)
{
    char *text = next(l);
    if (there)
        (void)hx_value_print_seconds(text, seconds);
}

/* The first fabric with a run that ended. */
static const struct train_fabric *with_purposes(const struct train *t)
{
    unsigned i = 0;
    while (i + 1 < t->fabrics && t->fabric[i].spent.purposes == 0)
        i++;
    return &t->fabric[i];
}

static void add_row(struct text_table *table, const struct train *t, const struct train_fabric *f)
{
    const struct train_times *times = train_times_of(t, f);
    const double saving = f == t->fabric ? NAN : saving_of(t, t->fabric, f);
    struct line l = {.count = 0};
    l.cell[l.count++] = f->spec.name;
    add(&l, true, "%u", f->injected.injection.planes);
    add(&l, true, "%.6g", injection_link(&f->injected.injection));
    add(&l, true, "%.6g", injection_total(&f->injected.injection));
    add_seconds(&l, times->there, times->iteration);
    if (!t->only_estimate)
        add(&l, !isnan(difference(f)), "%+.1f", 100 * difference(f));
    add_seconds(&l, times->there, train_overhead(times));
    for (unsigned i = 0; i < with_purposes(t)->spent.purposes; i++)
        add_seconds(&l, i < f->spent.purposes, f->spent.purpose[i].exposed);
    if (t->job.samples) {
        char *text = next(&l);
        if (times->there)
            (void)train_rate_text(text, (double)t->job.samples / times->iteration);
    }
    add(&l, true, "%.4g", f->usd / 1e6);
    add(&l, !isnan(saving), "%.2f", saving);
    text_table_cells(table, l.count, l.cell);
}

static void print_compared(const struct train *t)
{
    const struct train_fabric *named = with_purposes(t);
    struct text_table *table = text_table_new(1);
    struct line head = {.count = 0};
    add(&head, true, "fabric");
    add(&head, true, "planes");
    add(&head, true, "link");
    add(&head, true, "injects");
    add(&head, true, "iteration");
    if (!t->only_estimate)
        add(&head, true, "estimate %%");
    add(&head, true, "network");
    for (unsigned i = 0; i < named->spent.purposes; i++)
        add(&head, true, "%.32s", purpose_name(&named->spent.purpose[i]));
    if (t->job.samples)
        add(&head, true, "samples/s");
    add(&head, true, "M$");
    add(&head, true, "saving");
    text_table_cells(table, head.count, head.cell);
    for (unsigned i = 0; i < t->fabrics; i++)
        add_row(table, t, &t->fabric[i]);
    printf("%s, %" PRIu32 " rank%s\n", t->job.path, t->job.ranks, hx_plural(t->job.ranks));
    print_load(t);
    schedule_notes_print(&t->job.notes, "", 16);
    text_table_print(table, stdout);
    printf(
        "link, injects: Gb/s of a link, and of all links of a host\n"
        "network: time that the network adds to computing and bubble; a purpose: its exposed time, mean of the ranks\n"
        "saving: by the first fabric (SC22, figure 15): ratio of costs times ratio of network times\n");
    text_table_free(table);
}

/* What does not fit is said before all else. */
static void print_excess(const struct train *t)
{
    char excess[256];
    if (train_memory_fits(&t->memory))
        return;
    train_memory_excess(&t->memory, excess, sizeof excess);
    printf("%-16s%s\n", "does not fit", excess);
}

void train_print(const struct train *t)
{
    print_excess(t);
    if (t->fabrics == 1)
        print_one(t, t->fabric);
    else
        print_compared(t);
}

/* ---- JSON ---- */

static json_t *times_json(const struct train_times *times)
{
    if (!times->there)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f}", "iteration_seconds", times->iteration, "computing_seconds",
                     times->computing, "bubble_seconds", times->ideal - times->computing, "network_seconds",
                     train_overhead(times));
}

static json_t *purposes_json(const struct train_fabric *f)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < f->spent.purposes; i++) {
        const struct train_purpose *p = &f->spent.purpose[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:f, s:f, s:f, s:f}", "purpose", p->name, "bytes", p->bytes, "seconds",
                                        p->seconds, "exposed_seconds", p->exposed, "hidden_seconds", p->hidden));
    }
    return list;
}

static json_t *stages_json(const struct train_fabric *f)
{
    json_t *list = json_array();
    for (uint32_t stage = 0; stage < f->spent.stages; stage++) {
        const struct train_stage *s = &f->spent.stage[stage];
        json_t *exposed = json_object();
        for (unsigned i = 0; i < f->spent.purposes; i++)
            json_object_set_new(exposed, purpose_name(&f->spent.purpose[i]), json_real(s->exposed[i]));
        json_array_append_new(list, json_pack("{s:I, s:f, s:o}", "stage", (json_int_t)stage, "computing_seconds",
                                              s->computing, "exposed_seconds", exposed));
    }
    return list;
}

static json_t *links_json(const struct train_fabric *f)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < f->spent.links; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:f}", "from", f->spent.link[i].from, "to",
                                              f->spent.link[i].to, "busy", f->spent.link[i].busy));
    return list;
}

static json_t *classes_json(const struct train_fabric *f)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < f->spent.link_classes; i++) {
        const struct train_class *c = &f->spent.link_class[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:f, s:f}", "class", c->name, "links", (json_int_t)c->links,
                                              "busy", c->busy, "busiest", c->busiest));
    }
    return list;
}

static json_t *cost_json(const struct train *t, const struct train_fabric *f)
{
    const double usd = train_times_of(t, f)->there ? train_usd(t, f, train_times_of(t, f)->iteration) : NAN;
    const double samples = (double)t->job.samples;
    const double tokens = (double)t->job.tokens;
    json_t *o = json_pack("{s:I, s:i, s:I, s:i, s:f, s:o, s:o, s:o}", "usd", (json_int_t)f->usd, "planes",
                          (int)f->injected.injection.planes, "usd_bought", (json_int_t)f->usd_bought, "planes_bought",
                          (int)f->bought, "lifetime_years", t->lifetime, "usd_per_iteration", hx_json_real(usd),
                          "usd_per_sample", hx_json_real(samples > 0 ? usd / samples : NAN), "usd_per_token",
                          hx_json_real(tokens > 0 ? usd / tokens : NAN));
    if (t->prices.path)
        json_object_set_new(o, "prices", hx_json_text(t->prices.path));
    return o;
}

static json_t *fabric_json(const struct train *t, const struct train_fabric *f)
{
    const struct train_times *times = train_times_of(t, f);
    const double a_second = times->there && times->iteration > 0 ? 1 / times->iteration : NAN;
    const double saving = f == t->fabric ? NAN : saving_of(t, t->fabric, f);
    json_t *o = json_pack("{s:o, s:o, s:o, s:i, s:o, s:o, s:o}", "spec", hx_json_text(f->spec.fabric), "name",
                          hx_json_text(f->spec.name), "place", hx_json_text(f->settings.place), "planes",
                          (int)f->injected.injection.planes, "run", times_json(&f->exact), "estimate",
                          times_json(&f->estimate), "estimate_difference", hx_json_real(difference(f)));
    json_t *rest =
        json_pack("{s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "link_gbps", injection_link(&f->injected.injection),
                  "injection_gbps", injection_total(&f->injected.injection), "samples_per_second",
                  hx_json_real(t->job.samples ? (double)t->job.samples * a_second : NAN), "tokens_per_second",
                  hx_json_real(t->job.tokens ? (double)t->job.tokens * a_second : NAN), "purposes", purposes_json(f),
                  "link_classes", classes_json(f), "busiest_links", links_json(f), "cost", cost_json(t, f), "saving",
                  hx_json_real(saving));
    json_object_update_new(o, rest);
    json_object_set_new(o, "stages", stages_json(f));
    json_object_set_new(o, "flops_per_second", hx_json_real(flops_of(t, f, false)));
    json_object_set_new(o, "flops_per_second_recomputed", hx_json_real(flops_of(t, f, true)));
    return o;
}

json_t *train_json(const struct train *t)
{
    json_t *dimensions = json_array();
    json_t *fabrics = json_array();
    for (unsigned i = 0; i < SCHEDULE_MOST_DIMENSIONS && t->job.dimension[i]; i++)
        json_array_append_new(dimensions, json_integer(t->job.dimension[i]));
    for (unsigned i = 0; i < t->fabrics; i++)
        json_array_append_new(fabrics, fabric_json(t, &t->fabric[i]));
    json_t *o =
        json_pack("{s:o, s:I, s:o, s:I, s:I, s:I, s:o}", "model", hx_json_text(t->job.path), "ranks",
                  (json_int_t)t->job.ranks, "dimensions", dimensions, "samples", (json_int_t)t->job.samples, "tokens",
                  (json_int_t)t->job.tokens, "iterations", (json_int_t)t->job.iterations, "fabrics", fabrics);
    schedule_notes_json(o, &t->job.notes);
    json_object_set_new(o, "memory", train_memory_json(&t->memory));
    json_object_set_new(o, "expert_load", json_real(fullest_load(t)));
    return o;
}
