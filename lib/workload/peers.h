/* peers.h - patterns in which each host has a few fixed peers and sends to them in turn; only traffic.c uses it. */
#ifndef TRAFFIC_PEERS_H
#define TRAFFIC_PEERS_H

#include <stdbool.h>
#include <stdint.h>

struct hx_fabric;
struct traffic;

struct peers {
    uint32_t *first;   /* [ranks + 1]: index of a host's first peer in `to`; NULL: not such a pattern */
    uint32_t *to;      /* ranks */
    uint32_t *senders; /* [ranks]: number of hosts that send to it */
};

bool peers_are_of(unsigned pattern);

/* Chooses t->peers. Call when the jobs are known. */
void peers_choose(struct traffic *t);
void peers_free(struct peers *p);

static inline uint32_t peers_count(const struct peers *p, uint32_t rank)
{
    return p->first[rank + 1] - p->first[rank];
}

/* Sides of the largest 3D torus of at most n hosts, shortest side first; no side is more than twice another. */
void peers_torus(uint32_t n, uint32_t side[3]);

/* Orders the sides to fit a fabric with the same number of hosts on all routers. A line along the first side should be
 * the hosts of whole routers, or an equal part of one; a layer the same for rows of routers. A tie takes the shortest
 * sides first. A bad fit puts neighbours of two sides behind one link, while other links stay idle. */
void peers_turn_torus(const struct hx_fabric *f, uint32_t side[3]);

#endif
