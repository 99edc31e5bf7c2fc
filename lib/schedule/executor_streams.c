/* executor_streams.c - operations that occupy a stream (executor.h). */
#include "schedule/executor_parts.h"

#include "base/heap.h"
#include "base/rng.h"

#include <math.h>

#define LONGEST_PS 4e18 /* of an operation: a product beyond that fits no integer */
#define TURN       6.283185307179586

uint64_t executor_overhead(const struct executor *e, uint64_t bytes)
{
    const struct executor_costs *costs = &e->plan->costs;
    double more = bytes > 1 ? (double)(bytes - 1) * costs->overhead_byte_ps : 0;
    return costs->overhead_ps + (uint64_t)llround(fmin(more, LONGEST_PS));
}

/* A factor of mean 1 for an operation that begins. */
static double draw_jitter(struct executor *e, uint32_t number)
{
    const struct executor_costs *costs = &e->plan->costs;
    const uint64_t key[] = {e->rank, number, e->begun_times[number]++};
    uint64_t state = split_mix_bytes(split_mix(costs->seed), key, sizeof key);
    const double variance = log1p(costs->jitter * costs->jitter);
    const double radius = sqrt(-2 * log(hx_rng_share(&state)));
    const double normal = radius * cos(TURN * hx_rng_share(&state));
    e->drawn++;
    return exp(sqrt(variance) * normal - variance / 2);
}

/* Of an operation that begins. */
static uint64_t duration(struct executor *e, uint32_t number)
{
    const struct executor_costs *costs = &e->plan->costs;
    const struct schedule_operation *o = operation_at(e, number);
    if (o->kind != SCHEDULE_COMPUTE)
        return executor_overhead(e, o->amount);
    const double slowness = costs->slowness ? costs->slowness[e->rank] : 1;
    const double factor = costs->compute_scale * slowness * (costs->jitter > 0 ? draw_jitter(e, number) : 1);
    return factor == 1 ? o->amount : (uint64_t)llround(fmin((double)o->amount * factor, LONGEST_PS));
}

/* EXECUTOR_NEVER: later than the latest time. */
static uint64_t end_of(struct executor *e, uint32_t number)
{
    uint64_t latest = e->plan->latest_ps ? e->plan->latest_ps : EXECUTOR_NEVER - 1;
    uint64_t takes = duration(e, number);
    if (e->now <= latest && takes <= latest - e->now)
        return e->now + takes;
    e->result->late = true;
    return EXECUTOR_NEVER;
}

/* ---- the heap of a stream ---- */

static bool is_before(const void *ready_at, const void *a, const void *b)
{
    const uint64_t *at = ready_at;
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return at[one] != at[other] ? at[one] < at[other] : one < other;
}

static const struct hx_heap_kind waiting = {sizeof(uint32_t), is_before};

static void push(const struct executor *e, struct stream *s, uint32_t number)
{
    s->waiting = hx_grow(s->waiting, s->count, &s->room, sizeof *s->waiting);
    hx_heap_put(&waiting, e->ready_at, s->waiting, s->count++, &number);
}

static uint32_t pop(const struct executor *e, struct stream *s)
{
    const uint32_t first = s->waiting[0];
    hx_heap_drop(&waiting, e->ready_at, s->waiting, s->count--);
    return first;
}

/* ---- streams ---- */

void stream_add(struct executor *e, uint32_t number)
{
    struct stream *s = &e->stream[e->stream_at[operation_at(e, number)->stream]];
    e->ready_at[number] = e->now;
    push(e, s, number);
    e->stream_free = e->stream_free || s->current == NONE;
}

/* Starts an operation on a free stream. Its cause is the operation before on the stream, if it waited for that one. */
static void start_on(struct executor *e, struct stream *s, uint32_t number)
{
    if (s->last_entry != EXECUTOR_NO_CAUSE && e->ready_at[number] < e->now)
        executor_set_cause(e, number, e->rank, s->last_entry);
    s->current = number;
    s->until = end_of(e, number);
    if (operation_at(e, number)->kind != SCHEDULE_RECEIVE) { /* a receive began when it was posted */
        e->begin[number] = e->now;
        executor_begun(e, number);
    }
}

bool streams_take(struct executor *e)
{
    bool any = false;
    if (!e->stream_free)
        return false;
    e->stream_free = false;
    for (unsigned i = 0; i < e->streams; i++) {
        struct stream *s = &e->stream[i];
        if (s->current == NONE && s->count) {
            start_on(e, s, pop(e, s));
            any = true;
        }
    }
    return any;
}

static struct stream *first_to_end(const struct executor *e)
{
    struct stream *first = NULL;
    for (unsigned i = 0; i < e->streams; i++) {
        struct stream *s = &e->stream[i];
        if (s->current != NONE && (!first || s->until < first->until))
            first = s;
    }
    return first;
}

bool streams_end_one(struct executor *e, uint64_t now)
{
    struct stream *s = first_to_end(e);
    if (!s || s->until > now)
        return false;
    uint32_t number = s->current;
    e->now = s->until > e->now ? s->until : e->now;
    s->current = NONE;
    e->stream_free = e->stream_free || s->count;
    uint64_t entry = e->result->entries;
    executor_stream_done(e, number);
    s->last_entry = e->result->entries > entry ? (uint32_t)entry : EXECUTOR_NO_CAUSE; /* a rendezvous goes on */
    return true;
}

uint64_t streams_wake(const struct executor *e)
{
    const struct stream *s = first_to_end(e);
    return s ? s->until : EXECUTOR_NEVER;
}
