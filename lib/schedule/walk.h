/* walk.h - the operations of a rank in order of number, each with the number of times that it runs.
 *
 *     struct schedule_walk walk;
 *     schedule_walk_begin(&walk, schedule, rank);
 *     while (schedule_walk_next(&walk))
 *         ... walk.operation, walk.number, walk.times
 *     schedule_walk_end(&walk);
 *
 * Counts that exceed 64 bits stay at UINT64_MAX. */
#ifndef SCHEDULE_WALK_H
#define SCHEDULE_WALK_H

#include "schedule/schedule.h"

struct schedule_walk_body; /* a repeated block around the operation */

struct schedule_walk {
    const struct schedule_operation *operation;
    uint32_t number; /* of the operation, in its rank */
    uint64_t times;  /* 1 and up: product of the iterations of all repeats around it */
    /* private */
    uint32_t next, count;
    struct schedule_walk_body *body; /* the innermost last */
    size_t bodies, room;
};

void schedule_walk_begin(struct schedule_walk *w, const struct schedule *s, uint32_t rank);
/* Steps to the next operation, at first to operation 0. Returns false behind the last one. */
bool schedule_walk_next(struct schedule_walk *w);
void schedule_walk_end(struct schedule_walk *w);

/* Writes for each operation of a rank the innermost repeat around it, or SCHEDULE_NO_REPEAT. around: [operations] */
enum { SCHEDULE_NO_REPEAT = UINT32_MAX };
void schedule_find_repeats(const struct schedule *s, uint32_t rank, uint32_t *around);

static inline uint64_t schedule_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t schedule_multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
