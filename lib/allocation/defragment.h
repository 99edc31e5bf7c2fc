/* defragment.h - makes room for a job by moving others, if enough boards are free but not in a usable shape.
 *
 * It tries to remove each job alone, then the smallest two, three, ... up to all. Jobs that still fit stay in place;
 * the others are placed again, largest first. The attempt that moves the fewest boards wins. All moves happen at once:
 * a job may move to boards that another leaves. */
#ifndef HXMESH_SCHED_DEFRAGMENT_H
#define HXMESH_SCHED_DEFRAGMENT_H

#include "allocation/placement.h"

/* Finds room for a job of a shape. standing: [jobs], placements of the running jobs; their boards are taken in *b; *b
 * is unchanged at the end. Returns true with *room for the job, and move[i] for job i, of shape 0 x 0 if it stays; the
 * caller frees all with hx_placement_free(). Returns false if there is no room; then there is nothing to free. */
bool hx_make_room(struct hx_placement *room, struct hx_placement *move, const struct hx_placement *standing,
                  unsigned jobs, const struct hx_boards *b, struct hx_shape wanted,
                  const struct hx_placement_rules *rules);

/* Number of boards that change: the n-th of `from`, row by row, moves to the n-th of `to`. to: as many boards in any
 * shape; without boards, the job stays. */
unsigned hx_boards_moved(const struct hx_placement *from, const struct hx_placement *to);

#endif
