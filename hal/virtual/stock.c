/* stock.c - a stock of memory in huge pages (stock.h). */
#include "stock.h"
#include "host/error.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK ((size_t)64 << 20)
#define HUGE  ((size_t)2 << 20)
enum { ALIGNMENT = 64, RING_SIZES = 40 };

/* A ring that was given back. */
struct spare {
    struct spare *next;
};

/* What is left of the newest chunk. */
struct chunk {
    uint8_t *at, *end;
};

/* Chunks in huge pages, and in small ones; and rings that were given back, by the power of two of their size. */
static struct {
    struct chunk huge, small;
    struct spare *ring[RING_SIZES];
} stock;

static void *map(size_t bytes, int advice)
{
    size_t whole = bytes + HUGE;
    uint8_t *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "cannot reserve %zu MiB of addresses: %s", bytes >> 20, strerror(errno));
    uint8_t *aligned = (uint8_t *)(((uintptr_t)at + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
    (void)madvise(aligned, bytes, advice); /* if it is not taken all is only slower, or takes more */
    /* cppcheck-suppress memleak ; the mapping lives as long as the process */
    return aligned;
}

void *virtual_stock_reserve(size_t bytes)
{
    return map(bytes, MADV_HUGEPAGE);
}

static void *take(struct chunk *c, size_t bytes, int advice)
{
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes > CHUNK / 4)
        return map(bytes, advice);
    if ((size_t)(c->end - c->at) < bytes) {
        c->at = map(CHUNK, advice);
        c->end = c->at + CHUNK;
    }
    void *piece = c->at;
    c->at += bytes;
    return piece;
}

void *virtual_stock_take(size_t bytes)
{
    return take(&stock.huge, bytes, MADV_HUGEPAGE);
}

void *virtual_stock_take_seldom(size_t bytes)
{
    return take(&stock.small, bytes, MADV_NOHUGEPAGE);
}

static unsigned size_of(size_t bytes)
{
    return bytes <= ALIGNMENT ? 6 : 64U - (unsigned)__builtin_clzll(bytes - 1);
}

void *virtual_stock_take_ring(size_t bytes)
{
    unsigned size = size_of(bytes);
    struct spare *spare = stock.ring[size];
    if (!spare)
        return virtual_stock_take((size_t)1 << size);
    stock.ring[size] = spare->next;
    __builtin_prefetch(spare->next); /* soon taken too */
    return spare;
}

void virtual_stock_give_ring(void *ring, size_t bytes)
{
    unsigned size = size_of(bytes);
    struct spare *spare = ring;
    if (!spare)
        return;
    spare->next = stock.ring[size];
    stock.ring[size] = spare;
}
