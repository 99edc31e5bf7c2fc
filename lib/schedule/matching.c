/* matching.c - the messages of each destination (matching.h). */
#include "schedule/matching.h"
#include "schedule/matching_parts.h"
#include "schedule/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- faults ---- */

static const char *number_or_any(char text[32], const char *word, uint32_t number)
{
    if (number == SCHEDULE_ANY)
        (void)snprintf(text, 32, "any %s", word);
    else
        (void)snprintf(text, 32, "%s %" PRIu32, word, number);
    return text;
}

void matching_fault(struct matching_faults *f, uint32_t rank, uint32_t number, uint64_t missing)
{
    char peer[32];
    char tag[32];
    char name[64];
    if (missing && !f->missing) {
        const struct schedule_operation *o = schedule_at(f->s, rank, number);
        bool send = o->kind == SCHEDULE_SEND;
        if (o->name)
            (void)snprintf(name, sizeof name, "'%.40s'", schedule_name(f->s, o));
        else
            (void)snprintf(name, sizeof name, "%" PRIu32, number);
        (void)snprintf(f->first, sizeof f->first, "rank %" PRIu32 ": %s %s of %" PRIu64 " B %s %s, %s, has no %s", rank,
                       schedule_kind_names[o->kind], name, o->amount, send ? "to" : "from",
                       number_or_any(peer, "rank", o->peer), number_or_any(tag, "tag", o->tag),
                       send ? "receive" : "send");
        f->first_missing = missing;
    }
    f->missing = schedule_add(f->missing, missing);
}

static bool fail_of(const struct matching_faults *f, const char *where, struct hx_problem *problem)
{
    char all[64] = "";
    if (f->missing > f->first_missing)
        (void)snprintf(all, sizeof all, ", %" PRIu64 " in the whole schedule", f->missing);
    return hx_fail(problem, HX_EXIT_CONFIG, where, "%s (%" PRIu64 " %s missing%s)", f->first, f->first_missing,
                   f->first_missing == 1 ? "is" : "are", all);
}

/* ---- one destination ---- */

static int by_key_and_number(const void *a, const void *b)
{
    const struct matching_message *x = a;
    const struct matching_message *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void sort_messages(struct matching_message *m, size_t count)
{
    size_t sorted = 1;
    while (sorted < count && by_key_and_number(&m[sorted - 1], &m[sorted]) < 0)
        sorted++;
    if (sorted < count)
        qsort(m, count, sizeof *m, by_key_and_number);
}

/* Joins messages with equal keys; the last one's number stays. Returns how many are left. */
static size_t join_equal(struct matching_message *m, size_t count)
{
    size_t kept = 0;
    sort_messages(m, count);
    for (size_t i = 0; i < count; i++) {
        if (kept && m[kept - 1].key == m[i].key) {
            m[kept - 1].times = schedule_add(m[kept - 1].times, m[i].times);
            m[kept - 1].number = m[i].number;
        } else {
            m[kept++] = m[i];
        }
    }
    return kept;
}

/* A growing list of messages. */
struct list {
    struct matching_message *message;
    size_t count, room;
};

static void append(struct list *l, const struct matching_message *m)
{
    l->message = hx_grow(l->message, l->count, &l->room, sizeof *l->message);
    l->message[l->count++] = *m;
}

/* Receives of a rank, and those of them with wildcards. */
struct receives {
    struct list exact, wild;
};

static void collect_receives(struct receives *r, const struct schedule *s, uint32_t rank)
{
    struct schedule_walk w;
    r->exact.count = r->wild.count = 0;
    schedule_walk_begin(&w, s, rank);
    while (schedule_walk_next(&w)) {
        const struct schedule_operation *o = w.operation;
        if (o->kind != SCHEDULE_RECEIVE)
            continue;
        const struct matching_message m = {matching_key(o->peer, o->tag), w.times, w.number};
        append(o->peer == SCHEDULE_ANY || o->tag == SCHEDULE_ANY ? &r->wild : &r->exact, &m);
    }
    schedule_walk_end(&w);
    r->exact.count = join_equal(r->exact.message, r->exact.count);
    r->wild.count = join_equal(r->wild.message, r->wild.count);
}

/* Takes from the sends what receives without wildcards take: `times` becomes what is left. */
static void take_exact(struct matching_faults *f, uint32_t rank, const struct list *exact,
                       struct matching_message *send, size_t sends)
{
    size_t at = 0;
    for (size_t i = 0; i < exact->count; i++) {
        const struct matching_message *r = &exact->message[i];
        uint64_t sent = 0;
        while (at < sends && send[at].key < r->key)
            at++;
        if (at < sends && send[at].key == r->key) {
            sent = send[at].times;
            send[at].times = sent > r->times ? sent - r->times : 0;
        }
        matching_fault(f, rank, r->number, r->times > sent ? r->times - sent : 0);
    }
}

static void take_wild(struct matching_faults *f, uint32_t rank, const struct list *wild,
                      const struct matching_message *send, size_t sends)
{
    struct matching_cell *cell = hx_allocate(sends + 1, sizeof *cell);
    uint32_t cells = 0;
    for (size_t i = 0; i < sends; i++) {
        if (send[i].times)
            cell[cells++] = (struct matching_cell){.key = send[i].key,
                                                   .left = send[i].times,
                                                   .owner = {MATCHING_NONE, MATCHING_NONE},
                                                   .number = send[i].number};
    }
    matching_wild(f, rank, wild->message, (uint32_t)wild->count, cell, cells);
    free(cell);
}

static void match_destination(struct matching_faults *f, uint32_t rank, struct receives *r,
                              struct matching_message *send, size_t sends)
{
    collect_receives(r, f->s, rank);
    sends = join_equal(send, sends);
    take_exact(f, rank, &r->exact, send, sends);
    if (r->wild.count) {
        take_wild(f, rank, &r->wild, send, sends);
        return;
    }
    for (size_t i = 0; i < sends; i++)
        matching_fault(f, (uint32_t)(send[i].key >> 32), send[i].number, send[i].times);
}

/* ---- all destinations ---- */

/* Returns first[ranks + 1]: sends to rank r are first[r] .. first[r + 1] - 1 of all sends, sorted by destination. */
static uint64_t *count_sends(const struct schedule *s)
{
    uint64_t *first = hx_allocate(schedule_ranks(s) + 1, sizeof *first);
    for (uint64_t i = 0; i < s->head->operations; i++) {
        if (s->operation[i].kind == SCHEDULE_SEND)
            first[s->operation[i].peer + 1]++;
    }
    for (uint32_t i = 0; i < schedule_ranks(s); i++)
        first[i + 1] += first[i];
    return first;
}

static struct matching_message *collect_sends(const struct schedule *s, const uint64_t *first)
{
    struct matching_message *send = hx_allocate(first[schedule_ranks(s)] + 1, sizeof *send);
    uint64_t *next = hx_allocate(schedule_ranks(s), sizeof *next);
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++)
        next[rank] = first[rank];
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++) {
        struct schedule_walk w;
        schedule_walk_begin(&w, s, rank);
        while (schedule_walk_next(&w)) {
            if (w.operation->kind == SCHEDULE_SEND)
                send[next[w.operation->peer]++] =
                    (struct matching_message){matching_key(rank, w.operation->tag), w.times, w.number};
        }
        schedule_walk_end(&w);
    }
    free(next);
    return send;
}

static bool messages_match(const struct schedule *s, const char *where, struct hx_problem *problem)
{
    struct matching_faults f = {.s = s};
    struct receives r = {.exact = {.count = 0}};
    uint64_t *first = count_sends(s);
    struct matching_message *send = collect_sends(s, first);
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++)
        match_destination(&f, rank, &r, send + first[rank], first[rank + 1] - first[rank]);
    HX_FREE(first, send, r.exact.message, r.wild.message);
    return !f.missing || fail_of(&f, where, problem);
}

bool schedule_check_matching(const struct schedule *s, const char *where, struct hx_problem *problem)
{
    return messages_match(s, where, problem) && matching_groups(s, where, problem);
}
