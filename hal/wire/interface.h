/* interface.h - reads and sets the state of network interfaces, for wires and ethdevs. */
#ifndef INTERFACE_H
#define INTERFACE_H

#include <stdbool.h>

/* Returns true if the interface is up and has a carrier. */
bool interface_is_running(const char *name);

/* Returns its MTU, 0: no such interface. */
unsigned interface_mtu(const char *name);

/* Return 0 or -errno. */
int interface_set_mtu(const char *name, unsigned mtu);
int interface_set_up(const char *name);

/* Checks an interface. Returns 0; -EMSGSIZE: its MTU (*mtu) is below `least`; -ENETDOWN: it is down. */
int interface_check(const char *name, unsigned least, unsigned *mtu);

#endif
