/* socket.h - what wires share whose frames the kernel carries: a packet socket, a TAP, a pair of sockets (wire.h). */
#ifndef WIRE_SOCKET_H
#define WIRE_SOCKET_H

#include "wire.h"

/* Frames by a socket, one in each datagram. */
uint32_t wire_socket_receive(struct wire *w, uint8_t *frame);
bool wire_socket_send(struct wire *w, const uint8_t *frame, uint32_t bytes);

#endif
