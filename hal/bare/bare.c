/* bare.c - text, memory and panics of an image without an operating system (bare.h). */
#include "bare.h"
#include "hxmesh/memory.h"

/* ---- text ---- */

static void put_number(uint64_t number, unsigned base)
{
    char digits[20];
    unsigned n = 0;
    do {
        unsigned digit = (unsigned)(number % base);
        digits[n++] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
        number /= base;
    } while (number);
    while (n)
        board_put(digits[--n]);
}

void bare_print(const char *text, const uint64_t *numbers)
{
    for (; *text; text++) {
        bool hexadecimal = text[0] == '{' && text[1] == 'x' && text[2] == '}';
        if (hexadecimal || (text[0] == '{' && text[1] == '}')) {
            put_number(*numbers++, hexadecimal ? 16 : 10);
            text += hexadecimal ? 2 : 1;
        } else {
            board_put(*text);
        }
    }
}

/* ---- the end ---- */

_Noreturn void bare_panic(const char *where, const char *text, const uint64_t *numbers)
{
    bare_print("panic: ", NULL);
    bare_print(where, NULL);
    bare_print(": ", NULL);
    bare_print(text, numbers);
    board_put('\n');
    board_end(1);
}

/* ---- memory ---- */

void *bare_take(size_t bytes)
{
    enum { LINE = 64 };
    static uint8_t *at;
    static size_t left;
    if (!at)
        at = board_memory(&left);
    size_t gap = -(uintptr_t)at & (LINE - 1);
    if (left < gap || left - gap < bytes)
        bare_die("no memory for {} bytes more, {} are left", bytes, left);
    void *piece = at + gap;
    at += gap + bytes;
    left -= gap + bytes;
    memset(piece, 0, bytes);
    return piece;
}

uint32_t bare_stack_used(void)
{
    const uint32_t *end;
    const uint32_t *low = board_stack(&end);
    while (low < end && *low == BARE_PAINT)
        low++;
    return (uint32_t)((uintptr_t)end - (uintptr_t)low);
}
