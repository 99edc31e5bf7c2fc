/* watchdog.h - detects a fabric that is stuck, and finds its dependency cycle.
 *
 * When: all workers know when a packet last moved (virtual_turn). In a fabric that moves, the longest wait of a packet
 * is bounded (watchdog_longest_wait): each input of the largest switch sends a full packet over the slowest link, and
 * its credit returns; faulty links delay both. When no packet moves for that time and `--watchdog` more, workers count
 * their waiting packets and find the newest.
 *
 * Cause: each worker writes, for each (input, VC) with waiting packets, the outputs that lack credit. Behind each
 * output is another (input, VC), which is full. The supervisor looks for a cycle among them. */
#ifndef WATCHDOG_H
#define WATCHDOG_H

#include "state.h"

/* State of one worker's watchdog. */
struct watchdog {
    uint64_t limit; /* ps without a move; 0: off */
    uint64_t quiet; /* ps: latest time at which a packet moved or arrived */
};

struct watchdog watchdog_start(const struct model *m);

/* The longest wait of a packet in a fabric that moves, ps. */
uint64_t watchdog_longest_wait(const struct model *m);

/* Whether to look after this turn. */
static inline bool watchdog_is_due(const struct watchdog *d, const struct virtual_turn *turn, uint64_t width)
{
    uint64_t since = turn->moved > d->quiet ? turn->moved : d->quiet;
    return d->limit && turn->active && (turn->next > UINT64_MAX / width || turn->next * width > since + d->limit);
}

/* Looks, in all workers after the same turn, with nothing in flight between them. Returns whether the fabric is stuck;
 * each worker has then written its waits. */
bool watchdog_look(struct watchdog *d, struct worker *w, const struct virtual_turn *turn);

/* Whether workers ended because the fabric is stuck; watchdog_explain() prints the cycle, one line for each edge. */
bool watchdog_was_stuck(const struct model *m);
void watchdog_explain(const struct model *m);

/* Packets that wait in a worker's switches, or before its endpoints. */
uint64_t watchdog_standing(const struct worker *w);

#endif
