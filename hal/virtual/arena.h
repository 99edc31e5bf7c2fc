/* arena.h - zeroed memory for the data that a worker uses most, in huge pages where the machine has them.
 *
 * Huge pages save TLB misses. One arena per process; not thread safe. */
#ifndef VIRTUAL_ARENA_H
#define VIRTUAL_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Addresses have 48 bits. */
#define VIRTUAL_ADDRESS (((uint64_t)1 << 48) - 1)

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
