/* stage.h - packets that came by a cable and wait for room in shared memory: one queue a VC, private to the worker.
 *
 *     --[ waste |            first ... last           | free ]--      a packet is never split: where it does not fit
 *                                                                      before the end, it goes to the start
 *
 * The queue holds whatever was granted for its VC (blocks of 256 B), however short the packets are. */
#ifndef STAGE_H
#define STAGE_H

#include "hxmesh/frame.h"
#include "hxmesh/switch.h"

#include <stdbool.h>

struct staged {
    struct hx_desc d;
    uint8_t frame[]; /* header and d.length bytes */
};

struct stage {
    uint8_t *memory;
    uint32_t size, end;   /* bytes; of the part in use when the queue runs over the end */
    uint32_t first, last; /* last == first: it is empty */
};

/* Bytes for a queue of so many blocks; 64-byte aligned. */
size_t stage_bytes(uint32_t blocks);
void stage_init(struct stage *s, uint32_t blocks, void *memory);

/* false: there is no room, which is more than was granted. */
bool stage_put(struct stage *s, const struct hx_desc *d, const uint8_t *frame);

/* The oldest; NULL: none. */
static inline const struct staged *stage_first(const struct stage *s)
{
    return s->first == s->last ? NULL : (const struct staged *)(const void *)(s->memory + s->first);
}
void stage_drop_first(struct stage *s);

#endif
