/* json.h - how results leave a program as JSON (base/output.h).
 *
 * Keys keep the order they were set in, so that a report reads as its author wrote it and is the same byte for byte
 * on every run. Reals are written with 9 significant digits. A file that cannot be written ends the program with
 * HX_EXIT_ENVIRONMENT. */
#ifndef HXMESH_BASE_JSON_H
#define HXMESH_BASE_JSON_H

#include "base/output.h"

#include <jansson.h>

/* What a user or a file said, which may be no UTF-8, though all of JSON is: bytes above 0x7f are '?' then. NULL:
 * null. */
json_t *hx_json_text(const char *text);

/* Of what a program writes whose own "schema" says nothing else: grows when a key changes its meaning or goes. */
enum { HX_JSON_SCHEMA = 1 };

/* Writes `value`, indented by two, and a newline; takes the reference. An object has a "schema": HX_JSON_SCHEMA comes
 * first where it has none of its own. Dies if value is NULL (no memory). */
void hx_json_write(json_t *value, const char *path);

#endif
