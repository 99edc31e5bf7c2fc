/* critical_path.c - the critical path of a schedule (critical_path.h). */
#include "fabric-emu/report/critical_path.h"
#include "base/json.h"
#include "base/text.h"
#include "base/value.h"
#include "fabric-emu/report/collective_entries.h"
#include "fabric-emu/report/timeline_arrows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Where the search is: an entry of a rank. */
struct trail {
    const struct schedule_job *job;
    const uint32_t *arrow;         /* timeline_arrows() */
    struct collective_entries *of; /* [ranks]: opened when first needed */
    uint32_t rank;
    uint64_t number;
    uint64_t until;  /* ps: begin of the step after it */
    bool by_message; /* which waited for its message */
};

/* NULL: it was not kept. */
static const struct executor_entry *entry_of(const struct trail *t)
{
    const struct entries k = entries_of(t->job, t->rank);
    return t->number >= k.first && t->number < k.end ? entries_at(&k, t->number) : NULL;
}

static const struct schedule_operation *operation_of(const struct trail *t)
{
    return schedule_at(t->job->schedule, t->rank, entry_of(t)->operation);
}

/* ---- from an entry to the one before it ---- */

static const struct collective_entries *collectives_of(const struct trail *t, uint32_t rank)
{
    if (!t->of[rank].from)
        collective_entries_open(&t->of[rank], t->job, rank);
    return &t->of[rank];
}

/* Moves to the member of the collective that began it last: all others waited for it. */
static void go_to_last_member(struct trail *t)
{
    const struct executor_entry *own = entry_of(t);
    const struct collective_entries *of = collectives_of(t, t->rank);
    uint32_t group = operation_of(t)->peer;
    uint64_t number = t->number;
    uint64_t latest = own->begin;
    for (uint32_t i = 0; i < schedule_group_size(t->job->schedule, group); i++) {
        uint32_t member = schedule_group(t->job->schedule, group)[i];
        uint64_t found = collective_entries_same(collectives_of(t, member), of, group, number);
        const struct entries k = entries_of(t->job, member);
        if (found == COLLECTIVE_ENTRIES_NONE || entries_at(&k, found)->begin <= latest ||
            entries_at(&k, found)->begin >= own->end)
            continue;
        latest = entries_at(&k, found)->begin;
        t->rank = member;
        t->number = found;
    }
}

/* Number of the entry at this place in the ring of a rank. */
static uint64_t number_at(const struct trail *t, uint32_t rank, uint64_t place)
{
    const struct entries k = entries_of(t->job, rank);
    uint64_t slot = place - t->job->executor.first_entry[rank];
    uint64_t number = k.first - k.first % k.room + slot;
    return number < k.first ? number + k.room : number;
}

/* Returns false if the entry's cause was not kept, or if it has none: the begin of the run. */
static bool go_to_cause(struct trail *t, bool *begun)
{
    const struct executor_entry *e = entry_of(t);
    *begun = e->source == EXECUTOR_NO_CAUSE;
    t->by_message = e->source != t->rank;
    if (*begun)
        return false;
    if (!t->by_message) {
        t->number = e->cause;
        return entry_of(t) != NULL;
    }
    uint32_t send = t->arrow[timeline_place(t->job, e)];
    t->rank = e->source;
    t->number = send ? number_at(t, t->rank, send - 1) : 0;
    return send != 0;
}

/* ---- steps ---- */

static void count_step(struct critical_path *path, uint8_t kind, const struct critical_step *step, uint64_t until)
{
    uint64_t after = until > step->end ? until - step->end : 0;
    uint64_t ps = step->end - step->begin;
    path->computing_ps += kind == SCHEDULE_COMPUTE ? ps : 0;
    path->messages_ps += kind != SCHEDULE_COMPUTE ? ps : 0;
    path->collectives_ps += kind == SCHEDULE_COLLECTIVE ? ps : 0;
    if (step->by_message) /* in flight, after the send */
        path->messages_ps += after;
    else
        path->waiting_ps += after;
}

/* Adds the entry, unless it is the end of an iteration. A receive began before its message came: its step is empty. */
static void add_step(struct critical_path *path, size_t *room, struct trail *t)
{
    const struct executor_entry *e = entry_of(t);
    uint8_t kind = operation_of(t)->kind;
    bool received = e->source != t->rank && e->source != EXECUTOR_NO_CAUSE;
    if (kind == SCHEDULE_REPEAT)
        return;
    struct critical_step step = {
        .rank = t->rank, .operation = e->operation, .end = e->end < t->until ? e->end : t->until};
    step.begin = received ? step.end : e->begin;
    step.by_message = t->by_message;
    count_step(path, kind, &step, t->until);
    path->step = hx_grow(path->step, path->steps, room, sizeof *path->step);
    path->step[path->steps++] = step;
    t->until = step.begin < t->until ? step.begin : t->until;
}

static uint32_t last_rank(const struct schedule_job *job)
{
    uint32_t last = 0;
    for (uint32_t rank = 1; rank < schedule_ranks(job->schedule); rank++)
        last = job->executor.result[rank].end_ps > job->executor.result[last].end_ps ? rank : last;
    return last;
}

void critical_path_find(struct critical_path *path, const struct schedule_job *job)
{
    uint32_t ranks = schedule_ranks(job->schedule);
    uint32_t *arrow = timeline_arrows(job);
    struct trail t = {.job = job,
                      .arrow = arrow,
                      .of = hx_allocate(ranks, sizeof *t.of),
                      .rank = last_rank(job),
                      .until = job->executor.result[last_rank(job)].end_ps};
    size_t room = 0;
    *path = (struct critical_path){.steps = 0};
    t.number = job->executor.result[t.rank].entries - 1;
    for (bool more = entry_of(&t) != NULL; more; more = go_to_cause(&t, &path->whole)) {
        if (operation_of(&t)->kind == SCHEDULE_COLLECTIVE)
            go_to_last_member(&t);
        add_step(path, &room, &t);
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
        collective_entries_close(&t.of[rank]);
    HX_FREE(t.of, arrow);
}

void critical_path_free(struct critical_path *path)
{
    free(path->step);
}

/* ---- reports ---- */

enum { SHOWN_LINES = 5, SHOWN_STEPS = 20 /* in JSON */ };

static const char *name_of(const struct schedule_job *job, const struct critical_step *step, char text[64])
{
    const struct schedule_operation *o = schedule_at(job->schedule, step->rank, step->operation);
    const char *kind =
        o->kind == SCHEDULE_COLLECTIVE ? hx_collective_kind_names[o->collective] : schedule_kind_names[o->kind];
    const char *name = schedule_name(job->schedule, o);
    (void)snprintf(text, 64, "%s%s%.40s", kind, name[0] ? " " : "", name);
    return text;
}

static void print_share(const char *before, const char *name, uint64_t ps, double all)
{
    char time[HX_VALUE_TEXT];
    printf("%s%s %s (%.1f %%)", before, name, hx_value_print_duration(time, ps / 1000),
           all > 0 ? 100 * (double)ps / all : 0);
}

static void print_step(const struct schedule_job *job, const struct critical_step *step)
{
    const struct schedule_operation *o = schedule_at(job->schedule, step->rank, step->operation);
    char name[64];
    char time[HX_VALUE_TEXT];
    printf("rank %" PRIu32 ", %s", step->rank, name_of(job, step, name));
    if ((o->kind == SCHEDULE_SEND || o->kind == SCHEDULE_RECEIVE) && o->peer != SCHEDULE_ANY)
        printf(" %s rank %" PRIu32, o->kind == SCHEDULE_SEND ? "to" : "from", o->peer);
    if (step->begin < step->end)
        printf(", %s to", hx_value_print_duration(time, step->begin / 1000));
    else
        printf(", at");
    printf(" %s\n", hx_value_print_duration(time, step->end / 1000));
}

void critical_path_print(const struct schedule_job *job)
{
    struct critical_path path;
    critical_path_find(&path, job);
    if (path.steps == 0)
        return;
    double all = (double)(path.computing_ps + path.messages_ps + path.waiting_ps);
    printf("  critical path  %zu operation%s%s\n", path.steps, hx_plural(path.steps),
           path.whole ? "" : " (the last ones that were kept)");
    print_share("                 ", "computing", path.computing_ps, all);
    print_share(", ", "messages", path.messages_ps - path.collectives_ps, all);
    print_share(", ", "collectives", path.collectives_ps, all);
    print_share(", ", "waiting", path.waiting_ps, all);
    printf("\n");
    for (size_t i = 0; i < path.steps && i < SHOWN_LINES; i++) {
        printf("                 %s", i ? "after " : "last  ");
        print_step(job, &path.step[i]);
    }
    critical_path_free(&path);
}

json_t *critical_path_json(const struct schedule_job *job)
{
    struct critical_path path;
    json_t *steps = json_array();
    critical_path_find(&path, job);
    for (size_t i = 0; i < path.steps && i < SHOWN_STEPS; i++) {
        const struct critical_step *step = &path.step[i];
        char name[64];
        json_array_append_new(
            steps, json_pack("{s:I, s:I, s:I, s:o, s:f, s:f, s:b}", "rank", (json_int_t)step->rank, "host",
                             (json_int_t)job->host[step->rank], "operation", (json_int_t)step->operation, "what",
                             hx_json_text(name_of(job, step, name)), "begin", (double)step->begin / 1e12, "end",
                             (double)step->end / 1e12, "by_message", step->by_message));
    }
    json_t *o =
        json_pack("{s:I, s:b, s:f, s:f, s:f, s:o}", "operations", (json_int_t)path.steps, "whole", path.whole,
                  "computing_seconds", (double)path.computing_ps / 1e12, "message_seconds",
                  (double)path.messages_ps / 1e12, "waiting_seconds", (double)path.waiting_ps / 1e12, "last", steps);
    critical_path_free(&path);
    return o;
}
