/* stage.h - packets from a cable that wait for room in shared memory: one queue a VC, private to the worker.
 *
 *     --[ waste |            first ... last           | free ]--
 *
 * A packet is never split: if it does not fit before the end, it goes to the start. The queue holds all blocks granted
 * on its VC, for any packet length. */
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
    uint32_t size, end;   /* size: bytes of memory; end: bytes in use before the wrap */
    uint32_t first, last; /* offsets; last == first: empty */
};

/* Returns bytes for a queue of so many blocks; 64-byte aligned. */
size_t stage_bytes(uint32_t blocks);
void stage_init(struct stage *s, uint32_t blocks, void *memory);

/* Appends a packet. Returns false: no room, beyond what was granted. */
bool stage_put(struct stage *s, const struct hx_desc *d, const uint8_t *frame);

/* The oldest packet; NULL: none. */
static inline const struct staged *stage_first(const struct stage *s)
{
    return s->first == s->last ? NULL : (const struct staged *)(const void *)(s->memory + s->first);
}
void stage_drop_first(struct stage *s);

#endif
