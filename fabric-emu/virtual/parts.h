/* parts.h - which worker simulates which node: parts of a fabric with equal work and few links between them.
 *
 * The closed rule (workload/layout.h) follows boards and groups. Parts found by METIS replace it if less of the links'
 * rate crosses between them. On a HammingMesh the closed rule is as good, so no search is made. Links shorter than the
 * longest are cut last, because the shortest link that is cut limits how far workers run apart.
 *
 * METIS has a fixed seed. Results do not depend on parts, but all ranks must find the same ones. */
#ifndef PARTS_H
#define PARTS_H

#include "hal/virtual/timing.h"
#include "workload/layout.h"

/* Moves nodes of a layout between its workers. */
void parts_improve(struct layout *l, const struct hx_fabric *g, const struct virtual_timing *t);

/* Sum of the weights of links between workers, by rate. */
int64_t parts_cut(const struct layout *l, const struct hx_fabric *g, const struct virtual_timing *t);

/* ps: the least window of links between workers; UINT64_MAX: none is cut. */
uint64_t parts_window(const struct layout *l, const struct hx_fabric *g, const struct virtual_timing *t);

/* A number that differs, very likely, if the parts do. Not 0. */
uint64_t parts_digest(const struct layout *l, const struct hx_fabric *g);

#endif
