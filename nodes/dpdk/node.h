/* node.h - the running node: its ports, the cores that poll them, and control.
 *
 * Writers:
 *     control (one thread)    carrier, up, phase, config             cores read them once a loop
 *     a core                  its ports, its switch, its counts      control and telemetry read counts at any time
 *
 * A port with a link at its device (carrier) is polled, so that its session can open. A port with an open session and a
 * peer that is not silent is up, and has routes.
 *
 * A port with a device that is not up is a dead link. The node says so in notices, and learns of others (around.h).
 *
 * Every core has a switch and route tables of its own: the inputs of the node are divided among them. Shares
 * (hal/dpdk/share.h) limit what a core sends by ports of others. */
#ifndef DPDK_NODE_NODE_H
#define DPDK_NODE_NODE_H

#include "around.h"
#include "buffers.h"
#include "config.h"
#include "device_counts.h"
#include "device_watch.h"
#include "hal_port.h"

#include <stdatomic.h>

enum node_phase { NODE_RUNNING, NODE_DRAINING, NODE_STOPPING };

struct local;

struct core {
    struct node *node;
    const struct node_config *config; /* of the node, as this core follows it */
    unsigned index;                   /* among the node's cores */
    unsigned lcore;                   /* of EAL */
    bool is_tree;
    struct hx_switch sw;
    struct hal_switch hal;
    void *tables;
    struct core_around around;
    uint64_t carrier;    /* links that it polls, if the ports are its own */
    uint64_t looked_at;  /* TSC of the last check of sessions */
    struct local *local; /* the built-in endpoint, if this core runs it */
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    struct dpdk_share *send[HX_MAX_RADIX]; /* by port; NULL: its own, or unused */
    struct dpdk_turn turn[HX_MAX_RADIX];   /* by port of its own */
    /* Read by control and telemetry. */
    _Atomic uint64_t carrier_seen; /* carriers it has read: it polls only these */
    _Atomic uint64_t open;         /* own links with a session */
    _Atomic uint64_t loops, busy_loops;
    _Atomic uint64_t moved;      /* packets forwarded */
    _Atomic uint64_t busy_ticks; /* TSC in loops with work */
    _Atomic uint32_t waiting;    /* packets and frames held while the node drains; UINT32_MAX: not reported */
};

struct node {
    const struct node_config *_Atomic config; /* control replaces it (reload.h); each that it had stays */
    struct buffers buffers;
    struct dpdk_port *port; /* [config->ports] */
    struct core *core[RTE_MAX_LCORE];
    unsigned cores;
    uint8_t owner[HX_MAX_RADIX]; /* core of a port */
    struct local *local;         /* the built-in endpoint; NULL: none */
    uint64_t ticks_per_second;
    uint64_t started;            /* TSC */
    struct dpdk_notices notices; /* of dead links */
    struct cable_links links;    /* that it says; control's */
    uint16_t endpoint_device;
    int numa[HX_MAX_RADIX]; /* NUMA node of a port's device; its core's if the device has none */
    bool opened;            /* node_open() is done */
    /* Control's, by port. */
    struct device_watch watch[HX_MAX_RADIX];
    struct device_counts device_counts[HX_MAX_RADIX]; /* of devices that were removed */
    uint64_t unstarted;               /* devices that are not started, as their other side does not listen */
    uint64_t refused;                 /* devices with an error that was said */
    uint64_t looked_at[HX_MAX_RADIX]; /* TSC when a device was started, last seen up, or asked for */
    uint64_t cables;                  /* ports with a device */
    _Atomic uint64_t carrier;         /* ports with a device that has a link */
    _Atomic uint64_t up;              /* ports of these with a session, LOCAL included */
    _Atomic uint32_t phase;           /* enum node_phase */
};

static inline uint64_t node_ticks(const struct node *n, uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * n->ticks_per_second / 1000000000U);
}

/* The pool of a port's frames. */
static inline struct rte_mempool *node_pool(const struct node *n, unsigned port)
{
    return n->buffers.pool[n->numa[port]];
}

/* Opens the devices and builds everything; EAL is started. Exits with an error if the machine refuses. */
void node_open(struct node *n, const struct node_config *config);
void node_close(struct node *n);
/* Starts the time in which no link counts as dead that was never up. node_open() does it; again, if the node waits. */
void node_start_clock(struct node *n);

/* Updates carrier and up for the cores. Returns the ports that changed. */
uint64_t node_watch_links(struct node *n);

/* True if no core polls the port, so its device may be stopped: the core has read that the port is down. */
bool node_is_left_alone(const struct node *n, unsigned port);

/* Routes for a query: the cores change theirs at any time. */
struct node_routes {
    struct hx_route route;
    struct core_around around;
    void *tables;
};
void node_routes_build(struct node *n, struct node_routes *r);
void node_routes_free(struct node_routes *r);

/* Shares of a port by sending core; NULL: none. */
void node_shares_of(const struct node *n, unsigned port, struct dpdk_share **shares);

/* Reads a count of a running core from another thread. */
static inline uint64_t node_seen(const uint64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static inline uint32_t node_seen_blocks(const uint32_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* Totals over cores. */
void node_drops(const struct node *n, uint64_t drops[HX_DROP_COUNT]);
void node_stalls(const struct node *n, uint64_t stalls[HX_STALL_COUNT]);
uint64_t node_moved(const struct node *n);

#endif
