/* passing.c - descriptors passed with messages of Unix sockets (passing.h). */
#include "passing.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_PASSED = 253 /* most descriptors of a message: SCM_MAX_FD of Linux */ };

/* Room for all descriptors of a message: the kernel would close surplus ones, which may block. */
union room {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int[MOST_PASSED]))];
};

bool passing_send(int fd, const void *data, size_t bytes, int passed, int flags)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof passed)];
    } room = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (passed >= 0) {
        message.msg_control = &room;
        message.msg_controllen = sizeof room.bytes;
        room.header =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof passed), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&room.header), &passed, sizeof passed);
    }
    return sendmsg(fd, &message, flags | MSG_NOSIGNAL) == (ssize_t)bytes;
}

void passing_close(int fd)
{
    const struct linger none = {.l_onoff = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none); /* fails for other files, which do not linger */
    (void)close(fd);
}

/* Takes the descriptor of a message. Returns false if there are several, all closed. */
static bool take_descriptors(struct msghdr *message, int *passed)
{
    unsigned count = 0;
    *passed = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        bool descriptors = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS;
        for (size_t at = CMSG_LEN(0); descriptors && at + sizeof(int) <= c->cmsg_len; at += sizeof(int), count++) {
            if (*passed >= 0)
                passing_close(*passed);
            memcpy(passed, (const uint8_t *)c + at, sizeof *passed);
        }
    }
    if (count <= 1)
        return true;
    passing_close(*passed);
    *passed = -1;
    return false;
}

ssize_t passing_receive(int fd, void *data, size_t bytes, int *passed, int flags)
{
    union room room;
    struct iovec part = {.iov_base = data, .iov_len = bytes};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room.bytes};
    *passed = -1;
    ssize_t taken = recvmsg(fd, &message, flags | MSG_CMSG_CLOEXEC);
    if (taken < 0 || take_descriptors(&message, passed))
        return taken;
    errno = EPROTO;
    return -1;
}
