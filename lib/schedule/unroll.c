/* unroll.c - copies the bodies of repeats (unroll.h).
 *
 * One pass over a rank, forward. At the end of a body the pass goes back to its begin until all iterations are copied.
 * Dependencies stay within a body, so they are added at the end of each iteration:
 *
 *     operations of the body that wait for nothing   wait for the mark before the iteration
 *     the mark behind the iteration                  waits for the ends that no operation of the body waits for */
#include "schedule/unroll.h"
#include "schedule/build.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NO_MARK = UINT32_MAX };

/* A body that is being copied; the outermost has all operations of the rank. */
struct body {
    uint64_t left;       /* iterations, with this one; while operations are counted: of all bodies around, too */
    uint32_t begin, end; /* operations */
    uint32_t mark;       /* that the iteration waits for, or NO_MARK */
};

struct copy {
    uint32_t start, end; /* numbers of the newest copy; apart for a repeat */
};

struct work {
    const struct schedule *s;
    struct schedule_builder *b;
    struct body *body; /* the innermost last */
    struct copy *copy; /* of each operation of the rank */
    size_t bodies, room;
    uint32_t rank;
    unsigned stream; /* of marks */
};

bool schedule_has_repeats(const struct schedule *s)
{
    for (uint64_t i = 0; i < s->head->operations; i++) {
        if (s->operation[i].kind == SCHEDULE_REPEAT)
            return true;
    }
    return false;
}

/* ---- operations ---- */

static uint32_t add_mark(struct work *w)
{
    return schedule_compute(w->b, w->rank, 0, w->stream);
}

static uint32_t add_copy(struct work *w, const struct schedule_operation *o)
{
    uint32_t number = schedule_compute(w->b, w->rank, 0, 0);
    struct schedule_operation *copy = schedule_builder_at(w->b, w->rank, number);
    *copy = *o;
    copy->follower = copy->waits = copy->name = 0;
    schedule_set_name(w->b, w->rank, number, schedule_name(w->s, o));
    return number;
}

static void begin_body(struct work *w, const struct body *body)
{
    w->body = hx_grow(w->body, w->bodies, &w->room, sizeof *w->body);
    w->body[w->bodies++] = *body;
}

/* Copies an operation, or begins its body. Returns the operation to go on with. */
static uint32_t copy_operation(struct work *w, uint32_t number)
{
    const struct schedule_operation *o = schedule_at(w->s, w->rank, number);
    uint32_t mark = w->body[w->bodies - 1].mark;
    uint32_t made = o->kind == SCHEDULE_REPEAT ? add_mark(w) : add_copy(w, o);
    w->copy[number] = (struct copy){made, made};
    if (o->waits == 0 && mark != NO_MARK)
        schedule_after(w->b, w->rank, made, mark);
    if (o->kind == SCHEDULE_REPEAT && o->peer)
        begin_body(w, &(struct body){o->amount, number + 1, number + 1 + o->peer, made});
    return number + 1;
}

/* ---- iterations ---- */

/* Adds an operation's dependencies. Returns whether another operation waits for its end. */
static bool copy_followers(struct work *w, uint32_t number)
{
    const uint32_t *list;
    uint32_t followers = schedule_followers(w->s, w->rank, number, &list);
    bool awaited = false;
    for (uint32_t i = 0; i < followers; i++) {
        uint32_t later = w->copy[list[i] >> 1].start;
        bool start = list[i] & SCHEDULE_AFTER_START;
        awaited = awaited || !start;
        if (start)
            schedule_after_start(w->b, w->rank, later, w->copy[number].start);
        else
            schedule_after(w->b, w->rank, later, w->copy[number].end);
    }
    return awaited;
}

/* Ends an iteration of the innermost body. Returns the operation to go on with. */
static uint32_t end_iteration(struct work *w)
{
    struct body *body = &w->body[w->bodies - 1];
    bool outermost = w->bodies == 1;
    uint32_t mark = outermost ? NO_MARK : add_mark(w);
    for (uint32_t i = body->begin; i < body->end; i = schedule_next(w->s, w->rank, i)) {
        if (!copy_followers(w, i) && !outermost)
            schedule_after(w->b, w->rank, mark, w->copy[i].end);
    }
    body->mark = mark;
    if (--body->left)
        return body->begin;
    if (!outermost)
        w->copy[body->begin - 1].end = mark;
    w->bodies--;
    return body->end;
}

static void copy_rank(struct work *w)
{
    uint32_t next = 0;
    w->copy = hx_allocate(schedule_count(w->s, w->rank), sizeof *w->copy);
    begin_body(w, &(struct body){1, 0, schedule_count(w->s, w->rank), NO_MARK});
    while (w->bodies)
        next = next == w->body[w->bodies - 1].end ? end_iteration(w) : copy_operation(w, next);
    free(w->copy);
}

/* ---- limits ---- */

static uint64_t at_most(uint64_t number)
{
    return number <= SCHEDULE_MOST_UNROLLED ? number : SCHEDULE_MOST_UNROLLED + 1;
}

/* Returns the operations of the rank, unrolled, or some number above the limit. */
static uint64_t count_unrolled(struct work *w)
{
    uint64_t count = 0;
    begin_body(w, &(struct body){1, 0, schedule_count(w->s, w->rank), NO_MARK});
    for (uint32_t i = 0; i < schedule_count(w->s, w->rank); i++) {
        const struct schedule_operation *o = schedule_at(w->s, w->rank, i);
        while (i == w->body[w->bodies - 1].end)
            w->bodies--;
        uint64_t copies = w->body[w->bodies - 1].left;
        bool is_body = o->kind == SCHEDULE_REPEAT && o->peer;
        count = at_most(count + copies + (is_body ? copies * at_most(o->amount) : 0));
        if (is_body)
            begin_body(w, &(struct body){at_most(copies * at_most(o->amount)), i + 1, i + 1 + o->peer, NO_MARK});
    }
    w->bodies = 0;
    return count;
}

static bool is_small(struct work *w, const char *where, struct hx_problem *problem)
{
    uint64_t count = 0;
    for (w->rank = 0; w->rank < schedule_ranks(w->s); w->rank++)
        count = at_most(count + count_unrolled(w));
    return count <= SCHEDULE_MOST_UNROLLED ||
           hx_fail(problem, HX_EXIT_CONFIG, where,
                   "its repeats are more than %d operations when they are unrolled (hxmesh's own format has repeats)",
                   SCHEDULE_MOST_UNROLLED);
}

/* ---- the whole ---- */

/* Returns the lowest stream that no operation of the rank occupies, or SCHEDULE_STREAMS. */
static unsigned free_stream(const struct schedule *s, uint32_t rank)
{
    bool used[SCHEDULE_STREAMS] = {false};
    unsigned stream = 0;
    for (uint32_t i = 0; i < schedule_count(s, rank); i++)
        used[schedule_at(s, rank, i)->stream] = true;
    while (stream < SCHEDULE_STREAMS && used[stream])
        stream++;
    return stream;
}

static bool copy_all(struct work *w, const char *where, struct hx_problem *problem)
{
    for (w->rank = 0; w->rank < schedule_ranks(w->s); w->rank++) {
        w->stream = free_stream(w->s, w->rank);
        if (w->stream == SCHEDULE_STREAMS)
            return hx_fail(problem, HX_EXIT_CONFIG, where,
                           "the repeats of rank %" PRIu32 " cannot be unrolled: it occupies all streams", w->rank);
        copy_rank(w);
    }
    return true;
}

struct schedule *schedule_unroll(const struct schedule *s, const char *where, struct hx_problem *problem)
{
    struct work w = {.s = s, .b = schedule_builder_new(schedule_ranks(s))};
    bool good = is_small(&w, where, problem) && copy_all(&w, where, problem);
    free(w.body);
    if (good)
        return schedule_build(w.b, where, problem);
    schedule_builder_free(w.b);
    return NULL;
}
