/* support_shm.h - a fabric in shared memory whose workers are run step by step by a test, with two judges of its own.
 *
 *     audit     walks every ring and link by the layout that link.h and pool.h document, and says how often each
 *               buffer is there. It calls nothing of the emulator.
 *     ledger    what was sent, placed, received and acknowledged, written down by the test's own payload and event
 *               functions, in memory that all processes of the test share and no kill takes away.
 *
 * Time stands still unless the test moves it: support->now. */
#ifndef SUPPORT_SHM_H
#define SUPPORT_SHM_H

#include "fabric-emu/live/nodes.h"

struct support_ledger {
    _Atomic uint64_t never_received; /* messages acknowledged to their source that no destination had received */
    _Atomic uint64_t incomplete;     /* messages received although a packet of theirs was missing */
    _Atomic uint64_t mixed;          /* packets of two messages taken for one */
    _Atomic uint64_t wrong;          /* packets with a payload that nobody sent */
    _Atomic uint64_t failed;         /* messages given up */
};

struct support {
    struct fab_fabric f;
    struct traffic traffic;
    struct workload_plan workload;
    struct shm_clock clock;
    uint64_t now; /* nanoseconds, what hal_now() says */
    struct support_ledger *ledger;
};

/* What a test wants. */
struct support_plan {
    const char *spec;
    unsigned planes, workers, credits; /* credits: blocks a link buffers, 0: the default */
    enum hx_pattern pattern;
    uint64_t message, count, seed;
};

void support_open(struct support *s, const struct support_plan *plan);
void support_close(struct support *s);

/* Builds the nodes of a worker, as a process just started would, and puts the ledger behind its endpoints. */
void support_start(struct support *s, struct worker *w, unsigned self);
/* Forgets them, as a kill would; the shared memory is left as it is. */
void support_forget(struct worker *w);
/* After recover_worker: the worker counts as down (and is seen so by others), or is about to be started again. */
void support_take_down(struct support *s, unsigned worker);
void support_bring_back(struct support *s, unsigned worker);
/* Has the worker look whether others went down or came back. */
void support_notice(struct worker *w);

/* The link at a port is in this condition from now on, in both directions; workers find out when they are told
 * (support_notice). */
void support_set_condition(struct support *s, unsigned plane, uint32_t node, unsigned port,
                           const struct shm_condition *condition);

/* Steps of a sweep: each accelerator's endpoint and switches, then each tree switch, then all faulty links. */
unsigned support_steps(const struct worker *w);
unsigned support_step(struct support *s, struct worker *w, unsigned step, bool may_begin);
/* All of them once; returns packets moved, taken and given. */
unsigned support_sweep(struct support *s, struct worker *w, bool may_begin);
bool support_is_done(const struct worker *w, bool may_begin);

struct support_audit {
    uint64_t buffers; /* that there should be */
    uint64_t missing; /* that are nowhere */
    uint64_t doubled; /* that are in two places */
    uint64_t foreign; /* entries that name no buffer */
    uint64_t in_links;
};
struct support_audit support_audit(const struct support *s);

/* Buffers in links whose receiver is a node of this worker. */
uint64_t support_waiting_for(const struct support *s, unsigned worker);

/* Begun messages that no destination has received. */
uint64_t support_unreceived(const struct support *s);

#endif
