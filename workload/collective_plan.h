/* collective_plan.h - a collective for each job of a fabric that has one: its logical grid, its algorithm, its root.
 *
 * The grid is a map of ranks. A job whose living hosts are all crossings of some rows and some columns of the fabric
 * has these, counted from west and north. A job may ask for another one of as many hosts:
 *
 *     exchanged   columns and rows change places
 *     folded      any other: both grids are walked row by row, there and back again, so that who follows in the one is next to
 *                 it in the other (SC22, figure 4: jobs of one or three dimensions on two)
 *
 * Hosts of another fabric than a HammingMesh that are no crossings stand by rank on the grid that is nearest to a
 * square. */
#ifndef COLLECTIVE_PLAN_H
#define COLLECTIVE_PLAN_H

#include "base/error.h"
#include "hxmesh/collective.h"
#include "workload/traffic.h"

/* Invariant: place[host[i]] is i, for all columns * rows hosts. */
struct collective_job {
    uint16_t tag;
    uint8_t kind;           /* enum hx_collective_kind */
    uint8_t algorithm;      /* enum hx_collective_algorithm */
    uint16_t columns, rows; /* of the logical grid */
    uint16_t root_column, root_row;
    uint32_t chunk; /* bytes */
    uint64_t bytes; /* of a vector */
    uint32_t *host; /* [columns * rows]: rank of a place of the grid, row by row */
};

struct collective_plan {
    const struct traffic *traffic;
    uint64_t seed;
    unsigned planes;
    struct collective_job *job;
    unsigned jobs;
    uint32_t *place;  /* [ranks]: on the grid of its job */
    uint16_t *job_of; /* [ranks]: 1 + its job; 0: it has no collective */
};

/* Dies unless the collectives of these settings and of jobs can be run on that fabric and this machine: as below, if a
 * vector is not of float32, or if the vectors that are to be checked do not fit into memory. */
void collective_plan_require(const struct hx_spec *spec, const struct hx_settings *settings);

/* For the jobs whose pattern is a collective, of those that traffic_init() found. The root of a broadcast is
 * traffic_target(), and the first of the grid in jobs that have it not. false: a job's accelerators are no grid, or
 * there is no such algorithm on it. *t must outlive *p. */
bool collective_plan_init(struct collective_plan *p, const struct traffic *t, struct hx_problem *problem);
void collective_plan_free(struct collective_plan *p);

/* What all of them do, "all-reduce"; "the collectives" where jobs have several. */
const char *collective_kinds(const struct collective_plan *p);

/* The collective of an accelerator's job; NULL: it has none. */
const struct collective_job *collective_job_of(const struct collective_plan *p, uint32_t rank);

/* What an accelerator of a job is told. */
struct hx_collective_config collective_config(const struct collective_plan *p, uint32_t rank);

/* Messages of all accelerators together. */
uint64_t collective_messages(const struct collective_plan *p);

/* Vectors and staging of all accelerators together, in bytes. */
uint64_t collective_memory(const struct collective_plan *p);

extern const char *const collective_algorithm_names[]; /* by enum hx_collective_algorithm */

#endif
