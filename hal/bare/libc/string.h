/* string.h - the parts of string that the conformance kit needs (hal/bare/libc.c, hal/bare/memory.c). */
#ifndef HAL_BARE_STRING_H
#define HAL_BARE_STRING_H

#include "hxmesh/memory.h"

int strcmp(const char *a, const char *b);

#endif
