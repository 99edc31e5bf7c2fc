/* bare.c - text, memory and panics of an image without an operating system (bare.h). */
#include "bare.h"
#include "hxmesh/memory.h"

/* ---- text ---- */

static void put_text(const char *text)
{
    for (; *text; text++)
        board_put(*text);
}

enum { MOST_DIGITS = 20 };

/* `least`: minimum digits, below MOST_DIGITS. */
static void put_number(unsigned long long number, unsigned base, unsigned least)
{
    char digits[MOST_DIGITS];
    unsigned n = 0;
    do {
        unsigned digit = (unsigned)(number % base);
        digits[n++] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
        number /= base;
    } while (number || n < least);
    while (n)
        board_put(digits[--n]);
}

static void put_signed(long long number)
{
    if (number < 0)
        board_put('-');
    put_number(number < 0 ? -(unsigned long long)number : (unsigned long long)number, 10, 0);
}

/* Type of a number argument: int, long, long long or size_t. */
enum width { INT, LONG, LONG_LONG, SIZE };

static enum width width_of(const char **format)
{
    enum width width = INT;
    for (; **format == 'l' || **format == 'z'; ++*format)
        width = **format == 'z' ? SIZE : width == INT ? LONG : LONG_LONG;
    return width;
}

/* In a struct, so that functions advance the caller's list. */
struct arguments {
    va_list list;
};

static unsigned long long next_unsigned(struct arguments *a, enum width width)
{
    if (width == LONG_LONG)
        return va_arg(a->list, unsigned long long);
    if (width == LONG)
        return va_arg(a->list, unsigned long);
    if (width == SIZE)
        return va_arg(a->list, size_t);
    return va_arg(a->list, unsigned);
}

static long long next_signed(struct arguments *a, enum width width)
{
    if (width == LONG_LONG)
        return va_arg(a->list, long long);
    return width == INT ? va_arg(a->list, int) : va_arg(a->list, long);
}

static void put_argument(char letter, struct arguments *a, enum width width, unsigned least)
{
    switch (letter) {
    case 's':
        put_text(va_arg(a->list, const char *));
        break;
    case 'c':
        board_put((char)va_arg(a->list, int));
        break;
    case 'd':
        put_signed(next_signed(a, width));
        break;
    case 'u':
    case 'x':
        put_number(next_unsigned(a, width), letter == 'x' ? 16 : 10, least);
        break;
    default:
        board_put(letter);
    }
}

void bare_print_list(const char *format, va_list arguments)
{
    struct arguments a;
    va_copy(a.list, arguments);
    for (; *format; format++) {
        if (*format != '%') {
            board_put(*format);
            continue;
        }
        format++;
        unsigned least = 0;
        for (; *format >= '0' && *format <= '9'; format++)
            least = (least * 10 + (unsigned)(*format - '0')) % MOST_DIGITS;
        enum width width = width_of(&format);
        put_argument(*format, &a, width, least);
    }
    va_end(a.list);
}

void bare_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bare_print_list(format, arguments);
    va_end(arguments);
}

/* ---- the end ---- */

_Noreturn void bare_panic(const char *where, const char *format, ...)
{
    va_list arguments;
    unsigned hart = board_panic();
    if (hart == 0)
        bare_print("panic: %s: ", where);
    else
        bare_print("panic: hart %u: %s: ", hart, where);
    va_start(arguments, format);
    bare_print_list(format, arguments);
    va_end(arguments);
    board_put('\n');
    board_end(1);
}

/* ---- memory ---- */

/* All memory of the board, handed out in order. Invariant: kept <= at; borrowed memory lies between them. */
static struct {
    uint8_t *at;   /* next byte; NULL: none handed out yet */
    size_t left;   /* bytes after `at` */
    uint8_t *kept; /* end of memory that is never given back */
} memory;

void *bare_borrow(size_t bytes)
{
    enum { LINE = 64 };
    if (!memory.at)
        memory.kept = memory.at = board_memory(&memory.left);
    size_t gap = -(uintptr_t)memory.at & (LINE - 1);
    if (memory.left < gap || memory.left - gap < bytes)
        bare_die("no memory for %zu bytes more, %zu are left", bytes, memory.left);
    void *piece = memory.at + gap;
    memory.at += gap + bytes;
    memory.left -= gap + bytes;
    memset(piece, 0, bytes);
    return piece;
}

void *bare_take(size_t bytes)
{
    void *piece = bare_borrow(bytes);
    memory.kept = memory.at;
    return piece;
}

void bare_give_back(void)
{
    memory.left += (size_t)(memory.at - memory.kept);
    memory.at = memory.kept;
}

uint32_t bare_stack_used(void)
{
    const uint32_t *end;
    const uint32_t *low = board_stack(&end);
    while (low < end && *low == BARE_PAINT)
        low++;
    return (uint32_t)((uintptr_t)end - (uintptr_t)low);
}
