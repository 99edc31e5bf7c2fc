/* matching_wild.c - receives with wildcards take the sends that are left (matching.h).
 *
 * A cell holds the sends of one source and tag. Receives of any tag take from the cells of their source, receives of
 * any source from those of their tag, receives of any of both from all. Each of the first two takes what it finds. If
 * it lacks some, it takes from cells of others, which replace their loss elsewhere: an augmenting path of a maximum
 * flow. The last kind comes last and takes what remains. */
#include "schedule/matching.h"
#include "schedule/matching_parts.h"
#include "schedule/walk.h"

#include <stdlib.h>

/* Which side of a cell receives are on. */
enum side { OF_SOURCE, OF_TAG };

struct wild {
    struct matching_faults *faults;
    uint32_t rank;
    const struct matching_message *receive;
    uint64_t *lack; /* of each of these */
    uint32_t receives;
    struct matching_cell *cell; /* sorted by key */
    uint32_t cells;
    uint32_t *by_tag; /* their indices, sorted by tag */
    bool exact;       /* false: sides take from a cell regardless of each other */
};

static uint32_t source_of(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

static uint32_t tag_of(uint64_t key)
{
    return (uint32_t)key;
}

static enum side side_of(uint64_t key)
{
    return source_of(key) == SCHEDULE_ANY ? OF_TAG : OF_SOURCE;
}

static bool is_of_all(uint64_t key)
{
    return key == matching_key(SCHEDULE_ANY, SCHEDULE_ANY);
}

static uint64_t slack_of(const struct wild *w, const struct matching_cell *c, enum side side)
{
    return c->left - (w->exact ? c->taken[OF_SOURCE] + c->taken[OF_TAG] : c->taken[side]);
}

/* ---- first come, first served ---- */

static int by_tag_and_source(const void *a, const void *b, void *cells)
{
    const struct matching_cell *cell = cells;
    uint64_t x = cell[*(const uint32_t *)a].key;
    uint64_t y = cell[*(const uint32_t *)b].key;
    x = x << 32 | x >> 32;
    y = y << 32 | y >> 32;
    return (x > y) - (x < y);
}

/* Lets receive r take from the cells of its source or tag. *at is the next cell in the side's order. */
static void take_cell(struct wild *w, uint32_t r, uint32_t *at)
{
    uint64_t key = w->receive[r].key;
    enum side side = side_of(key);
    uint32_t wanted = side == OF_TAG ? tag_of(key) : source_of(key);
    for (; *at < w->cells; ++*at) {
        struct matching_cell *c = &w->cell[side == OF_TAG ? w->by_tag[*at] : *at];
        uint32_t has = side == OF_TAG ? tag_of(c->key) : source_of(c->key);
        if (has > wanted)
            return;
        if (has < wanted)
            continue;
        uint64_t slack = slack_of(w, c, side);
        uint64_t taken = slack < w->lack[r] ? slack : w->lack[r];
        c->owner[side] = r;
        c->taken[side] += taken;
        w->lack[r] -= taken;
    }
}

/* ---- augmenting paths ---- */

/* How the search reached a receive: `from` takes from this cell what the receive has of it. */
struct step {
    bool reached;
    uint32_t cell, from;
};

static enum side other(enum side side)
{
    return side == OF_TAG ? OF_SOURCE : OF_TAG;
}

/* Searches from receive r for a cell with slack. Returns its index and sets *end to the receive that takes from it;
 * MATCHING_NONE: there is none. */
static uint32_t search(const struct wild *w, uint32_t r, struct step *step, uint32_t *end)
{
    for (uint32_t i = 0; i < w->receives; i++)
        step[i].reached = i == r;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < 2 * w->cells; i++) {
            const struct matching_cell *c = &w->cell[i / 2];
            enum side side = i % 2 ? OF_TAG : OF_SOURCE;
            uint32_t mine = c->owner[side];
            uint32_t its = c->owner[other(side)];
            if (mine == MATCHING_NONE || !step[mine].reached)
                continue;
            if (slack_of(w, c, side)) {
                *end = mine;
                return i / 2;
            }
            if (its == MATCHING_NONE || step[its].reached || !c->taken[other(side)])
                continue;
            step[its] = (struct step){true, i / 2, mine};
            more = true;
        }
    }
    return MATCHING_NONE;
}

/* Moves as much as the path from receive r to a cell with slack allows. */
static void augment(struct wild *w, uint32_t r, const struct step *step, uint32_t cell, uint32_t end)
{
    enum side side = side_of(w->receive[end].key);
    uint64_t amount = slack_of(w, &w->cell[cell], side);
    amount = amount < w->lack[r] ? amount : w->lack[r];
    for (uint32_t at = end; at != r; at = step[at].from) {
        uint64_t has = w->cell[step[at].cell].taken[side_of(w->receive[at].key)];
        amount = amount < has ? amount : has;
    }
    w->cell[cell].taken[side] += amount;
    for (uint32_t at = end; at != r; at = step[at].from) {
        side = side_of(w->receive[at].key);
        w->cell[step[at].cell].taken[side] -= amount;
        w->cell[step[at].cell].taken[other(side)] += amount;
    }
    w->lack[r] -= amount;
}

static void find_paths(struct wild *w)
{
    struct step *step = hx_allocate(w->receives, sizeof *step);
    for (uint32_t r = 0; r < w->receives; r++) {
        while (w->lack[r] && !is_of_all(w->receive[r].key)) {
            uint32_t end;
            uint32_t cell = search(w, r, step, &end);
            if (cell == MATCHING_NONE)
                break;
            augment(w, r, step, cell, end);
        }
    }
    free(step);
}

/* ---- what remains ---- */

/* Lets receives of any source and tag take what remains of the sends, and reports what lacks. */
static void take_rest(struct wild *w)
{
    bool all = is_of_all(w->receive[w->receives - 1].key);
    uint64_t *lack = &w->lack[w->receives - 1];
    uint64_t rest = 0;
    uint64_t taken = 0;
    for (uint32_t i = 0; i < w->cells; i++)
        rest = schedule_add(rest, w->cell[i].left);
    for (uint32_t i = 0; i + all < w->receives; i++)
        taken = schedule_add(taken, w->receive[i].times - w->lack[i]);
    if (taken > rest) { /* sides took the same sends */
        *lack = schedule_add(*lack, taken - rest);
        taken = rest;
    }
    rest -= taken;
    if (all) {
        taken = rest < *lack ? rest : *lack;
        rest -= taken;
        *lack -= taken;
    }
    for (uint32_t i = 0; i < w->receives; i++)
        matching_fault(w->faults, w->rank, w->receive[i].number, w->lack[i]);
    for (uint32_t i = w->cells; i-- > 0 && rest;) {
        const struct matching_cell *c = &w->cell[i];
        uint64_t slack = slack_of(w, c, OF_SOURCE);
        slack = slack < rest ? slack : rest;
        matching_fault(w->faults, source_of(c->key), c->number, slack);
        rest -= slack;
    }
}

void matching_wild(struct matching_faults *f, uint32_t rank, const struct matching_message *receive, uint32_t receives,
                   struct matching_cell *cell, uint32_t cells)
{
    struct wild w = {f, rank, receive, .receives = receives, .cell = cell, .cells = cells};
    uint32_t at[2] = {0, 0};
    unsigned uses[2] = {0, 0};
    w.lack = hx_allocate(receives, sizeof *w.lack);
    w.by_tag = hx_allocate(cells + 1, sizeof *w.by_tag);
    for (uint32_t i = 0; i < receives; i++) {
        w.lack[i] = receive[i].times;
        uses[side_of(receive[i].key)] += !is_of_all(receive[i].key);
    }
    for (uint32_t i = 0; i < cells; i++)
        w.by_tag[i] = i;
    if (uses[OF_TAG])
        qsort_r(w.by_tag, cells, sizeof *w.by_tag, by_tag_and_source, cell);
    bool both = uses[OF_SOURCE] && uses[OF_TAG];
    w.exact = !both || cells <= SCHEDULE_MOST_FLOW;
    for (uint32_t i = 0; i < receives; i++) {
        if (!is_of_all(receive[i].key))
            take_cell(&w, i, &at[side_of(receive[i].key)]);
    }
    if (both && w.exact)
        find_paths(&w);
    take_rest(&w);
    HX_FREE(w.lack, w.by_tag);
}
