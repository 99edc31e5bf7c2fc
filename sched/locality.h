/* locality.h - how much of a job's traffic crosses the upper level of the row and column networks that have two.
 *
 * Counted as the paper's figure 9 does, a board at a time: each board sends the same to each partner; what goes to a
 * board of another row and another column goes half by X then Y, half by Y then X. In all-to-all all boards of the job
 * are partners, in all-reduce the four neighbours on its torus. Sends through one network: `low`; those of them between
 * two leaves: `high`. All row networks of a job carry the same, and all its column networks. */
#ifndef HXMESH_SCHED_LOCALITY_H
#define HXMESH_SCHED_LOCALITY_H

#include "sched/boards.h"

enum hx_locality { HX_ANYWHERE, HX_NEAR_ALL_TO_ALL, HX_NEAR_ALL_REDUCE, HX_LOCALITIES };
extern const char *const hx_locality_names[HX_LOCALITIES + 1]; /* "none", "all-to-all", "all-reduce", NULL */

struct hx_upper_traffic {
    double low, high;
};

/* What one row's (dimension 0) or one column's (1) network carries of a job; zeros where `leaf` is 0. */
struct hx_upper_traffic hx_upper_traffic_of(const struct hx_placement *p, unsigned dimension, unsigned locality,
                                            const unsigned leaf[2]);

/* Share of all sends of a job through networks of two levels that crosses the upper one; 0: there are none. */
double hx_upper_share(const struct hx_placement *p, unsigned locality, const unsigned leaf[2]);

#endif
