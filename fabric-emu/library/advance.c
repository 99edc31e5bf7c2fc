/* advance.c - runs a fabric of the library to its next event (library.h). */
#include "base/clock.h"
#include "library.h"

#include <inttypes.h>

#define NEVER UINT64_MAX

/* ---- what happens at hosts ---- */

void library_happened(void *of, const struct posted_event *e)
{
    struct hx_sim *f = of;
    f->happened = hx_grow(f->happened, f->happened_used, &f->happened_room, sizeof *f->happened);
    f->happened[f->happened_used++] = *e;
    f->fresh++;
    f->worker->v.paused = true;
}

static void add_waiting(struct hx_sim *f, struct virtual_sim_node *e, uint64_t now, size_t events)
{
    struct waiting w = {.key = {.time = now, .turn = e->endpoint->rank},
                        .node = e,
                        .first = f->happened_used - events,
                        .events = events};
    time_heap_push(&f->waiting, &w.key);
}

void library_pause(void *of, struct virtual_sim_node *e, uint64_t now)
{
    struct hx_sim *f = of;
    add_waiting(f, e, now, f->fresh);
    f->fresh = 0;
}

void library_wake(struct hx_sim *f, uint32_t host)
{
    struct driver *d = f->driver[host];
    struct virtual_sim_node *e = d->hal.sim_node;
    const uint64_t at = f->done[e->index] > f->now ? f->done[e->index] : f->now;
    if (f->in_window && !e->busy && at < f->reached) {
        e->busy = true;
        add_waiting(f, e, at, 0);
    }
    driver_wake(d, at);
}

void library_limit(struct hx_sim *f, uint32_t host)
{
    f->limit[f->driver[host]->hal.sim_node->index] = time_heap_next(&f->of_host[host]);
}

/* The host of the last event goes on. */
static void go_on(struct hx_sim *f)
{
    struct virtual_sim_node *e = f->current.node;
    f->current.node = NULL;
    worker_visit_watched(f->worker, e, f->reached);
    if (!f->waiting.count)
        f->happened_used = 0;
}

/* ---- time ---- */

/* VIRTUAL_NO_WINDOW: none. */
static uint64_t next_window(const struct hx_sim *f)
{
    if (f->posted)
        return virtual_wheel_next(&f->worker->v.wheel);
    return f->over ? VIRTUAL_NO_WINDOW : f->windows.window;
}

/* Until then all has been done, but for hosts that wait. Even if no message is in flight, what is left to do at hosts
 * comes before a later time: they would begin there what is posted then. */
static uint64_t quiet_until(const struct hx_sim *f)
{
    if (f->in_window)
        return f->reached;
    const uint64_t window = next_window(f);
    return window == VIRTUAL_NO_WINDOW ? NEVER : window * f->worker->v.wheel.width;
}

/* Whether no message is in flight, and none waits. */
static bool is_idle(const struct hx_sim *f)
{
    return f->posted ? f->worker->active == 0 : f->over && !f->in_window;
}

static void visit_until(struct hx_sim *f, uint64_t time)
{
    const uint64_t end = (f->windows.window + 1) * f->worker->v.wheel.width;
    f->reached = time < end ? time : end;
    worker_window_visit(f->worker, &f->windows, f->reached);
}

static void end_window(struct hx_sim *f)
{
    f->in_window = false;
    f->over = !worker_window_end(f->worker, &f->windows);
    if (f->worker->area->stuck)
        hx_die(HX_EXIT_FAILED, f->setup.o.spec.name,
               "packets wait for each other, and no one moves (hxmesh run prints the cycle)");
}

static void begin_window(struct hx_sim *f)
{
    const uint64_t window = next_window(f);
    if (f->posted && (f->over || window != f->windows.window))
        worker_windows_go(f->worker, &f->windows, window);
    f->over = false;
    worker_window_begin(f->worker, &f->windows);
    f->in_window = true;
    f->reached = window * f->worker->v.wheel.width;
}

/* Does what comes next, up to a time after quiet_until(). */
static void advance(struct hx_sim *f, uint64_t time)
{
    if (!f->in_window)
        begin_window(f);
    else if (f->reached < (f->windows.window + 1) * f->worker->v.wheel.width)
        visit_until(f, time);
    else
        end_window(f);
}

/* ---- events ---- */

static void take_timer(struct hx_sim *f, struct hx_sim_event *event)
{
    struct timer t = {.cookie = 0};
    struct time_key own;
    (void)time_heap_pop(&f->timers, &t.key);
    f->now = t.key.time;
    if (t.host != HX_SIM_NO_HOST) {
        (void)time_heap_pop(&f->of_host[t.host], &own);
        library_limit(f, t.host);
    }
    *event = (struct hx_sim_event){.type = t.fault ? HX_SIM_FAULT : HX_SIM_TIMER,
                                   .host = t.host,
                                   .time = f->now,
                                   .cookie = t.cookie,
                                   .from = HX_SIM_NO_HOST,
                                   .to = HX_SIM_NO_HOST};
}

static void take_happened(struct hx_sim *f, struct hx_sim_event *event)
{
    static const enum hx_sim_type types[] = {[POSTED_ARRIVED] = HX_SIM_DELIVERED,
                                             [POSTED_ACKNOWLEDGED] = HX_SIM_ACKNOWLEDGED,
                                             [POSTED_FAILED] = HX_SIM_FAILED,
                                             [POSTED_ENDED] = HX_SIM_ENDED};
    const struct posted_event *e = &f->happened[f->current.first++];
    const struct posted_message *m = &e->message;
    f->current.events--;
    f->now = e->now;
    *event = (struct hx_sim_event){.type = types[e->what],
                                   .host = e->host,
                                   .time = e->now,
                                   .cookie = m->cookie,
                                   .from = HX_SIM_NO_HOST,
                                   .to = HX_SIM_NO_HOST};
    if (e->of_collective)
        return;
    event->from = m->from;
    event->to = m->to;
    event->tag = m->tag;
    event->bytes = m->bytes;
}

struct asked {
    uint64_t until;
    uint64_t deadline_ns; /* real time; 0: none */
    struct hx_sim_event *event;
};

static int be_idle(struct hx_sim *f)
{
    const uint64_t last = f->posted ? 0 : f->worker->area->last_delivery;
    f->now = last > f->now ? last : f->now;
    return HX_SIM_IDLE;
}

static int run_to_next(struct hx_sim *f, void *of)
{
    const struct asked *a = of;
    for (;;) {
        if (f->current.node && f->current.events) {
            take_happened(f, a->event);
            return HX_SIM_EVENT;
        }
        if (f->current.node) {
            go_on(f);
            continue;
        }
        const uint64_t host = time_heap_next(&f->waiting);
        const uint64_t timer = time_heap_next(&f->timers);
        const uint64_t quiet = quiet_until(f);
        if (a->until != NEVER && a->until <= host && a->until <= timer && a->until <= quiet) {
            f->now = a->until;
            return HX_SIM_UNTIL;
        }
        if (timer != NEVER && timer <= host && timer <= quiet) {
            take_timer(f, a->event);
            return HX_SIM_EVENT;
        }
        if (host == NEVER && timer == NEVER && a->until == NEVER && (is_idle(f) || quiet == NEVER))
            return be_idle(f);
        if (a->deadline_ns && !f->in_window && hx_monotonic_ns() >= a->deadline_ns)
            return HX_SIM_LATER;
        if (!time_heap_pop(&f->waiting, &f->current.key))
            advance(f, timer < a->until ? timer : a->until);
    }
}

static int next(struct hx_sim *f, struct asked *a)
{
    if (a->until < f->now)
        return library_refuse(f, "until %" PRIu64 " ps: it is %" PRIu64 " ps already", a->until, f->now);
    if (f->ended)
        return HX_SIM_IDLE;
    return library_call(f, run_to_next, a);
}

int hx_sim_next(struct hx_sim *f, uint64_t until, struct hx_sim_event *event)
{
    struct asked a = {.until = until, .event = event};
    return next(f, &a);
}

int hx_sim_next_within(struct hx_sim *f, uint64_t until, unsigned ms, struct hx_sim_event *event)
{
    struct asked a = {.until = until, .deadline_ns = hx_monotonic_ns() + ms * UINT64_C(1000000), .event = event};
    return next(f, &a);
}

uint64_t hx_sim_now(const struct hx_sim *f)
{
    return f->now;
}

uint64_t hx_sim_window(const struct hx_sim *f)
{
    return f->worker->v.wheel.width;
}
