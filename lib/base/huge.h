/* huge.h - memory in huge pages, if the machine has them.
 *
 * A switch touches a line or two of most packets, each in its own small page. With thousands of packets, TLB misses
 * cost more than the reads. */
#ifndef HXMESH_BASE_HUGE_H
#define HXMESH_BASE_HUGE_H

#include <stdbool.h>
#include <stddef.h>

#define HX_HUGE_PAGE ((size_t)2 << 20)

/* Returns an address for mmap() at which these bytes fit and a huge page may begin; mmap() may choose another. NULL:
 * there is none. */
void *hx_huge_place(size_t bytes);

/* Rounds up to whole huge pages. */
static inline size_t hx_huge_whole(size_t bytes)
{
    return (bytes + HX_HUGE_PAGE - 1) & ~(HX_HUGE_PAGE - 1);
}

/* Maps private zeroed memory at a huge page boundary: with as many huge pages as fit, or with small ones, so that
 * untouched memory costs nothing. Returns NULL and sets errno on failure. */
void *hx_huge_map(size_t bytes, bool huge);

/* Collapses one aligned huge page of a mapping, which others may use meanwhile. Takes milliseconds. On failure the
 * small pages stay. It adds nothing to the calling process's resident memory. */
void hx_huge_gather(void *at);

#endif
