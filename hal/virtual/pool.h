/* pool.h - the packets of one worker: a frame each, with payload only if payload is carried. The buffer freed last is
 * taken first, so buffers in use stay in the cache. */
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
    uint32_t fresh;  /* first buffer that was never used: its pages are untouched */
    uint32_t limit;  /* number of buffers */
    uint32_t stride; /* bytes of a frame */
};

/* Reserves addresses, not memory, for frames with the payload of so many packets. Once per process. */
void virtual_pool_open(struct virtual_pool *p, unsigned packets);
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

/* Time a packet waited before its injection, ns, and whether the user marked it. They take the place of the credit
 * field: frames cross no cable here. Captured frames have zero in this field (tap.c). */
static inline uint32_t virtual_wait(const uint8_t *frame)
{
    uint32_t wait;
    memcpy(&wait, frame + VIRTUAL_WAITED_AT, sizeof wait);
    return wait;
}

static inline void virtual_set_wait(uint8_t *frame, uint32_t wait)
{
    memcpy(frame + VIRTUAL_WAITED_AT, &wait, sizeof wait);
}

#define VIRTUAL_MOST_WAIT ((uint32_t)INT32_MAX) /* ns: 2.15 s; a longer wait counts as this */

static inline uint32_t virtual_wait_of(uint64_t ns, bool marked)
{
    return (uint32_t)(ns < VIRTUAL_MOST_WAIT ? ns : VIRTUAL_MOST_WAIT) << 1 | marked;
}

static inline uint64_t virtual_waited_ns(uint32_t wait)
{
    return wait >> 1;
}

static inline bool virtual_is_marked(uint32_t wait)
{
    return wait & 1;
}

#endif
