/* set.c - an axis for each parameter of a schedule that --set varies (tools/sweep/sweep.h). */
#include "base/error.h"
#include "tools/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 256 };

const char *sweep_set_values(struct sweep_axis *axis, const char *text)
{
    const char *equals = strchr(text, '=');
    const int length = equals ? (int)(equals - text) : 0;
    if (length == 0 || snprintf(axis->set, SWEEP_NAME, "set.%.*s", length, text) >= SWEEP_NAME)
        return NULL;
    return equals + 1;
}

size_t sweep_set_length(const char *text)
{
    unsigned depth = 0;
    char quote = '\0';
    size_t i = 0;
    for (; text[i] && (text[i] != ',' || depth || quote); i++) {
        if (quote)
            quote = text[i] == quote ? '\0' : quote;
        else if (strchr("\"'", text[i]))
            quote = text[i];
        else if (strchr("([{", text[i]))
            depth++;
        else if (depth && strchr(")]}", text[i]))
            depth--;
    }
    return i;
}

/* ---- numbers ---- */

static uint64_t number;
static double real;

/* What a list of values may be; all of one kind. */
static const struct hx_option kinds[] = {
    {.kind = HX_OPTION_NUMBER, .to.number = &number, .high = UINT64_MAX / 2},
    {.kind = HX_OPTION_REAL, .to.real = &real, .real_high = 1e18},
    {.kind = HX_OPTION_BYTES, .to.number = &number, .high = UINT64_MAX / 2},
    {.kind = HX_OPTION_DURATION, .to.number = &number, .high = UINT64_MAX / 2},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Whether a value, or both ends of a range, are of a kind. */
static bool is_of(const struct hx_option *kind, const char *value, size_t length)
{
    char text[MOST_TEXT], why[HX_WHY_TEXT];
    if (length >= sizeof text)
        return false;
    memcpy(text, value, length);
    text[length] = '\0';
    char *dots = strstr(text, "..");
    if (!dots)
        return !hx_option_apply(kind, text, why);
    *dots = '\0';
    dots[2 + strcspn(dots + 2, "/")] = '\0';
    return !hx_option_apply(kind, text, why) && !hx_option_apply(kind, dots + 2, why);
}

static bool all_are_of(const struct hx_option *kind, const char *values)
{
    for (;;) {
        const size_t length = sweep_set_length(values);
        if (!is_of(kind, values, length))
            return false;
        if (!values[length])
            return true;
        values += length + 1;
    }
}

static unsigned kind_of(const char *values)
{
    unsigned i = 0;
    while (i < KINDS && !all_are_of(&kinds[i], values))
        i++;
    return i;
}

/* "20 us" is written with a blank in schedules. */
static char *without_blanks(const char *values)
{
    char *bare = hx_allocate(strlen(values) + 1, 1);
    for (char *to = bare; *values; values++)
        if (*values != ' ')
            *to++ = *values;
    return bare;
}

const char *sweep_set_add(struct sweep_axis *axis, const struct hx_option *set, const char *values, char *why)
{
    static const char *text;
    struct hx_option *p = &axis->parameter;
    char *bare = without_blanks(values);
    const unsigned kind = kind_of(bare);
    const struct hx_option words = {.kind = HX_OPTION_STRING, .to.string = &text};
    const struct hx_option is = kind < KINDS ? kinds[kind] : words;
    const char *wrong = axis->option && p->kind != is.kind ? "is given twice, with values of two kinds" : NULL;
    *p = is;
    p->name = set->name;
    p->applies = set->applies;
    axis->option = p;
    wrong = wrong ? wrong : sweep_axis_add(axis, kind < KINDS ? bare : values, why);
    free(bare);
    return wrong;
}
