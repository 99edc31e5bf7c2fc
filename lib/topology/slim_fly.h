/* slim_fly.h - shared by the parts of a Slim Fly: the graph (slim_fly.c), and its all-to-all in phases
 * (slim_fly_phases.c). */
#ifndef HXMESH_TOPOLOGY_SLIM_FLY_H
#define HXMESH_TOPOLOGY_SLIM_FLY_H

#include "topology/galois.h"

#include <stdbool.h>
#include <stdint.h>

/* Relation between a host's router and its partner's; `by` and k are elements of the field.
 *
 *     SAME_PART   (0, x, y) to (0, x + by, ..) over (1, x + k, ..), (1, m, c) to (1, m + by, ..) over (0, m - k, ..)
 *     ACROSS      (0, x, y) to (1, m, c) and back, where m - x = k, and y - m x - c = by */
enum hx_slim_fly_kind { HX_SLIM_FLY_SAME_PART, HX_SLIM_FLY_ACROSS };

struct hx_slim_fly_step {
    uint8_t kind; /* enum hx_slim_fly_kind */
    uint8_t by;
    uint8_t k; /* in the first phase of its group */
};

enum { HX_SLIM_FLY_STEPS = 2 * HX_GALOIS_MOST };

/* The steps of hosts on (0, .., ..) and on (1, .., ..), of the same kinds for both. Each p steps are a group, which the
 * p hosts of a router make at the same time. */
struct hx_slim_fly_phases {
    unsigned groups;
    struct hx_slim_fly_step step[2][HX_SLIM_FLY_STEPS]; /* [groups * p] */
};

struct hx_slim_fly {
    struct hx_galois field;
    unsigned q, p; /* p: hosts of a router */
    int d;
    bool in[2][HX_GALOIS_MOST]; /* X, X' */
    uint32_t routers;
    struct hx_slim_fly_phases phases;
    bool joined[]; /* [routers][routers] */
};

/* Fills s->phases from the field, q and p. */
void hx_slim_fly_plan(struct hx_slim_fly *s);

/* Returns the number of phases. */
uint32_t hx_slim_fly_phases(const struct hx_slim_fly *s);

/* Returns a host's partner in a phase. */
uint32_t hx_slim_fly_partner(const struct hx_slim_fly *s, uint32_t host, uint32_t phase);

#endif
