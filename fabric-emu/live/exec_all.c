/* exec_all.c - one program on every host at the same time (exec.h). Each line of output follows its host's name. */
#include "base/error.h"
#include "exec.h"
#include "host_names.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 4096 /* longer lines are shown in pieces */ };

struct running {
    pid_t pid;
    char name[HX_NAME_BYTES];
    char line[LINE];
    size_t used;
};

static void start(struct running *r, struct pollfd *from, const struct attached *a, const struct exec_plan *plan,
                  uint32_t host)
{
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0 || (r->pid = fork()) < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "a program for each host cannot be started: %s", strerror(errno));
    if (r->pid == 0) {
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        (void)dup2(nothing, STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        (void)dup2(out[1], STDERR_FILENO);
        exec_go(a, host);
        exec_become(plan->command, plan->shell);
    }
    (void)close(out[1]);
    *from = (struct pollfd){.fd = out[0], .events = POLLIN};
    (void)host_place(r->name, &a->graph, host);
}

/* Prints complete lines; `all`: also the rest. */
static void show(struct running *r, bool all)
{
    size_t at = 0;
    for (char *end; (end = memchr(r->line + at, '\n', r->used - at)) != NULL; at = (size_t)(end - r->line) + 1)
        printf("%s: %.*s\n", r->name, (int)(end - r->line - (ptrdiff_t)at), r->line + at);
    if ((all || at == 0) && (all || r->used == LINE) && r->used > at) {
        printf("%s: %.*s\n", r->name, (int)(r->used - at), r->line + at);
        at = r->used;
    }
    memmove(r->line, r->line + at, r->used - at);
    r->used -= at;
    (void)fflush(stdout);
}

/* Reads and prints output. Returns false: end of output. */
static bool read_output(struct running *r, int from)
{
    ssize_t bytes = read(from, r->line + r->used, LINE - r->used);
    r->used += bytes > 0 ? (size_t)bytes : 0;
    show(r, bytes <= 0);
    return bytes > 0;
}

static void read_all_output(struct running *running, struct pollfd *from, uint32_t count)
{
    for (uint32_t open = count; open > 0;) {
        (void)poll(from, count, -1);
        for (uint32_t i = 0; i < count; i++) {
            if (from[i].fd < 0 || !from[i].revents || read_output(&running[i], from[i].fd))
                continue;
            (void)close(from[i].fd);
            from[i].fd = -1;
            open--;
        }
    }
}

/* Whether all programs ended with 0. */
static bool have_ended_well(const struct running *running, uint32_t count)
{
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        int status;
        good =
            waitpid(running[i].pid, &status, 0) == running[i].pid && WIFEXITED(status) && !WEXITSTATUS(status) && good;
    }
    return good;
}

int exec_on_all(const struct attached *a, const struct exec_plan *plan)
{
    uint32_t count = 0;
    struct running *running = hx_allocate(a->graph.hosts, sizeof *running);
    struct pollfd *from = hx_allocate(a->graph.hosts, sizeof *from);
    for (uint32_t host = 0; host < a->graph.hosts; host++) {
        if (!exec_has(a, host))
            continue;
        start(&running[count], &from[count], a, plan, host);
        count++;
    }
    read_all_output(running, from, count);
    bool good = have_ended_well(running, count);
    free(running);
    free(from);
    return good ? HX_EXIT_DONE : HX_EXIT_FAILED;
}
