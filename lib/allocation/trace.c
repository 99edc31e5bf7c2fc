/* trace.c - reads and draws traces of jobs (trace.h). */
#include "allocation/trace.h"
#include "base/lines.h"
#include "base/rng.h"
#include "base/value.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 3, MOST_JOBS = 10000000 };
#define LONGEST_TIME ((uint64_t)100 * 365 * 24 * 3600 * 1000000000U) /* ns */
static const char *const names[COLUMNS] = {"arrival", "job", "duration"};
enum column { ARRIVAL, JOB, DURATION };

struct reading {
    struct hx_lines lines;
    unsigned order[COLUMNS]; /* enum column of each value in a line */
    size_t room;
};

static bool take_head(struct reading *r)
{
    unsigned seen = 0;
    char *value[COLUMNS];
    unsigned values = hx_lines_cut(&r->lines, value, COLUMNS);
    for (unsigned i = 0; i < COLUMNS && values == COLUMNS; i++)
        for (unsigned column = 0; column < COLUMNS; column++)
            if (strcmp(value[i], names[column]) == 0) {
                r->order[i] = column;
                seen |= 1U << column;
            }
    return seen == (1U << COLUMNS) - 1 ||
           hx_lines_fail(&r->lines, NULL, "the first line has to name the columns arrival,job,duration");
}

static bool take_time(const struct reading *r, const char *text, double *seconds)
{
    uint64_t ns;
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_duration(text, 0, LONGEST_TIME, &ns, why);
    *seconds = wrong ? 0 : (double)ns / 1e9;
    return !wrong || hx_lines_fail(&r->lines, text, "%s", wrong);
}

static bool take_job(struct hx_job_trace *t, struct reading *r)
{
    struct hx_schedule_job job = {.arrival = 0};
    char *value[COLUMNS];
    if (hx_lines_cut(&r->lines, value, COLUMNS) != COLUMNS)
        return hx_lines_fail(&r->lines, NULL, "a job has three values: arrival, job, duration");
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (r->order[i] == JOB && !hx_job_shape(value[i], &job.shape))
            return hx_lines_fail(&r->lines, value[i],
                                 "'%s' is no job (write a number of boards, as 6, or COLUMNSxROWS of them, as 3x2)",
                                 value[i]);
        if (r->order[i] != JOB && !take_time(r, value[i], r->order[i] == ARRIVAL ? &job.arrival : &job.duration))
            return false;
    }
    if (t->jobs && job.arrival < t->job[t->jobs - 1].arrival)
        return hx_lines_fail(&r->lines, NULL, "arrives before the job of the line before: arrivals ascend");
    if (t->jobs == MOST_JOBS)
        return hx_lines_fail(&r->lines, NULL, "is one job too many: %d are possible", MOST_JOBS);
    t->job = hx_grow(t->job, t->jobs, &r->room, sizeof *t->job);
    t->job[t->jobs++] = job;
    return true;
}

static bool read_all(struct hx_job_trace *t, struct reading *r)
{
    for (bool headed = false; hx_lines_next(&r->lines); headed = true)
        if (!(headed ? take_job(t, r) : take_head(r)))
            return false;
    return !r->lines.failed && (t->jobs || hx_lines_fail(&r->lines, NULL, "has no job"));
}

bool hx_job_trace_read(struct hx_job_trace *t, const char *path, struct hx_problem *problem)
{
    struct reading r = {.room = 0};
    *t = (struct hx_job_trace){.jobs = 0};
    if (!hx_lines_open(&r.lines, path, problem))
        return false;
    bool read = read_all(t, &r);
    hx_lines_close(&r.lines);
    if (!read)
        hx_job_trace_free(t);
    return read;
}

void hx_job_trace_draw(struct hx_job_trace *t, const struct hx_job_sizes *sizes, uint32_t jobs, double between,
                       double duration, uint64_t seed)
{
    uint64_t state = split_mix(seed);
    double at = 0;
    *t = (struct hx_job_trace){.job = hx_allocate(jobs, sizeof *t->job), .jobs = jobs};
    for (uint32_t i = 0; i < jobs; i++) {
        at += hx_rng_exponential(&state, between);
        t->job[i].arrival = at;
        t->job[i].duration = hx_rng_exponential(&state, duration);
        t->job[i].shape = hx_shape_of(hx_job_size(sizes, split_mix_next(&state)));
    }
}

void hx_job_trace_free(struct hx_job_trace *t)
{
    free(t->job);
    *t = (struct hx_job_trace){.jobs = 0};
}
