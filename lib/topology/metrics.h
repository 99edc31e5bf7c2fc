/* metrics.h - the counters of a running fabric in shared memory, for `hxmesh top` or any other program.
 *
 * Every fabric, live or virtual, has an object /dev/shm/hxmesh-NAME (base/arena.h). It begins with a struct
 * hx_metrics_head, which describes the fabric and the offsets of the counters:
 *
 *     worker[workers]              by worker
 *     accelerator[accelerators]    by rank
 *     link[links]                  by plane, node and port: what leaves by that port; LOCAL: to the endpoint
 *     owner[nodes]                 the worker that runs the node, HX_METRICS_NOBODY: it has no firmware here
 *
 * Nodes and ports have the numbers of topology/fabric.h. Counters only grow, also when a killed worker restarts, so
 * rates follow from two readings. Values are in native byte order and 64 bits wide unless stated.
 *
 * Active faults (docs/faults.md) stand in the head, for a live fabric only: its supervisor applies them.
 *
 * The supervisor writes the head, and the state, pid and deaths of a worker. Each worker alone writes its other
 * counters, its accelerators' and its nodes' links'. It keeps private counters and copies them here every
 * hx_metrics_period(), between hx_metrics_begin() and hx_metrics_end(). Readers map the object read-only, copy it
 * (hx_metrics_read) and check all they use (hx_metrics_check).
 *
 * Over ranks of MPI worker 0 writes here what the others send: their `pid` is of their machine, their `at_ns` the time
 * when it came. */
#ifndef HXMESH_TOPOLOGY_METRICS_H
#define HXMESH_TOPOLOGY_METRICS_H

#include "base/error.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/switch.h"
#include "topology/fabric.h"

#include <stdalign.h>
#include <stdatomic.h>

enum { HX_METRICS_VERSION = 8, HX_METRICS_MOST_WORKERS = UINT16_MAX, HX_METRICS_NOBODY = UINT16_MAX };
#define HX_METRICS_MAGIC UINT64_C(0x32306873656d7868) /* "hxmesh02" */

enum hx_life { HX_LIFE_OPENING, HX_LIFE_READY, HX_LIFE_ENDED };
enum hx_phase { HX_PHASE_STARTING, HX_PHASE_RUNNING, HX_PHASE_DRAINING, HX_PHASE_STOPPING, HX_PHASES };
enum hx_worker_state { HX_WORKER_STARTING, HX_WORKER_RUNNING, HX_WORKER_DONE, HX_WORKER_DOWN, HX_WORKER_STATES };

enum { HX_METRICS_FAULTS = 16, HX_METRICS_FAULT_WORDS = 20 };

/* An active fault. */
struct hx_metrics_fault {
    _Atomic uint64_t since_ns;                     /* relative to the fabric's start of traffic */
    _Atomic uint64_t line[HX_METRICS_FAULT_WORDS]; /* a line of a schedule; ends with 0 */
};

struct hx_metrics_faults {
    _Atomic uint64_t sequence;                        /* odd while it is written */
    _Atomic uint64_t holding;                         /* number of active faults */
    _Atomic uint64_t planned;                         /* number of lines of a plan that hold: links closed as planned */
    struct hx_metrics_fault fault[HX_METRICS_FAULTS]; /* the latest first */
};

struct hx_metrics_head {
    uint64_t magic;
    uint32_t version, head_bytes;      /* HX_METRICS_VERSION, sizeof(struct hx_metrics_head) */
    _Atomic uint32_t life;             /* enum hx_life: the fields below are valid from HX_LIFE_READY on */
    int32_t pid;                       /* of the supervisor, informative */
    uint32_t clock;                    /* enum hx_clock */
    uint32_t a, b, x, y, radix, taper; /* of a HammingMesh; else 0, and `fabric` gives the topology */
    uint32_t planes;
    uint32_t workers, accelerators, nodes, links, drops; /* nodes: of one plane */
    uint64_t worker_at, accelerator_at, link_at, owner_at;
    uint64_t graph_at, graph_bytes;                /* contents of a graph's file */
    uint64_t link_rate;                            /* bytes per second */
    uint64_t goal_messages, goal_bytes, goal_time; /* to be acknowledged, delivered, passed (ns); 0: unknown */
    uint64_t goal_operations;                      /* of schedules, to end; 0: none */
    char name[64], fabric[256];                    /* as in the spec; end with 0 */
    char traffic[128];                             /* description */
    _Atomic uint32_t phase;                        /* enum hx_phase */
    _Atomic uint64_t started_ns;                   /* CLOCK_MONOTONIC at the start of traffic; 0: not started */
    struct hx_metrics_faults faults;
};

struct hx_metrics_worker {
    alignas(64) _Atomic uint64_t sequence; /* odd while the worker writes */
    _Atomic uint64_t at_ns;                /* CLOCK_MONOTONIC of its last write; 0: never */
    _Atomic uint64_t simulated_ps;         /* virtual clock: simulated time of its last write; else 0 */
    _Atomic uint64_t hops;                 /* packets sent by its switches */
    _Atomic uint64_t cpu_ns;               /* processor time */
    _Atomic uint64_t bytes_corrupted;
    _Atomic uint64_t operations_ended; /* of schedules, at its hosts */
    _Atomic uint64_t operations_open;  /* in progress; no counter: it also falls */
    _Atomic uint64_t drops[HX_DROP_COUNT];
    _Atomic uint64_t stalls[HX_STALL_COUNT];
    alignas(64) _Atomic uint32_t state; /* enum hx_worker_state */
    _Atomic int32_t pid;                /* 0: none */
    _Atomic uint64_t deaths;            /* times it was killed */
};

/* As struct hx_endpoint_stats. */
struct hx_metrics_accelerator {
    _Atomic uint64_t messages_sent, messages_received, messages_failed;
    _Atomic uint64_t packets_sent, packets_repeated, packets_delivered;
    _Atomic uint64_t bytes_delivered;
    _Atomic uint64_t acks_sent;
};

struct hx_metrics_link {
    _Atomic uint64_t packets;
    _Atomic uint64_t bytes; /* with headers; virtual clock: of the blocks that the link carries */
};

/* Pointers to the area in this process. */
struct hx_metrics {
    struct hx_metrics_head *head;
    struct hx_metrics_worker *worker;
    struct hx_metrics_accelerator *accelerator;
    struct hx_metrics_link *link;
    uint16_t *owner;
    char *graph;
};

/* ---- writers ---- */

/* Lays out the area in an object that begins at `base` (NULL: size only): the head first, the rest from `at` on.
 * Returns the end, a multiple of 64. */
size_t hx_metrics_place(struct hx_metrics *m, const struct hx_fabric *g, unsigned workers, uint8_t *base, size_t at);

/* Fills in the offsets and the description of the fabric, except life, goals and texts. */
void hx_metrics_describe(const struct hx_metrics *m, const struct hx_fabric *g, unsigned workers, unsigned clock);

/* Returns the link number of a node's port 0; `first_port`: of the node, among all ports of a plane. */
static inline uint32_t hx_metrics_link_number(const struct hx_metrics *m, unsigned plane, uint32_t first_port)
{
    return plane * (m->head->links / m->head->planes) + first_port;
}

/* Returns the time between two publications of a worker with this many links, ns: publishing takes less than 1 % of
 * it. */
uint64_t hx_metrics_period(uint32_t links);

static inline void hx_metrics_set(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

static inline uint64_t hx_metrics_get(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Begin and end a publication. A worker killed in between leaves an odd sequence, and its successor continues from
 * there. */
void hx_metrics_begin(struct hx_metrics_worker *w);
void hx_metrics_end(struct hx_metrics_worker *w, uint64_t at_ns, uint64_t cpu_ns, uint64_t hops,
                    uint64_t bytes_corrupted, const uint64_t drops[HX_DROP_COUNT],
                    const uint64_t stalls[HX_STALL_COUNT]);

static inline void hx_metrics_set_operations(struct hx_metrics_worker *w, uint64_t ended, uint64_t open)
{
    hx_metrics_set(&w->operations_ended, ended);
    hx_metrics_set(&w->operations_open, open);
}

void hx_metrics_set_accelerator(struct hx_metrics_accelerator *to, const struct hx_endpoint_stats *stats);

/* Publish active faults: begin, add from the latest to the first, end with the number of planned changes. Faults beyond
 * HX_METRICS_FAULTS are only counted. */
void hx_metrics_begin_faults(struct hx_metrics_faults *f);
void hx_metrics_add_fault(struct hx_metrics_faults *f, uint64_t since_ns, const char *line);
void hx_metrics_end_faults(struct hx_metrics_faults *f, uint64_t planned);

/* CLOCK_MONOTONIC. */
uint64_t hx_metrics_now(void);

/* ---- readers ---- */

/* Validates an object of `bytes` at `base`. Copies its head to *head, since the original may change, and sets *m.
 * Checks every offset, count and size that readers use. On success free *g; on failure returns false and sets
 * *problem. */
bool hx_metrics_check(const uint8_t *base, size_t bytes, struct hx_metrics_head *head, struct hx_metrics *m,
                      struct hx_fabric *g, struct hx_problem *problem);

/* Builds the fabric that the head of an object of `bytes` describes, to be freed. Returns false if it is invalid. */
bool hx_metrics_fabric(const struct hx_metrics_head *head, size_t bytes, struct hx_fabric *g);

/* A copy of all counters. worker[].sequence and the other fields are plain copies. */
struct hx_metrics_reading {
    uint64_t at_ns;
    struct hx_metrics_worker *worker;
    struct hx_metrics_accelerator *accelerator;
    struct hx_metrics_link *link;
    struct hx_metrics_faults faults; /* lines are printable text that ends with 0, whatever the object contains */
};
void hx_metrics_reading_new(struct hx_metrics_reading *r, const struct hx_metrics_head *head);
void hx_metrics_reading_free(struct hx_metrics_reading *r);

/* Copies all counters and active faults. A worker's counters are of one publication, unless it dies while it writes. */
void hx_metrics_read(struct hx_metrics_reading *r, const struct hx_metrics *m, const struct hx_metrics_head *head);

#endif
