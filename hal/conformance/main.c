/* main.c - the conformance kit: tries a hal_port.h against the contract (include/hxmesh/hal.h), clause by clause.
 *
 * Prints a line for each broken clause and each function that does harm, then the counts. Exit code 0 if no clause is
 * broken. --list prints the clauses. */
#include "kit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 20, MOST_AFTER_ONE = 2 }; /* limit of a check, seconds; and after one check reached it */

void kit_abandon(void)
{
    _exit(0);
}

/* Tries a clause in a child process: a faulty port may crash or hang. Returns true if the clause is kept. */
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
        kit_blame(kit_shared->running, "does not end");
    else if (WIFSIGNALED(status))
        kit_blame(kit_shared->running, "ends in a crash");
    else if (WEXITSTATUS(status) != 0)
        kit_blame(kit_shared->running, "ends the program");
    return !kit_shared->broken;
}

static const char help[] =
    "Usage: conformance [--list]\n"
    "Tries a port of the firmware against the contract of include/hxmesh/hal.h, clause by clause.\n\n"
    "  --list  print the clauses, and try nothing\n"
    "  --help  print this\n\n"
    "Exit code: 0 no clause is broken, 1 some are, 2 wrong arguments, or no memory.\n"
    "See docs/porting.md.\n";

int main(int argc, char **argv)
{
    bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
    bool helps = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (argc > 1 && !list && !helps)
        fprintf(stderr, "conformance: error: %s: unknown argument (use --list or --help)\n", argv[argc > 2 ? 2 : 1]);
    if (helps)
        (void)fputs(help, stdout);
    if (argc > 1 && !list)
        return helps ? 0 : 2;
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
