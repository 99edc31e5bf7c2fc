/* msccl_plan.h - a collective algorithm as steps of thread blocks, made by the readers of MSCCL and MSCCL++.
 *
 *     cell     a chunk of a buffer of a gpu, or of a message in flight
 *     move     cells to .. to + count - 1 become the sum of as many cells at `from` and, if any, at `add`
 *     step     moves that happen at once. Steps of a thread block happen in order
 *     wait     a step that happens after another one of any thread block */
#ifndef SCHEDULE_MSCCL_PLAN_H
#define SCHEDULE_MSCCL_PLAN_H

#include "schedule/formats.h"

enum msccl_buffer { MSCCL_INPUT, MSCCL_OUTPUT, MSCCL_SCRATCH, MSCCL_BUFFERS };

enum {
    MSCCL_NO_CELL = UINT32_MAX,
    MSCCL_MOST_CELLS = 1 << 25,
    MSCCL_MOST_STEPS = 1 << 25,
    MSCCL_MOST_SLICES = 64 /* parts of a chunk that thread blocks work on separately */
};

enum msccl_promise {
    MSCCL_ALL_REDUCE,
    MSCCL_ALL_GATHER,
    MSCCL_REDUCE_SCATTER,
    MSCCL_ALL_TO_ALL,
    MSCCL_BROADCAST,
    MSCCL_REDUCE,
    MSCCL_GATHER,
    MSCCL_SCATTER,
    MSCCL_PROMISES /* of an unknown collective: none */
};

struct msccl_gpu {
    uint32_t chunks[MSCCL_BUFFERS]; /* of a buffer, as the file says */
    uint32_t cell[MSCCL_BUFFERS];   /* of the buffer's first chunk */
};

struct msccl_block {
    uint32_t gpu;
    uint32_t id; /* within the gpu */
    uint32_t first, steps;
};

struct msccl_step {
    uint32_t block; /* index */
    uint32_t move;  /* first one; the next step's is the end */
    uint32_t line;  /* in the file; 0: unknown */
};

struct msccl_move {
    uint32_t to, from;
    uint32_t add; /* or MSCCL_NO_CELL */
    uint32_t count;
};

struct msccl_wait {
    uint32_t later, earlier; /* steps */
};

/* Invariant: block[i].first + block[i].steps == block[i + 1].first. */
struct msccl_plan {
    const char *path;
    enum msccl_promise promise;
    bool in_place;   /* input and output share memory */
    bool may_race;   /* two unordered steps that touch one cell are noted; then the output is not compared */
    uint32_t gpus;   /* 1 .. SCHEDULE_MOST_RANKS */
    uint32_t chunks; /* of the collective's vector */
    uint32_t slices; /* cells of a chunk, 1 .. MSCCL_MOST_SLICES */
    uint32_t cells;
    uint32_t buffer_cells; /* cells below are of buffers, the others of messages */
    struct msccl_gpu *gpu;
    struct msccl_block *block;
    struct msccl_step *step;
    struct msccl_move *move;
    struct msccl_wait *wait;
    size_t blocks, steps, moves, waits;
    size_t blocks_room, steps_room, moves_room, waits_room;
};

/* Returns the first of new cells for a message; MSCCL_NO_CELL: there are too many. */
uint32_t msccl_new_cells(struct msccl_plan *plan, uint64_t cells);

/* Each appends; blocks first, then the steps of each block in order. */
void msccl_add_block(struct msccl_plan *plan, uint32_t gpu, uint32_t id);
uint32_t msccl_add_step(struct msccl_plan *plan, uint32_t line);
void msccl_add_move(struct msccl_plan *plan, struct msccl_move move);
void msccl_add_wait(struct msccl_plan *plan, uint32_t later, uint32_t earlier);

/* Frees what the plan points to. */
void msccl_plan_free(struct msccl_plan *plan);

/* Prints "gpu 1, thread block 2, step 3 (line 4)". */
enum { MSCCL_STEP_TEXT = 96 };
const char *msccl_step_text(const struct msccl_plan *plan, uint32_t step, char *text);

/* Adds to the annotations, behind "; ". */
__attribute__((format(printf, 2, 3))) void msccl_note(struct schedule_notes *notes, const char *format, ...);

#endif
