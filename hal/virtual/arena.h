/* arena.h - zeroed memory for the data that a worker uses most, in huge pages where the machine has them.
 *
 * Huge pages save TLB misses. A process has an arena of its own; a thread may use another, one for each worker that it
 * runs. */
#ifndef VIRTUAL_ARENA_H
#define VIRTUAL_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Addresses have 48 bits. */
#define VIRTUAL_ADDRESS (((uint64_t)1 << 48) - 1)

/* Rest of the newest chunk. */
struct virtual_chunk {
    uint8_t *at, *end;
};

enum { VIRTUAL_RING_SIZES = 40 };
struct virtual_spare;

/* Begins as zeros. It never gives memory back: what it mapped ends with the process, or its owner unmaps it. */
struct virtual_arena {
    struct virtual_chunk huge, small;               /* in huge and in small pages */
    struct virtual_spare *ring[VIRTUAL_RING_SIZES]; /* free rings, by the power of two of their size */
};

/* All that follows in this thread is of this arena; NULL: of the process's own. */
void virtual_arena_use(struct virtual_arena *a);

/* Reserves `bytes` bytes of addresses; memory only for touched pages. Exits with an error if the machine refuses. */
void *virtual_arena_reserve(size_t bytes);

/* Returns how many of `items` items of `bytes` bytes to reserve: as many as leave the same room again, where a limit of
 * addresses (ulimit -v) allows no more. */
uint64_t virtual_arena_fit(uint64_t items, size_t bytes);

/* Allocates a piece, 64-byte aligned. */
void *virtual_arena_take(size_t bytes);

/* The same in small pages, so that untouched parts take no memory: for data that is rarely used. */
void *virtual_arena_take_small(size_t bytes);

/* Rings: pieces of 2^n bytes that may be freed and reused for the same size. */
void *virtual_arena_take_ring(size_t bytes);
void virtual_arena_give_ring(void *ring, size_t bytes);

#endif
