/* csv.h - the cells of a CSV file (RFC 4180). */
#ifndef HXMESH_BASE_CSV_H
#define HXMESH_BASE_CSV_H

#include <jansson.h>
#include <stdio.h>

/* Writes a text, in quotes if it has a comma, a quote or a line feed; doubles quotes. */
void hx_csv_text(FILE *out, const char *text);
/* Writes a single value of a report; a list, an object, null or NULL is an empty cell. */
void hx_csv_value(FILE *out, const json_t *value);

#endif
