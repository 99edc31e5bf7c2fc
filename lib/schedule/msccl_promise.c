/* msccl_promise.c - collectives, and where their buffers lie (msccl_promise.h). */
#include "schedule/msccl_promise.h"

#include <inttypes.h>
#include <string.h>

/* In place, output cell 0 is the input cell of the gpu's own part (a scattered output), or the reverse (a gathered
 * input). */
static const struct collective {
    const char *name;
    bool gathers;  /* input: a gpu's part of the vector */
    bool scatters; /* output: the same */
    bool parts;    /* chunks divide among the gpus */
} collectives[MSCCL_PROMISES + 1] = {
    [MSCCL_ALL_REDUCE] = {.name = "allreduce"},
    [MSCCL_ALL_GATHER] = {.name = "allgather", .gathers = true, .parts = true},
    [MSCCL_REDUCE_SCATTER] = {.name = "reducescatter", .scatters = true, .parts = true},
    [MSCCL_ALL_TO_ALL] = {.name = "alltoall", .parts = true},
    [MSCCL_BROADCAST] = {.name = "broadcast"},
    [MSCCL_REDUCE] = {.name = "reduce"},
    [MSCCL_GATHER] = {.name = "gather", .gathers = true, .parts = true},
    [MSCCL_SCATTER] = {.name = "scatter", .scatters = true, .parts = true},
    [MSCCL_PROMISES] = {.name = ""}};

bool msccl_find_promise(const char *name, enum msccl_promise *promise)
{
    *promise = MSCCL_PROMISES;
    if (strcmp(name, "reduce_scatter") == 0) /* msccl-tools' name */
        name = "reducescatter";
    for (unsigned i = 0; i < MSCCL_PROMISES; i++) {
        if (strcmp(name, collectives[i].name) == 0)
            *promise = (enum msccl_promise)i;
    }
    return *promise != MSCCL_PROMISES;
}

const char *msccl_collective(const struct msccl_plan *plan)
{
    return collectives[plan->promise].name;
}

static uint32_t most_chunks(const struct msccl_plan *plan, enum msccl_buffer buffer)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < plan->gpus; i++)
        most = plan->gpu[i].chunks[buffer] > most ? plan->gpu[i].chunks[buffer] : most;
    return most;
}

/* Cells of a gpu's part of the vector, 1 and up. */
static uint32_t part_of(const struct msccl_plan *plan)
{
    uint32_t part = plan->gpus ? plan->chunks / plan->gpus * plan->slices : 0;
    return part ? part : 1;
}

static uint64_t cells_of(const struct msccl_plan *plan, enum msccl_buffer buffer, bool part)
{
    if (part)
        return part_of(plan);
    return (uint64_t)(plan->promise == MSCCL_PROMISES ? most_chunks(plan, buffer) : plan->chunks) * plan->slices;
}

uint64_t msccl_inputs(const struct msccl_plan *plan)
{
    return cells_of(plan, MSCCL_INPUT, collectives[plan->promise].gathers);
}

uint64_t msccl_outputs(const struct msccl_plan *plan)
{
    return cells_of(plan, MSCCL_OUTPUT, collectives[plan->promise].scatters);
}

struct msccl_expected msccl_expected(const struct msccl_plan *plan, uint32_t gpu, uint32_t output, uint32_t root)
{
    uint32_t part = part_of(plan);
    switch (plan->promise) {
    case MSCCL_REDUCE_SCATTER:
        return (struct msccl_expected){.sum = true, .input = gpu * part + output};
    case MSCCL_ALL_GATHER:
    case MSCCL_GATHER:
        return (struct msccl_expected){.gpu = output / part, .input = output % part};
    case MSCCL_ALL_TO_ALL:
        return (struct msccl_expected){.gpu = output / part, .input = gpu * part + output % part};
    case MSCCL_SCATTER:
        return (struct msccl_expected){.gpu = root, .input = gpu * part + output};
    case MSCCL_BROADCAST:
        return (struct msccl_expected){.gpu = root, .input = output};
    case MSCCL_ALL_REDUCE:
    case MSCCL_REDUCE:
    case MSCCL_PROMISES:
        break;
    }
    return (struct msccl_expected){.sum = true, .input = output};
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Places one gpu's buffers; returns their cells. */
static uint64_t place_gpu(const struct msccl_plan *plan, uint32_t number, uint64_t first)
{
    const struct collective *c = &collectives[plan->promise];
    struct msccl_gpu *gpu = &plan->gpu[number];
    uint64_t part = part_of(plan);
    uint64_t input = larger(msccl_inputs(plan), (uint64_t)gpu->chunks[MSCCL_INPUT] * plan->slices);
    uint64_t output = larger(msccl_outputs(plan), (uint64_t)gpu->chunks[MSCCL_OUTPUT] * plan->slices);
    /* Only a known collective says how its buffers overlap. */
    bool in_place = plan->in_place && plan->promise != MSCCL_PROMISES;
    uint64_t input_at = in_place && c->gathers ? number * part : 0;
    uint64_t output_at = !in_place ? input : c->scatters ? number * part : 0;
    uint64_t end = larger(input_at + input, output_at + output);
    gpu->cell[MSCCL_INPUT] = (uint32_t)(first + input_at);
    gpu->cell[MSCCL_OUTPUT] = (uint32_t)(first + output_at);
    gpu->cell[MSCCL_SCRATCH] = (uint32_t)(first + end);
    return end + (uint64_t)gpu->chunks[MSCCL_SCRATCH] * plan->slices;
}

bool msccl_place(struct msccl_plan *plan, struct hx_problem *problem)
{
    uint64_t cells = 0;
    if (collectives[plan->promise].parts && plan->chunks % plan->gpus)
        return hx_fail(problem, HX_EXIT_CONFIG, plan->path,
                       "%" PRIu32 " chunks of %s do not divide among %" PRIu32 " gpus (a multiple is wanted)",
                       plan->chunks, msccl_collective(plan), plan->gpus);
    for (uint32_t i = 0; i < plan->gpus && cells <= MSCCL_MOST_CELLS; i++)
        cells += place_gpu(plan, i, cells);
    /* Variables have numbers, too: in place, inputs overlap outputs and may be more than cells. */
    if (cells > MSCCL_MOST_CELLS || msccl_inputs(plan) * plan->gpus > MSCCL_MOST_CELLS)
        return hx_fail(problem, HX_EXIT_CONFIG, plan->path,
                       "has more than %d chunks in the buffers of all gpus (fewer can be proven)", MSCCL_MOST_CELLS);
    plan->cells = (uint32_t)cells;
    plan->buffer_cells = (uint32_t)cells;
    return true;
}
