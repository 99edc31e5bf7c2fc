/* exec.h - runs programs on hosts of a running fabric: on one, on each, or as MPI ranks. */
#ifndef EXEC_H
#define EXEC_H

#include "attach.h"

enum { EXEC_MOST_RANKS = 4096, EXEC_MOST_WORDS = 1 << 20 };

enum exec_over {
    EXEC_OVER_IP,      /* TCP over the hosts' interfaces */
    EXEC_OVER_MESSAGES /* the endpoints' messages through libfabric: one rank a host */
};

struct exec_plan {
    uint32_t host;  /* of the program, unless `all` or `ranks` is set */
    bool all;       /* run on every host */
    uint64_t ranks; /* MPI ranks; 0: no MPI */
    unsigned over;  /* enum exec_over: transport of MPI */
    bool shell;     /* the command is one line for a shell, as rsh takes it */
    char **command; /* NULL-terminated */
};

/* Exit codes of a shell for a program that it cannot run. */
enum { EXEC_NOT_RUN = 126, EXEC_NOT_FOUND = 127 };

/* Moves this process onto a host; ends the program on an error. exec_become() then replaces it with the command. */
void exec_go(const struct attached *a, uint32_t host);
_Noreturn void exec_become(char **command, bool shell);

/* Whether the host exists and has not failed. */
bool exec_has(const struct attached *a, uint32_t host);

/* Runs the command on every host (exec_all.c). Returns an exit code. */
int exec_on_all(const struct attached *a, const struct exec_plan *plan);

/* Returns mpirun's command line (exec_mpi.c). It is never freed. */
char **exec_mpi_command(const struct attached *a, const struct exec_plan *plan);

/* Becomes the program, or runs one on every host and waits. Returns an exit code. */
int exec_run(struct attached *a, const struct exec_plan *plan);

#endif
