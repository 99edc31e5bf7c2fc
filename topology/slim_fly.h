/* slim_fly.h - what a Slim Fly's parts share: the graph (slim_fly.c), and all-to-all on it in rounds
 * (slim_fly_phases.c). */
#ifndef HXMESH_TOPOLOGY_SLIM_FLY_H
#define HXMESH_TOPOLOGY_SLIM_FLY_H

#include "topology/galois.h"

#include <stdbool.h>
#include <stdint.h>

/* How a host's router and the one it sends to lie to each other; `by` and k are elements of the field.
 *
 *     SAME_PART   (0, x, y) to (0, x + by, ..) over (1, x + k, ..), (1, m, c) to (1, m + by, ..) over (0, m - k, ..)
 *     ACROSS      (0, x, y) to (1, m, c) and back, where m - x = k, and y - m x - c = by */
enum hx_slim_fly_kind { HX_SLIM_FLY_SAME_PART, HX_SLIM_FLY_ACROSS };

struct hx_slim_fly_step {
    uint8_t kind; /* enum hx_slim_fly_kind */
    uint8_t by;
    uint8_t k; /* in the first round of its group */
};

enum { HX_SLIM_FLY_STEPS = 2 * HX_GALOIS_MOST };

/* The steps of hosts on (0, .., ..) and on (1, .., ..), of the same kinds for both; p and p of them are a group, which
 * is made at the same time, by the p hosts of a router. */
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

/* Fills s->phases by the field, q and p. */
void hx_slim_fly_plan(struct hx_slim_fly *s);

/* How many rounds there are. */
uint32_t hx_slim_fly_phases(const struct hx_slim_fly *s);

/* Whom a host sends to in one of them. */
uint32_t hx_slim_fly_partner(const struct hx_slim_fly *s, uint32_t host, uint32_t phase);

#endif
