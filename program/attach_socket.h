/* attach_socket.h - the socket by which programs request the attachment of a host.
 *
 * /dev/shm/hxmesh-FABRIC.door (0600) is a datagram socket of the fabric's supervisor. A program sends one datagram: the
 * host's name, and one end of a socket pair for the replies. The first reply carries the attachment, or an error; the
 * second carries the worker's wakeup eventfd. So the supervisor waits for no program, and a program that dies leaves
 * nothing behind.
 *
 * A socket without a listener, and one of another user, are ignored. */
#ifndef ATTACH_SOCKET_H
#define ATTACH_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define ATTACH_SOCKET_FOLDER "/dev/shm"
#define ATTACH_SOCKET_PREFIX "hxmesh-"
#define ATTACH_SOCKET_SUFFIX ".door"
#define ATTACH_SOCKET_MAGIC  UINT64_C(0x726f6f6470786821)

enum { ATTACH_SOCKET_HOST_BYTES = 48 };

struct attach_request {
    uint64_t magic;
    uint32_t version;                    /* ATTACHMENT_VERSION of the program */
    char host[ATTACH_SOCKET_HOST_BYTES]; /* as given to hx_program_open() */
    uint32_t spare;
};

struct attach_reply {
    uint64_t magic;
    uint32_t version;
    int32_t error; /* 0, or a negative errno value */
};

/* Path of a fabric's socket; false: no fabric with programs can have this name. */
static inline bool attach_socket_name(struct sockaddr_un *name, const char *fabric)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    return *fabric && !strchr(fabric, '/') &&
           snprintf(name->sun_path, sizeof name->sun_path,
                    ATTACH_SOCKET_FOLDER "/" ATTACH_SOCKET_PREFIX "%s" ATTACH_SOCKET_SUFFIX,
                    fabric) < (int)sizeof name->sun_path;
}

/* Length of FABRIC in a file name; 0: not the name of an attach socket. */
static inline size_t attach_socket_fabric(const char *file)
{
    size_t all = strlen(file);
    size_t around = strlen(ATTACH_SOCKET_PREFIX ATTACH_SOCKET_SUFFIX);
    bool is = all > around && strncmp(file, ATTACH_SOCKET_PREFIX, strlen(ATTACH_SOCKET_PREFIX)) == 0 &&
              strcmp(file + all - strlen(ATTACH_SOCKET_SUFFIX), ATTACH_SOCKET_SUFFIX) == 0;
    return is ? all - around : 0;
}

/* Returns a socket connected to a fabric (NULL: the only one), or -errno: -ENOENT none, -ENOTUNIQ several. */
int attach_socket_find(const char *fabric);

/* Requests a host. Returns the descriptor of its attachment (the open file description is the caller's), and
 * *wakeup_fd, an eventfd that wakes its worker. Or -errno: -ENOENT no such host, or the fabric ended; -EPROTO another
 * version; -ETIMEDOUT no reply. */
int attach_socket_request(int attach_socket, const char *host, int *wakeup_fd);

#endif
