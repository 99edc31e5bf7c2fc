/* stdio.h - the parts of stdio that the conformance kit needs (hal/bare/libc.c). */
#ifndef HAL_BARE_STDIO_H
#define HAL_BARE_STDIO_H

#include <stdarg.h>

typedef struct bare_file FILE;
#define stdout ((FILE *)0)

__attribute__((format(printf, 1, 2))) int printf(const char *format, ...);
__attribute__((format(printf, 1, 0))) int vprintf(const char *format, va_list arguments);
int fflush(FILE *file);

#endif
