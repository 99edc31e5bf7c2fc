/* socket.c - wires over sockets and TAPs (socket.h). */
#include "socket.h"

#include <sys/socket.h>

uint32_t wire_socket_receive(struct wire *w, uint8_t *frame)
{
    ssize_t bytes = recv(w->fd, frame, WIRE_MAX_FRAME, MSG_DONTWAIT);
    return bytes > 0 ? (uint32_t)bytes : 0;
}

bool wire_socket_send(struct wire *w, const uint8_t *frame, uint32_t bytes)
{
    return send(w->fd, frame, bytes, MSG_DONTWAIT) == (ssize_t)bytes;
}
