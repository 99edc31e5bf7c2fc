/* routing.h - routing policies: minimal paths only, or detours too (include/hxmesh/detour.h).
 *
 *     minimal                     minimal paths
 *     valiant                     each packet over a random router
 *     ugal                        each packet takes the cheapest of the minimal path and a few detours (n=4)
 *     ugal:n=2,c=1.5,t=0.1        n random detours, each at c times its queue; minimal while that queue is below
 *                                 the share t of a buffer
 *     ugal-threshold              ugal:t=0.1
 *
 * The policy determines the VCs of a fabric, so it is a key of the spec string: "mlfm h=4 routing=valiant". The option
 * --routing and the key of a file write it there. */
#ifndef HXMESH_TOPOLOGY_ROUTING_H
#define HXMESH_TOPOLOGY_ROUTING_H

#include "base/error.h"
#include "hxmesh/detour.h"

#include <stdbool.h>

struct hx_routing {
    enum hx_policy policy;
    unsigned candidates; /* n: 1 .. HX_MOST_CANDIDATES */
    unsigned cost;       /* c, in HX_DETOUR_ONE; 0: not given */
    unsigned threshold;  /* t, in HX_DETOUR_ONE */
};

enum { HX_ROUTING_BYTES = 64 };

/* Parses a routing, ignoring case. Returns NULL or an error message, as base/value.h does. */
const char *hx_routing_parse(const char *text, struct hx_routing *routing, char *why);
/* Prints a routing so that it parses again, without default values; `text` has HX_ROUTING_BYTES bytes. Returns text. */
const char *hx_routing_write(char *text, const struct hx_routing *routing);

struct hx_fabric;

/* Sets the routing of a new fabric, with the VCs and the VC rule that it needs. Refuses detours that the topology does
 * not have. */
bool hx_fabric_set_routing(struct hx_fabric *f, const struct hx_routing *routing, struct hx_problem *problem);

#endif
