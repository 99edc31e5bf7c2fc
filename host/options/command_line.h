/* command_line.h - the command line a program was given, as one would type it again. */
#ifndef HXMESH_HOST_COMMAND_LINE_H
#define HXMESH_HOST_COMMAND_LINE_H

/* `program` and argv[1] to argv[argc - 1], in quotes where a shell needs them. Kept until the next call: a program that reads
 * several command lines, as `hxmesh demo` does, has the last one. */
const char *hx_command_line(const char *program, int argc, char *const *argv);

#endif
