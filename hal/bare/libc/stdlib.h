/* stdlib.h - the parts of stdlib that the conformance kit and its worlds need (hal/bare/libc.c). */
#ifndef HAL_BARE_STDLIB_H
#define HAL_BARE_STDLIB_H

#include <stddef.h>

/* Zeroed memory of bare_borrow(), aligned to 64. It is reused once all allocations are freed. */
void *calloc(size_t count, size_t bytes);
void free(void *memory);
_Noreturn void abort(void);

#endif
