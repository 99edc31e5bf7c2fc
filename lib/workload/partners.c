/* partners.c - chooses partners (partners.h).
 *
 * Tornado, transpose and bit-reverse are those of Dally and Towles, Principles and Practices of Interconnection
 * Networks (2004), section 3.2, on the grid of each job: the fabric's columns and rows in which it has boards, failed
 * ones too, from north-west. Place (column, row) of C x R has the number row * C + column.
 *
 *     tornado      each coordinate advances by half of its side, rounded up, less one, modulo the side
 *     transpose    number row * C + column sends to number column * R + row: on a square, (column, row) to (row,
 *                  column)
 *     bit-reverse  the number's bits reversed; C * R is a power of two
 *
 * A host has no partner if its partner's place is of another job, on a failed board, or its own. */
#include "workload/partners.h"
#include "base/powers.h"
#include "spec/jobs.h"
#include "topology/attachment_routers.h"
#include "topology/bisection.h"
#include "workload/layout.h"
#include "workload/random.h"

#include <stdlib.h>
#include <string.h>

enum { FOR_PARTNERS = 1 };

bool traffic_has_partners(unsigned pattern)
{
    return pattern == HX_PERMUTATION || pattern == HX_BISECTION || pattern == HX_TORNADO || pattern == HX_TRANSPOSE ||
           pattern == HX_BIT_REVERSE;
}

/* ---- random ---- */

static void shuffle(uint32_t *ranks, uint32_t n, uint64_t seed)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = random_below(random_of(seed, FOR_PARTNERS, i), i);
        uint32_t keep = ranks[i - 1];
        ranks[i - 1] = ranks[j];
        ranks[j] = keep;
    }
}

/* One random cycle through a job: a permutation without fixed points. */
static void permute(struct traffic *t, uint32_t *members, uint32_t n)
{
    shuffle(members, n, t->settings.seed);
    for (uint32_t i = 0; n > 1 && i < n; i++)
        t->partner[members[i]] = members[(i + 1) % n];
}

/* Moves the hosts of one half to the end, in order. Returns how many the other half has. */
static uint32_t divide(const struct traffic *t, uint32_t *members, uint32_t n)
{
    bool *member = hx_allocate(t->g->hosts, sizeof *member);
    uint8_t *half = hx_allocate(t->g->nodes, sizeof *half);
    uint32_t *far = hx_allocate(n, sizeof *far);
    uint32_t near = 0;
    uint32_t fars = 0;
    for (uint32_t i = 0; i < n; i++)
        member[members[i]] = true;
    (void)hx_bisection_search(t->g, n == t->g->hosts ? NULL : member, half);
    for (uint32_t i = 0; i < n; i++) {
        if (half[members[i]] == half[members[0]])
            members[near++] = members[i];
        else
            far[fars++] = members[i];
    }
    if (fars)
        memcpy(members + near, far, fars * sizeof *far);
    HX_FREE(member, half, far);
    return fars ? near : n / 2;
}

/* Pairs the halves of a job between which its bisection is, at random. Hosts of one router are in one half, so some of
 * the larger half may have no partner. Hosts of a single router are halved by order. */
static void bisect(struct traffic *t, uint32_t *members, uint32_t n)
{
    const uint32_t near = divide(t, members, n);
    const uint32_t fars = n - near;
    const uint32_t pairs = near < fars ? near : fars;
    uint32_t *far = members + near;
    if (near > fars)
        shuffle(members, near, t->settings.seed);
    else
        shuffle(far, fars, t->settings.seed);
    for (uint32_t i = 0; i < pairs; i++) {
        t->partner[members[i]] = far[i];
        t->partner[far[i]] = members[i];
    }
}

/* ---- on the grid of a job ---- */

struct grid {
    uint32_t columns, rows;
    uint32_t *gx, *gy;            /* [columns], [rows] */
    uint32_t *column_of, *row_of; /* by gx, by gy, of the job's columns and rows */
};

/* Free its gx. */
static struct grid open_grid(const struct hx_fabric *g)
{
    size_t columns = g->columns;
    size_t rows = g->rows;
    uint32_t *lines = hx_allocate(2 * (columns + rows), sizeof *lines);
    return (struct grid){
        .gx = lines, .gy = lines + columns, .column_of = lines + columns + rows, .row_of = lines + 2 * columns + rows};
}

/* Numbers the columns, or the rows, in which the job has hosts: *at by number, *number by place. Returns how many. */
static uint32_t find_lines(const struct hx_spec *spec, const struct hx_fabric *g, uint16_t job, bool rows, uint32_t *at,
                           uint32_t *number)
{
    uint32_t count = 0;
    for (unsigned line = 0; line < (rows ? g->rows : g->columns); line++) {
        bool has = false;
        for (unsigned i = 0; i < (rows ? g->columns : g->rows) && !has; i++)
            has = layout_job_of(spec, hx_fabric_at(g, rows ? i : line, rows ? line : i)) == job;
        number[line] = count;
        at[count] = line;
        count += has;
    }
    return count;
}

static void find_grid(struct grid *grid, const struct hx_spec *spec, const struct hx_fabric *g, uint16_t job)
{
    grid->columns = find_lines(spec, g, job, false, grid->gx, grid->column_of);
    grid->rows = find_lines(spec, g, job, true, grid->gy, grid->row_of);
}

static uint32_t reverse(uint32_t number, uint32_t of)
{
    uint32_t reversed = 0;
    for (; of > 1; of /= 2, number /= 2)
        reversed = reversed * 2 + number % 2;
    return reversed;
}

/* Distance that a tornado advances on a side. */
static uint32_t turn(uint32_t side)
{
    return (side + 1) / 2 - 1;
}

/* Number of the place that (column, row) sends to. */
static uint32_t place_to(unsigned pattern, const struct grid *grid, uint32_t column, uint32_t row)
{
    uint32_t places = grid->columns * grid->rows;
    uint32_t own = row * grid->columns + column;
    switch (pattern) {
    case HX_TORNADO:
        return (row + turn(grid->rows)) % grid->rows * grid->columns + (column + turn(grid->columns)) % grid->columns;
    case HX_TRANSPOSE:
        return column * grid->rows + row;
    default:
        return hx_is_power_of_two(places) ? reverse(own, places) : own;
    }
}

static void pair_on_grid(struct traffic *t, struct grid *grid, const uint32_t *members, uint32_t n)
{
    find_grid(grid, t->spec, t->g, layout_job_of(t->spec, members[0]));
    bool has_places = grid->columns && grid->rows;
    for (uint32_t i = 0; has_places && i < n; i++) {
        uint32_t rank = members[i];
        struct hx_coordinate at = hx_grid_of(t->g, rank);
        uint32_t place =
            place_to(traffic_settings(t, rank)->pattern, grid, grid->column_of[at.addr_hi], grid->row_of[at.addr_lo]);
        uint32_t to = hx_fabric_at(t->g, grid->gx[place % grid->columns], grid->gy[place / grid->columns]);
        if (to != rank && t->members[to] && t->first[to] == t->first[rank])
            t->partner[rank] = to;
    }
}

void traffic_choose_partners(struct traffic *t)
{
    uint32_t n = t->g->hosts;
    for (uint32_t rank = 0; rank < n; rank++)
        t->partner[rank] = TRAFFIC_NOBODY;
    uint32_t *members = hx_allocate(n, sizeof *members);
    struct grid grid = open_grid(t->g);
    for (uint32_t rank = 0; rank < n; rank++) {
        uint32_t size = t->members[rank];
        unsigned pattern = traffic_settings(t, rank)->pattern;
        if (size == 0 || t->member[t->first[rank]] != rank || !traffic_has_partners(pattern))
            continue; /* once for each job, at its first member */
        for (uint32_t i = 0; i < size; i++)
            members[i] = t->member[t->first[rank] + i];
        if (pattern == HX_BISECTION)
            bisect(t, members, size);
        else if (pattern == HX_PERMUTATION)
            permute(t, members, size);
        else
            pair_on_grid(t, &grid, members, size);
    }
    free(grid.gx);
    free(members);
}

/* ---- checks ---- */

static bool check_grid(const struct hx_settings *settings, const struct grid *grid, const char *whose,
                       struct hx_problem *problem)
{
    uint64_t places = (uint64_t)grid->columns * grid->rows;
    bool good = true;
    const char *needs = "";
    switch (settings->pattern) {
    case HX_TORNADO:
        good = grid->columns > 2 || grid->rows > 2;
        needs = "tornado goes nowhere on sides below 3";
        break;
    case HX_TRANSPOSE:
        good = grid->columns > 1 && grid->rows > 1;
        needs = "transpose goes nowhere in a single line";
        break;
    case HX_BIT_REVERSE:
        good = hx_is_power_of_two(places) && places > 2;
        needs = "bit-reverse needs a power of two of accelerators, 4 or more";
        break;
    default:
        break;
    }
    return good || hx_fail(problem, HX_EXIT_USAGE, "--traffic",
                           "%s, and %s is a grid of %u x %u (permutation or uniform go on any)", needs, whose,
                           grid->columns, grid->rows);
}

/* Whether hosts have more than one attachment router. */
static bool has_attachment_routers(const struct hx_fabric *g)
{
    uint32_t host = 1;
    while (host < g->hosts && hx_fabric_attachment_router(g, host) == hx_fabric_attachment_router(g, 0))
        host++;
    return host < g->hosts;
}

/* Checks the traffic of a job: its own, or the run's. A silent job has none. */
static bool check_job(const struct hx_spec *spec, const struct hx_fabric *g, const struct hx_settings *settings,
                      struct grid *grid, uint16_t job, struct hx_problem *problem)
{
    char whose[HX_SPEC_BYTES];
    const struct hx_job *named = hx_spec_job(spec, job);
    const struct hx_settings s = hx_job_settings(settings, named);
    if (named && named->silent)
        return true;
    if (settings->duration_ns && s.pattern >= HX_COLLECTIVES)
        return hx_fail(problem, HX_EXIT_USAGE, "--duration", "is for messages, and %s is %s: " HX_RUNS_ONCE,
                       hx_job_text(whose, spec, job), hx_pattern_names[s.pattern]);
    if (s.pattern == HX_WORST_CASE && !has_attachment_routers(g))
        return hx_fail(problem, HX_EXIT_USAGE, "--traffic",
                       "worst-case goes from router to router, and %s has one (permutation or uniform go on any)",
                       spec->fabric);
    if ((settings->pattern == HX_FLOWS || settings->pattern == HX_SCHEDULE) && named && named->settings.given)
        return hx_fail(problem, HX_EXIT_USAGE, "--traffic", "%s says what all jobs send, and so does %s of its own",
                       settings->traffic_file, hx_job_text(whose, spec, job));
    char why[HX_WHY_TEXT];
    const char *wrong = named ? hx_job_not_for(named, s.pattern, why) : NULL;
    if (wrong)
        return hx_fail(problem, HX_EXIT_USAGE, "--traffic", "%s: %s", hx_job_text(whose, spec, job), wrong);
    if (!traffic_has_partners(s.pattern))
        return true;
    find_grid(grid, spec, g, job);
    if (job == HX_NO_JOB)
        (void)snprintf(whose, sizeof whose, "%s", spec->fabric);
    else
        (void)hx_job_text(whose, spec, job);
    return check_grid(&s, grid, whose, problem);
}

bool traffic_check(const struct hx_spec *spec, const struct hx_fabric *g, const struct hx_settings *settings,
                   struct hx_problem *problem)
{
    struct grid grid = open_grid(g);
    bool *seen = hx_allocate(UINT16_MAX + 1, sizeof *seen);
    bool good = true;
    for (unsigned board = 0; good && board < hx_spec_boards(spec); board++) {
        uint16_t job = hx_spec_board_job(spec, board);
        if (seen[job] || hx_spec_board_failed(spec, board) || hx_spec_board_idle(spec, board))
            continue;
        seen[job] = true;
        good = check_job(spec, g, settings, &grid, job, problem);
    }
    free(seen);
    free(grid.gx);
    return good;
}
