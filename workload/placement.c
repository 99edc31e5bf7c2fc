/* placement.c - hosts for ranks (placement.h). */
#include "workload/placement.h"
#include "base/compare.h"
#include "base/lines.h"
#include "base/rng.h"
#include "topology/topology.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Position on a walk row by row in alternating direction. */
static uint64_t walk_of(const struct traffic *t, uint32_t host)
{
    struct hx_coordinate at = hx_grid_of(t->g, host);
    uint64_t column = at.addr_lo % 2 ? t->g->columns - 1U - at.addr_hi : at.addr_hi;
    return (uint64_t)at.addr_lo * t->g->columns + column;
}

struct step {
    uint64_t at;
    uint32_t host;
};

static int by_step(const void *a, const void *b)
{
    const struct step *x = a;
    const struct step *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static void walk(uint32_t *member, uint32_t members, const struct traffic *t)
{
    struct step *step = hx_allocate(members, sizeof *step);
    for (uint32_t i = 0; i < members; i++)
        step[i] = (struct step){walk_of(t, member[i]), member[i]};
    qsort(step, members, sizeof *step, by_step);
    for (uint32_t i = 0; i < members; i++)
        member[i] = step[i].host;
    free(step);
}

static void shuffle(uint32_t *member, uint32_t members, uint64_t seed)
{
    for (uint32_t left = members; left > 1; left--) {
        uint32_t other = hx_rng_below(&seed, left);
        uint32_t last = member[left - 1];
        member[left - 1] = member[other];
        member[other] = last;
    }
}

/* ---- folded grids ---- */

enum { MOST_SIDES = 4 };

/* Position of a rank on a walk through a grid of up to four dimensions: rank = i + A * (j + B * k), and each dimension
 * is walked back and forth, so that successors in one are successors on the walk, or fold onto each other. */
static uint32_t folded(uint32_t rank, const unsigned *side, unsigned sides)
{
    uint32_t at[MOST_SIDES];
    uint32_t position = 0;
    for (unsigned i = 0; i < sides; i++) {
        at[i] = rank % side[i];
        rank /= side[i];
    }
    for (unsigned i = sides; i-- > 0;) {
        bool back = position % 2;
        position = position * side[i] + (back ? side[i] - 1 - at[i] : at[i]);
    }
    return position;
}

/* Sides of a grid such as 16x4x8, of `ranks` places; 0: it is none. */
static unsigned read_sides(const char *how, unsigned side[MOST_SIDES], uint64_t *places)
{
    unsigned sides = strspn(how, "0123456789x") == strlen(how) ? hx_spec_tokens_list(how, side, MOST_SIDES) : 0;
    *places = 1;
    for (unsigned i = 0; i < sides; i++)
        *places *= side[i];
    return sides > 1 ? sides : 0;
}

static bool fold(uint32_t *host, uint32_t ranks, const uint32_t *walk, const char *how, struct hx_problem *problem)
{
    unsigned side[MOST_SIDES];
    uint64_t places;
    unsigned sides = read_sides(how, side, &places);
    if (places != ranks)
        return hx_fail(problem, HX_EXIT_USAGE, "--place", "%s has %" PRIu64 " places, the schedule %" PRIu32 " ranks",
                       how, places, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
        host[rank] = walk[folded(rank, side, sides)];
    return true;
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
    return hx_value_coordinate(pair, &at, why) ? HX_NOWHERE : hx_fabric_host(t->g, at.addr_hi, at.addr_lo);
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
                    struct hx_problem *problem)
{
    uint32_t members = t->members[member];
    bool random = how && strcmp(how, "random") == 0;
    unsigned side[MOST_SIDES];
    uint64_t places;
    bool folds = how && read_sides(how, side, &places);
    bool grid = how && (folds || strcmp(how, "grid") == 0);
    if (how && !random && !grid && strcmp(how, "linear") != 0)
        return read_hosts(host, ranks, t, member, how, problem);
    uint32_t *list = hx_allocate(members, sizeof *list);
    memcpy(list, t->member + t->first[member], members * sizeof *list);
    qsort(list, members, sizeof *list, hx_compare_uint32);
    if (grid)
        walk(list, members, t);
    if (random)
        shuffle(list, members, t->settings.seed);
    bool good = !folds || fold(host, ranks, list, how, problem);
    if (!folds)
        memcpy(host, list, ranks * sizeof *host);
    free(list);
    return good;
}
