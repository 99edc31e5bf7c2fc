/* pool.h - packet buffers in shared memory, and the rings that return them.
 *
 * Every buffer has a home worker. ring[from][home] carries free buffers from worker `from` to their home. ring[w][w]
 * holds the free buffers that worker w returned itself, and starts full. A worker takes buffers from any
 * ring[..][itself]. So a buffer is in exactly one ring: free here, or in a link (link.h). Each ring has one producer
 * and one consumer. It has room for all buffers of its home and those of an uncommitted step, so it never overflows. */
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

/* Data of the platform lies apart from the frame, eight entries a cache line. Buffers are an odd number of lines apart,
 * so their headers spread over all sets of a cache. */
struct shm_buffer {
    alignas(64) uint8_t frame[HX_MAX_FRAME];
};
_Static_assert(sizeof(struct shm_buffer) / 64 % 2 == 1, "an odd number of lines");

#endif
