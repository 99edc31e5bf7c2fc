/* timeline_lanes.h - distributes intervals over as few lanes as possible, so that none overlap in a lane.
 *
 * Intervals come from the latest end to the earliest. One that ends where another begins fits into the same lane. The
 * lowest free lane is taken. Time: O(log lanes) for each interval. */
#ifndef TIMELINE_LANES_H
#define TIMELINE_LANES_H

#include <stddef.h>
#include <stdint.h>

struct timeline_lane {
    uint64_t key;
    uint32_t number;
};

/* All zero: no lanes. */
struct timeline_lanes {
    uint32_t lanes;
    struct timeline_lane *busy; /* heap: the latest begin first */
    struct timeline_lane *idle; /* heap: the lowest number first */
    size_t busy_count, idle_count, busy_room, idle_room;
};

/* Returns the lane of the interval. */
uint32_t timeline_lanes_take(struct timeline_lanes *l, uint64_t begin, uint64_t end);
/* Empties all lanes, for intervals of another rank. */
void timeline_lanes_clear(struct timeline_lanes *l);
void timeline_lanes_free(struct timeline_lanes *l);

#endif
