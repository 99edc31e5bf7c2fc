/* placement.c - hosts for ranks (placement.h). */
#include "workload/placement.h"
#include "base/compare.h"
#include "base/lines.h"
#include "base/rng.h"
#include "topology/topology.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Number of the first members that are in one row. Members ascend. */
static uint32_t row_length(const uint32_t *member, uint32_t members, const struct traffic *t)
{
    uint32_t length = 1;
    while (length < members && member[length] / t->g->columns == *member / t->g->columns)
        length++;
    return length;
}

/* Number of members in each row; 0: rows differ. */
static uint32_t columns_of(const uint32_t *member, uint32_t members, const struct traffic *t)
{
    uint32_t columns = row_length(member, members, t);
    for (uint32_t at = 0; at < members; at += columns) {
        if (row_length(member + at, members - at, t) != columns)
            return 0;
    }
    return columns;
}

static void reverse(uint32_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t other = list[count - 1 - i];
        list[count - 1 - i] = list[i];
        list[i] = other;
    }
}

/* Orders ascending members row by row in alternating direction. */
static void walk(uint32_t *member, uint32_t members, const struct traffic *t)
{
    bool back = false;
    for (uint32_t at = 0; at < members; back = !back) {
        uint32_t length = row_length(member + at, members - at, t);
        if (back)
            reverse(member + at, length);
        at += length;
    }
}

/* ---- folded grids ---- */

enum { MOST_SIDES = SCHEDULE_MOST_DIMENSIONS };

struct grid {
    unsigned side[MOST_SIDES];
    unsigned sides;
    uint64_t places; /* beyond UINT32_MAX: too many */
};

/* Position of a rank = i + A * (j + B * k) on a walk through the dimensions with a bit in `which`. Each is walked back
 * and forth, so that neighbours in the first one are neighbours on the walk, and others fold onto each other. */
static uint32_t fold_position(uint32_t rank, const struct grid *grid, unsigned which)
{
    uint32_t at[MOST_SIDES];
    uint32_t position = 0;
    for (unsigned i = 0; i < grid->sides; i++) {
        at[i] = rank % grid->side[i];
        rank /= grid->side[i];
    }
    for (unsigned i = grid->sides; i-- > 0;) {
        bool back = position % 2;
        if (which >> i & 1U)
            position = position * grid->side[i] + (back ? grid->side[i] - 1 - at[i] : at[i]);
    }
    return position;
}

/* Dimensions, as bits, with this product of their sides; 0: none. If possible one of the first two, so that neighbours
 * in both stay neighbours. */
static unsigned with_product(const struct grid *grid, uint32_t product)
{
    unsigned found = 0;
    for (unsigned which = 1; which < 1U << grid->sides; which++) {
        bool apart = (which ^ which >> 1) & 1U;
        uint64_t places = 1;
        for (unsigned i = 0; i < grid->sides; i++)
            places *= which >> i & 1U ? grid->side[i] : 1;
        if (places == product && (!found || apart))
            found = which;
    }
    return found;
}

/* The schedule's dimensions, without those of one place; places 0: it has no dimensions. */
static struct grid own_grid(const uint32_t *dimension)
{
    struct grid grid = {.places = dimension && dimension[0]};
    for (unsigned i = 0; grid.places && i < MOST_SIDES && dimension[i]; i++) {
        grid.places *= dimension[i];
        if (dimension[i] > 1)
            grid.side[grid.sides++] = dimension[i];
    }
    return grid;
}

/* A grid such as 16x4x8; sides 0: it is none. */
static struct grid read_grid(const char *how)
{
    struct grid grid = {.places = 1};
    if (strspn(how, "0123456789x") == strlen(how))
        grid.sides = hx_spec_tokens_list(how, grid.side, MOST_SIDES);
    for (unsigned i = 0; i < grid.sides && grid.places <= UINT32_MAX; i++)
        grid.places *= grid.side[i];
    grid.sides = grid.sides > 1 ? grid.sides : 0;
    return grid;
}

/* Members ascend. */
static void fold(uint32_t *host, uint32_t ranks, uint32_t *member, const struct traffic *t, const struct grid *grid)
{
    uint32_t members = t->members[*member];
    uint32_t columns = columns_of(member, members, t);
    unsigned across = columns ? with_product(grid, columns) : 0;
    if (!across) {
        walk(member, members, t);
        columns = 1;
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
        host[rank] = member[fold_position(rank, grid, ~across) * columns + fold_position(rank, grid, across)];
}

/* Finds the grid that is folded; places 0: none is. */
static bool find_grid(struct grid *grid, uint32_t ranks, const char *how, const uint32_t *dimension,
                      struct hx_problem *problem)
{
    bool own = how && strcmp(how, "fold") == 0;
    *grid = how ? read_grid(how) : (struct grid){.places = 0};
    if (own)
        *grid = own_grid(dimension);
    else if (!grid->sides)
        grid->places = 0;
    if (own && !grid->places)
        return hx_fail(problem, HX_EXIT_USAGE, "--place",
                       "fold is for a schedule that says its dimensions (give the grid of the ranks, as AxBxC)");
    return !grid->places || grid->places == ranks ||
           hx_fail(problem, HX_EXIT_USAGE, "--place", "%s has %" PRIu64 " places for %" PRIu32 " ranks", how,
                   grid->places, ranks);
}

/* ---- a file ---- */

/* The host that a value names; HX_NOWHERE: none. */
static uint32_t host_of(const struct traffic *t, const char *text)
{
    char why[HX_WHY_TEXT];
    struct hx_coordinate at;
    uint64_t number;
    char pair[64];
    if (!hx_value_number(text, 0, t->g->hosts - 1U, &number, why))
        return (uint32_t)number;
    if (strlen(text) >= sizeof pair)
        return HX_NOWHERE;
    for (size_t i = 0; i <= strlen(text); i++)
        pair[i] = (char)(text[i] == ':' ? ',' : text[i]);
    return hx_value_coordinate(pair, &at, why) ? HX_NOWHERE : hx_host_at(t->g, at.addr_hi, at.addr_lo);
}

static bool read_line(struct hx_lines *l, uint32_t *host, uint32_t rank, uint32_t ranks, const struct traffic *t,
                      uint32_t member, bool *taken)
{
    char *value[2];
    if (rank == ranks)
        return hx_lines_fail(l, NULL, "one line for each of %" PRIu32 " ranks: this is one more", ranks);
    if (hx_lines_cut(l, value, 1) != 1)
        return hx_lines_fail(l, NULL, "one host for rank %" PRIu32 " is expected: a number, gx:gy or agx:gy", rank);
    uint32_t found = host_of(t, value[0]);
    if (found == HX_NOWHERE)
        return hx_lines_fail(l, value[0], "'%s' is no host: a number, gx:gy or agx:gy is expected", value[0]);
    if (!t->members[found] || t->first[found] != t->first[member])
        return hx_lines_fail(l, value[0], "host %s is not of this job", value[0]);
    if (taken[found])
        return hx_lines_fail(l, value[0], "host %s has a rank already", value[0]);
    taken[found] = true;
    *host = found;
    return true;
}

static bool read_hosts(uint32_t *host, uint32_t ranks, const struct traffic *t, uint32_t member, const char *path,
                       struct hx_problem *problem)
{
    struct hx_lines l;
    uint32_t rank = 0;
    bool *taken = hx_allocate(t->g->hosts, sizeof *taken);
    bool good = hx_lines_open(&l, path, problem);
    bool open = good;
    while (good && hx_lines_next(&l)) {
        good = read_line(&l, &host[rank < ranks ? rank : 0], rank, ranks, t, member, taken);
        rank++;
    }
    good = good && !l.failed;
    if (good && rank < ranks)
        good = hx_fail(problem, HX_EXIT_CONFIG, path, "has hosts for %" PRIu32 " of %" PRIu32 " ranks", rank, ranks);
    if (open)
        hx_lines_close(&l);
    free(taken);
    return good;
}

bool placement_make(uint32_t *host, uint32_t ranks, const struct traffic *t, uint32_t member, const char *how,
                    const uint32_t *dimension, struct hx_problem *problem)
{
    uint32_t members = t->members[member];
    struct grid folded;
    if (!find_grid(&folded, ranks, how, dimension, problem))
        return false;
    bool random = how && strcmp(how, "random") == 0;
    bool grid = how && strcmp(how, "grid") == 0;
    if (how && !random && !grid && !folded.places && strcmp(how, "linear") != 0)
        return read_hosts(host, ranks, t, member, how, problem);
    uint32_t *list = hx_allocate(members, sizeof *list);
    memcpy(list, t->member + t->first[member], members * sizeof *list);
    qsort(list, members, sizeof *list, hx_compare_uint32);
    if (grid)
        walk(list, members, t);
    if (random)
        hx_rng_shuffle(&(uint64_t){t->settings.seed}, list, members);
    if (folded.places)
        fold(host, ranks, list, t, &folded);
    else
        memcpy(host, list, ranks * sizeof *host);
    free(list);
    return true;
}
