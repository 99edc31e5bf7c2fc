/* support_shm.h - a fabric in shared memory, with workers that a test steps, and two checks of its own.
 *
 *     audit     walks every ring and link by the layout that link.h and pool.h document, and counts the places of
 *               each buffer. It calls nothing of the emulator.
 *     ledger    what was sent, placed, received and acknowledged, recorded by the test's own payload and event
 *               functions, in memory that all processes of the test share and that survives kills.
 *
 * Time stands still unless the test moves it: support->now. */
#ifndef SUPPORT_SHM_H
#define SUPPORT_SHM_H

#include "fabric-emu/live/nodes.h"

struct support_ledger {
    _Atomic uint64_t never_received; /* messages acknowledged before a destination had received them */
    _Atomic uint64_t incomplete;     /* messages received with a packet missing */
    _Atomic uint64_t mixed;          /* packets of two messages taken for one message */
    _Atomic uint64_t wrong;          /* packets with a payload that was never sent */
    _Atomic uint64_t failed;         /* messages that failed */
};

struct support {
    struct fab_fabric f;
    struct traffic traffic;
    struct workload_plan workload;
    struct shm_clock clock;
    uint64_t now; /* nanoseconds, the value of hal_now() */
    struct support_ledger *ledger;
};

/* What a test wants. */
struct support_plan {
    const char *spec;
    unsigned planes, workers, credits; /* credits: blocks per link, 0: the default */
    enum hx_pattern pattern;
    uint64_t message, count, seed;
    bool reroutes; /* routers search routes around links that are down or closed */
};

void support_open(struct support *s, const struct support_plan *plan);
void support_close(struct support *s);

/* Builds the nodes of a worker, as a starting process does, and connects the ledger to its endpoints. */
void support_start(struct support *s, struct worker *w, unsigned self);
/* Forgets the nodes, as a kill does; shared memory stays as it is. */
void support_forget(struct worker *w);
/* To call after recover_worker: others see the worker as down, or it is about to restart. */
void support_take_down(struct support *s, unsigned worker);
void support_bring_back(struct support *s, unsigned worker);
/* The worker looks for others that went down or came back. */
void support_notice(struct worker *w);

/* Sets the condition of the link at a port, in both directions. Workers see it when they are notified
 * (support_notice). */
void support_set_condition(struct support *s, unsigned plane, uint32_t node, unsigned port,
                           const struct shm_condition *condition);

/* Steps of a sweep: endpoint and switches of each accelerator, each tree switch, then all faulty links. */
unsigned support_steps(const struct worker *w);
unsigned support_step(struct support *s, struct worker *w, unsigned step, bool may_begin);
/* Does all steps once; returns packets moved, taken and given. */
unsigned support_sweep(struct support *s, struct worker *w, bool may_begin);
bool support_is_done(const struct worker *w, bool may_begin);

struct support_audit {
    uint64_t buffers; /* expected */
    uint64_t missing; /* in no place */
    uint64_t doubled; /* in two places */
    uint64_t foreign; /* entries that name no buffer */
    uint64_t in_links;
};
struct support_audit support_audit(const struct support *s);

/* Buffers in links to nodes of this worker. */
uint64_t support_waiting_for(const struct support *s, unsigned worker);

/* Begun messages that no destination has received. */
uint64_t support_unreceived(const struct support *s);

#endif
