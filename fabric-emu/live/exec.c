/* exec.c - starts programs on hosts (exec.h). */
#include "exec.h"
#include "base/beside.h"
#include "base/error.h"
#include "host_names.h"
#include "netns.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROVIDER "libhxmesh-fi.so"
enum { MOST_PATH = 4096 };

/* ---- one program ---- */

/* Resets signals as a shell does for its programs: none ignored, none blocked. */
static void restore_signals(void)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Sets where libfabric finds the provider: beside this program in a build tree, or beside its libraries if installed. A
 * folder that the user has set stays. */
static void name_provider(void)
{
    static const char *const places[] = {PROVIDER, "../lib/libfabric/" PROVIDER};
    char path[MOST_PATH];
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        if (!beside_path(places[i], path, sizeof path) || access(path, R_OK) != 0)
            continue;
        *strrchr(path, '/') = '\0';
        (void)setenv("FI_PROVIDER_PATH", path, 0);
        return;
    }
}

void exec_go(const struct attached *a, uint32_t host)
{
    char place[HX_NAME_BYTES];
    char number[16];
    struct hx_problem problem;
    if (!exec_has(a, host))
        hx_die(HX_EXIT_USAGE, host_place(place, &a->graph, host), "has failed: no program can run there");
    if (!netns_enter(a->head->netns_holder, host, &problem))
        hx_die_of(&problem);
    (void)setenv("HXMESH_FABRIC", a->name, 1);
    (void)snprintf(number, sizeof number, "%" PRIu32, host);
    (void)setenv("HXMESH_HOST_NUMBER", number, 1);
    (void)snprintf(number, sizeof number, "%" PRIu32, a->graph.hosts);
    (void)setenv("HXMESH_HOSTS", number, 1);
    (void)setenv("HXMESH_HOST", host_place(place, &a->graph, host), 1);
    name_provider();
}

bool exec_has(const struct attached *a, uint32_t host)
{
    return netns_has(a->head->netns_holder, host);
}

/* Joins words with blanks. Returns memory for free(). */
static char *join(char **words)
{
    char *line = NULL;
    size_t bytes;
    FILE *out = open_memstream(&line, &bytes);
    for (char **word = words; out && *word; word++)
        fprintf(out, "%s%s", word == words ? "" : " ", *word);
    if (!out || fclose(out) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a command line");
    return line;
}

_Noreturn void exec_become(char **command, bool shell)
{
    char program[] = "/bin/sh";
    char option[] = "-c";
    char *by_shell[] = {program, option, shell ? join(command) : NULL, NULL};
    char **words = shell ? by_shell : command;
    restore_signals();
    (void)execvp(words[0], words);
    int error = errno;
    hx_complain(words[0], "cannot be run: %s", strerror(error));
    _exit(error == ENOENT ? EXEC_NOT_FOUND : EXEC_NOT_RUN);
}

static uint32_t first_host(const struct attached *a)
{
    uint32_t host = 0;
    while (host < a->graph.hosts && !exec_has(a, host))
        host++;
    return host;
}

int exec_run(struct attached *a, const struct exec_plan *plan)
{
    if (plan->all)
        return exec_on_all(a, plan);
    char **command = plan->ranks ? exec_mpi_command(a, plan) : plan->command;
    exec_go(a, plan->ranks ? first_host(a) : plan->host);
    exec_become(command, plan->shell);
}
