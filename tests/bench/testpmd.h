/* testpmd.h - dpdk-testpmd beside us, in the same run on the same machine: one process that forwards when it is told
 * to, and sleeps meanwhile. Its processor time is taken, not the clock's: other programs may run too. */
#ifndef TESTPMD_H
#define TESTPMD_H

struct testpmd;

/* Four ports of `driver` (net_null, net_ring) with frames of 64 bytes on one core; `options`: more of its own. NULL: it
 * is not installed, or refused. */
struct testpmd *testpmd_open(const char *driver, const char *options);
void testpmd_close(struct testpmd *t);

/* Lets a mode ("io", "macswap") run for about so long. Returns nanoseconds of processor time a packet; 0: it failed. */
double testpmd_run(struct testpmd *t, const char *mode, unsigned milliseconds);

/* Packets a second of processor time over net_null, of a process of its own; 0: it is not there. */
double testpmd_rate(const char *mode);

#endif
