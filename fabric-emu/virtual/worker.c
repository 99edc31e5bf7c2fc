/* worker.c - the loop over windows (worker.h).
 *
 * Within a window a worker visits each of its simulated nodes that has an event, by number. A window is as long as the
 * shortest link. Where links between workers are longer, a worker simulates several windows before it takes a turn:
 * packets to other workers belong to windows after those, so they are received at the turn. In the last window border
 * nodes, which have links to other workers, are visited first; then the worker publishes its turn. So a worker with a
 * long window does not stall the others for the rest of it.
 *
 * Time is cut into cells, as many windows as the longest link allows. A turn ends with its cell, and only at the end of
 * a cell workers decide whether to end. So the end of a run does not depend on how many windows a turn has. */
#include "worker.h"
#include "audit.h"
#include "base/error.h"
#include "base/processor.h"
#include "build.h"
#include "driver.h"
#include "fabric-emu/memory.h"
#include "faults.h"
#include "forward.h"
#include "mpirun.h"
#include "open_loop.h"
#include "parts.h"
#include "prefetch.h"
#include "publish.h"
#include "repeats.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    UPDATE_TURNS = 1 << 5, /* between updates of the counters */
    PROGRESS_NODES = 256   /* numbers of nodes from one call of the channel to the next, after publication */
};

#define NONE UINT32_MAX

/* The first member of a window's set at or after `from`, or NONE. */
static uint32_t next_of(const struct worker *w, const uint64_t *set, uint32_t from)
{
    for (uint32_t word = from / 64; word < w->v.wheel.words; word++) {
        uint64_t left = word == from / 64 ? set[word] & UINT64_MAX << from % 64 : set[word];
        if (left)
            return word * 64 + (unsigned)__builtin_ctzll(left);
    }
    return NONE;
}

/* ---- turns ---- */

static void publish_turn(struct worker *w, const struct virtual_turn *turn)
{
    virtual_channel_publish(w->v.channel, turn);
    w->published = true;
    w->v.sent_window = VIRTUAL_NO_WINDOW;
}

static struct virtual_turn own_turn(const struct worker *w, uint64_t next)
{
    return (struct virtual_turn){.next = next < w->v.sent_window ? next : w->v.sent_window,
                                 .active = w->active,
                                 .moved = w->v.moved,
                                 .show = w->shows,
                                 .stop = atomic_load_explicit(&w->m->control->stop, memory_order_relaxed)};
}

/* Members of a window's set that are not at the border. */
static unsigned count_inside(const struct worker *w, const uint64_t *set)
{
    uint32_t word = w->border / 64;
    unsigned inside = (unsigned)__builtin_popcountll(set[word] & UINT64_MAX << w->border % 64);
    while (++word < w->v.wheel.words)
        inside += (unsigned)__builtin_popcountll(set[word]);
    return inside;
}

/* Whether the rest of the window cannot change the decision to go on: a packet moved in it, and more accelerators are
 * active than the rest can end. */
static bool goes_on_anyway(const struct worker *w, const uint64_t *set)
{
    bool moved = w->v.moved >= w->v.wheel.current * w->v.wheel.width;
    return moved && w->active > count_inside(w, set);
}

/* After the border: all packets for other workers are sent. If the outcome is known, publishes the turn, so that the
 * others do not wait for the rest. It names the next window, which may turn out empty. */
static void publish_early(struct worker *w, const uint64_t *set)
{
    if (!goes_on_anyway(w, set))
        return;
    virtual_post_end(&w->v);
    const struct virtual_turn turn = own_turn(w, w->v.wheel.current + 1);
    publish_turn(w, &turn);
}

/* ---- a window ---- */

/* Before a visit to a node behind the border. */
static __attribute__((noinline)) void attend(struct worker *w, uint32_t node, const uint64_t *set)
{
    if (w->published)
        virtual_channel_progress(w->v.channel);
    else
        publish_early(w, set);
    w->attend_before = w->published ? node + PROGRESS_NODES : NONE;
}

void worker_visit_watched(struct worker *w, struct virtual_sim_node *e, uint64_t end)
{
    const uint64_t limit = w->pauses.limit[e->index];
    const uint64_t until = limit < end ? limit : end;
    const bool acts = virtual_event_queue_time(&e->event_queue) < until;
    const bool done = virtual_sim_node_visit(e, until);
    if (acts)
        w->pauses.reached[e->index] = w->v.now;
    w->v.paused = false;
    if (!done) {
        w->pauses.pause(w->pauses.of, e, w->v.now);
    } else if (virtual_event_queue_time(&e->event_queue) < end) {
        e->busy = true;
        w->pauses.pause(w->pauses.of, e, until);
    }
}

static inline void visit(struct worker *w, struct virtual_sim_node *e, const uint64_t *set, uint64_t end)
{
    if (e->index >= w->attend_before)
        attend(w, e->index, set);
    if (__builtin_expect(w->pauses.reached != NULL, 0))
        worker_visit_watched(w, e, end);
    else
        (void)virtual_sim_node_visit(e, end);
}

/* Without prefetch: the nodes are in the cache. */
static void visit_near(struct worker *w, const uint64_t *set, uint64_t end)
{
    for (uint32_t at = next_of(w, set, 0); at != NONE; at = next_of(w, set, at + 1))
        visit(w, w->sim_node[at], set, end);
}

/* Lists the nodes of a window in order, between as many empty visits as there are stages of the prefetch.
 * Returns the number of nodes. */
static uint32_t list_visits(const struct worker *w, const uint64_t *set)
{
    struct virtual_visit *to = w->visit + VIRTUAL_PREFETCH_STAGES;
    for (uint32_t word = 0; word < w->v.wheel.words; word++)
        for (uint64_t left = set[word]; left; left &= left - 1)
            *to++ = (struct virtual_visit){.node = w->sim_node[word * 64 + (unsigned)__builtin_ctzll(left)]};
    uint32_t nodes = (uint32_t)(to - w->visit) - VIRTUAL_PREFETCH_STAGES;
    for (unsigned stage = 0; stage < VIRTUAL_PREFETCH_STAGES; stage++)
        *to++ = (struct virtual_visit){.node = NULL};
    return nodes;
}

/* With prefetch. */
static void visit_far(struct worker *w, const uint64_t *set, uint64_t end)
{
    uint32_t visits = list_visits(w, set) + VIRTUAL_PREFETCH_STAGES;
    for (struct virtual_visit *at = w->visit; at != w->visit + visits; at++) {
        virtual_prefetch(at + 1, end);
        if (at->node)
            visit(w, at->node, set, end);
    }
}

/* Whether captured frames of this worker go to worker 0, in the window after theirs. */
static bool relays(const struct worker *w)
{
    return w->v.tap && model_is_of_ranks(w->m) && w->self > 0;
}

/* Worker 0 has the frames of all before the first window of this turn. */
static void flush_relayed(const struct worker *w, uint64_t first)
{
    if (w->v.tap && model_is_of_ranks(w->m) && w->self == 0)
        virtual_tap_flush(w->v.tap, first * w->v.wheel.width);
}

/* Over ranks, after the last window: the last frames and all counts go to worker 0. */
static void relay_rest(const struct worker *w)
{
    struct virtual_channel *c = w->v.channel;
    struct virtual_turn turn = {0};
    if (relays(w)) {
        virtual_tap_relay(w->v.tap, c, UINT64_MAX);
        virtual_tap_relay_counts(w->v.tap, c);
    }
    model_turn(w->m, &turn);
    for (const struct virtual_record *r; (r = virtual_channel_receive(c));)
        virtual_tap_take(w->v.tap, r);
}

static void end_capture(const struct worker *w)
{
    if (model_is_of_ranks(w->m))
        relay_rest(w);
    if (!relays(w))
        virtual_tap_flush(w->v.tap, UINT64_MAX);
}

/* Updates the counters for other processes. Returns when publish() is due again, ns. Over ranks worker 0 asks. */
static uint64_t update_counters(struct worker *w, uint64_t publish_at)
{
    uint64_t now = (w->v.wheel.current + 1) * w->v.wheel.width;
    atomic_store_explicit(&w->progress->now, now, memory_order_relaxed);
    atomic_store_explicit(&w->progress->hops, w->v.hops, memory_order_relaxed);
    atomic_store_explicit(&w->progress->delivered, w->area->bytes_measured, memory_order_relaxed);
    if (hx_metrics_now() < publish_at)
        return publish_at;
    if (!model_is_of_ranks(w->m))
        return publish(w, now);
    w->shows = w->self == 0;
    return UINT64_MAX;
}

/* Begin and end of the measured interval; each notes the blocks that links have carried. */
enum mark { MARK_FROM, MARK_TO, MARKS };

static void mark_links(const struct worker *w, enum mark mark)
{
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        const struct virtual_sim_node *e = w->sim_node[i];
        for (unsigned plane = 0; plane < e->planes; plane++) {
            const struct hal_switch *h = &e->node[plane].hal;
            for (unsigned port = 0; port < h->ports; port++) {
                struct model_span *span = &w->m->span[h->tx[port].link];
                *(mark == MARK_FROM ? &span->from : &span->to) = h->tx[port].sum.blocks;
            }
        }
    }
}

/* Notes both before the first window at or after their times, which is the same for all workers. */
static void mark_in_time(struct worker *w, uint64_t now)
{
    const uint64_t at[MARKS] = {w->warm, w->over};
    for (; w->marked < MARKS && now >= at[w->marked]; w->marked++)
        mark_links(w, w->marked);
}

/* The window after the last one of a turn that begins with `first`. */
static uint64_t end_of_turn(const struct worker *w, uint64_t first)
{
    uint64_t cell_end = (first / w->m->cell + 1) * w->m->cell;
    uint64_t end = first + (w->repeats ? 1 : w->m->windows);
    return end < cell_end ? end : cell_end;
}

/* Whether a turn was the last one of its cell. */
static bool ends_cell(const struct worker *w, uint64_t first, const struct virtual_turn *turn)
{
    return turn->next / w->m->cell != first / w->m->cell;
}

/* At the end of a cell: whether the run goes on though no accelerator is active. */
static bool goes_on(struct worker *w, const struct virtual_turn *turn)
{
    const bool stopped = w->area->stopped;
    const bool goes_on = open_loop_goes_on(w, turn);
    for (uint32_t i = 0; w->area->stopped && !stopped && i < w->accelerators; i++)
        driver_stopped(&w->driver[i]);
    return goes_on;
}

static void begin_turn(struct worker *w, struct worker_windows *t)
{
    t->first = t->window = t->turn.next;
    t->end = end_of_turn(w, t->first);
}

void worker_windows_begin(struct worker *w, struct worker_windows *t)
{
    *t = (struct worker_windows){.dog = watchdog_start(w->m)};
    begin_turn(w, t);
}

void worker_window_begin(struct worker *w, struct worker_windows *t)
{
    mark_in_time(w, t->window * w->v.wheel.width);
    t->set = virtual_wheel_turn(&w->v.wheel, t->window);
    if (relays(w))
        virtual_tap_relay(w->v.tap, w->v.channel, t->window * w->v.wheel.width);
    w->published = false;
    w->attend_before = t->window + 1 == t->end && w->border ? w->border : NONE;
}

void worker_window_visit(struct worker *w, const struct worker_windows *t, uint64_t until)
{
    if (w->v.near)
        visit_near(w, t->set, until);
    else
        visit_far(w, t->set, until);
}

/* Waits for the others after the last window of a turn. Returns whether the run goes on. */
static bool end_turn(struct worker *w, struct worker_windows *t)
{
    if (t->turns++ % UPDATE_TURNS == 0)
        t->publish_at = update_counters(w, t->publish_at);
    if (!w->published) {
        t->turn = own_turn(w, virtual_wheel_next(&w->v.wheel));
        publish_turn(w, &t->turn);
    }
    if (!virtual_channel_wait(w->v.channel, &t->turn))
        _exit(HX_EXIT_FAILED); /* the supervisor reports the cause */
    virtual_worker_receive(&w->v);
    flush_relayed(w, t->first);
    const bool cell_ends = ends_cell(w, t->first, &t->turn);
    if ((cell_ends && !goes_on(w, &t->turn) && t->turn.active == 0) || t->turn.stop)
        return false;
    if (w->repeats)
        t->turn.next = repeats_look(w->repeats, t->turn.next);
    if (cell_ends && watchdog_is_due(&t->dog, &t->turn, w->v.wheel.width) && watchdog_look(&t->dog, w, &t->turn))
        return false;
    if (t->turn.next == VIRTUAL_NO_WINDOW)
        return false;
    if (t->turn.show)
        t->publish_at = publish_of_ranks(w);
    begin_turn(w, t);
    return true;
}

bool worker_window_end(struct worker *w, struct worker_windows *t)
{
    const uint64_t end = (t->window + 1) * w->v.wheel.width;
    virtual_post_end(&w->v);
    virtual_wheel_done(&w->v.wheel);
    if (w->v.tap && !model_is_of_ranks(w->m))
        virtual_tap_flush(w->v.tap, end);
    if (w->m->check_steps)
        audit_step(w);
    t->window = virtual_wheel_next(&w->v.wheel);
    return t->window < t->end || end_turn(w, t);
}

void worker_windows_go(struct worker *w, struct worker_windows *t, uint64_t window)
{
    t->turn.next = window;
    begin_turn(w, t);
}

struct virtual_turn worker_simulate(struct worker *w)
{
    struct worker_windows t;
    worker_windows_begin(w, &t);
    do {
        worker_window_begin(w, &t);
        worker_window_visit(w, &t, (t.window + 1) * w->v.wheel.width);
    } while (worker_window_end(w, &t));
    return t.turn;
}

void worker_report(struct worker *w, const struct virtual_turn *turn)
{
    struct model_area *area = w->area;
    if (w->faults)
        faults_settle(w->faults);
    for (; w->marked < MARKS; w->marked++)
        mark_links(w, w->marked);
    (void)update_counters(w, 0);
    if (model_is_of_ranks(w->m))
        (void)publish_of_ranks(w);
    if (w->m->check_steps)
        audit_write(w);
    for (uint32_t i = 0; i < w->accelerators; i++) {
        struct driver *d = &w->driver[i];
        w->m->sum[d->rank] = (struct model_sum){d->endpoint.stats, d->begun};
        area->marked += driver_marked_waiting(d);
        workload_close(d->workload);
    }
    open_loop_report(w);
    if (w->forward)
        forward_report(w);
    area->interrupted = turn->stop && turn->active;
    area->complete = turn->active == 0;
    area->private_bytes = memory_private_bytes();
    /* Repeated packets may still be in flight when all messages are acknowledged. */
    area->buffers_used = virtual_pool_used(&w->v.pool) - (w->faults ? (uint32_t)watchdog_standing(w) : 0);
}

/* Ends the run unless all workers have the same parts: ranks find them each on its own. */
static void agree_on_parts(const struct model *m)
{
    uint64_t digest = parts_digest(&m->layout, m->g);
    struct virtual_turn turn = {.next = digest, .moved = digest}; /* combined: the least and the most */
    model_turn(m, &turn);
    if (turn.next != turn.moved)
        hx_die(HX_EXIT_ENVIRONMENT, "mpirun",
               "the ranks divide the fabric differently (install the same libmetis on all machines)");
}

_Noreturn void worker_run(const struct model *m, unsigned self)
{
    char name[16];
    (void)snprintf(name, sizeof name, "hxmesh-v%u", self);
    (void)prctl(PR_SET_NAME, name);
    /* mpirun keeps a rank on its core */
    virtual_channel_join(m->channel, self, model_is_of_ranks(m) || hx_processor_keep(self, m->workers));
    atomic_store(&m->control->begun, true);
    agree_on_parts(m);
    mpirun_tell_begun(self);
    struct worker *w = hx_allocate(1, sizeof *w);
    build_worker(w, m, self);
    struct virtual_turn turn = worker_simulate(w);
    if (w->v.tap)
        end_capture(w);
    worker_report(w, &turn);
    model_collect(m);
    virtual_channel_leave(m->channel);
    _exit(HX_EXIT_DONE);
}
