/* config.h - the configuration of an image: its place in the fabric, and its traffic.
 *
 * A text of lines, each a word and its numbers (hal/riscv-virt: board_text()):
 *
 *     fabric 2 2 2 2 1 64 1     a, b, x, y, planes, radix, taper (hxmesh/geometry.h)
 *     vcs 4                     of the fabric, 3 or 4 (with the escape VC); optional: 3
 *     blocked 3                 boards; optional
 *     at 1 1 0                  gx, gy, plane
 *     credits 128               blocks a VC that it grants
 *     job 0
 *     random 81 47 12           epoch, key, seed of the cables' nonces; new for each start
 *     traffic 1 1 262144 60     seed; 1: check payload; bytes of a message; messages in all
 *     rate 0                    bytes a microsecond, maximum; 0: no limit
 *     to 1 2 3                  destination ranks, in turn; none: it sends nothing
 *     wait 1000 250 4000 16 40000   ms: an endpoint's timeout_ns, least_ns, most_ns; its retries; ms: its unreachable_ns
 *
 * The emulator writes the text (fabric-emu/live/machine.c), so an error in it ends in a panic. */
#ifndef BARE_NODE_CONFIG_H
#define BARE_NODE_CONFIG_H

#include "hxmesh/endpoint.h"

struct config {
    struct hx_geometry g;
    uint32_t rank;
    uint16_t gx, gy;
    uint8_t plane;
    uint8_t vcs;
    uint8_t *blocked; /* bit by board */
    uint32_t credits;
    uint64_t random; /* state */
    struct hx_endpoint_config endpoint;
    uint64_t seed, message, messages, rate;
    bool verify;
    const uint32_t *to; /* [targets] */
    uint32_t targets;
};

/* Reads `text`, which ends with a zero; panics on an error. */
void config_read(struct config *c, const char *text);

#endif
