/* worker.c - the loop over windows (worker.h).
 *
 * Within a window a worker visits each of its simulated nodes that has an event, by number. Packets to other workers
 * belong to later windows, so they are received after the window. Border nodes are visited first; then the worker
 * publishes its turn. So a worker with a long window does not stall the others for the rest of it. */
#include "worker.h"
#include "audit.h"
#include "base/error.h"
#include "base/processor.h"
#include "build.h"
#include "fabric-emu/memory.h"
#include "faults.h"
#include "prefetch.h"
#include "publish.h"
#include "repeats.h"
#include "tap.h"
#include "watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { UPDATE_WINDOWS = 1 << 5 }; /* from one update of the counters to the next */

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
    w->publish_before = NONE;
    if (!goes_on_anyway(w, set))
        return;
    virtual_post_end(&w->v);
    const struct virtual_turn turn = own_turn(w, w->v.wheel.current + 1);
    publish_turn(w, &turn);
}

/* ---- a window ---- */

static inline void visit(struct worker *w, struct virtual_sim_node *e, const uint64_t *set, uint64_t end)
{
    if (e->index >= w->publish_before)
        publish_early(w, set);
    virtual_sim_node_visit(e, end);
}

/* Without prefetch: the nodes are in the cache. */
static void visit_near(struct worker *w, const uint64_t *set, uint64_t end)
{
    for (uint32_t at = next_of(w, set, 0); at != NONE; at = next_of(w, set, at + 1))
        visit(w, w->sim_node[at], set, end);
}

/* Nodes in the stages of the prefetch; [0] is visited next. NULL: an empty stage. */
struct pipeline {
    struct virtual_sim_node *stage[VIRTUAL_PREFETCH_STAGES];
};

/* Moves all nodes by a stage. Returns the node that leaves, or NULL. */
static inline struct virtual_sim_node *advance(struct pipeline *p, struct virtual_sim_node *entering)
{
    struct virtual_sim_node *leaving = p->stage[0];
    for (unsigned stage = 1; stage < VIRTUAL_PREFETCH_STAGES; stage++)
        p->stage[stage - 1] = p->stage[stage];
    p->stage[VIRTUAL_PREFETCH_STAGES - 1] = entering;
    return leaving;
}

/* With prefetch. After the last node as many empty ones follow as there are stages. */
static void visit_far(struct worker *w, const uint64_t *set, uint64_t end)
{
    struct pipeline p = {.stage = {NULL}};
    uint32_t at = next_of(w, set, 0);
    for (unsigned empty = 0; empty < VIRTUAL_PREFETCH_STAGES;) {
        empty += at == NONE;
        struct virtual_sim_node *leaving = advance(&p, at == NONE ? NULL : w->sim_node[at]);
        at = at == NONE ? NONE : next_of(w, set, at + 1);
        virtual_prefetch(p.stage, end);
        if (leaving)
            visit(w, leaving, set, end);
    }
}

static void visit_all(struct worker *w, uint64_t window)
{
    const uint64_t *set = virtual_wheel_turn(&w->v.wheel, window);
    uint64_t end = (window + 1) * w->v.wheel.width;
    w->published = false;
    w->publish_before = w->border ? w->border : NONE;
    if (w->v.near)
        visit_near(w, set, end);
    else
        visit_far(w, set, end);
    virtual_post_end(&w->v);
    virtual_wheel_done(&w->v.wheel);
    if (w->v.tap)
        virtual_tap_flush(w->v.tap, end);
}

/* Updates the counters for other processes. Returns when publish() is due again, ns. */
static uint64_t update_counters(const struct worker *w, uint64_t publish_at)
{
    uint64_t now = (w->v.wheel.current + 1) * w->v.wheel.width;
    atomic_store_explicit(&w->area->now, now, memory_order_relaxed);
    atomic_store_explicit(&w->area->hops, w->v.hops, memory_order_relaxed);
    atomic_store_explicit(&w->area->delivered, w->area->bytes_measured, memory_order_relaxed);
    return hx_metrics_now() < publish_at ? publish_at : publish(w, now);
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
    const struct hx_settings *s = &w->m->settings;
    const uint64_t at[MARKS] = {s->warm_up_ns, s->duration_ns ? s->duration_ns : UINT64_MAX / 1000};
    for (; w->marked < MARKS && now >= at[w->marked] * 1000; w->marked++)
        mark_links(w, w->marked);
}

struct virtual_turn worker_windows(struct worker *w)
{
    struct virtual_turn turn = {0};
    struct watchdog dog = watchdog_start(w->m);
    uint64_t publish_at = 0;
    for (uint64_t n = 0;; n++) {
        mark_in_time(w, turn.next * w->v.wheel.width);
        visit_all(w, turn.next);
        if (w->m->check_steps)
            audit_step(w);
        if (n % UPDATE_WINDOWS == 0)
            publish_at = update_counters(w, publish_at);
        if (!w->published) {
            turn = own_turn(w, virtual_wheel_next(&w->v.wheel));
            publish_turn(w, &turn);
        }
        if (!virtual_channel_wait(w->v.channel, &turn))
            _exit(HX_EXIT_FAILED); /* the supervisor reports the cause */
        virtual_worker_receive(&w->v);
        if (turn.active == 0 || turn.stop)
            return turn;
        if (w->repeats)
            turn.next = repeats_look(w->repeats, turn.next);
        if (watchdog_is_due(&dog, &turn, w->v.wheel.width) && watchdog_look(&dog, w, &turn))
            return turn;
        if (turn.next == VIRTUAL_NO_WINDOW)
            return turn;
    }
}

void worker_report(struct worker *w, const struct virtual_turn *turn)
{
    struct model_area *area = w->area;
    if (w->faults)
        faults_settle(w->faults);
    for (; w->marked < MARKS; w->marked++)
        mark_links(w, w->marked);
    (void)update_counters(w, 0);
    if (w->m->check_steps)
        audit_write(w);
    for (uint32_t i = 0; i < w->accelerators; i++) {
        const struct driver *d = &w->driver[i];
        w->m->sum[d->rank] = (struct model_sum){d->endpoint.stats, d->begun};
        workload_close(d->workload);
    }
    area->interrupted = turn->stop && turn->active;
    area->complete = turn->active == 0;
    area->private_bytes = memory_private_bytes();
    /* Repeated packets may still be in flight when all messages are acknowledged. */
    area->buffers_used = virtual_pool_used(&w->v.pool) - (w->faults ? (uint32_t)watchdog_standing(w) : 0);
}

_Noreturn void worker_run(const struct model *m, unsigned self)
{
    char name[16];
    (void)snprintf(name, sizeof name, "hxmesh-v%u", self);
    (void)prctl(PR_SET_NAME, name);
    virtual_channel_join(m->channel, self, hx_processor_keep(self, m->workers));
    struct worker *w = hx_allocate(1, sizeof *w);
    build_worker(w, m, self);
    struct virtual_turn turn = worker_windows(w);
    if (w->v.tap)
        virtual_tap_flush(w->v.tap, UINT64_MAX);
    worker_report(w, &turn);
    _exit(HX_EXIT_DONE);
}
