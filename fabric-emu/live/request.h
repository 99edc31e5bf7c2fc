/* request.h - what another process asks of a running fabric, and is answered: a line to the supervisor.
 *
 *     asking process                        supervisor, each tick
 *     locks byte REQUEST_LOCK of the arena
 *     waits until asked == answered
 *     writes the line; raises `asked`  ->   takes a copy, does it, writes the answer
 *     reads the answer                 <-   answered = the ticket that was asked
 *     unlocks
 *
 * The lock is one of fcntl(2), which the kernel takes from a dead process. What that one had asked is answered before
 * the next one's line is written, and read by nobody: the next one waits for its own ticket. */
#ifndef REQUEST_H
#define REQUEST_H

#include "attach.h"

/* ---- asking process ---- */

/* What is asked: a fault's line of less than FAB_REQUEST_BYTES, or "" for the list. *answer: to be freed; JSON, or what
 * is to be said of the fault: what was wrong, or a warning; "" if nothing. The signals that end a program have to be
 * blocked: one that comes ends the waiting. Returns an exit code; HX_EXIT_INTERRUPTED: what was asked may still be
 * done. */
int request_ask(const struct attached *a, const char *line, char **answer);

/* ---- supervisor ---- */

struct request {
    uint32_t ticket;
    char line[FAB_REQUEST_BYTES];
};

/* Whether something is asked; then *r is a copy of it. */
bool request_take(struct fab_fabric *f, struct request *r);
/* Answers it; `answer` is cut where there is no room. */
void request_answer(struct fab_fabric *f, const struct request *r, int code, const char *answer);

#endif
