/* host_ip.h - IP addresses of hosts, for programs on them: from the host's address in the fabric, and back.
 *
 *     10.HI.LO.1                 if all addresses (HI, LO) have numbers below 256: a3,5 is 10.3.5.1
 *     10.N/256%256.N%256.L       otherwise, for host number N; L: 1 + N/65536
 *
 *     fd68:786d:6573::HI:LO      each host, in hexadecimal: a3,10 is fd68:786d:6573::3:a
 *     fe80::HI:LO                the same, as its link-local address
 *
 * Each kind is one network with a prefix of HOST_IP_PREFIX or HOST_IP6_PREFIX bits: all its hosts are neighbours. IPv4
 * addresses are numbers in the machine's byte order. */
#ifndef HOST_IP_H
#define HOST_IP_H

#include "topology/fabric.h"

#include <netinet/in.h>
#include <stdint.h>

enum { HOST_IP_PREFIX = 8, HOST_IP6_PREFIX = 64 };

enum host_ip6 { HOST_IP6_FABRIC, HOST_IP6_LINK, HOST_IP6S };

/* The address of a host. host: below g->hosts. */
uint32_t host_ip(const struct hx_fabric *g, uint32_t host);

struct in6_addr host_ip6(const struct hx_fabric *g, uint32_t host, enum host_ip6 network);

/* The host with this address; HX_NOWHERE: none. */
uint32_t host_of_ip(const struct hx_fabric *g, uint32_t ip);
uint32_t host_of_ip6(const struct hx_fabric *g, const struct in6_addr *ip);

#endif
