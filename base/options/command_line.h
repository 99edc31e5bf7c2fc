/* command_line.h - command lines as one would type them: the one a program was given, and one that says every
 * option. */
#ifndef HXMESH_BASE_OPTIONS_COMMAND_LINE_H
#define HXMESH_BASE_OPTIONS_COMMAND_LINE_H

#include "base/options/option.h"

/* `program` and argv[1] to argv[argc - 1], in quotes where a shell needs them. Kept until the next call: a program that
 * reads several command lines, as `hxmesh demo` does, has the last one. */
const char *hx_command_line(const char *program, int argc, char *const *argv);

/* `program`, `operand`, and every option of the table that is for the run (base/options/applies.h), with the value its
 * target holds, so that the same run comes of it. The caller's to free; NULL: no memory. */
char *hx_options_line(const char *program, const char *operand, const struct hx_option *options, uint64_t run);

#endif
