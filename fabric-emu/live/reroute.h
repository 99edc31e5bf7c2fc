/* reroute.h - reroutes around links and routers that are down, in a live fabric that searches its routes.
 *
 * Each worker searches on its own when links between routers change. All use the order of routers of the intact fabric,
 * in which old and new tables may be mixed (topology/updown.h): workers need not agree on a time. A HammingMesh does
 * not search: its nodes remove candidates. */
#ifndef LIVE_REROUTE_H
#define LIVE_REROUTE_H

#include "node.h"

/* Follows what is down. Returns the planes to build new routes for, bit by plane, from reroute_fabric(). */
unsigned reroute_follow(struct worker *w);
void reroute_end(struct worker *w);

/* Returns the fabric to build a plane's routes from. */
const struct hx_fabric *reroute_fabric(const struct worker *w, unsigned plane);

#endif
