/* wire_pair.c - a wire to a process that we start: one of a pair of datagram sockets (wire.h). Frames keep their order, and
 * none is lost: who writes faster than the other side reads is told so. */
#include "hxmesh/frame.h"
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Whoever starts the process holds its end open: it is always there, and whether somebody speaks is seen by the frames. */
static bool poll_pair(struct wire *w)
{
    (void)w;
    return true;
}

static uint32_t receive_pair(struct wire *w, uint8_t *frame)
{
    ssize_t bytes = recv(w->fd, frame, WIRE_MAX_FRAME, MSG_DONTWAIT);
    return bytes > 0 ? (uint32_t)bytes : 0;
}

static bool send_pair(struct wire *w, const uint8_t *frame, uint32_t bytes)
{
    return send(w->fd, frame, bytes, MSG_DONTWAIT) == (ssize_t)bytes;
}

static void nothing(struct wire *w)
{
    (void)w;
}

static const struct wire_kind pair_kind = {.serve = nothing,
                                           .end = nothing,
                                           .poll = poll_pair,
                                           .receive = receive_pair,
                                           .send = send_pair,
                                           .flush = nothing,
                                           .drop = nothing};

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
