/* sizes.c - reads a distribution of job sizes (sizes.h). */
#include "allocation/sizes.h"
#include "allocation/boards.h"
#include "base/lines.h"
#include "base/value.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 65536, MOST_COLUMNS = 16, MOST_BOARDS = HX_MOST_BOARDS_ACROSS * HX_MOST_BOARDS_ACROSS };
enum column { BOARDS, PERCENT, COLUMNS };
static const char *const names[COLUMNS] = {"job_size", "perc_jobs_lte"};

static bool take_head(struct hx_lines *l)
{
    char *value[MOST_COLUMNS];
    return (hx_lines_cut(l, value, MOST_COLUMNS) >= COLUMNS && strcmp(value[BOARDS], names[BOARDS]) == 0 &&
            strcmp(value[PERCENT], names[PERCENT]) == 0) ||
           hx_lines_fail(l, NULL, "the first line has to be job_size,perc_jobs_lte");
}

static bool take_size(struct hx_job_sizes *s, struct hx_lines *l)
{
    char why[HX_WHY_TEXT];
    char *value[MOST_COLUMNS];
    uint64_t boards;
    double percent;
    unsigned values = hx_lines_cut(l, value, MOST_COLUMNS);
    if (hx_value_number(value[BOARDS], 1, MOST_BOARDS, &boards, why))
        return hx_lines_fail(l, value[BOARDS], "begins with no number of boards (write for example 4,82.4)");
    if (values < COLUMNS || hx_value_real(value[PERCENT], 0, 100, &percent, why))
        return hx_lines_fail(l, values < COLUMNS ? NULL : value[PERCENT],
                             "has no per cent of jobs (0 to 100) behind the number of boards");
    if (s->count && (boards <= s->boards[s->count - 1] || percent / 100 < s->share[s->count - 1]))
        return hx_lines_fail(l, NULL, "is not above the line before: sizes and shares ascend");
    if (s->count == MOST_SIZES)
        return hx_lines_fail(l, NULL, "is one size too many: %d are possible", MOST_SIZES);
    s->boards[s->count] = (uint32_t)boards;
    s->share[s->count++] = percent / 100;
    return true;
}

static bool read_all(struct hx_job_sizes *s, struct hx_lines *l)
{
    for (bool headed = false; hx_lines_next(l); headed = true)
        if (!(headed ? take_size(s, l) : take_head(l)))
            return false;
    if (l->failed)
        return false;
    if (s->count == 0 || s->share[s->count - 1] < 1 - 1e-6)
        return hx_lines_fail(l, NULL, "ends before all jobs are told of: the last line has 100 per cent");
    s->share[s->count - 1] = 1;
    return true;
}

bool hx_job_sizes_read(struct hx_job_sizes *s, const char *path, struct hx_problem *problem)
{
    struct hx_lines l;
    if (!hx_lines_open(&l, path, problem))
        return false;
    *s = (struct hx_job_sizes){.boards = hx_allocate(MOST_SIZES, sizeof *s->boards),
                               .share = hx_allocate(MOST_SIZES, sizeof *s->share)};
    bool read = read_all(s, &l);
    hx_lines_close(&l);
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
