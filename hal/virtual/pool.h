/* pool.h - the packets of one worker: a frame each, its header, and payload only where it is carried. What was freed
 * last is taken first, so that what is in use stays in the cache. */
#ifndef VIRTUAL_POOL_H
#define VIRTUAL_POOL_H

#include "hxmesh/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Without payload a frame still holds what an acknowledgement or a report carries. */
enum { VIRTUAL_HEADER_FRAME = 2 * HX_HEADER_BYTES, VIRTUAL_WAITED_AT = 20 /* credit_limit (hxmesh/frame.h) */ };

struct virtual_pool {
    uint8_t *frames;
    uint32_t *freed; /* stack */
    uint32_t freed_count;
    uint32_t fresh;  /* buffers from here on were never used: their pages are not there yet */
    uint32_t limit;  /* buffers in all */
    uint32_t stride; /* bytes of a frame */
};

/* Reserves addresses, not memory. Once a process. */
void virtual_pool_open(struct virtual_pool *p, bool payload);
_Noreturn void virtual_pool_exhausted(const struct virtual_pool *p);

static inline uint32_t virtual_pool_get(struct virtual_pool *p)
{
    if (p->freed_count)
        return p->freed[--p->freed_count];
    if (p->fresh == p->limit)
        virtual_pool_exhausted(p);
    return p->fresh++;
}

static inline void virtual_pool_put(struct virtual_pool *p, uint32_t buffer)
{
    p->freed[p->freed_count++] = buffer;
}

static inline uint32_t virtual_pool_used(const struct virtual_pool *p)
{
    return p->fresh - p->freed_count;
}

static inline uint8_t *virtual_pool_frame(const struct virtual_pool *p, uint32_t buffer)
{
    return p->frames + (size_t)buffer * p->stride;
}

/* Frames cross no cable that would carry credit: its four bytes in their headers say for how many ns a packet waited
 * before it was injected. Where frames are shown (tap.c) they are zero, as everywhere. */
static inline uint32_t virtual_waited(const uint8_t *frame)
{
    uint32_t waited;
    memcpy(&waited, frame + VIRTUAL_WAITED_AT, sizeof waited);
    return waited;
}

static inline void virtual_set_waited(uint8_t *frame, uint32_t waited)
{
    memcpy(frame + VIRTUAL_WAITED_AT, &waited, sizeof waited);
}

#endif
