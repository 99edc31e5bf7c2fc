/* support_capture_paths.h - the fabric of the capture model: its interfaces, its cables, and in closed form for single
 * crossbars the candidates of a packet.
 *
 * Interfaces are numbered plane by plane: the ports of accelerators, row by row, then those of row networks, then
 * those of column networks. Ports 2n and 2n + 1 of a network lead to the low and the high edge of board n. */
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
/* Interface at the other end of an accelerator's port; the port is not LOCAL. */
uint32_t sim_far_of(const struct sim_fabric *f, unsigned plane, unsigned gx, unsigned gy, unsigned port);

/* Whether a step from `at` in a dimension (0 low, 1 high) leaves a board of that side. */
bool sim_is_edge(unsigned side, unsigned at, unsigned step);

/* Candidate ports of an accelerator, a bit each, for a frame from input `in`, by the north-last rule; 0: none. */
unsigned sim_paths(const struct sim_fabric *f, const struct sim_frame *frame, unsigned in, unsigned gx, unsigned gy);
/* Candidate ports of a crossbar of a row or column. */
uint64_t sim_crossbar_paths(const struct sim_fabric *f, const struct sim_frame *frame, bool row, unsigned in);

#endif
