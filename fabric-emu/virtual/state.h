/* state.h - the state of a worker of the virtual clock: its part of the model, simulated nodes, and endpoints. */
#ifndef STATE_H
#define STATE_H

#include "model.h"

#define PS_PER_NS UINT64_C(1000)

struct worker;
struct repeats;
struct forward;

/* Drives an endpoint. Fields that each visit reads come first: prefetching `virtual_sim_node.of` loads their cache
 * line (hal/virtual/prefetch.c). */
struct driver {
    struct worker *worker;
    struct job_count *job;
    struct model_receiver *receiver;
    struct workload *workload;
    uint64_t begun; /* messages */
    uint64_t wake;  /* ps: when to ask the workload again, unless an event comes first */
    uint32_t rank;
    bool news;           /* an event came; ask the workload at the next visit */
    bool timer_noted;    /* the event queue has a deadline */
    bool again_noted;    /* the event queue has `again_at` */
    bool routes_changed; /* routes changed; check all deadlines */
    bool done;
    bool open;           /* its messages are generated at a rate until the sources stop (open_loop.h) */
    bool refused;        /* a message of its pattern waits for its pair's window */
    uint32_t marked;     /* messages begun that are marked and have not ended */
    uint64_t again_at;   /* ps */
    uint64_t idle_since; /* ps: while one does, when the host had injected all; WORKLOAD_NEVER: it has not */
    struct hx_endpoint endpoint;
    struct hal_endpoint hal;
};

/* Makes the endpoint retry messages that wait for a path, when it is driven next. */
static inline void driver_routes_changed(struct driver *d)
{
    hx_endpoint_routes_changed(&d->endpoint);
    d->routes_changed = true;
}

/* What arrived in a period: data packets, the sum of their latencies, ps, and their payload. */
struct open_period {
    uint64_t latency, packets, bytes;
};

/* Progress of a run at a rate (open_loop.h). */
struct open_loop {
    bool on;
    bool *of_job;                   /* [jobs.slots]: its messages are generated at the rate until the sources stop */
    bool finds;                     /* the run chooses its warm-up */
    bool steady;                    /* the load was steady when the warm-up ended */
    uint64_t period, look;          /* ps: of the search for the end of the warm-up, and when to look next */
    struct open_period now, before; /* own counts of this period; of all workers, in the one before */
};

/* For a caller that acts between the events of a window. pause: called with a host that paused
 * (hal/virtual/sim_node.h) or has come to its limit, and its time, ps; the caller has it visited again, and until then
 * it is busy. */
struct worker_pauses {
    uint64_t *reached;     /* [sim_nodes], ps: the latest time at which each did something; NULL: no such caller */
    const uint64_t *limit; /* [sim_nodes], ps: it does nothing at that time or later; UINT64_MAX: none */
    void (*pause)(void *of, struct virtual_sim_node *e, uint64_t now);
    void *of;
};

/* State of a worker. */
struct worker {
    const struct model *m;
    struct model_area *area;
    struct model_progress *progress;
    bool *neighbour; /* [workers]: those that the channel serves in each window */
    unsigned self;
    uint64_t warm, over; /* ps: interval in which rates count; UINT64_MAX: not known, no end */
    uint64_t stops;      /* ps: when sources stop; 0: they have; UINT64_MAX: not known */
    struct open_loop open;
    struct virtual_worker v;
    struct virtual_sim_node **sim_node; /* [sim_nodes], by number in the wheel */
    uint32_t sim_nodes;
    struct virtual_visit *visit; /* of a window, between VIRTUAL_PREFETCH_STAGES empty ones at each end */
    uint32_t border;             /* simulated nodes with links to other workers; they come first */
    uint32_t attend_before;      /* the next visit to a node of this or a higher number attends to the channel */
    bool published;              /* the turn of this window is published */
    bool shows;                  /* over ranks: this worker asks all to show their counters */
    struct driver *driver;       /* [accelerators] of this worker */
    uint32_t accelerators;
    uint64_t active;         /* accelerators that are not done */
    unsigned marked;         /* ends of the measured interval noted so far (worker.c) */
    uint8_t *memory;         /* of the simulated nodes */
    struct faults *faults;   /* NULL: no faults */
    struct repeats *repeats; /* NULL: all is simulated */
    struct forward *forward; /* NULL: all is simulated */
    struct worker_pauses pauses;
};

/* Returns true if the packet at `position` (tail .. head - 1) has not left: it waits, or the switch has not seen it. */
static inline bool state_holds(const struct virtual_rx *rx, const struct hx_input *in, unsigned vc, uint16_t position)
{
    uint16_t tail = hx_lane(rx->tail, vc);
    bool looked_at = (uint16_t)(position - tail) < (uint16_t)(hx_lane(in->seen, vc) - tail);
    return !looked_at || (in->waiting[vc] >> position % HX_WINDOW & 1);
}

#endif
