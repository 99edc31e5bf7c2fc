/* collective_jobs.h - the collectives of a fabric's jobs: group, algorithm, root.
 *
 * A group is the job's hosts in an order: row by row on a logical grid of columns and rows. Algorithms on grids use it
 * as it is; others as a list. An algorithm may have another order: halving and doubling that of
 * hx_fabric_halving_order(). --place gives any other order to any algorithm (workload/placement.h). A hierarchy has the
 * dimensions of the fabric, if the job has all its hosts, else columns and rows.
 *
 * If a job's living hosts are all crossings of some rows and columns of the fabric, its
 * grid has these rows and columns, from north-west. A job may ask for another grid with as many hosts:
 *
 *     exchanged   columns and rows are exchanged
 *     folded      any other: both grids are walked row by row in alternating direction, so that successors on one are
 *                 neighbours on the other (SC22, figure 4)
 *
 * On other fabrics than a HammingMesh, hosts that are no crossings are placed by rank on the grid nearest to a
 * square. Hosts that are a ring (workload/ring_order.h) have a grid of one row, in its order. */
#ifndef COLLECTIVE_JOBS_H
#define COLLECTIVE_JOBS_H

#include "base/error.h"
#include "hxmesh/collective.h"
#include "workload/traffic.h"

/* Invariant: place[host[i]] == i of the plan, for all config.size positions i. */
struct collective_job {
    uint16_t tag;
    uint32_t columns, rows;             /* of the logical grid */
    struct hx_collective_config config; /* of position 0 */
    uint32_t *host;                     /* [config.size]: rank at a position */
    const uint32_t *given;              /* order of hosts that a ring or chain keeps; NULL: that of `host` */
    bool placed;                        /* --place gives the order of `host`, which no algorithm changes */
    uint32_t root_host;                 /* of a group */
    uint32_t *weight; /* [config.size^2]: shares of pairs of positions (schedule/shares.h); NULL: equal */
};

struct collective_plan {
    const struct traffic *traffic;
    uint64_t seed;
    unsigned planes;
    struct collective_job *job;
    unsigned jobs;
    uint32_t *place;  /* [ranks]: position in its job's group */
    uint16_t *job_of; /* [ranks]: 1 + index of its job; 0: no collective */
};

/* Checks that the collectives of these settings and jobs can run on the fabric and this machine. Dies with one line if
 * collective_plan_init() would fail, a vector is not of float32, or vectors to check do not fit into memory. Returns
 * the algorithms of its jobs for traffic.chosen, so that they are chosen once; the caller frees them. */
uint8_t *collective_plan_require(const struct hx_spec *spec, const struct hx_settings *settings, bool quiet);

/* Plans all jobs with a collective as pattern, after traffic_init(). The root of a broadcast is traffic_target(), or
 * place 0 in jobs without it. Returns false if a job is no grid, or its grid does not have the algorithm. *t must
 * outlive *p. */
bool collective_plan_init(struct collective_plan *p, const struct traffic *t, struct hx_problem *problem);
void collective_plan_free(struct collective_plan *p);

/* Groups of equal size that do the same collective at one time. */
struct collective_family {
    const uint32_t *host; /* [count][size] */
    uint32_t size, count;
    const uint32_t *weight; /* [size * size]: shares of an all-to-all, of hosts in their order; NULL: equal */
};

struct collective_loads;
/* Plans the collective of one group of a family, of hosts in any places: config.kind, config.bytes, config.type,
  * root_host and given are set. loads: by which the best algorithm for all groups is chosen (collective_open_choice()).
  * The caller frees the job. Returns false if the group does not have the algorithm (enum hx_algorithm). */
bool collective_plan_group(struct collective_job *job, const struct traffic *t, const struct collective_family *family,
                           uint32_t group, unsigned algorithm, struct collective_loads *loads,
                           struct hx_problem *problem);

/* Frees the arrays of a job that collective_plan_group() planned. */
void collective_job_free(struct collective_job *job);

/* Name of the collective that all jobs run, "all-reduce"; "the collectives" if they differ. */
const char *collective_kinds(const struct collective_plan *p);

/* The collective of an accelerator's job; NULL: none. */
const struct collective_job *collective_job_of(const struct collective_plan *p, uint32_t rank);

struct hx_collective_config collective_config(const struct collective_plan *p, uint32_t rank);

uint64_t collective_messages(const struct collective_plan *p);

#endif
