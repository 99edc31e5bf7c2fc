/* passing.h - descriptors that go with a message of a Unix socket.
 *
 * Who gets one takes no more than he asked for: those beside it are closed. What comes may be anything that is open:
 * closing it, or having a socket closed in whose queue it lies, may take as long as whoever sent it likes. */
#ifndef WIRE_PASSING_H
#define WIRE_PASSING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sends one message, with descriptor `passed` (-1: none). flags as sendmsg(2). Whether all of it went. */
bool passing_send(int fd, const void *data, size_t bytes, int passed, int flags);

/* Takes one message: *passed is the descriptor that came with it, close-on-exec and the caller's to close; -1: none.
 * flags as recvmsg(2). Returns bytes taken, 0 the other end is closed, -1 and errno: EPROTO if more than one descriptor
 * came. */
ssize_t passing_receive(int fd, void *data, size_t bytes, int *passed, int flags);

/* Closes what came with a message. A socket that would linger does not. */
void passing_close(int fd);

#endif
