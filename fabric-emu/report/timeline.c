/* timeline.c - operations as Chrome trace events (timeline.h). */
#include "fabric-emu/report/timeline.h"
#include "base/json.h"
#include "base/version.h"
#include "fabric-emu/report/timeline_arrows.h"
#include "fabric-emu/report/timeline_tracks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PS_PER_NS = 1000 };

/* Kinds of threads of a rank, in the order of the picture. Streams come first, by number. */
enum { OF_STREAMS, OF_MESSAGES = SCHEDULE_STREAMS, OF_COLLECTIVES, OF_ITERATIONS, THREAD_KINDS };

struct writer {
    FILE *out;
    const struct schedule_job *job;
    unsigned process;          /* of the job, from 1 */
    uint64_t first_arrow;      /* identifiers of arrows differ between jobs */
    uint32_t *track;           /* [entries], by place */
    uint32_t *arrow;           /* [entries] (timeline_arrows.h) */
    struct timeline_tracks *l; /* [THREAD_KINDS] */
    bool one_thread;           /* the rank's operations have one */
    uint64_t threads;          /* of all ranks so far */
    uint64_t first_thread[THREAD_KINDS];
    bool any; /* an event was written */
};

/* ---- pieces of JSON ---- */

static void write_text(struct writer *w, const char *text)
{
    json_t *value = hx_json_text(text);
    (void)json_dumpf(value, w->out, JSON_ENCODE_ANY);
    json_decref(value);
}

/* Microseconds. Times are cut to nanoseconds before they are subtracted, so that events do not overlap. */
static void write_time(struct writer *w, const char *key, uint64_t ns)
{
    fprintf(w->out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static void begin_event(struct writer *w)
{
    fputs(w->any ? ",\n{\"name\":" : "\n{\"name\":", w->out);
    w->any = true;
}

/* ---- threads ---- */

static const struct schedule_operation *operation_of(const struct writer *w, uint32_t rank,
                                                     const struct executor_entry *e)
{
    return schedule_at(w->job->schedule, rank, e->operation);
}

static unsigned thread_kind(const struct writer *w, const struct schedule_operation *o)
{
    if (o->kind == SCHEDULE_REPEAT)
        return OF_ITERATIONS;
    if (w->one_thread)
        return OF_STREAMS;
    if (o->kind == SCHEDULE_COMPUTE)
        return OF_STREAMS + o->stream;
    return o->kind == SCHEDULE_COLLECTIVE ? OF_COLLECTIVES : OF_MESSAGES;
}

static uint64_t thread_of(const struct writer *w, uint32_t rank, const struct executor_entry *e)
{
    return w->first_thread[thread_kind(w, operation_of(w, rank, e))] + w->track[timeline_place(w->job, e)];
}

static bool fit_one_thread(const struct writer *w, uint32_t rank, const struct entries *k)
{
    uint64_t from = UINT64_MAX;
    for (uint64_t i = k->end; i > k->first; i--) {
        const struct executor_entry *e = entries_at(k, i - 1);
        if (operation_of(w, rank, e)->kind == SCHEDULE_REPEAT)
            continue;
        if (e->end > from)
            return false;
        from = e->begin;
    }
    return true;
}

static void name_thread(struct writer *w, uint32_t rank, unsigned kind, uint32_t track)
{
    char name[80];
    int used = snprintf(name, sizeof name, "rank %" PRIu32, rank);
    if (kind == OF_ITERATIONS)
        used += snprintf(name + used, sizeof name - (size_t)used, " iterations");
    else if (kind == OF_COLLECTIVES)
        used += snprintf(name + used, sizeof name - (size_t)used, " collectives");
    else if (kind == OF_MESSAGES)
        used += snprintf(name + used, sizeof name - (size_t)used, " messages");
    else if (!w->one_thread)
        used += snprintf(name + used, sizeof name - (size_t)used, " stream %u", kind - OF_STREAMS);
    if (track)
        (void)snprintf(name + used, sizeof name - (size_t)used, ", %" PRIu32, track + 1);
    uint64_t thread = w->first_thread[kind] + track;
    begin_event(w);
    fprintf(w->out, "\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%" PRIu64 ",\"args\":{\"name\":\"%s\"}}",
            w->process, thread, name);
    begin_event(w);
    fprintf(w->out,
            "\"thread_sort_index\",\"ph\":\"M\",\"pid\":%u,\"tid\":%" PRIu64 ",\"args\":{\"sort_index\":%" PRIu64 "}}",
            w->process, thread, thread);
}

/* Gives each entry of a rank its track, and each track a thread. */
static void make_threads(struct writer *w, uint32_t rank, const struct entries *k)
{
    w->one_thread = fit_one_thread(w, rank, k);
    for (unsigned kind = 0; kind < THREAD_KINDS; kind++)
        timeline_tracks_clear(&w->l[kind]);
    for (uint64_t i = k->end; i > k->first; i--) {
        const struct executor_entry *e = entries_at(k, i - 1);
        unsigned kind = thread_kind(w, operation_of(w, rank, e));
        w->track[timeline_place(w->job, e)] = timeline_tracks_take(&w->l[kind], e->begin, e->end);
    }
    for (unsigned kind = 0; kind < THREAD_KINDS; kind++) {
        w->first_thread[kind] = w->threads + 1; /* 0 is another program's idle thread in viewers */
        w->threads += w->l[kind].tracks;
        for (uint32_t track = 0; track < w->l[kind].tracks; track++)
            name_thread(w, rank, kind, track);
    }
}

/* ---- operations ---- */

static void write_number(struct writer *w, const char *key, uint32_t number)
{
    if (number == SCHEDULE_ANY)
        fprintf(w->out, ",\"%s\":\"any\"", key);
    else
        fprintf(w->out, ",\"%s\":%" PRIu32, key, number);
}

static void write_arguments(struct writer *w, uint32_t rank, const struct executor_entry *e)
{
    const struct schedule_operation *o = operation_of(w, rank, e);
    bool source_known = o->kind == SCHEDULE_RECEIVE && w->arrow[timeline_place(w->job, e)];
    fprintf(w->out, ",\"args\":{\"rank\":%" PRIu32 ",\"operation\":%" PRIu32, rank, e->operation);
    if (o->purpose != SCHEDULE_NO_PURPOSE) {
        fputs(",\"purpose\":", w->out);
        write_text(w, schedule_purpose(w->job->schedule, o));
    }
    switch (o->kind) {
    case SCHEDULE_COMPUTE:
        fprintf(w->out, ",\"stream\":%u", o->stream);
        break;
    case SCHEDULE_REPEAT:
        fprintf(w->out, ",\"iteration\":%" PRIu32, e->iteration);
        break;
    case SCHEDULE_COLLECTIVE:
        fprintf(w->out, ",\"bytes\":%" PRIu64 ",\"group\":%" PRIu32, o->amount, o->peer);
        break;
    default:
        fprintf(w->out, ",\"bytes\":%" PRIu64, o->amount);
        write_number(w, "peer", source_known ? e->source : o->peer);
        write_number(w, "tag", o->tag);
    }
    fputs("}}", w->out);
}

static void write_arrow(struct writer *w, char phase, uint64_t place, uint64_t thread, uint64_t ns)
{
    begin_event(w);
    fprintf(w->out, "\"message\",\"cat\":\"message\",\"ph\":\"%c\",\"id\":%" PRIu64, phase, w->first_arrow + place);
    if (phase == 'f')
        fputs(",\"bp\":\"e\"", w->out); /* it ends in the event that encloses the time */
    write_time(w, "ts", ns);
    fprintf(w->out, ",\"pid\":%u,\"tid\":%" PRIu64 "}", w->process, thread);
}

static void write_operation(struct writer *w, uint32_t rank, const struct executor_entry *e)
{
    const struct schedule_operation *o = operation_of(w, rank, e);
    const char *kind =
        o->kind == SCHEDULE_COLLECTIVE ? hx_collective_kind_names[o->collective] : schedule_kind_names[o->kind];
    const char *name = schedule_name(w->job->schedule, o);
    uint64_t thread = thread_of(w, rank, e);
    uint64_t begin = e->begin / PS_PER_NS;
    uint64_t end = e->end / PS_PER_NS;
    uint32_t place = timeline_place(w->job, e);
    begin_event(w);
    write_text(w, name[0] ? name : kind);
    fprintf(w->out, ",\"cat\":\"%s\",\"ph\":\"X\"", kind);
    write_time(w, "ts", begin);
    write_time(w, "dur", end - begin);
    fprintf(w->out, ",\"pid\":%u,\"tid\":%" PRIu64, w->process, thread);
    write_arguments(w, rank, e);
    if (w->arrow[place] && o->kind == SCHEDULE_SEND)
        write_arrow(w, 's', place, thread, begin);
    if (w->arrow[place] && o->kind == SCHEDULE_RECEIVE)
        write_arrow(w, 'f', w->arrow[place] - 1, thread, end);
}

/* ---- jobs ---- */

static void name_process(struct writer *w)
{
    char name[320];
    int used = w->job->tag ? snprintf(name, sizeof name, "job %u: ", w->job->tag) : 0;
    (void)snprintf(name + used, sizeof name - (size_t)used, "%s", w->job->path);
    begin_event(w);
    fprintf(w->out, "\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":", w->process);
    write_text(w, name);
    fputs("}}", w->out);
}

static void write_job(struct writer *w)
{
    uint32_t ranks = schedule_ranks(w->job->schedule);
    w->track = hx_allocate(w->job->executor.first_entry[ranks] + 1, sizeof *w->track);
    w->arrow = timeline_arrows(w->job);
    w->threads = 0;
    name_process(w);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct entries k = entries_of(w->job, rank);
        make_threads(w, rank, &k);
        for (uint64_t i = k.first; i < k.end; i++)
            write_operation(w, rank, entries_at(&k, i));
    }
    HX_FREE(w->track, w->arrow);
    w->first_arrow += w->job->executor.first_entry[ranks];
}

struct timeline_counts timeline_count(const struct schedule_plan *p)
{
    struct timeline_counts c = {0, 0};
    for (unsigned i = 0; i < p->jobs; i++) {
        for (uint32_t rank = 0; rank < schedule_ranks(p->job[i].schedule); rank++) {
            const struct entries k = entries_of(&p->job[i], rank);
            c.ended += k.end;
            c.kept += k.end - k.first;
        }
    }
    return c;
}

void timeline_events(const struct schedule_plan *p, FILE *out)
{
    const struct timeline_counts c = timeline_count(p);
    struct writer w = {.out = out, .l = hx_allocate(THREAD_KINDS, sizeof *w.l)};
    fprintf(out,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"hxmesh %s\",\"events\":%" PRIu64
            ",\"events_left_out\":%" PRIu64 "},\"traceEvents\":[",
            HXMESH_VERSION, c.ended, c.ended - c.kept);
    for (unsigned i = 0; i < p->jobs; i++) {
        w.job = &p->job[i];
        w.process = i + 1;
        write_job(&w);
    }
    fputs("\n]}\n", out);
    for (unsigned kind = 0; kind < THREAD_KINDS; kind++)
        timeline_tracks_free(&w.l[kind]);
    free(w.l);
}

void timeline_write(const struct schedule_plan *p, const char *path)
{
    const char *dot = strrchr(path, '.');
    FILE *out = hx_output_open(path);
    if (dot && strcmp(dot, ".svg") == 0)
        timeline_picture(p, out);
    else
        timeline_events(p, out);
    hx_output_close(out, path);
}
