/* host_ip.h - the IPv4 address of each host, where programs run on hosts: from its place in the fabric, and back.
 *
 *     10.D0.D1.1    where every host's address (d0, d1) has digits below 256: a3,5 is 10.3.5.1
 *     10.N/256.N%256.1    elsewhere, of host number N
 *
 * All of them are one network of HOST_IP_PREFIX bits: whoever is in it is a neighbour. Numbers are in the machine's byte
 * order. */
#ifndef HOST_IP_H
#define HOST_IP_H

#include "host/topology/fabric.h"

#include <stdint.h>

enum { HOST_IP_PREFIX = 8, HOST_IP_MOST_HOSTS = 65536 };

/* host: below g->hosts, which is at most HOST_IP_MOST_HOSTS. */
uint32_t host_ip(const struct hx_fabric *g, uint32_t host);

/* The host with this address; HX_NOWHERE: none has it. */
uint32_t host_of_ip(const struct hx_fabric *g, uint32_t ip);

#endif
