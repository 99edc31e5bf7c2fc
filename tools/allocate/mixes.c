/* mixes.c - runs job mixes and computes their statistics (mixes.h). */
#include "tools/allocate/mixes.h"
#include "base/compare.h"
#include "base/output.h"
#include "tools/draw/text_table.h"

#include <stdlib.h>

static const char *const figure_names[MIXES_FIGURES] = {"utilization", "upper_all_to_all", "upper_all_reduce",
                                                        "placed"};

static double figure_of(const struct hx_mix *m, enum mixes_figure figure)
{
    const double value[MIXES_FIGURES] = {m->utilization, m->upper[0], m->upper[1],
                                         m->jobs ? (double)m->placed / m->jobs : 0};
    return value[figure];
}

void mixes_run(struct mixes *m, const struct hx_mix_rules *rules, const struct hx_job_sizes *sizes, unsigned count,
               uint64_t seed)
{
    *m = (struct mixes){.rules = rules, .count = count, .mix = hx_allocate(count, sizeof *m->mix)};
    for (unsigned i = 0; i < count; i++)
        hx_mix_run(&m->mix[i], rules, sizes, seed + i);
}

void mixes_free(struct mixes *m)
{
    free(m->mix);
}

/* ---- sums ---- */

static double percentile(const double *sorted, unsigned count, double share)
{
    return sorted[(unsigned)(share * (count - 1) + 0.5)];
}

struct mixes_sum mixes_sum_of(const struct mixes *m, enum mixes_figure figure)
{
    double *value = hx_allocate(m->count, sizeof *value);
    double sum = 0;
    for (unsigned i = 0; i < m->count; i++)
        sum += value[i] = figure_of(&m->mix[i], figure);
    qsort(value, m->count, sizeof *value, hx_compare_double);
    struct mixes_sum s = {sum / m->count,
                          percentile(value, m->count, 0.01),
                          percentile(value, m->count, 0.25),
                          percentile(value, m->count, 0.5),
                          percentile(value, m->count, 0.75),
                          percentile(value, m->count, 0.99)};
    free(value);
    return s;
}

/* Fabrics with single-level networks have no upper level. */
static bool has(const struct mixes *m, enum mixes_figure figure)
{
    const unsigned *leaf = m->rules->placement.leaf;
    return leaf[0] || leaf[1] || (figure != MIXES_ALL_TO_ALL && figure != MIXES_ALL_REDUCE);
}

double mixes_value(const struct mixes *m, unsigned mix, enum mixes_figure figure)
{
    return figure_of(&m->mix[mix], figure);
}

/* ---- reports ---- */

void mixes_print(const struct mixes *m)
{
    static const char *const named[MIXES_FIGURES] = {"boards in use", "all-to-all over the upper level",
                                                     "all-reduce over the upper level", "jobs placed"};
    struct text_table *t = text_table_new(1);
    text_table_row(t, "%", "mean", "1st", "25th", "median", "75th", "99th");
    for (unsigned f = 0; f < MIXES_FIGURES; f++) {
        struct mixes_sum s = mixes_sum_of(m, f);
        const double value[] = {s.mean, s.p1, s.p25, s.p50, s.p75, s.p99};
        char text[6][16];
        for (unsigned i = 0; i < 6; i++)
            (void)snprintf(text[i], sizeof text[i], "%.1f", 100 * value[i]);
        if (has(m, f))
            text_table_row(t, named[f], text[0], text[1], text[2], text[3], text[4], text[5]);
    }
    text_table_print(t, stdout);
    text_table_free(t);
}

json_t *mixes_json(const struct mixes *m)
{
    json_t *object = json_pack("{s:i}", "mixes", (int)m->count);
    for (unsigned f = 0; f < MIXES_FIGURES; f++) {
        struct mixes_sum s = mixes_sum_of(m, f);
        if (has(m, f))
            json_object_set_new(object, figure_names[f],
                                json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "mean", s.mean, "p1", s.p1, "p25", s.p25,
                                          "p50", s.p50, "p75", s.p75, "p99", s.p99));
    }
    return object;
}

void mixes_write_csv(const struct mixes *m, const char *path)
{
    FILE *out = hx_output_open(path);
    (void)fprintf(out, "mix,jobs,placed,utilization,upper_all_to_all,upper_all_reduce\n");
    for (unsigned i = 0; i < m->count; i++) {
        const struct hx_mix *mix = &m->mix[i];
        (void)fprintf(out, "%u,%u,%u,%.6f,%.6f,%.6f\n", i, mix->jobs, mix->placed, mix->utilization, mix->upper[0],
                      mix->upper[1]);
    }
    hx_output_close(out, path);
}
