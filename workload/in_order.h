/* in_order.h - messages of one source, in the order in which they were sent, where that matters (IP packets: TCP takes
 * reordering for loss). The fabric sprays packets and repeats them, so they come in any order.
 *
 * A sender numbers its messages to a host in their tags:
 *
 *     mark 1 | life 11 | sequence 20
 *
 *     mark        1: what programs send each other beside these (hal/program/attachment.h) has tags without it
 *     life        of the sender towards this host
 *     sequence    0, 1, 2, ... in each life
 *
 * Of a pair at most HX_PEER_WINDOW messages are under way, so a packet of message n says that all up to n -
 * HX_PEER_WINDOW have ended: they have come, or were given up. A sender begins another life when it is started anew and
 * when it gives up a message, so that those behind it wait for nothing. A receiver that is started anew begins with
 * what comes. So order is lost, if at all, for some messages when something dies, and none is ever given out twice by
 * this. */
#ifndef IN_ORDER_H
#define IN_ORDER_H

#include "hxmesh/endpoint.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    IN_ORDER_LIFE_SHIFT = 20,
    IN_ORDER_SEQUENCE = (1 << IN_ORDER_LIFE_SHIFT) - 1, /* mask */
    IN_ORDER_MARK_SHIFT = 31,
    IN_ORDER_LIFE = (1 << (IN_ORDER_MARK_SHIFT - IN_ORDER_LIFE_SHIFT)) - 1, /* mask, of what is moved down */
    IN_ORDER_PACKETS = 8                                                    /* of a message, at most */
};

static inline uint32_t in_order_tag(unsigned life, uint32_t sequence)
{
    return UINT32_C(1) << IN_ORDER_MARK_SHIFT | (life & IN_ORDER_LIFE) << IN_ORDER_LIFE_SHIFT |
           (sequence & IN_ORDER_SEQUENCE);
}

/* Whether it is the tag of such a message, and the life that it is of. */
static inline bool in_order_has_mark(uint32_t tag)
{
    return tag >> IN_ORDER_MARK_SHIFT;
}
static inline unsigned in_order_life(uint32_t tag)
{
    return tag >> IN_ORDER_LIFE_SHIFT & IN_ORDER_LIFE;
}

/* A message that arrives, or waits for one before it. Invariant: whole only if `have` has the bits of all its
 * packets. */
struct in_order_slot {
    uint32_t tag, bytes, room;
    uint8_t packets, have; /* of these, here: bit by packet; 0: the slot is empty */
    bool whole;
    uint8_t *data; /* [room] */
};

/* All zero at first. Invariant: no slot holds a whole message with the sequence `next`. */
struct in_order {
    bool met; /* something came */
    uint16_t life;
    uint32_t next;                             /* sequence that is given out next */
    struct in_order_slot slot[HX_PEER_WINDOW]; /* by sequence */
};

/* Whom messages are given to; the data is theirs only meanwhile. */
struct in_order_out {
    void (*give)(void *of, const uint8_t *data, uint32_t bytes);
    void *of;
};

/* A packet that the endpoint places: once each. A message of one packet that is due is given out from where it lies,
 * any other is copied. false: no sender of this kind has sent it. */
bool in_order_place(struct in_order *o, const struct hx_header *h, const uint8_t *payload,
                    const struct in_order_out *to);

/* The endpoint says that all of a message is here: of one with more than one packet it has to be told. */
void in_order_received(struct in_order *o, uint32_t tag, uint64_t bytes, const struct in_order_out *to);

/* Gives its memory back. */
void in_order_free(struct in_order *o);

#endif
