/* calls.h - a worker sleeps until another worker, or a program that holds one of its hosts, has something for it.
 *
 * A program calls by a word of its attachment (program/attachment.h: `asleep`, `call`), so a worker waits for several words at once.
 * Linux can since 5.16, for 128 of them: where it cannot, or there are more programs, programs do not call, and the worker looks after
 * them as after whoever wakes nobody. */
#ifndef CALLS_H
#define CALLS_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>

struct worker;

struct calls {
    struct futex_waitv wait[FUTEX_WAITV_MAX]; /* the worker's own word first */
    unsigned count;
    bool unheard; /* somebody holds a host and cannot call */
    bool refused; /* the kernel cannot wait for several words */
};

/* From now on programs call. To be called before the sweep that finds nothing, with the worker's own word as it was before. */
void calls_begin(struct worker *w, uint32_t wake);
void calls_end(struct worker *w);

/* Sleeps until somebody calls, or for `longest` ns. */
void calls_sleep(struct worker *w, long longest);

#endif
