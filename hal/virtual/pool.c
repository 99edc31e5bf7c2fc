/* pool.c - address space for packets (pool.h). */
#include "pool.h"
#include "arena.h"
#include "base/error.h"

#define MOST_BYTES   ((uint64_t)64 << 30)
#define MOST_BUFFERS ((uint64_t)1 << 26)

void virtual_pool_open(struct virtual_pool *p, unsigned packets)
{
    uint32_t stride = packets ? HX_HEADER_BYTES + packets * HX_MAX_PAYLOAD : VIRTUAL_HEADER_FRAME;
    uint64_t buffers = MOST_BYTES / stride < MOST_BUFFERS ? MOST_BYTES / stride : MOST_BUFFERS;
    buffers = virtual_arena_fit(buffers, stride + sizeof *p->freed);
    *p = (struct virtual_pool){.limit = (uint32_t)buffers, .stride = stride};
    p->frames = virtual_arena_reserve(buffers * stride);
    p->freed = virtual_arena_reserve(buffers * sizeof *p->freed);
}

void virtual_pool_exhausted(const struct virtual_pool *p)
{
    hx_die(
        HX_EXIT_ENVIRONMENT, "memory",
        "more than %u packets in flight in one worker (a smaller --buffer, or a higher limit of addresses: ulimit -v)",
        p->limit);
}
