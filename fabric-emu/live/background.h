/* background.h - keeps a program running after its command returns, once it is ready.
 *
 *     parent: the command                keeper                            child: a session of its own, no terminal
 *                                        writes what it reads to the log   <- writes to stderr
 *     shows output until it is ready     <- passes it on until then        <- background_ready(): a zero byte on stderr
 *     returns 0                          reads on                          goes on
 *     returns the child's exit code      ends when all have closed stderr  or it ends before that
 *
 * The keeper merges the output of workers and child in order, with times, into a log of limited size. */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include "log.h"

#include <stdbool.h>
#include <sys/types.h>

struct background {
    bool is_child;
    pid_t child; /* in the parent */
    int keeper;  /* in the child: readable when the keeper ends */
};

/* Forks, and returns whether this is the child. The child returns at once, the parent when the child is ready. If the
 * child ends first, the parent exits with its code. Signals that end a program must be blocked; one in that time ends
 * the child. */
bool background_fork(struct background *b, struct log *log);

/* In the parent: ends the child and waits for it. */
void background_end(const struct background *b);

/* Reports that the child is ready. In the foreground it does nothing. */
void background_ready(const struct background *b);

/* Closes stderr and waits, at most a second, until the keeper has logged all. In the foreground it does nothing. */
void background_leave(const struct background *b);

#endif
