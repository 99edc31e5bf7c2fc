/* waits.h - timeouts of endpoints among processes of one machine: the live emulator, and a DPDK node beside it. A check
 * from outside that all is quiet must wait longer. */
#ifndef WAITS_H
#define WAITS_H

enum {
    WAIT_FIRST_MS = 1000, /* before the first acknowledgement */
    WAIT_LEAST_MS = 250,  /* processes share cores: an acknowledgement may take many time slices */
    WAIT_MOST_MS = 4000,  /* from probe to probe */
    WAIT_RETRIES = 16     /* about a minute; then the message fails */
};

#endif
