/* reroute.h - ways round what is down, of a live fabric whose ways are searched.
 *
 * Each worker searches them for itself, whenever what is down between two routers changes: in the order of routers that
 * the fabric has had from the start, in which tables of before and of after may be mixed (topology/updown.h). So
 * workers need not agree on when, and nothing waits. A HammingMesh has no such ways: its nodes take candidates away. */
#ifndef LIVE_REROUTE_H
#define LIVE_REROUTE_H

#include "node.h"

/* Looks what is down now. Returns the planes, bit by plane, that are to be routed anew by reroute_fabric(). */
unsigned reroute_follow(struct worker *w);
void reroute_end(struct worker *w);

/* What routes of a plane are built from. */
const struct hx_fabric *reroute_fabric(const struct worker *w, unsigned plane);

#endif
