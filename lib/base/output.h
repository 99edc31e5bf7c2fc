/* output.h - output for the user: to FILE or, for "-", to stdout.
 *
 * A file appears whole or not at all: it is written under a temporary name and renamed when it is closed. A device, a
 * FIFO or another special file is written in place. A failed write ends the program with HX_EXIT_ENVIRONMENT and leaves
 * no file. */
#ifndef HXMESH_BASE_OUTPUT_H
#define HXMESH_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether the path is "-"; NULL is not. */
bool hx_output_is_stdout(const char *path);

/* Dies before long work if `path` cannot be written. NULL and "-" are valid. */
void hx_output_check(const char *path);

/* Dies with HX_EXIT_USAGE if two of these options name one file, or both stdout. */
struct hx_output {
    const char *option;
    const char *path; /* NULL: not given */
};
void hx_outputs_apart(const struct hx_output *outputs, unsigned count);

/* Dies with HX_EXIT_USAGE if one of them is the input file ("-": stdin, never an output). */
void hx_outputs_off(const char *read, const struct hx_output *outputs, unsigned count);

/* Opens and closes an output to write piece by piece. Closing dies if a write failed. */
FILE *hx_output_open(const char *path);
void hx_output_close(FILE *out, const char *path);

/* Guards the rest of the program: an incomplete stdout ends it with HX_EXIT_ENVIRONMENT, open files are removed at its
 * end, and no file takes the descriptor of a closed stdout. If stdout has no reader, the program ends without a
 * message. hx_options_parse() calls it. */
void hx_output_guard(void);

#endif
