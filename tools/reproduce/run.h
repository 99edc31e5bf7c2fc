/* run.h - one simulation by `hxmesh run --clock virtual`: its parameters and results. */
#ifndef HXMESH_TOOLS_REPRODUCE_RUN_H
#define HXMESH_TOOLS_REPRODUCE_RUN_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { REPRODUCE_COMMAND = 384, REPRODUCE_FABRIC = 96, REPRODUCE_SETS = 4 };

enum reproduce_state {
    REPRODUCE_WAITING, /* not started */
    REPRODUCE_LEFT,    /* left out: it would exceed the time limit */
    REPRODUCE_DONE,
    REPRODUCE_FAILED
};

struct reproduce_run {
    /* Parameters. */
    const char *fabric;
    const char *traffic;   /* value of --traffic; of a schedule the name of a file in examples/models */
    const char *algorithm; /* of a collective, or of a schedule's; NULL: messages, or the schedule's own choice */
    bool schedule;
    const char *place;               /* value of --place; NULL: the algorithm's order */
    const char *set[REPRODUCE_SETS]; /* a schedule's parameters, NAME=VALUE; NULL: no more */
    double hops;                     /* packet-hops of a schedule, about */
    unsigned planes;                 /* 0: one */
    uint64_t bytes;                  /* of a message, or of a vector */
    uint64_t shifts;                 /* of an all-to-all; 0: all */
    uint64_t seed;
    uint64_t duration, warm_up;  /* ns; 0: until all is sent */
    double rate;                 /* offered share of injection; 0: all */
    const char *timing;          /* NULL: table III */
    uint64_t buffer;             /* bytes of a port; 0: the timing's */
    char text[REPRODUCE_FABRIC]; /* storage for `fabric`, if it is built for this run */
    /* Results; shares are 0 .. 1. */
    enum reproduce_state state;
    char command[REPRODUCE_COMMAND]; /* as typed by a user */
    double share;                    /* of injection; of a collective: of the best possible */
    double bound;                    /* of an all-to-all */
    double virtual_seconds;
    double p50_ns, p99_ns;               /* latency of packets; NAN: none was measured */
    double packet_hops, hops_per_second; /* per second of real time, all workers */
    double wall_seconds;
    double schedule_seconds;  /* from its begin to the end of its last operation */
    double computing_seconds; /* of its rank with the most */
    double *received;         /* [receivers]: share of injection that each accelerator received */
    unsigned receivers;
};

/* Estimated packet-hops of the run. */
double reproduce_estimate(const struct reproduce_run *run);

/* Runs it; workers 0: one a core; fast_forward: tolerance, of a schedule. false: it failed and printed an error line,
 * or it was interrupted. */
bool reproduce_do(struct reproduce_run *run, unsigned workers, double fast_forward, bool quiet);

/* "command" and the results. A new reference. */
json_t *reproduce_run_json(const struct reproduce_run *run);

/* Writes the path of a file in examples: below this folder, else in the source tree or installation of this program. */
void reproduce_find_example(const char *name, char path[PATH_MAX]);

void reproduce_run_free(struct reproduce_run *run);

#endif
