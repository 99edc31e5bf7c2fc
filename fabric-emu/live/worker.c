/* worker.c - sweeps over nodes, and sleep without lost wakeups.
 *
 * With more workers than cores, each yields its core after a slice, or after a sweep without work. Until its next turn
 * the others bring enough work for a sweep. A switch of processes costs up to a fifth of a sweep, so a slice holds
 * several short sweeps. A worker that swept until it were idle would keep the others from their core.
 *
 * An idle worker sets `asleep`, sweeps once more, and only then sleeps on its futex. A worker that publishes for
 * another one reads that one's `asleep` afterwards. Both have a full fence between store and load, so one sees the
 * other. */
#include "worker.h"
#include "accelerator.h"
#include "base/processor.h"
#include "bridge.h"
#include "conditions.h"
#include "fabric-emu/memory.h"
#include "feed.h"
#include "nodes.h"
#include "publish.h"
#include "taps.h"
#include "wakeup.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    IDLE_SWEEPS = 100,          /* in a row before it sleeps */
    IDLE_SWEEPS_SHARED = 10,    /* the same with shared cores: an idle sweep takes time from other workers */
    SLICE_NS = 60000,           /* turn on a shared core */
    IDLE_WAIT_NS = 2000000,     /* longest sleep: deadlines, injection rates */
    CABLE_IDLE_WAIT_NS = 50000, /* the same where no wakeup comes: external cables, faulty links with packets */
    CHECK_SWEEPS = 1 << 8,      /* sweeps between checks for the end and for missing paths */
    CLOCK_EVERY = 8             /* endpoints: reading it costs as much as a packet */
};

static void wake_touched(struct worker *w)
{
    uint64_t touched = w->shm.touched & ~((uint64_t)1 << w->self);
    w->shm.touched = 0;
    if (!touched)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    for (; touched; touched &= touched - 1) {
        unsigned other = (unsigned)__builtin_ctzll(touched);
        if (atomic_load_explicit(&w->f->area[other].asleep, memory_order_relaxed))
            fab_wake(w->f, other);
    }
}

/* Whether a switch waits for its capture. */
static bool is_held(struct worker *w, const struct node *n)
{
    bool held = n->hal.tap && !shm_tap_has_room(&n->hal);
    w->held |= held;
    return held;
}

/* Steps a switch; with annotations by the variant that writes them. */
static unsigned accelerator_switch_step(struct worker *w, struct node *n)
{
    if (__builtin_expect(n->hal.tap == NULL, 1))
        return hx_accelerator_step(&n->sw);
    if (is_held(w, n))
        return 0;
    return n->hal.tap->note ? shm_noted_accelerator_step(&n->sw) : hx_accelerator_step(&n->sw);
}

static unsigned router_switch_step(struct worker *w, struct node *n)
{
    if (__builtin_expect(n->hal.tap == NULL, 1))
        return hx_router_step(&n->sw);
    if (is_held(w, n))
        return 0;
    return n->hal.tap->note ? shm_noted_router_step(&n->sw) : hx_router_step(&n->sw);
}

/* Counts time for CRCs as verification, wherever the firmware computes them. */
static void count_crcs(struct fab_area *area)
{
    area->verify_ns += shm_crc.ns;
    shm_crc.ns = 0;
}

static unsigned sweep_accelerators(struct worker *w, bool may_begin)
{
    unsigned work = 0;
    for (unsigned i = 0; i < w->accelerators; i++) {
        if (i % CLOCK_EVERY == 0)
            shm_set_now(&w->shm, shm_clock_ns(w->clock));
        work += accelerator_step(&w->accelerator[i], may_begin);
    }
    return work;
}

/* Steps every node once. Nodes of a kind follow each other, so that their code is fetched and decoded once a sweep: the
 * code of all kinds exceeds the processor's caches. Returns packets sent, received and moved. */
static unsigned sweep(struct worker *w, bool may_begin)
{
    if (__builtin_expect(w->workload->packets != NULL, 0))
        wakeup_look(w);
    unsigned work = sweep_accelerators(w, may_begin);
    unsigned hops = 0;
    for (unsigned i = 0; i < w->accelerator_nodes; i++)
        hops += accelerator_switch_step(w, &w->node[i]);
    if (__builtin_expect(w->faulties != 0, 0))
        work += conditions_step(w);
    if (__builtin_expect(w->feeding.feed != NULL, 0))
        work += feed_step(w);
    for (unsigned i = w->accelerator_nodes; i < w->switch_nodes; i++)
        hops += router_switch_step(w, &w->node[i]);
    for (unsigned i = 0; i < w->bridges; i++) {
        shm_set_now(&w->shm, shm_clock_ns(w->clock));
        work += bridge_step(&w->bridge[i]);
    }
    w->shm.waits = w->held; /* holds for the next sweep */
    w->held = false;
    struct fab_area *area = &w->f->area[w->self];
    atomic_store_explicit(&area->hops, area->hops + hops, memory_order_relaxed);
    count_crcs(area);
    wake_touched(w);
    return work + hops;
}

static bool accelerators_are_done(const struct worker *w, bool may_begin)
{
    for (unsigned i = 0; i < w->accelerators; i++) {
        if (!accelerator_is_done(&w->accelerator[i], may_begin))
            return false;
    }
    return true;
}

/* Whether the worker is done. *since: when its hosts were, or its last frame crossed an external cable, if later. */
static bool is_done(struct worker *w, bool may_begin, uint64_t *since)
{
    bool done = accelerators_are_done(w, may_begin);
    uint64_t frame_ns = 0;
    w->done_at = !done ? 0 : w->done_at ? w->done_at : shm_clock_ns(w->clock);
    for (unsigned i = 0; done && i < w->bridges; i++)
        done = bridge_is_quiet(&w->bridge[i], &frame_ns);
    *since = frame_ns > w->done_at ? frame_ns : w->done_at;
    return done;
}

/* Whether all cables are up: then the run begins. */
static bool is_ready(const struct worker *w)
{
    for (unsigned i = 0; i < w->bridges; i++) {
        if (!bridge_is_up(&w->bridge[i]))
            return false;
    }
    return true;
}

static void give_up(struct worker *w)
{
    for (unsigned i = 0; i < w->accelerators; i++)
        accelerator_give_up(&w->accelerator[i]);
}

static void publish_state(struct worker *w, enum fab_phase phase)
{
    struct fab_area *area = &w->f->area[w->self];
    uint64_t done_ns = 0;
    bool done = phase != FAB_STARTING && is_done(w, phase == FAB_RUNNING, &done_ns);
    bool ready = phase != FAB_STARTING || is_ready(w);
    enum fab_worker_state state = done ? FAB_WORKER_DONE : ready ? FAB_WORKER_RUNNING : FAB_WORKER_STARTING;
    if (atomic_load_explicit(&area->state, memory_order_relaxed) == state)
        return;
    area->finished_ns = done ? done_ns : shm_clock_ns(w->clock);
    atomic_store(&area->state, state);
}

/* Returns the longest sleep in ns: until the next message is due, or the limit of what no wakeup announces. */
static long longest_idle_wait(const struct worker *w)
{
    bool unwoken = w->bridges || conditions_hold(w);
    uint64_t longest = unwoken ? CABLE_IDLE_WAIT_NS : IDLE_WAIT_NS;
    for (unsigned i = 0; i < w->accelerators; i++) {
        uint64_t wait = accelerator_wait_ns(&w->accelerator[i]);
        longest = wait && wait < longest ? wait : longest;
    }
    return (long)longest;
}

static void idle_wait(struct worker *w, enum fab_phase phase)
{
    struct fab_area *area = &w->f->area[w->self];
    uint32_t wake = atomic_load(&area->wake);
    atomic_store(&area->asleep, 1);
    wakeup_begin(w);
    atomic_thread_fence(memory_order_seq_cst);
    if (sweep(w, phase == FAB_RUNNING) == 0 && atomic_load(&w->f->control->phase) == phase)
        wakeup_sleep(w, wake, longest_idle_wait(w));
    atomic_store(&area->asleep, 0);
    wakeup_end(w);
}

static void follow_captures(struct worker *w)
{
    taps_follow(w);
    feed_follow(w);
}

/* Yields a shared core after a slice, or without work. */
static void share_core(struct worker *w, bool idle)
{
    if (!idle && shm_clock_ns(w->clock) - w->slice_began < SLICE_NS)
        return;
    (void)sched_yield();
    w->slice_began = shm_clock_ns(w->clock);
}

/* State of the loop over sweeps. */
struct loop {
    enum fab_phase phase; /* of this sweep */
    unsigned sweeps;      /* since the start */
    unsigned idle;        /* sweeps without work, in a row */
    unsigned patience;    /* idle sweeps before it sleeps */
};

/* Notes that the routes include control->conditions of that number. */
static void note_conditions(struct worker *w, uint32_t conditions)
{
    struct fab_area *area = &w->f->area[w->self];
    if (atomic_load_explicit(&area->conditions_seen, memory_order_relaxed) == conditions)
        return;
    atomic_store_explicit(&area->conditions_ns, shm_clock_ns(w->clock), memory_order_relaxed);
    atomic_store(&area->conditions_seen, conditions);
}

/* Follows changes of workers, cables, links and captures. Reads the counters first, so that a later change is followed
 * in the next sweep. */
static void follow_control(struct worker *w)
{
    struct fab_control *control = w->f->control;
    struct fab_area *area = &w->f->area[w->self];
    uint32_t changes = atomic_load_explicit(&control->changes, memory_order_acquire);
    uint32_t conditions = atomic_load_explicit(&control->conditions, memory_order_acquire);
    bool others = conditions != atomic_load_explicit(&area->conditions_seen, memory_order_relaxed);
    if (others)
        conditions_follow(w);
    if (others || changes != atomic_load_explicit(&area->changes_seen, memory_order_relaxed)) {
        node_reroute_all(w);
        atomic_store(&area->changes_seen, changes);
        note_conditions(w, conditions);
    }
    if (atomic_load_explicit(&control->taps_changed, memory_order_acquire) != w->taps_seen)
        follow_captures(w);
}

static void sweep_once(struct worker *w, struct loop *l)
{
    bool check = l->sweeps % CHECK_SWEEPS == 0;
    l->idle = sweep(w, l->phase == FAB_RUNNING) ? 0 : l->idle + 1;
    publish_if_due(w);
    if (l->idle == 1 || check)
        publish_state(w, l->phase);
    if (check)
        give_up(w);
}

/* Sleeps after enough idle sweeps; else yields a shared core. */
static void rest(struct worker *w, const struct loop *l)
{
    if (l->idle > l->patience) {
        idle_wait(w, l->phase);
        publish_state(w, l->phase);
    } else if (w->shares_core) {
        share_core(w, l->idle > 0);
    }
}

static bool goes_on(const struct worker *w, struct loop *l)
{
    l->phase = atomic_load_explicit(&w->f->control->phase, memory_order_acquire);
    return l->phase != FAB_STOPPING;
}

static void run_phases(struct worker *w)
{
    struct loop l = {.patience = w->shares_core ? IDLE_SWEEPS_SHARED : IDLE_SWEEPS};
    for (; goes_on(w, &l); l.sweeps++) {
        follow_control(w);
        sweep_once(w, &l);
        rest(w, &l);
    }
}

_Noreturn void worker_run(const struct duty *duty, unsigned self)
{
    char name[16];
    (void)snprintf(name, sizeof name, "hxmesh-w%u", self);
    (void)prctl(PR_SET_NAME, name);
    shm_crc.clock = &duty->clock;
    struct worker w = {.f = duty->f,
                       .workload = &duty->workload,
                       .self = self,
                       .shares_core = !hx_processor_keep(self, duty->f->workers),
                       .wire = duty->wire,
                       .cpu_before = hx_metrics_get(&duty->f->metrics.worker[self].cpu_ns),
                       .clock = &duty->clock};
    /* Read before the build: the first sweep follows later changes. */
    uint32_t changes = atomic_load(&duty->f->control->changes);
    uint32_t conditions = atomic_load(&duty->f->control->conditions);
    if (!node_build_all(&w))
        _exit(0);
    wakeup_open(&w);
    follow_captures(&w);
    struct fab_area *area = &duty->f->area[self];
    atomic_store(&area->changes_seen, changes);
    note_conditions(&w, conditions);
    atomic_store(&area->state, w.bridges ? FAB_WORKER_STARTING : FAB_WORKER_RUNNING);
    run_phases(&w);
    area->private_bytes = memory_private_bytes();
    publish(&w);
    taps_end(&w);
    feed_end(&w);
    wakeup_close(&w);
    node_free_all(&w);
    _exit(0);
}
