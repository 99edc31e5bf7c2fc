/* metrics.h - the counters of a running fabric, for whoever may read its shared memory: `hxmesh top`, or a program of
 * yours.
 *
 * Every fabric, live or virtual, has an object /dev/shm/hxmesh-NAME (base/arena.h). It begins with a struct
 * hx_metrics_head, which says what the fabric is and where in the object the counters lie:
 *
 *     worker[workers]              by worker
 *     accelerator[accelerators]    by rank
 *     link[links]                  by plane, node and port: what leaves by that port; LOCAL: to the endpoint
 *     owner[nodes]                 the worker that runs the node, HX_METRICS_NOBODY: it has no firmware here
 *
 * Nodes and ports are numbered as topology/fabric.h says. Counters only grow, also when a killed worker is started
 * again, so that rates follow from two readings. Everything is native byte order and 64 bits wide unless it says so.
 *
 * Faults that hold (docs/faults.md) stand in the head; of a live fabric alone, the supervisor of which does them
 * itself.
 *
 * Who writes: the supervisor all of the head, and of a worker its state, pid and deaths; all other counters of a
 * worker, its accelerators and its nodes' links that worker alone. It keeps them apart and copies them here every
 * hx_metrics_period(), between hx_metrics_begin() and hx_metrics_end(), so that publishing costs nothing in between.
 * Readers map the object for reading only, copy (hx_metrics_read) and check all they use (hx_metrics_check). */
#ifndef HXMESH_TOPOLOGY_METRICS_H
#define HXMESH_TOPOLOGY_METRICS_H

#include "base/error.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/switch.h"
#include "topology/fabric.h"

#include <stdalign.h>
#include <stdatomic.h>

enum { HX_METRICS_VERSION = 4, HX_METRICS_MOST_WORKERS = 64, HX_METRICS_NOBODY = 255 };
#define HX_METRICS_MAGIC UINT64_C(0x32306873656d7868) /* "hxmesh02" */

enum hx_life { HX_LIFE_OPENING, HX_LIFE_READY, HX_LIFE_ENDED };
enum hx_phase { HX_PHASE_STARTING, HX_PHASE_RUNNING, HX_PHASE_DRAINING, HX_PHASE_STOPPING, HX_PHASES };
enum hx_worker_state { HX_WORKER_STARTING, HX_WORKER_RUNNING, HX_WORKER_DONE, HX_WORKER_DOWN, HX_WORKER_STATES };

enum { HX_METRICS_FAULTS = 16, HX_METRICS_FAULT_WORDS = 20 };

/* A fault that has begun and is not over. */
struct hx_metrics_fault {
    _Atomic uint64_t since_ns;                     /* from when the fabric began to send */
    _Atomic uint64_t line[HX_METRICS_FAULT_WORDS]; /* as in a schedule; ends with 0 */
};

struct hx_metrics_faults {
    _Atomic uint64_t sequence;                        /* odd while it is written */
    _Atomic uint64_t holding;                         /* how many hold */
    struct hx_metrics_fault fault[HX_METRICS_FAULTS]; /* those that began last, the latest first */
};

struct hx_metrics_head {
    uint64_t magic;
    uint32_t version, head_bytes;      /* HX_METRICS_VERSION, sizeof(struct hx_metrics_head) */
    _Atomic uint32_t life;             /* enum hx_life: all below is true from HX_LIFE_READY on */
    int32_t pid;                       /* of the supervisor, for show */
    uint32_t clock;                    /* enum hx_clock */
    uint32_t a, b, x, y, radix, taper; /* of a HammingMesh; else 0, and `fabric` says all */
    uint32_t planes;
    uint32_t workers, accelerators, nodes, links, drops; /* nodes: of one plane */
    uint64_t worker_at, accelerator_at, link_at, owner_at;
    uint64_t graph_at, graph_bytes;                /* what the file of a graph says */
    uint64_t link_rate;                            /* bytes a second that a link carries */
    uint64_t goal_messages, goal_bytes, goal_time; /* to be acknowledged, delivered, passed (ns); 0: not known */
    char name[64], fabric[256];                    /* the spec's; end with 0 */
    char traffic[128];                             /* in words */
    _Atomic uint32_t phase;                        /* enum hx_phase */
    _Atomic uint64_t started_ns;                   /* CLOCK_MONOTONIC, when it began to send; 0: not yet */
    struct hx_metrics_faults faults;
};

struct hx_metrics_worker {
    alignas(64) _Atomic uint64_t sequence; /* odd while the worker writes */
    _Atomic uint64_t at_ns;                /* CLOCK_MONOTONIC, when it last wrote; 0: never */
    _Atomic uint64_t simulated_ps;         /* virtual clock: likewise; else 0 */
    _Atomic uint64_t hops;                 /* packets its switches have sent */
    _Atomic uint64_t cpu_ns;               /* processor time */
    _Atomic uint64_t bytes_corrupted;
    _Atomic uint64_t drops[HX_DROP_COUNT];
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
    _Atomic uint64_t bytes; /* headers included; virtual clock: of the blocks that the link is busy with */
};

/* The area as this process sees it. */
struct hx_metrics {
    struct hx_metrics_head *head;
    struct hx_metrics_worker *worker;
    struct hx_metrics_accelerator *accelerator;
    struct hx_metrics_link *link;
    uint8_t *owner;
    char *graph;
};

/* ---- writers ---- */

/* Finds all of it in an object that begins at `base` (NULL: only its size is asked): the head at its beginning, the
 * rest from `at` on. Returns where that ends, a multiple of 64. */
size_t hx_metrics_place(struct hx_metrics *m, const struct hx_fabric *g, unsigned workers, uint8_t *base, size_t at);

/* Fills in where all of it lies and what it describes; life, goals and words are left to the caller. */
void hx_metrics_describe(const struct hx_metrics *m, const struct hx_fabric *g, unsigned workers, unsigned clock);

/* Number of what leaves by port 0 of a node; `first_port`: of the node, among the ports of all nodes of a plane. */
static inline uint32_t hx_metrics_link_number(const struct hx_metrics *m, unsigned plane, uint32_t first_port)
{
    return plane * (m->head->links / m->head->planes) + first_port;
}

/* How long a worker that has so many links lets pass between two publications, ns: they take less than a hundredth of
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

/* A worker that was killed between the two leaves an odd number: its successor begins from there. */
void hx_metrics_begin(struct hx_metrics_worker *w);
void hx_metrics_end(struct hx_metrics_worker *w, uint64_t at_ns, uint64_t cpu_ns, uint64_t hops,
                    uint64_t bytes_corrupted, const uint64_t drops[HX_DROP_COUNT]);

void hx_metrics_set_accelerator(struct hx_metrics_accelerator *to, const struct hx_endpoint_stats *stats);

/* Faults that hold: hx_metrics_begin_faults(), one after the other from the latest to the first,
 * hx_metrics_end_faults(). Those that find no room are counted. */
void hx_metrics_begin_faults(struct hx_metrics_faults *f);
void hx_metrics_add_fault(struct hx_metrics_faults *f, uint64_t since_ns, const char *line);
void hx_metrics_end_faults(struct hx_metrics_faults *f);

/* CLOCK_MONOTONIC. */
uint64_t hx_metrics_now(void);

/* ---- readers ---- */

/* Judges an object of `bytes` that begins at `base`; copies its head to *head, since what is checked must not change,
 * and finds the rest. Every offset, count and size that is used afterwards was looked at. On true *g is to be freed. */
bool hx_metrics_check(const uint8_t *base, size_t bytes, struct hx_metrics_head *head, struct hx_metrics *m,
                      struct hx_fabric *g, struct hx_problem *problem);

/* The fabric that the head of an object of `bytes` describes; false: there is none like it. To be freed. */
bool hx_metrics_fabric(const struct hx_metrics_head *head, size_t bytes, struct hx_fabric *g);

/* What all counters were. worker[].sequence and so on are plain copies. */
struct hx_metrics_reading {
    uint64_t at_ns;
    struct hx_metrics_worker *worker;
    struct hx_metrics_accelerator *accelerator;
    struct hx_metrics_link *link;
    struct hx_metrics_faults faults; /* lines are printable text that ends with 0, whoever wrote them */
};
void hx_metrics_reading_new(struct hx_metrics_reading *r, const struct hx_metrics_head *head);
void hx_metrics_reading_free(struct hx_metrics_reading *r);

/* Copies all counters and the faults that hold; of each worker those of one publication, unless it dies while it
 * writes. */
void hx_metrics_read(struct hx_metrics_reading *r, const struct hx_metrics *m, const struct hx_metrics_head *head);

#endif
