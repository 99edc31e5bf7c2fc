/* defragment.h - makes room for a job where there are boards enough, but not together: some of the jobs that stand
 * move.
 *
 * Tried are: each job that stands out of the way by itself, then the smallest two, three, ... up to all of them.
 * Whoever still fits where it stood stays there, the others are placed anew, the largest first. Of all that makes room
 * that is taken which moves the fewest boards. All moves happen at once: the state of a job leaves its old boards while
 * that of another comes. */
#ifndef HXMESH_SCHED_DEFRAGMENT_H
#define HXMESH_SCHED_DEFRAGMENT_H

#include "sched/placement.h"

/* Finds room for a job of that shape. standing: [jobs], where they stand; their boards are taken in *b, which is left
 * as it is. True: *room is the job's, and move[i] is where job i goes, of shape 0 x 0 if it stays; all to be freed with
 * hx_placement_free(). False: no room was found, and there is nothing to free. */
bool hx_make_room(struct hx_placement *room, struct hx_placement *move, const struct hx_placement *standing,
                  unsigned jobs, const struct hx_boards *b, struct hx_shape wanted,
                  const struct hx_placement_rules *rules);

/* Boards of a job whose state goes to another board: the n-th of `from`, row by row, to the n-th of `to`. to: of as
 * many boards, in any shape; of none, the job stays. */
unsigned hx_boards_moved(const struct hx_placement *from, const struct hx_placement *to);

#endif
