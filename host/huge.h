/* huge.h - memory in huge pages, where the machine gives them.
 *
 * Of most packets a line or two is touched, each in a small page of its own. With some thousands of packets a processor no
 * longer knows where these pages are, and to find out takes longer than to read the line. */
#ifndef HXMESH_HOST_HUGE_H
#define HXMESH_HOST_HUGE_H

#include <stddef.h>

#define HX_HUGE_PAGE ((size_t)2 << 20)

/* Where so many bytes can be mapped now so that a huge page may begin there: for mmap(), which may choose otherwise. NULL: there
 * is no such place. */
void *hx_huge_place(size_t bytes);

/* Moves a huge page's bytes of a mapping, which begin where one may begin, into one, while others go on to use them. Takes
 * milliseconds. If it cannot be they stay where they are. Of the calling process's memory none is taken up by it. */
void hx_huge_gather(void *at);

#endif
