/* node.h - the firmware instances of one worker, bound to the links they own.
 *
 * Private to the worker process: a killed worker loses them, and its successor builds them anew on the same links. */
#ifndef NODE_H
#define NODE_H

#include "clock.h"
#include "deferred.h"
#include "fabric.h"
#include "workload/workload.h"

/* A switch and its HAL. */
struct node {
    struct hx_switch sw;
    struct hal_switch hal;
    uint32_t id; /* of its plane */
    unsigned plane;
    void *tables;                /* route tables */
    struct faulty_link **faulty; /* [ports]: what brings something over a faulty link; NULL: no port does */
};

/* An accelerator: its endpoint and what drives it. Its switches are nodes of their own. */
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
    uint64_t awaited;         /* messages that must come from accelerators that run elsewhere */
    uint64_t predecessor;     /* messages a predecessor had begun */
    uint64_t resumed;         /* of these, all that were not finished have been begun again up to here */
    uint64_t hit;             /* messages under way of which packets were repeated, bit by place in report->flying */
    uint64_t repeated;        /* packets that were, as last looked at */
    bool *cut_off;            /* [accelerators]: had no way lately; NULL: none */
    struct deferred deferred; /* messages whose hosts have no place for them yet */
};

/* A replay into a link of this worker (feed.h). */
struct feeding {
    struct feed *feed;               /* NULL: none */
    unsigned plane, port;            /* port: of the sending node */
    struct node *node;               /* the sending end of the link, */
    struct accelerator *accelerator; /* or the one in whose stead is injected */
};

struct bridge;
struct faulty_link;
struct plane_reroute;
struct wire;

/* What the worker runs. */
struct worker {
    const struct fab_fabric *f;
    const struct workload_plan *workload;
    unsigned self;
    bool shares_core;     /* there are more workers than cores */
    uint64_t slice_began; /* then: when it got its core */
    uint64_t cpu_before;  /* ns: processor time of its predecessors */
    uint64_t publish_at;  /* when its counters are due (publish.h) */
    uint64_t done_at;     /* when its accelerators were done; 0: they are not */
    struct shm_worker shm;
    const struct shm_clock *clock;
    struct shm_taps taps;
    uint64_t tap_word[SHM_TAPS]; /* of the control's slots, as last followed */
    uint64_t feed_word;          /* likewise */
    uint32_t taps_seen;          /* control->taps_changed, likewise */
    struct feeding feeding;
    int wakeup;       /* what it sleeps on where hosts are for programs (wakeup.h); -1: they are not */
    bool held;        /* a switch waits for its capture in this sweep */
    uint64_t down;    /* workers that are down, bit by worker */
    uint64_t gone;    /* of these, workers that will not come back */
    uint8_t *blocked; /* boards that a node may not land on, bit by board: as the one that is built now needs them */
    uint8_t *cut;     /* [planes][boards]: 1: no link leads to the board */
    struct plane_reroute *reroute; /* [planes]: round what is down (reroute.h); NULL: ways are not searched */
    uint64_t *alone_since;         /* [hosts]: when the last link to it went down; UINT64_MAX: it has one */
    struct faulty_link **faulty;   /* of all its nodes */
    size_t faulties, faulty_room;
    struct node *node;
    unsigned accelerator_nodes; /* the first of node[], */
    unsigned switch_nodes;      /* then tree switches up to here, then the bridges' */
    unsigned nodes;
    struct accelerator *accelerator;
    unsigned accelerators;
    uint8_t *endpoints; /* memory of their endpoints, which the kernel gives when it is touched */
    size_t endpoints_bytes, endpoints_used;
    struct wire *wire;     /* [spec.externals][HX_CABLE_PORTS]: of all workers */
    struct bridge *bridge; /* in the place of its accelerators that run elsewhere */
    unsigned bridges;
};

/* Whether the endpoints of this worker look at the CRC of what arrives. */
static inline bool worker_checks(const struct worker *w)
{
    return w->workload->verify || w->f->spec.externals > 0;
}

#endif
