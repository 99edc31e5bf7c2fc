/* waits.h - how long an endpoint among processes of one machine waits for answers: in the live emulator, and in a DPDK
 * node beside it. What judges from outside whether all is quiet must wait longer than they do. */
#ifndef WAITS_H
#define WAITS_H

enum {
    WAIT_FIRST_MS = 1000, /* before any answer came */
    WAIT_LEAST_MS = 250,  /* processes share cores: an answer may take many time slices */
    WAIT_MOST_MS = 4000,  /* from probe to probe */
    WAIT_RETRIES = 16     /* that is a minute; then it is given up */
};

#endif
