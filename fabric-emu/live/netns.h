/* netns.h - Linux namespaces of hosts, made and entered without root.
 *
 *     of the fabric, once    user (the user is root inside), mount (an /etc/hosts that has the fabric's names)
 *     of each host           net (lo and hx0), uts (its name)
 *
 * One process holds them all (netns_holder.h). The fabric's are its own. A host's are open at descriptors NETNS_FIRST +
 * 2 * host (net) and the next one (uts): other processes find them in /proc of the holder.
 *
 * A process of a host may make further namespaces. Its user namespace is the fabric's or a descendant: netns_signal()
 * finds it there. Where user namespaces are refused, root works without them, and finds processes in the fabric's mount
 * namespace or in a host's net namespace. */
#ifndef NETNS_H
#define NETNS_H

#include "base/error.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    NETNS_USER = 14, /* descriptor of the fabric's user namespace, if it has one */
    NETNS_MOUNT,     /* of its mount namespace */
    NETNS_FIRST,     /* of the first host's */
    NETNS_OF_HOST = 2,
    NETNS_IP6S = 2
};
#define NETNS_INTERFACE "hx0"

/* ---- making ---- */

/* Moves this process into new namespaces of a fabric. The file `names` becomes /etc/hosts, and may be removed then. */
bool netns_make(const char *names, struct hx_problem *problem);

/* A host's name and interface. */
struct netns_host {
    uint32_t number;
    const char *name;
    uint32_t ip; /* host byte order, in a network of `prefix` bits */
    unsigned prefix, mtu;
    /* in networks of `prefix6` bits; unused if the machine has no IPv6 */
    struct in6_addr ip6[NETNS_IP6S];
    unsigned prefix6;
};

/* Moves this process into new namespaces of a host, makes its interface, and opens them at their descriptors. Returns
 * the interface's non-blocking descriptor for IP packets; -1 with *problem set. */
int netns_make_host(const struct netns_host *host, struct hx_problem *problem);

/* Sends a netlink request and reads the answer. Returns 0 or an errno; EPROTO: no valid answer. */
int netns_ask(int fd, const void *request, size_t bytes);

/* Sends a signal to all processes of `hosts` hosts but this one. Needs the hosts' descriptors. Returns processes
 * found. */
unsigned netns_signal(uint32_t hosts, int number);

/* ---- entering ---- */

/* Whether `netns_holder` holds namespaces of that host; a failed host has none. */
bool netns_has(pid_t netns_holder, uint32_t host);

/* Moves this process into a host's namespaces, from `netns_holder`. It keeps its working folder. */
bool netns_enter(pid_t netns_holder, uint32_t host, struct hx_problem *problem);

#endif
