/* diameter2.h - the networks of the diameter-two study (Kathareios et al., SC15), and how its results are shown. */
#ifndef HXMESH_TOOLS_REPRODUCE_DIAMETER2_H
#define HXMESH_TOOLS_REPRODUCE_DIAMETER2_H

#include "tools/reproduce/figure.h"

struct diameter2_network {
    const char *name;                /* for plots */
    double worst[REPRODUCE_EFFORTS]; /* share of injection that minimal routing carries in the worst case */
};

/* The network of a run's fabric, with any routing; NULL: none. */
const struct diameter2_network *diameter2_network_of(const char *fabric, enum reproduce_effort effort);

/* Its spec without the routing. */
const char *diameter2_spec_of(const struct diameter2_network *n, enum reproduce_effort effort);

/* The routing that a fabric's spec names. */
const char *diameter2_routing_of(const char *fabric);

void show_scalability(struct reproduce_figure *f); /* figure 3 */
void show_bisection(struct reproduce_figure *f);   /* figure 4 */
void show_load(struct reproduce_figure *f);        /* figures 6 to 12 */
void show_exchange(struct reproduce_figure *f);    /* figures 13 and 14 */

#endif
