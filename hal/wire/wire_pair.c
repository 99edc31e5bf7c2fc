/* wire_pair.c - a wire to a process that we start: one of a pair of datagram sockets (wire.h). Frames keep their order,
 * and none is lost: who writes faster than the other side reads is told so. */
#include "socket.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Whoever starts the process holds its end open: it is always there, and whether somebody speaks is seen by the
 * frames. */
static bool poll_pair(struct wire *w)
{
    (void)w;
    return true;
}

static const struct wire_kind pair_kind = {
    .poll = poll_pair,
    .receive = wire_socket_receive,
    .send = wire_socket_send,
};

int wire_open_pair(struct wire *w, const char *name, int *other)
{
    int ends[2];
    *w = (struct wire){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    w->kind = &pair_kind;
    w->fd = ends[0];
    (void)snprintf(w->target, sizeof w->target, "%s", name);
    *other = ends[1];
    return 0;
}
