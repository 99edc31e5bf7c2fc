/* ports.h - the captured ports of a fabric, and their numbers.
 *
 * Ports of all planes are numbered by plane, then by node (hal/tap_ring.h). Chosen ports become interfaces 0, 1, ... in
 * that order. A pattern is a shell pattern ("a5,3/p0/?", "row*"); its star also matches slashes. A text may hold
 * several patterns, separated by blanks. */
#ifndef CAPTURE_PORTS_H
#define CAPTURE_PORTS_H

#include "base/error.h"
#include "base/options/options.h"
#include "topology/name.h"

struct capture_port {
    uint32_t node;
    uint16_t port;
    uint8_t plane;
};

struct capture_ports {
    const struct hx_fabric *g;
    uint32_t ports;            /* of all planes */
    uint32_t *interface;       /* [ports]: number of the interface + 1; 0: not chosen */
    uint32_t interfaces;       /* chosen */
    struct capture_port *port; /* [interfaces] */
};

/* Chooses ports that match any pattern (all ports, without a pattern) and have a link or an endpoint. Returns false if
 * a pattern matches none. */
bool capture_ports_choose(struct capture_ports *p, const struct hx_fabric *g, const struct hx_option_list *patterns,
                          const char *option, struct hx_problem *problem);
/* Drops a chosen port in all planes: no frame can be seen there. */
void capture_ports_leave_out(struct capture_ports *p, uint32_t node, unsigned port);
void capture_ports_free(struct capture_ports *p);

const char *capture_port_name(char name[HX_NAME_BYTES], const struct capture_ports *p, uint32_t interface);

#endif
