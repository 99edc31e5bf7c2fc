/* watchdog.h - finds out that nothing moves any more although packets stand in switches, and who waits for whom.
 *
 * When. All workers know when a packet moved last (virtual_turn). A fabric that moves never lets a packet stand for
 * longer than it takes to send a full packet from every input of the largest switch, one after the other, and to get
 * the credit back (virtual_watchdog_limit); nothing it waits for is further away. When simulated time has gone on for
 * that long and for `--watchdog` more, workers count the packets that stand in their switches, and when the newest of
 * them came.
 *
 * Who. Each worker writes down, for each (input, VC) whose packets wait, which outputs they want that lack credit.
 * Behind each of these is another (input, VC), which is full. The supervisor looks for a cycle among them. */
#ifndef WATCHDOG_H
#define WATCHDOG_H

#include "state.h"

/* What a worker remembers. */
struct watchdog {
    uint64_t limit; /* ps that nothing may move; 0: it is off */
    uint64_t quiet; /* ps: since when nothing is known to have moved or come */
};

struct watchdog watchdog_start(const struct model *m);

/* The longest time that a packet may stand in a fabric that moves, ps. */
uint64_t watchdog_longest_wait(const struct virtual_timing *t);

/* Whether time has come to look, after a turn. */
static inline bool watchdog_is_due(const struct watchdog *d, const struct virtual_turn *turn, uint64_t width)
{
    uint64_t since = turn->moved > d->quiet ? turn->moved : d->quiet;
    return d->limit && turn->active && (turn->next > UINT64_MAX / width || turn->next * width > since + d->limit);
}

/* All workers look, after the same turn; nothing is on its way between them. Returns whether the fabric is stuck: then
 * each has written down what it knows. */
bool watchdog_look(struct watchdog *d, struct worker *w, const struct virtual_turn *turn);

/* Whether the workers ended for that; the supervisor then says so, with the cycle, a line for each edge. */
bool watchdog_was_stuck(const struct model *m);
void watchdog_explain(const struct model *m);

/* Packets that stand in a worker's switches, or before its endpoints. */
uint64_t watchdog_standing(const struct worker *w);

#endif
