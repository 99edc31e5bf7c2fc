/* watch.c - hxmesh-top beside a run (watch.h). */
#include "watch.h"
#include "base/beside.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { END_MS = 2000, LOOK_MS = 10 };

/* For exit(): the watch to end. */
static struct {
    struct watch *watch;
    pid_t owner; /* exit() of a forked child leaves it alone */
} open_watch;

/* ---- stderr ---- */

static void keep_stderr(struct watch *w)
{
    (void)fflush(stderr);
    w->said = memfd_create("hxmesh-said", MFD_CLOEXEC);
    w->stderr_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (w->said < 0 || w->stderr_before < 0 || dup2(w->said, STDERR_FILENO) < 0)
        hx_die(HX_EXIT_ENVIRONMENT, "--watch", "stderr cannot be kept: the machine refuses another descriptor");
}

static void give_stderr_back(const struct watch *w)
{
    char text[4096];
    (void)fflush(stderr);
    (void)dup2(w->stderr_before, STDERR_FILENO);
    (void)lseek(w->said, 0, SEEK_SET);
    for (ssize_t n = read(w->said, text, sizeof text); n > 0; n = read(w->said, text, sizeof text)) {
        if (write(STDERR_FILENO, text, (size_t)n) != n)
            break;
    }
    (void)close(w->said);
    (void)close(w->stderr_before);
}

/* ---- the child ---- */

/* stdout may be the report's, so the screen uses the terminal. */
static void take_terminal(void)
{
    int terminal = isatty(STDERR_FILENO) ? STDERR_FILENO : open("/dev/tty", O_RDWR | O_CLOEXEC);
    (void)dup2(terminal < 0 ? STDERR_FILENO : terminal, STDOUT_FILENO);
    if (terminal >= 0 && !isatty(STDIN_FILENO))
        (void)dup2(terminal, STDIN_FILENO);
}

static _Noreturn void become_top(const char *name)
{
    char own_name[160];
    (void)snprintf(own_name, sizeof own_name, "%s", name);
    char program[] = "top";
    char quiet[] = "--quiet";
    char end[] = "--";
    char *arguments[] = {program, quiet, end, own_name, NULL};
    take_terminal();
    beside_run(program, arguments);
    hx_complain("hxmesh-top", "is not beside hxmesh (`make` builds both)");
    _exit(HX_EXIT_ENVIRONMENT);
}

/* ---- the screen ---- */

static void gone(struct watch *w)
{
    w->pid = 0;
    open_watch.watch = NULL;
    give_stderr_back(w);
}

static void end_early(void)
{
    if (!open_watch.watch || open_watch.owner != getpid())
        return;
    (void)kill(open_watch.watch->pid, SIGTERM);
    watch_end(open_watch.watch);
}

void watch_start(struct watch *w, const char *name)
{
    static bool registered;
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        hx_die(HX_EXIT_ENVIRONMENT, "--watch", "cannot start hxmesh-top: out of processes");
    if (pid == 0)
        become_top(name);
    w->pid = (int)pid;
    keep_stderr(w);
    registered = registered || atexit(end_early) == 0;
    open_watch.watch = w;
    open_watch.owner = getpid();
}

bool watch_is_open(struct watch *w)
{
    /* ECHILD: another waitpid() reaped it. */
    if (w->pid && waitpid(w->pid, NULL, WNOHANG) != 0)
        gone(w);
    return w->pid != 0;
}

bool watch_ended(struct watch *w, int pid)
{
    if (!w->pid || w->pid != pid)
        return false;
    gone(w);
    return true;
}

void watch_end(struct watch *w)
{
    for (unsigned waited = 0; watch_is_open(w); waited += LOOK_MS) {
        if (waited >= END_MS) {
            (void)kill(w->pid, SIGKILL);
            (void)waitpid(w->pid, NULL, 0);
            gone(w);
            return;
        }
        (void)poll(NULL, 0, LOOK_MS);
    }
}
