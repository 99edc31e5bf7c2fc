/* background.c - runs a program in the background (background.h). */
#include "background.h"
#include "base/error.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID, SIGNALS, EVENTS };
enum { READ, WRITE };
enum { LEAVE_MS = 1000 };

static void copy(int to, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(to, text, bytes);
        if (written <= 0)
            return;
        text += written;
        bytes -= (size_t)written;
    }
}

/* Copies the child's output until it is ready; exits with its code if it ends first. */
static void await(pid_t child, int said)
{
    struct pollfd wait[EVENTS] = {{.fd = said, .events = POLLIN}, {.fd = hx_signals_open(), .events = POLLIN}};
    char text[4096];
    ssize_t bytes = 1;
    int status;
    while (bytes > 0) {
        if (poll(wait, EVENTS, -1) < 0)
            continue;
        if (wait[SIGNALS].revents) {
            (void)kill(child, SIGTERM);
            wait[SIGNALS].fd = -1;
        }
        if (!wait[SAID].revents)
            continue;
        bytes = read(said, text, sizeof text);
        const char *ready = bytes > 0 ? memchr(text, '\0', (size_t)bytes) : NULL;
        copy(STDERR_FILENO, text, ready ? (size_t)(ready - text) : bytes > 0 ? (size_t)bytes : 0);
        if (ready)
            return;
    }
    bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status);
    exit(ended && WEXITSTATUS(status) ? WEXITSTATUS(status) : HX_EXIT_FAILED);
}

/* Starts a session without a terminal; stderr becomes `to`. */
static void leave_terminal(int to)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)setsid();
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(nothing, STDOUT_FILENO);
    (void)dup2(to < 0 ? nothing : to, STDERR_FILENO);
    (void)close(nothing);
}

static _Noreturn void keep(struct log *log, int from, int parent)
{
    char text[4096];
    bool is_ready = false;
    (void)prctl(PR_SET_NAME, "hxmesh-log");
    for (ssize_t bytes = read(from, text, sizeof text); bytes > 0; bytes = read(from, text, sizeof text)) {
        const char *ready = is_ready ? NULL : memchr(text, '\0', (size_t)bytes);
        size_t before = ready ? (size_t)(ready - text) : (size_t)bytes;
        log_write(log, text, before);
        if (!is_ready)
            copy(parent, text, ready ? before + 1 : before);
        if (ready) {
            is_ready = true;
            (void)close(parent);
            log_write(log, ready + 1, (size_t)bytes - before - 1);
        }
    }
    _exit(0);
}

bool background_fork(struct background *b, struct log *log)
{
    int lines[2];
    int said[2];
    int life[2];
    *b = (struct background){.is_child = false};
    bool piped = pipe2(lines, O_CLOEXEC) == 0 && pipe2(said, O_CLOEXEC) == 0 && pipe2(life, O_CLOEXEC) == 0;
    pid_t keeper = piped ? fork() : -1;
    if (keeper == 0) {
        (void)close(lines[WRITE]);
        (void)close(said[READ]);
        (void)close(life[READ]);
        leave_terminal(-1);
        keep(log, lines[READ], said[WRITE]);
    }
    b->child = keeper > 0 ? fork() : -1;
    if (b->child < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "nothing can be started in the background: %s", strerror(errno));
    (void)close(lines[READ]);
    (void)close(said[WRITE]);
    (void)close(life[WRITE]);
    log_close(log);
    b->is_child = b->child == 0;
    b->keeper = life[READ];
    if (b->is_child)
        leave_terminal(lines[WRITE]);
    (void)close(lines[WRITE]);
    if (!b->is_child) {
        (void)close(life[READ]);
        await(b->child, said[READ]);
    }
    (void)close(said[READ]);
    return b->is_child;
}

void background_end(const struct background *b)
{
    (void)kill(b->child, SIGTERM);
    (void)waitpid(b->child, NULL, 0);
}

void background_ready(const struct background *b)
{
    if (b->is_child)
        copy(STDERR_FILENO, "", 1);
}

void background_leave(const struct background *b)
{
    struct pollfd keeper = {.fd = b->keeper, .events = POLLIN};
    if (!b->is_child)
        return;
    leave_terminal(-1); /* closes stderr */
    (void)poll(&keeper, 1, LEAVE_MS);
}
