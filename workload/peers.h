/* peers.h - the patterns in which everyone has a few others for good, and sends to them in turn; traffic.c alone
 * asks. */
#ifndef TRAFFIC_PEERS_H
#define TRAFFIC_PEERS_H

#include <stdbool.h>
#include <stdint.h>

struct hx_fabric;
struct traffic;

struct peers {
    uint32_t *first;   /* [ranks + 1]: where each one's begin in `to`; NULL: the pattern has none */
    uint32_t *to;      /* ranks */
    uint32_t *senders; /* [ranks]: how many send to it */
};

bool peers_are_of(unsigned pattern);

/* Chooses t->peers, once the jobs are known. */
void peers_choose(struct traffic *t);
void peers_free(struct peers *p);

static inline uint32_t peers_count(const struct peers *p, uint32_t rank)
{
    return p->first[rank + 1] - p->first[rank];
}

/* The sides of the largest torus of three dimensions, none of them more than twice as long as another, that so many
 * fit, the shortest first. */
void peers_torus(uint32_t n, uint32_t side[3]);

/* Turns it as it fits where the same number of hosts hangs on every router: a line along the first side best has the
 * hosts of whole routers, or divides one's, and a layer likewise rows of routers. Of those that fit alike the one with
 * the shortest sides first. Else neighbours of two sides are behind one link, and others that could share it out are
 * not. */
void peers_turn_torus(const struct hx_fabric *f, uint32_t side[3]);

#endif
