/* schedule_report.c - schedules in the report (schedule_report.h). */
#include "fabric-emu/report/schedule_report.h"
#include "base/json.h"
#include "base/text.h"
#include "base/value.h"
#include "fabric-emu/report/critical_path.h"
#include "fabric-emu/report/entries.h"
#include "schedule/ideal.h"
#include "schedule/notes.h"
#include "schedule/purposes.h"
#include "topology/name.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct figures {
    uint32_t ranks, done;
    uint64_t operations, messages, bytes, early;
    double seconds;           /* end of the last operation */
    uint64_t iterations;      /* kept iterations of outermost repeats; most of a rank */
    double iteration_seconds; /* mean of the slowest rank */
    struct schedule_spread computing, exposed, idle;
    struct schedule_ideal ideal; /* of a schedule with purposes or samples of which all operations ended; else 0 */
};

/* Counts iterations of a rank's outermost repeats, among the entries that were kept. */
static void count_iterations(struct figures *f, const struct schedule_job *job, uint32_t rank)
{
    const struct entries k = entries_of(job, rank);
    uint64_t count = 0;
    double sum = 0;
    bool *outermost = hx_allocate(schedule_count(job->schedule, rank) + (size_t)1, sizeof *outermost);
    for (uint32_t i = 0; i < schedule_count(job->schedule, rank); i = schedule_next(job->schedule, rank, i))
        outermost[i] = schedule_at(job->schedule, rank, i)->kind == SCHEDULE_REPEAT;
    for (uint64_t n = k.first; n < k.end; n++) {
        const struct executor_entry *e = entries_at(&k, n);
        bool counts = outermost[e->operation];
        count += counts;
        sum += counts ? (double)(e->end - e->begin) / 1e12 : 0;
    }
    free(outermost);
    f->iterations = count > f->iterations ? count : f->iterations;
    if (count && sum / (double)count > f->iteration_seconds)
        f->iteration_seconds = sum / (double)count;
}

static struct figures figures_of(const struct schedule_job *job)
{
    const struct schedule_head *h = job->schedule->head;
    struct figures f = {.ranks = schedule_ranks(job->schedule)};
    for (uint32_t rank = 0; rank < f.ranks; rank++) {
        const struct executor_result *r = &job->executor.result[rank];
        f.seconds = (double)r->end_ps > f.seconds * 1e12 ? (double)r->end_ps / 1e12 : f.seconds;
    }
    for (uint32_t rank = 0; rank < f.ranks; rank++) {
        const struct executor_result *r = &job->executor.result[rank];
        double busy = (double)(r->computing_ps + r->exposed_ps) / 1e12;
        f.done += r->done;
        count_iterations(&f, job, rank);
        f.operations += atomic_load(&r->ended);
        f.messages += r->messages;
        f.bytes += r->bytes;
        f.early += r->early;
        schedule_spread_add(&f.computing, (double)r->computing_ps / 1e12, rank, f.ranks);
        schedule_spread_add(&f.exposed, (double)r->exposed_ps / 1e12, rank, f.ranks);
        schedule_spread_add(&f.idle, f.seconds > busy ? f.seconds - busy : 0, rank, f.ranks);
    }
    bool trains = h->samples || h->tokens || h->purpose[SCHEDULE_NO_PURPOSE + 1] != SCHEDULE_NO_NAME;
    f.ideal = trains && f.done == f.ranks ? schedule_ideal(&job->executor) : (struct schedule_ideal){0, 0};
    return f;
}

double schedule_report_seconds(const struct schedule_plan *p)
{
    uint64_t end_ps = 0;
    for (unsigned i = 0; i < p->jobs; i++) {
        const struct schedule_job *job = &p->job[i];
        for (uint32_t rank = 0; rank < schedule_ranks(job->schedule); rank++)
            if (job->executor.result[rank].end_ps > end_ps)
                end_ps = job->executor.result[rank].end_ps;
    }
    return (double)end_ps / 1e12;
}

static double bubble_of(const struct figures *f)
{
    return fmax(0, f->ideal.seconds - f->ideal.computing_seconds);
}

/* ---- deadlocks ---- */

static void describe(const struct schedule_job *job, uint32_t rank, char text[160])
{
    const struct executor_result *r = &job->executor.result[rank];
    const struct schedule_operation *o = schedule_at(job->schedule, rank, r->blocked);
    const char *name = schedule_name(job->schedule, o);
    char from[32] = "any rank";
    char tag[32] = "any tag";
    if (o->peer != SCHEDULE_ANY)
        (void)snprintf(from, sizeof from, "rank %" PRIu32, o->peer);
    if (o->tag != SCHEDULE_ANY)
        (void)snprintf(tag, sizeof tag, "tag %" PRIu32, o->tag);
    int used = snprintf(text, 160, "rank %" PRIu32 ": %s%s%.40s%s", rank, schedule_kind_names[o->kind],
                        name[0] ? " " : "", name, o->kind == SCHEDULE_COMPUTE ? "" : " ");
    if (o->kind == SCHEDULE_COLLECTIVE)
        (void)snprintf(text + used, 160 - (size_t)used, "(%s of group %" PRIu32 ")",
                       hx_collective_kind_names[o->collective], o->peer);
    else if (o->kind != SCHEDULE_COMPUTE)
        (void)snprintf(text + used, 160 - (size_t)used, "%s %s, %s, %" PRIu64 " B",
                       o->kind == SCHEDULE_SEND ? "to" : "from", from, tag, o->amount);
}

/* Why the rest cannot end, by the first rank that knows. */
static const char *why(const struct schedule_job *job, bool ended)
{
    const char *found = ended ? "a worker died or a message was given up" : "these operations wait for ever";
    for (uint32_t rank = 0; rank < schedule_ranks(job->schedule); rank++) {
        if (job->executor.result[rank].failed)
            return "a rank is too many collectives of a group ahead of another (let them meet in a barrier)";
        if (job->executor.result[rank].late)
            found = "time ends 10 h after the start (shorten its times, --overhead or --compute-scale)";
    }
    return found;
}

static bool complain(const struct schedule_job *job, bool ended)
{
    enum { SHOWN = 3 };
    uint32_t ranks = schedule_ranks(job->schedule);
    uint32_t done = 0;
    uint32_t shown = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        done += job->executor.result[rank].done;
    if (done == ranks)
        return true;
    hx_complain(job->path, "%s with %" PRIu32 " of %" PRIu32 " ranks done: %s",
                ended ? "the schedule ended" : "the schedule is stuck", done, ranks, why(job, ended));
    for (uint32_t rank = 0; rank < ranks && shown < SHOWN && !ended; rank++) {
        char text[160];
        if (job->executor.result[rank].done || !job->executor.result[rank].blocked_count)
            continue;
        describe(job, rank, text);
        hx_complain(job->path, "%s", text);
        shown++;
    }
    return false;
}

bool schedule_report_complain(const struct schedule_plan *p, bool ended)
{
    bool good = true;
    for (unsigned i = 0; i < p->jobs; i++)
        good = complain(&p->job[i], ended) && good;
    return good;
}

/* ---- text ---- */

static void print_job(const struct schedule_job *job)
{
    const struct figures f = figures_of(job);
    static const char indent[] = "                 ";
    char time[HX_VALUE_TEXT];
    char bytes[HX_VALUE_TEXT];
    char bubble[HX_VALUE_TEXT];
    printf("  schedule       ");
    if (job->tag)
        printf("job %u, ", job->tag);
    printf("%s, %" PRIu32 " rank%s, %" PRIu64 " operation%s in %s\n", job->path, f.ranks, hx_plural(f.ranks),
           f.operations, hx_plural(f.operations), hx_value_print_seconds(time, f.seconds));
    printf("                 %" PRIu64 " message%s of %s, %" PRIu64 " before their receive\n", f.messages,
           hx_plural(f.messages), hx_value_print_bytes(bytes, f.bytes), f.early);
    if (job->executor.in_order)
        printf("%ssends of a rank leave in order (--sends)\n", indent);
    if (f.iterations)
        printf("                 %" PRIu64 " iteration%s of %s (mean)\n", f.iterations, hx_plural(f.iterations),
               hx_value_print_seconds(time, f.iteration_seconds));
    double all = f.seconds > 0 ? f.seconds / 100 : 1;
    printf("                 a rank's time: computing %.1f %%, exposed communication %.1f %%, idle %.1f %%"
           " (mean)\n",
           f.computing.mean / all, f.exposed.mean / all, f.idle.mean / all);
    schedule_purposes_print(&job->executor, indent);
    schedule_work_print(job->schedule->head, f.done == f.ranks ? f.seconds : 0, indent);
    if (f.ideal.seconds > 0)
        printf("%sideal network %s, of it %s bubble (mean)\n", indent, hx_value_print_seconds(time, f.ideal.seconds),
               hx_value_print_seconds(bubble, bubble_of(&f)));
    schedule_notes_print(&job->notes, "  ", 15);
    critical_path_print(job);
}

void schedule_report_print(const struct schedule_plan *p)
{
    for (unsigned i = 0; i < p->jobs; i++)
        print_job(&p->job[i]);
}

/* ---- JSON ---- */

static json_t *blocked_json(const struct schedule_job *job)
{
    json_t *list = json_array();
    for (uint32_t rank = 0; rank < schedule_ranks(job->schedule); rank++) {
        const struct executor_result *r = &job->executor.result[rank];
        if (r->done || !r->blocked_count)
            continue;
        const struct schedule_operation *o = schedule_at(job->schedule, rank, r->blocked);
        json_array_append_new(list, json_pack("{s:I, s:I, s:s, s:o, s:I}", "rank", (json_int_t)rank, "operation",
                                              (json_int_t)r->blocked, "kind", schedule_kind_names[o->kind], "name",
                                              hx_json_text(schedule_name(job->schedule, o)), "waiting",
                                              (json_int_t)r->blocked_count));
    }
    return list;
}

static json_t *job_json(const struct schedule_job *job)
{
    const struct figures f = figures_of(job);
    json_t *o = json_pack(
        "{s:o, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:f, s:o, s:o, s:o, s:o, s:o}", "file",
        hx_json_text(job->path), "job", (int)job->tag, "ranks", (json_int_t)f.ranks, "ranks_done", (json_int_t)f.done,
        "operations", (json_int_t)f.operations, "messages", (json_int_t)f.messages, "bytes", (json_int_t)f.bytes,
        "early_messages", (json_int_t)f.early, "seconds", f.seconds, "iterations", (json_int_t)f.iterations,
        "iteration_seconds", f.iteration_seconds, "computing_seconds", schedule_spread_json(&f.computing),
        "exposed_seconds", schedule_spread_json(&f.exposed), "idle_seconds", schedule_spread_json(&f.idle),
        "critical_path", critical_path_json(job), "blocked", blocked_json(job));
    (void)json_object_set_new(o, "purposes", schedule_purposes_json(&job->executor));
    (void)json_object_set_new(
        o, "sends", json_string(hx_sends_names[job->executor.in_order ? HX_SENDS_IN_ORDER : HX_SENDS_SHARED]));
    schedule_notes_json(o, &job->notes);
    schedule_work_json(o, job->schedule->head);
    schedule_rates_json(o, job->schedule->head, f.done == f.ranks ? f.seconds : 0);
    (void)json_object_set_new(o, "ideal_seconds", f.ideal.seconds > 0 ? json_real(f.ideal.seconds) : json_null());
    (void)json_object_set_new(o, "bubble_seconds", f.ideal.seconds > 0 ? json_real(bubble_of(&f)) : json_null());
    return o;
}

json_t *schedule_report_json(const struct schedule_plan *p)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < p->jobs; i++)
        json_array_append_new(list, job_json(&p->job[i]));
    return list;
}
