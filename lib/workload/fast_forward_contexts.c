/* fast_forward_contexts.c - the collectives beside one, and whether two had the same beside them
 * (fast_forward_parts.h). */
#include "workload/fast_forward_parts.h"

#include <string.h>

/* ---- neighbours ---- */

/* Keeps the order: by id, then by first begin. */
static void add_neighbour(struct flight *l, const struct flight *other)
{
    const uint64_t id = shapes_overlap(l->job->f, l->kind, other->kind);
    l->neighbour = hx_grow(l->neighbour, l->neighbours, &l->neighbours_room, sizeof *l->neighbour);
    size_t at = l->neighbours++;
    for (; at && (l->neighbour[at - 1].id > id ||
                  (l->neighbour[at - 1].id == id && l->neighbour[at - 1].first > other->first));
         at--)
        l->neighbour[at] = l->neighbour[at - 1];
    l->neighbour[at] =
        (struct neighbour){.id = id, .first = other->first, .last = other->last, .end = NOT_YET, .flight = other};
}

/* What a flight in progress is to another one beside it. */
static struct neighbour *find_neighbour(const struct flight *other, const struct flight *l)
{
    size_t at = 0;
    while (other->neighbour[at].flight != l)
        at++;
    return &other->neighbour[at];
}

void contexts_begin(struct flight *l)
{
    for (size_t i = 0; i < l->besides; i++) {
        add_neighbour(l->beside[i], l);
        add_neighbour(l, l->beside[i]);
    }
}

void contexts_begun(struct flight *l)
{
    for (size_t i = 0; i < l->besides; i++) {
        struct neighbour *n = find_neighbour(l->beside[i], l);
        n->first = l->first;
        n->last = l->last;
    }
}

void contexts_ended(struct flight *l, uint64_t now)
{
    for (size_t i = 0; i < l->besides; i++) {
        struct neighbour *n = find_neighbour(l->beside[i], l);
        n->end = now;
        n->flight = NULL;
    }
}

void contexts_delay(struct flight *l, uint64_t by)
{
    for (uint32_t i = 0; i < l->kind->shape->size; i++)
        l->begin[i] += l->begin[i] != NOT_YET ? by : 0;
    l->first += by;
    l->last += l->last != NOT_YET ? by : 0;
    for (size_t i = 0; i < l->besides; i++) {
        struct neighbour *n = find_neighbour(l->beside[i], l);
        n->first = l->first;
        n->last = l->last;
    }
}

/* ---- begins ---- */

static bool has_beside(const struct flight *l, uint64_t id)
{
    bool found = false;
    for (size_t i = 0; i < l->besides && !found; i++)
        found = shapes_overlap(l->job->f, l->kind, l->beside[i]->kind) == id;
    return found;
}

static bool had_beside(const struct flight *by, uint64_t id, uint64_t slack)
{
    bool found = false;
    for (size_t i = 0; i < by->neighbours && !found; i++) {
        const struct neighbour *n = &by->neighbour[i];
        found = n->id == id && n->first < by->first + slack && (n->end == NOT_YET || n->end + slack > by->first);
    }
    return found;
}

/* When a flight in progress ends, about. */
static uint64_t expected_end(const struct flight *l)
{
    return l->last == NOT_YET ? NOT_YET : l->last + flight_duration(l->by ? l->by : l);
}

bool contexts_begin_alike(const struct flight *l, const struct flight *by, uint64_t now)
{
    const uint64_t slack = examples_slack(by);
    bool alike = (by->last == NOT_YET ? now : by->last) <= by->first + slack;
    for (size_t i = 0; i < l->besides && alike; i++) {
        const struct flight *other = l->beside[i];
        if (other->first + slack < now && expected_end(other) > now + slack)
            alike = had_beside(by, shapes_overlap(l->job->f, l->kind, other->kind), slack);
    }
    for (size_t i = 0; i < by->neighbours && alike; i++) {
        const struct neighbour *n = &by->neighbour[i];
        if (n->first + slack < by->first && (n->end == NOT_YET || n->end > by->first + slack))
            alike = has_beside(l, n->id);
    }
    return alike;
}

/* ---- comparing ---- */

/* Times relative to the last begins, from `from` before to `until` after. */
struct window {
    int64_t from, until;
    uint64_t slack, most; /* the most that may differ, and that does */
};

static int64_t inside(const struct window *w, uint64_t time, uint64_t last)
{
    const int64_t relative = time == NOT_YET ? INT64_MAX : (int64_t)(time - last);
    return relative < w->from ? w->from : relative > w->until ? w->until : relative;
}

/* Returns whether two times differ by no more than may be. */
static bool compare(struct window *w, int64_t a, int64_t b)
{
    const uint64_t apart = (uint64_t)(a > b ? a - b : b - a);
    w->most = apart > w->most ? apart : w->most;
    return apart <= w->slack;
}

static bool compare_begins(struct window *w, const struct flight *l, const struct flight *by)
{
    bool alike = true;
    for (uint32_t i = 0; i < l->kind->shape->size && alike; i++)
        alike = compare(w, inside(w, l->begin[i], l->last), inside(w, by->begin[i], by->last));
    return alike;
}

/* How long a neighbour was in progress inside the window, since the last begin of the flight that it is beside: before,
 * its members wait for the last. */
static uint64_t overlap(const struct window *w, const struct neighbour *n, const struct flight *l)
{
    const int64_t first = inside(w, n->first, l->last), until = inside(w, n->end, l->last);
    const int64_t from = first > 0 ? first : 0;
    return until > from ? (uint64_t)(until - from) : 0;
}

static bool compare_pair(struct window *w, const struct neighbour *a, uint64_t a_last, const struct neighbour *b,
                         uint64_t b_last)
{
    return compare(w, inside(w, a->last, a_last), inside(w, b->last, b_last)) &&
           compare(w, inside(w, a->end, a_last), inside(w, b->end, b_last));
}

/* Neighbours with one id are compared in the order of their first begins. Of those that overlap by less than the slack,
 * the sums are. */
static bool compare_neighbours(struct window *w, const struct flight *l, const struct flight *by)
{
    const struct neighbour *a = l->neighbour, *const a_end = a + l->neighbours;
    const struct neighbour *b = by->neighbour, *const b_end = b + by->neighbours;
    int64_t brief = 0; /* ps: sum of the flight, less that of the example */
    while (a < a_end || b < b_end) {
        const struct window before = *w;
        if (a < a_end && b < b_end && a->id == b->id && compare_pair(w, a, l->last, b, by->last)) {
            a++;
            b++;
            continue;
        }
        *w = before;
        const uint64_t of_a = a < a_end && (b == b_end || a->id <= b->id) ? overlap(w, a, l) : NOT_YET;
        const uint64_t of_b = b < b_end && (a == a_end || b->id <= a->id) ? overlap(w, b, by) : NOT_YET;
        if ((of_a < of_b ? of_a : of_b) > w->slack)
            return false;
        brief += of_a <= of_b ? (int64_t)of_a : -(int64_t)of_b;
        a += of_a <= of_b;
        b += of_b < of_a;
    }
    return compare(w, brief, 0);
}

uint64_t contexts_apart(const struct flight *l, const struct flight *by, uint64_t until, uint64_t slack, bool begins)
{
    struct window w = {.from = -(int64_t)flight_duration(by), .until = (int64_t)until, .slack = slack};
    const bool alike = (!begins || compare_begins(&w, l, by)) && compare_neighbours(&w, l, by);
    return alike ? w.most : NOT_YET;
}

uint64_t contexts_begins_apart(const struct flight *l, const struct flight *by)
{
    struct window w = {.from = -(int64_t)flight_duration(by), .slack = NOT_YET};
    (void)compare_begins(&w, l, by);
    return w.most;
}

uint64_t contexts_next(const struct flight *l, uint64_t after)
{
    uint64_t next = NOT_YET;
    for (size_t i = 0; i < l->neighbours; i++) {
        const uint64_t time[] = {l->neighbour[i].first, l->neighbour[i].last, l->neighbour[i].end};
        for (unsigned k = 0; k < 3; k++) {
            if (time[k] != NOT_YET && time[k] > l->last + after && time[k] - l->last < next)
                next = time[k] - l->last;
        }
    }
    return next;
}
