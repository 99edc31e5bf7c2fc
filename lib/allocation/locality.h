/* locality.h - share of a job's traffic that crosses the upper level of row and column networks with two levels.
 *
 * Counted as in the paper's figure 9, in boards: each board sends the same to each partner. Traffic to another row and
 * another column goes half by X then Y, half by Y then X. Partners are all boards of the job for all-to-all, and the
 * four neighbours on its torus for all-reduce. `low` counts messages through one network, `high` those between two of
 * its leaves. All row networks of a job carry the same, and so do all its column networks. */
#ifndef HXMESH_SCHED_LOCALITY_H
#define HXMESH_SCHED_LOCALITY_H

#include "allocation/boards.h"

enum hx_locality { HX_ANYWHERE, HX_NEAR_ALL_TO_ALL, HX_NEAR_ALL_REDUCE, HX_LOCALITIES };
extern const char *const hx_locality_names[HX_LOCALITIES + 1]; /* "none", "all-to-all", "all-reduce", NULL */

struct hx_upper_traffic {
    double low, high;
};

/* Traffic of a job on one row's (dimension 0) or one column's (1) network; zeros if `leaf` is 0. */
struct hx_upper_traffic hx_upper_traffic_of(const struct hx_placement *p, unsigned dimension, unsigned locality,
                                            const unsigned leaf[2]);

/* Share of a job's messages through two-level networks that crosses the upper level; 0: no such messages. */
double hx_upper_share(const struct hx_placement *p, unsigned locality, const unsigned leaf[2]);

#endif
