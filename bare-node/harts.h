/* harts.h - who does what in a node of several harts.
 *
 *     hart 0    switch, endpoint, traffic and console; where it is alone, all devices too
 *     hart 1..  devices: of a cable each, or of several in turn where there are fewer harts than cables
 *
 * Between hart 0 and another there is nothing but the two wires of a cable (node.h), each with one sender and one
 * receiver, and here the wish that a hart hangs. All else that a device's hart looks at is built before it starts, and
 * stays as it is. */
#ifndef BARE_NODE_HARTS_H
#define BARE_NODE_HARTS_H

#include <stdbool.h>

struct node;

enum { HARTS_IDLE_WAIT_NS = 100000 /* of a hart that nothing wakes: no longer than a credit frame may wait */ };

/* The hart that serves a cable's device, of so many. */
static inline unsigned harts_of_cable(unsigned harts, unsigned cable)
{
    return harts == 1 ? 0 : 1 + cable % (harts - 1);
}

/* How many of those that are there have something to do, where there are so many cables. */
static inline unsigned harts_useful(unsigned there, unsigned cables)
{
    return there < 1 + cables ? there : 1 + cables;
}

struct harts {
    struct node *node;
    _Atomic unsigned hangs; /* the one of those that serve devices that is to hang, to try its watchdog; 0: none */
};

/* Starts all that the node is built for. *h and *n are there as long as the image is. */
void harts_start(struct harts *h, struct node *n);

/* The caller's round of its loop begins. */
void harts_begin_round(void);

/* It is over. `idle`: rounds without work, 0 at first; `worked`: whether there was some in this one. Returns whether
 * there was none for a while, so that the caller may sleep. */
bool harts_end_round(unsigned *idle, bool worked);

/* Never comes back, and never serves the watchdog. */
_Noreturn void harts_hang(void);

#endif
