/* csv.c - cells of a CSV file (base/csv.h). */
#include "base/csv.h"

#include <string.h>

void hx_csv_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', out);
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

void hx_csv_value(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        hx_csv_text(out, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.9g", json_real_value(value));
    else if (json_is_boolean(value))
        (void)fputs(json_is_true(value) ? "true" : "false", out);
}
