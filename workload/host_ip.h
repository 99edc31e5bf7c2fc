/* host_ip.h - the IP addresses of each host, where programs run on hosts: from its place in the fabric, and back.
 *
 *     10.D0.D1.1    where every host's address (d0, d1) has digits below 256: a3,5 is 10.3.5.1
 *     10.N/256.N%256.1    elsewhere, of host number N
 *
 *     fd68:786d:6573::D0:D1    of every host (d0, d1) in hexadecimal digits: a3,10 is fd68:786d:6573::3:a
 *     fe80::D0:D1              likewise, where a program asks for the interface alone
 *
 * All of a kind are one network of HOST_IP_PREFIX, or HOST_IP6_PREFIX, bits: whoever is in it is a neighbour. Numbers
 * of IPv4 are in the machine's byte order. */
#ifndef HOST_IP_H
#define HOST_IP_H

#include "topology/fabric.h"

#include <netinet/in.h>
#include <stdint.h>

enum { HOST_IP_PREFIX = 8, HOST_IP6_PREFIX = 64, HOST_IP_MOST_HOSTS = 65536 };

/* Networks of IPv6. */
enum host_ip6 { HOST_IP6_FABRIC, HOST_IP6_LINK, HOST_IP6S };

/* host: below g->hosts, which is at most HOST_IP_MOST_HOSTS. */
uint32_t host_ip(const struct hx_fabric *g, uint32_t host);

struct in6_addr host_ip6(const struct hx_fabric *g, uint32_t host, enum host_ip6 network);

/* The host with this address; HX_NOWHERE: none has it. */
uint32_t host_of_ip(const struct hx_fabric *g, uint32_t ip);
uint32_t host_of_ip6(const struct hx_fabric *g, const struct in6_addr *ip);

#endif
