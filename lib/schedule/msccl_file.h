/* msccl_file.h - contents of an MSCCL file: read by msccl.c, made a plan and a schedule by msccl_steps.c. */
#ifndef SCHEDULE_MSCCL_FILE_H
#define SCHEDULE_MSCCL_FILE_H

#include "schedule/msccl_plan.h"

enum msccl_type {
    MSCCL_SEND,
    MSCCL_RECEIVE,
    MSCCL_RECEIVE_COPY_SEND,
    MSCCL_RECEIVE_REDUCE_SEND,
    MSCCL_RECEIVE_REDUCE_COPY,
    MSCCL_RECEIVE_REDUCE_COPY_SEND,
    MSCCL_LOCAL_REDUCE,
    MSCCL_LOCAL_COPY,
    MSCCL_NOTHING,
    MSCCL_TYPES
};
extern const char *const msccl_type_names[MSCCL_TYPES + 1]; /* "s", "r", ...; ends with NULL */

/* What a step does. */
static inline bool msccl_sends(enum msccl_type type)
{
    return type == MSCCL_SEND || (type >= MSCCL_RECEIVE_COPY_SEND && type != MSCCL_RECEIVE_REDUCE_COPY &&
                                  type <= MSCCL_RECEIVE_REDUCE_COPY_SEND);
}

static inline bool msccl_receives(enum msccl_type type)
{
    return type >= MSCCL_RECEIVE && type <= MSCCL_RECEIVE_REDUCE_COPY_SEND;
}

/* Whether it reads its source, and writes its destination. */
static inline bool msccl_reads(enum msccl_type type)
{
    return type != MSCCL_RECEIVE && type != MSCCL_RECEIVE_COPY_SEND && type != MSCCL_NOTHING;
}

static inline bool msccl_writes(enum msccl_type type)
{
    return type != MSCCL_SEND && type != MSCCL_RECEIVE_REDUCE_SEND && type != MSCCL_NOTHING;
}

/* How a message is stored at its receiver. LL: lines of 8 bytes and 8 of flags. LL128: of 120 bytes and 8 of flags. */
enum msccl_protocol { MSCCL_SIMPLE, MSCCL_LL, MSCCL_LL128, MSCCL_PROTOCOLS };

/* Bytes that a message of so many bytes of data sends. */
static inline uint64_t msccl_sent(enum msccl_protocol protocol, uint64_t bytes)
{
    const uint64_t data = protocol == MSCCL_LL ? 8 : 120;
    return protocol == MSCCL_SIMPLE ? bytes : (bytes / data + (bytes % data != 0)) * (data + 8);
}

struct msccl_file_step {
    uint32_t line;
    uint32_t source, destination; /* chunks of their buffers */
    uint32_t count;               /* chunks */
    int32_t depend_block;         /* -1: none */
    int32_t depend_step;
    uint8_t type, source_buffer, destination_buffer;
    bool signals; /* others wait for it: hasdep */
};

struct msccl_file_block {
    uint32_t line, gpu, id;
    int32_t to, from; /* peers; -1: none */
    uint32_t channel;
    uint32_t first, steps;
    bool copies; /* holds the gpu's <copy> elements, and follows all of its other blocks */
};

/* Invariant: blocks of a gpu are next to each other, in order of id, the one of copies last. A block's steps follow
 * those of the block before it. */
struct msccl_file {
    const char *path;
    char collective[32];
    enum msccl_promise promise;
    uint8_t protocol; /* enum msccl_protocol */
    uint32_t gpus, chunks;
    bool in_place, out_of_place; /* modes that the file is for */
    uint64_t least, most;        /* bytes of the vector that the file is for; most 0: unlimited */
    struct msccl_gpu *gpu;
    uint32_t *first_block; /* [gpus] */
    uint32_t *gpu_blocks;  /* [gpus] */
    struct msccl_file_block *block;
    struct msccl_file_step *step;
    size_t blocks, steps, blocks_room, steps_room;
};

/* Matches messages and proves the sums, in each mode of the file. */
bool msccl_prove(const struct msccl_file *file, struct schedule_notes *notes, struct hx_problem *problem);

/* bytes: of a chunk. */
struct schedule_builder *msccl_schedule(const struct msccl_file *file, uint64_t bytes);

/* Bytes of a chunk of a vector of options->message bytes; 0 stands for a default within least .. most. Notes it, and a
 * vector outside of that range. Returns 0 and sets *problem if `count`, the most chunks of a message, make too many
 * bytes. */
uint64_t msccl_chunk_bytes(const char *path, const struct schedule_read_options *options, uint64_t least, uint64_t most,
                           uint32_t chunks, uint32_t count, struct schedule_notes *notes, struct hx_problem *problem);

#endif
