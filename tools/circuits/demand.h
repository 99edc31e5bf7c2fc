/* demand.h - what an iteration of a job sends between its servers, and how long it computes.
 *
 * Data that flows, with its owner in tools/circuits:
 *
 *     a model (schedule/training/model.h) and a strategy (strategy.h) give a demand
 *     a demand and a degree give circuits (finder.h, other.h)
 *     circuits are a graph (circuits.h); with the routes of its fabric they are a network (network.h)
 *     a demand on a network takes a time (time.h); on circuits that change (reconfigure.h); beside others (cluster.h)
 *     a search (search.h) changes strategy and circuits in turn as long as the time falls
 *
 * Each owner frees what it made; all arguments are read-only. */
#ifndef HXMESH_TOOLS_CIRCUITS_DEMAND_H
#define HXMESH_TOOLS_CIRCUITS_DEMAND_H

#include <stdint.h>

enum { CIRCUITS_MOST_SERVERS = 1024, CIRCUITS_MOST_DEGREE = 32, CIRCUITS_REDUCES = 8 };

/* A sum over a group of servers, the gradients of replicated layers. It may go around any rings of its members. */
struct circuits_reduce {
    uint32_t members;
    const uint32_t *member; /* [members] servers; NULL: server i is member i */
    double bytes;           /* of the vector */
};

/* Messages that pass at one time, before computing goes on. Their paths are given: from or to certain servers. */
struct circuits_exchange {
    double *scatter; /* [servers] bytes from this server to each other; NULL: none */
    double *gather;  /* [servers] bytes from each other server to this one; NULL: none */
    double all;      /* bytes of each pair, both directions */
};

struct circuits_demand {
    uint32_t servers; /* 2 .. CIRCUITS_MOST_SERVERS */
    unsigned reduces;
    struct circuits_reduce reduce[CIRCUITS_REDUCES];
    unsigned exchanges;
    struct circuits_exchange *exchange; /* [exchanges] in their order; forward ones first */
    unsigned forward_exchanges;
    double forward, backward; /* seconds of computing of the slowest server */
    double hidden;            /* of backward, seconds that sums of gradients may go on beside */
};

/* Frees the arrays of exchanges; *d is the caller's. */
void circuits_demand_free(struct circuits_demand *d);

static inline uint32_t circuits_member(const struct circuits_reduce *r, uint32_t i)
{
    return r->member ? r->member[i] : i;
}

/* Steps of a sum, from neighbour to neighbour on a ring. */
static inline double circuits_steps(const struct circuits_reduce *r)
{
    return 2 * (r->members - 1.0);
}

/* Bytes that each member sends to each of its two neighbours in all steps, on one ring of both ways. */
static inline double circuits_each_way(const struct circuits_reduce *r)
{
    return (r->members - 1.0) / r->members * r->bytes;
}

/* Bytes from a server to another, in one exchange; of an iteration, in all of them. */
double circuits_exchange_between(const struct circuits_exchange *e, uint32_t from, uint32_t to);
double circuits_between(const struct circuits_demand *d, uint32_t from, uint32_t to);

/* Calls add() for what each member sends to each of its two neighbours on the ring of stride 1, in all steps of all
 * sums. Returns the steps of the longest sum. */
double circuits_each_sum(const struct circuits_demand *d,
                         void (*add)(void *of, uint32_t from, uint32_t to, double bytes), void *of);

/* Bytes that all servers send in an iteration: for exchanges, and for sums. */
double circuits_exchanged(const struct circuits_demand *d);
double circuits_reduced(const struct circuits_demand *d);

#endif
