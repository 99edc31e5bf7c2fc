/* choices.h - how each different collective of a schedule is carried out: found once, shared by all ranks. */
#ifndef SCHEDULE_CHOICES_H
#define SCHEDULE_CHOICES_H

#include "schedule/executor.h"

struct schedule_choices;

/* Fills the choice for an operation. Arrays are allocated, and freed with the choices. Returns false and sets *problem
 * if it cannot be carried out. */
typedef bool schedule_fill(void *of, const struct schedule *s, const struct schedule_operation *o,
                           struct executor_choice *choice, struct hx_problem *problem);

/* Returns NULL and sets *problem if a fill failed. */
struct schedule_choices *schedule_choices_make(const struct schedule *s, schedule_fill *fill, void *of,
                                               struct hx_problem *problem);
void schedule_choices_free(struct schedule_choices *c);

/* For executor_plan.choose, of: the choices. */
const struct executor_choice *schedule_choose(const void *of, const struct schedule_operation *o);

/* Sets kind, size, vector and window of a collective: bytes of gather, scatter and all-to-all, elements of float32 of
 * the others. With shares, the vector is the mean: shares_set() comes next. */
void schedule_set_vector(const struct schedule_operation *o, uint32_t size, struct hx_collective_config *config);

/* Whether an algorithm (enum hx_algorithm) has a kind of collective, on a group that has all algorithms. */
bool schedule_has_kind(unsigned algorithm, enum hx_collective_kind kind);

/* A choice without a fabric: a group in its order. The algorithm is that of the operation, if a line of ranks has it;
 * else by kind and bytes. */
bool schedule_fill_plain(void *of, const struct schedule *s, const struct schedule_operation *o,
                         struct executor_choice *choice, struct hx_problem *problem);

#endif
