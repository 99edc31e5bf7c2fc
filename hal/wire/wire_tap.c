/* wire_tap.c - a wire over a TAP (wire.h). */
#include "hxmesh/frame.h"
#include "interface.h"
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TAP_MTU = 9000 };

static bool poll_tap(struct wire *w)
{
    return interface_is_running(w->target);
}

/* Returns false for the kernel's own frames on an interface (IPv6 neighbour discovery). */
static bool is_ours(const uint8_t *frame, ssize_t bytes)
{
    unsigned type = hx_frame_ethertype(frame, bytes > 0 ? (size_t)bytes : 0);
    return type == HX_ETHERTYPE_DATA || type == HX_ETHERTYPE_CONTROL;
}

static uint32_t receive_tap(struct wire *w, uint8_t *frame)
{
    for (;;) {
        ssize_t bytes = read(w->fd, frame, WIRE_MAX_FRAME);
        if (bytes <= 0)
            return 0;
        if (is_ours(frame, bytes))
            return (uint32_t)bytes;
    }
}

static bool send_tap(struct wire *w, const uint8_t *frame, uint32_t bytes)
{
    return write(w->fd, frame, bytes) == (ssize_t)bytes;
}

static const struct wire_kind tap_kind = {
    .poll = poll_tap,
    .receive = receive_tap,
    .send = send_tap,
};

/* Sets MTU and state only if needed: an interface made for this user may be ready. */
static int make_ready(const char *interface, unsigned *mtu)
{
    unsigned least = *mtu;
    int error = 0;
    if (interface_check(interface, least, mtu) == -EMSGSIZE)
        error = interface_set_mtu(interface, TAP_MTU);
    if (interface_check(interface, least, mtu) == -ENETDOWN)
        error = interface_set_up(interface);
    return error && error != -EPERM ? error : interface_check(interface, least, mtu);
}

int wire_open_tap(struct wire *w, const char *interface, unsigned *mtu)
{
    struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    *w = (struct wire){.fd = -1};
    if (strlen(interface) >= sizeof r.ifr_name)
        return -ENAMETOOLONG;
    (void)snprintf(r.ifr_name, sizeof r.ifr_name, "%s", interface);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = ioctl(fd, TUNSETIFF, &r) ? -errno : make_ready(interface, mtu);
    if (error) {
        (void)close(fd);
        return error;
    }
    w->kind = &tap_kind;
    w->fd = fd;
    (void)snprintf(w->target, sizeof w->target, "%s", interface);
    return 0;
}
