/* json.h - how results leave a program as JSON: to FILE or, for "-", to stdout.
 *
 * Keys keep the order they were set in, so that a report reads as its author wrote it and is the same byte for byte
 * on every run. Reals are written with 9 significant digits. A file that cannot be written ends the program with
 * HX_EXIT_ENVIRONMENT. */
#ifndef HXMESH_HOST_JSON_H
#define HXMESH_HOST_JSON_H

#include <jansson.h>
#include <stdio.h>

/* Writes `value`, indented by two, and a newline; takes the reference. Dies if value is NULL (no memory). */
void hx_json_write(json_t *value, const char *path);

/* Dies now if `path` cannot be written, rather than after long work. NULL and "-" are good. */
void hx_output_check(const char *path);

/* Output that is written piece by piece: "-" is stdout. Closing dies if anything was not written. */
FILE *hx_output_open(const char *path);
void hx_output_close(FILE *out, const char *path);

#endif
