/* simulation_report.c - reads a report by keys (tools/simulation_report.h). */
#include "tools/simulation_report.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct report report_open(const json_t *json, struct report_notes *notes)
{
    return (struct report){.json = json, .notes = notes};
}

/* Writes the path of a key, as much of it as there is room for; returns whether that is all. */
static bool write_path(char path[REPORT_KEY], const struct report *r, const char *key)
{
    char whole[2 * REPORT_KEY + 1];
    const int bytes = snprintf(whole, sizeof whole, "%s%s%s", r->path, r->path[0] ? "." : "", key);
    (void)hx_text_copy(path, REPORT_KEY, whole);
    return bytes < REPORT_KEY;
}

static void note(const struct report *r, const char *key)
{
    if (!r->notes->missing[0])
        (void)write_path(r->notes->missing, r, key);
}

/* The value of a key; NULL: none. */
static const json_t *value_of(const struct report *r, const char *key)
{
    const json_t *at = r->json;
    while (at && *key) {
        char word[REPORT_KEY];
        const size_t length = strcspn(key, ".");
        (void)snprintf(word, sizeof word, "%.*s", (int)length, key);
        at = json_object_get(at, word);
        key += length + (key[length] == '.');
    }
    return at;
}

static bool has_key(const struct report *r, const char *key)
{
    return value_of(r, key) != NULL;
}

void report_need(const struct report *r, const char *key)
{
    if (!has_key(r, key))
        note(r, key);
}

double report_number(const struct report *r, const char *key)
{
    const json_t *value = value_of(r, key);
    if (!json_is_number(value))
        note(r, key);
    return json_number_value(value);
}

double report_number_or_null(const struct report *r, const char *key)
{
    return json_is_null(value_of(r, key)) ? NAN : report_number(r, key);
}

const char *report_text(const struct report *r, const char *key)
{
    const char *text = json_string_value(value_of(r, key));
    if (!text)
        note(r, key);
    return text ? text : "";
}

static const json_t *list_of(const struct report *r, const char *key)
{
    const json_t *list = value_of(r, key);
    if (!json_is_array(list))
        note(r, key);
    return list;
}

size_t report_length(const struct report *r, const char *key)
{
    return json_array_size(list_of(r, key));
}

struct report report_entry(const struct report *r, const char *key, size_t index)
{
    char name[REPORT_KEY];
    struct report entry = {.notes = r->notes, .json = json_array_get(list_of(r, key), index)};
    const bool fits = snprintf(name, sizeof name, "%s[%zu]", key, index) < REPORT_KEY;
    if (!write_path(entry.path, r, name) || !fits || !json_is_object(entry.json)) {
        note(r, name);
        entry.json = NULL;
    }
    return entry;
}

double report_number_at(const struct report *r, const char *key, size_t index)
{
    char name[REPORT_KEY];
    const json_t *value = json_array_get(list_of(r, key), index);
    const bool fits = snprintf(name, sizeof name, "%s[%zu]", key, index) < REPORT_KEY;
    if (!fits || !json_is_number(value))
        note(r, name);
    return json_number_value(value);
}
