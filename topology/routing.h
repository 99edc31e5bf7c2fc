/* routing.h - which ways packets take through a fabric: straight ones, or detours too (include/hxmesh/detour.h).
 *
 *     minimal                     the fabric's own ways, as ever
 *     valiant                     each packet over a router that is drawn
 *     ugal                        each packet the cheapest of the straight way and a few detours (n=4)
 *     ugal:n=2,c=1.5,t=0.1        of n detours, each at c times what its queue is; straight while that queue is below
 *                                 the share t of a buffer
 *     ugal-threshold              ugal:t=0.1
 *
 * It is part of what a fabric is, for its VCs depend on it, and so a key of its spec string: "mlfm h=4
 * routing=valiant". The option --routing and the key of a file write it there. */
#ifndef HXMESH_TOPOLOGY_ROUTING_H
#define HXMESH_TOPOLOGY_ROUTING_H

#include "base/error.h"
#include "hxmesh/detour.h"

#include <stdbool.h>

struct hx_routing {
    enum hx_policy policy;
    unsigned candidates; /* n: 1 .. HX_MOST_CANDIDATES */
    unsigned cost;       /* c, in HX_DETOUR_ONE; 0: not said */
    unsigned threshold;  /* t, likewise */
};

enum { HX_ROUTING_BYTES = 64 };

/* NULL, or what is wrong with the text, as base/value.h does. Case does not matter. */
const char *hx_routing_parse(const char *text, struct hx_routing *routing);
/* As it can be parsed again, whatever was left out; `text` has HX_ROUTING_BYTES bytes. Returns text. */
const char *hx_routing_write(char *text, const struct hx_routing *routing);

struct hx_fabric;

/* Lets a fabric that was just built route so: its VCs and their rule follow. Refuses what its topology has no detours
 * for. */
bool hx_fabric_set_routing(struct hx_fabric *f, const struct hx_routing *routing, struct hx_problem *problem);

#endif
