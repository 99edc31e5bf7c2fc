/* healthy.c - the same run without its faults (healthy.h). */
#include "healthy.h"
#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 100 };

void healthy_fork(struct healthy_run *h)
{
    int begin[2];
    int told[2];
    const pid_t parent = getpid();
    (void)fflush(NULL);
    if (pipe(begin) != 0 || pipe(told) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "there can be no pipe: %s", strerror(errno));
    const pid_t pid = fork();
    if (pid < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "there can be no process: %s", strerror(errno));
    const bool is_child = pid == 0;
    if (is_child) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(HX_EXIT_ENVIRONMENT);
    }
    *h = (struct healthy_run){
        .is_child = is_child, .pid = pid, .begin = begin[is_child ? 0 : 1], .told = told[is_child ? 1 : 0]};
    (void)close(begin[is_child ? 1 : 0]);
    (void)close(told[is_child ? 0 : 1]);
}

void healthy_begin(struct healthy_run *h)
{
    (void)!write(h->begin, "", 1);
    (void)close(h->begin);
}

void healthy_await(const struct healthy_run *h)
{
    char one;
    if (read(h->begin, &one, 1) != 1)
        _exit(HX_EXIT_FAILED); /* the parent said why */
}

void healthy_tell(const struct healthy_run *h, const struct healthy_figures *figures)
{
    (void)!write(h->told, figures, sizeof *figures);
}

/* A signal that waits for this process and would end it; 0: none. */
static int waiting_signal(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t waiting;
    (void)sigpending(&waiting);
    for (unsigned i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigismember(&waiting, ending[i]) == 1)
            return ending[i];
    return 0;
}

int healthy_wait(struct healthy_run *h)
{
    struct pollfd from = {.fd = h->told, .events = POLLIN};
    bool passed_on = false;
    int status = 0;
    while (poll(&from, 1, TICK_MS) == 0) {
        const int signal_number = passed_on ? 0 : waiting_signal();
        if (signal_number)
            passed_on = kill(h->pid, signal_number) == 0;
    }
    const bool told = read(h->told, &h->figures, sizeof h->figures) == (ssize_t)sizeof h->figures;
    (void)close(h->told);
    (void)waitpid(h->pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) != HX_EXIT_DONE)
        return WEXITSTATUS(status);
    if (!told || !WIFEXITED(status))
        hx_die(HX_EXIT_ENVIRONMENT, "--compare-healthy", "the run without faults ended without a report");
    return HX_EXIT_DONE;
}
