/* hosts.h - chooses hosts for a job on a fabric without boards.
 *
 *     contiguous  the first free hosts with consecutive ranks
 *     group       as few groups (leaf switches, routers, racks) as possible: the group with the fewest free hosts that
 *                 suffice, else the one with most, and so on
 *     random      any free hosts */
#ifndef HXMESH_SCHED_HOSTS_H
#define HXMESH_SCHED_HOSTS_H

#include "topology/fabric.h"

enum hx_hosts_rule { HX_HOSTS_CONTIGUOUS, HX_HOSTS_BY_GROUP, HX_HOSTS_RANDOM, HX_HOSTS_RULES };
extern const char *const hx_hosts_rule_names[HX_HOSTS_RULES + 1];

/* Fills host[count], ascending, with free hosts: is_free[hosts]. Returns false if this rule finds no room. random:
 * state of the RNG (base/rng.h), which advances. */
bool hx_place_hosts(uint32_t *host, uint32_t count, const struct hx_fabric *f, const bool *is_free, unsigned rule,
                    uint64_t *random);

#endif
