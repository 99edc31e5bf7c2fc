/* value.h - values of options and configuration files, written the same in both.
 *
 *     number       123, 0x7f                 bytes     8192, 4KiB, 1.5MiB, 2G (K M G are KiB MiB GiB), 8kB (8000)
 *     duration     30s, 500ms, 2m, 1.5h, 10us, 100ns; a plain number is seconds
 *     real         0.25; a share also 25%    switch    true false yes no on off
 *     coordinate   3,0 or a3,0               choice    one word of a list
 *     coordinates  3,0 a3,1 ...
 *
 * A parser stores the value and returns NULL. On invalid `text` it returns a message that quotes the text ("'8 planes'
 * is not a number"): a constant, or written to `why`, of HX_WHY_TEXT bytes. */
#ifndef HXMESH_BASE_VALUE_H
#define HXMESH_BASE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

struct hx_coordinate {
    unsigned addr_hi, addr_lo;
};

enum { HX_WHY_TEXT = 480 };
/* Writes such a message. Returns why. */
__attribute__((format(printf, 2, 3))) const char *hx_why(char *why, const char *format, ...);

/* low and high are inclusive. */
const char *hx_value_number(const char *text, uint64_t low, uint64_t high, uint64_t *value, char *why);
const char *hx_value_bytes(const char *text, uint64_t low, uint64_t high, uint64_t *bytes, char *why);
const char *hx_value_duration(const char *text, uint64_t low, uint64_t high, uint64_t *nanoseconds, char *why);
const char *hx_value_real(const char *text, double low, double high, double *value, char *why);
const char *hx_value_switch(const char *text, bool *value, char *why);
const char *hx_value_coordinate(const char *text, struct hx_coordinate *value, char *why);
/* One or more coordinates, separated by spaces; a parser appends them. */
enum { HX_VALUE_MOST_COORDINATES = 16 };
struct hx_coordinates {
    unsigned count;
    struct hx_coordinate at[HX_VALUE_MOST_COORDINATES];
};
const char *hx_value_coordinates(const char *text, struct hx_coordinates *values, char *why);
/* `words` ends with NULL; *index is the index of the word. */
const char *hx_value_choice(const char *text, const char *const *words, unsigned *index, char *why);

/* Prints a duration or size for people ("1.5 s", "8 KiB"); `text` has HX_VALUE_TEXT bytes. Returns text. */
enum { HX_VALUE_TEXT = 32 };
const char *hx_value_print_duration(char *text, uint64_t nanoseconds);
const char *hx_value_print_seconds(char *text, double seconds); /* as a duration; below 0: as 0 */
const char *hx_value_print_bytes(char *text, uint64_t bytes);
/* Prints the exact value for an option or file ("1500ms", "64KiB", "0"). */
const char *hx_value_write_duration(char *text, uint64_t nanoseconds);
const char *hx_value_write_bytes(char *text, uint64_t bytes);

#endif
