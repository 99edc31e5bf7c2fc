/* testpmd.h - dpdk-testpmd in the same run on the same machine: one process that forwards on request, and sleeps
 * otherwise. Its processor time is measured, since other programs may run too. */
#ifndef TESTPMD_H
#define TESTPMD_H

struct testpmd;

/* Opens four ports of `driver` (net_null, net_ring) with frames of 64 bytes on one core; `options`: more of its own.
 * NULL: not installed, or refused. */
struct testpmd *testpmd_open(const char *driver, const char *options);
void testpmd_close(struct testpmd *t);

/* Runs a mode ("io", "macswap") for about so long. Returns nanoseconds of processor time a packet; 0: it failed. */
double testpmd_run(struct testpmd *t, const char *mode, unsigned milliseconds);

/* Packets a second of processor time over net_null, of a separate process; 0: not installed. */
double testpmd_rate(const char *mode);

#endif
