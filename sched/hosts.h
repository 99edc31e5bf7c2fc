/* hosts.h - where a job stands on a fabric without boards: some of its hosts.
 *
 *     contiguous  the first hosts in a row, by rank, that are free
 *     group       as few groups (leaf switches, routers, racks) as can be: the one that has just enough free hosts, else the
 *                 one that has most, and so on
 *     random      any free hosts */
#ifndef HXMESH_SCHED_HOSTS_H
#define HXMESH_SCHED_HOSTS_H

#include "topology/fabric.h"

enum hx_hosts_rule { HX_HOSTS_CONTIGUOUS, HX_HOSTS_BY_GROUP, HX_HOSTS_RANDOM, HX_HOSTS_RULES };
extern const char *const hx_hosts_rule_names[HX_HOSTS_RULES + 1];

/* Fills host[count], ascending, from those that are free: is_free[hosts]. False: there is no room by this rule. random:
 * state of a seeded row (base/rng.h), which goes on. */
bool hx_place_hosts(uint32_t *host, uint32_t count, const struct hx_fabric *f, const bool *is_free, unsigned rule,
                    uint64_t *random);

#endif
