/* model.h - a fabric under the virtual clock: what all workers inherit, and the part of it that one worker builds.
 *
 * The supervisor makes a `struct model` before it forks. Each worker then builds its own entities in memory of its own
 * (build.c) and writes what it has to report into its pieces of `shared`, which the supervisor reads at the end. */
#ifndef MODEL_H
#define MODEL_H

#include "base/arena.h"
#include "fault.h"
#include "sim_node.h"
#include "spec/faults/faults.h"
#include "topology/metrics.h"
#include "topology/name.h"
#include "workload/jobs.h"
#include "workload/workload.h"

#include <stdalign.h>
#include <stdatomic.h>

/* What the supervisor tells, and what one worker tells it while time runs. */
struct model_control {
    _Atomic bool stop; /* the user has had enough */
};

struct model_area {
    alignas(64) _Atomic uint64_t now; /* ps, end of the last window */
    _Atomic uint64_t hops;
    _Atomic uint64_t acknowledged; /* messages */
    _Atomic uint64_t delivered;    /* bytes of payload, as of `now` */
    /* At the end: */
    uint64_t drops[HX_DROP_COUNT];
    uint64_t bytes_corrupted;
    uint64_t bytes_measured; /* payload delivered between the warm-up and the end of the duration */
    uint64_t last_delivery;  /* ps */
    uint64_t private_bytes;
    uint32_t buffers_used; /* packets under way; where links fail, such as stand nowhere */
    uint32_t max_vc;
    uint32_t collectives_done; /* accelerators that finished their part */
    bool collective_ended;     /* a message was given up */
    bool interrupted, complete;
    /* Where nothing moves any more (watchdog.h): */
    bool stuck;
    uint64_t moved; /* ps: when a packet moved last */
    uint64_t held;  /* packets that stand in this worker's switches */
    uint64_t could; /* of these, have an output with credit */
};

/* Packets of one (input, VC), when nothing moves: outputs they want that lack credit, by the VC behind them. */
struct model_wait {
    uint64_t outputs[HX_VCS];
};

/* Of one VC of a link, at the end, in blocks: what its sending end has, and what its receiving end holds. */
struct model_balance {
    uint32_t credit, held;
};

/* What an accelerator received since the warm-up. */
struct model_receiver {
    uint64_t bytes;
    uint64_t last; /* ps: when the last of it came */
};

/* What an accelerator's endpoint did, at the end. */
struct model_sum {
    struct hx_endpoint_stats stats;
    uint64_t begun; /* messages */
};

/* Of a link: blocks as the measured interval begins, and as it ends. */
struct model_span {
    uint64_t from, to;
};

/* What one worker counted of one fault; shared. */
struct model_fault {
    struct hx_fault_cost cost;
    uint64_t hits;  /* packets that were lost or damaged on links it sends by */
    uint64_t whole; /* ps: when the last of the messages that its own accelerators sent ended */
    uint64_t open;  /* packets of messages of its own accelerators that had not ended with the run */
};

/* A packet that was lost or damaged; shared. */
struct model_hit {
    uint32_t from, to; /* ranks, of the message */
    uint32_t message;
    uint32_t fault;
};

/* What is known of hits across workers; shared. */
struct model_hits {
    uint64_t count;
    uint64_t unlisted; /* more than there is room for */
    struct model_hit hit[];
};
enum { MODEL_HITS = 1 << 20 /* of all workers: of more it is not known when traffic was whole, whoever has them */ };

struct recording;

struct model {
    const struct hx_spec *spec;
    const struct hx_fabric *g;
    struct workload_plan workload;
    struct hx_settings settings;
    struct virtual_timing timing;
    struct layout layout;
    struct jobs jobs;
    unsigned workers;
    bool own_cores; /* of each worker: otherwise some share one */
    struct virtual_channel *channel;
    struct model_control *control; /* shared */
    struct model_area *area;       /* shared, [workers] */
    struct job_count *job;         /* shared, [jobs.slots] */
    struct model_sum *sum;         /* shared, [accelerators] */
    struct shm_arena arena;        /* what others may see of the run (topology/metrics.h); base NULL: nobody sees it */
    struct hx_metrics metrics;     /* shared; in the arena, if there is one */
    struct model_span *span;       /* shared, [planes * links] */
    struct model_receiver *receiver; /* shared, [accelerators] */
    struct model_wait *wait;         /* shared, [planes * links][HX_VCS]: by number of what leaves by the same port */
    struct model_balance *balance;   /* shared, [planes * links][HX_VCS]: by number of the link */
    uint64_t watchdog;               /* ps without a packet that moves; 0: as long as it likes */
    bool check_steps;                /* audit.h */
    struct recording *recording;     /* NULL: nothing is captured */
    const struct hx_faults *faults;  /* NULL: nothing fails */
    uint64_t detect_ns, notify_ns;   /* faults.h */
    struct model_fault *fault;       /* shared, [workers][faults], and hits behind them */
    void *shared;
    size_t shared_bytes;
};

/* What the platform takes of the parameters of a run, which are complete (hx_timing_complete). */
struct virtual_speeds model_speeds(const struct hx_timing *timing);

/* *spec, *g, *traffic and *collective (NULL: messages) must outlive *m. */
void model_create(struct model *m, const struct traffic *traffic, const struct collective_plan *collective,
                  const struct hx_timing *timing, unsigned workers);
/* Lets these faults happen; *faults must outlive *m. Before any worker is forked. */
void model_schedule(struct model *m, const struct hx_faults *faults, const struct hx_fault_settings *settings);
/* Lets other processes see the counters, by this name (NULL: by process number). Before any worker is forked; dies with
 * one line if that cannot be. */
void model_announce(struct model *m, const char *name);
/* No worker runs any more: what others see now is the end. */
void model_end(const struct model *m);
void model_destroy(struct model *m);

/* The number of what leaves node by port. */
static inline uint32_t model_link_number(const struct model *m, unsigned plane, uint32_t node, unsigned port)
{
    return plane * m->layout.links + m->layout.first_link[node] + port;
}

/* The counters of a link, by its number. */
static inline struct hx_metrics_link *model_link(const struct model *m, uint32_t link)
{
    return &m->metrics.link[link - link / m->layout.links * m->g->hosts];
}

/* The port whose number that is; returns its node. */
uint32_t model_port_of(const struct model *m, uint32_t link, unsigned *plane, unsigned *port);
/* Its name as everywhere (topology/name.h). */
const char *model_port_name(const struct model *m, uint32_t link, char name[HX_NAME_BYTES]);

#endif
