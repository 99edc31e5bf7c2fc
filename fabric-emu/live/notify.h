/* notify.h - reports this program's state to a service manager: one datagram, as in sd_notify(3). */
#ifndef NOTIFY_H
#define NOTIFY_H

/* Sends `state`, as "READY=1", to the socket $NOTIFY_SOCKET: a path, or '@' and an abstract name. Does nothing if
 * unset. */
void notify(const char *state);

#endif
