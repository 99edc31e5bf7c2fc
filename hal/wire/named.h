/* named.h - Unix sockets of this user's that have a name in a folder. */
#ifndef WIRE_NAMED_H
#define WIRE_NAMED_H

#include <stdint.h>
#include <sys/un.h>

/* Opens a non-blocking socket of this type and gives it the name, for this user alone (0600, whatever the umask). A
 * socket that stands there, and that nobody has open any more, is replaced. Returns the descriptor, or a negative errno
 * value: -EADDRINUSE somebody has it, -EPERM it is another user's, -EEXIST what stands there is no socket. */
int named_open(int type, const struct sockaddr_un *name);

/* Which file the socket at a path is; 0: there is none, or what stands there is no socket. */
uint64_t named_file(const char *path);

/* Removes the socket of that name if it is this user's and nobody has it open any more. 1: it did; 0: there is nothing
 * to remove. */
int named_remove_left(int type, const struct sockaddr_un *name);

#endif
