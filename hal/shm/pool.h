/* pool.h - packet buffers in shared memory and the rings that carry them home.
 *
 * Every buffer has a home worker. ring[from][home] carries free buffers from worker `from` to their home; ring[w][w]
 * holds the free ones a worker took in itself and starts full. A worker takes buffers from any ring[..][itself], so a
 * buffer lies in exactly one ring at any time: free here, or in a link (link.h). Each ring has one producer and one
 * consumer and room for all buffers of its home and those of a step in the making: it never runs full. */
#ifndef SHM_POOL_H
#define SHM_POOL_H

#include "hxmesh/frame.h"
#include "link.h"

enum { SHM_MAX_WORKERS = 64 };

struct shm_pool_ring {
    alignas(64) uint64_t head;    /* producer's */
    alignas(64) uint64_t tail;    /* consumer's */
    alignas(64) uint32_t slots[]; /* [size], a power of two */
};

static inline size_t shm_pool_ring_bytes(uint32_t size)
{
    return sizeof(struct shm_pool_ring) + (((size_t)size * sizeof(uint32_t) + 63) & ~(size_t)63);
}

/* What the platform notes about a packet lies apart from its frame, eight notes on a cache line. Buffers are an odd
 * number of lines apart, so that their headers, all that is touched of most, have no part of a cache in common. */
struct shm_buffer {
    alignas(64) uint8_t frame[HX_MAX_FRAME];
};
_Static_assert(sizeof(struct shm_buffer) / 64 % 2 == 1, "an odd number of lines");

#endif
