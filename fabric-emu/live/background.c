/* background.c - going on in the background (background.h). */
#include "background.h"
#include "host/error.h"
#include "host/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID, READY, SIGNALS, EVENTS };

/* Copies what is there to stderr; false: the other end is closed. */
static bool show(int from)
{
    char text[4096];
    ssize_t bytes = read(from, text, sizeof text);
    for (ssize_t at = 0; at < bytes;) {
        ssize_t written = write(STDERR_FILENO, text + at, (size_t)(bytes - at));
        if (written <= 0)
            break;
        at += written;
    }
    return bytes > 0;
}

/* Waits for the child; ends with its code unless it became ready. */
static void await(pid_t child, int said, int ready)
{
    struct pollfd wait[EVENTS] = {
        {.fd = said, .events = POLLIN}, {.fd = ready, .events = POLLIN}, {.fd = hx_signals_open(), .events = POLLIN}};
    char word;
    int status;
    while (!(wait[READY].revents & (POLLIN | POLLHUP))) {
        (void)poll(wait, EVENTS, -1);
        if (wait[SAID].revents && !show(said))
            wait[SAID].fd = -1;
        if (wait[SIGNALS].revents) {
            (void)kill(child, SIGTERM);
            wait[SIGNALS].fd = -1;
        }
    }
    if (read(ready, &word, sizeof word) == sizeof word) {
        while (wait[SAID].fd >= 0 && poll(wait, 1, 0) > 0 && show(said))
            ;
        return;
    }
    while (wait[SAID].fd >= 0 && show(said))
        ;
    bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status);
    exit(ended && WEXITSTATUS(status) ? WEXITSTATUS(status) : HX_EXIT_FAILED);
}

static void become_child(struct background *b, const int said[2], const int ready[2])
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)setsid();
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(nothing, STDOUT_FILENO);
    (void)dup2(said[1], STDERR_FILENO);
    (void)close(nothing);
    (void)close(said[0]);
    (void)close(said[1]);
    (void)close(ready[0]);
    b->ready = ready[1];
}

bool background_fork(struct background *b)
{
    int said[2];
    int ready[2];
    *b = (struct background){.ready = -1};
    pid_t child = pipe2(said, O_CLOEXEC) == 0 && pipe2(ready, O_CLOEXEC) == 0 ? fork() : -1;
    if (child < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "nothing can be started in the background: %s", strerror(errno));
    if (child == 0) {
        become_child(b, said, ready);
        return true;
    }
    (void)close(said[1]);
    (void)close(ready[1]);
    b->child = child;
    await(child, said[0], ready[0]);
    (void)close(said[0]);
    (void)close(ready[0]);
    return false;
}

void background_end(const struct background *b)
{
    (void)kill(b->child, SIGTERM);
    (void)waitpid(b->child, NULL, 0);
}

void background_ready(struct background *b)
{
    const char word = 'r';
    if (b->ready < 0)
        return;
    (void)!write(b->ready, &word, sizeof word);
    (void)close(b->ready);
    b->ready = -1;
}
