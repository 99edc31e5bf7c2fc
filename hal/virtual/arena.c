/* arena.c - memory in huge pages (arena.h). */
#include "arena.h"
#include "base/error.h"
#include "base/huge.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK ((size_t)64 << 20)
enum { ALIGNMENT = 64 };

/* A ring on the free list. */
struct virtual_spare {
    struct virtual_spare *next;
};

static struct virtual_arena own;
static _Thread_local struct virtual_arena *arena = &own;

void virtual_arena_use(struct virtual_arena *a)
{
    arena = a ? a : &own;
}

static void *map(size_t bytes, bool huge)
{
    void *at = hx_huge_map(bytes, huge);
    if (!at)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "cannot reserve %zu MiB of addresses: %s", bytes >> 20, strerror(errno));
    if ((uintptr_t)at + bytes > VIRTUAL_ADDRESS)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "lies at an address of more than 48 bits: %p", at);
    return at;
}

void *virtual_arena_reserve(size_t bytes)
{
    return map(bytes, true);
}

static bool is_granted(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at != MAP_FAILED && munmap(at, bytes) == 0;
}

uint64_t virtual_arena_fit(uint64_t items, size_t bytes)
{
    while (items > 1 && !is_granted(2 * items * bytes))
        items /= 2;
    return items;
}

static void *take_from_chunk(struct virtual_chunk *c, size_t bytes, bool huge)
{
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes > CHUNK / 4)
        return map(bytes, huge);
    if ((size_t)(c->end - c->at) < bytes) {
        c->at = map(CHUNK, huge);
        c->end = c->at + CHUNK;
    }
    void *piece = c->at;
    c->at += bytes;
    return piece;
}

void *virtual_arena_take(size_t bytes)
{
    return take_from_chunk(&arena->huge, bytes, true);
}

void *virtual_arena_take_small(size_t bytes)
{
    return take_from_chunk(&arena->small, bytes, false);
}

static unsigned size_of(size_t bytes)
{
    return bytes <= ALIGNMENT ? 6 : 64U - (unsigned)__builtin_clzll(bytes - 1);
}

void *virtual_arena_take_ring(size_t bytes)
{
    unsigned size = size_of(bytes);
    struct virtual_spare *spare = arena->ring[size];
    if (!spare)
        return virtual_arena_take((size_t)1 << size);
    arena->ring[size] = spare->next;
    __builtin_prefetch(spare->next); /* likely taken next */
    return spare;
}

void virtual_arena_give_ring(void *ring, size_t bytes)
{
    unsigned size = size_of(bytes);
    struct virtual_spare *spare = ring;
    if (!spare)
        return;
    spare->next = arena->ring[size];
    arena->ring[size] = spare;
}
