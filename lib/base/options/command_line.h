/* command_line.h - command lines for a shell: the one given, and one with every option that repeats the run; options
 * as arguments of a program. */
#ifndef HXMESH_BASE_OPTIONS_COMMAND_LINE_H
#define HXMESH_BASE_OPTIONS_COMMAND_LINE_H

#include "base/arguments.h"
#include "base/options/option.h"

/* Adds an option and its current value to the arguments of a program: none, one or, of a list, several. */
void hx_option_add(struct hx_arguments *a, const struct hx_option *o);

/* Returns `program` and argv[1] to argv[argc - 1], quoted where a shell needs it. The next call frees it. */
const char *hx_command_line(const char *program, int argc, char *const *argv);

/* Returns `program`, `operand`, and every option that applies to the run (base/options/applies.h) with its current
 * value, so that the line repeats the run. The caller frees it; NULL: no memory. */
char *hx_options_line(const char *program, const char *operand, const struct hx_option *options, uint64_t run);

#endif
