/* cluster.h - jobs that share the links of a fabric, in time.
 *
 * Each job goes through its iterations in the order of reconfigure.h. Its flows are fluid (fluid.h), among those of all
 * other jobs. A flow takes some minimal paths, drawn at random when it begins, as hashes of connections choose them; or
 * it divides evenly over the next hops at each step, as adaptive routing does for many packets. A phase ends with the
 * latency of its longest path, a sum with that of its 2 (k - 1) steps. */
#ifndef HXMESH_TOOLS_CIRCUITS_CLUSTER_H
#define HXMESH_TOOLS_CIRCUITS_CLUSTER_H

#include "tools/circuits/demand.h"
#include "topology/fabric.h"

struct cluster {
    const struct hx_fabric *fabric; /* servers are its hosts, of one link each */
    double gbps;                    /* of a link without an own rate */
    double latency;                 /* of a link, seconds */
    unsigned paths;                 /* of a flow, with equal parts; 0: it divides at each step */
    uint64_t seed;                  /* of paths */
    double grain;                   /* seconds, of fluid.h */
};

struct cluster_job {
    const struct circuits_demand *demand; /* sums are over all its servers */
    const uint32_t *server;               /* [demand->servers]: host of each */
    double begin;                         /* seconds */
    double *seconds;                      /* [iterations]: filled */
};

/* Runs all jobs until each has done `iterations` (1 and up) behind one that does not count. A job that is ready goes
 * on, so that the load stays. */
void cluster_run(const struct cluster *c, const struct cluster_job *job, unsigned jobs, unsigned iterations);

#endif
