/* libc.c - as much of a C library as the conformance kit needs, for images that run it (hal/bare/libc/). */
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

/* All that the board has, handed out from its beginning. */
static struct {
    uint8_t *memory;
    size_t bytes, used;
    unsigned pieces; /* not given back */
} heap;

void *calloc(size_t count, size_t bytes)
{
    enum { LINE = 64 };
    if (!heap.memory)
        heap.memory = board_memory(&heap.bytes);
    size_t all = (count * bytes + LINE - 1) & ~(size_t)(LINE - 1);
    if (heap.bytes - heap.used < all)
        bare_die("no memory for %zu bytes more, %zu of %zu are used", all, heap.used, heap.bytes);
    void *piece = memset(heap.memory + heap.used, 0, all);
    heap.used += all;
    heap.pieces++;
    return piece;
}

void free(void *memory) /* cppcheck-suppress constParameter */
{
    if (!memory)
        return;
    heap.pieces--;
    heap.used = heap.pieces ? heap.used : 0;
}

_Noreturn void abort(void)
{
    bare_die("it has given up");
}
