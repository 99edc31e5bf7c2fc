/* support_memif.h - a memif client, to test the server side of hal/wire/memif.h. */
#ifndef SUPPORT_MEMIF_H
#define SUPPORT_MEMIF_H

#include "hal/wire/memif_layout.h"
#include "hal/wire/wire.h"

#include <stdbool.h>

enum { LOG2_SIZE = 3, ENTRIES = 1 << LOG2_SIZE, PAGE = 4096, MOST_PASSED = 8, STEPS = 5 };

struct client {
    int socket, memory, event[2];
    uint32_t buffer_bytes;
    uint64_t bytes;
    uint8_t *base;
    struct memif_ring *to_server, *to_client;
    struct memif_message heard;
};

/* A server and its client. */
struct pair {
    char folder[32], path[64];
    struct wire w;
    struct client c;
};

/* Setup and teardown of a test; *state is a struct pair. */
int memif_set_up(void **state);
int memif_tear_down(void **state);

static inline size_t memif_ring_bytes(void)
{
    return sizeof(struct memif_ring) + ENTRIES * sizeof(struct memif_descriptor);
}

void memif_client_open(struct client *c, const char *path, uint32_t buffer_bytes, unsigned seals);
void memif_client_close(struct client *c);
void memif_send_with(const struct client *c, const struct memif_message *message, const int *fds, unsigned count);
void memif_send_message(const struct client *c, const struct memif_message *message, int fd);
/* Takes the next message; returns its type, 0: none, -1: the socket was closed. */
int memif_take_answer(struct client *c);
/* Message of the client in a step of its handshake, 0 .. STEPS - 1. */
struct memif_message memif_script(const struct client *c, unsigned step, int *fd);
/* Polls the server, as its opener and its user do in turn. */
bool memif_poll_server(struct pair *p);
/* Sends the first `steps` messages and takes the answers. Returns the type of the last one. */
int memif_shake_hands(struct pair *p, unsigned steps);
void memif_connect_client(struct pair *p, uint32_t buffer_bytes);
void memif_make_frame(uint8_t *frame, uint32_t bytes, unsigned number);
/* Puts a frame into the ring to the server, in as many pieces as it needs. */
bool memif_client_send(struct client *c, const uint8_t *frame, uint32_t bytes);
/* Takes a frame from the server's ring and offers its buffers again. Returns its bytes, 0: none. */
uint32_t memif_client_take(struct client *c, uint16_t *at, uint8_t *frame);

#endif
