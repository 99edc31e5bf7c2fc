/* timeline_tracks.h - distributes intervals over as few tracks as possible, so that none overlap in a track.
 *
 * Intervals come from the latest end to the earliest. One that ends where another begins fits into the same track. The
 * lowest free track is taken. Time: O(log tracks) for each interval. */
#ifndef TIMELINE_TRACKS_H
#define TIMELINE_TRACKS_H

#include <stddef.h>
#include <stdint.h>

struct timeline_track {
    uint64_t key;
    uint32_t number;
};

/* All zero: no tracks. */
struct timeline_tracks {
    uint32_t tracks;
    struct timeline_track *busy; /* heap: the latest begin first */
    struct timeline_track *idle; /* heap: the lowest number first */
    size_t busy_count, idle_count, busy_room, idle_room;
};

/* Returns the track of the interval. */
uint32_t timeline_tracks_take(struct timeline_tracks *l, uint64_t begin, uint64_t end);
/* Empties all tracks, for intervals of another rank. */
void timeline_tracks_clear(struct timeline_tracks *l);
void timeline_tracks_free(struct timeline_tracks *l);

#endif
