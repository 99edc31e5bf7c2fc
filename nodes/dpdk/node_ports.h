/* node_ports.h - how a node opens its ports. Control opens the device of a port again, when it has returned. */
#ifndef DPDK_NODE_NODE_PORTS_H
#define DPDK_NODE_NODE_PORTS_H

#include "node.h"

/* Zeroed memory of EAL, on a NUMA node if that has some. Exits with an error. */
void *node_memory(size_t bytes, int numa);

/* Exits with an error if DPDK was built for fewer devices. */
void node_check_device_count(const struct node_config *c);

/* Finds the NUMA node of each port, after its core is known. Warns of a core on another one. */
void node_find_numa(struct node *n);

/* Opens a port, after the buffers. Exits with an error, or in a trial notes the port as refused. */
void node_open_port(struct node *n, unsigned port);
void node_close_path_to_endpoint(struct node *n);

/* Opens the device of a port. Returns DPDK_NO_DEVICE with a problem. */
uint16_t node_open_device(struct node *n, unsigned port, struct hx_problem *problem);

/* Exits with the error; in a trial prints it and notes the port. */
void node_refuse(struct node *n, unsigned port, const struct hx_problem *problem);

/* The only job accepted at a port (hal/dpdk/port.h). */
struct dpdk_job node_job_of(const struct node_config *c, unsigned port);

/* True for the port with the built-in endpoint. */
bool node_is_endpoint(const struct node_config *c, unsigned port);

/* Returns "port E", for messages. */
enum { NODE_PORT_TEXT = HX_NAME_BYTES + 8 };
const char *node_name_port(char text[NODE_PORT_TEXT], const struct node_config *c, unsigned port);

#endif
