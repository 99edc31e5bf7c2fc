/* main.c - the conformance kit: tries a hal_port.h against the contract (include/hxmesh/hal.h), clause by clause.
 *
 * A line for each clause that is broken, and a last one that counts; exit code 0 if none is. --list prints the clauses. */
#include "kit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SECONDS = 20 }; /* that one check may take */

enum { GROUPS = 3 };
static const struct kit_check *const all[GROUPS] = {kit_switch_checks, kit_endpoint_checks, kit_traffic_checks};
static const struct kit_check *volatile current;

static void say(const char *text)
{
    (void)!write(STDOUT_FILENO, text, strlen(text));
}

/* A port that is wrong may also do harm, or never come back. */
static void die_of_signal(int number)
{
    say(current->function);
    say(number == SIGALRM ? ": does not come to an end" : ": ends in a crash");
    say(" (hal.h: ");
    say(current->clause);
    say(")\n");
    _exit(1);
}

static bool is_kept(const struct kit_check *check)
{
    struct kit k = {.check = check};
    current = check;
    (void)alarm(MOST_SECONDS);
    if (!conformance_open(&k.w)) {
        printf("conformance_open: cannot make a world\n");
        exit(1);
    }
    k.free_at_first = conformance_free_buffers(&k.w);
    k.room_at_first = hal_room(k.w.sw[0], HX_E);
    check->run(&k);
    conformance_close(&k.w);
    (void)fflush(stdout);
    return !k.broken;
}

int main(int argc, char **argv)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
    unsigned clauses = 0;
    unsigned broken = 0;
    for (unsigned i = 0; i < sizeof deadly / sizeof *deadly; i++)
        (void)signal(deadly[i], die_of_signal);
    for (unsigned i = 0; i < GROUPS; i++) {
        for (const struct kit_check *check = all[i]; check->function; check++, clauses++) {
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
