/* endpoint_parts.h - what the endpoint's sending (endpoint.c) and receiving (endpoint_receive.c) sides ask of each
 * other. */
#ifndef HX_ENDPOINT_PARTS_H
#define HX_ENDPOINT_PARTS_H

#include "hxmesh/endpoint.h"

/* The entry of an accelerator, made now if it is new; NULL: there is no room for one more. */
struct hx_peer *hx_endpoint_new_peer(struct hx_endpoint *ep, uint32_t rank);

/* Where the search for a rank begins. */
static inline uint32_t hx_endpoint_place(const struct hx_endpoint *ep, uint32_t rank)
{
    return rank * UINT32_C(0x9E3779B1) >> 7 & ep->place_mask;
}

static inline struct hx_peer *hx_endpoint_peer(struct hx_endpoint *ep, uint32_t rank)
{
    if (!ep->place)
        return &ep->peer[rank];
    uint32_t at = hx_endpoint_place(ep, rank);
    for (; ep->place[at]; at = (at + 1) & ep->place_mask) {
        if (ep->peer[ep->place[at] - 1].rank == rank)
            return &ep->peer[ep->place[at] - 1];
    }
    return hx_endpoint_new_peer(ep, rank);
}

/* A slot of a peer for arriving messages, and its map. */
static inline struct hx_receive *hx_endpoint_slot(const struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot)
{
    return slot == 0 ? &peer->first : &ep->rest[peer - ep->peer].in[slot - 1];
}

static inline struct hx_map *hx_endpoint_map(const struct hx_endpoint *ep, const struct hx_peer *peer, unsigned slot)
{
    return &ep->rest[peer - ep->peer].map[slot];
}

static inline bool hx_map_has(const struct hx_map *map, uint32_t packet)
{
    return map->word[packet % HX_MESSAGE_WINDOW / 32] >> packet % 32 & 1U;
}

static inline void hx_map_put(struct hx_map *map, uint32_t packet, bool there)
{
    uint32_t *word = &map->word[packet % HX_MESSAGE_WINDOW / 32];
    uint32_t bit = (uint32_t)1 << packet % 32;
    *word = there ? *word | bit : *word & ~bit;
}

/* Receiving side: consumes every arrival; returns how many. */
unsigned hx_endpoint_consume(struct hx_endpoint *ep);
/* Header and payload of the acknowledgement for slot `which`, and marks the slot as taken off the list. false: there is
 * nothing to acknowledge, the peer has restarted since. */
bool hx_endpoint_write_ack(struct hx_endpoint *ep, uint32_t which, struct hx_header *h, uint8_t *payload);

/* Sending side. `h` has kind, destination, its incarnation, and what is the message's; the rest is written here. */
void hx_endpoint_inject(struct hx_endpoint *ep, unsigned plane, uint32_t buffer, struct hx_header *h);
void hx_endpoint_end_send(struct hx_endpoint *ep, struct hx_send *s, enum hx_event_type type, int error);
void hx_endpoint_take_ack(struct hx_endpoint *ep, const struct hx_header *h, const struct hx_peer *peer,
                          const uint8_t *payload);
void hx_endpoint_take_unreachable(struct hx_endpoint *ep, const struct hx_header *h, const struct hx_peer *peer);
/* The peer's incarnation is known now, or has changed. */
void hx_endpoint_note_epoch(struct hx_endpoint *ep, const struct hx_peer *peer);
/* The peer has restarted: everything it had not finished goes out again. */
void hx_endpoint_restart_sends(struct hx_endpoint *ep, const struct hx_peer *peer);

#endif
