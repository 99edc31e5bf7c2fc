/* background.h - a program that goes on when its command has returned, once it is ready.
 *
 *     parent: the command                keeper                            child: a session of its own, no terminal
 *                                        writes what it reads to the log   <- says things on stderr
 *     shows what comes until it is ready <- passes it on until then        <- background_ready(): a zero byte on stderr
 *     returns 0                          reads on                          goes on
 *     returns the child's exit code      ends when all have closed stderr  or it ends before that
 *
 * The keeper is a process, so that what workers and the child say is in one order, with the time, in a file that stays
 * small. */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include "log.h"

#include <stdbool.h>
#include <sys/types.h>

struct background {
    bool is_child;
    pid_t child; /* in the parent */
    int keeper;  /* in the child: ends when the keeper does */
};

/* Forks. Returns in the child at once; in the parent only when the child is ready, or ends with its exit code if it is
 * not to be. The signals that end a program have to be blocked; one that comes meanwhile ends the child. Returns
 * whether this is the child. */
bool background_fork(struct background *b, struct log *log);

/* In the parent: tells the child to end, and waits until it did. */
void background_end(const struct background *b);

/* The child is ready. Nothing in the foreground. */
void background_ready(const struct background *b);

/* The child has said all: waits, a second at most, until the log has it and the keeper is gone. Nothing in the
 * foreground. */
void background_leave(const struct background *b);

#endif
