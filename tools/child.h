/* child.h - runs programs to their end, one or some side by side, and reads what they write, passing signals on.
 *
 * A program has its standard input from /dev/null and a process group of its own, so that Ctrl-C reaches it once,
 * through us. It ends when this process does. Of its standard error the last line that begins with "hxmesh: error: " is
 * kept, what else there is goes on to ours. */
#ifndef HXMESH_TOOLS_CHILD_H
#define HXMESH_TOOLS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_MOST = 64 /* side by side */, CHILD_ERROR = 512 };

struct child_result {
    char *output; /* all of its standard output, with a final zero; free() it */
    size_t bytes;
    int exit_code;           /* 128 + signal, if one ended it */
    double seconds;          /* from start to end */
    char error[CHILD_ERROR]; /* the rest of its error line; empty: none */
};

/* One that runs; zeros: none does. */
struct child {
    pid_t pid;
    int output, errors; /* where its standard output and error are read; -1: closed */
    double begun;
    bool reads_progress; /* takes the lines of its progress ("run: 40 %, about 9 s left") out of its standard error */
    double progress;     /* that it said last, 0 .. 1 */
    struct child_result result;
    size_t room;
    char line[CHILD_ERROR + 32]; /* the beginning of a line of its standard error */
    size_t used;
};

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end this process: they are passed on to what runs, and
 * noted. */
void child_catch_signals(void);
/* Whether one has come. */
bool child_interrupted(void);

/* Runs argv[0], a path; argv ends with NULL. Dies with HX_EXIT_ENVIRONMENT if there can be no process or pipe. */
struct child_result child_run(char *const *argv);

/* Begins to run it; *c is of zeros. */
void child_start(struct child *c, char *const *argv);
/* Reads what those that run write, until one has ended or the time is over (-1: it never is). Returns the number of the
 * one that ended, whose result is whole; `count`: none has. */
unsigned child_wait(struct child *children, unsigned count, int milliseconds);

/* The path of the program of that name beside this one; dies with HX_EXIT_ENVIRONMENT if it cannot be run. */
void child_beside(const char *name, char *path, size_t bytes);

#endif
