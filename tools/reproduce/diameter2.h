/* diameter2.h - experiments of the diameter-two study (Kathareios et al., "Cost-Effective Diameter-Two Topologies:
 * Analysis and Evaluation", SC15). */
#ifndef HXMESH_TOOLS_REPRODUCE_DIAMETER2_H
#define HXMESH_TOOLS_REPRODUCE_DIAMETER2_H

#include "tools/reproduce/figure.h"

struct diameter2_network {
    const char *name; /* for plots */
    const char *spec;
    double worst; /* share of injection that minimal routing carries in the worst case */
};

/* The network of a run's fabric, with any routing; NULL: none. */
const struct diameter2_network *diameter2_network_of(const char *fabric, enum reproduce_effort effort);

/* The routing that a fabric's spec names. */
const char *diameter2_routing_of(const char *fabric);

enum { DIAMETER2_ROUTINGS = 6 }; /* of an exchange: minimal, Valiant, UGAL-L by three choices, and with a threshold */

/* For experiments that are computed without runs. */
void plan_nothing(struct reproduce_plan *p);
void plan_oblivious(struct reproduce_plan *p);
void plan_sf_a(struct reproduce_plan *p);
void plan_sf_ath(struct reproduce_plan *p);
void plan_mlfm_a(struct reproduce_plan *p);
void plan_mlfm_ath(struct reproduce_plan *p);
void plan_oft_a(struct reproduce_plan *p);
void plan_oft_ath(struct reproduce_plan *p);
void plan_all_to_all(struct reproduce_plan *p);
void plan_neighbours(struct reproduce_plan *p);

void show_scalability(struct reproduce_figure *f); /* figure 3 */
void show_bisection(struct reproduce_figure *f);   /* figure 4 */
void show_load(struct reproduce_figure *f);        /* figures 6 to 12 */
void show_exchange(struct reproduce_figure *f);    /* figures 13 and 14 */

#endif
