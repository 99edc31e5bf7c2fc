/* background.h - a program that goes on when its command has returned, once it is ready.
 *
 *     parent: the command                       child: a session of its own, no terminal
 *     shows what the child says to stderr   <-  sets up
 *     returns 0                             <-  background_ready()
 *     returns the child's exit code             or it ends before that
 *
 * What the child says afterwards goes nowhere. */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include <stdbool.h>
#include <sys/types.h>

struct background {
    int ready;   /* the child's end; -1: this process is in the foreground */
    pid_t child; /* in the parent */
};

/* Forks. Returns in the child at once; in the parent only when the child is ready, or ends with its exit code if it is not to be.
 * The signals that end a program have to be blocked; one that comes meanwhile ends the child. Returns whether this is the
 * child. */
bool background_fork(struct background *b);

/* In the parent: tells the child to end, and waits until it did. */
void background_end(const struct background *b);

/* The child is ready. Nothing in the foreground. */
void background_ready(struct background *b);

#endif
