/* wire_packet.c - a wire over a packet socket on an interface (wire.h). */
#include "hxmesh/frame.h"
#include "interface.h"
#include "socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Queue of the kernel while this process does not run, bytes; without privilege the kernel's limit applies. */
enum { QUEUE_BYTES = 16 << 20 };

static bool poll_packet(struct wire *w)
{
    return interface_is_running(w->target);
}

static const struct wire_kind packet_kind = {
    .poll = poll_packet,
    .receive = wire_socket_receive,
    .send = wire_socket_send,
};

/* Passes only incoming frames of hxmesh's two types. */
static int attach_filter(int fd)
{
    static struct sock_filter program[] = {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
                                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HX_ETHERTYPE_DATA, 1, 0),
                                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HX_ETHERTYPE_CONTROL, 0, 1),
                                           BPF_STMT(BPF_RET | BPF_K, UINT32_MAX), BPF_STMT(BPF_RET | BPF_K, 0)};
    const struct sock_fprog filter = {sizeof program / sizeof *program, program};
    const int yes = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) != 0)
        return -errno;
    return 0;
}

/* Beyond the user's limit if permitted, else up to it. */
static void enlarge_queues(int fd)
{
    const int bytes = QUEUE_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

/* Promiscuous: frames carry fabric addresses, not the interface's. */
static int bind_to(int fd, unsigned index)
{
    const struct sockaddr_ll at = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)index};
    const struct packet_mreq all = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_PROMISC};
    int error = attach_filter(fd);
    if (error)
        return error;
    enlarge_queues(fd);
    if (bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) != 0)
        return -errno;
    return 0;
}

int wire_open_packet(struct wire *w, const char *interface, unsigned *mtu)
{
    *w = (struct wire){.fd = -1};
    unsigned index = if_nametoindex(interface);
    if (index == 0)
        return -ENODEV;
    int error = interface_check(interface, *mtu, mtu);
    if (error)
        return error;
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    error = fd < 0 ? -errno : bind_to(fd, index);
    if (error) {
        if (fd >= 0)
            (void)close(fd);
        return error;
    }
    w->kind = &packet_kind;
    w->fd = fd;
    (void)snprintf(w->target, sizeof w->target, "%s", interface);
    return 0;
}
