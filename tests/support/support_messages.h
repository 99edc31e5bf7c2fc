/* support_messages.h - messages as a judge sees them: what was to be sent, and what must come of it exactly once.
 *
 * Every byte of a message is a function of seed, message and place, so what arrives is judged without asking anybody. A
 * message carries its number in this list as cookie and as tag. Memory is the lab's. */
#ifndef HXMESH_TESTS_SUPPORT_MESSAGES_H
#define HXMESH_TESTS_SUPPORT_MESSAGES_H

#include "hxmesh/endpoint.h"

struct message {
    unsigned from, to; /* ranks */
    uint64_t bytes;
    uint32_t packets;
    uint8_t *here;                   /* per packet: how often it was placed at its destination */
    uint32_t placed;                 /* packets */
    unsigned received, sent, failed; /* events */
    unsigned forgotten;              /* how often its receiver began anew */
    bool gone;                       /* its sender began anew before it was through */
};

struct messages {
    struct message *list;
    unsigned count, capacity;
    unsigned columns;
    uint64_t seed;
    uint64_t placed_bytes;
};

void messages_init(struct messages *m, unsigned columns, unsigned capacity, uint64_t seed);

/* Adds one; its number. */
unsigned messages_add(struct messages *m, unsigned from, unsigned to, uint64_t bytes);
/* An endpoint begins anew: it has forgotten what it was to send and what had come. */
void messages_forget(struct messages *m, unsigned rank);

/* Writes the payload of a packet. */
void messages_fill(const struct messages *m, unsigned number, uint32_t packet, uint8_t *to, unsigned bytes);
/* What an endpoint places and says. Fails the test if that is not true. */
void messages_place(struct messages *m, unsigned rank, const struct hx_header *h, const uint8_t *payload);
void messages_event(struct messages *m, unsigned rank, const struct hx_event *event);

/* Messages of which the end is still to come. */
unsigned messages_open(const struct messages *m);
/* Fails the test unless every message whose sender still knows it was received, all of it and once in a life of its
 * receiver, and its sender was told. */
void messages_validate_all_through(const struct messages *m);

#endif
