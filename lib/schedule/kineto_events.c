/* kineto_events.c - what counts of the events of a Kineto trace, and when each was issued (kineto.h).
 *
 *     "cat"                                "name"                     becomes
 *     cpu_op                               NAMESPACE::OPERATOR        computing of the CPU, but for c10d and wrappers
 *     cpu_op                               c10d::COLLECTIVE_          call that hands a collective to gloo
 *     any                                  gloo:COLLECTIVE            communication of the CPU
 *     kernel                               nccl...                    communication of the GPU
 *     kernel, gpu_memcpy, gpu_memset                                  computing of the GPU
 *     cuda_runtime, cuda_driver                                       launch, if it has a correlation
 *     user_annotation                      nccl:COLLECTIVE            sizes of the kernels that are launched within
 *     any                                  Optimizer.step...          the optimizer begins
 *     any                                  ProfilerStep#N             an iteration
 *
 * Only events "ph": "X" count: they have a begin and a duration, "ts" and "dur", in us. */
#include "schedule/kineto.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRACKS = 4096, NS_PER_US = 1000 };
#define MOST_NS ((double)SCHEDULE_MOST_TIME / 1000)

/* ---- problems ---- */

bool kineto_fail(const struct kineto_file *f, uint64_t place, const json_t *event, const char *format, ...)
{
    char what[400];
    const char *name = json_string_value(json_object_get(event, "name"));
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return hx_fail(f->problem, HX_EXIT_CONFIG, f->path, "byte %llu: '%.60s': %s", (unsigned long long)place,
                   name ? name : "", what);
}

/* ---- values of an event ---- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Reads "ts" and "dur". */
static bool take_times(struct kineto_file *f, const json_t *event, int64_t *begin, int64_t *end)
{
    const json_t *ts = json_object_get(event, "ts");
    double dur = json_number_value(json_object_get(event, "dur"));
    if (!json_is_number(ts))
        return kineto_fail(f, f->place, event, "ts: expected a time in us");
    if (!f->has_first)
        f->first = json_number_value(ts);
    f->has_first = true;
    double from = (json_number_value(ts) - f->first) * NS_PER_US;
    if (fabs(from) > MOST_NS || !(dur >= 0) || dur * NS_PER_US > MOST_NS)
        return kineto_fail(f, f->place, event, "ts, dur: expected times within 20 hours of the first event");
    *begin = llround(from);
    *end = *begin + llround(dur * NS_PER_US);
    return true;
}

/* Finds the number of an event's thread or stream. */
static bool take_track(struct kineto_file *f, const json_t *event, uint32_t *track)
{
    json_t *pid = json_object_get(event, "pid");
    json_t *tid = json_object_get(event, "tid");
    for (size_t i = f->tracks; i-- > 0;) {
        *track = (uint32_t)i;
        if (json_equal(f->track[i].tid, tid) && json_equal(f->track[i].pid, pid))
            return true;
    }
    if (!pid || !tid || f->tracks == MOST_TRACKS)
        return kineto_fail(f, f->place, event, "pid, tid: expected one of at most %d threads", MOST_TRACKS);
    f->track = hx_grow(f->track, f->tracks, &f->tracks_room, sizeof *f->track);
    *track = (uint32_t)f->tracks;
    f->track[f->tracks++] = (struct kineto_track){json_incref(pid), json_incref(tid)};
    return true;
}

/* 0: there is none. */
static uint64_t correlation_of(const json_t *event)
{
    return (uint64_t)json_integer_value(json_object_get(json_object_get(event, "args"), "correlation"));
}

/* ---- events ---- */

#define ADD(list, ...)                                                                                                 \
    do {                                                                                                               \
        (list)->at = hx_grow((list)->at, (list)->count, &(list)->room, sizeof *(list)->at);                            \
        (list)->at[(list)->count++] = __VA_ARGS__;                                                                     \
    } while (0)

static bool add_work(struct kineto_file *f, const json_t *event, enum kineto_side side)
{
    struct kineto_work w = {.issued = KINETO_NEVER, .correlation = correlation_of(event)};
    if (!take_times(f, event, &w.begin, &w.end))
        return false;
    if (w.end > w.begin)
        ADD(&f->work[side], w);
    return true;
}

static bool add_communication(struct kineto_file *f, json_t *event, enum kineto_side side)
{
    struct kineto_communication t = {.issued = KINETO_NEVER, .correlation = correlation_of(event), .place = f->place};
    if (!take_times(f, event, &t.begin, &t.end) || !take_track(f, event, &t.track))
        return false;
    t.event = t.shapes = json_incref(event);
    ADD(&f->communication[side], t);
    return true;
}

static bool add_launch(struct kineto_file *f, const json_t *event)
{
    struct kineto_launch l = {.correlation = correlation_of(event)};
    int64_t end;
    if (!l.correlation)
        return true;
    if (!take_times(f, event, &l.at, &end) || !take_track(f, event, &l.track))
        return false;
    ADD(&f->launch, l);
    return true;
}

static bool add_call(struct kineto_file *f, json_t *event, struct kineto_list_call *list)
{
    struct kineto_call c = {.kind = (int)kineto_kind_of(json_string_value(json_object_get(event, "name")))};
    if (!take_times(f, event, &c.begin, &c.end) || !take_track(f, event, &c.track))
        return false;
    if (list == &f->nccl)
        c.event = json_incref(event);
    ADD(list, c);
    return true;
}

static bool add_optimizer(struct kineto_file *f, const json_t *event)
{
    int64_t begin = 0;
    int64_t end;
    if (!take_times(f, event, &begin, &end))
        return false;
    ADD(&f->optimizer, begin);
    return true;
}

static bool take_kernel(struct kineto_file *f, json_t *event, const char *name)
{
    return strcasestr(name, "nccl") ? add_communication(f, event, KINETO_GPU) : add_work(f, event, KINETO_GPU);
}

/* An operator computes, but for those that only surround others or communicate. */
static bool take_operator(struct kineto_file *f, json_t *event, const char *name)
{
    static const char *const others[] = {"autograd", "torch", "_c10d", "c10d_functional"};
    if (begins(name, "c10d::"))
        return add_call(f, event, &f->c10d);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (begins(name, others[i]))
            return true;
    }
    return !strstr(name, "::") || add_work(f, event, KINETO_CPU);
}

bool kineto_take_event(struct kineto_file *f, json_t *event)
{
    const char *phase = json_string_value(json_object_get(event, "ph"));
    const char *name = json_string_value(json_object_get(event, "name"));
    const char *category = json_string_value(json_object_get(event, "cat"));
    if (!phase || strcmp(phase, "X") != 0 || !name || !category)
        return true;
    if (strcasecmp(category, "kernel") == 0)
        return take_kernel(f, event, name);
    if (strcasecmp(category, "gpu_memcpy") == 0 || strcasecmp(category, "gpu_memset") == 0)
        return add_work(f, event, KINETO_GPU);
    if (begins(category, "gpu_"))
        return true;
    if (strcasecmp(category, "cuda_runtime") == 0 || strcasecmp(category, "cuda_driver") == 0)
        return add_launch(f, event);
    if (begins(name, "gloo:"))
        return add_communication(f, event, KINETO_CPU);
    if (begins(name, "nccl:"))
        return add_call(f, event, &f->nccl);
    if (begins(name, "Optimizer.step"))
        return add_optimizer(f, event);
    f->iterations += begins(name, "ProfilerStep#");
    return strcasecmp(category, "cpu_op") != 0 || take_operator(f, event, name);
}

/* ---- when it was issued ---- */

#define SORT(list, order)                                                                                              \
    do {                                                                                                               \
        if ((list)->count)                                                                                             \
            qsort((list)->at, (list)->count, sizeof *(list)->at, order);                                               \
    } while (0)

static int by_correlation(const void *a, const void *b)
{
    const struct kineto_launch *x = a;
    const struct kineto_launch *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static const struct kineto_launch *launch_of(const struct kineto_file *f, uint64_t correlation)
{
    const struct kineto_launch key = {.correlation = correlation};
    if (!correlation || !f->launch.count)
        return NULL;
    return bsearch(&key, f->launch.at, f->launch.count, sizeof key, by_correlation);
}

static int by_begin_of_call(const void *a, const void *b)
{
    const struct kineto_call *x = a;
    const struct kineto_call *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The call "nccl:..." that surrounds a launch; NULL: none does. */
static const struct kineto_call *call_around(const struct kineto_file *f, const struct kineto_launch *launch)
{
    size_t low = 0;
    size_t high = f->nccl.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct kineto_call *c = &f->nccl.at[middle];
        if (c->track < launch->track || (c->track == launch->track && c->begin <= launch->at))
            low = middle + 1;
        else
            high = middle;
    }
    const struct kineto_call *c = low ? &f->nccl.at[low - 1] : NULL;
    return c && c->track == launch->track && launch->at <= c->end ? c : NULL;
}

static int by_begin_of_communication(const void *a, const void *b)
{
    const struct kineto_communication *x = a;
    const struct kineto_communication *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_issue(const void *a, const void *b)
{
    const struct kineto_work *x = a;
    const struct kineto_work *y = b;
    return (x->issued > y->issued) - (x->issued < y->issued);
}

/* The last end of the kernels that were launched before `issued`. Work is sorted, and calls come in this order. */
static int64_t ready(const struct kineto_list_work *work, size_t *next, int64_t *latest, int64_t issued)
{
    while (*next < work->count && work->at[*next].issued < issued) {
        if (work->at[*next].end > *latest)
            *latest = work->at[*next].end;
        ++*next;
    }
    return *latest;
}

static int by_issue_of_communication(const void *a, const void *b)
{
    const struct kineto_communication *x = a;
    const struct kineto_communication *y = b;
    return x->issued != y->issued ? (x->issued > y->issued) - (x->issued < y->issued) : by_begin_of_communication(a, b);
}

/* A communication of the GPU waits for the kernels that were launched before it: its stream waits for an event of the
 * stream of computing. */
static void settle_gpu(struct kineto_file *f)
{
    struct kineto_list_work *work = &f->work[KINETO_GPU];
    struct kineto_list_communication *communication = &f->communication[KINETO_GPU];
    size_t next = 0;
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < work->count; i++) {
        const struct kineto_launch *l = launch_of(f, work->at[i].correlation);
        work->at[i].issued = l ? l->at : work->at[i].begin;
    }
    for (size_t i = 0; i < communication->count; i++) {
        const struct kineto_launch *l = launch_of(f, communication->at[i].correlation);
        const struct kineto_call *c = l ? call_around(f, l) : NULL;
        communication->at[i].issued = l ? l->at : communication->at[i].begin;
        if (c && !json_object_get(json_object_get(communication->at[i].event, "args"), "Collective name"))
            communication->at[i].shapes = c->event;
    }
    SORT(work, by_issue);
    SORT(communication, by_issue_of_communication);
    for (size_t i = 0; i < communication->count; i++) {
        struct kineto_communication *t = &communication->at[i];
        int64_t at = ready(work, &next, &latest, t->issued);
        t->issued = t->issued < t->begin && at < t->begin ? at : t->begin; /* no launch: it was issued at its begin */
    }
}

/* The n-th call of a kind hands over the n-th collective of this kind, if there are as many. */
static void settle_cpu(struct kineto_file *f)
{
    struct kineto_list_communication *communication = &f->communication[KINETO_CPU];
    size_t calls[KINETO_NO_KIND + 1] = {0};
    size_t communications[KINETO_NO_KIND + 1] = {0};
    size_t next[KINETO_NO_KIND + 1] = {0};
    for (size_t i = 0; i < f->work[KINETO_CPU].count; i++)
        f->work[KINETO_CPU].at[i].issued = f->work[KINETO_CPU].at[i].begin;
    for (size_t i = 0; i < f->c10d.count; i++)
        calls[f->c10d.at[i].kind]++;
    for (size_t i = 0; i < communication->count; i++)
        communications[kineto_kind_of(json_string_value(json_object_get(communication->at[i].event, "name")))]++;
    for (size_t i = 0; i < communication->count; i++) {
        struct kineto_communication *t = &communication->at[i];
        enum kineto_kind kind = kineto_kind_of(json_string_value(json_object_get(t->event, "name")));
        t->issued = t->begin;
        if (calls[kind] != communications[kind])
            continue;
        while (f->c10d.at[next[kind]].kind != (int)kind)
            next[kind]++;
        int64_t call = f->c10d.at[next[kind]++].begin;
        t->issued = call < t->begin ? call : t->begin;
    }
}

static int by_begin_alone(const void *a, const void *b)
{
    const struct kineto_call *x = a;
    const struct kineto_call *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

bool kineto_settle(struct kineto_file *f)
{
    f->side = f->communication[KINETO_GPU].count || (f->work[KINETO_GPU].count && !f->communication[KINETO_CPU].count)
                  ? KINETO_GPU
                  : KINETO_CPU;
    if (f->ranks > 1 && f->nccl.count && !f->communication[KINETO_GPU].count)
        return hx_fail(f->problem, HX_EXIT_CONFIG, f->path,
                       "has calls of NCCL, but no kernels of it (record with ProfilerActivity.CUDA, too)");
    SORT(&f->launch, by_correlation);
    SORT(&f->nccl, by_begin_of_call);
    SORT(&f->c10d, by_begin_alone);
    SORT(&f->communication[KINETO_CPU], by_begin_of_communication);
    if (f->side == KINETO_GPU)
        settle_gpu(f);
    else
        settle_cpu(f);
    return true;
}

static void free_communications(struct kineto_list_communication *list)
{
    for (size_t i = 0; i < list->count; i++)
        json_decref(list->at[i].event);
    free(list->at);
}

void kineto_free(struct kineto_file *f)
{
    for (size_t i = 0; i < f->nccl.count; i++)
        json_decref(f->nccl.at[i].event);
    for (size_t i = 0; i < f->tracks; i++) {
        json_decref(f->track[i].pid);
        json_decref(f->track[i].tid);
    }
    free_communications(&f->communication[KINETO_CPU]);
    free_communications(&f->communication[KINETO_GPU]);
    HX_FREE(f->work[KINETO_CPU].at, f->work[KINETO_GPU].at, f->launch.at, f->nccl.at, f->c10d.at, f->optimizer.at,
            f->track);
    json_decref(f->distributed);
}
