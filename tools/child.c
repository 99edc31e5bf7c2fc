/* child.c - runs programs until they exit (tools/child.h). */
#include "tools/child.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/signals.h"

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
#include <unistd.h>

enum { READ_BYTES = 1 << 16 };
static const char error_prefix[] = "hxmesh: error: ";

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t running[CHILD_MOST]; /* processes to which signals are forwarded; 0: none */

/* ---- signals ---- */

static void pass_on(int signal_number)
{
    int saved = errno;
    interrupted = 1;
    for (unsigned i = 0; i < CHILD_MOST; i++)
        if (running[i])
            (void)kill((pid_t)running[i], signal_number);
    errno = saved;
}

/* Replaces a process in `running`; 0 is a free entry. */
static void note_running(pid_t before, pid_t after)
{
    for (unsigned i = 0; i < CHILD_MOST; i++) {
        if (running[i] == before) {
            running[i] = after;
            return;
        }
    }
    hx_die(HX_EXIT_ENVIRONMENT, NULL, "more than %d programs side by side", CHILD_MOST);
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

/* ---- output ---- */

static void append(struct child *c, const char *data, size_t bytes)
{
    struct child_result *r = &c->result;
    if (r->bytes + bytes + 1 > c->room) {
        c->room = 2 * (r->bytes + bytes + 1);
        char *larger = realloc(r->output, c->room);
        if (!larger)
            hx_die(HX_EXIT_ENVIRONMENT, NULL, "out of memory for a report of %zu bytes", c->room);
        r->output = larger;
    }
    memcpy(r->output + r->bytes, data, bytes);
    r->bytes += bytes;
    r->output[r->bytes] = '\0';
}

/* Takes a line of base/progress.h as it is written without a terminal: "LABEL: PERCENT %". false: it is another
 * line. */
static bool is_progress(struct child *c)
{
    const char *colon = c->reads_progress ? strstr(c->line, ": ") : NULL;
    char *end = NULL;
    double percent = colon ? strtod(colon + 2, &end) : 0;
    if (!colon || strncmp(end, " %", 2) != 0 || percent < 0 || percent > 100)
        return false;
    if (strncmp(c->line, "run", 3) == 0)
        c->progress = percent / 100;
    return true;
}

static void end_line(struct child *c)
{
    c->line[c->used] = '\0';
    c->used = 0;
    size_t prefix = sizeof error_prefix - 1;
    if (strncmp(c->line, error_prefix, prefix) == 0)
        (void)snprintf(c->result.error, CHILD_ERROR, "%.*s", CHILD_ERROR - 1, c->line + prefix);
    else if (c->line[0] && !is_progress(c))
        fprintf(stderr, "%s\n", c->line);
}

static void note_error(struct child *c, const char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (data[i] == '\n')
            end_line(c);
        else if (c->used + 1 < sizeof c->line)
            c->line[c->used++] = data[i];
    }
}

/* Reads once. false: the writer has closed the pipe. */
static bool receive(int from, char *data, size_t *bytes)
{
    ssize_t n = read(from, data, READ_BYTES);
    *bytes = n > 0 ? (size_t)n : 0;
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Reads from one of the child's pipes; closes it at its end. */
static void read_pipe(struct child *c, int *pipe_end)
{
    static char data[READ_BYTES];
    size_t bytes;
    bool open = receive(*pipe_end, data, &bytes);
    if (pipe_end == &c->output)
        append(c, data, bytes);
    else
        note_error(c, data, bytes);
    if (open)
        return;
    (void)close(*pipe_end);
    *pipe_end = -1;
}

/* ---- process ---- */

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

void child_start(struct child *c, char *const *argv)
{
    int output[2];
    int errors[2];
    sigset_t before;
    sigset_t blocked = hx_signals_ending();
    (void)fflush(NULL);
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "there can be no pipe: %s", strerror(errno));
    *c = (struct child){.begun = hx_monotonic_seconds(), .output = output[0], .errors = errors[0]};
    append(c, "", 0);
    (void)sigprocmask(SIG_BLOCK, &blocked, &before);
    c->pid = fork();
    if (c->pid < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "there can be no process: %s", strerror(errno));
    if (c->pid == 0)
        become(argv, output[1], errors[1], &before);
    note_running(0, c->pid);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)close(output[1]);
    (void)close(errors[1]);
}

static void finish(struct child *c)
{
    end_line(c);
    /* An unreaped process keeps its number, so pass_on() never signals another one. */
    siginfo_t info;
    while (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
    note_running(c->pid, 0);
    int status = 0;
    (void)waitpid(c->pid, &status, 0);
    c->result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    c->result.seconds = hx_monotonic_seconds() - c->begun;
    c->pid = 0;
}

unsigned child_wait(struct child *children, unsigned count, int milliseconds)
{
    struct pollfd fds[2 * CHILD_MOST];
    double end = hx_monotonic_seconds() + milliseconds / 1e3;
    for (;;) {
        for (unsigned i = 0; i < count; i++) {
            struct child *c = &children[i];
            if (c->pid && c->output < 0 && c->errors < 0) {
                finish(c);
                return i;
            }
            fds[2 * i] = (struct pollfd){.fd = c->pid ? c->output : -1, .events = POLLIN};
            fds[2 * i + 1] = (struct pollfd){.fd = c->pid ? c->errors : -1, .events = POLLIN};
        }
        if (milliseconds >= 0 && hx_monotonic_seconds() >= end)
            return count;
        if (poll(fds, 2 * count, milliseconds) < 0)
            continue; /* a signal, already forwarded */
        for (unsigned i = 0; i < 2 * count; i++)
            if (fds[i].fd >= 0 && fds[i].revents)
                read_pipe(&children[i / 2], i % 2 ? &children[i / 2].errors : &children[i / 2].output);
    }
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
