/* jobs_report.c - a schedule as text, JSON, CSV and plot (jobs_report.h). */
#include "tools/jobs/jobs_report.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/output.h"
#include "base/text.h"
#include "base/value.h"
#include "tools/draw/plot.h"

#include <stdlib.h>

/* ---- statistics ---- */

struct waits {
    uint32_t done;
    double mean, p50, p99, most;
    double slowdown; /* mean of (waited + ran) / ran */
};

static struct waits waits_of(const struct hx_schedule *s)
{
    struct waits w = {.done = 0};
    double *waited = hx_allocate(s->jobs + 1, sizeof *waited);
    for (uint32_t i = 0; i < s->jobs; i++) {
        const struct hx_schedule_job *job = &s->job[i];
        if (job->start < 0)
            continue;
        waited[w.done++] = job->start - job->arrival;
        w.mean += job->start - job->arrival;
        w.slowdown += job->duration > 0 ? (job->end - job->arrival) / job->duration : 1;
    }
    qsort(waited, w.done, sizeof *waited, hx_compare_double);
    if (w.done) {
        w.mean /= w.done;
        w.slowdown /= w.done;
        w.p50 = waited[w.done / 2];
        w.p99 = waited[(uint32_t)(0.99 * (w.done - 1) + 0.5)];
        w.most = waited[w.done - 1];
    }
    free(waited);
    return w;
}

static uint32_t most_waiting(const struct hx_schedule *s)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->moments; i++)
        most = s->moment[i].waiting > most ? s->moment[i].waiting : most;
    return most;
}

/* ---- text ---- */

static const char *word(const struct hx_schedule_rules *rules)
{
    return rules->fabric ? "hosts" : "boards";
}

static const char *time_text(char text[HX_VALUE_TEXT], double seconds)
{
    return hx_value_print_duration(text, (uint64_t)(seconds * 1e9));
}

void schedule_print(const struct hx_schedule *s, const struct hx_schedule_rules *rules, const char *fabric)
{
    struct waits w = waits_of(s);
    char text[4][HX_VALUE_TEXT];
    printf("%s: %u %s, %s\n", fabric, rules->columns * rules->rows, word(rules), hx_queue_policy_names[rules->policy]);
    printf("  jobs           %u, %u done, %u larger than the fabric, %u given up\n", s->jobs, w.done, s->refused,
           s->given_up);
    printf("  time           %s until the last one ended\n", time_text(text[0], s->end));
    printf("  %-14s %.1f %%\n", rules->fabric ? "hosts in use" : "boards in use", 100 * s->utilization);
    printf("  fragmentation  %.1f %% of the %s were free while a job waited that asked for no more than that\n",
           100 * s->fragmentation, word(rules));
    printf("  waiting        %s in the mean, %s median, %s 99th percentile, %s most; %u job%s at once\n",
           time_text(text[0], w.mean), time_text(text[1], w.p50), time_text(text[2], w.p99), time_text(text[3], w.most),
           most_waiting(s), hx_plural(most_waiting(s)));
    printf("  slowdown       %.2f: from arrival to end over the time a job runs, mean\n", w.slowdown);
    if (rules->mean_time_between_failures > 0)
        printf("  failures       %u %s, %u job%s begun again\n", s->failures, word(rules), s->restarts,
               hx_plural(s->restarts));
}

/* ---- JSON, CSV ---- */

json_t *schedule_json(const struct hx_schedule *s, const struct hx_schedule_rules *rules, const char *fabric)
{
    struct waits w = waits_of(s);
    return json_pack("{s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:{s:f, s:f, s:f, s:f}, s:f, s:I, s:I, s:I}",
                     "fabric", fabric, word(rules), (int)(rules->columns * rules->rows), "policy",
                     hx_queue_policy_names[rules->policy], "jobs", (json_int_t)s->jobs, "done", (json_int_t)w.done,
                     "refused", (json_int_t)s->refused, "given_up", (json_int_t)s->given_up, "seconds", s->end,
                     "utilization", s->utilization, "fragmentation", s->fragmentation, "waited_seconds", "mean", w.mean,
                     "p50", w.p50, "p99", w.p99, "max", w.most, "slowdown", w.slowdown, "most_waiting",
                     (json_int_t)most_waiting(s), "failures", (json_int_t)s->failures, "restarts",
                     (json_int_t)s->restarts);
}

void schedule_write_csv(const struct hx_schedule *s, const char *path)
{
    FILE *out = hx_output_open(path);
    (void)fprintf(out, "arrival,columns,rows,duration,start,end,restarts\n");
    for (uint32_t i = 0; i < s->jobs; i++) {
        const struct hx_schedule_job *job = &s->job[i];
        const struct hx_shape *shape = job->start < 0 ? &job->shape : &job->placement.shape;
        (void)fprintf(out, "%.9g,%u,%u,%.9g,", job->arrival, shape->columns, shape->rows, job->duration);
        if (job->start < 0)
            (void)fprintf(out, ",,%u\n", job->restarts);
        else
            (void)fprintf(out, "%.9g,%.9g,%u\n", job->start, job->end, job->restarts);
    }
    hx_output_close(out, path);
}

/* ---- plot ---- */

/* Plots a figure as steps: one for each moment. If there are too many moments, plots means over equal spans of time. */
static void plot_figure(struct plot_series *series, const struct hx_schedule *s, double all,
                        uint32_t (*figure)(const struct hx_schedule_moment *))
{
    double first = s->moment[0].at, step = (s->end - first) / (PLOT_MOST_POINTS - 1);
    uint32_t at = 0;
    bool few = s->moments < PLOT_MOST_POINTS;
    for (uint32_t m = 0; few && m < s->moments; m++)
        plot_point(series, s->moment[m].at / 3600, 100 * figure(&s->moment[m]) / all);
    for (unsigned i = 0; i + 1 < PLOT_MOST_POINTS && step > 0 && !few; i++) {
        double from = first + i * step, to = from + step, sum = 0;
        while (at + 1 < s->moments && s->moment[at + 1].at <= from)
            at++;
        for (uint32_t m = at; m + 1 < s->moments && s->moment[m].at < to; m++) {
            double begin = s->moment[m].at > from ? s->moment[m].at : from;
            double end = s->moment[m + 1].at < to ? s->moment[m + 1].at : to;
            sum += (end - begin) * figure(&s->moment[m]);
        }
        plot_point(series, from / 3600, 100 * sum / step / all);
    }
    plot_point(series, s->end / 3600, 100 * figure(&s->moment[s->moments - 1]) / all);
}

static uint32_t used(const struct hx_schedule_moment *m)
{
    return m->used;
}

static uint32_t stuck(const struct hx_schedule_moment *m)
{
    return m->stuck;
}

static uint32_t failed(const struct hx_schedule_moment *m)
{
    return m->failed;
}

void schedule_plot(const struct hx_schedule *s, const struct hx_schedule_rules *rules, const char *fabric,
                   const char *path)
{
    double boards = rules->columns * rules->rows;
    FILE *out = hx_output_open(path);
    struct plot *p = plot_new(fabric, "hours", PLOT_LINEAR, PLOT_NUMBER, rules->fabric ? "hosts (%)" : "boards (%)");
    (void)snprintf(p->note, sizeof p->note, "%u jobs, %s", s->jobs, hx_queue_policy_names[rules->policy]);
    if (s->moments) {
        plot_figure(plot_add(p, PLOT_STEPS, 0, "in use"), s, boards, used);
        plot_figure(plot_add(p, PLOT_STEPS, 1, "free, but too few for a waiting job"), s, boards, stuck);
        if (rules->mean_time_between_failures > 0)
            plot_figure(plot_add(p, PLOT_STEPS, 2, "failed"), s, boards, failed);
    }
    plot_write(p, out);
    free(p);
    hx_output_close(out, path);
}
