/* spec_tokens.c - parses spec strings for the topologies (topology/topology.h). */
#include "base/value.h"
#include "topology/topology.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies in lower case, with single spaces between parts and none around '='. Returns false if it is too long. */
static bool normalise(struct hx_spec_tokens *w, const char *text)
{
    size_t used = 0;
    for (; *text; text++) {
        char c = isspace((unsigned char)*text) ? ' ' : *text;
        bool no_space = used == 0 || w->text[used - 1] == ' ' || w->text[used - 1] == '=';
        if (c == ' ' && no_space)
            continue;
        if (c == '=' && used && w->text[used - 1] == ' ')
            used--;
        if (used == sizeof w->text - 1)
            return false;
        w->written[used] = c;
        w->text[used++] = (char)tolower((unsigned char)c);
    }
    used -= used && w->text[used - 1] == ' ';
    w->text[used] = w->written[used] = '\0';
    return true;
}

unsigned hx_spec_tokens_list(const char *text, unsigned *values, unsigned most)
{
    for (unsigned count = 0; count < most;) {
        if (!isdigit((unsigned char)*text))
            return 0;
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        if (value > INT32_MAX)
            return 0;
        values[count++] = (unsigned)value;
        if (*end == '\0')
            return count;
        if (*end != 'x' && *end != ',')
            return 0;
        text = end + 1;
    }
    return 0;
}

static bool take_part(struct hx_spec_tokens *w, char *part, struct hx_problem *problem)
{
    char *value = strchr(part, '=');
    if (value) {
        *value++ = '\0';
        if (w->keys == HX_MAX_KEYS)
            return hx_spec_tokens_fail(w, problem, "more than %d keys", HX_MAX_KEYS);
        for (unsigned i = 0; i < w->keys; i++)
            if (strcmp(w->key[i].key, part) == 0)
                return hx_spec_tokens_fail(w, problem, "'%s' is given twice", part);
        w->key[w->keys++] = (struct hx_spec_token_key){.key = part, .value = value};
        return true;
    }
    if (!w->sizes && (w->sizes = hx_spec_tokens_list(part, w->size, HX_MAX_SIZES)) != 0)
        return true;
    if (w->other) {
        char written[HX_SPEC_BYTES];
        hx_spec_tokens_as_written(w, part, written);
        return hx_spec_tokens_fail(w, problem, "'%s' is a word too many", written);
    }
    w->other = part;
    return true;
}

bool hx_spec_tokens_split(struct hx_spec_tokens *w, const char *text, struct hx_problem *problem)
{
    *w = (struct hx_spec_tokens){.word = ""};
    if (!normalise(w, text))
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "a fabric of more than %d letters", HX_SPEC_BYTES - 1);
    memcpy(w->parts, w->text, sizeof w->parts);
    char *rest = NULL;
    char *part = strtok_r(w->parts, " ", &rest);
    if (!part)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "no fabric is named");
    w->word = part;
    while ((part = strtok_r(NULL, " ", &rest))) {
        if (!take_part(w, part, problem))
            return false;
    }
    return true;
}

void hx_spec_tokens_as_written(const struct hx_spec_tokens *w, const char *part, char written[HX_SPEC_BYTES])
{
    size_t length = strlen(part);
    memcpy(written, w->written + (part - w->parts), length);
    written[length] = '\0';
}

bool hx_spec_tokens_has(const struct hx_spec_tokens *w, const char *key)
{
    for (unsigned i = 0; i < w->keys; i++)
        if (strcmp(w->key[i].key, key) == 0)
            return true;
    return false;
}

const char *hx_spec_tokens_text(struct hx_spec_tokens *w, const char *key)
{
    for (unsigned i = 0; i < w->keys; i++) {
        if (strcmp(w->key[i].key, key) == 0) {
            w->key[i].taken = true;
            return w->key[i].value;
        }
    }
    return NULL;
}

bool hx_spec_tokens_number(struct hx_spec_tokens *w, const char *key, unsigned low, unsigned high,
                           unsigned default_value, unsigned *value, struct hx_problem *problem)
{
    const char *text = hx_spec_tokens_text(w, key);
    *value = default_value;
    if (!text)
        return true;
    uint64_t number;
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_number(text, low, high, &number, why);
    if (wrong)
        return hx_spec_tokens_fail(w, problem, "%s: %s", key, wrong);
    *value = (unsigned)number;
    return true;
}

bool hx_spec_tokens_real(struct hx_spec_tokens *w, const char *key, double low, double high, double default_value,
                         double *value, struct hx_problem *problem)
{
    const char *text = hx_spec_tokens_text(w, key);
    *value = default_value;
    char why[HX_WHY_TEXT];
    const char *wrong = text ? hx_value_real(text, low, high, value, why) : NULL;
    return !wrong || hx_spec_tokens_fail(w, problem, "%s: %s", key, wrong);
}

bool hx_spec_tokens_end(const struct hx_spec_tokens *w, const char *const *known, unsigned sizes,
                        struct hx_problem *problem)
{
    char hint[HX_HINT_TEXT];
    for (unsigned i = 0; i < w->keys; i++) {
        if (!w->key[i].taken)
            return hx_spec_tokens_fail(w, problem, "unknown key '%s'%s", w->key[i].key,
                                       hx_did_you_mean(hint, w->key[i].key, known));
    }
    if (w->other)
        return hx_spec_tokens_fail(w, problem, "'%s' is neither sizes, such as 8x8x4, nor key=value", w->other);
    if (w->sizes > sizes)
        return hx_spec_tokens_fail(w, problem,
                                   sizes ? "%u sizes where at most %u are expected" : "sizes where none is expected",
                                   w->sizes, sizes);
    return true;
}

bool hx_spec_tokens_fail(const struct hx_spec_tokens *w, struct hx_problem *problem, const char *format, ...)
{
    char text[sizeof problem->what];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return hx_fail(problem, HX_EXIT_CONFIG, w->written, "%s", text);
}
