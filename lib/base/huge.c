/* huge.c - places for huge pages, and collapsing memory into them (huge.h). */
#include "base/huge.h"

#include <linux/mman.h>
#include <stdint.h>
#include <sys/mman.h>

void *hx_huge_place(size_t bytes)
{
    const size_t whole = bytes + HX_HUGE_PAGE;
    void *room = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    uintptr_t place = hx_huge_whole((uintptr_t)room);
    (void)munmap(room, whole);
    return (void *)place; /* NOLINT(performance-no-int-to-ptr) ; no pointer to it exists */
}

void *hx_huge_map(size_t bytes, bool huge)
{
    void *at =
        mmap(hx_huge_place(bytes), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    /* On failure the memory is only slower, or larger. */
    (void)madvise(at, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return at;
}

void hx_huge_gather(void *at)
{
    (void)madvise(at, HX_HUGE_PAGE, MADV_COLLAPSE);
    (void)madvise(at, HX_HUGE_PAGE, MADV_DONTNEED); /* drops the mapping, not a shared object's contents */
}
