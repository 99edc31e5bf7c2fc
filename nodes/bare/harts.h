/* harts.h - the work of each hart of a node.
 *
 *     hart 0    switch, endpoint, traffic and console; if it is alone, all devices too
 *     hart 1..  devices: of one cable each, or of several in turn if there are fewer harts than cables
 *
 * Hart 0 and a device hart share the two wires of each cable (node.h), with one sender and one receiver each, and
 * `hangs`. All other data of a device hart is built before it starts and never changes. */
#ifndef BARE_NODE_HARTS_H
#define BARE_NODE_HARTS_H

#include <stdbool.h>

struct node;

enum { HARTS_IDLE_WAIT_NS = 100000 /* of a hart without wakeup: at most the delay of a credit frame */ };

/* Hart that serves a cable's device. */
static inline unsigned harts_of_cable(unsigned harts, unsigned cable)
{
    return harts == 1 ? 0 : 1 + cable % (harts - 1);
}

/* Number of harts with work, of `there` harts and for `cables` cables. */
static inline unsigned harts_useful(unsigned there, unsigned cables)
{
    return there < 1 + cables ? there : 1 + cables;
}

struct harts {
    struct node *node;
    _Atomic unsigned hangs; /* device hart that must hang, to test its watchdog; 0: none */
};

/* Starts all device harts. *h and *n live as long as the image. */
void harts_start(struct harts *h, struct node *n);

/* Begins a loop of the calling hart; serves its watchdog. */
void harts_begin_loop(void);

/* Ends a loop. `idle`: loops without work, 0 at first; `worked`: this loop had work. Returns true if the hart may
 * sleep. */
bool harts_end_loop(unsigned *idle, bool worked);

/* Never returns and never serves the watchdog. */
_Noreturn void harts_hang(void);

#endif
