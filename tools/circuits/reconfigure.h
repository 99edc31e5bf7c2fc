/* reconfigure.h - an iteration of a job on circuits that change while it runs.
 *
 * From time to time a controller looks at the bytes that open flows have left, and finds circuits for them: greedily
 * the pair with most (other.h). Circuits that both plans have stay. The others are released at once, and the new ones
 * carry `dark` seconds later. If nothing is left to send, nothing changes.
 *
 * Flows are fluid (fluid.h). An exchange's flows begin together. A sum is a flow from each member to each of its two
 * neighbours on the ring of stride 1, of all bytes of its steps. The order of an iteration is that of time.h:
 *
 *     forward, exchanges, backward - hidden, exchanges, hidden beside sums
 *
 * Each phase ends with the latency of its longest path; a sum with that of its 2 (k - 1) steps. */
#ifndef HXMESH_TOOLS_CIRCUITS_RECONFIGURE_H
#define HXMESH_TOOLS_CIRCUITS_RECONFIGURE_H

#include "tools/circuits/circuits.h"

struct reconfigure {
    double gbps;     /* of a circuit, each way */
    double latency;  /* of a circuit, seconds */
    double dark;     /* seconds */
    double period;   /* seconds between two looks; INFINITY: circuits stay */
    bool eager;      /* looks as soon as demand has changed, but not within a period of the last look */
    bool forwards;   /* servers forward: circuits join all, and flows divide evenly over minimal paths */
    double discount; /* of other.h; 1: a circuit's bytes of a period are taken off instead */
};

/* Networks of Wang et al. OCS-reconfig looks every 50 ms and is dark for 10 ms; a pair counts half for each circuit,
 * and servers forward. SiP-ML (Khani et al., SIGCOMM 2021) is dark for 25 us, and stays four times as long at least. */
struct reconfigure reconfigure_as_ocs(double gbps, double latency);
struct reconfigure reconfigure_as_sip_ml(double gbps, double latency);

struct reconfigured {
    double iteration; /* seconds, mean; INFINITY: flows have no circuit, and none comes */
    double sent;      /* bytes of flows in an iteration */
    double carried;   /* bytes on circuits in an iteration */
    unsigned looks;   /* that changed circuits, in all */
    unsigned changes; /* circuits that were set, in all */
};

/* Runs one iteration that does not count, then `iterations` (1 and up) that do. first: circuits at the begin. */
struct reconfigured reconfigure_run(const struct circuits_demand *d, const struct circuits *first,
                                    const struct reconfigure *how, unsigned iterations);

#endif
