/* msccl_values.h - sums of input chunks: each value is one variable, or the sum of two values. */
#ifndef SCHEDULE_MSCCL_VALUES_H
#define SCHEDULE_MSCCL_VALUES_H

#include "schedule/msccl_plan.h"

struct msccl_sum {
    uint32_t a, b; /* values */
};

/* Value 0 is memory that is never written, 1 .. variables are the input cells, the others are sums. */
struct msccl_values {
    const struct msccl_plan *plan;
    uint32_t *cell; /* value of each */
    struct msccl_sum *sum;
    size_t sums, sums_room;
    uint32_t inputs;    /* cells of a gpu's input */
    uint32_t variables; /* of all gpus */
};

/* The values before the first step: each gpu's input. */
void msccl_values_begin(struct msccl_values *v, const struct msccl_plan *plan);
void msccl_values_free(struct msccl_values *v);
/* Carries out a move. Returns false if there are too many sums. */
bool msccl_values_move(struct msccl_values *v, const struct msccl_move *move);

/* Compares the output with the promise. Returns false and sets *problem for the first chunk that is wrong. */
bool msccl_values_check(const struct msccl_values *v, struct hx_problem *problem);

#endif
