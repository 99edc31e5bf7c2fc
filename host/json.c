/* json.c - writes results as JSON (host/json.h). */
#include "host/json.h"
#include "host/error.h"

enum { SIGNIFICANT_DIGITS = 9 };

void hx_json_write(json_t *value, const char *path)
{
    if (!value)
        hx_die(HX_EXIT_ENVIRONMENT, path, "out of memory for the JSON report");
    FILE *out = hx_output_open(path);
    json_dumpf(value, out, JSON_INDENT(2) | JSON_REAL_PRECISION(SIGNIFICANT_DIGITS));
    fputc('\n', out);
    hx_output_close(out, path);
    json_decref(value);
}
