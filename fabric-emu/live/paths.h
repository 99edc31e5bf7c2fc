/* paths.h - whether a host has a path to another and back, by what is down in the whole fabric.
 *
 * A sender cannot tell a slow peer from one without a path: both stay silent. But all workers see the conditions of all
 * links, and each can build the routes of any node. */
#ifndef LIVE_PATHS_H
#define LIVE_PATHS_H

#include "node.h"

/* What is known of the paths between a host and another one, since paths changed last. */
enum paths_of_host {
    PATHS_UNKNOWN,
    PATHS_LEAD,    /* there and back, each by some plane */
    PATHS_MISSING, /* there, or back */
    PATHS_CUT_OFF  /* a message failed: later ones fail at once */
};

/* Searches the paths between host `a` and host `b`, there and back. */
bool paths_lead(struct worker *w, uint32_t a, uint32_t b);

#endif
