/* signals.h - the signals that ask a program to end: from the user, another program, or a closed terminal.
 *
 * They are SIGINT, SIGTERM, SIGQUIT, and SIGHUP unless it is ignored: under nohup a program outlives its terminal. */
#ifndef HXMESH_BASE_SIGNALS_H
#define HXMESH_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the set of these signals. */
sigset_t hx_signals_ending(void);

/* Sets the handler of each. */
void hx_signals_handle(const struct sigaction *action);

/* Returns a non-blocking descriptor that is readable when one arrives; they must be blocked. Returns -1 and sets errno
 * on failure. */
int hx_signals_open(void);

/* Whether one of them is pending; they must be blocked. */
bool hx_signals_pending(void);

/* If these signals are blocked, each of them ends the process with HX_EXIT_INTERRUPTED from hx_signals_unblock() to
 * hx_signals_reblock(). For waits before there is anything to report. Nothing happens if they are not blocked. */
struct hx_signals_saved {
    bool blocked;
    struct sigaction action[NSIG];
};
void hx_signals_unblock(struct hx_signals_saved *saved);
void hx_signals_reblock(const struct hx_signals_saved *saved);

/* The first request to end asks for a report; a second one asks for an immediate end. Signals within a second are one
 * request: `timeout` sends one to the process and one to its group. */
enum hx_request { HX_REQUEST_FIRST, HX_REQUEST_SAME, HX_REQUEST_AGAIN };
struct hx_requests {
    uint64_t first_ns; /* time of the first; 0: none */
};
/* Returns what a signal asks for; now_ns is not 0. */
enum hx_request hx_signals_request(struct hx_requests *r, uint64_t now_ns);

#endif
