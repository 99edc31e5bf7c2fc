/* input.h - opens a file that a program is told to read, by one rule: a file that is not there, or that is no file, is
 * wrong configuration (HX_EXIT_CONFIG), one that the machine does not give is HX_EXIT_ENVIRONMENT. A pipe is as good as
 * a file, and while nothing comes by it the process can be ended (hx_signals_let); a device, which may have no end, and
 * a directory are refused. */
#ifndef HXMESH_BASE_INPUT_H
#define HXMESH_BASE_INPUT_H

#include "base/error.h"

#include <stdio.h>

/* NULL: *problem says why. */
FILE *hx_input_open(const char *path, struct hx_problem *problem);

/* All of it, `most` bytes at most, for free(); more than that is no `what` ("fabric file"). */
bool hx_input_read(const char *path, size_t most, const char *what, char **text, size_t *bytes,
                   struct hx_problem *problem);

/* "PATH: cannot be read: REASON", of an errno. Returns false. */
bool hx_input_fail(const char *path, int error, struct hx_problem *problem);

#endif
