/* demand_schedule.c - an iteration of a demand as a schedule (demand_schedule.h). */
#include "tools/circuits/demand_schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME = 48, WAYS = 2 /* of a ring */, HALVES = 2 /* of a way */ };
#define PS 1e12 /* of a second */

/* What a server does next waits for operations first .. end - 1 of its rank. */
struct row {
    uint32_t first, end;
};

struct writer {
    struct schedule_builder *b;
    const struct circuits_demand *d;
    struct row *behind; /* [servers] */
    uint32_t tag;       /* of the next exchange or way of a ring */
};

static uint64_t whole(double value)
{
    return (uint64_t)llround(value);
}

static void wait_for_row(const struct writer *w, uint32_t rank, uint32_t operation)
{
    for (uint32_t i = w->behind[rank].first; i < w->behind[rank].end; i++)
        schedule_after(w->b, rank, operation, i);
}

/* Adds computing behind the row. */
static uint32_t add_computing(const struct writer *w, uint32_t rank, double seconds, const char *name)
{
    const uint32_t number = schedule_compute(w->b, rank, whole(seconds * PS), 0);
    schedule_set_name(w->b, rank, number, name);
    wait_for_row(w, rank, number);
    return number;
}

/* Each server computes; what follows waits for that. */
static void compute(const struct writer *w, double seconds, const char *name)
{
    for (uint32_t rank = 0; rank < w->d->servers; rank++) {
        const uint32_t number = add_computing(w, rank, seconds, name);
        w->behind[rank] = (struct row){number, number + 1};
    }
}

static void describe(const struct writer *w, uint32_t rank, uint32_t operation, const char *name, const char *purpose)
{
    schedule_set_name(w->b, rank, operation, name);
    (void)schedule_set_purpose(w->b, rank, operation, purpose);
}

/* ---- exchanges ---- */

static void exchange(struct writer *w, unsigned number)
{
    const struct circuits_exchange *e = &w->d->exchange[number];
    const uint32_t n = w->d->servers;
    char name[NAME];
    (void)snprintf(name, sizeof name, "exchange %u", number + 1);
    for (uint32_t rank = 0; rank < n; rank++) {
        const uint32_t first = schedule_builder_count(w->b, rank);
        for (uint32_t i = 1; i < n; i++) {
            const uint32_t to = (rank + i) % n, from = (rank + n - i) % n;
            const uint64_t out = whole(circuits_exchange_between(e, rank, to)),
                           in = whole(circuits_exchange_between(e, from, rank));
            if (out)
                describe(w, rank, schedule_send(w->b, rank, to, out, w->tag), name, "exchange");
            if (in)
                describe(w, rank, schedule_receive(w->b, rank, from, in, w->tag), name, "exchange");
        }
        const uint32_t end = schedule_builder_count(w->b, rank);
        for (uint32_t i = first; i < end; i++)
            wait_for_row(w, rank, i);
        if (end > first)
            w->behind[rank] = (struct row){first, end};
    }
    w->tag++;
}

/* ---- sums ---- */

/* One way around a ring: to the member `stride` further. */
static void go_around(struct writer *w, const struct circuits_reduce *r, uint32_t stride, uint64_t segment,
                      const char *name)
{
    for (uint32_t i = 0; i < r->members; i++) {
        const uint32_t rank = circuits_member(r, i), to = circuits_member(r, (i + stride) % r->members),
                       from = circuits_member(r, (i + r->members - stride) % r->members);
        const uint32_t steps = schedule_repeat(w->b, rank, UINT64_C(2) * (r->members - 1));
        wait_for_row(w, rank, steps);
        describe(w, rank, schedule_send(w->b, rank, to, segment, w->tag), name, "data");
        describe(w, rank, schedule_receive(w->b, rank, from, segment, w->tag), name, "data");
        schedule_repeat_end(w->b, rank);
    }
    w->tag++;
}

static void sum(struct writer *w, unsigned number, const struct circuits_ring *ring, unsigned rings)
{
    const struct circuits_reduce *r = &w->d->reduce[number];
    uint32_t stride[CIRCUITS_MOST_RINGS];
    const unsigned parts = circuits_strides_of(ring, rings, number, stride);
    const uint64_t segment = (uint64_t)ceil(r->bytes / (WAYS * HALVES * parts) / r->members);
    for (unsigned i = 0; i < parts && segment > 0 && r->members > 1; i++) {
        char name[NAME];
        (void)snprintf(name, sizeof name, "sum %u, stride %u", number + 1, (unsigned)stride[i]);
        for (unsigned half = 0; half < HALVES; half++) {
            go_around(w, r, stride[i] % r->members, segment, name);
            go_around(w, r, r->members - stride[i] % r->members, segment, name);
        }
    }
}

/* ---- all ---- */

static void write_all(struct writer *w, const struct circuits_ring *ring, unsigned rings)
{
    const struct circuits_demand *d = w->d;
    const unsigned backward_exchanges = d->exchanges - d->forward_exchanges;
    const double forward_piece = d->forward / (d->forward_exchanges + 1);
    const double backward_piece = (d->backward - d->hidden) / (backward_exchanges ? backward_exchanges : 1);
    compute(w, forward_piece, "forward");
    for (unsigned i = 0; i < d->forward_exchanges; i++) {
        exchange(w, i);
        compute(w, forward_piece, "forward");
    }
    for (unsigned i = 0; i < backward_exchanges; i++) {
        compute(w, backward_piece, "backward");
        exchange(w, d->forward_exchanges + i);
    }
    if (backward_exchanges == 0)
        compute(w, backward_piece, "backward");
    for (uint32_t rank = 0; rank < d->servers; rank++)
        (void)add_computing(w, rank, d->hidden, "backward");
    for (unsigned i = 0; i < d->reduces; i++)
        sum(w, i, ring, rings);
}

static bool fits(const struct circuits_demand *d)
{
    double most = 0;
    for (unsigned i = 0; i < d->exchanges; i++) {
        const struct circuits_exchange *e = &d->exchange[i];
        for (uint32_t s = 0; s < d->servers; s++)
            most = fmax(most, e->all + (e->scatter ? e->scatter[s] : 0) + (e->gather ? e->gather[s] : 0));
    }
    for (unsigned i = 0; i < d->reduces; i++)
        most = fmax(most, d->reduce[i].bytes);
    return most < (double)SCHEDULE_MOST_BYTES / 2 && (d->forward + d->backward) * PS < (double)SCHEDULE_MOST_TIME &&
           UINT64_C(2) * d->exchanges * d->servers < SCHEDULE_MOST_OPERATIONS / 2;
}

struct schedule_builder *circuits_schedule(const struct circuits_demand *d, const struct circuits_ring *ring,
                                           unsigned rings, uint64_t samples, struct hx_problem *problem)
{
    if (!fits(d)) {
        (void)hx_fail(problem, HX_EXIT_CONFIG, NULL,
                      "an iteration has too long messages or takes too long for a schedule (use fewer samples)");
        return NULL;
    }
    struct writer w = {.b = schedule_builder_new(d->servers), .d = d};
    w.behind = hx_allocate(d->servers, sizeof *w.behind);
    write_all(&w, ring, rings);
    schedule_set_work(w.b, samples, 0, 1);
    free(w.behind);
    return w.b;
}
