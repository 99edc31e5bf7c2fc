/* signals.c - handles the signals that end a program (signals.h). */
#include "base/signals.h"
#include "base/error.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

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

bool hx_signals_pending(void)
{
    sigset_t pending;
    sigset_t ending = hx_signals_ending();
    bool any = false;
    (void)sigpending(&pending);
    for (int number = 1; number < NSIG; number++)
        any = any || (sigismember(&ending, number) == 1 && sigismember(&pending, number) == 1);
    return any;
}

static void end_at_once(int number)
{
    (void)number;
    _exit(HX_EXIT_INTERRUPTED);
}

void hx_signals_unblock(struct hx_signals_saved *saved)
{
    const struct sigaction end = {.sa_handler = end_at_once};
    sigset_t ending = hx_signals_ending();
    sigset_t mask;
    (void)sigprocmask(SIG_BLOCK, NULL, &mask);
    saved->blocked = sigismember(&mask, SIGTERM) == 1;
    if (!saved->blocked)
        return;
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, NULL, &saved->action[number]);
    hx_signals_handle(&end);
    (void)sigprocmask(SIG_UNBLOCK, &ending, NULL);
}

void hx_signals_reblock(const struct hx_signals_saved *saved)
{
    sigset_t ending = hx_signals_ending();
    if (!saved->blocked)
        return;
    (void)sigprocmask(SIG_BLOCK, &ending, NULL);
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&ending, number) == 1)
            (void)sigaction(number, &saved->action[number], NULL);
    }
}

enum hx_request hx_signals_request(struct hx_requests *r, uint64_t now_ns)
{
    static const uint64_t one_request_ns = 1000000000;
    if (r->first_ns == 0) {
        r->first_ns = now_ns;
        return HX_REQUEST_FIRST;
    }
    return now_ns - r->first_ns <= one_request_ns ? HX_REQUEST_SAME : HX_REQUEST_AGAIN;
}
