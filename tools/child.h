/* child.h - runs programs until they exit, one or several side by side, reads their output and forwards signals.
 *
 * A program reads its standard input from /dev/null. It has its own process group, so that Ctrl-C reaches it once,
 * through this process. It ends when this process does. Of its standard error, the last line that begins with "hxmesh:
 * error: " is kept; other lines go to this process's standard error. */
#ifndef HXMESH_TOOLS_CHILD_H
#define HXMESH_TOOLS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_MOST = 64 /* side by side */, CHILD_ERROR = 512 };

struct child_result {
    char *output; /* all of its standard output, zero-terminated; free() it */
    size_t bytes;
    int exit_code;           /* 128 + signal, if one ended it */
    double seconds;          /* from start to end */
    char error[CHILD_ERROR]; /* the rest of its error line; empty: none */
};

/* A running program; all zeros: none. */
struct child {
    pid_t pid;
    int output, errors; /* pipes from its standard output and error; -1: closed */
    double begun;
    bool reads_progress; /* removes its progress lines ("run: 40 %, about 9 s left") from its standard error */
    double progress;     /* latest, 0 .. 1 */
    struct child_result result;
    size_t room;
    char line[CHILD_ERROR + 32]; /* an incomplete line of its standard error */
    size_t used;
};

/* After this call SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end this process: they are noted and forwarded to running
 * programs. */
void child_catch_signals(void);
/* Whether such a signal has arrived. */
bool child_interrupted(void);

/* Starts argv[0], a path; argv ends with NULL, *c is all zeros. Dies with HX_EXIT_ENVIRONMENT if it cannot create a
 * process or pipe. */
void child_start(struct child *c, char *const *argv);
/* Reads what the programs write until one exits or the time is over (-1: no limit). Returns the number of the program
 * that exited, with its result complete; `count`: none. */
unsigned child_wait(struct child *children, unsigned count, int milliseconds);

/* Writes the path of the program `name` in this program's folder. Dies with HX_EXIT_ENVIRONMENT if it cannot be run. */
void child_beside(const char *name, char *path, size_t bytes);

#endif
