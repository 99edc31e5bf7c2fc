/* testpmd.h - dpdk-testpmd beside us, in the same run on the same machine. */
#ifndef TESTPMD_H
#define TESTPMD_H

/* Packets a second that a forwarding mode ("io", "macswap") moves between two net_null ports that hand out packets of
 * `bytes` bytes, on one core; 0: it is not installed, or refused. */
double testpmd_rate(const char *mode, unsigned bytes);

#endif
