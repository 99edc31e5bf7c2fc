/* demand_schedule.h - an iteration of a demand as a schedule of messages, for packets.
 *
 *     forward       computing in equal pieces, one before each exchange and one behind the last
 *     exchanges     one message a pair, all at once; a server goes on when it has got and sent all of its own
 *     backward      the same, with the computing that sums do not go on beside
 *     sums          around each ring, both ways, each with an equal part of the vector, beside the hidden computing:
 *                   2 (k - 1) steps of a segment to the next member, behind the segment from the member before. Each
 *                   part is in two halves, so that one is in flight while a server waits for the other
 *
 * Sums are messages, because the collective algorithm `ring` orders a group by the grid of its hosts. Purposes are
 * "exchange" and "data". */
#ifndef HXMESH_TOOLS_CIRCUITS_DEMAND_SCHEDULE_H
#define HXMESH_TOOLS_CIRCUITS_DEMAND_SCHEDULE_H

#include "schedule/build.h"
#include "tools/circuits/circuits.h"

/* rings: of struct circuits; a sum without rings has one of stride 1. samples: of an iteration; 0: not known. Returns
 * NULL and sets *problem if messages or times exceed those of schedule.h. */
struct schedule_builder *circuits_schedule(const struct circuits_demand *d, const struct circuits_ring *ring,
                                           unsigned rings, uint64_t samples, struct hx_problem *problem);

#endif
