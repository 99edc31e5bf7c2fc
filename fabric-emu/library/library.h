/* library.h - what the files of libhxmesh-sim (include/hxmesh/sim.h) share.
 *
 *     open.c      opens and closes a fabric
 *     advance.c   runs to the next event
 *     post.c      messages, collectives, timers
 *     read.c      hosts, links, faults, the report
 *     owned.c     memory of a fabric
 *
 * Data that flows. hx_sim_open() makes a model and its one worker in this process, as hxmesh-virtual does. A call posts
 * messages into the workload of their sources (workload/posted.h), and wakes these. hx_sim_next() runs window after
 * window. A host at which something happens pauses, and is put into `waiting`. When all hosts have reached a time,
 * those that wait are taken by time: their events go to the caller one by one, then the host goes on.
 *
 * Invariants. `now` never decreases. In a window all hosts have done what comes before `reached`, but those in
 * `waiting` and `current`, which are busy until their times. A host waits at most once. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "arena.h"
#include "base/time_heap.h"
#include "fabric-emu/virtual/driver.h"
#include "fabric-emu/virtual/setup.h"
#include "fabric-emu/virtual/worker.h"
#include "hxmesh/sim.h"
#include "owned.h"
#include "workload/collective_loads.h"
#include "workload/posted.h"

/* A host that is to go on at key.time; of one time by its number. */
struct waiting {
    struct time_key key;
    struct virtual_sim_node *node;
    size_t first, events; /* in `happened` */
};

struct timer {
    struct time_key key;
    uint64_t cookie;
    uint32_t host; /* HX_SIM_NO_HOST: of none */
    bool fault;
};

/* A direction of a link. */
struct direction {
    uint32_t node;
    uint16_t port;
    uint8_t plane;
    const struct virtual_tx *tx; /* NULL: it is dead */
};

struct hx_sim {
    struct owned owned;
    struct virtual_arena arena;
    struct setup setup;
    struct posted *posted; /* NULL: the fabric runs traffic */
    struct worker *worker;
    struct worker_windows windows;
    struct driver **driver; /* [hosts]; NULL: on a failed board */
    uint64_t *done;         /* [sim_nodes]: ps, the latest time at which each did something */
    uint64_t *limit;        /* [sim_nodes]: ps, its next timer: it does not go beyond; UINT64_MAX: none */
    bool in_window, over;   /* over: the worker found nothing to go on for */
    uint64_t now, reached;  /* ps */

    struct time_heap waiting;      /* struct waiting */
    struct waiting current;        /* node NULL: none */
    struct posted_event *happened; /* [used] */
    size_t happened_used, happened_room;
    size_t fresh;              /* of them, the last: no host waits with them yet */
    struct time_heap timers;   /* struct timer */
    struct time_heap *of_host; /* [hosts] of struct time_key: times of its timers */

    struct collective_loads loads; /* for the best algorithm */
    bool loads_open;
    struct direction *direction; /* [directions]; NULL: not listed yet */
    uint32_t directions;
    const char *report;
    bool ended, broken;
    char error[HX_SIM_TEXT];
};

/* Calls `call` with the fabric's memory as owner. Returns what it returns, or HX_SIM_BROKEN if it died; hx_sim_error()
 * then says why. */
int library_call(struct hx_sim *f, int (*call)(struct hx_sim *f, void *of), void *of);

/* Writes an error. Returns HX_SIM_INVALID. */
__attribute__((format(printf, 2, 3))) int library_refuse(struct hx_sim *f, const char *format, ...);

/* ---- advance.c ---- */

/* For worker.pauses.pause and posted_open(). */
void library_pause(void *of, struct virtual_sim_node *e, uint64_t now);
void library_happened(void *of, const struct posted_event *e);
/* Something was posted at a host: it acts now, or as soon as it can. */
void library_wake(struct hx_sim *f, uint32_t host);
/* The timers of a host have changed: it does not go beyond the next one. */
void library_limit(struct hx_sim *f, uint32_t host);

#endif
