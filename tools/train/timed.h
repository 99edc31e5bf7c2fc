/* timed.h - a schedule with each collective as computing of a given time, for estimates. */
#ifndef HXMESH_TOOLS_TRAIN_TIMED_H
#define HXMESH_TOOLS_TRAIN_TIMED_H

#include "tools/train/network.h"

/* Returns a copy of a schedule in which each collective is computing for the time that the network gives it, on a
 * stream of its group, or of all groups if hosts have one link; computing times are multiplied by `scale`. Adds the
 * families of groups and the pairs of messages to the network. host[rank]: the host of a rank. n NULL: collectives take
 * no time. Returns NULL and sets *problem if a collective cannot be carried out. */
struct schedule *timed_make(const struct schedule *s, struct network *n, const uint32_t *host, double scale,
                            struct hx_problem *problem);

/* Calls add() for each rank that a rank sends to. weight: 1 / number of these. */
typedef void timed_add(const void *of, uint32_t from, uint32_t to, double weight);
void timed_each_pair(const struct schedule *s, timed_add *add, const void *of);

/* Multiplies the computing times on streams below `streams`. The schedule is in memory, not a mapped file. */
void timed_scale(struct schedule *s, double scale, unsigned streams);

/* Adds the bytes of the whole schedule to load[ports], and those that all ranks send in collectives for a purpose to
 * bytes[purpose]. */
void timed_lay(const struct schedule *s, struct network *n, const uint32_t *host, double *load,
               double bytes[SCHEDULE_MOST_PURPOSES]);

#endif
