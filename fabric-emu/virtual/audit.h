/* audit.h - checks after each window that no credit and no packet is lost or invented (hxmesh run --check-steps).
 *
 * Each link and VC: credit of the sender + returning credit + blocks that the receiver holds = its buffer. Each input
 * and VC: tail <= seen <= ready <= head, and switch and platform have the same tail. Returning credits are in the order
 * of their times.
 *
 * A worker checks a link if it owns both ends. Links between workers are checked at the end of the run, when nothing is
 * in flight between workers. */
#ifndef AUDIT_H
#define AUDIT_H

#include "state.h"

/* Checks all nodes after a window. Dies with one line that names the link, the VC and the figures. */
void audit_step(const struct worker *w);

/* At the end: writes this worker's part of each link into model.balance. */
void audit_write(const struct worker *w);
/* Adds up both ends of each link, in the supervisor, after all workers ended. Returns false, with one line on stderr,
 * if a balance is wrong. */
bool audit_links(const struct model *m);

#endif
