/* audit.h - counts after every window of time that nothing was lost or made up (hxmesh run --check-steps).
 *
 * Of each link and VC: credit of the sender + credit on its way back + blocks that the receiver holds = its buffer. Of
 * each input and VC: tail <= seen <= ready <= head, and the switch and its platform mean the same tail. Credits on
 * their way are in the order of their times.
 *
 * A worker knows both ends of the links inside it; those that lead to another worker are added up at the end of the
 * run, when nothing is on its way between workers. */
#ifndef AUDIT_H
#define AUDIT_H

#include "state.h"

/* After a window. Dies with one line that names the link, the VC and the figures if something is wrong. */
void audit_step(const struct worker *w);

/* At the end: writes down what this worker has of each link. */
void audit_write(const struct worker *w);
/* Adds it up; the supervisor does, after all workers have. false: something is wrong, which one line has said. */
bool audit_links(const struct model *m);

#endif
