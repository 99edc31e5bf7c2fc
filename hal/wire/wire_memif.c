/* wire_memif.c - a wire that is a memif, with the listening socket ours (wire.h, memif.h). */
#include "hxmesh/frame.h"
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 4 };

static void serve_memif(struct wire *w)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    memif_serve(&w->server, w->memif.offer, w->fd, (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec);
}

/* Which file it is that stands at a path; 0: none, or no socket. */
static uint64_t socket_at(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) ? (uint64_t)st.st_ino : 0;
}

static void end_memif(struct wire *w)
{
    memif_end(&w->server, w->memif.offer, "the fabric ends");
    (void)munmap(w->memif.offer, sizeof *w->memif.offer);
    if (socket_at(w->target) == w->inode) /* somebody may have put something else there */
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

/* For this user alone, whatever the umask: the file that bind() makes takes the mode of the socket. */
static int new_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || fchmod(fd, S_IRUSR | S_IWUSR) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static bool is_of_another_user(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && st.st_uid != geteuid();
}

/* Whether a socket stands there that nobody listens at any more. Connecting to any other file is refused, too. */
static bool is_left_over(const struct sockaddr_un *name)
{
    if (!socket_at(name->sun_path))
        return false;
    int fd = new_socket();
    bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)name, sizeof *name) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        (void)close(fd);
    return refused;
}

static int listen_at(int fd, const struct sockaddr_un *name)
{
    int error = bind(fd, (const struct sockaddr *)name, sizeof *name) ? errno : 0;
    if (error == EADDRINUSE && is_of_another_user(name->sun_path))
        return -EPERM;
    if (error == EADDRINUSE && is_left_over(name) && unlink(name->sun_path) == 0)
        error = bind(fd, (const struct sockaddr *)name, sizeof *name) ? errno : 0;
    if (error == EADDRINUSE && !socket_at(name->sun_path))
        error = EEXIST;
    if (error)
        return -error;
    if (listen(fd, BACKLOG) == 0)
        return 0;
    error = errno;
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
    int fd = new_socket();
    int error = fd < 0 ? -errno : listen_at(fd, &name);
    if (error) {
        if (fd >= 0)
            (void)close(fd);
        return error;
    }
    void *offer = mmap(NULL, sizeof *w->memif.offer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (offer == MAP_FAILED) {
        (void)close(fd);
        (void)unlink(path);
        return -ENOMEM;
    }
    w->memif.offer = offer;
    w->kind = &memif_kind;
    w->fd = fd;
    w->inode = socket_at(path);
    (void)snprintf(w->target, sizeof w->target, "%s", path);
    return 0;
}
