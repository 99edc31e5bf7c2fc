/* notify.h - tells a service manager how far this program is: one datagram, as sd_notify(3) has it. */
#ifndef NOTIFY_H
#define NOTIFY_H

/* "READY=1", say, to the socket that $NOTIFY_SOCKET names: a path, or an abstract name behind '@'. Nothing where it
 * names none. */
void notify(const char *state);

#endif
