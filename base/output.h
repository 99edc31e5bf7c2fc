/* output.h - what a program writes for its user: to FILE or, for "-", to stdout.
 *
 * A file appears whole or not at all: it is written beside its name and takes it when it is closed. A device, a FIFO or
 * whatever else is no regular file is written as it comes. What cannot be written ends the program with
 * HX_EXIT_ENVIRONMENT and leaves nothing. */
#ifndef HXMESH_BASE_OUTPUT_H
#define HXMESH_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether it is "-"; NULL is not. */
bool hx_output_is_stdout(const char *path);

/* Dies now if `path` cannot be written, rather than after long work. NULL and "-" are good. */
void hx_output_check(const char *path);

/* Dies with HX_EXIT_USAGE if two of these options name one file, or both stdout. */
struct hx_output {
    const char *option;
    const char *path; /* NULL: not given */
};
void hx_outputs_apart(const struct hx_output *outputs, unsigned count);

/* Dies with HX_EXIT_USAGE if one of them is the file that is read ("-": stdin, which none is). */
void hx_outputs_off(const char *read, const struct hx_output *outputs, unsigned count);

/* Output that is written piece by piece. Closing dies if anything was not written. */
FILE *hx_output_open(const char *path);
void hx_output_close(FILE *out, const char *path);

/* From now on the program ends with HX_EXIT_ENVIRONMENT if stdout could not be written to its end, and what was opened
 * and not closed is removed. No file that is opened takes the place of a stdout that is closed. Where nothing reads
 * stdout any more the program ends without a line. hx_options_parse() does it for every program that has options. */
void hx_output_guard(void);

#endif
