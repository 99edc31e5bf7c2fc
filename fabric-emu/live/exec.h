/* exec.h - programs on hosts of a running fabric: one, one on each, or ranks of MPI. */
#ifndef EXEC_H
#define EXEC_H

#include "attach.h"

enum { EXEC_MOST_RANKS = 4096, EXEC_MOST_WORDS = 1 << 20 };

enum exec_over {
    EXEC_OVER_IP,      /* by TCP, over the hosts' interfaces */
    EXEC_OVER_MESSAGES /* by messages of the endpoints, through libfabric: one rank on a host */
};

struct exec_plan {
    uint32_t host;  /* where, unless: */
    bool all;       /* on every host */
    uint64_t ranks; /* of MPI; 0: none */
    unsigned over;  /* enum exec_over: how these talk */
    bool shell;     /* the words of the command are one line for a shell, as rsh takes them */
    char **command; /* ends with NULL */
};

/* What a shell says of a program that cannot be run. */
enum { EXEC_NOT_RUN = 126, EXEC_NOT_FOUND = 127 };

/* Puts this process on a host; dies with one line if it cannot. Then it can become the command, which it says no more
 * of. */
void exec_go(const struct attached *a, uint32_t host);
_Noreturn void exec_become(char **command, bool shell);

/* Whether there is such a host, and it has not failed. */
bool exec_has(const struct attached *a, uint32_t host);

/* The command on every host. Returns an exit code (exec_all.c). */
int exec_on_all(const struct attached *a, const struct exec_plan *plan);

/* mpirun's command line for it (exec_mpi.c). Its words stay until this process becomes it. */
char **exec_mpi_command(const struct attached *a, const struct exec_plan *plan);

/* Becomes the program, or starts all of them and waits. Returns an exit code. */
int exec_run(struct attached *a, const struct exec_plan *plan);

#endif
