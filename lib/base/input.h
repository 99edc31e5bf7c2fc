/* input.h - opens a file for reading. A missing file, a directory or a device is HX_EXIT_CONFIG; a file that the
 * machine refuses is HX_EXIT_ENVIRONMENT. A pipe works like a file, and signals may end the process while it is empty
 * (hx_signals_unblock). */
#ifndef HXMESH_BASE_INPUT_H
#define HXMESH_BASE_INPUT_H

#include "base/error.h"

#include <stdio.h>

/* Returns NULL and sets *problem on failure. */
FILE *hx_input_open(const char *path, struct hx_problem *problem);

/* Reads a whole file of at most `most` bytes, for free(). Returns false and sets *problem; a larger file is no `what`
 * ("fabric file"). */
bool hx_input_read(const char *path, size_t most, const char *what, char **text, size_t *bytes,
                   struct hx_problem *problem);

/* Reports "PATH: cannot be read: REASON", for an errno. Returns false. */
bool hx_input_fail(const char *path, int error, struct hx_problem *problem);

#endif
