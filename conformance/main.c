/* main.c - the conformance kit: tries a hal_port.h against the contract (include/hxmesh/hal.h), clause by clause.
 *
 * A line for each clause that is broken and for each function that does harm, and a last one that counts; exit code 0 if
 * no clause is broken. --list prints the clauses. */
#include "kit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 20, MOST_AFTER_ONE = 2 }; /* that a check may take; and once one took as long */

void kit_abandon(void)
{
    _exit(0);
}

/* A port that is wrong may also do harm, or never come back. */
static bool is_kept(const struct kit_check *check)
{
    int status;
    kit_begin(check);
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(kit_shared->endless ? MOST_AFTER_ONE : MOST_SECONDS);
        kit_try();
        (void)fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("conformance: no process for a check");
        exit(2);
    }
    bool endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    kit_shared->endless |= endless;
    if (endless)
        kit_blame(kit_shared->running, "does not come to an end");
    else if (WIFSIGNALED(status))
        kit_blame(kit_shared->running, "ends in a crash");
    else if (WEXITSTATUS(status) != 0)
        kit_blame(kit_shared->running, "ends the program");
    return !kit_shared->broken;
}

int main(int argc, char **argv)
{
    bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
    unsigned clauses = 0;
    unsigned broken = 0;
    kit_shared = mmap(NULL, sizeof *kit_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (kit_shared == MAP_FAILED) {
        perror("conformance: no memory");
        return 2;
    }
    for (unsigned i = 0; i < KIT_GROUPS; i++) {
        for (const struct kit_check *check = kit_groups[i]; check->function; check++, clauses++) {
            if (list)
                printf("%s: %s\n", check->function, check->clause);
            else
                broken += !is_kept(check);
        }
    }
    if (!list)
        printf("%u clauses of the contract tried, %u broken\n", clauses, broken);
    return broken != 0;
}
