/* memory.h - the two C library functions that firmware uses; a freestanding platform provides them. C++ takes its own
 * declarations, which promise more. */
#ifndef HXMESH_MEMORY_H
#define HXMESH_MEMORY_H

#ifdef __cplusplus
#include <cstring>
#else
#include <stddef.h>

void *memcpy(void *restrict, const void *restrict, size_t);
void *memset(void *, int, size_t);
#endif

#endif
