/* topoopt_job.h - the jobs of TopoOpt (Wang et al., NSDI 2023), and their times on circuits and on other networks. */
#ifndef HXMESH_TOOLS_REPRODUCE_TOPOOPT_JOB_H
#define HXMESH_TOOLS_REPRODUCE_TOPOOPT_JOB_H

#include "tools/circuits/search.h"
#include "tools/reproduce/plan.h"

enum { TOPOOPT_CANDLE, TOPOOPT_VGG, TOPOOPT_BERT, TOPOOPT_DLRM, TOPOOPT_NCF, TOPOOPT_RESNET, TOPOOPT_JOBS };
enum { TOPOOPT_SETS = 8, TOPOOPT_SET = 32, TOPOOPT_CHAINS = 4, TOPOOPT_SEED = 1, TOPOOPT_LATENCY_NS = 1000 };

struct topoopt_job {
    const char *name, *file;
    /* Of the paper, d = 4: time on the fat tree of equal cost over TopoOpt's; TopoOpt's over the ideal switch's. NAN:
     * not known to us. */
    double tree, ideal;
};
extern const struct topoopt_job topoopt_jobs[TOPOOPT_JOBS];

/* A job, and servers with interfaces. */
struct topoopt_case {
    unsigned job;
    unsigned degree, gbps;
    unsigned steps;                /* of the search; 0: tables are placed, all else is replicated */
    const char *set[TOPOOPT_SETS]; /* NAME=VALUE of the model; NULL: no more */
};

/* The paper's servers and steps by effort. */
unsigned topoopt_servers(enum reproduce_effort effort);
unsigned topoopt_steps(enum reproduce_effort effort);
/* "servers=128" of an effort. */
const char *topoopt_set_servers(enum reproduce_effort effort);

/* Gb/s of a server in a fat tree that costs what `degree` interfaces at patch panels cost. */
double topoopt_tree_gbps(unsigned degree, unsigned gbps);

/* Networks that are compared. */
enum topoopt_network {
    TOPOOPT_CIRCUITS, /* found for the job */
    TOPOOPT_IDEAL,    /* one switch, d B a server */
    TOPOOPT_TREE,     /* full bisection, of equal cost */
    TOPOOPT_TAPERED,  /* d B a server, 2:1 at the leaves */
    TOPOOPT_EXPANDER, /* random regular circuits */
    TOPOOPT_OCS,      /* OCS-reconfig: every 50 ms, 10 ms dark, servers forward */
    TOPOOPT_SIP_ML,   /* 25 us dark, no forwarding */
    TOPOOPT_NETWORKS
};
extern const char *const topoopt_network_names[TOPOOPT_NETWORKS];

/* A job on a network with the best strategy that was found there. */
struct topoopt_answer {
    struct training_model *m;
    struct circuits_result result; /* .circuits: those of the network, .servers 0: none */
    double iteration;              /* seconds */
};
/* One of the networks before TOPOOPT_OCS. Dies if the model is not valid. Free the answer with topoopt_free(). */
struct topoopt_answer topoopt_answer(const struct topoopt_case *c, enum topoopt_network network);
/* Seconds of an iteration on OCS-reconfig or SiP-ML, with the strategy for the ideal switch. */
double topoopt_reconfigure(const struct topoopt_answer *ideal, const struct topoopt_case *c,
                           enum topoopt_network network);
void topoopt_free(struct topoopt_answer *a);

/* Random regular circuits. Free them with circuits_free(). */
struct circuits topoopt_random_circuits(unsigned servers, unsigned degree);

/* Loads of the circuits' links in an iteration, ascending; sets their number. free() it. */
double *topoopt_link_loads(const struct topoopt_answer *a, const struct topoopt_case *c, uint32_t *count);

#endif
