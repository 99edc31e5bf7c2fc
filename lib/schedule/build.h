/* build.h - makes a schedule: readers and generators add operations, then schedule_build() lays them out.
 *
 *     struct schedule_builder *b = schedule_builder_new(ranks);
 *     uint32_t c = schedule_compute(b, rank, ps, stream);
 *     uint32_t s = schedule_send(b, rank, peer, bytes, tag);
 *     schedule_after(b, rank, s, c);
 *     struct schedule *schedule = schedule_build(b, path, &problem);
 *
 * Operations of a rank are numbered from 0 in the order of adding; ranks may be filled in any order. Running out of
 * memory ends the program (hx_allocate). */
#ifndef SCHEDULE_BUILD_H
#define SCHEDULE_BUILD_H

#include "schedule/schedule.h"

struct schedule_builder;

/* ranks: 1 .. SCHEDULE_MOST_RANKS. */
struct schedule_builder *schedule_builder_new(uint32_t ranks);
/* NULL is allowed. */
void schedule_builder_free(struct schedule_builder *b);

uint32_t schedule_builder_ranks(const struct schedule_builder *b);
/* Operations of a rank so far. */
uint32_t schedule_builder_count(const struct schedule_builder *b, uint32_t rank);
/* The operation, to change it until the next one is added to its rank. */
struct schedule_operation *schedule_builder_at(struct schedule_builder *b, uint32_t rank, uint32_t number);

/* Each adds an operation and returns its number. The caller keeps to the ranges of schedule.h: amounts, ranks of the
 * builder, streams, groups, tags. A rank has at most SCHEDULE_MOST_OPERATIONS. */
uint32_t schedule_compute(struct schedule_builder *b, uint32_t rank, uint64_t ps, unsigned stream);
uint32_t schedule_send(struct schedule_builder *b, uint32_t rank, uint32_t to, uint64_t bytes, uint32_t tag);
uint32_t schedule_receive(struct schedule_builder *b, uint32_t rank, uint32_t from, uint64_t bytes, uint32_t tag);
uint32_t schedule_collect(struct schedule_builder *b, uint32_t rank, enum hx_collective_kind kind, uint32_t group,
                          uint64_t bytes, uint32_t tag);

/* Begins a body that runs `times` times (1 and up); schedule_repeat_end() ends the innermost one of the rank. */
uint32_t schedule_repeat(struct schedule_builder *b, uint32_t rank, uint64_t times);
void schedule_repeat_end(struct schedule_builder *b, uint32_t rank);

/* `later` waits for the end, or for the start, of `earlier`; both are numbers of the rank. A dependency that is given
 * twice counts once. */
void schedule_after(struct schedule_builder *b, uint32_t rank, uint32_t later, uint32_t earlier);
void schedule_after_start(struct schedule_builder *b, uint32_t rank, uint32_t later, uint32_t earlier);

/* Sets an operation's name. Equal names share their text. */
void schedule_set_name(struct schedule_builder *b, uint32_t rank, uint32_t number, const char *text);

/* Sets what an operation is for. Returns false, and sets none, if the schedule has SCHEDULE_MOST_PURPOSES already. */
bool schedule_set_purpose(struct schedule_builder *b, uint32_t rank, uint32_t number, const char *text);

/* Sets what an iteration trains (0: not known), and how many iterations the schedule has (1 and up). */
void schedule_set_work(struct schedule_builder *b, uint64_t samples, uint64_t tokens, uint32_t iterations);

/* The format says that sends of a rank leave one after the other. */
void schedule_set_in_order(struct schedule_builder *b);

/* Sets the logical grid of the ranks. count: 1 .. SCHEDULE_MOST_DIMENSIONS; the product of the sizes is the number of
 * ranks. */
void schedule_set_dimensions(struct schedule_builder *b, const uint32_t *size, unsigned count);

/* Returns the number of the group with these ranks in this order; adds it if there is none. count: 1 and up, no rank
 * twice. */
uint32_t schedule_add_group(struct schedule_builder *b, const uint32_t *ranks, uint32_t count);

/* Returns the tag of all-to-alls with the shares of a table (shares.h); adds it if there is none. weight: [members *
 * members], 1 .. SHARES_MOST members, not all 0. */
uint32_t schedule_add_shares(struct schedule_builder *b, const uint32_t *weight, uint32_t members);

/* Checks and lays out, and frees the builder in any case. Returns NULL and sets *problem (its place is `where`, the
 * file's name) if a rank's operations wait for each other in a circle, a dependency crosses the bound of a body,
 * repeats are too many or too deep, a group is used by a rank outside of it, or a rank is in more than
 * SCHEDULE_MOST_GROUPS_OF_RANK groups that it uses. */
struct schedule *schedule_build(struct schedule_builder *b, const char *where, struct hx_problem *problem);

#endif
