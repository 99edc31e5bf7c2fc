/* matching.h - whether every receive of a schedule has its send, every send its receive, and groups agree on their
 * collectives. */
#ifndef SCHEDULE_MATCHING_H
#define SCHEDULE_MATCHING_H

#include "schedule/schedule.h"

/* Returns whether all counts match; else sets *problem (HX_EXIT_CONFIG; its place is `where`, the
 * file's name) to the first operation that lacks its counterpart.
 *
 * Messages: for each destination, receives take sends with equal source and tag, each as often as it runs. Wildcards
 * take the rest. This is exact, with one exception: if a destination has receives of any tag and others of any source,
 * and more than SCHEDULE_MOST_FLOW pairs of source and tag are left to them, only sums are compared.
 *
 * Collectives: the members of a group call the same sequence of kind, bytes, algorithm and root, in order of number,
 * with repeats carried out. Sequences are compared by a hash of 61 bits.
 *
 * A schedule that passes can still deadlock: order and time of messages are not checked. Takes 24 bytes of memory for
 * each send, and for each receive of one destination. */
bool schedule_check_matching(const struct schedule *s, const char *where, struct hx_problem *problem);

enum { SCHEDULE_MOST_FLOW = 1024 };

#endif
