/* fanout.c - setsockopt() without PACKET_FANOUT, for DPDK's packet sockets.
 *
 * af_packet of DPDK 22.11 puts a device's sockets into a group of the kernel, to share frames among queues. The group's
 * number is process ^ interface, 16 bits of it. Two nodes with the same number were refused: a group has one interface.
 * A port has one queue here, so it needs no group. */
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int setsockopt(int fd, int level, int optname, const void *optval, socklen_t optlen)
{
    if (level == SOL_PACKET && optname == PACKET_FANOUT)
        return 0;
    return (int)syscall(SYS_setsockopt, fd, level, optname, optval, optlen);
}
