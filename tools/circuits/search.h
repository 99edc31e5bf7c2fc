/* search.h - strategy and circuits in turn: alternating optimisation (TopoOpt, section 4.1).
 *
 * A Markov chain (chain.h) looks for a faster strategy on the network of the circuits of the round. Then circuits are
 * found for the best strategy. Rounds end when neither gains a thousandth. Several chains run side by side, each with
 * its own random numbers; the result depends on seed, steps and chains alone, not on threads. Every second one looks
 * far from where it began, the others near.
 *
 * The first circuits are those of the fastest of three strategies: the model's own, the same with tables placed evenly,
 * and a random one. In the first round chains begin with these three in turn, in others with the best one. */
#ifndef HXMESH_TOOLS_CIRCUITS_SEARCH_H
#define HXMESH_TOOLS_CIRCUITS_SEARCH_H

#include "tools/circuits/strategy.h"
#include "tools/circuits/time.h"

struct circuits_search {
    uint64_t seed;
    unsigned steps;   /* of all chains together in a round */
    unsigned chains;  /* 1 and up */
    unsigned threads; /* 1 and up */
    double seconds;   /* wall time after which chains stop, so that the result depends on it; 0: no limit */
    unsigned degree;
    bool prime;
    struct circuits_links links;
    /* Makes the network to search for, once; the search frees it. If it returns NULL, the search fails, and *problem is
     * the caller's. NULL: the network of circuits, found for each strategy. */
    struct network_of_servers *(*network)(void *of);
    void *of;
    const struct circuits_ring *ring; /* of sums on that network; none: one of stride 1 */
    unsigned rings;
};

struct circuits_result {
    struct circuits_strategy strategy;
    struct circuits_demand demand;
    struct circuits circuits; /* .servers 0: the network was given */
    struct circuits_time time;
    unsigned rounds;
    uint64_t steps; /* of all rounds and chains */
};

/* Circuits for a demand, as the search asks for them. Returns false, sets *problem and leaves nothing to free if they
 * cannot be. */
bool circuits_find_for(struct circuits *c, const struct circuits_search *s, const struct circuits_demand *d,
                       struct hx_problem *problem);

/* Refuses a model that is trained in another way than a demand says: returns false and sets *problem. */
bool circuits_check_model(const struct training_model *m, struct hx_problem *problem);

/* m: its ranks are the servers, all data-parallel; else *problem says so. The result refers to m. Free it with
 * circuits_result_free(). Returns false and sets *problem. */
bool circuits_search(struct circuits_result *r, const struct circuits_search *s, const struct training_model *m,
                     struct hx_problem *problem);
void circuits_result_free(struct circuits_result *r);

#endif
