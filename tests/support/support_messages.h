/* support_messages.h - messages and a check that each is delivered exactly once.
 *
 * Every byte of a message is a function of seed, message and offset, so an arrival is checked by itself. A message
 * carries its number in this list as cookie and as tag. Memory is of support_lab.h. */
#ifndef HXMESH_TESTS_SUPPORT_MESSAGES_H
#define HXMESH_TESTS_SUPPORT_MESSAGES_H

#include "hxmesh/endpoint.h"

struct message {
    unsigned from, to; /* ranks */
    uint64_t bytes;
    uint32_t packets;
    uint8_t *here;                   /* per packet: how often its destination placed it */
    uint32_t placed;                 /* packets */
    unsigned received, sent, failed; /* events */
    unsigned forgotten;              /* restarts of its receiver */
    bool gone;                       /* its sender restarted before it was done */
};

struct messages {
    struct message *list;
    unsigned count, capacity;
    unsigned columns;
    uint64_t seed;
    uint64_t placed_bytes;
};

void messages_init(struct messages *m, unsigned columns, unsigned capacity, uint64_t seed);

/* Adds a message; returns its number. */
unsigned messages_add(struct messages *m, unsigned from, unsigned to, uint64_t bytes);
/* An endpoint restarts: it loses its sends and its arrivals. */
void messages_forget(struct messages *m, unsigned rank);

/* Writes the payload of a packet. */
void messages_fill(const struct messages *m, unsigned number, uint32_t packet, uint8_t *to, unsigned bytes);
/* Takes a placement or an event of an endpoint. Fails the test if it is wrong. */
void messages_place(struct messages *m, unsigned rank, const struct hx_header *h, const uint8_t *payload);
void messages_event(struct messages *m, unsigned rank, const struct hx_event *event);

/* Messages without an end yet. */
unsigned messages_open(const struct messages *m);
/* Fails the test unless every message of a sender that did not restart was received once in an incarnation of its
 * receiver, complete, and acknowledged. */
void messages_validate_all_through(const struct messages *m);

#endif
