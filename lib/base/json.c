/* json.c - writes results as JSON (base/json.h). */
#include "base/json.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNIFICANT_DIGITS = 9 };

json_t *hx_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *string = json_string(text);
    if (string)
        return string;
    char *ascii = hx_allocate(strlen(text) + 1, 1);
    for (size_t i = 0; text[i]; i++)
        ascii[i] = (unsigned char)text[i] > '~' ? '?' : text[i];
    string = json_string(ascii);
    free(ascii);
    return string;
}

json_t *hx_json_real(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

json_t *hx_json_counts(const char *const *names, const uint64_t *counts)
{
    json_t *o = json_object();
    for (unsigned i = 0; names[i]; i++)
        (void)json_object_set_new(o, names[i], json_integer((json_int_t)counts[i]));
    return o;
}

/* Adds the schema. Takes the reference. */
static json_t *with_schema(json_t *value)
{
    if (!json_is_object(value) || json_object_get(value, "schema"))
        return value;
    json_t *whole = json_pack("{s:i}", "schema", HX_JSON_SCHEMA);
    if (json_object_update(whole, value) != 0) {
        json_decref(whole);
        return value;
    }
    json_decref(value);
    return whole;
}

#define FORMAT (JSON_INDENT(2) | JSON_REAL_PRECISION(SIGNIFICANT_DIGITS))

static json_t *report_of(json_t *value, const char *where)
{
    if (!value)
        hx_die(HX_EXIT_ENVIRONMENT, where, "out of memory for the JSON report");
    return with_schema(value);
}

char *hx_json_report(json_t *value)
{
    value = report_of(value, NULL);
    char *text = json_dumps(value, FORMAT);
    json_decref(value);
    if (!text)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "out of memory for the JSON report");
    return text;
}

void hx_json_write(json_t *value, const char *path)
{
    value = report_of(value, path);
    FILE *out = hx_output_open(path);
    json_dumpf(value, out, FORMAT);
    fputc('\n', out);
    hx_output_close(out, path);
    json_decref(value);
}
