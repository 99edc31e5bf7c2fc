/* arena.h - zeroed memory for what a worker touches all the time, in huge pages where the machine gives them: a look
 * that misses the cache should not miss the page tables too. One stock a process; not thread safe. */
#ifndef VIRTUAL_ARENA_H
#define VIRTUAL_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Addresses have 48 bits. */
#define VIRTUAL_ADDRESS (((uint64_t)1 << 48) - 1)

/* Addresses for `bytes` bytes; memory only for what is touched. Dies with one line if the machine refuses. */
void *virtual_arena_reserve(size_t bytes);

/* A piece, 64-byte aligned. */
void *virtual_arena_take(size_t bytes);

/* Likewise in pages so small that what is not touched takes no memory: for what seldom is. */
void *virtual_arena_take_seldom(size_t bytes);

/* Rings: pieces of 2^n bytes that may be given back, for others of their size. */
void *virtual_arena_take_ring(size_t bytes);
void virtual_arena_give_ring(void *ring, size_t bytes);

#endif
