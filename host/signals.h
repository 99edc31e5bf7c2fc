/* signals.h - the signals that ask a program to end: from the user, another program, the terminal that went away.
 *
 * SIGINT, SIGTERM, SIGQUIT, and SIGHUP unless it is ignored: nohup wants a program to outlive its terminal. */
#ifndef HXMESH_HOST_SIGNALS_H
#define HXMESH_HOST_SIGNALS_H

#include <signal.h>

/* They, as they are now. */
sigset_t hx_signals_ending(void);

/* Has each of them handled so. */
void hx_signals_handle(const struct sigaction *action);

/* A descriptor that can be read, without waiting, once one of them has come; they have to be blocked. -1 and errno: there
 * is none. */
int hx_signals_open(void);

#endif
