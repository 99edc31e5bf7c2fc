/* mix.c - draws random jobs and places them (mix.h). */
#include "allocation/mix.h"
#include "allocation/locality.h"
#include "base/error.h"
#include "base/rng.h"

#include <stdlib.h>

struct drawing {
    const struct hx_mix_rules *rules;
    uint64_t state; /* of the random numbers */
    struct hx_boards boards;
    uint32_t *size; /* of each job */
    unsigned jobs;
    struct hx_upper_traffic *network[2]; /* of all jobs: [rows], [columns] for each pattern in turn */
};

/* Number of boards taken at the start. */
static uint32_t count_taken(const struct hx_mix_rules *rules)
{
    uint32_t count = 0;
    for (uint32_t board = 0; rules->taken && board < rules->columns * rules->rows; board++)
        count += rules->taken[board];
    return count;
}

static void fail_boards(struct drawing *d)
{
    for (uint32_t board = 0; d->rules->taken && board < d->boards.columns * d->boards.rows; board++)
        if (d->rules->taken[board])
            hx_board_take(&d->boards, board % d->boards.columns, board / d->boards.columns);
    for (unsigned failed = 0; failed < d->rules->failed && d->boards.free;) {
        unsigned column = hx_rng_below(&d->state, d->boards.columns), row = hx_rng_below(&d->state, d->boards.rows);
        failed += hx_board_is_free(&d->boards, column, row);
        hx_board_take(&d->boards, column, row);
    }
}

/* Whether a job of that many boards, or of the rest if that is less, is short enough. */
static bool may_be_drawn(const struct hx_mix_rules *rules, uint32_t size, uint32_t remain)
{
    unsigned most = rules->columns > rules->rows ? rules->columns : rules->rows;
    unsigned least = rules->columns > rules->rows ? rules->rows : rules->columns;
    uint32_t boards = size < remain ? size : remain;
    struct hx_shape s = hx_shape_of(boards);
    return boards == 1 || (s.rows <= most / 2 && s.columns <= least / 2);
}

static bool any_may_be_drawn(const struct hx_mix_rules *rules, const struct hx_job_sizes *sizes, uint32_t remain)
{
    for (unsigned i = 0; i < sizes->count; i++)
        if (sizes->share[i] > (i ? sizes->share[i - 1] : 0) && may_be_drawn(rules, sizes->boards[i], remain))
            return true;
    return false;
}

bool hx_mix_has_jobs(const struct hx_mix_rules *rules, const struct hx_job_sizes *sizes)
{
    return any_may_be_drawn(rules, sizes, rules->columns * rules->rows - count_taken(rules) - rules->failed);
}

static void draw_jobs(struct drawing *d, const struct hx_job_sizes *sizes)
{
    uint32_t boards = d->boards.free;
    d->size = hx_allocate(boards + 1, sizeof *d->size);
    while (boards) {
        uint32_t size = hx_job_size(sizes, split_mix_next(&d->state));
        if (may_be_drawn(d->rules, size, boards)) {
            d->size[d->jobs] = size < boards ? size : boards;
            boards -= d->size[d->jobs++];
        } else if (!any_may_be_drawn(d->rules, sizes, boards)) {
            break;
        }
    }
}

static int largest_first(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one < other) - (one > other);
}

static void count_traffic(struct drawing *d, const struct hx_placement *p)
{
    const unsigned *leaf = d->rules->placement.leaf;
    for (unsigned pattern = 0; pattern < 2; pattern++) {
        unsigned locality = pattern ? HX_NEAR_ALL_REDUCE : HX_NEAR_ALL_TO_ALL;
        for (unsigned dimension = 0; dimension < 2; dimension++) {
            struct hx_upper_traffic t = hx_upper_traffic_of(p, dimension, locality, leaf);
            unsigned networks = dimension ? p->shape.columns : p->shape.rows;
            for (unsigned i = 0; i < networks; i++) {
                unsigned at = dimension ? d->boards.rows + p->column[i] : p->row[i];
                d->network[pattern][at].low += t.low;
                d->network[pattern][at].high += t.high;
            }
        }
    }
}

static double mean_upper(const struct drawing *d, unsigned pattern)
{
    const unsigned *leaf = d->rules->placement.leaf;
    unsigned count = 0;
    double sum = 0;
    for (unsigned i = 0; i < d->boards.rows + d->boards.columns; i++) {
        const struct hx_upper_traffic *t = &d->network[pattern][i];
        count += leaf[i >= d->boards.rows] != 0;
        sum += t->low > 0 ? t->high / t->low : 0;
    }
    return count ? sum / count : 0;
}

static void place_jobs(struct drawing *d, struct hx_mix *mix)
{
    uint32_t boards = d->boards.free, used = 0;
    for (unsigned i = 0; i < d->jobs; i++) {
        struct hx_placement p;
        if (!hx_place(&p, &d->boards, hx_shape_of(d->size[i]), &d->rules->placement))
            continue;
        hx_placement_take(&p, &d->boards);
        count_traffic(d, &p);
        hx_placement_free(&p);
        used += d->size[i];
        mix->placed++;
    }
    mix->jobs = d->jobs;
    mix->utilization = boards ? (double)used / boards : 0;
}

void hx_mix_run(struct hx_mix *mix, const struct hx_mix_rules *rules, const struct hx_job_sizes *sizes, uint64_t seed)
{
    struct drawing d = {.rules = rules, .state = split_mix(seed)};
    *mix = (struct hx_mix){.jobs = 0};
    hx_boards_make(&d.boards, rules->columns, rules->rows);
    for (unsigned pattern = 0; pattern < 2; pattern++)
        d.network[pattern] = hx_allocate(rules->columns + rules->rows, sizeof **d.network);
    fail_boards(&d);
    draw_jobs(&d, sizes);
    if (rules->sorted)
        qsort(d.size, d.jobs, sizeof *d.size, largest_first);
    place_jobs(&d, mix);
    for (unsigned pattern = 0; pattern < 2; pattern++) {
        mix->upper[pattern] = mean_upper(&d, pattern);
        free(d.network[pattern]);
    }
    free(d.size);
    hx_boards_free(&d.boards);
}
