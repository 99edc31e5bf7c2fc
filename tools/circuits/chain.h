/* chain.h - a Markov chain of strategies on one network (tools/circuits/search.h).
 *
 * A step gives one layer another place: replicated, sharded, or placed on a server, all with equal probability. A step
 * that takes longer by a share x of the first time is taken with probability exp(-beta x). Beta grows from step to
 * step, so that the chain first looks around and then settles. */
#ifndef HXMESH_TOOLS_CIRCUITS_CHAIN_H
#define HXMESH_TOOLS_CIRCUITS_CHAIN_H

#include "tools/circuits/meter.h"
#include "tools/circuits/strategy.h"

struct circuits_chain {
    const struct circuits_ground *ground; /* read by all chains at once */
    struct circuits_meter *meter;
    struct circuits_strategy now, best; /* best: the fastest of all that the chain was at */
    double now_seconds, best_seconds;   /* of an iteration */
    uint64_t steps;                     /* that it went */
    double first_beta;
    uint64_t random; /* state of random numbers */
};

struct circuits_time circuits_try(const struct circuits_ground *g, const struct circuits_strategy *s);

/* First values of beta: 1 leaves where it began, 100 stays near. */
enum { CIRCUITS_BETA_FAR = 1, CIRCUITS_BETA_NEAR = 100 };

/* Copies the strategy it begins with. beta: the first value. */
void circuits_chain_begin(struct circuits_chain *c, const struct circuits_ground *g, const struct circuits_strategy *s,
                          double beta, uint64_t seed);
/* Goes so many steps, or until a time (hx_monotonic_seconds(); 0: no limit). */
void circuits_chain_go(struct circuits_chain *c, uint64_t steps, double until);
void circuits_chain_end(struct circuits_chain *c);

#endif
