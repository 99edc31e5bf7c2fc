/* network.h - the load that messages between servers put on links, and how long that takes.
 *
 * Of a fabric: each message is divided evenly over the next hops of the tables at every step, as adaptive routing does
 * for many packets. Of an ideal switch: a server's interfaces are its only links.
 *
 * A load is an array of bytes, one for each directed link: for a fabric, those of one plane by the number of the port
 * that a link leaves by, so some entries are no links. Functions on a network that is not const keep what they find in
 * it: not for threads, except where servers_warm() says so. */
#ifndef HXMESH_TOOLS_CIRCUITS_NETWORK_H
#define HXMESH_TOOLS_CIRCUITS_NETWORK_H

#include "tools/circuits/circuits.h"
#include "topology/fabric.h"

struct network_of_servers;

/* Servers are the fabric's hosts by rank. Takes the fabric over: *f is empty afterwards. gbps: of a link without an own
 * rate; latency_ns: of a link without an own latency. planes: copies of the fabric, which share all traffic evenly. */
struct network_of_servers *servers_network(struct hx_fabric *f, double gbps, double latency_ns, unsigned planes);
/* Of circuits as a graph of hosts that forward. Returns NULL and sets *problem if the graph is refused. */
struct network_of_servers *circuits_network(const struct circuits *c, const struct circuits_links *l,
                                            struct hx_problem *problem);
/* A switch without limits; a server sends and receives `gbps`, by one link each. */
struct network_of_servers *servers_ideal(uint32_t servers, double gbps, double latency_ns);
/* NULL is allowed. */
void servers_free(struct network_of_servers *n);

uint32_t servers_count(const struct network_of_servers *n);
/* The length of a load. */
uint32_t servers_links(const struct network_of_servers *n);
/* Rate of a link, bytes a second; 0: no link, or one between a host and its own router. */
double servers_rate(const struct network_of_servers *n, uint32_t link);
/* Sets the ends of a link: servers by number, switches by servers_count() and up. Returns false if its rate is 0. */
bool servers_ends(const struct network_of_servers *n, uint32_t link, uint32_t *from, uint32_t *to);

/* Adds the load of a message to load[links], bytes. */
void servers_add(struct network_of_servers *n, double *load, uint32_t from, uint32_t to, double bytes);

/* The load of one byte from a server to each other one, from each other one to it, and from each to each. Computed at
 * the first call and kept. */
const double *servers_scatter(struct network_of_servers *n, uint32_t from);
const double *servers_gather(struct network_of_servers *n, uint32_t to);
const double *servers_all(struct network_of_servers *n);
/* The load of one byte from each server i to server i + stride, modulo their number, and of one back. Kept too.
 * 1 <= stride < servers. */
const double *servers_ring(struct network_of_servers *n, uint32_t stride);

/* Seconds of latency of a pair's longest path: of its links, and of the servers that forward. The greatest from a
 * server, and the mean over the pairs of servers_ring(). Kept. */
double servers_latency(struct network_of_servers *n, uint32_t from, uint32_t to);
double servers_farthest(struct network_of_servers *n, uint32_t server);
double servers_step(struct network_of_servers *n, uint32_t stride);

/* Computes all that is kept, rings of these strides alone. Threads may ask for that at once afterwards. */
void servers_warm(struct network_of_servers *n, const uint32_t *stride, unsigned strides);

/* Seconds until the fullest link has carried its load, or the busiest server has forwarded what it forwards. */
double servers_seconds(const struct network_of_servers *n, const double *load);
/* Bytes of a load on links that leave a server: what servers send and forward. */
double servers_carried(const struct network_of_servers *n, const double *load);

#endif
