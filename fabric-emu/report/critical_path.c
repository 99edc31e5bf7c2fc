/* critical_path.c - the critical path of a schedule (critical_path.h). */
#include "fabric-emu/report/critical_path.h"
#include "base/json.h"
#include "base/value.h"
#include "fabric-emu/report/entries.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The latest entry of an operation that ended at `until` or before; k->end: none. Entries are in the order of their
 * end. */
static uint64_t find_ended(const struct entries *k, uint32_t operation, uint64_t until)
{
    uint64_t low = k->first;
    uint64_t high = k->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (entries_at(k, middle)->end <= until)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint64_t i = low; i > k->first; i--) {
        if (entries_at(k, i - 1)->operation == operation)
            return i - 1;
    }
    return k->end;
}

/* A rendezvous ends with its acknowledgement, after its receive: the first entry of the operation from then on. */
static uint64_t find_sent(const struct entries *k, uint32_t operation, uint64_t from)
{
    uint64_t ended = find_ended(k, operation, from);
    for (uint64_t i = k->first; ended == k->end && i < k->end; i++) {
        if (entries_at(k, i)->operation == operation && entries_at(k, i)->end > from)
            return i;
    }
    return ended;
}

static void add(struct critical_path *path, size_t *room, const struct critical_step *step)
{
    path->step = hx_grow(path->step, path->steps, room, sizeof *path->step);
    path->step[path->steps++] = *step;
}

static uint32_t last_rank(const struct schedule_job *job)
{
    uint32_t last = 0;
    for (uint32_t rank = 1; rank < schedule_ranks(job->schedule); rank++)
        last = job->executor.result[rank].end_ps > job->executor.result[last].end_ps ? rank : last;
    return last;
}

static void count_step(struct critical_path *path, const struct schedule_job *job, const struct critical_step *step,
                       uint64_t until)
{
    uint8_t kind = schedule_at(job->schedule, step->rank, step->operation)->kind;
    if (kind == SCHEDULE_COMPUTE)
        path->computing_ps += step->end - step->begin;
    else if (kind != SCHEDULE_REPEAT)
        path->messages_ps += step->end - step->begin;
    if (step->by_message) /* in flight, after the send */
        path->messages_ps += until > step->end ? until - step->end : 0;
    else
        path->waiting_ps += until > step->end ? until - step->end : 0;
}

/* The member of a collective's group that began it last: all others waited for it. Moves *rank and *number there. */
static void find_last_member(const struct schedule_job *job, uint32_t *rank, uint64_t *number)
{
    const struct entries own = entries_of(job, *rank);
    const struct executor_entry *e = entries_at(&own, *number);
    const struct schedule_operation *o = schedule_at(job->schedule, *rank, e->operation);
    uint64_t latest = e->begin;
    uint64_t end = e->end;
    uint32_t group = o->peer;
    for (uint32_t i = 0; i < schedule_group_size(job->schedule, group); i++) {
        uint32_t member = schedule_group(job->schedule, group)[i];
        const struct entries k = entries_of(job, member);
        uint64_t found = k.end;
        for (uint64_t at = k.end; at > k.first && found == k.end && entries_at(&k, at - 1)->end > latest; at--) {
            const struct executor_entry *other = entries_at(&k, at - 1);
            const struct schedule_operation *theirs = schedule_at(job->schedule, member, other->operation);
            bool same = theirs->kind == SCHEDULE_COLLECTIVE && theirs->peer == group && other->begin < end;
            found = same ? at - 1 : found;
        }
        if (found == k.end || entries_at(&k, found)->begin <= latest)
            continue;
        latest = entries_at(&k, found)->begin;
        *rank = member;
        *number = found;
    }
}

void critical_path_find(struct critical_path *path, const struct schedule_job *job)
{
    size_t room = 0;
    uint32_t rank = last_rank(job);
    struct entries k = entries_of(job, rank);
    uint64_t number = k.end - 1;
    uint64_t until = job->executor.result[rank].end_ps;
    bool by_message = false;
    *path = (struct critical_path){.whole = k.end > 0};
    while (k.end > 0 && number >= k.first && number < k.end) {
        if (schedule_at(job->schedule, rank, entries_at(&k, number)->operation)->kind == SCHEDULE_COLLECTIVE) {
            find_last_member(job, &rank, &number);
            k = entries_of(job, rank);
        }
        const struct executor_entry *e = entries_at(&k, number);
        const struct critical_step step = {.rank = rank,
                                           .operation = e->operation,
                                           .begin = e->begin,
                                           .end = e->end < until ? e->end : until,
                                           .by_message = by_message};
        bool repeats = schedule_at(job->schedule, rank, e->operation)->kind == SCHEDULE_REPEAT;
        if (!repeats) {
            count_step(path, job, &step, until);
            add(path, &room, &step);
            until = e->begin < until ? e->begin : until;
        }
        if (e->source == EXECUTOR_NO_CAUSE)
            return;
        by_message = e->source != rank;
        if (by_message) { /* the receive began before its message came: it is no part of the path */
            if (!repeats) {
                path->messages_ps -= step.end - step.begin;
                until = step.end;
                path->step[path->steps - 1].begin = step.end;
            }
            rank = e->source;
            k = entries_of(job, rank);
            number = find_sent(&k, e->cause, until);
        } else {
            number = e->cause;
        }
    }
    path->whole = false;
}

void critical_path_free(struct critical_path *path)
{
    free(path->step);
}

/* ---- reports ---- */

enum { SHOWN_STEPS = 20 };

static const char *name_of(const struct schedule_job *job, const struct critical_step *step, char text[64])
{
    const struct schedule_operation *o = schedule_at(job->schedule, step->rank, step->operation);
    const char *kind =
        o->kind == SCHEDULE_COLLECTIVE ? schedule_collective_names[o->collective] : schedule_kind_names[o->kind];
    const char *name = schedule_name(job->schedule, o);
    (void)snprintf(text, 64, "%s%s%.40s", kind, name[0] ? " " : "", name);
    return text;
}

void critical_path_print(const struct schedule_job *job)
{
    struct critical_path path;
    char time[HX_VALUE_TEXT];
    critical_path_find(&path, job);
    if (path.steps == 0)
        return;
    double all = (double)(path.computing_ps + path.messages_ps + path.waiting_ps);
    printf("  critical path  %zu operations%s: computing %.1f %%, messages %.1f %%, waiting %.1f %%\n", path.steps,
           path.whole ? "" : " (the last ones that were kept)", 100 * (double)path.computing_ps / all,
           100 * (double)path.messages_ps / all, 100 * (double)path.waiting_ps / all);
    for (size_t i = 0; i < path.steps && i < 5; i++) {
        const struct critical_step *step = &path.step[i];
        char name[64];
        printf("                 %s rank %" PRIu32 ", %s, until %s\n", i ? "after" : "last ", step->rank,
               name_of(job, step, name), hx_value_print_duration(time, step->end / 1000));
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
