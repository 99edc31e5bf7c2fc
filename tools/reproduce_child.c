/* reproduce_child.c - runs one program to its end (tools/reproduce_child.h). */
#include "tools/reproduce_child.h"
#include "host/error.h"
#include "host/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16 };
static const char error_prefix[] = "hxmesh: error: ";

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t running; /* process that signals are passed on to; 0: none */

/* ---- signals ---- */

static void pass_on(int signal_number)
{
    int saved = errno;
    interrupted = 1;
    if (running)
        (void)kill((pid_t)running, signal_number);
    errno = saved;
}

void child_catch_signals(void)
{
    const struct sigaction action = {.sa_handler = pass_on, .sa_mask = hx_signals_ending()};
    hx_signals_handle(&action);
}

bool child_interrupted(void)
{
    return interrupted;
}

/* ---- its output ---- */

static void append(struct child_result *r, size_t *room, const char *data, size_t bytes)
{
    if (r->bytes + bytes + 1 > *room) {
        *room = 2 * (r->bytes + bytes + 1);
        char *larger = realloc(r->output, *room);
        if (!larger)
            hx_die(HX_EXIT_ENVIRONMENT, NULL, "out of memory for a report of %zu bytes", *room);
        r->output = larger;
    }
    memcpy(r->output + r->bytes, data, bytes);
    r->bytes += bytes;
    r->output[r->bytes] = '\0';
}

/* Lines of its standard error: `line` holds the beginning of one. */
struct lines {
    char line[sizeof((struct child_result *)0)->error + sizeof error_prefix];
    size_t used;
};

static void end_line(struct child_result *r, struct lines *l)
{
    l->line[l->used] = '\0';
    l->used = 0;
    size_t prefix = sizeof error_prefix - 1;
    if (strncmp(l->line, error_prefix, prefix) == 0)
        (void)snprintf(r->error, sizeof r->error, "%.*s", (int)sizeof r->error - 1, l->line + prefix);
    else if (l->line[0])
        fprintf(stderr, "%s\n", l->line);
}

static void note_error(struct child_result *r, struct lines *l, const char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (data[i] == '\n')
            end_line(r, l);
        else if (l->used + 1 < sizeof l->line)
            l->line[l->used++] = data[i];
    }
}

/* Reads what is there; false: the other side has closed. */
static bool receive(int from, char *data, size_t *bytes)
{
    ssize_t n = read(from, data, READ_BYTES);
    *bytes = n > 0 ? (size_t)n : 0;
    return n > 0 || (n < 0 && errno == EINTR);
}

static void read_both(struct child_result *r, int output, int errors)
{
    char *data = hx_allocate(1, READ_BYTES);
    size_t room = 0;
    struct lines lines = {.used = 0};
    struct pollfd fds[2] = {{.fd = output, .events = POLLIN}, {.fd = errors, .events = POLLIN}};
    append(r, &room, "", 0);
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (poll(fds, 2, -1) < 0)
            continue; /* a signal, which was passed on */
        for (unsigned i = 0; i < 2; i++) {
            size_t bytes;
            if (fds[i].fd < 0 || !fds[i].revents)
                continue;
            if (!receive(fds[i].fd, data, &bytes))
                fds[i].fd = -1;
            if (i == 0)
                append(r, &room, data, bytes);
            else
                note_error(r, &lines, data, bytes);
        }
    }
    end_line(r, &lines);
    free(data);
}

/* ---- the process ---- */

_Noreturn static void become(char *const *argv, int output, int errors, const sigset_t *mask)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    const struct sigaction as_usual = {.sa_handler = SIG_DFL};
    hx_signals_handle(&as_usual);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        (void)dup2(nothing, STDIN_FILENO);
    if (dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
        (void)execv(argv[0], argv);
    dprintf(STDERR_FILENO, "%s%s: cannot be run: %s\n", error_prefix, argv[0], strerror(errno));
    _exit(HX_EXIT_ENVIRONMENT);
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static pid_t start(char *const *argv, int output[2], int errors[2])
{
    sigset_t before;
    sigset_t blocked = hx_signals_ending();
    (void)fflush(NULL);
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "there can be no pipe: %s", strerror(errno));
    (void)sigprocmask(SIG_BLOCK, &blocked, &before);
    pid_t pid = fork();
    if (pid < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "there can be no process: %s", strerror(errno));
    if (pid == 0)
        become(argv, output[1], errors[1], &before);
    running = pid;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)close(output[1]);
    (void)close(errors[1]);
    return pid;
}

struct child_result child_run(char *const *argv)
{
    struct child_result r = {.exit_code = 0};
    int output[2];
    int errors[2];
    double begin = now();
    pid_t pid = start(argv, output, errors);
    read_both(&r, output[0], errors[0]);
    (void)close(output[0]);
    (void)close(errors[0]);
    /* Until it is waited for, its number is nobody else's. */
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
    running = 0;
    int status = 0;
    (void)waitpid(pid, &status, 0);
    r.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    r.seconds = now() - begin;
    return r;
}

void child_beside(const char *name, char *path, size_t bytes)
{
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        hx_die(HX_EXIT_ENVIRONMENT, "/proc/self/exe", "cannot be read: %s", strerror(errno));
    int needed = snprintf(path, bytes, "%s/%s", dirname(self), name);
    if (needed < 0 || (size_t)needed >= bytes)
        hx_die(HX_EXIT_ENVIRONMENT, path, "the path is too long");
    if (access(path, X_OK) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be run: %s", strerror(errno));
}
