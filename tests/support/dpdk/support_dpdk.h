/* support_dpdk.h - a plane of DPDK nodes in one process: every node as the program builds it, every cable a pair of
 * rings, all polled in turn by one thread. Needs no huge pages and no privileges. */
#ifndef SUPPORT_DPDK_H
#define SUPPORT_DPDK_H

#include "nodes/dpdk/node.h"

enum { LAB_NODES = 8 };

struct lab_settings {
    const char *fabric;
    unsigned nodes; /* the first nodes, with the cables between them; 0: all */
    uint64_t credits, message, count, lose_credits;
    const char *key_file; /* NULL: no authentication tags */
    const char *lcores;   /* as --lcores for accelerators; NULL: one for all */
};

struct lab {
    unsigned nodes;
    struct node_config config[LAB_NODES];
    struct node node[LAB_NODES];
    struct rte_ring *into[LAB_NODES][HX_MAX_RADIX]; /* rings that a port receives from; NULL: no cable */
    struct rte_mempool *pool;                       /* for frames of the test */
};

/* Starts EAL, once a process. EAL has lcores 0, 1 and 2; the last two only sleep. */
void lab_start_eal(void);

void lab_open(struct lab *lab, const struct lab_settings *settings);
void lab_close(struct lab *lab);

/* Steps each core of each node once. */
void lab_turn(struct lab *lab);
/* Whether every endpoint has sent and received everything. */
bool lab_is_done(const struct lab *lab);
/* Turns until all is done; false: not within that many seconds. */
bool lab_run(struct lab *lab, unsigned seconds);

/* Drops of all nodes. */
uint64_t lab_drops(const struct lab *lab, enum hx_drop reason);
uint64_t lab_corrupted(const struct lab *lab);
uint64_t lab_failed(const struct lab *lab);

#endif
