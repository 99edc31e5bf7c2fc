/* msccl_promise.h - the promise of a collective: sizes of input and output, and the right value of each output cell. */
#ifndef SCHEDULE_MSCCL_PROMISE_H
#define SCHEDULE_MSCCL_PROMISE_H

#include "schedule/msccl_plan.h"

/* Sets the promise of a collective's name; returns false if it is unknown. */
bool msccl_find_promise(const char *name, enum msccl_promise *promise);

/* Places the buffers. Takes path, promise, in_place, gpus, chunks, slices and gpu[].chunks. Returns false and sets
 * *problem if the chunks do not divide among the gpus or are too many. */
bool msccl_place(struct msccl_plan *plan, struct hx_problem *problem);

/* Cells of a gpu's input and output. An unknown collective's: those of the largest buffer. */
uint64_t msccl_inputs(const struct msccl_plan *plan);
uint64_t msccl_outputs(const struct msccl_plan *plan);

/* The value that an output cell must have. */
struct msccl_expected {
    bool sum;     /* of input cell `input` of all gpus; false: that of `gpu` alone */
    uint32_t gpu; /* source */
    uint32_t input;
};

/* root: of a broadcast or scatter. */
struct msccl_expected msccl_expected(const struct msccl_plan *plan, uint32_t gpu, uint32_t output, uint32_t root);

/* Name of the plan's collective; "" if it is unknown. */
const char *msccl_collective(const struct msccl_plan *plan);

#endif
