/* bytes.c - words, options, times and errors of the capture reader (base/pcapng/bytes.h). */
#include "base/pcapng/bytes.h"
#include "base/pcapng/blocks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

uint64_t hx_pcapng_word(const struct hx_pcapng_reader *r, const uint8_t *bytes, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | bytes[r->swapped ? i : width - 1 - i];
    return value;
}

enum hx_pcapng_event hx_pcapng_bad(const struct hx_pcapng_reader *r, uint64_t at, struct hx_problem *problem,
                                   const char *format, ...)
{
    char what[sizeof problem->what];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    hx_fail(problem, HX_EXIT_CONFIG, r->name, "at byte %llu: %s", (unsigned long long)at, what);
    return HX_PCAPNG_IS_BAD;
}

int hx_pcapng_take_item(struct hx_pcapng_reader *r, struct hx_pcapng_items *items, struct hx_pcapng_item *item,
                        struct hx_problem *problem)
{
    size_t left = (size_t)(items->end - items->next);
    if (left == 0)
        return 0;
    if (left < 4) {
        hx_pcapng_bad(r, items->at, problem, "%zu bytes are left of the block, too few for an option", left);
        return -1;
    }
    item->code = (unsigned)hx_pcapng_word(r, items->next, 2);
    item->length = (size_t)hx_pcapng_word(r, items->next + 2, 2);
    item->value = items->next + 4;
    if (item->code == HX_PCAPNG_END)
        return 0;
    size_t whole = 4 + ((item->length + 3) & ~(size_t)3);
    if (whole > left) {
        hx_pcapng_bad(r, items->at, problem, "option %u says %zu bytes, but the block has only %zu more", item->code,
                      item->length, left - 4);
        return -1;
    }
    items->next += whole;
    items->at += whole;
    return 1;
}

enum { PORTION = 64 * 1024 };

static bool make_room(struct hx_pcapng_reader *r, size_t bytes, struct hx_problem *problem)
{
    if (bytes <= r->room)
        return true;
    size_t room = r->room ? r->room : PORTION;
    while (room < bytes)
        room *= 2;
    uint8_t *block = realloc(r->block, room);
    if (!block)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, r->name, "no memory for a block of %zu bytes", bytes);
    r->block = block;
    r->room = room;
    return true;
}

bool hx_pcapng_read_bytes(struct hx_pcapng_reader *r, size_t at, size_t length, struct hx_problem *problem)
{
    size_t end = at + length;
    while (at < end) {
        size_t portion = end - at < PORTION ? end - at : PORTION;
        if (!make_room(r, at + portion, problem))
            return false;
        size_t got = fread(r->block + at, 1, portion, r->in);
        at += got;
        if (got != portion) {
            if (ferror(r->in))
                hx_pcapng_bad(r, r->offset + at, problem, "cannot be read");
            else {
                r->cut = true;
                hx_pcapng_bad(r, r->offset + at, problem, "the file ends within a block that begins at byte %llu",
                              (unsigned long long)r->offset);
            }
            return false;
        }
    }
    return true;
}

enum { BINARY = 0x80, DECIMAL_NS = 9, MOST_TENS = 19 };

static uint64_t power_of_ten(unsigned exponent)
{
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

static unsigned __int128 scale(uint8_t resolution, uint64_t stamp)
{
    unsigned exponent = resolution & ~(unsigned)BINARY;
    if (resolution & BINARY) {
        unsigned __int128 value = (unsigned __int128)stamp * 1000000000U;
        return exponent < 128 ? value >> exponent : 0;
    }
    if (exponent <= DECIMAL_NS)
        return (unsigned __int128)stamp * power_of_ten(DECIMAL_NS - exponent);
    exponent -= DECIMAL_NS;
    return exponent <= MOST_TENS ? stamp / power_of_ten(exponent) : 0;
}

uint64_t hx_pcapng_nanoseconds(const struct hx_pcapng_interface_time *t, uint64_t stamp)
{
    __int128 value = (__int128)scale(t->resolution, stamp) + (__int128)t->offset * 1000000000;
    if (value < 0)
        return 0;
    return value > (__int128)UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

bool hx_pcapng_add_interface(struct hx_pcapng_reader *r, struct hx_pcapng_interface_time t, struct hx_problem *problem)
{
    if (r->interfaces == HX_PCAPNG_MOST_INTERFACES) {
        hx_pcapng_bad(r, r->offset, problem, "more than %d interfaces in a section", HX_PCAPNG_MOST_INTERFACES);
        return false;
    }
    if (r->interfaces == r->times_room) {
        uint32_t room = r->times_room ? 2 * r->times_room : 64;
        struct hx_pcapng_interface_time *times = realloc(r->times, room * sizeof *times);
        if (!times)
            return hx_fail(problem, HX_EXIT_ENVIRONMENT, r->name, "no memory for %u interfaces", room);
        r->times = times;
        r->times_room = room;
    }
    r->times[r->interfaces++] = t;
    return true;
}
