/* worker.c - the loop over windows (worker.h).
 *
 * Between two turns of the channel a worker works alone: visits every entity that has something to do in the window, in
 * the order of their numbers. What it sends to others is for later windows, so it is received after the turn. Those
 * that send to others come first, and when they have been visited the others are told: who has more to do in one window
 * and less in another is waited for by nobody as long as the rest of theirs takes. */
#include "worker.h"
#include "audit.h"
#include "base/error.h"
#include "base/processor.h"
#include "build.h"
#include "fabric-emu/memory.h"
#include "faults.h"
#include "prefetch.h"
#include "publish.h"
#include "tap.h"
#include "watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { TELL_WINDOWS = 1 << 5 };

enum { NOBODY = UINT32_MAX };

/* The first entity of a window's set at or after `from`. By number: the entity itself is not in the cache yet. */
static uint32_t next_of(const struct worker *w, const uint64_t *set, uint32_t from)
{
    for (uint32_t word = from / 64; word < w->v.wheel.words; word++) {
        uint64_t left = word == from / 64 ? set[word] & UINT64_MAX << from % 64 : set[word];
        if (left)
            return word * 64 + (unsigned)__builtin_ctzll(left);
    }
    return NOBODY;
}

/* ---- what the others are told ---- */

static void publish_turn(struct worker *w, const struct virtual_turn *turn)
{
    virtual_channel_publish(w->v.channel, turn);
    w->said = true;
    w->v.sent_window = VIRTUAL_NO_WINDOW;
}

static struct virtual_turn own_turn(const struct worker *w, uint64_t next)
{
    return (struct virtual_turn){.next = next < w->v.sent_window ? next : w->v.sent_window,
                                 .active = w->active,
                                 .moved = w->v.moved,
                                 .stop = atomic_load_explicit(&w->m->control->stop, memory_order_relaxed)};
}

/* Entities of a window's set that are not at the border. */
static unsigned count_inside(const struct worker *w, const uint64_t *set)
{
    uint32_t word = w->border / 64;
    unsigned inside = (unsigned)__builtin_popcountll(set[word] & UINT64_MAX << w->border % 64);
    while (++word < w->v.wheel.words)
        inside += (unsigned)__builtin_popcountll(set[word]);
    return inside;
}

/* The border has been visited, so all that others get of this window is sent. They need not wait for its rest where
 * nothing depends on that: something has moved, somebody will still be active, and to go on to the next window changes
 * nothing if it is empty. */
static void publish_early(struct worker *w, const uint64_t *set)
{
    w->publish_before = NOBODY;
    uint64_t window = w->v.wheel.current;
    if (w->v.moved < window * w->v.wheel.width || w->active <= count_inside(w, set))
        return;
    virtual_post_end(&w->v);
    const struct virtual_turn turn = own_turn(w, window + 1);
    publish_turn(w, &turn);
}

/* ---- a window ---- */

static inline void visit(struct worker *w, struct virtual_sim_node *e, const uint64_t *set, uint64_t end)
{
    if (e->index >= w->publish_before)
        publish_early(w, set);
    virtual_sim_node_visit(e, end);
}

/* What is in the cache anyway. */
static void visit_near(struct worker *w, const uint64_t *set, uint64_t end)
{
    for (uint32_t at = next_of(w, set, 0); at != NOBODY; at = next_of(w, set, at + 1))
        visit(w, w->sim_node[at], set, end);
}

/* What has to be asked for ahead: those on their way stand in a ring, one for each stage. */
static void visit_far(struct worker *w, const uint64_t *set, uint64_t end)
{
    struct virtual_sim_node *ahead[VIRTUAL_PREFETCH_STAGES] = {NULL};
    uint32_t last = next_of(w, set, 0);
    for (uint32_t on_way = 0; last != NOBODY || on_way;) {
        struct virtual_sim_node *now = ahead[0];
        for (unsigned stage = 1; stage < VIRTUAL_PREFETCH_STAGES; stage++)
            ahead[stage - 1] = ahead[stage];
        ahead[VIRTUAL_PREFETCH_STAGES - 1] = last == NOBODY ? NULL : w->sim_node[last];
        on_way += last != NOBODY;
        last = last == NOBODY ? NOBODY : next_of(w, set, last + 1);
        virtual_prefetch(ahead, end);
        if (now) {
            visit(w, now, set, end);
            on_way--;
        }
    }
}

static void visit_all(struct worker *w, uint64_t window)
{
    const uint64_t *set = virtual_wheel_turn(&w->v.wheel, window);
    uint64_t end = (window + 1) * w->v.wheel.width;
    w->said = false;
    w->publish_before = w->border ? w->border : NOBODY;
    if (w->v.near)
        visit_near(w, set, end);
    else
        visit_far(w, set, end);
    virtual_post_end(&w->v);
    virtual_wheel_done(&w->v.wheel);
    if (w->v.tap)
        virtual_tap_flush(w->v.tap, end);
}

/* Returns when the counters for readers outside are due again. */
static uint64_t tell(const struct worker *w, uint64_t publish_at)
{
    uint64_t now = (w->v.wheel.current + 1) * w->v.wheel.width;
    atomic_store_explicit(&w->area->now, now, memory_order_relaxed);
    atomic_store_explicit(&w->area->hops, w->v.hops, memory_order_relaxed);
    atomic_store_explicit(&w->area->delivered, w->area->bytes_measured, memory_order_relaxed);
    return hx_metrics_now() < publish_at ? publish_at : publish(w, now);
}

/* The measured interval begins (MARK_FROM) or ends: what each link has carried until then. */
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

/* Before the first window at or behind each of both moments, which is the same one for all workers. */
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
        if (n % TELL_WINDOWS == 0)
            publish_at = tell(w, publish_at);
        if (!w->said) {
            turn = own_turn(w, virtual_wheel_next(&w->v.wheel));
            publish_turn(w, &turn);
        }
        if (!virtual_channel_wait(w->v.channel, &turn))
            _exit(HX_EXIT_FAILED); /* the supervisor knows whose fault it is */
        virtual_worker_receive(&w->v);
        if (turn.active == 0 || turn.stop)
            return turn;
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
    (void)tell(w, 0);
    if (w->m->check_steps)
        audit_write(w);
    for (uint32_t i = 0; i < w->accelerators; i++) {
        const struct driver *d = &w->driver[i];
        w->m->sum[d->rank] = (struct model_sum){d->endpoint.stats, d->begun};
    }
    area->interrupted = turn->stop && turn->active;
    area->complete = turn->active == 0;
    area->private_bytes = memory_private_bytes();
    /* What was repeated in vain may still be under way when all is acknowledged. */
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
