/* structure.c - checks of a rank's operations (structure.h). */
#include "schedule/structure.h"
#include "schedule/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { OUTSIDE = UINT32_MAX /* body of the operations that are in none */ };

/* The rank that is checked. */
struct work {
    const struct schedule *s;
    const char *where;
    struct hx_problem *problem;
    const struct schedule_operation *operation;
    uint32_t rank, count;
};

/* What an error calls an operation: its name, or its kind and number. */
static const char *call(const struct work *w, uint32_t number, char text[64])
{
    const struct schedule_operation *o = &w->operation[number];
    if (o->name)
        (void)snprintf(text, 64, "'%.40s'", w->s->names + o->name);
    else
        (void)snprintf(text, 64, "%s %" PRIu32, schedule_kind_names[o->kind], number);
    return text;
}

/* Bodies around the operation that is looked at, the innermost last. times[i]: iterations of body i and all around
 * it. */
struct nest {
    uint32_t repeat[SCHEDULE_MOST_NESTED];
    uint64_t times[SCHEDULE_MOST_NESTED];
    unsigned depth;
};

static bool enter(const struct work *w, struct nest *n, uint32_t number)
{
    const struct schedule_operation *o = &w->operation[number];
    uint32_t around = n->depth ? n->repeat[n->depth - 1] : OUTSIDE;
    if (around != OUTSIDE && number + o->peer > around + w->operation[around].peer)
        return hx_fail(w->problem, HX_EXIT_CONFIG, w->where,
                       "is a damaged schedule: rank %" PRIu32 " has a block that ends behind the one around it",
                       w->rank);
    if (n->depth == SCHEDULE_MOST_NESTED)
        return hx_fail(w->problem, HX_EXIT_CONFIG, w->where,
                       "rank %" PRIu32 " has more than %d repeated blocks inside one another", w->rank,
                       SCHEDULE_MOST_NESTED);
    n->times[n->depth] = schedule_multiply(n->depth ? n->times[n->depth - 1] : 1, o->amount);
    n->repeat[n->depth++] = number;
    return true;
}

/* Writes for each operation the repeat around it, or OUTSIDE. Returns false if a body ends behind the one around it, or
 * bodies make too many operations. */
static bool find_bodies(const struct work *w, uint32_t *body)
{
    struct nest n = {.depth = 0};
    uint64_t all = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        while (n.depth && i > n.repeat[n.depth - 1] + w->operation[n.repeat[n.depth - 1]].peer)
            n.depth--;
        body[i] = n.depth ? n.repeat[n.depth - 1] : OUTSIDE;
        all = schedule_add(all, n.depth ? n.times[n.depth - 1] : 1);
        if (all > SCHEDULE_MOST_EXECUTED)
            return hx_fail(w->problem, HX_EXIT_CONFIG, w->where,
                           "rank %" PRIu32 " carries out more than 2^60 operations with its repeats", w->rank);
        if (w->operation[i].kind == SCHEDULE_REPEAT && !enter(w, &n, i))
            return false;
    }
    return true;
}

static bool fail_bodies(const struct work *w, uint32_t earlier, uint32_t later)
{
    char of_earlier[64];
    char of_later[64];
    return hx_fail(w->problem, HX_EXIT_CONFIG, w->where,
                   "rank %" PRIu32
                   ": %s waits for %s, but only one of them is in a repeated block (let it wait for the "
                   "repeat itself)",
                   w->rank, call(w, later, of_later), call(w, earlier, of_earlier));
}

static bool bodies_are_closed(const struct work *w)
{
    uint32_t *body = hx_allocate(w->count, sizeof *body);
    bool good = find_bodies(w, body);
    for (uint32_t i = 0; good && i < w->count; i++) {
        const uint32_t *list;
        uint32_t followers = schedule_followers(w->s, w->rank, i, &list);
        for (uint32_t f = 0; good && f < followers; f++) {
            if (body[i] != body[list[f] >> 1])
                good = fail_bodies(w, i, list[f] >> 1);
        }
    }
    free(body);
    return good;
}

/* Names up to three operations of a circle: each has `left` waits that never end. */
static bool fail_circle(const struct work *w, const uint32_t *left)
{
    uint32_t *before = hx_allocate(w->count, sizeof *before); /* number + 1 of one that it waits for for ever */
    char text[3][64];
    uint32_t at = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        const uint32_t *list;
        uint32_t followers = left[i] ? schedule_followers(w->s, w->rank, i, &list) : 0;
        for (uint32_t f = 0; f < followers; f++)
            before[list[f] >> 1] = i + 1;
    }
    while (!left[at])
        at++;
    for (uint32_t steps = 0; steps < w->count; steps++)
        at = before[at] - 1;
    uint32_t second = before[at] - 1;
    uint32_t third = before[second] - 1;
    free(before);
    if (second == at)
        return hx_fail(w->problem, HX_EXIT_CONFIG, w->where, "rank %" PRIu32 ": %s waits for itself", w->rank,
                       call(w, at, text[0]));
    if (third == at)
        return hx_fail(w->problem, HX_EXIT_CONFIG, w->where, "rank %" PRIu32 ": %s and %s wait for each other", w->rank,
                       call(w, at, text[0]), call(w, second, text[1]));
    return hx_fail(w->problem, HX_EXIT_CONFIG, w->where,
                   "rank %" PRIu32
                   ": operations wait for each other in a circle: %s for %s, this one for %s, and so on",
                   w->rank, call(w, at, text[0]), call(w, second, text[1]), call(w, third, text[2]));
}

/* Whether each operation waits for as many others as it says: else it begins twice or never. */
static bool waits_are_right(const struct work *w)
{
    uint32_t *waits = hx_allocate(w->count, sizeof *waits);
    bool good = true;
    for (uint32_t i = 0; i < w->count; i++) {
        const uint32_t *list;
        uint32_t followers = schedule_followers(w->s, w->rank, i, &list);
        for (uint32_t f = 0; f < followers; f++)
            waits[list[f] >> 1]++;
    }
    for (uint32_t i = 0; good && i < w->count; i++)
        good = waits[i] == w->operation[i].waits;
    free(waits);
    return good || hx_fail(w->problem, HX_EXIT_CONFIG, w->where,
                           "is a damaged schedule: rank %" PRIu32 " counts its dependencies wrongly", w->rank);
}

static bool has_no_circle(const struct work *w)
{
    uint32_t *left = hx_allocate(w->count, sizeof *left);
    uint32_t *ready = hx_allocate(w->count, sizeof *ready);
    uint32_t known = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        left[i] = w->operation[i].waits;
        if (!left[i])
            ready[known++] = i;
    }
    for (uint32_t done = 0; done < known; done++) {
        const uint32_t *list;
        uint32_t followers = schedule_followers(w->s, w->rank, ready[done], &list);
        for (uint32_t f = 0; f < followers; f++) {
            if (--left[list[f] >> 1] == 0)
                ready[known++] = list[f] >> 1;
        }
    }
    bool good = known == w->count || fail_circle(w, left);
    free(left);
    free(ready);
    return good;
}

static bool is_member(const struct schedule *s, uint32_t group, uint32_t rank)
{
    const uint32_t *member = schedule_group(s, group);
    for (uint32_t i = 0; i < schedule_group_size(s, group); i++) {
        if (member[i] == rank)
            return true;
    }
    return false;
}

static bool groups_are_good(const struct work *w)
{
    uint32_t used[SCHEDULE_MOST_GROUPS_OF_RANK];
    uint32_t groups = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct schedule_operation *o = &w->operation[i];
        uint32_t known = 0;
        char text[64];
        if (o->kind != SCHEDULE_COLLECTIVE)
            continue;
        while (known < groups && used[known] != o->peer)
            known++;
        if (known < groups)
            continue;
        if (!is_member(w->s, o->peer, w->rank))
            return hx_fail(w->problem, HX_EXIT_CONFIG, w->where,
                           "rank %" PRIu32 ": %s is of a group that the rank is not in", w->rank, call(w, i, text));
        if (groups == SCHEDULE_MOST_GROUPS_OF_RANK)
            return hx_fail(w->problem, HX_EXIT_CONFIG, w->where,
                           "rank %" PRIu32 " has collectives of more than %d groups", w->rank,
                           SCHEDULE_MOST_GROUPS_OF_RANK);
        used[groups++] = o->peer;
    }
    return true;
}

bool schedule_check_structure(const struct schedule *s, const char *where, struct hx_problem *problem)
{
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++) {
        const struct work w = {s, where, problem, s->operation + s->first[rank], rank, schedule_count(s, rank)};
        if (w.count && !(waits_are_right(&w) && bodies_are_closed(&w) && has_no_circle(&w) && groups_are_good(&w)))
            return false;
    }
    return true;
}
