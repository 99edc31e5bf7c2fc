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

enum { GROUPS = 4 };
static const struct kit_check *const all[GROUPS] = {kit_switch_checks, kit_endpoint_checks, kit_detour_checks,
                                                    kit_traffic_checks};

struct kit_shared *kit_shared;
static const struct kit_check *tried;
static const struct conformance_world *world; /* of the clause that is tried */

/* ---- harm ---- */

/* What the contract says of a function: the clause that is tried, if it is of this function, else its first. NULL: the
 * kit has none. */
static const char *clause_of(const char *function)
{
    if (strcmp(tried->function, function) == 0)
        return tried->clause;
    for (unsigned i = 0; i < GROUPS; i++)
        for (const struct kit_check *check = all[i]; check->function; check++)
            if (strcmp(check->function, function) == 0)
                return check->clause;
    return NULL;
}

void kit_blame(const char *function, const char *words)
{
    struct kit_shared *s = kit_shared;
    s->broken = true;
    for (unsigned i = 0; i < s->blamed_count; i++)
        if (strcmp(s->blamed[i], function) == 0)
            return;
    if (s->blamed_count < KIT_MOST_BLAMED)
        s->blamed[s->blamed_count++] = function;
    const char *clause = clause_of(function);
    if (clause)
        printf("%s: %s (hal.h: %s)\n", function, words, clause);
    else
        printf("%s: %s (in the check of %s)\n", function, words, tried->function);
    (void)fflush(stdout);
}

static uint64_t free_before;

void kit_gives(const char *function)
{
    free_before = conformance_free_buffers(world);
    kit_runs(function);
}

void kit_gave(const char *function)
{
    if (conformance_free_buffers(world) <= free_before + 1)
        return;
    kit_blame(function, "a buffer came back twice");
    _exit(0);
}

/* ---- a clause ---- */

static void try_clause(void)
{
    struct kit k = {.check = tried};
    world = &k.w;
    (void)alarm(kit_shared->endless ? MOST_AFTER_ONE : MOST_SECONDS);
    if (!conformance_open(&k.w)) {
        kit_blame("conformance_open", "cannot make a world");
        return;
    }
    k.free_at_first = conformance_free_buffers(&k.w);
    k.room_at_first = hal_room(k.w.sw[0], HX_E);
    tried->run(&k);
    conformance_close(&k.w);
}

/* A port that is wrong may also do harm, or never come back. */
static bool is_kept(void)
{
    int status;
    kit_shared->broken = false;
    kit_runs(tried->function);
    pid_t child = fork();
    if (child == 0) {
        try_clause();
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
    for (unsigned i = 0; i < GROUPS; i++) {
        for (tried = all[i]; tried->function; tried++, clauses++) {
            if (list)
                printf("%s: %s\n", tried->function, tried->clause);
            else
                broken += !is_kept();
        }
    }
    if (!list)
        printf("%u clauses of the contract tried, %u broken\n", clauses, broken);
    return broken != 0;
}
