/* collective_plan.h - a collective for each job of a fabric: its logical grid, its algorithm, its root.
 *
 * The living accelerators of a job must be all crossings of some rows and some columns of the fabric. Logical columns
 * and rows count these from west and north. */
#ifndef COLLECTIVE_PLAN_H
#define COLLECTIVE_PLAN_H

#include "fabric-emu/workload/traffic.h"
#include "host/error.h"
#include "hxmesh/collective.h"

struct collective_job {
    uint16_t tag;
    uint16_t columns, rows;
    uint16_t *gx, *gy; /* [columns], [rows], ascending */
    uint16_t root_column, root_row;
    uint8_t algorithm; /* enum hx_collective_algorithm */
    uint32_t chunk;    /* bytes */
};

struct collective_plan {
    const struct traffic *traffic;
    enum hx_collective_kind kind;
    uint64_t bytes;
    uint64_t seed;
    unsigned planes;
    struct collective_job *job;
    unsigned jobs;
};

/* Dies unless these settings, whose pattern is a collective, can be run on that fabric and this machine: as below, if the
 * vector is not of float32, or if the vectors that are to be checked do not fit into memory. */
void collective_plan_require(const struct hx_spec *spec, const struct hx_settings *settings, uint32_t root);

/* For settings whose pattern is a collective, on what traffic_init() found of the jobs. The root of a broadcast is
 * accelerator `root` in its own job, and the north-west one in others. false: a job's accelerators are no grid, or there
 * is no such algorithm on it. *t must outlive *p. */
bool collective_plan_init(struct collective_plan *p, const struct traffic *t, uint32_t root,
                          struct hx_problem *problem);
void collective_plan_free(struct collective_plan *p);

/* The job of an accelerator; NULL: it has none, its board has failed. */
const struct collective_job *collective_job_of(const struct collective_plan *p, uint32_t rank);

/* What an accelerator of a job is told. */
struct hx_collective_config collective_config(const struct collective_plan *p, uint32_t rank);

/* Messages of all accelerators together. */
uint64_t collective_messages(const struct collective_plan *p);

/* Vectors and staging of all accelerators together, in bytes. */
uint64_t collective_memory(const struct collective_plan *p);

extern const char *const collective_algorithm_names[]; /* by enum hx_collective_algorithm */

#endif
