/* node.h - the firmware instances of one worker, bound to their links.
 *
 * Private to the worker process: after a kill its successor builds them again on the same links. */
#ifndef NODE_H
#define NODE_H

#include "clock.h"
#include "deferred.h"
#include "fabric.h"
#include "spec/around_links.h"
#include "workload/workload.h"

/* A switch and its HAL. */
struct node {
    struct hx_switch sw;
    struct hal_switch hal;
    uint32_t id; /* in its plane */
    unsigned plane;
    void *tables;                /* route tables */
    struct around_node around;   /* HammingMesh */
    struct faulty_link **faulty; /* [ports]: faulty link before the port, or NULL; NULL: none at any port */
};

/* How often the packet after the acknowledged ones of a message ended in a dead end. */
struct dead_ends {
    uint32_t rank, message; /* the receiver; its number */
    uint32_t acked;
    uint32_t times;
};

/* An endpoint and its driver. Its switches are separate nodes. */
struct accelerator {
    struct hx_endpoint endpoint;
    struct hal_endpoint hal;
    struct fab_accelerator *report;
    struct fab_area *area;
    struct job_count *job;
    struct worker *worker;
    struct workload *workload;
    uint32_t rank;
    uint16_t gx, gy;
    uint64_t awaited;     /* messages due from external accelerators */
    uint64_t predecessor; /* messages that a predecessor had begun */
    uint64_t resumed;     /* of these, begun again up to this number */
    uint64_t hit;         /* messages in flight that were repeated or lack a path, bit by index in report->flying */
    uint64_t repeated;    /* repeated packets at the last check */
    struct dead_ends dead_ends[FAB_SENDS]; /* of endpoint.send[] */
    uint8_t *paths;                        /* [hosts]: enum paths_of_host; NULL: all are unknown */
    struct deferred deferred;              /* messages that wait for room towards their host */
};

/* A replay into a link of this worker (feed.h). */
struct feeding {
    struct feed *feed;               /* NULL: none */
    unsigned plane, port;            /* of the sending node */
    struct node *node;               /* sender of the link, */
    struct accelerator *accelerator; /* or the endpoint to inject for */
};

struct bridge;
struct faulty_link;
struct plane_reroute;
struct wire;

/* State of a worker. */
struct worker {
    const struct fab_fabric *f;
    const struct workload_plan *workload;
    unsigned self;
    bool shares_core;     /* more workers than cores */
    uint64_t slice_began; /* ns; used if shares_core */
    uint64_t cpu_before;  /* ns: processor time of its predecessors */
    uint64_t publish_at;  /* ns: when counters are due (publish.h) */
    uint64_t done_at;     /* ns: when its hosts were done; 0: they are not */
    struct shm_worker shm;
    const struct shm_clock *clock;
    struct shm_taps taps;
    uint64_t tap_word[SHM_TAPS]; /* control's slots as last followed */
    uint64_t feed_word;          /* control->feed as last followed */
    uint32_t taps_seen;          /* control->taps_changed as last followed */
    struct feeding feeding;
    int wakeup;           /* descriptor it sleeps on where hosts are for programs (wakeup.h); -1: it uses its futex */
    bool held;            /* a switch waits for its capture in this sweep */
    uint64_t down;        /* workers that are down, bit by worker */
    uint64_t gone;        /* of these, workers that stay down */
    uint64_t paths_since; /* ns: when paths changed last */
    struct plane_reroute *reroute; /* [planes] (reroute.h) */
    struct around_shared around;   /* HammingMesh */
    struct job_boards boards;
    uint64_t *alone_since;       /* [hosts]: ns since when it has no link; UINT64_MAX: it has one */
    struct faulty_link **faulty; /* of all its nodes */
    size_t faulties, faulty_room;
    struct node *node;
    unsigned accelerator_nodes; /* first in node[] */
    unsigned switch_nodes;      /* then tree switches up to here, then the bridges' nodes */
    unsigned nodes;
    struct accelerator *accelerator;
    unsigned accelerators;
    uint8_t *endpoints; /* memory of its endpoints, untouched at first */
    size_t endpoints_bytes, endpoints_used;
    struct wire *wire;     /* [spec.externals][HX_CABLE_PORTS]: shared by all workers */
    struct bridge *bridge; /* for its external accelerators */
    unsigned bridges;
};

/* Whether this worker's endpoints check CRCs. */
static inline bool worker_checks(const struct worker *w)
{
    return w->workload->verify || w->f->spec.externals > 0;
}

#endif
