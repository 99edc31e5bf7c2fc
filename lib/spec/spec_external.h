/* spec_external.h - accelerators of a live fabric that run elsewhere, in a fabric file.
 *
 *     external:
 *       - at: [1, 1]                 gx, gy
 *         plane: 0                   its other planes are missing, unless they have entries
 *         node: elsewhere            or qemu: this program starts it, an image in QEMU (docs/bare-metal.md), without
 *                                    `ports`
 *         ports: {E: memif:/run/hx/e.sock, W: veth:hx-w, N: tap:hx-n}    a port that is not named has no cable
 *         harts: 1                   of an image in QEMU: number of cores (docs/bare-metal.md)
 *         wait: 10s                  how long it may be absent, at the start and later; at least 2s
 *         lose_credits: 0            a test fault: one credit frame in N is not sent to it; 0: none
 *         key: hx.key                file of the key that authenticates its cables (hxmesh/auth_tag.h); without it:
 *                                    none
 *
 * A cable is memif:SOCKET (this program listens), veth:INTERFACE (must exist) or tap:INTERFACE (is created). Cables of
 * an image in QEMU are made with it. */
#ifndef HXMESH_SPEC_SPEC_EXTERNAL_H
#define HXMESH_SPEC_SPEC_EXTERNAL_H

#include "hxmesh/auth_tag.h"
#include "hxmesh/geometry.h"

#include <stdbool.h>

enum hx_cable_kind { HX_CABLE_OUT, HX_CABLE_MEMIF, HX_CABLE_VETH, HX_CABLE_TAP, HX_CABLE_QEMU, HX_CABLES };
extern const char *const hx_cable_words[HX_CABLES]; /* "memif" */

enum { HX_CABLE_TARGET_BYTES = 108, HX_CABLE_PORTS = HX_LOCAL /* E W N S */ };

struct hx_external_port {
    enum hx_cable_kind cable;
    char target[HX_CABLE_TARGET_BYTES]; /* socket, interface, or for QEMU the port's name */
};

enum hx_external_node { HX_NODE_ELSEWHERE, HX_NODE_QEMU, HX_NODES_OUTSIDE };
extern const char *const hx_external_nodes[HX_NODES_OUTSIDE + 1]; /* "elsewhere"; ends with NULL */

struct hx_external {
    uint16_t addr_hi, addr_lo; /* its coordinate (hx_coordinate_of) */
    unsigned plane;
    enum hx_external_node node;
    struct hx_external_port port[HX_CABLE_PORTS];
    unsigned harts; /* of an image in QEMU */
    uint64_t wait_ns;
    uint64_t lose_credits; /* 0: none */
    bool authenticated;    /* its cables have a key */
    struct hx_auth_key key;
};

#endif
