/* libc.c - the parts of a C library that the conformance kit needs, for images that run it (hal/bare/libc/). */
#include "bare.h"

#include "libc/stdio.h"
#include "libc/stdlib.h"
#include "libc/string.h"

/* ---- text ---- */

int vprintf(const char *format, va_list arguments)
{
    bare_print_list(format, arguments);
    return 0;
}

int printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bare_print_list(format, arguments);
    va_end(arguments);
    return 0;
}

int fflush(FILE *file)
{
    (void)file;
    return 0;
}

int strcmp(const char *a, const char *b)
{
    for (; *a && *a == *b; a++)
        b++;
    return (unsigned char)*a - (unsigned char)*b;
}

/* ---- memory ---- */

static unsigned pieces; /* allocations not freed */

void *calloc(size_t count, size_t bytes)
{
    if (bytes && count > SIZE_MAX / bytes)
        bare_die("no memory for %zu times %zu bytes", count, bytes);
    pieces++;
    return bare_borrow(count * bytes);
}

void free(void *memory) /* cppcheck-suppress constParameter */
{
    if (memory && --pieces == 0)
        bare_give_back();
}

_Noreturn void abort(void)
{
    bare_die("abort() was called");
}
