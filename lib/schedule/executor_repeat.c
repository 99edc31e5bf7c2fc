/* executor_repeat.c - the state of an executor, and whole periods by which it goes on (executor.h). */
#include "schedule/executor_parts.h"

#include "base/state_walk.h"

#include <stdlib.h>

struct executor_mark {
    uint64_t entries;     /* written */
    uint64_t iteration[]; /* [count], as in struct executor; without repeats none */
};

bool executor_rests(const struct executor *e)
{
    bool rests = e->ready.first == NONE && e->sending.first == NONE && e->line.first == NONE && !e->stream_free &&
                 e->instances.count == 0 && !e->first_sender && e->open_count == 0;
    for (size_t i = 0; i < e->peer_of.count && rests; i++) {
        const struct peer *p = &e->peer[i];
        rests = p->out.first == NONE && p->in_flight == 0 && p->holds == 0;
    }
    return rests;
}

/* ---- the walk ---- */

static void walk_result(struct executor_result *r, struct state_walk *w)
{
    STATE_FIELD(w, r->sent, STATE_COUNT);
    STATE_FIELD(w, r->arrived, STATE_COUNT);
    STATE_FIELD(w, r->ended, STATE_COUNT);
    STATE_FIELD(w, r->open, STATE_STILL);
    STATE_FIELD(w, r->active, STATE_STILL);
    STATE_FIELD(w, r->failed, STATE_STILL);
    STATE_FIELD(w, r->late, STATE_STILL);
    STATE_FIELD(w, r->done, STATE_STILL);
    STATE_FIELD(w, r->end_ps, STATE_NOTE);
    STATE_FIELD(w, r->computing_ps, STATE_COUNT);
    STATE_FIELD(w, r->exposed_ps, STATE_COUNT);
    STATE_FIELD(w, r->messages, STATE_COUNT);
    STATE_FIELD(w, r->bytes, STATE_COUNT);
    STATE_FIELD(w, r->early, STATE_COUNT);
    for (unsigned i = 0; i < SCHEDULE_MOST_PURPOSES; i++) {
        struct executor_purpose *p = &r->purpose[i];
        STATE_FIELD(w, p->busy_ps, STATE_COUNT);
        STATE_FIELD(w, p->hidden_ps, STATE_COUNT);
        STATE_FIELD(w, p->exposed_ps, STATE_COUNT);
        STATE_FIELD(w, p->messages, STATE_COUNT);
        STATE_FIELD(w, p->bytes, STATE_COUNT);
    }
}

/* What an operation waited for, as its entry will say. */
static void walk_cause(const struct executor *e, uint32_t number, struct state_walk *w)
{
    STATE_FIELD(w, e->source[number], STATE_STILL);
    STATE_FIELD(w, e->cause[number], e->source[number] == e->rank ? STATE_INDEX : STATE_STILL);
}

static void walk_begun(const struct executor *e, uint32_t number, struct state_walk *w)
{
    STATE_FIELD(w, e->begin[number], STATE_NOTE);
    walk_cause(e, number, w);
    if (operation_at(e, number)->kind == SCHEDULE_REPEAT)
        STATE_FIELD(w, e->next[number], STATE_EQUAL);
}

static void walk_operations(struct executor *e, struct state_walk *w)
{
    for (uint32_t i = 0; i < e->count; i++) {
        STATE_FIELD(w, e->state[i], STATE_EQUAL);
        if (e->state[i] == STATE_BEGUN)
            walk_begun(e, i, w);
    }
    STATE_FIELD(w, e->left, STATE_EQUAL);
    STATE_FIELD(w, e->drawn, STATE_EQUAL);
    STATE_FIELD(w, e->computing, STATE_STILL);
    STATE_FIELD(w, e->communicating, STATE_STILL);
    STATE_FIELD(w, e->purposes, STATE_STILL);
    for (unsigned i = 0; i < SCHEDULE_MOST_PURPOSES; i++)
        STATE_FIELD(w, e->purpose_open[i], STATE_STILL);
    STATE_FIELD(w, e->now, STATE_NOTE);
    STATE_FIELD(w, e->counted_until, STATE_NOTE);
}

static void walk_streams(const struct executor *e, struct state_walk *w)
{
    for (unsigned i = 0; i < e->streams; i++) {
        struct stream *s = &e->stream[i];
        STATE_FIELD(w, s->current, STATE_EQUAL);
        if (s->current != NONE)
            STATE_FIELD(w, s->until, STATE_TIME);
        STATE_FIELD(w, s->last_entry, STATE_INDEX);
        STATE_FIELD(w, s->count, STATE_EQUAL);
        for (size_t at = 0; at < s->count; at++) {
            uint32_t number = s->waiting[at];
            STATE_FIELD(w, s->waiting[at], STATE_EQUAL);
            STATE_FIELD(w, e->ready_at[number], STATE_TIME);
            if (e->ready_at != e->begin)
                STATE_FIELD(w, e->begin[number], STATE_NOTE);
            walk_cause(e, number, w);
        }
    }
}

/* Receives that wait for a message. */
static void walk_posted(const struct executor *e, const struct list *posted, struct state_walk *w)
{
    for (uint32_t at = posted->first; at != NONE; at = e->next[at]) {
        state_walk_value(w, at, STATE_EQUAL);
        if (e->post_order)
            STATE_FIELD(w, e->post_order[at], STATE_INDEX);
    }
    state_walk_value(w, NONE, STATE_EQUAL);
}

static void walk_matching(struct executor *e, struct state_walk *w)
{
    STATE_FIELD(w, e->posts, STATE_BASE);
    walk_posted(e, &e->wild, w);
    size_t at_bucket = 0;
    for (struct bucket *b; (b = hx_table_each(&e->buckets, &at_bucket)) != NULL;) {
        if (b->posted.first == NONE)
            continue;
        STATE_FIELD(w, b->key, STATE_EQUAL);
        walk_posted(e, &b->posted, w);
    }
    for (uint32_t at = e->early_first; at != NONE; at = e->early[at].later) {
        struct early *early = &e->early[at];
        STATE_FIELD(w, early->source, STATE_EQUAL);
        STATE_FIELD(w, early->tag, STATE_EQUAL);
        STATE_FIELD(w, early->operation, STATE_EQUAL);
        STATE_FIELD(w, early->request, STATE_EQUAL);
    }
    for (size_t i = 0; i < e->awaited_count; i++) {
        STATE_FIELD(w, e->awaited[i].source, STATE_EQUAL);
        STATE_FIELD(w, e->awaited[i].operation, STATE_EQUAL);
        STATE_FIELD(w, e->awaited[i].receive, STATE_EQUAL);
    }
}

void executor_walk(struct executor *e, struct state_walk *w)
{
    STATE_FIELD(w, e->result->entries, STATE_BASE);
    walk_result(e->result, w);
    walk_operations(e, w);
    walk_streams(e, w);
    walk_matching(e, w);
    for (size_t i = 0; i < e->peer_of.count; i++) {
        STATE_FIELD(w, e->peer[i].rank, STATE_STILL);
        STATE_FIELD(w, e->peer[i].in_order, STATE_COUNT);
    }
}

/* ---- iterations ---- */

uint64_t executor_mark_values(const struct executor *e)
{
    return e->iteration ? 1 + (uint64_t)e->count : 1;
}

struct executor_mark *executor_mark(const struct executor *e)
{
    uint32_t count = e->iteration ? e->count : 0;
    struct executor_mark *mark = hx_allocate(1, sizeof *mark + count * sizeof *mark->iteration);
    mark->entries = e->result->entries;
    for (uint32_t i = 0; i < count; i++)
        mark->iteration[i] = e->iteration[i];
    return mark;
}

/* The most periods by which a repeat in progress can go on, so that an iteration more is left. within: a repeat around
 * it went on, so it began anew, and has to be where it was. */
static uint64_t repeat_periods(const struct executor *e, uint32_t number, uint64_t since, bool within)
{
    uint64_t moved = e->iteration[number] - since;
    if (moved == 0)
        return EXECUTOR_NEVER;
    return within ? 0 : (operation_at(e, number)->amount - 1 - e->iteration[number]) / moved;
}

/* The most periods until an operation would end after the plan's latest time. */
static uint64_t periods_in_time(const struct executor *e, uint64_t now, uint64_t period_ps)
{
    uint64_t latest = e->plan->latest_ps ? e->plan->latest_ps : EXECUTOR_NEVER - 1;
    uint64_t end = now;
    for (unsigned i = 0; i < e->streams; i++) {
        const struct stream *s = &e->stream[i];
        end = s->current != NONE && s->until > end ? s->until : end;
    }
    return end < latest ? (latest - end) / period_ps : 0;
}

uint64_t executor_periods(const struct executor *e, const struct executor_mark *mark, uint64_t now, uint64_t period_ps)
{
    uint64_t least = periods_in_time(e, now, period_ps);
    if (e->entry && e->result->entries - mark->entries > e->room)
        return 0;
    if (!e->iteration)
        return least;
    bool *moved = hx_allocate(e->count + 1U, sizeof *moved); /* it, or a repeat around it */
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->state[i] != STATE_BEGUN || operation_at(e, i)->kind != SCHEDULE_REPEAT)
            continue;
        bool within = e->body[i] != NONE && moved[e->body[i]];
        uint64_t periods = repeat_periods(e, i, mark->iteration[i], within);
        moved[i] = within || e->iteration[i] != mark->iteration[i];
        least = periods < least ? periods : least;
    }
    free(moved);
    return least;
}

/* Writes the entries of further periods. */
static void write_entries(const struct executor *e, const struct executor_mark *mark, uint64_t periods,
                          uint64_t period_ps)
{
    uint64_t each = e->result->entries - mark->entries;
    for (uint64_t n = e->result->entries; n < e->result->entries + periods * each; n++) {
        struct executor_entry entry = e->entry[(n - each) % e->room];
        bool repeat = operation_at(e, entry.operation)->kind == SCHEDULE_REPEAT;
        entry.begin += period_ps;
        entry.end += period_ps;
        if (entry.source == e->rank && entry.cause != EXECUTOR_NO_CAUSE)
            entry.cause += (uint32_t)each;
        if (repeat)
            entry.iteration += (uint32_t)(e->iteration[entry.operation] - mark->iteration[entry.operation]);
        e->entry[n % e->room] = entry;
    }
}

uint64_t executor_go_on(struct executor *e, const struct executor_mark *mark, uint64_t periods, uint64_t period_ps)
{
    uint64_t iterations = 0;
    if (e->entry)
        write_entries(e, mark, periods, period_ps);
    for (uint32_t i = 0; e->iteration && i < e->count; i++) {
        if (e->state[i] != STATE_BEGUN || operation_at(e, i)->kind != SCHEDULE_REPEAT)
            continue;
        uint64_t more = periods * (e->iteration[i] - mark->iteration[i]);
        e->iteration[i] += more;
        iterations += more;
    }
    return iterations;
}
