/* sizes.c - reads a distribution of job sizes (sizes.h). */
#include "host/allocate/sizes.h"
#include "host/allocate/boards.h"
#include "host/input.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 256, MOST_SIZES = 65536 };
static const char head[] = "job_size,perc_jobs_lte";

struct reading {
    const char *path;
    struct hx_problem *problem;
    unsigned line;
};

static bool fail(const struct reading *r, const char *what)
{
    char where[sizeof r->problem->where];
    (void)snprintf(where, sizeof where, "%.200s:%u:1", r->path, r->line);
    return hx_fail(r->problem, HX_EXIT_CONFIG, where, "%s", what);
}

static bool is_blank(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return *text == 0 || *text == '#';
}

static bool take_line(struct hx_job_sizes *s, const char *text, const struct reading *r)
{
    char *end;
    unsigned long boards = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end != ',' || boards == 0 ||
        boards > (unsigned long)HX_MOST_BOARDS_ACROSS * HX_MOST_BOARDS_ACROSS)
        return fail(r, "begins with no number of boards (write for example 4,82.4)");
    const char *second = end + 1;
    double percent = strtod(second, &end);
    if (end == second || (*end != ',' && !isspace((unsigned char)*end) && *end) || !(percent >= 0 && percent <= 100))
        return fail(r, "has no per cent of jobs (0 to 100) behind the number of boards");
    if (s->count && (boards <= s->boards[s->count - 1] || percent / 100 < s->share[s->count - 1]))
        return fail(r, "is not above the line before: sizes and shares ascend");
    if (s->count == MOST_SIZES)
        return fail(r, "is one size too many");
    s->boards[s->count] = (uint32_t)boards;
    s->share[s->count++] = percent / 100;
    return true;
}

static bool read_all(struct hx_job_sizes *s, FILE *in, struct reading *r)
{
    char text[LONGEST_LINE];
    bool headed = false;
    while (fgets(text, sizeof text, in)) {
        r->line++;
        if (!strchr(text, '\n') && !feof(in))
            return fail(r, "is too long a line");
        if (is_blank(text))
            continue;
        if (!headed && strncmp(text, head, strlen(head)) != 0)
            return fail(r, "the first line has to be job_size,perc_jobs_lte");
        if (headed && !take_line(s, text, r))
            return false;
        headed = true;
    }
    if (s->count == 0 || s->share[s->count - 1] < 1 - 1e-6)
        return fail(r, "ends before all jobs are told of: the last line has 100 per cent");
    s->share[s->count - 1] = 1;
    return true;
}

bool hx_job_sizes_read(struct hx_job_sizes *s, const char *path, struct hx_problem *problem)
{
    struct reading r = {.path = path, .problem = problem};
    FILE *in = hx_input_open(path, problem);
    if (!in)
        return false;
    *s = (struct hx_job_sizes){.boards = hx_allocate(MOST_SIZES, sizeof *s->boards),
                               .share = hx_allocate(MOST_SIZES, sizeof *s->share)};
    bool read = read_all(s, in, &r);
    (void)fclose(in);
    if (!read)
        hx_job_sizes_free(s);
    return read;
}

bool hx_job_sizes_load(struct hx_job_sizes *s, const char *path, struct hx_problem *problem)
{
    if (path)
        return hx_job_sizes_read(s, path, problem);
    hx_job_sizes_alibaba(s);
    return true;
}

void hx_job_sizes_free(struct hx_job_sizes *s)
{
    free(s->boards);
    free(s->share);
    *s = (struct hx_job_sizes){.count = 0};
}

uint32_t hx_job_size(const struct hx_job_sizes *s, uint64_t number)
{
    double drawn = (double)(number >> 11) * 0x1p-53;
    unsigned low = 0, high = s->count - 1;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (s->share[middle] > drawn)
            high = middle;
        else
            low = middle + 1;
    }
    return s->boards[low];
}
