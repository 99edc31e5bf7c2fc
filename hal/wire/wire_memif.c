/* wire_memif.c - a wire over memif; this side listens (wire.h, memif.h). */
#include "base/clock.h"
#include "hxmesh/frame.h"
#include "named.h"
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4 };

static void serve_memif(struct wire *w)
{
    memif_serve(&w->server, w->memif.offer, w->fd, hx_monotonic_ns());
}

static void end_memif(struct wire *w)
{
    memif_end(&w->server, w->memif.offer, "the fabric ends");
    (void)munmap(w->memif.offer, sizeof *w->memif.offer);
    if (named_file(w->target) == w->inode) /* another file may have replaced it */
        (void)unlink(w->target);
}

static bool poll_memif(struct wire *w)
{
    return memif_poll(&w->memif);
}

static uint32_t receive_memif(struct wire *w, uint8_t *frame)
{
    return memif_receive(&w->memif, frame, WIRE_MAX_FRAME);
}

static bool send_memif(struct wire *w, const uint8_t *frame, uint32_t bytes)
{
    return memif_send(&w->memif, frame, bytes);
}

static void flush_memif(struct wire *w)
{
    memif_flush(&w->memif);
}

static void drop_memif(struct wire *w)
{
    memif_unmap(&w->memif);
}

static const struct wire_kind memif_kind = {.serve = serve_memif,
                                            .end = end_memif,
                                            .poll = poll_memif,
                                            .receive = receive_memif,
                                            .send = send_memif,
                                            .flush = flush_memif,
                                            .drop = drop_memif};

static int listen_at(const struct sockaddr_un *name)
{
    int fd = named_open(SOCK_SEQPACKET, name);
    if (fd < 0 || listen(fd, BACKLOG) == 0)
        return fd;
    int error = errno;
    (void)close(fd);
    (void)unlink(name->sun_path);
    return -error;
}

int wire_open_memif(struct wire *w, const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    *w = (struct wire){.fd = -1};
    _Static_assert(sizeof name.sun_path == sizeof w->target, "a path that fits one fits the other");
    if (strlen(path) >= sizeof name.sun_path)
        return -ENAMETOOLONG;
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int fd = listen_at(&name);
    if (fd < 0)
        return fd;
    void *offer = mmap(NULL, sizeof *w->memif.offer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (offer == MAP_FAILED) {
        (void)close(fd);
        (void)unlink(path);
        return -ENOMEM;
    }
    w->memif.offer = offer;
    w->kind = &memif_kind;
    w->fd = fd;
    w->inode = named_file(path);
    (void)snprintf(w->target, sizeof w->target, "%s", path);
    return 0;
}
