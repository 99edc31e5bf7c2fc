/* interface.h - what wires and ethdevs ask and tell the kernel about a network interface. */
#ifndef INTERFACE_H
#define INTERFACE_H

#include <stdbool.h>

/* Whether the interface is up and has a carrier. */
bool interface_is_running(const char *name);

/* Its MTU, 0: there is no such interface. */
unsigned interface_mtu(const char *name);

/* 0 or -errno. */
int interface_set_mtu(const char *name, unsigned mtu);
int interface_set_up(const char *name);

/* 0, or -EMSGSIZE: its MTU (*mtu) is smaller than `least`; -ENETDOWN: it is not up. */
int interface_check(const char *name, unsigned least, unsigned *mtu);

#endif
