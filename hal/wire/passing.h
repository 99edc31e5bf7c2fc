/* passing.h - descriptors passed with messages of Unix sockets.
 *
 * Surplus descriptors are closed. The sender may pass any open file, so closing one, or a socket with one in its queue,
 * may block for as long as the sender wants. */
#ifndef WIRE_PASSING_H
#define WIRE_PASSING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sends a message with descriptor `passed` (-1: none). flags as sendmsg(2). Returns true if all of it was sent. */
bool passing_send(int fd, const void *data, size_t bytes, int passed, int flags);

/* Receives a message. *passed: its descriptor, close-on-exec and the caller's to close; -1: none. flags as recvmsg(2).
 * Returns its bytes; 0: the other end is closed; -1 and errno: EPROTO if it had several descriptors. */
ssize_t passing_receive(int fd, void *data, size_t bytes, int *passed, int flags);

/* Closes a passed descriptor; a lingering socket does not block. */
void passing_close(int fd);

#endif
