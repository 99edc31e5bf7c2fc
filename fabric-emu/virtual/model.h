/* model.h - a fabric under the virtual clock, as all workers inherit it.
 *
 * The supervisor makes a `struct model` before it forks. Each worker builds its own simulated nodes in private memory
 * (build.c). It writes its report into its parts of the shared arrays, and reads no other part. They begin as zeros, so
 * the channel can combine those of several machines (model_collect). The supervisor reads them at the end. */
#ifndef MODEL_H
#define MODEL_H

#include "base/arena.h"
#include "fabric-emu/report/result.h"
#include "fault.h"
#include "sim_node.h"
#include "spec/faults/faults.h"
#include "topology/metrics.h"
#include "topology/name.h"
#include "workload/fast_forward.h"
#include "workload/jobs.h"
#include "workload/workload.h"

#include <stdalign.h>
#include <stdatomic.h>

/* Between the supervisor and its workers, while time runs. Workers tell those of other supervisors by their turn. */
struct model_control {
    _Atomic bool stop;  /* the user ends the run */
    _Atomic bool begun; /* a worker has joined the others */
};

/* How far a worker is, for the supervisor while time runs. */
struct model_progress {
    alignas(64) _Atomic uint64_t now; /* ps, end of the last window */
    _Atomic uint64_t hops;
    _Atomic uint64_t acknowledged; /* messages */
    _Atomic uint64_t delivered;    /* bytes of payload, at `now` */
};

/* A mean of times, ps. */
struct model_mean {
    uint64_t sum, count;
};

/* What a worker reports at its end. */
struct model_area {
    alignas(64) uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    uint64_t bytes_corrupted;
    uint64_t bytes_measured; /* payload delivered between the warm-up and the end of the duration */
    uint64_t last_delivery;  /* ps */
    uint64_t window_wait;    /* ps, all hosts: with nothing to inject while a message waited for its pair's window */
    /* Of a run at a rate (open_loop.h): */
    bool open, steady;
    bool stopped;              /* sources stopped by themselves, not with an interrupted run */
    uint64_t warm;             /* ps: end of the warm-up; equal in all workers */
    uint64_t marked, arrived;  /* messages of the measured interval that did not fail; acknowledged in time */
    uint64_t last_marked;      /* ps: the last of these acknowledgements */
    struct model_mean half[2]; /* latency of marked packets, by the half of the interval that generated them */
    uint64_t private_bytes;
    uint32_t buffers_used; /* packets in flight; with faults of links, packets that are nowhere */
    uint32_t max_vc;
    uint32_t collectives_done; /* accelerators that finished their part */
    bool collective_ended;     /* a message failed */
    bool interrupted, complete;
    struct repeats_count repeats; /* equal in all workers but for `iterations` */
    struct fast_forward_counts fast_forward;
    /* If the fabric is stuck (watchdog.h): */
    bool stuck;
    uint64_t moved;   /* ps: last move of a packet */
    uint64_t held;    /* packets in this worker's switches */
    uint64_t movable; /* of these, packets with an output that has credit */
};

/* A stuck (input, VC): outputs without credit that its packets may take, by the VC behind them. */
struct model_wait {
    uint64_t outputs[HX_VCS];
};

/* A VC of a link at the end, in blocks: credit of the sender, and blocks in the receiver's buffer. */
struct model_balance {
    uint32_t credit, held;
};

/* Payload that an accelerator received since the warm-up. */
struct model_receiver {
    uint64_t bytes;
    uint64_t last; /* ps: the last delivery */
};

/* Counters of an accelerator's endpoint, at the end. */
struct model_sum {
    struct hx_endpoint_stats stats;
    uint64_t begun; /* messages */
};

/* Blocks that a link carried, at the begin and at the end of the measured interval. */
struct model_span {
    uint64_t from, to;
};

/* One worker's counts of one fault; shared. */
struct model_fault {
    struct hx_fault_cost cost;
    uint64_t hits;  /* packets lost or damaged on links that this worker sends on */
    uint64_t whole; /* ps: end of the last hit message of its accelerators */
    uint64_t open;  /* packets of hit messages of its accelerators that did not end */
};

/* What one worker counted of all faults; shared. */
struct model_losses {
    uint64_t hits;     /* packets lost or damaged */
    uint64_t rerouted; /* packets that waited for a link when it closed as planned */
};

struct recording;

enum { MODEL_MOST_WINDOWS = VIRTUAL_BUCKETS }; /* from one turn to the next */

struct model {
    const struct hx_spec *spec;
    const struct hx_fabric *g;
    struct workload_plan workload;
    struct hx_settings settings;
    struct virtual_timing timing;
    struct layout layout;
    struct jobs jobs;
    unsigned workers, first, forked; /* of all; those of this launcher: first .. first + forked - 1 */
    bool own_cores;                  /* each worker has a core; otherwise some share one */
    uint32_t windows; /* that a worker simulates between two turns, at most: no link between workers is shorter */
    uint32_t cell;    /* windows of a cell: no turn spans two, so what is decided at its end depends on no parts */
    struct virtual_channel *channel;
    struct model_control *control;   /* shared */
    struct model_progress *progress; /* shared, [workers] */
    struct model_area *area;         /* shared, [workers] */
    struct job_count *job;           /* shared, [jobs.slots] */
    struct model_sum *sum;           /* shared, [accelerators] */
    struct shm_arena arena;          /* counters for readers outside (topology/metrics.h); base NULL: none */
    struct hx_metrics metrics;       /* shared; in the arena, if there is one */
    struct model_span *span;         /* shared, [planes * links] */
    struct model_receiver *receiver; /* shared, [accelerators] */
    struct model_wait *wait;         /* shared, [planes * links][HX_VCS]: by number of the output at the same port */
    struct model_balance *balance;   /* shared, [planes * links][HX_VCS]: by number of the link */
    uint64_t watchdog;               /* ps without a move of a packet; 0: off */
    bool check_steps;                /* audit.h */
    bool cuts_repeats;               /* repeats.h */
    struct recording *recording;     /* NULL: no capture */
    const struct hx_faults *faults;  /* NULL: no faults */
    uint64_t detect_ns, notify_ns;   /* faults.h */
    struct model_fault *fault;       /* shared, [workers][faults] */
    struct model_losses *losses;     /* shared, [workers] */
    void *shared;                    /* control, progress, arrays for the report from `area` to `sum`, metrics */
    size_t shared_bytes, array_bytes;
};

/* The platform's speeds, from complete parameters of a run (hx_timing_complete). */
struct virtual_speeds model_speeds(const struct hx_timing *timing);

/* Makes the model. What `plan` points to must outlive it; its traffic and what replaces messages are set.
 * asked: workers, if this launcher is the only one. */
void model_create(struct model *m, const struct workload_plan *plan, const struct hx_timing *timing, unsigned asked);
/* Schedules faults. Call before workers are forked. *faults must outlive *m. */
void model_schedule(struct model *m, const struct hx_faults *faults, const struct hx_fault_settings *settings);
/* Shows the counters to other processes under a name (NULL: by process number). Call before workers are forked. Dies
 * with one line if it cannot. */
void model_announce(struct model *m, const char *name);
/* Takes a turn with all other workers. If one of them died, this process ends: a supervisor reports the cause. */
void model_turn(const struct model *m, struct virtual_turn *turn);
/* Hands what the workers wrote to the launcher that reports. All workers call it at their end. */
void model_collect(const struct model *m);
/* Whether workers have several launchers, so that they share no memory. */
static inline bool model_is_of_ranks(const struct model *m)
{
    return m->forked < m->workers;
}
/* Whether this launcher reports. */
static inline bool model_is_reported(const struct model *m)
{
    return m->first == 0;
}
/* Marks the counters as final. Call after all workers ended. */
void model_end(const struct model *m);
void model_destroy(struct model *m);

/* The number of the output at a node's port. */
static inline uint32_t model_link_number(const struct model *m, unsigned plane, uint32_t node, unsigned port)
{
    return plane * m->layout.links + m->layout.first_link[node] + port;
}

static inline struct hx_metrics_link *model_link(const struct model *m, uint32_t link)
{
    return &m->metrics.link[link - link / m->layout.links * m->g->hosts];
}

/* The node of a numbered output; writes its plane and port. */
uint32_t model_port_of(const struct model *m, uint32_t link, unsigned *plane, unsigned *port);
const char *model_port_name(const struct model *m, uint32_t link, char name[HX_NAME_BYTES]);

#endif
