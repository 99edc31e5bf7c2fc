/* ways.h - ways round what is down, of a live fabric whose ways are searched.
 *
 * Each worker searches them for itself, whenever what is down between two routers changes: in the order of routers that
 * the fabric has had from the start, in which tables of before and of after may be mixed (host/topology/ways.h). So
 * workers need not agree on when, and nothing waits. A HammingMesh has no such ways: its nodes take candidates away. */
#ifndef LIVE_WAYS_H
#define LIVE_WAYS_H

#include "node.h"

/* Looks what is down now. Returns the planes, bit by plane, that are to be routed anew by ways_fabric(). */
unsigned ways_follow(struct worker *w);
void ways_end(struct worker *w);

/* What routes of a plane are built from. */
const struct hx_fabric *ways_fabric(const struct worker *w, unsigned plane);

#endif
