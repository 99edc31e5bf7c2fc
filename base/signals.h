/* signals.h - the signals that ask a program to end: from the user, another program, the terminal that went away.
 *
 * SIGINT, SIGTERM, SIGQUIT, and SIGHUP unless it is ignored: nohup wants a program to outlive its terminal. */
#ifndef HXMESH_BASE_SIGNALS_H
#define HXMESH_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* They, as they are now. */
sigset_t hx_signals_ending(void);

/* Has each of them handled so. */
void hx_signals_handle(const struct sigaction *action);

/* A descriptor that can be read, without waiting, once one of them has come; they have to be blocked. -1 and errno:
 * there is none. */
int hx_signals_open(void);

/* Whether one of them has come and waits to be taken; they have to be blocked. */
bool hx_signals_wait(void);

/* Where they are blocked, each of them ends the process at once, with HX_EXIT_INTERRUPTED, until they are held back
 * again: for what may wait for ever before there is anything to report. */
struct hx_signals_held {
    bool blocked;
    struct sigaction action[NSIG];
};
void hx_signals_let(struct hx_signals_held *held);
void hx_signals_hold(const struct hx_signals_held *held);

/* Who asks for an end wants a report first; who asks again wants it at once. Signals within a second of the first are
 * one request: `timeout` sends one to the process, and one to its group. */
enum hx_request { HX_REQUEST_FIRST, HX_REQUEST_SAME, HX_REQUEST_AGAIN };
struct hx_requests {
    uint64_t first_ns; /* when the first came; 0: none has */
};
/* What a signal that came now asks for; now_ns is not 0. */
enum hx_request hx_signals_request(struct hx_requests *r, uint64_t now_ns);

#endif
