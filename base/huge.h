/* huge.h - memory in huge pages, where the machine gives them.
 *
 * Of most packets a line or two is touched, each in a small page of its own. With some thousands of packets a processor
 * no longer knows where these pages are, and to find out takes longer than to read the line. */
#ifndef HXMESH_BASE_HUGE_H
#define HXMESH_BASE_HUGE_H

#include <stdbool.h>
#include <stddef.h>

#define HX_HUGE_PAGE ((size_t)2 << 20)

/* Where so many bytes can be mapped now so that a huge page may begin there: for mmap(), which may choose otherwise.
 * NULL: there is no such place. */
void *hx_huge_place(size_t bytes);

/* So many bytes in whole huge pages. */
static inline size_t hx_huge_whole(size_t bytes)
{
    return (bytes + HX_HUGE_PAGE - 1) & ~(HX_HUGE_PAGE - 1);
}

/* Zeroed memory of this process alone, which begins where a huge page may: in such if the machine gives them, as many
 * as fit; or in small ones, so that what is not touched takes none. NULL with errno: it was refused. */
void *hx_huge_map(size_t bytes, bool huge);

/* Moves a huge page's bytes of a mapping, which begin where one may begin, into one, while others go on to use them.
 * Takes milliseconds. If it cannot be they stay where they are. Of the calling process's memory none is taken up by
 * it. */
void hx_huge_gather(void *at);

#endif
