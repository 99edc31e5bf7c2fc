/* summary.h - counts of a schedule. Counts that exceed 64 bits stay at UINT64_MAX. */
#ifndef SCHEDULE_SUMMARY_H
#define SCHEDULE_SUMMARY_H

#include "schedule/schedule.h"

#include <stdio.h>

enum { SCHEDULE_TOP = 5 };

struct schedule_pair {
    uint32_t from, to; /* rank */
    uint64_t messages, bytes;
};

/* Greatest amount of all ranks, and the lowest rank with it. */
struct schedule_most {
    uint64_t amount;
    uint32_t rank;
};

static inline void schedule_note_most(struct schedule_most *most, uint64_t amount, uint32_t rank)
{
    if (amount > most->amount)
        *most = (struct schedule_most){amount, rank};
}

/* Operations are counted as they are written (once each), or as they run (each times the iterations around it).
 * Messages, bytes and picoseconds are those that run. Messages of collectives do not count. */
struct schedule_summary {
    uint64_t written[SCHEDULE_KINDS];
    uint64_t executed[SCHEDULE_KINDS];
    uint64_t collectives[HX_COLLECTIVE_KINDS];      /* as they run; each once for each member */
    uint64_t collective_bytes[HX_COLLECTIVE_KINDS]; /* of their vectors, each once for each member */
    uint64_t dependencies;                          /* as written */
    uint64_t messages, bytes, longest_message;
    uint64_t pairs; /* of ranks with messages */

    struct schedule_pair pair[SCHEDULE_TOP];   /* with most bytes, the first most */
    struct schedule_pair sender[SCHEDULE_TOP]; /* ranks with most bytes to all others; `to` is 0 */
    unsigned top_pairs, top_senders;

    uint64_t compute_ps;               /* sum over ranks */
    struct schedule_most rank_compute; /* ps of a rank */

    struct schedule_most depth; /* operations of the longest chain in a rank, each of which waits for the former */
    struct schedule_most chain; /* ps of computing on the chain with most of it */
    struct schedule_most width; /* operations with equally long chains before them, in a rank outside of blocks
                                        * or in the body of a repeat */

    uint64_t groups;
    uint32_t smallest_group, largest_group; /* ranks; 0: no groups */
};

/* Fills *summary. pairs: where to write "from,to,messages,bytes" for each pair of ranks with messages, in order; NULL:
 * nowhere. */
void schedule_summarize(const struct schedule *s, FILE *pairs, struct schedule_summary *summary);

/* Sets depth, chain and width; schedule_summarize() calls it. */
void schedule_measure_depth(const struct schedule *s, struct schedule_summary *summary);

#endif
