/* depth.c - chains of dependencies (summary.h).
 *
 * The body of a repeat is a graph of its own: its operations wait only for each other. So bodies are measured from the
 * last to the first, inner ones before those around them, and the rank's own operations at the end. A repeat is as long
 * as its body's longest chain, times its iterations. */
#include "schedule/summary.h"
#include "schedule/walk.h"

#include <stdlib.h>

/* Lengths of a chain. */
struct chain {
    uint64_t operations, ps;
};

struct work {
    const struct schedule *s;
    uint32_t rank;
    struct chain *before; /* of each operation: the longest chains that it waits for */
    uint32_t *left;       /* of each operation: operations that it still waits for */
    uint32_t *ready;      /* queue of operations that wait for none */
    uint64_t width;
};

static void lengthen(struct chain *to, const struct chain *other)
{
    to->operations = other->operations > to->operations ? other->operations : to->operations;
    to->ps = other->ps > to->ps ? other->ps : to->ps;
}

/* Returns the longest chains that end with operation i. A body's are kept at its first operation, which is done. */
static struct chain chain_at(const struct work *w, uint32_t i)
{
    const struct schedule_operation *o = schedule_at(w->s, w->rank, i);
    struct chain c = w->before[i];
    if (o->kind == SCHEDULE_REPEAT && o->peer == 0)
        return c;
    const struct chain own =
        o->kind == SCHEDULE_REPEAT ? w->before[i + 1] : (struct chain){1, o->kind == SCHEDULE_COMPUTE ? o->amount : 0};
    c.operations = schedule_add(c.operations, own.operations);
    c.ps = schedule_add(c.ps, own.ps);
    return c;
}

/* Passes the chains that end with operation i to its followers, and appends those that wait for no other to the queue,
 * at index `end`. Returns how many these are. */
static uint32_t pass_on(struct work *w, uint32_t i, const struct chain *all, uint32_t end)
{
    const uint32_t *list;
    uint32_t followers = schedule_followers(w->s, w->rank, i, &list);
    uint32_t entered = 0;
    for (uint32_t f = 0; f < followers; f++) {
        uint32_t later = list[f] >> 1;
        /* An operation that waits for the start only may run beside this one. */
        const struct chain c = {all->operations, list[f] & SCHEDULE_AFTER_START ? w->before[i].ps : all->ps};
        lengthen(&w->before[later], &c);
        if (--w->left[later] == 0)
            w->ready[end + entered++] = later;
    }
    return entered;
}

/* Returns the longest chains of the operations from `begin` to `end`, without those in bodies of repeats. */
static struct chain measure(struct work *w, uint32_t begin, uint32_t end)
{
    struct chain longest = {0, 0};
    uint32_t known = 0;
    uint32_t level = 0; /* end of the operations with equally many before them */
    for (uint32_t i = begin; i < end; i = schedule_next(w->s, w->rank, i)) {
        w->left[i] = schedule_at(w->s, w->rank, i)->waits;
        w->before[i] = (struct chain){0, 0};
        if (!w->left[i])
            w->ready[known++] = i;
    }
    for (uint32_t done = 0; done < known; done++) {
        if (done == level) {
            w->width = known - level > w->width ? known - level : w->width;
            level = known;
        }
        const struct chain c = chain_at(w, w->ready[done]);
        lengthen(&longest, &c);
        known += pass_on(w, w->ready[done], &c, known);
    }
    return longest;
}

static struct chain measure_rank(struct work *w)
{
    uint32_t count = schedule_count(w->s, w->rank);
    for (uint32_t i = count; i-- > 0;) {
        const struct schedule_operation *o = schedule_at(w->s, w->rank, i);
        if (o->kind != SCHEDULE_REPEAT || o->peer == 0)
            continue;
        const struct chain body = measure(w, i + 1, i + 1 + o->peer);
        w->before[i + 1] =
            (struct chain){schedule_multiply(body.operations, o->amount), schedule_multiply(body.ps, o->amount)};
    }
    return measure(w, 0, count);
}

void schedule_measure_depth(const struct schedule *s, struct schedule_summary *summary)
{
    struct work w = {.s = s};
    uint32_t most = 0;
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++)
        most = schedule_count(s, rank) > most ? schedule_count(s, rank) : most;
    w.before = hx_allocate(most + 1, sizeof *w.before);
    w.left = hx_allocate(most + 1, sizeof *w.left);
    w.ready = hx_allocate(most + 1, sizeof *w.ready);
    for (w.rank = 0; w.rank < schedule_ranks(s); w.rank++) {
        w.width = 0;
        const struct chain c = measure_rank(&w);
        schedule_note_most(&summary->depth, c.operations, w.rank);
        schedule_note_most(&summary->chain, c.ps, w.rank);
        schedule_note_most(&summary->width, w.width, w.rank);
    }
    HX_FREE(w.before, w.left, w.ready);
}
