/* request.h - what another process asks of a running fabric, and is answered: a line to the supervisor.
 *
 *     asking process                        supervisor, each tick
 *     locks byte REQUEST_LOCK of the arena
 *     writes the line; state = ASKED   ->   takes a copy, does it, writes the answer
 *     reads the answer                 <-   state = ANSWERED
 *     unlocks
 *
 * The lock is one of fcntl(2), which the kernel takes from a dead process: who comes next begins anew, whatever state it left.
 * (The answer to a dead one may then be taken for the next: it is read by nobody, for the next one asks before it waits.) */
#ifndef REQUEST_H
#define REQUEST_H

#include "attach.h"

/* ---- asking process ---- */

/* What is asked: a fault's line, or "" for the list. *answer: to be freed; JSON, or what is to be said
 * of the fault: what was wrong, or a warning; "" if nothing. Returns an exit code. */
int request_ask(const struct attached *a, const char *line, char **answer);

/* ---- supervisor ---- */

/* Whether something is asked; then `line` has it. */
bool request_take(struct fab_fabric *f, char line[FAB_REQUEST_BYTES]);
/* Answers it; `answer` is cut where there is no room. */
void request_answer(struct fab_fabric *f, int code, const char *answer);

#endif
