/* memory.h - the two C library functions firmware may use; a freestanding platform provides them. C++ has them from its
 * own library, whose declarations promise more. */
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
