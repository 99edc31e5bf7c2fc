/* request.h - requests of other processes to the supervisor of a running fabric.
 *
 *     asking process                        supervisor, each tick
 *     locks byte REQUEST_LOCK of the arena
 *     waits until asked == answered
 *     writes the line; raises `asked`  ->   takes a copy, does it, writes the answer
 *     reads the answer                 <-   answered = the ticket of the request
 *     unlocks
 *
 * It is an fcntl(2) lock, which the kernel frees when its process dies. A dead process's request is answered before the
 * next process writes its line. That answer is ignored: the next process waits for its own ticket. */
#ifndef REQUEST_H
#define REQUEST_H

#include "attach.h"

/* ---- asking process ---- */

/* Sends a line: a fault of less than FAB_REQUEST_BYTES, or "" for the list. Sets *answer, for free(): JSON, or an error
 * or warning about the fault, or "". Signals that end a program must be blocked; one ends the wait. Returns an exit
 * code; HX_EXIT_INTERRUPTED: the request may still be carried out. */
int request_ask(const struct attached *a, const char *line, char **answer);

/* ---- supervisor ---- */

struct request {
    uint32_t ticket;
    char line[FAB_REQUEST_BYTES];
};

/* Returns whether a request is pending, and copies it to *r. */
bool request_take(struct fab_fabric *f, struct request *r);
/* Answers a request; cuts an `answer` that is too long. */
void request_answer(struct fab_fabric *f, const struct request *r, int code, const char *answer);

#endif
