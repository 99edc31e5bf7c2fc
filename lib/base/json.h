/* json.h - writes results as JSON (base/output.h).
 *
 * Keys keep the order in which they are set, so every run writes the same bytes. Reals have 9 significant digits. A
 * file that cannot be written ends the program with HX_EXIT_ENVIRONMENT. */
#ifndef HXMESH_BASE_JSON_H
#define HXMESH_BASE_JSON_H

#include "base/output.h"

#include <jansson.h>
#include <stdint.h>

/* Returns the text of a user or a file as JSON. Replaces bytes above 0x7f by '?' if it is not UTF-8. NULL: null. */
json_t *hx_json_text(const char *text);

/* Returns a real; NAN: null. */
json_t *hx_json_real(double value);

/* Returns counts by their names, which end with NULL. */
json_t *hx_json_counts(const char *const *names, const uint64_t *counts);

/* Default "schema": grows when a key changes its meaning or is removed. */
enum { HX_JSON_SCHEMA = 1 };

/* Writes `value`, indented by two, and a newline; takes the reference. Adds HX_JSON_SCHEMA first to an object without
 * its own "schema". Dies if value is NULL (no memory). */
void hx_json_write(json_t *value, const char *path);
/* Returns the same text without the newline; the caller frees it. */
char *hx_json_report(json_t *value);

#endif
