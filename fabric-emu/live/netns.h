/* netns.h - what makes a process one of a host: namespaces of Linux, made and entered without root.
 *
 *     of the fabric, once    user (the user is root inside), mount (an /etc/hosts that has the fabric's names)
 *     of each host           net (lo and hx0), uts (its name)
 *
 * One process holds them all (netns_holder.h): the fabric's are its own, a host's are open at descriptors that follow from
 * the host's number, NETNS_FIRST + 2 * host (net) and one more (uts), so that who has its process number finds them in
 * /proc.
 *
 * A process of a host may make namespaces of its own. Its user namespace is the fabric's even so, or descends from it:
 * no process leaves that way. So who ends a host's processes finds all. Where user namespaces are refused root does
 * without, and finds those that are in the fabric's mount namespace or in a host's net. */
#ifndef NETNS_H
#define NETNS_H

#include "base/error.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    NETNS_USER = 14, /* descriptor of the fabric's user namespace, if it has one of its own, */
    NETNS_MOUNT,     /* and of its mount namespace */
    NETNS_FIRST,     /* of hosts', as above */
    NETNS_OF_HOST = 2,
    NETNS_IP6S = 2
};
#define NETNS_INTERFACE "hx0"

/* ---- who makes them ---- */

/* Moves this process into namespaces of a fabric. `names` is what /etc/hosts will be: the file may be removed then. */
bool netns_make(const char *names, struct hx_problem *problem);

/* What a host is called, and has. */
struct netns_host {
    uint32_t number;
    const char *name;
    uint32_t ip; /* in the machine's byte order, in a network of `prefix` bits */
    unsigned prefix, mtu;
    /* each in a network of `prefix6` bits; it has none where the machine has no IPv6 */
    struct in6_addr ip6[NETNS_IP6S];
    unsigned prefix6;
};

/* Moves this process into new namespaces of a host, makes its interface, and opens them at their descriptors. Returns
 * the interface's descriptor, non-blocking: packets of IP are read and written there; -1 and *problem. */
int netns_make_host(const struct netns_host *host, struct hx_problem *problem);

/* Asks the kernel by netlink, and hears whether it has done so. Returns 0, or an error: EPROTO if the answer is
 * none. */
int netns_ask(int fd, const void *request, size_t bytes);

/* Sends a signal to all processes of `hosts` hosts but this one, whose descriptors are open here. Returns how many it
 * found. */
unsigned netns_signal(uint32_t hosts, int number);

/* ---- who enters them ---- */

/* Whether process `netns_holder` holds any of that host: a host that has failed has none. */
bool netns_has(pid_t netns_holder, uint32_t host);

/* Moves this process into those of a host that process `netns_holder` holds; it stays in its folder. */
bool netns_enter(pid_t netns_holder, uint32_t host, struct hx_problem *problem);

#endif
