/* attach_socket.h - where programs ask a fabric for the attachment of a host.
 *
 * /dev/shm/hxmesh-FABRIC.door (0600) is a datagram socket of the fabric's supervisor. Who wants a host sends it one
 * datagram, which says which host and bears one end of a pair of sockets. By this the answer comes, with the attachment
 * if there is no error, and once more with what its worker is called by. So the supervisor waits for nobody, and who
 * has died with his question takes nothing with him.
 *
 * What nobody answers at, and what is not a socket of this user's, is no door. */
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
    uint32_t version;                    /* ATTACHMENT_VERSION of who asks */
    char host[ATTACH_SOCKET_HOST_BYTES]; /* as given to hx_program_open() */
    uint32_t spare;
};

struct attach_reply {
    uint64_t magic;
    uint32_t version;
    int32_t error; /* 0, or a negative errno value */
};

/* Where the door of a fabric is; false: no fabric with programs has such a name. */
static inline bool attach_socket_name(struct sockaddr_un *name, const char *fabric)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    return *fabric && !strchr(fabric, '/') &&
           snprintf(name->sun_path, sizeof name->sun_path,
                    ATTACH_SOCKET_FOLDER "/" ATTACH_SOCKET_PREFIX "%s" ATTACH_SOCKET_SUFFIX,
                    fabric) < (int)sizeof name->sun_path;
}

/* The length of FABRIC in the name of a file that may be its door; 0: it is another file's name. */
static inline size_t attach_socket_fabric(const char *file)
{
    size_t all = strlen(file);
    size_t around = strlen(ATTACH_SOCKET_PREFIX ATTACH_SOCKET_SUFFIX);
    bool is = all > around && strncmp(file, ATTACH_SOCKET_PREFIX, strlen(ATTACH_SOCKET_PREFIX)) == 0 &&
              strcmp(file + all - strlen(ATTACH_SOCKET_SUFFIX), ATTACH_SOCKET_SUFFIX) == 0;
    return is ? all - around : 0;
}

/* A socket that is connected to the door of such a fabric (NULL: of the only one), or -ENOENT, -ENOTUNIQ, or another
 * negative errno value. */
int attach_socket_find(const char *fabric);

/* Asks at a door for a host. Returns the descriptor of its attachment, whose description is the caller's alone, and
 * *call, an eventfd by which its worker is called; or a negative errno value: -ENOENT no such host, or the fabric ended
 * meanwhile; -EPROTO another version; -ETIMEDOUT nobody answers. */
int attach_socket_request(int attach_socket, const char *host, int *wakeup_fd);

#endif
