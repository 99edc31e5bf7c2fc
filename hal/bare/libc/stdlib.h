/* stdlib.h - of a C library what the conformance kit and its worlds take memory with (hal/bare/libc.c). */
#ifndef HAL_BARE_STDLIB_H
#define HAL_BARE_STDLIB_H

#include <stddef.h>

/* Zeroed memory, aligned to 64, of bare_borrow(). It is there again when all that was taken was freed. */
void *calloc(size_t count, size_t bytes);
void free(void *memory);
_Noreturn void abort(void);

#endif
