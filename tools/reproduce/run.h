/* run.h - one simulation of `hxmesh run --clock virtual`: what is asked, what came out. */
#ifndef HXMESH_TOOLS_REPRODUCE_RUN_H
#define HXMESH_TOOLS_REPRODUCE_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { REPRODUCE_COMMAND = 384, REPRODUCE_FABRIC = 96 };

enum reproduce_state {
    REPRODUCE_WAITING, /* not begun */
    REPRODUCE_LEFT,    /* left out: it would not have ended within the time allowed */
    REPRODUCE_DONE,
    REPRODUCE_FAILED
};

struct reproduce_run {
    /* What is asked. */
    const char *fabric;
    const char *traffic;   /* as --traffic */
    const char *algorithm; /* of a collective; NULL: messages */
    uint64_t bytes;        /* of a message, or of a vector */
    uint64_t shifts;       /* of an all-to-all; 0: all */
    uint64_t seed;
    uint64_t duration, warm_up;  /* ns; 0: until all is sent */
    double rate;                 /* share of the injection that is offered; 0: all */
    const char *timing;          /* NULL: table III */
    uint64_t buffer;             /* bytes of a port; 0: as the timing has it */
    char text[REPRODUCE_FABRIC]; /* of the fabric, where it is put together for this run */
    /* What came out; shares are fractions of one. */
    enum reproduce_state state;
    char command[REPRODUCE_COMMAND]; /* as a user types it */
    double share;                    /* of injection; of a collective: of the best possible */
    double bound;                    /* of an all-to-all */
    double virtual_seconds;
    double p50_ns, p99_ns;               /* latency of packets; NAN: the report has none */
    double packet_hops, hops_per_second; /* of real time, all workers together */
    double wall_seconds;
    double *received; /* [receivers]: share of injection that each accelerator received */
    unsigned receivers;
};

/* Packet-hops it will take, about. */
double reproduce_estimate(const struct reproduce_run *run);

/* Runs it with the program at `path`; workers 0: one a core. False: it failed, and one line has said so, or it was
 * interrupted. */
bool reproduce_do(struct reproduce_run *run, const char *path, unsigned workers, bool quiet);

/* "command", and what it took. A new reference. */
json_t *reproduce_run_json(const struct reproduce_run *run);

void reproduce_run_free(struct reproduce_run *run);

#endif
