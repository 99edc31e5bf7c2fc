/* trace.c - reads and draws jobs that arrive over time (trace.h). */
#include "host/allocate/trace.h"
#include "host/draw.h"
#include "host/input.h"
#include "host/topology/topology.h"
#include "host/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 3, LONGEST_LINE = 256, MOST_JOBS = 10000000 };
#define LONGEST_TIME ((uint64_t)100 * 365 * 24 * 3600 * 1000000000U) /* ns */
static const char *const names[COLUMNS] = {"arrival", "job", "duration"};
enum column { ARRIVAL, JOB, DURATION };

struct reading {
    const char *path;
    struct hx_problem *problem;
    unsigned line;
    unsigned order[COLUMNS]; /* enum column of each place in a line */
    bool headed;
    uint32_t room;
};

bool hx_job_shape(const char *text, struct hx_shape *shape)
{
    unsigned value[2];
    unsigned count = hx_words_list(text, value, 2);
    if (count == 0 || value[0] == 0 || (count == 2 && value[1] == 0) || value[0] > HX_MOST_BOARDS_ACROSS * 4096U ||
        (count == 2 && (value[0] > HX_MOST_BOARDS_ACROSS || value[1] > HX_MOST_BOARDS_ACROSS)))
        return false;
    *shape = count == 2 ? (struct hx_shape){value[1], value[0]} : hx_shape_of(value[0]);
    return true;
}

__attribute__((format(printf, 2, 3))) static bool fail(const struct reading *r, const char *format, ...)
{
    char where[sizeof r->problem->where];
    char what[sizeof r->problem->what];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    (void)snprintf(where, sizeof where, "%.200s:%u:1", r->path, r->line);
    return hx_fail(r->problem, HX_EXIT_CONFIG, where, "%s", what);
}

/* Cuts a line at its commas; returns the parts. */
static unsigned cut(char *line, char *part[COLUMNS])
{
    unsigned parts = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && parts < COLUMNS; parts++) {
        part[parts] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = 0;
        else
            return parts + 1;
    }
    return COLUMNS + 1;
}

static bool take_head(struct reading *r, char *part[COLUMNS], unsigned parts)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < parts && parts == COLUMNS; i++)
        for (unsigned column = 0; column < COLUMNS; column++)
            if (strcmp(part[i], names[column]) == 0) {
                r->order[i] = column;
                seen |= 1U << column;
            }
    r->headed = true;
    return seen == (1U << COLUMNS) - 1 || fail(r, "the first line has to name the columns arrival,job,duration");
}

static bool take_time(const struct reading *r, const char *text, double *seconds)
{
    uint64_t ns;
    const char *wrong = hx_value_duration(text, 0, LONGEST_TIME, &ns);
    *seconds = wrong ? 0 : (double)ns / 1e9;
    return !wrong || fail(r, "%s", wrong);
}

static bool take_job(struct hx_job_trace *t, struct reading *r, char *part[COLUMNS], unsigned parts)
{
    struct hx_schedule_job job = {.arrival = 0};
    if (parts != COLUMNS)
        return fail(r, "a job has three values: arrival, job, duration");
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (r->order[i] == JOB && !hx_job_shape(part[i], &job.shape))
            return fail(r, "'%s' is no job (write a number of boards, as 6, or COLUMNSxROWS of them, as 3x2)", part[i]);
        if (r->order[i] != JOB && !take_time(r, part[i], r->order[i] == ARRIVAL ? &job.arrival : &job.duration))
            return false;
    }
    if (t->jobs && job.arrival < t->job[t->jobs - 1].arrival)
        return fail(r, "arrives before the job of the line before: arrivals ascend");
    if (t->jobs == MOST_JOBS)
        return fail(r, "is one job too many: %d are possible", MOST_JOBS);
    if (t->jobs == r->room) {
        r->room = r->room ? 2 * r->room : 1024;
        struct hx_schedule_job *larger = realloc(t->job, r->room * sizeof *larger);
        if (!larger)
            hx_die(HX_EXIT_ENVIRONMENT, r->path, "out of memory for %u jobs", r->room);
        t->job = larger;
    }
    t->job[t->jobs++] = job;
    return true;
}

static bool read_all(struct hx_job_trace *t, FILE *in, struct reading *r)
{
    char line[LONGEST_LINE];
    char *part[COLUMNS];
    while (fgets(line, sizeof line, in)) {
        r->line++;
        if (!strchr(line, '\n') && !feof(in))
            return fail(r, "is too long a line");
        if (line[strspn(line, " \t\r\n")] == 0 || line[0] == '#')
            continue;
        unsigned parts = cut(line, part);
        if (!(r->headed ? take_job(t, r, part, parts) : take_head(r, part, parts)))
            return false;
    }
    return t->jobs || fail(r, "has no job");
}

bool hx_job_trace_read(struct hx_job_trace *t, const char *path, struct hx_problem *problem)
{
    struct reading r = {.path = path, .problem = problem};
    *t = (struct hx_job_trace){.jobs = 0};
    FILE *in = hx_input_open(path, problem);
    if (!in)
        return false;
    bool read = read_all(t, in, &r);
    (void)fclose(in);
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
        at += hx_draw_exponential(&state, between);
        t->job[i].arrival = at;
        t->job[i].duration = hx_draw_exponential(&state, duration);
        t->job[i].shape = hx_shape_of(hx_job_size(sizes, split_mix_next(&state)));
    }
}

void hx_job_trace_free(struct hx_job_trace *t)
{
    free(t->job);
    *t = (struct hx_job_trace){.jobs = 0};
}
