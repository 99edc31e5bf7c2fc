/* in_order.c - restores the order of messages (in_order.h). */
#include "workload/in_order.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Signed distance from sequence `of` to `sequence`, modulo 2^IN_ORDER_LIFE_SHIFT. */
static int32_t ahead(uint32_t sequence, uint32_t of)
{
    return (int32_t)((sequence - of) << (32 - IN_ORDER_LIFE_SHIFT)) >> (32 - IN_ORDER_LIFE_SHIFT);
}

static int32_t ahead_of_next(const struct in_order *o, uint32_t tag)
{
    return ahead(tag & IN_ORDER_SEQUENCE, o->next);
}

static struct in_order_slot *slot_of(struct in_order *o, uint32_t sequence)
{
    return &o->slot[sequence % HX_PEER_WINDOW];
}

/* Delivers a complete message. An incomplete one stays: its rest may arrive. */
static void give_slot(struct in_order_slot *slot, const struct in_order_out *to)
{
    if (!slot->whole)
        return;
    to->give(to->of, slot->data, slot->bytes);
    slot->whole = false;
    slot->have = 0;
}

static void step(struct in_order *o)
{
    o->next = (o->next + 1) & IN_ORDER_SEQUENCE;
}

static void give_due(struct in_order *o, const struct in_order_out *to)
{
    for (struct in_order_slot *slot = slot_of(o, o->next); slot->whole; slot = slot_of(o, o->next)) {
        give_slot(slot, to);
        step(o);
    }
}

/* Starts an incarnation of the sender: delivers what the old one left. A young incarnation's first messages may still
 * arrive. */
static void begin_life(struct in_order *o, uint32_t tag, const struct in_order_out *to)
{
    uint32_t sequence = tag & IN_ORDER_SEQUENCE;
    for (unsigned i = 0; i < HX_PEER_WINDOW; i++)
        give_slot(slot_of(o, o->next + i), to);
    o->met = true;
    o->life = (uint16_t)in_order_life(tag);
    o->next = sequence < HX_PEER_WINDOW ? 0 : sequence;
}

/* Skips messages that, by this tag, have ended. */
static void learn(struct in_order *o, uint32_t tag, const struct in_order_out *to)
{
    if (!o->met || o->life != in_order_life(tag))
        begin_life(o, tag, to);
    while (ahead_of_next(o, tag) >= HX_PEER_WINDOW) {
        give_slot(slot_of(o, o->next), to);
        step(o);
    }
    give_due(o, to);
}

static void take_slot(struct in_order_slot *slot, const struct hx_header *h)
{
    uint32_t room = h->message_packets * HX_MAX_PAYLOAD;
    if (slot->room < room) {
        free(slot->data);
        slot->data = hx_allocate(1, room);
        slot->room = room;
    }
    slot->tag = h->tag;
    slot->packets = (uint8_t)h->message_packets;
    slot->have = 0;
    slot->whole = false;
}

/* Copies a packet into its message's slot. A packet is dropped if a later message fills its slot; that one is delivered
 * first. */
static void hold(struct in_order *o, const struct hx_header *h, const uint8_t *payload)
{
    struct in_order_slot *slot = slot_of(o, h->tag);
    if (slot->whole)
        return;
    if (!slot->have || slot->tag != h->tag || slot->packets != h->message_packets)
        take_slot(slot, h);
    memcpy(slot->data + (size_t)h->offset * HX_MAX_PAYLOAD, payload, h->length);
    slot->have |= (uint8_t)(1U << h->offset);
}

void in_order_received(struct in_order *o, uint32_t tag, uint64_t bytes, const struct in_order_out *to)
{
    struct in_order_slot *slot = slot_of(o, tag);
    /* A message that lost its slot to another is incomplete here, though the endpoint has it. */
    if (slot->tag != tag || !slot->have || slot->have != (1U << slot->packets) - 1 || bytes > slot->room)
        return;
    slot->bytes = (uint32_t)bytes;
    slot->whole = true;
    if (ahead_of_next(o, tag) < 0 || o->life != in_order_life(tag))
        give_slot(slot, to);
    give_due(o, to);
}

/* Delivers the next message, or a late one, without a copy. */
static void pass_on(struct in_order *o, const struct hx_header *h, const uint8_t *payload,
                    const struct in_order_out *to)
{
    to->give(to->of, payload, h->length);
    if (ahead_of_next(o, h->tag) < 0)
        return;
    step(o);
    give_due(o, to);
}

bool in_order_place(struct in_order *o, const struct hx_header *h, const uint8_t *payload,
                    const struct in_order_out *to)
{
    if (h->message_packets == 0 || h->message_packets > IN_ORDER_PACKETS || h->offset >= h->message_packets)
        return false;
    learn(o, h->tag, to);
    bool single = h->message_packets == 1;
    if (single && ahead_of_next(o, h->tag) <= 0) {
        pass_on(o, h, payload, to);
        return true;
    }
    hold(o, h, payload);
    if (single)
        in_order_received(o, h->tag, h->length, to);
    return true;
}

void in_order_free(struct in_order *o)
{
    for (unsigned i = 0; i < HX_PEER_WINDOW; i++)
        free(o->slot[i].data);
    *o = (struct in_order){.met = false};
}
