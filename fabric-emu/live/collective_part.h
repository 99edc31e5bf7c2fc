/* collective_part.h - an accelerator's part in a collective: its vector, the program, and the endpoint joined to it.
 *
 * Sums live in the memory of workers. When a worker dies, or a message is given up, those of its accelerators are lost and
 * nobody can finish: all parts that are not done end, what is under way is let go, and the run fails (exit 1). */
#ifndef COLLECTIVE_PART_H
#define COLLECTIVE_PART_H

#include "node.h"

/* Joins the accelerator, whose endpoint is built after this, to its job's collective. NULL: it has no job. */
struct collective_part *collective_part_new(struct accelerator *a);
void collective_part_free(struct collective_part *part);

/* Hands over what may go and looks whether the end is reached. */
void collective_part_step(struct collective_part *part, bool may_begin);

/* Done, or ended. */
bool collective_part_is_over(const struct collective_part *part);

#endif
