/* kineto_order.c - makes operations of the times of a Kineto trace (kineto.h; the rules stand in kineto.c).
 *
 * Works, merged, are busy times with gaps between them. Points in time cut the computing: a communication begins, its
 * end is waited for, the optimizer begins. At each the computing since the last point becomes an operation that follows
 * the last one and what has been waited for since. */
#include "schedule/kineto.h"

#include <stdlib.h>

#define LEAST_WAIT INT64_C(10000) /* ns */

/* Times from begin to end. */
struct span {
    int64_t begin, end;
};

struct spans {
    struct span *at; /* with room for all that may be added */
    size_t count;
};

enum what { END, OPTIMIZER, ISSUE }; /* in this order at one time */

struct point {
    int64_t at;
    enum what what;
    uint32_t communication;
};

struct order {
    struct kineto_trace *t;
    const struct kineto_file *f;
    uint32_t rank;
    int64_t start;
    struct spans busy, waiting;
    struct point *point;
    size_t points;
    struct kineto_operations *operations; /* [communications] */
    bool *is_waited;                      /* [communications]: its end is waited for where it stands */
    /* While the points are walked: */
    int64_t at;  /* computing up to here is an operation, or in `computing` */
    size_t next; /* in waiting */
    int64_t computing;
    uint32_t last;   /* operation; KINETO_UNKNOWN: none */
    uint32_t *ended; /* communications that have ended and that nothing has waited for */
    size_t ends;
    uint32_t *pending; /* communications that the next computing waits for */
    size_t pendings;
};

/* ---- spans ---- */

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void add_span(struct spans *s, int64_t begin, int64_t end)
{
    s->at[s->count++] = (struct span){begin, end};
}

/* Sorts, and joins those that touch. */
static void join(struct spans *s)
{
    size_t kept = 0;
    qsort(s->at, s->count, sizeof *s->at, by_begin);
    for (size_t i = 0; i < s->count; i++) {
        if (kept && s->at[i].begin <= s->at[kept - 1].end) {
            if (s->at[i].end > s->at[kept - 1].end)
                s->at[kept - 1].end = s->at[i].end;
        } else {
            s->at[kept++] = s->at[i];
        }
    }
    s->count = kept;
}

/* Number of spans that begin at or before `at`. */
static size_t begun(const struct spans *s, int64_t at)
{
    size_t low = 0;
    size_t high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->at[middle].begin <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void find_busy(struct order *o)
{
    const struct kineto_list_work *work = &o->f->work[o->f->side];
    const struct kineto_list_communication *communication = &o->f->communication[o->f->side];
    o->start = INT64_MAX;
    o->busy.at = hx_allocate(work->count + 1, sizeof *o->busy.at);
    for (size_t i = 0; i < work->count; i++)
        add_span(&o->busy, work->at[i].begin, work->at[i].end);
    join(&o->busy);
    if (o->busy.count)
        o->start = o->busy.at[0].begin;
    for (size_t i = 0; i < communication->count; i++)
        o->start = communication->at[i].begin < o->start ? communication->at[i].begin : o->start;
}

/* The rank waits for a communication that ends in a gap, from its issue or the gap's begin on. */
static void find_waiting(struct order *o)
{
    const struct kineto_list_communication *communication = &o->f->communication[o->f->side];
    o->waiting.at = hx_allocate(communication->count + 1, sizeof *o->waiting.at);
    for (size_t i = 0; i < communication->count; i++) {
        size_t before = begun(&o->busy, communication->at[i].end);
        int64_t begin = communication->at[i].issued > o->start ? communication->at[i].issued : o->start;
        if (before && o->busy.at[before - 1].end > begin)
            begin = o->busy.at[before - 1].end;
        o->is_waited[i] = communication->at[i].end - begin >= LEAST_WAIT;
        if (o->is_waited[i])
            add_span(&o->waiting, begin, communication->at[i].end);
    }
    join(&o->waiting);
}

/* ---- points ---- */

static int by_time(const void *a, const void *b)
{
    const struct point *x = a;
    const struct point *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    return (x->communication > y->communication) - (x->communication < y->communication);
}

static void add_point(struct order *o, int64_t at, enum what what, size_t communication)
{
    o->point[o->points++] = (struct point){at, what, (uint32_t)communication};
}

/* When the first work that was issued after the optimizer's begin begins. Works of a GPU are sorted by issue. */
static int64_t begin_of_optimizer(const struct order *o, int64_t issued)
{
    const struct kineto_list_work *work = &o->f->work[o->f->side];
    size_t low = 0;
    size_t high = work->count;
    if (o->f->side == KINETO_CPU)
        return issued;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (work->at[middle].issued < issued)
            low = middle + 1;
        else
            high = middle;
    }
    return low < work->count ? work->at[low].begin : INT64_MAX;
}

static void find_points(struct order *o)
{
    const struct kineto_list_communication *communication = &o->f->communication[o->f->side];
    const struct kineto_list_time *optimizer = &o->f->optimizer;
    o->point = hx_allocate(2 * communication->count + optimizer->count + 1, sizeof *o->point);
    for (size_t i = 0; i < communication->count; i++) {
        int64_t begin = communication->at[i].issued > o->start ? communication->at[i].issued : o->start;
        add_point(o, begin, ISSUE, i);
        add_point(o, communication->at[i].end > begin ? communication->at[i].end : begin + 1, END, i);
    }
    for (size_t i = 0; i < optimizer->count; i++) {
        int64_t at = begin_of_optimizer(o, optimizer->at[i]);
        if (at != INT64_MAX && at > o->start)
            add_point(o, at, OPTIMIZER, 0);
    }
    qsort(o->point, o->points, sizeof *o->point, by_time);
}

/* ---- operations ---- */

/* Counts the computing up to a time. */
static void advance(struct order *o, int64_t to)
{
    while (o->at < to) {
        const struct span *w = o->next < o->waiting.count ? &o->waiting.at[o->next] : NULL;
        if (w && w->end <= o->at) {
            o->next++;
            continue;
        }
        bool is_waiting = w && w->begin <= o->at;
        int64_t until = !w || (!is_waiting && w->begin > to) ? to : is_waiting ? w->end : w->begin;
        until = until < to ? until : to;
        if (!is_waiting)
            o->computing += until - o->at;
        o->at = until;
    }
}

static void follow(struct order *o, uint32_t number, const struct kineto_operations *before)
{
    for (uint32_t i = 0; i < before->count; i++)
        schedule_after(o->t->builder, o->rank, number, before->first + i);
}

/* Makes the computing so far an operation. It joins what it waited for, even if it takes no time. */
static void flush(struct order *o)
{
    const int64_t most = (int64_t)(SCHEDULE_MOST_TIME / 1000);
    while (o->computing || o->pendings) {
        int64_t ns = o->computing < most ? o->computing : most;
        o->computing -= ns;
        uint32_t number = schedule_compute(o->t->builder, o->rank, (uint64_t)ns * 1000, 0);
        if (o->last != KINETO_UNKNOWN)
            schedule_after(o->t->builder, o->rank, number, o->last);
        while (o->pendings)
            follow(o, number, &o->operations[o->pending[--o->pendings]]);
        o->last = number;
    }
}

/* What follows waits for all that has ended. */
static void wait_for_ended(struct order *o)
{
    if (!o->ends)
        return;
    flush(o);
    while (o->ends)
        o->pending[o->pendings++] = o->ended[--o->ends];
}

static bool issue(struct order *o, uint32_t communication, uint32_t *track)
{
    const struct kineto_communication *k = &o->f->communication[o->f->side].at[communication];
    struct kineto_operations *made = &o->operations[communication];
    flush(o);
    if (!kineto_add_communication(o->t, o->f, o->rank, k, made))
        return false;
    for (uint32_t i = 0; i < made->count; i++) {
        if (o->last != KINETO_UNKNOWN)
            schedule_after(o->t->builder, o->rank, made->first + i, o->last);
        if (track[k->track] != KINETO_UNKNOWN)
            follow(o, made->first + i, &o->operations[track[k->track]]);
    }
    if (made->count)
        track[k->track] = communication;
    return true;
}

static bool walk(struct order *o, uint32_t *track)
{
    for (size_t i = 0; i < o->points; i++) {
        const struct point *p = &o->point[i];
        advance(o, p->at);
        if (p->what == ISSUE && !issue(o, p->communication, track))
            return false;
        if (p->what == END && o->operations[p->communication].count)
            o->ended[o->ends++] = p->communication;
        if (p->what == OPTIMIZER || (p->what == END && o->is_waited[p->communication]))
            wait_for_ended(o);
    }
    if (o->busy.count)
        advance(o, o->busy.at[o->busy.count - 1].end);
    if (o->computing)
        flush(o);
    return true;
}

bool kineto_order(struct kineto_trace *t, const struct kineto_file *f, uint32_t rank)
{
    size_t communications = f->communication[f->side].count;
    struct order o = {.t = t,
                      .f = f,
                      .rank = rank,
                      .last = KINETO_UNKNOWN,
                      .operations = hx_allocate(communications + 1, sizeof *o.operations),
                      .is_waited = hx_allocate(communications + 1, sizeof *o.is_waited),
                      .ended = hx_allocate(communications + 1, sizeof *o.ended),
                      .pending = hx_allocate(communications + 1, sizeof *o.pending)};
    uint32_t *track = hx_allocate(f->tracks + 1, sizeof *track);
    for (size_t i = 0; i < f->tracks; i++)
        track[i] = KINETO_UNKNOWN;
    find_busy(&o);
    find_waiting(&o);
    find_points(&o);
    o.at = o.start;
    bool good = walk(&o, track);
    HX_FREE(track, o.operations, o.is_waited, o.ended, o.pending, o.point, o.busy.at, o.waiting.at);
    return good;
}
