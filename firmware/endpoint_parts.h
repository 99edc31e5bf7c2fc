/* endpoint_parts.h - what the endpoint's parts share: initialisation (endpoint_setup.c), sending (endpoint.c),
 * receiving (endpoint_receive.c), timeouts (endpoint_late.c), incarnations of peers (endpoint_hello.c). */
#ifndef HX_ENDPOINT_PARTS_H
#define HX_ENDPOINT_PARTS_H

#include "hal_port.h"
#include "hxmesh/endpoint.h"

/* Returns the rank of an address; addr_hi is below `columns`. */
static inline uint32_t hx_peer_rank(unsigned columns, unsigned addr_hi, unsigned addr_lo)
{
    return (uint32_t)addr_lo * columns + addr_hi;
}

/* Returns the hash bucket where the search for a rank begins. */
static inline uint32_t hx_endpoint_bucket(const struct hx_endpoint *ep, uint32_t rank)
{
    return rank * UINT32_C(0x9E3779B1) >> 7 & ep->bucket_mask;
}

/* Returns the entry of an accelerator; NULL: unknown. */
static inline struct hx_peer *hx_endpoint_peer(const struct hx_endpoint *ep, uint32_t rank)
{
    if (!ep->bucket)
        return &ep->peer[rank];
    uint32_t at = hx_endpoint_bucket(ep, rank);
    for (; ep->bucket[at]; at = (at + 1) & ep->bucket_mask) {
        if (ep->peer[ep->bucket[at] - 1].rank == rank)
            return &ep->peer[ep->bucket[at] - 1];
    }
    return NULL;
}

/* Returns the rank of a known peer. */
static inline uint32_t hx_endpoint_rank(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    return ep->bucket ? peer->rank : (uint32_t)(peer - ep->peer);
}

/* Returns the index in slots and rest of a peer; allocates it if there is none. */
static inline uint32_t hx_endpoint_place(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    uint32_t *which = &ep->rest_of[peer - ep->peer];
    if (*which == 0)
        *which = ++ep->rest_of[ep->peers];
    return *which - 1;
}

/* Returns the slot of a message number. */
static inline unsigned hx_endpoint_slot_of(const struct hx_endpoint *ep, uint32_t message)
{
    return message & (ep->window - 1U);
}

/* Slots 1 and up of the entry `place` of ep->slots, and hx_peer.send of the slots from HX_PEER_WINDOW on. */
static inline struct hx_receive *hx_endpoint_further(const struct hx_endpoint *ep, uint32_t place)
{
    return (struct hx_receive *)(void *)(ep->slots + (size_t)place * ep->slot_bytes);
}

static inline uint16_t *hx_endpoint_further_sends(const struct hx_endpoint *ep, uint32_t place)
{
    return (uint16_t *)(void *)(hx_endpoint_further(ep, place) + ep->window - 1);
}

/* Where the index of the send in a slot is, plus one. */
static inline uint16_t *hx_endpoint_send_index(const struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot)
{
    return slot < HX_PEER_WINDOW ? &peer->send[slot]
                                 : &hx_endpoint_further_sends(ep, hx_endpoint_place(ep, peer))[slot - HX_PEER_WINDOW];
}

/* Returns the index of the message in flight to a peer in a slot, plus one; 0: none. */
static inline unsigned hx_endpoint_send_in(const struct hx_endpoint *ep, const struct hx_peer *peer, unsigned slot)
{
    uint32_t place = ep->rest_of[peer - ep->peer];
    if (slot < HX_PEER_WINDOW)
        return peer->send[slot];
    return place ? hx_endpoint_further_sends(ep, place - 1)[slot - HX_PEER_WINDOW] : 0;
}

/* Returns that message; NULL: none. */
static inline struct hx_send *hx_endpoint_send_at(const struct hx_endpoint *ep, const struct hx_peer *peer,
                                                  unsigned slot)
{
    unsigned index = hx_endpoint_send_in(ep, peer, slot);
    return index ? &ep->send[index - 1] : NULL;
}

static inline struct hx_peer_rest *hx_endpoint_rest(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    return &ep->rest[hx_endpoint_place(ep, peer)];
}

/* Slot of a peer for arriving messages, and its map. */
static inline struct hx_receive *hx_endpoint_slot(const struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot)
{
    return slot == 0 ? &peer->first : &hx_endpoint_further(ep, hx_endpoint_place(ep, peer))[slot - 1];
}

static inline struct hx_map *hx_endpoint_map(const struct hx_endpoint *ep, const struct hx_peer *peer, unsigned slot)
{
    return &ep->map[(size_t)hx_endpoint_place(ep, peer) * ep->window + slot];
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

/* Returns true if a packet after `acked` was acknowledged. */
static inline bool hx_endpoint_is_there(const struct hx_endpoint *ep, const struct hx_send *s, uint32_t packet)
{
    return s->mapped && hx_map_has(&ep->send_map[s - ep->send], packet);
}

/* Returns true if a packet is of the peer's known epoch, and for this endpoint's. */
static inline bool hx_endpoint_is_known(const struct hx_endpoint *ep, const struct hx_header *h,
                                        const struct hx_peer *peer)
{
    return h->epoch == peer->epoch && (h->peer_epoch == ep->epoch_check || !h->peer_epoch);
}

/* Returns the time in units, modulo 2^32, which is more than twice unreachable_ns. */
static inline uint32_t hx_endpoint_clock(const struct hx_endpoint *ep)
{
    return (uint32_t)(hal_now(ep->hal) >> ep->unit_shift);
}

/* Returns a header for the send's message. */
static inline struct hx_header hx_endpoint_head(const struct hx_send *s, enum hx_kind kind, uint32_t offset)
{
    return (struct hx_header){.kind = (uint8_t)kind,
                              .dst_addr_hi = s->dst_addr_hi,
                              .dst_addr_lo = s->dst_addr_lo,
                              .message = s->message,
                              .offset = offset,
                              .message_packets = s->packets,
                              .peer_epoch = s->peer_epoch,
                              .tag = s->tag};
}

/* Packets of a send that were reported unreachable and not yet sent again. */
static inline struct hx_map *hx_endpoint_send_lost(const struct hx_endpoint *ep, const struct hx_send *s)
{
    return &ep->send_lost[s - ep->send];
}

/* Starts the wait for an answer. The exact deadline is computed when the earliest possible one has passed. */
static inline void hx_endpoint_await_from(struct hx_endpoint *ep, struct hx_send *s, uint64_t now)
{
    s->quiet = now;
    uint64_t earliest = s->quiet + ep->config.least_ns;
    ep->soonest = earliest < ep->soonest ? earliest : ep->soonest;
    ep->sweep = earliest < ep->sweep ? earliest : ep->sweep;
}

static inline void hx_endpoint_await(struct hx_endpoint *ep, struct hx_send *s)
{
    hx_endpoint_await_from(ep, s, hal_now(ep->hal));
}

/* Queues an answer for a peer: a slot's acknowledgement, or (ep->window) a hello. */
static inline void hx_endpoint_queue_answer(struct hx_endpoint *ep, const struct hx_peer *peer, unsigned slot)
{
    uint32_t at = ep->acks_first + ep->acks_count++;
    ep->ack[at >= ep->ack_slots ? at - ep->ack_slots : at] = (uint32_t)(peer - ep->peer) << ep->answer_bits | slot;
}

/* ---- endpoint_setup.c ---- */

/* Returns the entry of an accelerator, and allocates it if it is new; NULL: no room. Only for accelerators that send or
 * are sent messages; others must not take room: see hx_endpoint_peer(). */
struct hx_peer *hx_endpoint_add_peer(struct hx_endpoint *ep, uint32_t rank);

/* ---- endpoint_receive.c ---- */

/* Consumes all arrivals; returns their number. */
unsigned hx_endpoint_consume(struct hx_endpoint *ep);
/* Sends queued unreachable reports as far as planes have room. Returns their number. */
unsigned hx_endpoint_report(struct hx_endpoint *ep);
/* Takes the acknowledgement of a slot off the list and writes its header and payload. Returns false if the peer has
 * restarted and there is none. */
bool hx_endpoint_write_ack(struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot, struct hx_header *h,
                           uint8_t *payload);
/* Resets the slots of a peer. */
void hx_endpoint_forget_arrivals(struct hx_endpoint *ep, struct hx_peer *peer);
/* Returns the number of the message in a slot; of an empty one a number that cannot be in it. */
uint32_t hx_endpoint_number_at(const struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot);
/* Applies the peer's statement, asked for when its slots had the numbers `before`, that its next message is `next`.
 * Slots that are far behind then expect their newest number below it. Messages that the peer never sent are forged and
 * removed. */
void hx_endpoint_take_number(struct hx_endpoint *ep, struct hx_peer *peer, uint32_t next, const uint32_t *before);

/* ---- endpoint.c ---- */

/* Returns a plane with room for a packet, searching from plane `first`: the next one or the roomiest one, without
 * `unreachable_planes`. ep->plane_end: none has room. */
unsigned hx_endpoint_find_plane(struct hx_endpoint *ep, unsigned unreachable_planes, unsigned first, bool roomiest);
/* Completes header `h`, which has kind, destination, peer_epoch and the message's fields, and injects the packet. */
void hx_endpoint_inject(struct hx_endpoint *ep, unsigned plane, uint32_t buffer, const struct hx_header *h);
/* Call after any change that affects whether the send may inject. */
void hx_endpoint_update_ready(struct hx_endpoint *ep, struct hx_send *s);
void hx_endpoint_end_send(struct hx_endpoint *ep, struct hx_send *s, enum hx_event_type type, int error);

/* ---- endpoint_late.c ---- */

void hx_endpoint_take_ack(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer,
                          const uint8_t *payload);
void hx_endpoint_take_unreachable(struct hx_endpoint *ep, enum hx_kind kind, const struct hx_header *h,
                                  const struct hx_peer *peer);
/* Marks a plane as not leading to the peer. Returns false if no plane is left. */
bool hx_endpoint_exclude_plane(struct hx_endpoint *ep, const struct hx_peer *peer, unsigned plane);
/* Returns the planes to avoid for a peer, bit by plane: never all. Marks expire after most_ns, so that a repaired plane
 * is used again. */
unsigned hx_endpoint_unreachable_planes(struct hx_endpoint *ep, const struct hx_peer *peer);
/* Updates the peer's sends after its epoch changed. */
void hx_endpoint_note_epoch(struct hx_endpoint *ep, const struct hx_peer *peer);
/* Restarts all unfinished sends to the peer: it has nothing of them. */
void hx_endpoint_restart_sends(struct hx_endpoint *ep, const struct hx_peer *peer);
/* Checks one deadline if one may have passed. Returns the packets sent. */
unsigned hx_endpoint_check_deadline(struct hx_endpoint *ep, uint64_t now);

/* ---- endpoint_hello.c ---- */

/* Returns true if a packet is of the peer's known epoch and for this endpoint's. The first packet sets the peer's
 * epoch. On a mismatch the peer is asked. */
bool hx_endpoint_check_epoch(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer);
/* Asks for the peer's epoch and next message number; rate-limited. */
void hx_endpoint_ask(struct hx_endpoint *ep, struct hx_peer *peer);
void hx_endpoint_take_hello(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer,
                            const uint8_t *payload);
/* Takes the hello for a peer off the list and writes its header and payload. */
void hx_endpoint_write_hello(struct hx_endpoint *ep, struct hx_peer *peer, struct hx_header *h, uint8_t *payload);

#endif
