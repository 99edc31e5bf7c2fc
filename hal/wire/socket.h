/* socket.h - shared by wires over descriptors of the kernel: packet socket, TAP, pair of sockets (wire.h). */
#ifndef WIRE_SOCKET_H
#define WIRE_SOCKET_H

#include "wire.h"

/* One frame a datagram. */
uint32_t wire_socket_receive(struct wire *w, uint8_t *frame);
bool wire_socket_send(struct wire *w, const uint8_t *frame, uint32_t bytes);

#endif
