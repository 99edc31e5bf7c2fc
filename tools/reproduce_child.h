/* reproduce_child.h - runs one program to its end and reads what it writes, passing signals on.
 *
 * The program has its standard input from /dev/null and a process group of its own, so that Ctrl-C reaches it once,
 * through us. It ends when this process does. Of its standard error the last line that begins with "hxmesh: error: " is
 * kept, what else there is goes on to ours. */
#ifndef HXMESH_TOOLS_REPRODUCE_CHILD_H
#define HXMESH_TOOLS_REPRODUCE_CHILD_H

#include <stdbool.h>
#include <stddef.h>

struct child_result {
    char *output; /* all of its standard output, with a final zero; free() it */
    size_t bytes;
    int exit_code;   /* 128 + signal, if one ended it */
    double seconds;  /* from start to end */
    char error[512]; /* the rest of its error line; empty: none */
};

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end this process: they are passed on to the program that runs,
 * and noted. */
void child_catch_signals(void);
/* Whether one has come. */
bool child_interrupted(void);

/* Runs argv[0], a path; argv ends with NULL. Dies with HX_EXIT_ENVIRONMENT if there can be no process or pipe. */
struct child_result child_run(char *const *argv);

/* The path of the program of that name beside this one; dies with HX_EXIT_ENVIRONMENT if it cannot be run. */
void child_beside(const char *name, char *path, size_t bytes);

#endif
