/* node.h - the running node: its ports, the cores that poll them, and what control tells them.
 *
 * Who writes what:
 *     control (one thread)    carrier, up, phase                     cores look at them once a loop
 *     a core                  its ports, its switch, its counts      control and telemetry read counts as they stand
 *
 * A port whose device has a link (carrier) is polled, so that its session can open. One whose session is open, with a
 * peer that is not silent, is up: routes lead there.
 *
 * Every core has a switch of its own, with route tables of its own: the node's inputs are divided among the switches,
 * and what one core may send by another's port is in shares (hal/dpdk/share.h). */
#ifndef DPDK_NODE_NODE_H
#define DPDK_NODE_NODE_H

#include "config.h"
#include "hal_port.h"

#include <stdatomic.h>

enum node_phase { NODE_RUNNING, NODE_DRAINING, NODE_STOPPING };

struct local;

struct core {
    struct node *node;
    unsigned index; /* among the node's cores */
    unsigned lcore; /* of EAL */
    bool is_tree;
    struct hx_switch sw;
    struct hal_switch hal;
    void *tables;
    uint64_t carrier;    /* links that it polls, if they are its own */
    uint64_t looked_at;  /* TSC when it looked at its sessions last */
    struct local *local; /* the built-in endpoint, if this core runs it */
    uint64_t drops[HX_DROP_COUNT];
    struct dpdk_share *send[HX_MAX_RADIX]; /* by port; NULL: its own, or none */
    struct dpdk_turn turn[HX_MAX_RADIX];   /* by port of its own */
    /* What control and telemetry read. */
    _Atomic uint64_t carrier_seen; /* carriers at this core's last look: it polls these, and no others */
    _Atomic uint64_t open;         /* links of its own with a session */
    _Atomic uint64_t loops, busy_loops;
    _Atomic uint64_t moved;      /* packets sent on */
    _Atomic uint64_t busy_ticks; /* TSC in loops that found something */
    _Atomic uint32_t waiting; /* packets and frames that this core holds, while the node drains; UINT32_MAX: not said */
};

struct node {
    const struct node_config *config;
    struct rte_mempool *pool;
    struct dpdk_port *port; /* [config->ports] */
    struct core *core[RTE_MAX_LCORE];
    unsigned cores;
    uint8_t owner[HX_MAX_RADIX]; /* core of a port */
    uint8_t *blocked;            /* boards its job may not land on */
    struct local *local;         /* the built-in endpoint; NULL: none */
    uint32_t frames;             /* mbufs */
    uint64_t ticks_per_second;
    uint64_t started; /* TSC */
    uint16_t endpoint_device;
    uint64_t unstarted;               /* devices that wait for their other side to listen, by port; control's */
    uint64_t looked_at[HX_MAX_RADIX]; /* TSC when a port's device was started, or seen to be up; control's */
    uint64_t cables;                  /* ports that have a device */
    _Atomic uint64_t carrier;         /* ports whose device has a link */
    _Atomic uint64_t up;              /* of these, ports with a session, LOCAL included */
    _Atomic uint32_t phase;           /* enum node_phase */
};

/* Opens the devices and builds everything; dies of what the machine refuses. EAL has been started. */
void node_open(struct node *n, const struct node_config *config);
void node_close(struct node *n);

/* Looks which links have a carrier and which are up, tells the cores. Returns the ports that went up or down. */
uint64_t node_watch_links(struct node *n);

/* Whether no core polls a port, so that its device may be stopped. It is down, and its core has seen that: however long
 * ago control looked. */
bool node_is_left_alone(const struct node *n, unsigned port);

/* Builds the routes for the links that are up now, for who only asks: the cores' own change under their hands. Returns
 * the memory of the tables, to be freed; *r does not outlive it. */
void *node_routes(const struct node *n, struct hx_route *r);

/* Shares of a port by sending core, NULL where a core has none. */
void node_shares_of(const struct node *n, unsigned port, struct dpdk_share **shares);

/* A count that a core writes, as another thread reads it while the core runs. */
static inline uint64_t node_seen(const uint64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static inline uint32_t node_seen_blocks(const uint32_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* Sums over cores. */
void node_drops(const struct node *n, uint64_t drops[HX_DROP_COUNT]);
uint64_t node_moved(const struct node *n);

#endif
