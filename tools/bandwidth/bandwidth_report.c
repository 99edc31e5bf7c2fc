/* bandwidth_report.c - divisions of a budget (tools/bandwidth/bandwidth_report.h). */
#include "tools/bandwidth/bandwidth_report.h"
#include "base/json.h"
#include "tools/draw/text_table.h"

#include <stdio.h>

#define GB 1e9

struct text {
    char of[BANDWIDTH_NAME];
};

static const char *number(struct text *t, int digits, double value)
{
    (void)snprintf(t->of, sizeof t->of, "%.*f", digits, value);
    return t->of;
}

/* Adds a row: a value for each dimension, in GB. */
static void dimensions_row(struct text_table *t, const struct bandwidth_report *r, const char *name,
                           const double *value)
{
    const unsigned dimensions = r->question->network.dimensions;
    const char *cells[1 + BANDWIDTH_DIMENSIONS] = {name};
    struct text c[BANDWIDTH_DIMENSIONS];
    for (unsigned d = 0; d < dimensions; d++) {
        if (value)
            (void)number(&c[d], 3, value[d] / GB);
        else
            (void)snprintf(c[d].of, sizeof c[d].of, "dimension %u", d);
        cells[1 + d] = c[d].of;
    }
    text_table_cells(t, 1 + dimensions, cells);
}

static void print_dimensions(const struct bandwidth_report *r)
{
    const struct bandwidth_work *w = &r->question->work;
    struct text_table *sent = text_table_new(1);
    dimensions_row(sent, r, "an NPU sends, GB", NULL);
    for (unsigned i = 0; i < w->needs; i++) {
        double bytes[BANDWIDTH_DIMENSIONS];
        struct text name;
        bandwidth_bytes(&r->question->network, &w->need[i], bytes);
        (void)snprintf(name.of, sizeof name.of, "%s%s", w->need[i].purpose,
                       w->need[i].beside ? ", beside computing" : "");
        dimensions_row(sent, r, name.of, bytes);
    }
    text_table_print(sent, stdout);
    text_table_free(sent);
    struct text_table *rates = text_table_new(1);
    dimensions_row(rates, r, "rates, GB/s", NULL);
    for (unsigned i = 0; i < r->lines; i++)
        dimensions_row(rates, r, r->line[i].name, r->line[i].rate);
    text_table_print(rates, stdout);
    text_table_free(rates);
}

static void print_times(const struct bandwidth_report *r)
{
    const struct bandwidth_line *first = &r->line[0];
    const bool packets = first->packets.iteration > 0;
    struct text_table *t = text_table_new(1);
    const char *head[] = {"an iteration", "s", "model", "data", "faster", "use, %", "M$", "s x $", "packets, s"};
    enum { CELLS = sizeof head / sizeof *head };
    text_table_cells(t, packets ? CELLS : CELLS - 1, head);
    for (unsigned i = 0; i < r->lines; i++) {
        const struct bandwidth_line *l = &r->line[i];
        const double product = l->estimate.iteration * l->dollars / (first->estimate.iteration * first->dollars);
        struct text c[CELLS];
        const char *cells[CELLS] = {l->name,
                                    number(&c[1], 4, l->estimate.iteration),
                                    number(&c[2], 4, l->estimate.model),
                                    number(&c[3], 4, l->estimate.data),
                                    number(&c[4], 3, first->estimate.iteration / l->estimate.iteration),
                                    number(&c[5], 1, 100 * l->estimate.use),
                                    number(&c[6], 3, l->dollars / 1e6),
                                    number(&c[7], 3, product),
                                    number(&c[8], 4, l->packets.iteration)};
        text_table_cells(t, packets ? CELLS : CELLS - 1, cells);
    }
    text_table_print(t, stdout);
    text_table_free(t);
}

void bandwidth_print(const struct bandwidth_report *r)
{
    const struct bandwidth_work *w = &r->question->work;
    struct text name;
    const char *prices = r->question->prices->path;
    printf("%s, %g GB/s an NPU; computing %.4g s an iteration%s%s\n",
           bandwidth_network_write(&r->question->network, name.of), r->question->budget / GB, w->bubble * w->computing,
           prices ? "; at prices of " : "", prices ? prices : "");
    print_dimensions(r);
    print_times(r);
}

/* ---- JSON ---- */

static json_t *time_json(const struct bandwidth_time *t)
{
    if (t->iteration <= 0)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "seconds", t->iteration, "model_seconds", t->model, "data_seconds",
                     t->data, "exposed_seconds", t->exposed, "use", t->use);
}

static json_t *reals(const double *value, unsigned count)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        (void)json_array_append_new(list, json_real(value[i]));
    return list;
}

static json_t *needs_json(const struct bandwidth_question *q)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < q->work.needs; i++) {
        double bytes[BANDWIDTH_DIMENSIONS];
        bandwidth_bytes(&q->network, &q->work.need[i], bytes);
        (void)json_array_append_new(list, json_pack("{s:s, s:b, s:b, s:o}", "purpose", q->work.need[i].purpose, "data",
                                                    q->work.need[i].data, "beside", q->work.need[i].beside, "bytes",
                                                    reals(bytes, q->network.dimensions)));
    }
    return list;
}

static json_t *runs_json(const struct bandwidth_line *l, const struct bandwidth_work *w)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < w->needs; i++) {
        const struct bandwidth_run *run = &l->run[i];
        if (run->fabric[0])
            (void)json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:I, s:f, s:f}", "purpose", w->need[i].purpose,
                                                        "fabric", run->fabric, "slowed", (int)run->slowed,
                                                        "vector_bytes", (json_int_t)run->vector, "seconds",
                                                        run->seconds, "closed_seconds", run->closed));
    }
    return list;
}

json_t *bandwidth_json(const struct bandwidth_report *r)
{
    const struct bandwidth_question *q = r->question;
    char name[BANDWIDTH_NAME];
    json_t *lines = json_array();
    for (unsigned i = 0; i < r->lines; i++) {
        const struct bandwidth_line *l = &r->line[i];
        (void)json_array_append_new(lines, json_pack("{s:s, s:o, s:f, s:o, s:o, s:o}", "method", l->name, "rates",
                                                     reals(l->rate, q->network.dimensions), "dollars", l->dollars,
                                                     "estimate", time_json(&l->estimate), "packets",
                                                     time_json(&l->packets), "runs", runs_json(l, &q->work)));
    }
    json_t *o = json_pack("{s:i, s:s, s:f, s:f, s:f, s:o, s:o}", "schema", 2, "network",
                          bandwidth_network_write(&q->network, name), "budget", q->budget, "latency_seconds",
                          q->latency, "computing_seconds", q->work.bubble * q->work.computing, "communication",
                          needs_json(q), "methods", lines);
    if (q->prices->path)
        json_object_set_new(o, "prices", hx_json_text(q->prices->path));
    return o;
}
