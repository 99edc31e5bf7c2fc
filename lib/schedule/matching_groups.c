/* matching_groups.c - the members of a group call the same collectives (matching.h).
 *
 * A sequence of calls has a hash that is a polynomial, so that sequences are joined, and repeated n times, without
 * carrying them out. Only members that differ are walked call by call. */
#include "schedule/matching_parts.h"
#include "schedule/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- sequences ---- */

#define MODULUS ((UINT64_C(1) << 61) - 1)
#define BASE    UINT64_C(0x16a09e667f3bcc9)

/* A sequence of calls: their number, the sum of call i times BASE^(length - 1 - i), and BASE^length. */
struct sequence {
    uint64_t length, hash, power;
};
static const struct sequence nothing = {0, 0, 1};

static uint64_t times(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b % MODULUS);
}

static struct sequence join(const struct sequence *a, const struct sequence *b)
{
    return (struct sequence){schedule_add(a->length, b->length), (times(a->hash, b->power) + b->hash) % MODULUS,
                             times(a->power, b->power)};
}

static struct sequence repeat(struct sequence a, uint64_t iterations)
{
    struct sequence all = nothing;
    for (; iterations; iterations >>= 1) {
        if (iterations & 1)
            all = join(&all, &a);
        a = join(&a, &a);
    }
    return all;
}

static bool is_equal(const struct sequence *a, const struct sequence *b)
{
    return a->length == b->length && a->hash == b->hash && a->power == b->power;
}

static struct sequence call_of(const struct schedule_operation *o)
{
    uint64_t what = (uint64_t)o->tag << 16 | (uint64_t)o->collective << 8 | o->algorithm;
    uint64_t value = times(what + 1, UINT64_C(0x0bb67ae8584caa73)) + times(o->amount % MODULUS + 1, 0x3c6ef372fe94f82b);
    return (struct sequence){1, value % MODULUS, BASE};
}

/* ---- the sequences of a rank ---- */

struct of_group {
    uint32_t group;
    struct sequence calls;
};

/* A repeated block, or the whole rank: its groups are those from `first` on. */
struct block {
    uint32_t end; /* number of the operation behind it */
    uint64_t iterations;
    size_t first;
};

struct rank {
    struct of_group *group;
    struct block *block;
    size_t groups, groups_room, blocks, blocks_room;
};

static void enter(struct rank *r, uint32_t end, uint64_t iterations)
{
    r->block = hx_grow(r->block, r->blocks, &r->blocks_room, sizeof *r->block);
    r->block[r->blocks++] = (struct block){end, iterations, r->groups};
}

/* Adds calls to the innermost block. */
static void add(struct rank *r, uint32_t group, const struct sequence *calls)
{
    size_t i = r->block[r->blocks - 1].first;
    while (i < r->groups && r->group[i].group != group)
        i++;
    if (i == r->groups) {
        r->group = hx_grow(r->group, r->groups, &r->groups_room, sizeof *r->group);
        r->group[r->groups++] = (struct of_group){group, nothing};
    }
    r->group[i].calls = join(&r->group[i].calls, calls);
}

/* Repeats the calls of the innermost block and adds them to the one around it. */
static void leave(struct rank *r)
{
    const struct block b = r->block[--r->blocks];
    size_t end = r->groups;
    r->groups = b.first;
    for (size_t i = b.first; i < end; i++) {
        const struct sequence repeated = repeat(r->group[i].calls, b.iterations);
        add(r, r->group[i].group, &repeated);
    }
}

static void collect(struct rank *r, const struct schedule *s, uint32_t rank)
{
    uint32_t count = schedule_count(s, rank);
    r->groups = r->blocks = 0;
    enter(r, UINT32_MAX, 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        while (r->block[r->blocks - 1].end == i)
            leave(r);
        if (o->kind == SCHEDULE_REPEAT) {
            enter(r, i + 1 + o->peer, o->amount);
        } else if (o->kind == SCHEDULE_COLLECTIVE) {
            const struct sequence call = call_of(o);
            add(r, o->peer, &call);
        }
    }
    while (r->blocks > 1)
        leave(r);
}

/* ---- call by call ---- */

enum { MOST_STEPS = 10000000 };

/* The calls of a rank on a group, with repeats carried out. */
struct cursor {
    const struct schedule *s;
    uint32_t rank, group, number, steps;
    struct loop {
        uint32_t begin, end;
        uint64_t left; /* iterations behind this one */
    } * loop;          /* the innermost last */
    size_t loops, room;
};

/* Goes back to the begin of each loop that ends here and runs again. */
static void end_loops(struct cursor *c)
{
    while (c->loops && c->loop[c->loops - 1].end == c->number) {
        struct loop *l = &c->loop[c->loops - 1];
        if (l->left && l->begin < l->end) {
            l->left--;
            c->number = l->begin;
            return;
        }
        c->loops--;
    }
}

/* Returns the next call; NULL: none, or MOST_STEPS are done. */
static const struct schedule_operation *next_call(struct cursor *c)
{
    for (end_loops(c); c->number < schedule_count(c->s, c->rank) && c->steps < MOST_STEPS; end_loops(c)) {
        const struct schedule_operation *o = schedule_at(c->s, c->rank, c->number++);
        c->steps++;
        if (o->kind == SCHEDULE_COLLECTIVE && o->peer == c->group)
            return o;
        if (o->kind != SCHEDULE_REPEAT)
            continue;
        c->loop = hx_grow(c->loop, c->loops, &c->room, sizeof *c->loop);
        c->loop[c->loops++] = (struct loop){c->number, c->number + o->peer, o->amount - 1};
    }
    return NULL;
}

static bool is_same(const struct schedule_operation *a, const struct schedule_operation *b)
{
    return a->collective == b->collective && a->amount == b->amount && a->algorithm == b->algorithm && a->tag == b->tag;
}

static bool has_root(const struct schedule_operation *o)
{
    return o->tag || o->collective == HX_BROADCAST || o->collective == HX_REDUCE || o->collective == HX_GATHER ||
           o->collective == HX_SCATTER;
}

static const char *describe(char text[128], const struct schedule *s, const struct schedule_operation *o)
{
    char name[48] = "";
    char algorithm[24] = "";
    char root[24] = "";
    if (!o)
        return "missing";
    if (o->name)
        (void)snprintf(name, sizeof name, " '%.40s'", schedule_name(s, o));
    if (o->algorithm)
        (void)snprintf(algorithm, sizeof algorithm, ", algorithm %u", o->algorithm);
    if (has_root(o))
        (void)snprintf(root, sizeof root, ", %s %" PRIu32,
                       o->collective == HX_COLLECTIVE_ALL_TO_ALL ? "shares" : "root", o->tag);
    (void)snprintf(text, 128, "%s%s of %" PRIu64 " B%s%s", hx_collective_kind_names[o->collective], name, o->amount,
                   algorithm, root);
    return text;
}

struct place {
    const char *where;
    struct hx_problem *problem;
};

static bool fail_of(const struct place *p, const struct schedule *s, uint32_t group, uint32_t rank, uint32_t first)
{
    struct cursor a = {.s = s, .rank = rank, .group = group};
    struct cursor b = {.s = s, .rank = first, .group = group};
    const struct schedule_operation *x;
    const struct schedule_operation *y;
    uint64_t call = 0;
    char text[2][128];
    do {
        x = next_call(&a);
        y = next_call(&b);
        call++;
    } while (x && y && is_same(x, y));
    HX_FREE(a.loop, b.loop);
    if (a.steps == MOST_STEPS || b.steps == MOST_STEPS)
        return hx_fail(p->problem, HX_EXIT_CONFIG, p->where,
                       "ranks %" PRIu32 " and %" PRIu32 " call different collectives of group %" PRIu32 " (%" PRIu32
                       " ranks)",
                       rank, first, group, schedule_group_size(s, group));
    return hx_fail(p->problem, HX_EXIT_CONFIG, p->where,
                   "rank %" PRIu32 ": collective %" PRIu64 " of group %" PRIu32 " (%" PRIu32
                   " ranks) is %s, at rank %" PRIu32 " it is %s (all members of a group call the same)",
                   rank, call, group, schedule_group_size(s, group), describe(text[0], s, x), first,
                   describe(text[1], s, y));
}

/* ---- all ranks ---- */

struct group {
    uint32_t first, members; /* rank that calls first, and number of ranks that call */
    struct sequence calls;   /* of the first */
};

static bool calls(const struct schedule *s, uint32_t rank, uint32_t group)
{
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        if (o->kind == SCHEDULE_COLLECTIVE && o->peer == group)
            return true;
    }
    return false;
}

/* Whether all members of each group that is used call at all. */
static bool groups_are_whole(const struct place *p, const struct schedule *s, const struct group *group)
{
    for (uint32_t g = 0; g < s->head->groups; g++) {
        uint32_t size = schedule_group_size(s, g);
        if (group[g].members == 0 || group[g].members == size)
            continue;
        for (uint32_t i = 0; i < size; i++) {
            if (!calls(s, schedule_group(s, g)[i], g))
                return fail_of(p, s, g, schedule_group(s, g)[i], group[g].first);
        }
    }
    return true;
}

/* Compares the calls of a rank with those of the first member of each of its groups. */
static bool compare(const struct place *p, const struct schedule *s, uint32_t rank, const struct rank *r,
                    struct group *group)
{
    for (size_t i = 0; i < r->groups; i++) {
        struct group *g = &group[r->group[i].group];
        if (g->members++ == 0) {
            g->first = rank;
            g->calls = r->group[i].calls;
        } else if (!is_equal(&g->calls, &r->group[i].calls)) {
            return fail_of(p, s, r->group[i].group, rank, g->first);
        }
    }
    return true;
}

bool matching_groups(const struct schedule *s, const char *where, struct hx_problem *problem)
{
    const struct place p = {where, problem};
    struct rank r = {.groups = 0};
    bool good = true;
    if (s->head->groups == 0)
        return true;
    struct group *group = hx_allocate(s->head->groups, sizeof *group);
    for (uint32_t rank = 0; good && rank < schedule_ranks(s); rank++) {
        collect(&r, s, rank);
        good = compare(&p, s, rank, &r, group);
    }
    good = good && groups_are_whole(&p, s, group);
    HX_FREE(group, r.group, r.block);
    return good;
}
