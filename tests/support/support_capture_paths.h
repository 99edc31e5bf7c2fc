/* support_capture_paths.h - the fabric of the capture model: which interface is where, what hangs on it, and by which
 * ports a packet may go on, in closed form for single crossbars.
 *
 * Interfaces are numbered plane by plane; in each the ports of accelerators, row by row, then those of row networks,
 * then those of column networks. A network's ports 2n and 2n + 1 lead to the low and the high edge of board n. */
#ifndef HXMESH_TESTS_SUPPORT_CAPTURE_PATHS_H
#define HXMESH_TESTS_SUPPORT_CAPTURE_PATHS_H

#include "tests/support/support_capture.h"
#include "tests/support/support_capture_frame.h"

struct sim_fabric {
    const struct sim_settings *set;              /* must outlive it */
    unsigned columns, rows;                      /* of accelerators */
    uint32_t first_row, first_column, per_plane; /* interfaces */
};
struct sim_fabric sim_fabric_of(const struct sim_settings *set);

uint32_t sim_accelerator_port(const struct sim_fabric *f, unsigned plane, unsigned gx, unsigned gy, unsigned port);
/* The interface at the other end of the cable of an accelerator's port, which is not LOCAL. */
uint32_t sim_far_of(const struct sim_fabric *f, unsigned plane, unsigned gx, unsigned gy, unsigned port);

/* Whether a step from `at` in a dimension, 0 towards low, 1 towards high, leaves a board of that side. */
bool sim_is_edge(unsigned side, unsigned at, unsigned step);

/* Ports of an accelerator, a bit each, by which a frame that came in by `in` may go on, north-last kept; 0: by none. */
unsigned sim_paths(const struct sim_fabric *f, const struct sim_frame *frame, unsigned in, unsigned gx, unsigned gy);
/* Ports of a row's or a column's crossbar by which it may go on. */
uint64_t sim_crossbar_paths(const struct sim_fabric *f, const struct sim_frame *frame, bool row, unsigned in);

#endif
