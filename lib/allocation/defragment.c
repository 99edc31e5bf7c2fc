/* defragment.c - chooses jobs to move, and their new boards (defragment.h). */
#include "allocation/defragment.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The running jobs, and one attempt to make room. */
struct trial {
    const struct hx_placement *standing;
    const struct hx_boards *now;
    const struct hx_placement_rules *rules;
    struct hx_shape wanted;
    unsigned jobs;
    unsigned *by_size; /* [jobs], the smallest first */
    bool *away;        /* [jobs]: removed in this attempt */
    struct hx_boards boards;
    struct hx_placement room, *move; /* [jobs] */
    unsigned moved;                  /* boards that change */
    unsigned least;                  /* in the best attempt; UINT32_MAX: none */
};

static unsigned boards_of(const struct hx_placement *p)
{
    return p->shape.rows * p->shape.columns;
}

unsigned hx_boards_moved(const struct hx_placement *from, const struct hx_placement *to)
{
    unsigned moved = 0;
    for (unsigned n = 0; n < boards_of(to); n++)
        moved += hx_placement_board(from, n, HX_MOST_BOARDS_ACROSS) != hx_placement_board(to, n, HX_MOST_BOARDS_ACROSS);
    return moved;
}

static void drop_moves(struct trial *t)
{
    hx_placement_free(&t->room);
    for (unsigned i = 0; i < t->jobs; i++)
        hx_placement_free(&t->move[i]);
}

static bool still_fits(const struct hx_placement *p, const struct hx_boards *b)
{
    for (unsigned n = 0; n < boards_of(p); n++)
        if (!hx_board_is_free(b, p->column[n % p->shape.columns], p->row[n / p->shape.columns]))
            return false;
    return true;
}

/* Places removed jobs that cannot return, largest first. Returns false if one finds no room, or if no fewer boards move
 * than in the best attempt. */
static bool place_again(struct trial *t)
{
    unsigned left = 0; /* lower bound: each moves at least one board */
    for (unsigned i = 0; i < t->jobs; i++)
        left += t->away[i];
    for (unsigned n = t->jobs; n-- > 0 && t->moved + left < t->least;) {
        unsigned i = t->by_size[n];
        if (!t->away[i])
            continue;
        if (!hx_place(&t->move[i], &t->boards, t->standing[i].shape, t->rules))
            return false;
        hx_placement_take(&t->move[i], &t->boards);
        t->moved += hx_boards_moved(&t->standing[i], &t->move[i]);
        left--;
    }
    return t->moved + left < t->least;
}

/* Tries to make room without the jobs in `away`. Returns whether it is the best attempt so far. */
static bool attempt(struct trial *t)
{
    hx_boards_copy(&t->boards, t->now);
    t->moved = 0;
    for (unsigned i = 0; i < t->jobs; i++)
        if (t->away[i])
            hx_placement_give_back(&t->standing[i], &t->boards);
    if (!hx_place(&t->room, &t->boards, t->wanted, t->rules))
        return false;
    hx_placement_take(&t->room, &t->boards);
    for (unsigned i = 0; i < t->jobs; i++) {
        if (!t->away[i] || !still_fits(&t->standing[i], &t->boards))
            continue;
        hx_placement_take(&t->standing[i], &t->boards);
        t->away[i] = false;
    }
    if (place_again(t))
        return true;
    drop_moves(t);
    return false;
}

/* Tries to make room without jobs `first` to `last` by size, and keeps the best result. */
static void attempt_without(struct trial *t, unsigned first, unsigned last, struct hx_placement *room,
                            struct hx_placement *move)
{
    memset(t->away, 0, t->jobs * sizeof *t->away);
    for (unsigned i = first; i <= last; i++)
        t->away[t->by_size[i]] = true;
    if (!attempt(t))
        return;
    t->least = t->moved;
    for (unsigned i = 0; i < t->jobs; i++) {
        struct hx_placement other = move[i];
        move[i] = t->move[i];
        t->move[i] = other;
    }
    struct hx_placement other = *room;
    *room = t->room;
    t->room = other;
    drop_moves(t);
}

static void order_by_size(struct trial *t)
{
    for (unsigned i = 0; i < t->jobs; i++) {
        unsigned at = i;
        for (; at > 0 && boards_of(&t->standing[t->by_size[at - 1]]) > boards_of(&t->standing[i]); at--)
            t->by_size[at] = t->by_size[at - 1];
        t->by_size[at] = i;
    }
}

bool hx_make_room(struct hx_placement *room, struct hx_placement *move, const struct hx_placement *standing,
                  unsigned jobs, const struct hx_boards *b, struct hx_shape wanted,
                  const struct hx_placement_rules *rules)
{
    struct trial t = {
        .standing = standing, .now = b, .rules = rules, .wanted = wanted, .jobs = jobs, .least = UINT32_MAX};
    t.by_size = hx_allocate(jobs, sizeof *t.by_size);
    t.away = hx_allocate(jobs, sizeof *t.away);
    t.move = hx_allocate(jobs, sizeof *t.move);
    hx_boards_make(&t.boards, b->columns, b->rows);
    *room = (struct hx_placement){.shape = {0, 0}};
    memset(move, 0, jobs * sizeof *move);
    order_by_size(&t);
    for (unsigned n = 0; n < jobs && t.least; n++)
        attempt_without(&t, n, n, room, move);
    for (unsigned n = 1; n < jobs && t.least; n++)
        attempt_without(&t, 0, n, room, move);
    hx_boards_free(&t.boards);
    free(t.by_size);
    free(t.away);
    free(t.move);
    return t.least < UINT32_MAX;
}
