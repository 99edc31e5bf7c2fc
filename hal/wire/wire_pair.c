/* wire_pair.c - a wire to a process that hxmesh starts: one of a pair of datagram sockets (wire.h). Frames keep their
 * order and are not lost: a full queue refuses them. */
#include "socket.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* The starter keeps the other end open, so the peer always counts as present; its frames show whether it runs. */
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
