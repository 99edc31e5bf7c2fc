/* executor.c - operations begin and end; repeats; the interface (executor.h). */
#include "schedule/executor_parts.h" /* circle: what its files share */

#include "schedule/walk.h"

#include <stdlib.h>

const struct executor_costs executor_costs_default = {.eager = SCHEDULE_MOST_BYTES, .compute_scale = 1};

/* ---- lists of operations ---- */

static void make_ready(struct executor *e, uint32_t number)
{
    e->begin[number] = e->now;
    e->next[number] = NONE;
    if (e->ready.last != NONE)
        e->next[e->ready.last] = number;
    else
        e->ready.first = number;
    e->ready.last = number;
}

static uint32_t take_ready(struct executor *e)
{
    uint32_t number = e->ready.first;
    e->ready.first = e->next[number];
    if (e->ready.first == NONE)
        e->ready.last = NONE;
    return number;
}

void executor_set_cause(struct executor *e, uint32_t number, uint32_t source, uint32_t cause)
{
    e->source[number] = source;
    e->cause[number] = cause;
}

/* ---- entries ---- */

static uint32_t write_entry(struct executor *e, uint32_t number)
{
    const struct schedule_operation *o = operation_at(e, number);
    struct executor_result *r = e->result;
    uint64_t index = r->entries++;
    if (e->entry)
        e->entry[index % e->room] =
            (struct executor_entry){.begin = e->begin[number],
                                    .end = e->now,
                                    .operation = number,
                                    .cause = e->cause[number],
                                    .source = e->source[number],
                                    .iteration = o->kind == SCHEDULE_REPEAT ? (uint32_t)e->iteration[number] : 0};
    return (uint32_t)index;
}

/* ---- repeats ---- */

/* Resets the operations from .. end - 1, without those of inner bodies, and makes ready those that wait for nothing. */
static void begin_all(struct executor *e, uint32_t from, uint32_t end, uint32_t *left, uint32_t source, uint32_t cause)
{
    *left = 0;
    for (uint32_t i = from; i < end; i = schedule_next(e->s, e->rank, i)) {
        e->state[i] = operation_at(e, i)->waits;
        ++*left;
        if (e->state[i] == 0) {
            executor_set_cause(e, i, source, cause);
            make_ready(e, i);
        }
    }
}

static void begin_iteration(struct executor *e, uint32_t number, uint32_t source, uint32_t cause)
{
    uint32_t end = schedule_next(e->s, e->rank, number);
    begin_all(e, number + 1, end, &e->next[number], source, cause);
    if (e->next[number] == 0) /* an empty body */
        executor_end(e, number);
}

/* An iteration ended: begins the next one, or ends the repeat. */
static void end_iteration(struct executor *e, uint32_t number, uint32_t last)
{
    executor_set_cause(e, number, e->rank, last);
    if (e->iteration[number] + 1 == operation_at(e, number)->amount) {
        executor_end(e, number);
        return;
    }
    uint32_t entry = write_entry(e, number);
    e->iteration[number]++;
    e->begin[number] = e->now;
    begin_iteration(e, number, e->rank, entry);
}

/* Counts an operation that ended: in its body, or outside of repeats. */
static void count_ended(struct executor *e, uint32_t number, uint32_t entry)
{
    uint32_t body = e->body ? e->body[number] : NONE;
    if (body == NONE)
        e->result->done = --e->left == 0;
    else if (--e->next[body] == 0)
        end_iteration(e, body, entry);
}

/* ---- begin and end ---- */

static void release_followers(struct executor *e, uint32_t number, uint32_t kind, uint32_t source, uint32_t cause)
{
    const uint32_t *list;
    uint32_t followers = schedule_followers(e->s, e->rank, number, &list);
    for (uint32_t i = 0; i < followers; i++) {
        uint32_t later = list[i] >> 1;
        if ((list[i] & SCHEDULE_AFTER_START) != kind || --e->state[later])
            continue;
        executor_set_cause(e, later, source, cause);
        make_ready(e, later);
    }
}

void executor_begun(struct executor *e, uint32_t number)
{
    e->state[number] = STATE_BEGUN;
    time_count(e, number, 1);
    release_followers(e, number, SCHEDULE_AFTER_START, e->source[number], e->cause[number]);
}

void executor_end(struct executor *e, uint32_t number)
{
    uint32_t entry = write_entry(e, number);
    e->state[number] = STATE_ENDED;
    time_count(e, number, -1);
    atomic_store_explicit(&e->result->ended, atomic_load_explicit(&e->result->ended, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    e->result->end_ps = e->now;
    release_followers(e, number, 0, e->rank, entry);
    count_ended(e, number, entry);
}

/* Sends the message of an operation, after its overhead. */
static void send_out(struct executor *e, uint32_t number)
{
    const struct schedule_operation *o = operation_at(e, number);
    bool eager = o->amount <= e->plan->costs.eager || o->peer == e->rank;
    messages_send(e, o->peer, eager ? MESSAGE_EAGER : MESSAGE_REQUEST, number, eager ? o->amount : 0);
    if (eager)
        executor_end(e, number);
}

void executor_stream_done(struct executor *e, uint32_t number)
{
    if (operation_at(e, number)->kind == SCHEDULE_SEND)
        send_out(e, number);
    else
        executor_end(e, number);
}

void executor_received(struct executor *e, uint32_t number)
{
    if (executor_overhead(e, operation_at(e, number)->amount) == 0) {
        executor_end(e, number);
        return;
    }
    stream_add(e, number);
}

static void begin(struct executor *e, uint32_t number)
{
    const struct schedule_operation *o = operation_at(e, number);
    bool streams = o->kind == SCHEDULE_COMPUTE || (o->kind == SCHEDULE_SEND && executor_overhead(e, o->amount) > 0);
    if (streams) {
        stream_add(e, number);
        return;
    }
    executor_begun(e, number);
    switch (o->kind) {
    case SCHEDULE_SEND:
        send_out(e, number);
        break;
    case SCHEDULE_RECEIVE:
        match_post(e, number);
        break;
    case SCHEDULE_COLLECTIVE:
        collective_begin(e, number);
        break;
    default:
        e->iteration[number] = 0;
        begin_iteration(e, number, e->source[number], e->cause[number]);
    }
}

/* ---- time ---- */

static bool is_stopped(const struct executor *e)
{
    return e->plan->stop && atomic_load_explicit(e->plan->stop, memory_order_relaxed);
}

/* Begins all operations that are ready. */
static void drain(struct executor *e)
{
    while (e->ready.first != NONE && !is_stopped(e))
        begin(e, take_ready(e));
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Ends the first operation on a stream, or the first collective with all sums done, up to `now`. */
static bool end_one(struct executor *e, uint64_t now)
{
    if (skips_next(e) <= least(sums_end(e), streams_wake(e)) && skips_take_one(e, now))
        return true;
    return sums_end(e) < streams_wake(e) ? sums_end_one(e, now) : streams_end_one(e, now);
}

static uint64_t next_end(const struct executor *e)
{
    return least(skips_next(e), least(sums_end(e), streams_wake(e)));
}

/* Advances to a time: streams end and take operations in between, in order. At `now` itself streams take nothing, since
 * more may happen: executor_settle() does that. */
static void advance(struct executor *e, uint64_t now)
{
    drain(e);
    while (!is_stopped(e)) {
        bool over = e->now < now && next_end(e) > e->now;
        if (!(over && streams_take(e)) && !end_one(e, now))
            break;
        drain(e);
    }
    e->now = now;
}

void executor_settle(struct executor *e, uint64_t now)
{
    do
        advance(e, now);
    while (!is_stopped(e) && streams_take(e));
}

/* ---- the interface ---- */

static void find_bodies(struct executor *e)
{
    bool any = false;
    for (uint32_t i = 0; i < e->count && !any; i++)
        any = operation_at(e, i)->kind == SCHEDULE_REPEAT;
    if (!any)
        return;
    e->body = hx_allocate(e->count, sizeof *e->body);
    e->iteration = hx_allocate(e->count, sizeof *e->iteration);
    schedule_find_repeats(e->s, e->rank, e->body);
}

static void open_streams(struct executor *e)
{
    bool used[SCHEDULE_STREAMS] = {false};
    for (uint32_t i = 0; i < e->count; i++)
        used[operation_at(e, i)->stream] = true;
    for (unsigned number = 0; number < SCHEDULE_STREAMS; number++) {
        e->stream_at[number] = (uint8_t)e->streams;
        e->streams += used[number];
    }
    e->stream = hx_allocate(e->streams + 1U, sizeof *e->stream);
    for (unsigned i = 0; i < e->streams; i++)
        e->stream[i] = (struct stream){.current = NONE, .last_entry = EXECUTOR_NO_CAUSE};
}

struct executor *executor_new(const struct executor_plan *plan, uint32_t rank)
{
    struct executor *e = hx_allocate(1, sizeof *e);
    *e = (struct executor){.plan = plan,
                           .s = plan->schedule,
                           .result = &plan->result[rank],
                           .rank = rank,
                           .count = schedule_count(plan->schedule, rank),
                           .ready = {NONE, NONE},
                           .sending = {NONE, NONE},
                           .line = {NONE, NONE},
                           .outgoing_free = NONE,
                           .note_free = NONE,
                           .buckets = hx_table_make(sizeof(uint64_t), sizeof(struct bucket)),
                           .peer_of = hx_table_make(sizeof(uint64_t), sizeof(struct found_peer)),
                           .instances = hx_table_make(sizeof(uint64_t), sizeof(struct found_instance))};
    if (plan->entry) {
        e->entry = plan->entry + plan->first_entry[rank];
        e->room = plan->first_entry[rank + 1] - plan->first_entry[rank];
        e->entry = e->room ? e->entry : NULL;
    }
    e->state = hx_allocate(e->count + 1U, sizeof *e->state);
    e->next = hx_allocate(e->count + 1U, sizeof *e->next);
    e->cause = hx_allocate(e->count + 1U, sizeof *e->cause);
    e->source = hx_allocate(e->count + 1U, sizeof *e->source);
    e->begin = hx_allocate(e->count + 1U, sizeof *e->begin);
    e->begun_times = plan->costs.jitter > 0 ? hx_allocate(e->count + 1U, sizeof *e->begun_times) : NULL;
    bool overhead = plan->costs.overhead_ps || plan->costs.overhead_byte_ps > 0;
    e->ready_at = overhead ? hx_allocate(e->count + 1U, sizeof *e->ready_at) : e->begin;
    find_bodies(e);
    open_streams(e);
    match_open(e);
    schedule_ordinals_make(&e->ordinals, e->s, plan->groups, rank);
    e->left = NONE;
    return e;
}

void executor_write_blocked(struct executor *e)
{
    struct executor_result *r = e->result;
    if (!e->started)
        return;
    r->blocked_count = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->state[i] != STATE_BEGUN || operation_at(e, i)->kind == SCHEDULE_REPEAT)
            continue;
        r->blocked = r->blocked_count++ ? r->blocked : i;
    }
}

void executor_free(struct executor *e)
{
    for (unsigned i = 0; i < e->streams; i++)
        free(e->stream[i].waiting);
    match_close(e);
    messages_close(e);
    collectives_close(e);
    if (e->ready_at != e->begin)
        free(e->ready_at);
    HX_FREE(e->begun_times, e->state, e->next, e->cause, e->source, e->begin, e->body, e->iteration, e->stream, e);
}

static void note_activity(struct executor *e)
{
    atomic_store_explicit(&e->result->active, !executor_is_quiet(e), memory_order_relaxed);
}

void executor_start(struct executor *e, uint64_t now)
{
    *e->result = (struct executor_result){.active = 1};
    e->started = true;
    e->now = e->counted_until = now;
    begin_all(e, 0, e->count, &e->left, EXECUTOR_NO_CAUSE, EXECUTOR_NO_CAUSE);
    e->result->done = e->left == 0;
    drain(e);
}

bool executor_next(struct executor *e, uint64_t now, struct executor_message *m)
{
    advance(e, now);
    bool found = messages_next(e, m) || collective_next(e, m);
    if (!found)
        note_activity(e);
    return found;
}

void executor_take(struct executor *e)
{
    atomic_store_explicit(&e->result->sent, atomic_load_explicit(&e->result->sent, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (e->offered.collective)
        collective_take(e);
    else
        messages_take(e);
}

bool executor_arrived(struct executor *e, uint64_t now, uint32_t from, uint32_t number, uint32_t tag)
{
    atomic_store_explicit(&e->result->active, 1, memory_order_release);
    atomic_store_explicit(&e->result->arrived, atomic_load_explicit(&e->result->arrived, memory_order_relaxed) + 1,
                          memory_order_release);
    advance(e, now);
    bool good = messages_arrived(e, from, number, tag);
    drain(e);
    return good && !e->result->failed;
}

bool executor_sent(struct executor *e, uint64_t now, uint32_t to, uint32_t tag)
{
    atomic_store_explicit(&e->result->active, 1, memory_order_relaxed);
    advance(e, now);
    bool good = messages_sent(e, to, tag);
    drain(e);
    return good && !e->result->failed;
}

uint64_t executor_wake(const struct executor *e)
{
    return least(skips_next(e), least(sums_wake(e), streams_wake(e)));
}

bool executor_is_quiet(const struct executor *e)
{
    return e->ready.first == NONE && e->sending.first == NONE && !e->stream_free &&
           executor_wake(e) == EXECUTOR_NEVER && !e->delayed.count && !instances_may_send(e);
}
