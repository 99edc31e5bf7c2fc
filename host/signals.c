/* signals.c - names the ending signals in one place (signals.h). */
#include "host/signals.h"

#include <stddef.h>
#include <sys/signalfd.h>

sigset_t hx_signals_ending(void)
{
    sigset_t set;
    struct sigaction hangup = {0};
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGQUIT);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        (void)sigaddset(&set, SIGHUP);
    return set;
}

void hx_signals_handle(const struct sigaction *action)
{
    sigset_t set = hx_signals_ending();
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&set, number) == 1)
            (void)sigaction(number, action, NULL);
    }
}

int hx_signals_open(void)
{
    sigset_t set = hx_signals_ending();
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}
