/* endpoint_parts.h - what the endpoint's parts ask of each other: its sending side (endpoint.c), its receiving side
 * (endpoint_receive.c), what it does about answers that are late (endpoint_late.c), and about who a peer is
 * (endpoint_hello.c). */
#ifndef HX_ENDPOINT_PARTS_H
#define HX_ENDPOINT_PARTS_H

#include "hal_port.h"
#include "hxmesh/endpoint.h"

/* The entry of an accelerator, made now if it is new; NULL: there is no room for one more. Only for who is sent a
 * message, or has sent one: whatever else names an accelerator is looked up by hx_endpoint_peer(), and takes no
 * room. */
struct hx_peer *hx_endpoint_meet_peer(struct hx_endpoint *ep, uint32_t rank);

/* The rank of an address, by which peers are known, where d0 is below `columns`. */
static inline uint32_t hx_peer_rank(unsigned columns, unsigned addr_hi, unsigned addr_lo)
{
    return (uint32_t)addr_lo * columns + addr_hi;
}

/* Where the search for a rank begins. */
static inline uint32_t hx_endpoint_bucket(const struct hx_endpoint *ep, uint32_t rank)
{
    return rank * UINT32_C(0x9E3779B1) >> 7 & ep->bucket_mask;
}

/* The entry of an accelerator; NULL: it is not known. */
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

/* Where what is seldom needed of a peer has its place: whoever asks for it gives it one. */
static inline uint32_t hx_endpoint_place(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    uint32_t *which = &ep->rest_of[peer - ep->peer];
    if (*which == 0)
        *which = ++ep->rest_of[ep->peers];
    return *which - 1;
}

static inline struct hx_peer_rest *hx_endpoint_rest(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    return &ep->rest[hx_endpoint_place(ep, peer)];
}

/* A slot of a peer for arriving messages, and its map. */
static inline struct hx_receive *hx_endpoint_slot(const struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot)
{
    return slot == 0 ? &peer->first : &ep->slots[hx_endpoint_place(ep, peer)].in[slot - 1];
}

static inline struct hx_map *hx_endpoint_map(const struct hx_endpoint *ep, const struct hx_peer *peer, unsigned slot)
{
    return &hx_endpoint_rest(ep, peer)->map[slot];
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

/* Whether a packet of a send after `acked` is known to be there. */
static inline bool hx_endpoint_is_there(const struct hx_endpoint *ep, const struct hx_send *s, uint32_t packet)
{
    return s->mapped && hx_map_has(&ep->send_map[s - ep->send], packet);
}

/* Whether a packet is of the peer's incarnation that is known, and for this endpoint's. */
static inline bool hx_endpoint_is_known(const struct hx_endpoint *ep, const struct hx_header *h,
                                        const struct hx_peer *peer)
{
    return h->epoch == peer->epoch && (h->peer_epoch == ep->epoch_check || !h->peer_epoch);
}

/* What time is in units, modulo 2^32: more than twice unreachable_ns. */
static inline uint32_t hx_endpoint_clock(const struct hx_endpoint *ep)
{
    return (uint32_t)(hal_now(ep->hal) >> ep->unit_shift);
}

/* A header of the send's message. */
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

/* Packets of a send that were reported to have found no way, and have not gone out again. */
static inline struct hx_map *hx_endpoint_send_lost(const struct hx_endpoint *ep, const struct hx_send *s)
{
    return &ep->send_lost[s - ep->send];
}

/* An answer is awaited from now on. The deadline is looked up when the earliest that it can be has passed. */
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

/* Puts what a peer is owed, a slot's acknowledgement or (HX_PEER_WINDOW) a hello, into the list. */
static inline void hx_endpoint_owe(struct hx_endpoint *ep, const struct hx_peer *peer, unsigned slot)
{
    uint32_t at = ep->acks_first + ep->acks_count++;
    ep->ack[at >= ep->ack_slots ? at - ep->ack_slots : at] = (uint32_t)(peer - ep->peer) * HX_PEER_ANSWERS + slot;
}

/* ---- endpoint_receive.c ---- */

/* Consumes every arrival; returns how many. */
unsigned hx_endpoint_consume(struct hx_endpoint *ep);
/* Tells senders whose packets found no way on, as far as planes have room. Returns packets given. */
unsigned hx_endpoint_report(struct hx_endpoint *ep);
/* Header and payload of the acknowledgement for a slot, and marks the slot as taken off the list. false: there is
 * nothing to acknowledge, the peer has restarted since. */
bool hx_endpoint_write_ack(struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot, struct hx_header *h,
                           uint8_t *payload);
/* Nothing has come from the peer so far. */
void hx_endpoint_forget_arrivals(struct hx_endpoint *ep, struct hx_peer *peer);
/* The number of the message in a slot; of an empty one a number that no message in it has. */
uint32_t hx_endpoint_number_at(const struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot);
/* The peer says, asked when its slots had the numbers `before`, that its next message has the number `next`: slots that
 * are far behind wait for the newest below it. What was in a slot and has no number below it, is forged, and
 * forgotten. */
void hx_endpoint_take_number(struct hx_endpoint *ep, struct hx_peer *peer, uint32_t next, const uint32_t *before);

/* ---- endpoint.c ---- */

/* A plane with room for a packet, or ep->plane_end if none has any; those in `unreachable_planes` are left out. From plane `first`
 * on in turn, the next one or the roomiest one. */
unsigned hx_endpoint_find_plane(struct hx_endpoint *ep, unsigned unreachable_planes, unsigned first, bool roomiest);
/* `h` has kind, destination, its incarnation, and what is the message's; the rest is written here. */
void hx_endpoint_inject(struct hx_endpoint *ep, unsigned plane, uint32_t buffer, const struct hx_header *h);
/* After any change of what decides whether the send may inject. */
void hx_endpoint_update_ready(struct hx_endpoint *ep, struct hx_send *s);
void hx_endpoint_end_send(struct hx_endpoint *ep, struct hx_send *s, enum hx_event_type type, int error);

/* ---- endpoint_late.c ---- */

void hx_endpoint_take_ack(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer,
                          const uint8_t *payload);
void hx_endpoint_take_unreachable(struct hx_endpoint *ep, enum hx_kind kind, const struct hx_header *h,
                                  const struct hx_peer *peer);
/* A plane does not lead to the peer. false: none does, as far as is known. */
bool hx_endpoint_leave_out(struct hx_endpoint *ep, const struct hx_peer *peer, unsigned plane);
/* Planes to leave out on the way to a peer, bit by plane: never all. What is known of them is forgotten after most_ns,
 * so that a plane which leads there again is used again. */
unsigned hx_endpoint_unreachable_planes(struct hx_endpoint *ep, const struct hx_peer *peer);
/* The peer's incarnation is known now, or has changed. */
void hx_endpoint_note_epoch(struct hx_endpoint *ep, const struct hx_peer *peer);
/* Nothing of what was sent to the peer is there: all that is not finished goes out again. */
void hx_endpoint_restart_sends(struct hx_endpoint *ep, const struct hx_peer *peer);
/* Looks at one deadline, from when on one may have passed. Returns packets given. */
unsigned hx_endpoint_look_for_late(struct hx_endpoint *ep, uint64_t now);

/* ---- endpoint_hello.c ---- */

/* Whether a packet is of the peer as it is known, which it becomes by its first packet, and for this endpoint as it is;
 * if not the peer is asked. */
bool hx_endpoint_meet(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer);
/* Asks the peer who it is, and what its next message's number is; now and then only, however many packets give cause
 * to. */
void hx_endpoint_ask(struct hx_endpoint *ep, struct hx_peer *peer);
void hx_endpoint_take_hello(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer,
                            const uint8_t *payload);
/* Header and payload of what is to be said to the peer, and marks it as taken off the list. */
void hx_endpoint_write_hello(struct hx_endpoint *ep, struct hx_peer *peer, struct hx_header *h, uint8_t *payload);

#endif
