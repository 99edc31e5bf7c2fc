/* mscclpp_order.c - the order of steps in an MSCCL++ plan (mscclpp_file.h). */
#include "schedule/mscclpp_file.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_arrival(struct mscclpp_file *f, uint32_t step, uint32_t message)
{
    f->arrival = hx_grow(f->arrival, f->arrivals, &f->arrivals_room, sizeof *f->arrival);
    f->arrival[f->arrivals++] = (struct mscclpp_arrival){step, message};
}

/* ---- events ---- */

static int compare(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

/* Events that belong together: signals and waits of a channel, uses of a semaphore or barrier. */
static int by_group(const struct mscclpp_event *a, const struct mscclpp_event *b)
{
    int order = compare(a->kind / 2, b->kind / 2);
    order = order ? order : compare(a->from, b->from);
    order = order ? order : compare(a->to, b->to);
    order = order ? order : compare(a->channel_type, b->channel_type);
    return order ? order : compare(a->id, b->id);
}

static int by_group_and_kind(const void *a, const void *b)
{
    const struct mscclpp_event *x = a;
    const struct mscclpp_event *y = b;
    int order = by_group(x, y);
    order = order ? order : compare(x->kind, y->kind);
    order = order ? order : compare(x->step, y->step);
    return order ? order : compare(x->message, y->message);
}

/* Events of one group and kind. */
struct events {
    const struct mscclpp_event *at;
    size_t count;
};

static const char *step_text(const struct mscclpp_file *f, const struct mscclpp_event *e, char *text)
{
    return msccl_step_text(&f->plan, e->step, text);
}

/* Only one thread block may do what happens in an order. */
static bool check_one_block(const struct mscclpp_file *f, struct events e, struct hx_problem *problem)
{
    char first[MSCCL_STEP_TEXT];
    char second[MSCCL_STEP_TEXT];
    for (size_t i = 1; i < e.count; i++) {
        if (e.at[i].block != e.at[0].block)
            return hx_fail(problem, HX_EXIT_CONFIG, f->plan.path,
                           "%s (%s) and %s (%s) use one channel or semaphore, and nothing orders them",
                           step_text(f, &e.at[0], first), f->name[e.at[0].step], step_text(f, &e.at[i], second),
                           f->name[e.at[i].step]);
    }
    return true;
}

static bool fail_unsignalled(const struct mscclpp_file *f, const struct mscclpp_event *e, struct hx_problem *problem)
{
    char text[MSCCL_STEP_TEXT];
    if (e->kind == MSCCLPP_ACQUIRE)
        return hx_fail(problem, HX_EXIT_CONFIG, f->plan.path,
                       "%s waits for ever: semaphore %" PRIu32 " is not released so often", step_text(f, e, text),
                       e->id);
    return hx_fail(problem, HX_EXIT_CONFIG, f->plan.path, "%s waits for ever: gpu %" PRIu32 " does not signal so often",
                   step_text(f, e, text), e->from);
}

/* A wait goes on when the signal has come, and all puts that its thread block made to this gpu since the last
 * signal. */
static void follow_signal(struct mscclpp_file *f, const struct mscclpp_event *wait, const struct mscclpp_event *signal,
                          uint32_t first_message)
{
    msccl_add_wait(&f->plan, wait->step, signal->step);
    for (uint32_t i = first_message; i <= signal->message; i++) {
        const struct mscclpp_message *m = &f->message[i];
        if (!m->read && m->to == wait->to && (m->parts || i == signal->message))
            add_arrival(f, wait->step, i);
    }
}

static bool match_signals(struct mscclpp_file *f, struct events signals, struct events waits,
                          struct hx_problem *problem)
{
    if (!check_one_block(f, signals, problem) || !check_one_block(f, waits, problem))
        return false;
    if (waits.count > signals.count)
        return fail_unsignalled(f, &waits.at[signals.count], problem);
    for (size_t i = 0; i < waits.count; i++) {
        uint32_t first = i ? signals.at[i - 1].message + 1 : f->first_message[f->plan.block[signals.at[0].block].first];
        follow_signal(f, &waits.at[i], &signals.at[i], first);
    }
    return true;
}

static bool match_semaphore(struct mscclpp_file *f, struct events releases, struct events acquires,
                            struct hx_problem *problem)
{
    if (!check_one_block(f, releases, problem) || !check_one_block(f, acquires, problem))
        return false;
    if (acquires.count == 0)
        return true;
    size_t initial = f->initial[acquires.at[0].from][acquires.at[0].id + 1];
    for (size_t i = initial; i < acquires.count; i++) {
        if (i - initial >= releases.count)
            return fail_unsignalled(f, &acquires.at[i], problem);
        msccl_add_wait(&f->plan, acquires.at[i].step, releases.at[i - initial].step);
    }
    return true;
}

/* The n-th use of a barrier by each of its thread blocks: all arrive before one leaves, the others leave behind it. */
static bool match_barrier(struct mscclpp_file *f, struct events arrivals, struct events leaves,
                          struct hx_problem *problem)
{
    const struct mscclpp_event *e = arrivals.at;
    size_t times = 0;
    size_t blocks = 1;
    while (times < arrivals.count && e[times].block == e[0].block)
        times++;
    for (size_t i = 1; i < arrivals.count; i++)
        blocks += e[i].block != e[i - 1].block;
    for (size_t i = 0; i < arrivals.count; i++) {
        /* Sorted by step, so by block. */
        bool regular = times * blocks == arrivals.count && e[i].block == e[i - i % times].block;
        if (!regular || e[i].number != blocks)
            return hx_fail(problem, HX_EXIT_CONFIG, f->plan.path,
                           "gpu %" PRIu32 ": barrier %" PRIu32 " is for %" PRIu32
                           " thread blocks, each as often; %zu use it %zu times in all",
                           e[0].from, e[0].id, e[i].number, blocks, arrivals.count);
    }
    for (size_t i = 0; i < arrivals.count; i++) {
        uint32_t hub = leaves.at[i % times].step;
        msccl_add_wait(&f->plan, hub, arrivals.at[i].step);
        if (i >= times)
            msccl_add_wait(&f->plan, leaves.at[i].step, hub);
    }
    return true;
}

static bool match_group(struct mscclpp_file *f, const struct mscclpp_event *e, size_t count, struct hx_problem *problem)
{
    struct events first = {.at = e};
    while (first.count < count && e[first.count].kind % 2 == 0)
        first.count++;
    const struct events second = {.at = e + first.count, .count = count - first.count};
    if (e->kind == MSCCLPP_SIGNAL || e->kind == MSCCLPP_WAIT)
        return match_signals(f, first, second, problem);
    if (e->kind == MSCCLPP_RELEASE || e->kind == MSCCLPP_ACQUIRE)
        return match_semaphore(f, first, second, problem);
    return match_barrier(f, first, second, problem);
}

static bool match_events(struct mscclpp_file *f, struct hx_problem *problem)
{
    if (f->events)
        qsort(f->event, f->events, sizeof *f->event, by_group_and_kind);
    for (size_t i = 0; i < f->events;) {
        size_t count = 1;
        while (i + count < f->events && by_group(&f->event[i], &f->event[i + count]) == 0)
            count++;
        if (!match_group(f, &f->event[i], count, problem))
            return false;
        i += count;
    }
    return true;
}

/* ---- packets ---- */

static bool fail_packets(const struct mscclpp_file *f, uint32_t step, const char *what, uint32_t other,
                         struct hx_problem *problem)
{
    char first[MSCCL_STEP_TEXT];
    char second[MSCCL_STEP_TEXT];
    return hx_fail(problem, HX_EXIT_CONFIG, f->plan.path, "%s (%s) %s%s", msccl_step_text(&f->plan, step, first),
                   f->name[step], what, other == UINT32_MAX ? "" : msccl_step_text(&f->plan, other, second));
}

/* Packets carry one flag in a run, so a reader cannot tell two writers apart. */
static bool find_writers(const struct mscclpp_file *f, uint32_t *writer, struct hx_problem *problem)
{
    for (size_t i = 0; i < f->writes; i++) {
        const struct mscclpp_packets *w = &f->write[i];
        for (uint32_t j = 0; j < w->count; j++) {
            if (writer[w->cell + j])
                return fail_packets(f, w->step, "writes packets where there are those of ",
                                    f->write[writer[w->cell + j] - 1].step, problem);
            writer[w->cell + j] = (uint32_t)i + 1;
        }
    }
    return true;
}

static bool match_packets(struct mscclpp_file *f, struct hx_problem *problem)
{
    uint32_t *writer = hx_allocate(f->plan.buffer_cells, sizeof *writer);
    bool good = find_writers(f, writer, problem);
    for (size_t i = 0; good && i < f->reads; i++) {
        const struct mscclpp_packets *r = &f->read[i];
        for (uint32_t j = 0; good && j < r->count; j++) {
            uint32_t by = writer[r->cell + j];
            if (by == 0) {
                good = fail_packets(f, r->step, "waits for ever: there are no packets for it", UINT32_MAX, problem);
            } else if (j == 0 || by != writer[r->cell + j - 1]) {
                msccl_add_wait(&f->plan, r->step, f->write[by - 1].step);
                if (f->write[by - 1].message != UINT32_MAX)
                    add_arrival(f, r->step, f->write[by - 1].message);
            }
        }
    }
    free(writer);
    return good;
}

bool mscclpp_order(struct mscclpp_file *file, struct hx_problem *problem)
{
    return match_events(file, problem) && match_packets(file, problem);
}
