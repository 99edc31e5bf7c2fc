/* named.h - named Unix sockets of this user. */
#ifndef WIRE_NAMED_H
#define WIRE_NAMED_H

#include <stdint.h>
#include <sys/un.h>

/* Opens a non-blocking socket of this type with a name, for this user alone (0600, for any umask). Replaces a socket
 * that no process has open. Returns the descriptor, or -EADDRINUSE: a process has it open; -EPERM: it is another
 * user's; -EEXIST: the file is no socket; or another negative errno value. */
int named_open(int type, const struct sockaddr_un *name);

/* Returns the inode of the socket at a path; 0: no socket. */
uint64_t named_file(const char *path);

/* Removes the socket of that name if it is this user's and no process has it open. Returns 1 if so, else 0. */
int named_remove_left(int type, const struct sockaddr_un *name);

#endif
