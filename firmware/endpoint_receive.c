/* endpoint_receive.c - the endpoint's receiving side: judge, place, complete, acknowledge. */
#include "endpoint_parts.h"
#include "hal_port.h"
#include "hxmesh/error.h"
#include "hxmesh/memory.h"

enum { EMPTY, ACTIVE, DONE };
enum { EJECT_BURST = 32 };

/* Whether a packet at or after the base of a slot is here. */
static bool has(const struct hx_receive *r, const struct hx_map *map, uint32_t packet)
{
    return r->received > r->base && hx_map_has(map, packet);
}

static void queue_ack(struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot)
{
    struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
    if (r->queued)
        return;
    r->queued = true;
    uint32_t at = ep->acks_first + ep->acks_count++;
    ep->ack[at >= ep->ack_slots ? at - ep->ack_slots : at] = (uint32_t)(peer - ep->peer) * HX_PEER_WINDOW + slot;
}

bool hx_endpoint_write_ack(struct hx_endpoint *ep, uint32_t which, struct hx_header *h, uint8_t *payload)
{
    struct hx_peer *peer = &ep->peer[which / HX_PEER_WINDOW];
    unsigned slot = which % HX_PEER_WINDOW;
    struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
    const struct hx_map *map = hx_endpoint_map(ep, peer, slot);
    r->queued = false;
    if (r->state == EMPTY)
        return false;
    r->reported = r->received;
    r->reported_base = r->base;
    *h = (struct hx_header){.kind = HX_ACK,
                            .dst_gx = (uint16_t)(peer->rank % ep->config.columns),
                            .dst_gy = (uint16_t)(peer->rank / ep->config.columns),
                            .message = r->message,
                            .offset = r->base,
                            .message_packets = r->packets,
                            .peer_epoch = peer->epoch,
                            .tag = r->tag};
    if (r->received == r->base)
        return true;
    h->length = HX_MESSAGE_WINDOW / 8;
    memset(payload, 0, HX_MESSAGE_WINDOW / 8);
    for (uint32_t bit = 0; bit < HX_MESSAGE_WINDOW; bit++)
        payload[bit / 8] |= (uint8_t)((unsigned)has(r, map, r->base + bit) << bit % 8);
    return true;
}

static void complete(struct hx_endpoint *ep, const struct hx_header *h, struct hx_receive *r)
{
    r->state = DONE;
    ep->stats.messages_received++;
    struct hx_event event = {.type = HX_EVENT_RECEIVED,
                             .gx = h->src_gx,
                             .gy = h->src_gy,
                             .message = r->message,
                             .tag = r->tag,
                             .bytes = (uint64_t)(r->packets - 1) * HX_MAX_PAYLOAD + r->last_length};
    hal_event(ep->hal, &event);
}

/* Notes that a packet is here which was not. */
static void note_packet(struct hx_receive *r, struct hx_map *map, uint32_t packet)
{
    bool in_order = packet == r->base && r->received == r->base;
    r->received++;
    if (in_order) {
        r->base++;
        return;
    }
    hx_map_put(map, packet, true);
    for (; has(r, map, r->base); r->base++)
        hx_map_put(map, r->base, false);
}

static void place(struct hx_endpoint *ep, const struct hx_header *h, struct hx_receive *r, struct hx_map *map,
                  const uint8_t *payload)
{
    if (h->offset + 1 == h->message_packets)
        r->last_length = h->length;
    note_packet(r, map, h->offset);
    ep->stats.packets_delivered++;
    ep->stats.bytes_delivered += h->length;
    hal_place(ep->hal, h, payload);
}

/* The slot is for the packet's message from now on. If it is in the list of acknowledgements, its place speaks for that.
 *
 * Of a long message the first acknowledgement is due after 1 .. HX_ACK_EVERY packets, from peer to peer at another one:
 * where many messages come side by side, as in an all-to-all, acknowledging all of them at once would load the fabric by
 * a packet in 32 more for a while, which one that is nearly full does not get over. */
static void begin(const struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot, const struct hx_header *h)
{
    struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
    if (r->received > r->base)
        *hx_endpoint_map(ep, peer, slot) = (struct hx_map){{0}};
    bool queued = r->queued;
    *r = (struct hx_receive){.message = h->message, .packets = h->message_packets, .tag = h->tag, .state = ACTIVE};
    r->plane = h->plane;
    r->queued = queued;
    if (r->packets > HX_ACK_EVERY)
        r->reported = r->reported_base = 0U - peer->rank % HX_ACK_EVERY;
}

/* The slot for a data packet, made ready for its message; NULL and a named drop if the packet has no business here. */
static struct hx_receive *slot_for(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer)
{
    struct hx_receive *r = hx_endpoint_slot(ep, peer, h->message % HX_PEER_WINDOW);
    bool is_new = r->state == EMPTY || (int32_t)(h->message - r->message) > 0;
    uint32_t base = is_new ? 0 : r->base;
    if (!is_new && r->message != h->message) {
        hal_endpoint_drop(ep->hal, HX_DROP_STALE);
        return NULL;
    }
    if ((!is_new && h->message_packets != r->packets) || (h->offset >= base && h->offset - base >= HX_MESSAGE_WINDOW)) {
        hal_endpoint_drop(ep->hal, HX_DROP_UNEXPECTED);
        return NULL;
    }
    if (is_new)
        begin(ep, peer, h->message % HX_PEER_WINDOW, h);
    r->plane = h->plane;
    return r;
}

static void take_data(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer, const uint8_t *payload)
{
    unsigned slot = h->message % HX_PEER_WINDOW;
    if (h->peer_epoch && h->peer_epoch != ep->config.epoch) {
        /* Meant for who was here before: the answer tells the sender that it has to begin again. */
        struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
        if (r->state == EMPTY)
            begin(ep, peer, slot, h);
        queue_ack(ep, peer, slot);
        hal_endpoint_drop(ep->hal, HX_DROP_STALE);
        return;
    }
    struct hx_receive *r = slot_for(ep, h, peer);
    if (!r)
        return;
    struct hx_map *map = hx_endpoint_map(ep, peer, slot);
    if (r->state == DONE || h->offset < r->base || has(r, map, h->offset)) {
        hal_endpoint_drop(ep->hal, HX_DROP_DUPLICATE);
        queue_ack(ep, peer, slot); /* the acknowledgement may have been lost */
        return;
    }
    place(ep, h, r, map, payload);
    if (r->base == r->packets)
        complete(ep, h, r);
    /* A late packet that all others waited for moves the base by many at once, and may be what the sender waits for. */
    bool many = r->received - r->reported >= HX_ACK_EVERY || r->base - r->reported_base >= HX_ACK_EVERY;
    if (r->state == DONE || many)
        queue_ack(ep, peer, slot);
}

/* Learns the peer's incarnation; false: the packet is of an older one. */
static bool meet(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer)
{
    if (h->epoch == peer->epoch)
        return true;
    if (peer->epoch && (int8_t)(h->epoch - peer->epoch) < 0)
        return false;
    bool restarted = peer->epoch != 0;
    peer->epoch = h->epoch;
    hx_endpoint_note_epoch(ep, peer);
    if (restarted) {
        for (unsigned slot = 0; slot < HX_PEER_WINDOW; slot++)
            hx_endpoint_slot(ep, peer, slot)->state = EMPTY;
        hx_endpoint_restart_sends(ep, peer);
    }
    return true;
}

static void note_unreachable(struct hx_endpoint *ep, const struct hx_header *h, unsigned gx, unsigned gy)
{
    const struct hx_peer *peer = hx_endpoint_peer(ep, (uint32_t)gy * ep->config.columns + gx);
    if (peer)
        hx_endpoint_take_unreachable(ep, h, peer);
}

/* A packet of another destination is here because it found no way on: its sender is told, with its own buffer.
 * True if the buffer went out again. */
static bool report_unreachable(struct hx_endpoint *ep, const struct hx_header *h, unsigned plane, uint32_t buffer)
{
    hal_endpoint_drop(ep->hal, HX_DROP_UNREACHABLE);
    if (h->kind != HX_DATA)
        return false;
    struct hx_header report = {.kind = HX_UNREACHABLE,
                               .dst_gx = h->src_gx,
                               .dst_gy = h->src_gy,
                               .message = h->message,
                               .offset = h->offset,
                               .message_packets = h->message_packets,
                               .length = HX_REPORT_BYTES,
                               .tag = h->tag};
    const struct hx_peer *sender = hx_endpoint_peer(ep, (uint32_t)h->src_gy * ep->config.columns + h->src_gx);
    report.peer_epoch = sender ? sender->epoch : 0;
    if (h->src_gx == ep->config.gx && h->src_gy == ep->config.gy) {
        note_unreachable(ep, h, h->dst_gx, h->dst_gy);
        return false;
    }
    if (hal_inject_room(ep->hal, plane) == 0)
        return false; /* the sender tries again, and so does the report */
    uint8_t *payload = hal_frame(ep->hal, buffer) + HX_HEADER_BYTES;
    payload[0] = (uint8_t)(h->dst_gx >> 8);
    payload[1] = (uint8_t)h->dst_gx;
    payload[2] = (uint8_t)(h->dst_gy >> 8);
    payload[3] = (uint8_t)h->dst_gy;
    hx_endpoint_inject(ep, plane, buffer, &report);
    return true;
}

/* A report from wherever a packet of ours got stuck. */
static void take_report(struct hx_endpoint *ep, const struct hx_header *h, const uint8_t *payload)
{
    unsigned gx = (unsigned)payload[0] << 8 | payload[1];
    unsigned gy = (unsigned)payload[2] << 8 | payload[3];
    if (h->length != HX_REPORT_BYTES || gx >= ep->config.columns || gy >= ep->config.rows)
        hal_endpoint_drop(ep->hal, HX_DROP_MALFORMED);
    else
        note_unreachable(ep, h, gx, gy);
}

/* True if the buffer is still the endpoint's. */
static bool take(struct hx_endpoint *ep, unsigned plane, const struct hx_desc *d)
{
    const struct hx_endpoint_config *c = &ep->config;
    uint8_t *frame = hal_frame(ep->hal, d->buffer);
    struct hx_header h;
    if (hx_frame_decode(&h, frame, (size_t)HX_HEADER_BYTES + d->length) != HX_OK || h.dst_gx >= c->columns ||
        h.dst_gy >= c->rows || h.src_gx >= c->columns || h.src_gy >= c->rows || h.epoch == 0) {
        hal_endpoint_drop(ep->hal, HX_DROP_MALFORMED);
        return true;
    }
    if (c->check && h.crc != hal_crc32c(0, frame + HX_CRC_FIRST, HX_HEADER_BYTES - HX_CRC_FIRST + h.length)) {
        hal_endpoint_drop(ep->hal, HX_DROP_CHECKSUM);
        return true;
    }
    if (h.job != c->job) {
        hal_endpoint_drop(ep->hal, HX_DROP_FOREIGN_JOB);
        return true;
    }
    if (h.dst_gx != c->gx || h.dst_gy != c->gy)
        return !report_unreachable(ep, &h, plane, d->buffer);
    if (h.kind == HX_UNREACHABLE) {
        take_report(ep, &h, frame + HX_HEADER_BYTES);
        return true;
    }
    struct hx_peer *peer = hx_endpoint_peer(ep, (uint32_t)h.src_gy * c->columns + h.src_gx);
    if (!peer) {
        hal_endpoint_drop(ep->hal, HX_DROP_UNEXPECTED);
        return true;
    }
    if (!meet(ep, &h, peer)) {
        hal_endpoint_drop(ep->hal, HX_DROP_STALE);
        return true;
    }
    if (h.kind == HX_DATA)
        take_data(ep, &h, peer, frame + HX_HEADER_BYTES);
    else if (h.peer_epoch == 0 || h.peer_epoch == c->epoch)
        hx_endpoint_take_ack(ep, &h, peer, frame + HX_HEADER_BYTES);
    else
        hal_endpoint_drop(ep->hal, HX_DROP_STALE);
    return true;
}

unsigned hx_endpoint_consume(struct hx_endpoint *ep)
{
    unsigned taken = 0;
    for (unsigned plane = 0; plane < ep->config.planes; plane++) {
        struct hx_desc burst[EJECT_BURST];
        unsigned n = hal_ejected(ep->hal, plane, burst, EJECT_BURST);
        for (unsigned i = 0; i < n; i++) {
            if (take(ep, plane, &burst[i]))
                hal_buffer_put(ep->hal, burst[i].buffer);
        }
        taken += n;
    }
    return taken;
}
