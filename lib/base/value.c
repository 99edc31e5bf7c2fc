/* value.c - parses and prints values of options and files (base/value.h). */
#include "base/value.h"
#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *hx_why(char *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, HX_WHY_TEXT, format, arguments);
    va_end(arguments);
    return why;
}

/* Reads digits at the start of `text`. Returns what follows; NULL: no digits, or too many. */
static const char *digits(const char *text, uint64_t *value)
{
    if (!isdigit((unsigned char)*text))
        return NULL;
    char *end;
    errno = 0;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && isxdigit((unsigned char)text[2]);
    unsigned long long number = strtoull(text, &end, hexadecimal ? 16 : 10);
    if (errno != 0)
        return NULL;
    *value = number;
    return end;
}

const char *hx_value_number(const char *text, uint64_t low, uint64_t high, uint64_t *value, char *why)
{
    uint64_t number = 0;
    const char *end = digits(text, &number);
    size_t sign = *text == '-' ? 1 : 0;
    bool is_whole = text[sign] && text[sign + strspn(text + sign, "0123456789")] == '\0';
    if (is_whole && (sign || !end))
        return hx_why(why, "%.100s is outside %" PRIu64 " .. %" PRIu64, text, low, high);
    if (!end || *end)
        return hx_why(why, "'%.100s' is not a number (%" PRIu64 " .. %" PRIu64 ")", text, low, high);
    if (number < low || number > high)
        return hx_why(why, "%" PRIu64 " is outside %" PRIu64 " .. %" PRIu64, number, low, high);
    *value = number;
    return NULL;
}

struct unit {
    const char *name;
    double factor;
};

static const struct unit *find_unit(const struct unit *units, const char *name)
{
    for (; units->name; units++)
        if (strcasecmp(units->name, name) == 0)
            return units;
    return NULL;
}

/* Appends the digits after a point to *value and multiplies *parts by ten for each. Returns what follows; NULL: no
 * digit, or too many. */
static const char *fraction(const char *text, uint64_t *value, uint64_t *parts)
{
    if (!text || *text != '.')
        return text;
    const char *digit = text + 1;
    for (; isdigit((unsigned char)*digit) && *value < UINT64_MAX / 100 && *parts < UINT64_MAX / 100; digit++) {
        *value = *value * 10 + (uint64_t)(*digit - '0');
        *parts *= 10;
    }
    return digit == text + 1 || isdigit((unsigned char)*digit) ? NULL : digit;
}

const char *hx_value_bytes(const char *text, uint64_t low, uint64_t high, uint64_t *bytes, char *why)
{
    static const struct unit units[] = {{"", 1},         {"B", 1},        {"K", 0x1p10},   {"KiB", 0x1p10},
                                        {"kB", 1e3},     {"M", 0x1p20},   {"MiB", 0x1p20}, {"MB", 1e6},
                                        {"G", 0x1p30},   {"GiB", 0x1p30}, {"GB", 1e9},     {"T", 0x1p40},
                                        {"TiB", 0x1p40}, {"TB", 1e12},    {NULL, 0}};
    uint64_t number = 0;
    uint64_t parts = 1; /* of a unit: "1.5" is 15 tenths */
    const char *end = fraction(digits(text, &number), &number, &parts);
    const struct unit *unit = end ? find_unit(units, end) : NULL;
    if (!unit)
        return hx_why(why, "'%.100s' is not a size (write for example 8192, 64KiB, 1MiB or 2GiB)", text);
    uint64_t factor = (uint64_t)unit->factor;
    if (parts > 1 && number <= UINT64_MAX / factor) {
        if (number * factor % parts)
            return hx_why(why, "'%.100s' is no whole number of bytes", text);
        number = number * factor / parts;
        factor = 1;
    }
    char least[HX_VALUE_TEXT];
    char most[HX_VALUE_TEXT];
    if (number > UINT64_MAX / factor || number * factor < low || number * factor > high)
        return hx_why(why, "'%.100s' is outside %s .. %s", text, hx_value_print_bytes(least, low),
                      hx_value_print_bytes(most, high));
    *bytes = number * factor;
    return NULL;
}

/* Reads a finite decimal number at the start of `text`. Returns what follows, or NULL. */
static const char *decimal(const char *text, double *value)
{
    if (!isdigit((unsigned char)*text) && *text != '.')
        return NULL;
    char *end;
    *value = strtod(text, &end);
    return end == text || !isfinite(*value) ? NULL : end;
}

const char *hx_value_duration(const char *text, uint64_t low, uint64_t high, uint64_t *nanoseconds, char *why)
{
    static const struct unit units[] = {{"", 1e9},   {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                                        {"ns", 1.0}, {"m", 6e10}, {"h", 3.6e12}, {NULL, 0}};
    double number = 0;
    const char *end = decimal(text, &number);
    const struct unit *unit = end ? find_unit(units, end) : NULL;
    if (!unit)
        return hx_why(why, "'%.100s' is not a duration (write for example 30s, 500ms or 2m)", text);
    double wanted = number * unit->factor;
    char least[HX_VALUE_TEXT];
    char most[HX_VALUE_TEXT];
    if (wanted >= 0x1p63 || (uint64_t)llround(wanted) < low || (uint64_t)llround(wanted) > high)
        return hx_why(why, "'%.100s' is outside %s .. %s", text, hx_value_print_duration(least, low),
                      hx_value_print_duration(most, high));
    *nanoseconds = (uint64_t)llround(wanted);
    return NULL;
}

const char *hx_value_real(const char *text, double low, double high, double *value, char *why)
{
    double number = 0;
    const char *end = decimal(text, &number);
    const bool is_percent = end && strcmp(end, "%") == 0 && high <= 1;
    if (!end || (*end && !is_percent))
        return hx_why(why, "'%.100s' is not a number (%g .. %g)", text, low, high);
    number = is_percent ? number / 100 : number;
    if (number < low || number > high)
        return hx_why(why, "%s is outside %g .. %g", text, low, high);
    *value = number;
    return NULL;
}

const char *hx_value_switch(const char *text, bool *value, char *why)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", NULL};
    for (unsigned i = 0; words[i]; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2;
            return NULL;
        }
    }
    return hx_why(why, "'%.100s' is neither true nor false", text);
}

const char *hx_value_coordinate(const char *text, struct hx_coordinate *value, char *why)
{
    uint64_t addr_hi = 0;
    uint64_t addr_lo = 0;
    const char *end = digits(text + (*text == 'a'), &addr_hi);
    if (end && *end == ',')
        end = digits(end + 1 + strspn(end + 1, " "), &addr_lo);
    else
        end = NULL;
    if (!end || *end || addr_hi > UINT_MAX || addr_lo > UINT_MAX)
        return hx_why(why, "'%.100s' is not an address (write for example 3,0)", text);
    *value = (struct hx_coordinate){(unsigned)addr_hi, (unsigned)addr_lo};
    return NULL;
}

const char *hx_value_coordinates(const char *text, struct hx_coordinates *values, char *why)
{
    struct hx_coordinates all = *values;
    do {
        text += strspn(text, " ");
        char one[64];
        size_t length = strcspn(text, " ");
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        if (all.count == HX_VALUE_MOST_COORDINATES)
            return hx_why(why, "more than %d coordinates", HX_VALUE_MOST_COORDINATES);
        const char *bad = hx_value_coordinate(one, &all.at[all.count++], why);
        if (bad)
            return bad;
        text += length;
    } while (text[strspn(text, " ")]);
    *values = all;
    return NULL;
}

const char *hx_value_choice(const char *text, const char *const *words, unsigned *index, char *why)
{
    char list[280] = "";
    for (unsigned i = 0; words[i]; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *index = i;
            return NULL;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    }
    const char *nearest = hx_nearest(text, words);
    if (nearest)
        return hx_why(why, "unknown word '%.100s' (did you mean '%s'?)", text, nearest);
    return hx_why(why, "unknown word '%.100s' (one of %s)", text, list);
}

const char *hx_value_print_duration(char *text, uint64_t nanoseconds)
{
    static const struct unit units[] = {{"h", 3.6e12}, {"m", 6e10}, {"s", 1e9}, {"ms", 1e6},
                                        {"us", 1e3},   {"ns", 1.0}, {NULL, 0}};
    const struct unit *unit = units;
    while (unit[1].name && (double)nanoseconds < unit->factor)
        unit++;
    snprintf(text, HX_VALUE_TEXT, "%.4g %s", (double)nanoseconds / unit->factor, unit->name);
    return text;
}

const char *hx_value_print_seconds(char *text, double seconds)
{
    return hx_value_print_duration(text, seconds > 0 ? (uint64_t)llround(seconds * 1e9) : 0);
}

const char *hx_value_print_bytes(char *text, uint64_t bytes)
{
    static const struct unit units[] = {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20},
                                        {"KiB", 0x1p10}, {"B", 1.0},      {NULL, 0}};
    const struct unit *unit = units;
    while (unit[1].name && (double)bytes < unit->factor)
        unit++;
    snprintf(text, HX_VALUE_TEXT, "%.4g %s", (double)bytes / unit->factor, unit->name);
    return text;
}

/* Prints in the largest unit that divides the value. */
static const char *write_exactly(char *text, uint64_t value, const struct unit *units)
{
    while (units->factor > 1 && (value == 0 || value % (uint64_t)units->factor != 0))
        units++;
    snprintf(text, HX_VALUE_TEXT, "%" PRIu64 "%s", value / (uint64_t)units->factor, value ? units->name : "");
    return text;
}

const char *hx_value_write_duration(char *text, uint64_t nanoseconds)
{
    static const struct unit units[] = {{"h", 3.6e12}, {"m", 6e10}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1.0}};
    return write_exactly(text, nanoseconds, units);
}

const char *hx_value_write_bytes(char *text, uint64_t bytes)
{
    static const struct unit units[] = {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"", 1.0}};
    return write_exactly(text, bytes, units);
}
