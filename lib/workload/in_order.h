/* in_order.h - delivers messages of a source in the order of sending. IP packets need it: TCP takes reordering for
 * loss. The fabric sprays and repeats packets, so messages arrive in any order.
 *
 * A sender numbers its messages to a host in their tags:
 *
 *     mark 1 | incarnation 11 | sequence 20
 *
 *     mark         1: tags of other messages between programs (hal/program/attachment.h) have 0
 *     incarnation  of the sender towards this host (`life`)
 *     sequence     0, 1, 2, ... in each incarnation
 *
 * A sender has at most HX_PEER_WINDOW messages in flight to a host. So a packet of message n shows that all messages up
 * to n - HX_PEER_WINDOW were delivered or failed. A sender starts a new incarnation when it restarts, and when a
 * message fails, so that later messages do not wait for it. A restarted receiver begins with what arrives. So only a
 * restart or a failure can break the order, and no message is delivered twice. */
#ifndef IN_ORDER_H
#define IN_ORDER_H

#include "hxmesh/endpoint.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    IN_ORDER_LIFE_SHIFT = 20,
    IN_ORDER_SEQUENCE = (1 << IN_ORDER_LIFE_SHIFT) - 1, /* mask */
    IN_ORDER_MARK_SHIFT = 31,
    IN_ORDER_LIFE = (1 << (IN_ORDER_MARK_SHIFT - IN_ORDER_LIFE_SHIFT)) - 1, /* mask, after the shift */
    IN_ORDER_PACKETS = 8                                                    /* of a message, at most */
};

static inline uint32_t in_order_tag(unsigned life, uint32_t sequence)
{
    return UINT32_C(1) << IN_ORDER_MARK_SHIFT | (life & IN_ORDER_LIFE) << IN_ORDER_LIFE_SHIFT |
           (sequence & IN_ORDER_SEQUENCE);
}

/* Whether a tag has the mark, and the incarnation in it. */
static inline bool in_order_has_mark(uint32_t tag)
{
    return tag >> IN_ORDER_MARK_SHIFT;
}
static inline unsigned in_order_life(uint32_t tag)
{
    return tag >> IN_ORDER_LIFE_SHIFT & IN_ORDER_LIFE;
}

/* A message that arrives, or waits for an earlier one. Invariant: if `whole`, `have` has the bits of all packets. */
struct in_order_slot {
    uint32_t tag, bytes, room;
    uint8_t packets, have; /* have: packets that arrived, one bit each; 0: the slot is empty */
    bool whole;
    uint8_t *data; /* [room] */
};

/* State of a source, zero at first. Invariant: no slot holds a whole message with the sequence `next`. */
struct in_order {
    bool met; /* a packet arrived */
    uint16_t life;
    uint32_t next;                             /* sequence to deliver next */
    struct in_order_slot slot[HX_PEER_WINDOW]; /* by sequence */
};

/* Receiver of messages; the data is valid during the call. */
struct in_order_out {
    void (*give)(void *of, const uint8_t *data, uint32_t bytes);
    void *of;
};

/* Takes a packet that the endpoint places; call once for each. A one-packet message that is due is delivered without a
 * copy; others are copied. Returns false if no sender of this kind sent it. */
bool in_order_place(struct in_order *o, const struct hx_header *h, const uint8_t *payload,
                    const struct in_order_out *to);

/* Marks a message as complete. Needed for messages of more than one packet. */
void in_order_received(struct in_order *o, uint32_t tag, uint64_t bytes, const struct in_order_out *to);

void in_order_free(struct in_order *o);

#endif
