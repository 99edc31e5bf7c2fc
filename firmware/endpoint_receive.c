/* endpoint_receive.c - the endpoint's receiving side: validate, place, complete, acknowledge. */
#include "endpoint_parts.h"
#include "frame_parts.h"
#include "hxmesh/error.h"
#include "hxmesh/memory.h"

enum { EMPTY, ACTIVE, DONE };
enum { EJECT_BURST = 32 };

/* An arriving message and its slot. */
struct arrival {
    const struct hx_endpoint *ep;
    struct hx_peer *peer;
    unsigned slot;
    struct hx_receive *r;
};

/* Returns the packets of a frame. */
static unsigned train_in(const struct hx_endpoint *ep, const struct hx_header *h)
{
    return hal_train(ep->hal) > 1 && h->kind == HX_DATA ? hx_packets(h->length) : 1;
}

/* Counts the packets of a frame as dropped. */
static void drop(struct hx_endpoint *ep, const struct hx_header *h, enum hx_drop reason)
{
    for (unsigned left = train_in(ep, h); left; left--)
        hal_endpoint_drop(ep->hal, reason);
}

/* Returns the word with a packet's bit: in the slot, or in its map, which is used only if needed. */
static uint32_t *word_of(const struct arrival *a, uint32_t packet)
{
    unsigned word = packet % HX_MESSAGE_WINDOW / 32;
    return word == 0 ? &a->r->early : &hx_endpoint_map(a->ep, a->peer, a->slot)->word[word];
}

/* Returns the bits of a train in that word: it is aligned (train_of() of endpoint.c). */
static uint32_t bits_of(uint32_t packet, unsigned train)
{
    return (uint32_t)(((uint64_t)1 << train) - 1) << packet % 32;
}

/* Returns true if some packet of a train at or after the base was received. */
static bool has_any(const struct arrival *a, uint32_t packet, unsigned train)
{
    return a->r->received > a->r->base && (*word_of(a, packet) & bits_of(packet, train));
}

static void queue_ack(struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot)
{
    struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
    if (r->queued)
        return;
    r->queued = true;
    hx_endpoint_queue_answer(ep, peer, slot);
}

/* Returns the bits of 32 packets. */
static uint32_t received_from(const struct arrival *a, uint32_t packet)
{
    uint64_t two = (uint64_t)*word_of(a, packet + 32) << 32 | *word_of(a, packet);
    return (uint32_t)(two >> packet % 32);
}

/* Writes a word of a bit map, its lowest byte first. */
static void put_word(uint8_t *to, uint32_t word)
{
    for (unsigned n = 0; n < 4; n++)
        to[n] = (uint8_t)(word >> 8 * n);
}

bool hx_endpoint_write_ack(struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot, struct hx_header *h,
                           uint8_t *payload)
{
    struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
    const struct arrival a = {ep, peer, slot, r};
    r->queued = false;
    if (r->state == EMPTY)
        return false;
    r->acked = r->received;
    r->acked_base = r->base;
    *h = (struct hx_header){.kind = HX_ACK,
                            .dst_addr_hi = (uint16_t)(hx_endpoint_rank(ep, peer) % ep->config.columns),
                            .dst_addr_lo = (uint16_t)(hx_endpoint_rank(ep, peer) / ep->config.columns),
                            .message = r->message,
                            .offset = r->base,
                            .message_packets = r->packets,
                            .peer_epoch = hx_epoch_check(peer->epoch),
                            .tag = r->probe};
    r->probe = 0;
    if (r->received == r->base)
        return true;
    h->length = HX_MESSAGE_WINDOW / 8;
    for (uint32_t at = 0; at < HX_MESSAGE_WINDOW; at += 32)
        put_word(payload + at / 8, received_from(&a, r->base + at));
    return true;
}

static void complete(struct hx_endpoint *ep, const struct hx_header *h, struct hx_receive *r)
{
    r->state = DONE;
    ep->stats.messages_received++;
    struct hx_event event = {.type = HX_EVENT_RECEIVED,
                             .addr_hi = h->src_addr_hi,
                             .addr_lo = h->src_addr_lo,
                             .message = r->message,
                             .tag = r->tag,
                             .bytes = (uint64_t)(r->packets - 1) * HX_MAX_PAYLOAD + r->last_length};
    hal_event(ep->hal, &event);
}

/* Notes a train if its first packet is the next one and all received ones are in order. Returns false if not. */
static bool note_in_order(struct hx_receive *r, uint32_t packet, unsigned train)
{
    if (packet != r->base || r->received != r->base)
        return false;
    r->base += train;
    r->received += train;
    return true;
}

/* Moves the base over packets that are there, and clears their bits. */
static void close_gap(const struct arrival *a)
{
    struct hx_receive *r = a->r;
    while (r->received > r->base) {
        uint32_t *word = word_of(a, r->base);
        uint64_t here = *word >> r->base % 32; /* bits beyond the word are 0 */
        unsigned there = (unsigned)__builtin_ctzll(~here);
        *word &= ~bits_of(r->base, there);
        r->base += there;
        if (there == 0 || r->base % 32)
            return;
    }
}

/* Notes a train that is received for the first time. */
static void note_packets(const struct arrival *a, uint32_t packet, unsigned train)
{
    struct hx_receive *r = a->r;
    if (note_in_order(r, packet, train))
        return;
    r->received += train;
    *word_of(a, packet) |= bits_of(packet, train);
    close_gap(a);
}

/* Starts a new message in the slot. A queued acknowledgement stays queued and covers it.
 *
 * The first acknowledgement of a long message is due after 1 .. HX_ACK_EVERY packets, depending on peer and receiver
 * (first_ack). In an all-to-all many messages advance in step: acknowledging all at once would add one packet in
 * HX_ACK_EVERY for a while, too much for a nearly saturated fabric. */
static void begin(const struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot, const struct hx_header *h)
{
    struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
    if (r->received > r->base && r->packets > HX_MAPLESS)
        *hx_endpoint_map(ep, peer, slot) = (struct hx_map){{0}};
    bool queued = r->queued;
    *r = (struct hx_receive){.message = h->message, .packets = h->message_packets, .tag = h->tag, .state = ACTIVE};
    r->plane = h->plane;
    r->queued = queued;
    if (r->packets > HX_ACK_EVERY)
        r->acked = r->acked_base = 0U - (hx_endpoint_rank(ep, peer) + ep->config.first_ack) % HX_ACK_EVERY;
}

/* Returns true if a number may be the slot's next message: the one after the present message, or the next but one if
 * none of its packets came. An empty slot has the least acceptable number. */
static bool may_follow(const struct hx_endpoint *ep, const struct hx_receive *r, uint32_t message)
{
    return message - r->message - (r->state != EMPTY) < 2U * ep->window;
}

/* Drops a packet if its message is neither the slot's nor may be its next. Late packets are common. A number too far
 * ahead, or a probe, which means that the message is in flight, shows that the slot is behind or holds a forged
 * message: asks the peer for its number. */
static void ask_for_number(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer,
                           const struct hx_receive *r)
{
    drop(ep, h, HX_DROP_STALE);
    if (h->kind == HX_PROBE || r->state == EMPTY || (int32_t)(h->message - r->message) > 0)
        hx_endpoint_ask(ep, peer);
}

/* Returns the slot for a packet, prepared for its message; NULL, with a counted drop, if the packet is not
 * acceptable. */
static struct hx_receive *slot_for(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer)
{
    struct hx_receive *r = hx_endpoint_slot(ep, peer, hx_endpoint_slot_of(ep, h->message));
    bool is_new = r->state == EMPTY || r->message != h->message;
    uint32_t base = is_new ? 0 : r->base;
    if (is_new && !may_follow(ep, r, h->message)) {
        ask_for_number(ep, h, peer, r);
        return NULL;
    }
    bool beyond = h->kind == HX_DATA && h->offset >= base && h->offset - base + train_in(ep, h) > HX_MESSAGE_WINDOW;
    if ((!is_new && h->message_packets != r->packets) || beyond) {
        drop(ep, h, HX_DROP_UNEXPECTED);
        return NULL;
    }
    if (is_new)
        begin(ep, peer, hx_endpoint_slot_of(ep, h->message), h);
    r->plane = h->plane;
    return r;
}

/* Returns true if a data packet is of the slot's active message. */
static bool is_active_message(const struct hx_receive *r, const struct hx_header *h)
{
    return r->state == ACTIVE && h->message == r->message && h->message_packets == r->packets;
}

/* Notes a train of a message that needs no map. The only branch is for duplicates, which are rare: one for packets in
 * order would be unpredictable. Returns false if some packet is a duplicate. */
static bool note_short(struct hx_receive *r, uint32_t packet, unsigned train)
{
    uint64_t bits = bits_of(packet, train);
    uint64_t here = r->early | (((uint64_t)1 << r->base) - 1);
    if (here & bits)
        return false;
    here |= bits;
    r->received += train;
    r->base = (uint32_t)__builtin_ctzll(~here);
    r->early = (uint32_t)(here & (here + 1)); /* packets behind a gap */
    return true;
}

/* Notes a train in the common cases. Returns false if note_other() must handle it. */
static bool note_common(struct hx_receive *r, const struct hx_header *h, unsigned train)
{
    if (!is_active_message(r, h))
        return false;
    return r->packets <= HX_MAPLESS ? note_short(r, h->offset, train) : note_in_order(r, h->offset, train);
}

/* Notes any other acceptable train. Returns false if it is not acceptable. A train is dropped whole if some packet of
 * it is there: that packet was sent again, and the others were too. */
static bool note_other(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer, unsigned slot,
                       unsigned train)
{
    struct hx_receive *r = slot_for(ep, h, peer);
    if (!r)
        return false;
    const struct arrival a = {ep, peer, slot, r};
    if (r->state == DONE || h->offset < r->base || has_any(&a, h->offset, train)) {
        drop(ep, h, HX_DROP_DUPLICATE);
        queue_ack(ep, peer, slot); /* its acknowledgement may have been lost */
        return false;
    }
    note_packets(&a, h->offset, train);
    return true;
}

/* Stores the payload of each packet of a train. */
static void write_train(struct hx_endpoint *ep, const struct hx_header *train, const uint8_t *payload)
{
    struct hx_header h = *train;
    for (unsigned left = train->length; left; left -= h.length, h.offset++, payload += HX_MAX_PAYLOAD) {
        h.length = (uint16_t)(left < HX_MAX_PAYLOAD ? left : HX_MAX_PAYLOAD);
        hal_write_payload(ep->hal, &h, payload);
    }
}

static void take_data(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer, const uint8_t *payload)
{
    unsigned slot = hx_endpoint_slot_of(ep, h->message);
    struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
    unsigned train = train_in(ep, h);
    if (note_common(r, h, train))
        r->plane = h->plane;
    else if (!note_other(ep, h, peer, slot, train))
        return;
    if (h->offset + train == h->message_packets)
        r->last_length = (uint16_t)(h->length - (train - 1) * HX_MAX_PAYLOAD);
    ep->stats.packets_delivered += train;
    ep->stats.bytes_delivered += h->length;
    if (train == 1)
        hal_write_payload(ep->hal, h, payload);
    else
        write_train(ep, h, payload);
    if (r->base == r->packets)
        complete(ep, h, r);
    /* A packet that closes a gap moves the base by many at once, and the sender may wait for that. */
    bool many = r->received - r->acked >= HX_ACK_EVERY || r->base - r->acked_base >= HX_ACK_EVERY;
    if (r->state == DONE || many)
        queue_ack(ep, peer, slot);
}

static void take_probe(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer)
{
    struct hx_receive *r = slot_for(ep, h, peer);
    if (!r || (r->queued && !r->probe))
        return; /* the queued acknowledgement says more: the packets were late, not lost */
    r->probe = (uint8_t)h->offset;
    queue_ack(ep, peer, hx_endpoint_slot_of(ep, h->message));
}

/* Empties a slot, which then accepts numbers from `least` on. */
static void empty_slot(struct hx_receive *r, uint32_t least)
{
    r->state = EMPTY;
    r->message = least;
}

void hx_endpoint_forget_arrivals(struct hx_endpoint *ep, struct hx_peer *peer)
{
    for (unsigned slot = 0; slot < ep->window; slot++)
        empty_slot(hx_endpoint_slot(ep, peer, slot), 0);
}

uint32_t hx_endpoint_number_at(const struct hx_endpoint *ep, struct hx_peer *peer, unsigned slot)
{
    const struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
    return r->state == EMPTY ? slot + 1 : r->message;
}

void hx_endpoint_take_number(struct hx_endpoint *ep, struct hx_peer *peer, uint32_t next, const uint32_t *before)
{
    for (unsigned slot = 0; slot < ep->window; slot++) {
        struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
        uint32_t newest = next - 1 - hx_endpoint_slot_of(ep, next - 1 - slot);
        bool is_behind = (int32_t)(newest - r->message) > ep->window;
        bool was_never_sent = r->message == before[slot] && (int32_t)(r->message - next) >= 0;
        if (r->state == EMPTY || is_behind || was_never_sent)
            empty_slot(r, newest);
    }
}

/* Sends an acknowledgement that had no path again by another plane. Without one, the message's sender probes, and all
 * planes are tried again. */
static void repeat_ack(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer)
{
    unsigned slot = hx_endpoint_slot_of(ep, h->message);
    struct hx_receive *r = hx_endpoint_slot(ep, peer, slot);
    if (r->state == EMPTY || r->message != h->message || !hx_endpoint_exclude_plane(ep, peer, h->plane))
        return;
    r->probe = r->probe ? r->probe : (uint8_t)h->tag;
    queue_ack(ep, peer, slot);
}

/* Handles an own packet to (addr_hi, addr_lo) that had no path. `h` is its header, or that of the report. */
static void note_unreachable(struct hx_endpoint *ep, enum hx_kind kind, const struct hx_header *h, unsigned addr_hi,
                             unsigned addr_lo)
{
    struct hx_peer *peer = hx_endpoint_peer(ep, hx_peer_rank(ep->config.columns, addr_hi, addr_lo));
    if (peer && kind == HX_ACK)
        repeat_ack(ep, h, peer);
    else if (peer)
        hx_endpoint_take_unreachable(ep, kind, h, peer);
}

static bool is_reported(unsigned kind)
{
    return kind == HX_DATA || kind == HX_ACK || kind == HX_PROBE;
}

/* Queues a report for a packet that came here without a path to its destination; it goes by the packet's plane. If the
 * queue is full it is dropped, and the sender probes after its timeout. */
static void queue_report(struct hx_endpoint *ep, const struct hx_header *h, unsigned plane)
{
    hal_endpoint_drop(ep->hal, HX_DROP_UNREACHABLE);
    if (!is_reported(h->kind))
        return;
    if (h->src_addr_hi == ep->config.addr_hi && h->src_addr_lo == ep->config.addr_lo) {
        note_unreachable(ep, h->kind, h, h->dst_addr_hi, h->dst_addr_lo);
        return;
    }
    if (ep->reports_count == HX_REPORTS)
        return;
    ep->report[(ep->reports_first + ep->reports_count++) % HX_REPORTS] =
        (struct hx_report){.src_addr_hi = h->src_addr_hi,
                           .src_addr_lo = h->src_addr_lo,
                           .dst_addr_hi = h->dst_addr_hi,
                           .dst_addr_lo = h->dst_addr_lo,
                           .message = h->message,
                           .offset = h->kind == HX_DATA ? h->offset : 0,
                           .message_packets = h->message_packets,
                           .tag = h->tag,
                           .epoch = hx_epoch_check(h->epoch),
                           .plane = (uint8_t)plane,
                           .kind = h->kind};
}

/* Queues a report for each packet of a frame. */
static void queue_reports(struct hx_endpoint *ep, struct hx_header h, unsigned plane)
{
    for (unsigned left = train_in(ep, &h); left; left--, h.offset++)
        queue_report(ep, &h, plane);
}

static void write_report(const struct hx_report *r, struct hx_header *h, uint8_t *payload)
{
    *h = (struct hx_header){.kind = HX_UNREACHABLE,
                            .dst_addr_hi = r->src_addr_hi,
                            .dst_addr_lo = r->src_addr_lo,
                            .message = r->message,
                            .offset = r->offset,
                            .message_packets = r->message_packets,
                            .peer_epoch = r->epoch,
                            .length = HX_REPORT_BYTES,
                            .tag = r->tag};
    payload[0] = (uint8_t)(r->dst_addr_hi >> 8);
    payload[1] = (uint8_t)r->dst_addr_hi;
    payload[2] = (uint8_t)(r->dst_addr_lo >> 8);
    payload[3] = (uint8_t)r->dst_addr_lo;
    payload[4] = r->kind;
}

unsigned hx_endpoint_report(struct hx_endpoint *ep)
{
    unsigned given = 0;
    for (unsigned left = ep->reports_count; left > 0; left--) {
        const struct hx_report r = ep->report[ep->reports_first];
        uint32_t buffer;
        bool goes = hal_inject_room(ep->hal, r.plane) > 0 && hal_buffer_get(ep->hal, &buffer, true);
        ep->reports_first = (uint16_t)((ep->reports_first + 1) % HX_REPORTS);
        if (goes) {
            struct hx_header h;
            write_report(&r, &h, hal_frame(ep->hal, buffer) + HX_HEADER_BYTES);
            hx_endpoint_inject(ep, r.plane, buffer, &h);
            ep->reports_count--;
            given++;
        } else { /* reports for other planes may have room */
            ep->report[(ep->reports_first + ep->reports_count - 1) % HX_REPORTS] = r;
        }
    }
    return given;
}

/* Takes a report of an own packet that had no path. */
static void take_report(struct hx_endpoint *ep, const struct hx_header *h, const uint8_t *payload)
{
    unsigned addr_hi = (unsigned)payload[0] << 8 | payload[1];
    unsigned addr_lo = (unsigned)payload[2] << 8 | payload[3];
    if (h->length != HX_REPORT_BYTES || addr_hi >= ep->config.columns || addr_lo >= ep->config.rows ||
        !is_reported(payload[4]))
        hal_endpoint_drop(ep->hal, HX_DROP_MALFORMED);
    else if (h->peer_epoch != ep->epoch_check)
        hal_endpoint_drop(ep->hal, HX_DROP_STALE);
    else
        note_unreachable(ep, payload[4], h, addr_hi, addr_lo);
}

/* Reads the header of a frame. Returns false, with a counted drop, if it is malformed, corrupted or of another job. */
static inline bool validate(struct hx_endpoint *ep, const uint8_t *frame, size_t bytes, struct hx_header *h)
{
    const struct hx_endpoint_config *c = &ep->config;
    if (hx_frame_read(h, frame, bytes, hal_train(ep->hal)) != HX_OK || h->dst_addr_hi >= c->columns ||
        h->dst_addr_lo >= c->rows || h->src_addr_hi >= c->columns || h->src_addr_lo >= c->rows) {
        hal_endpoint_drop(ep->hal, HX_DROP_MALFORMED);
        return false;
    }
    if (c->check && h->crc != hal_crc32c(0, frame + HX_CRC_FIRST, HX_HEADER_BYTES - HX_CRC_FIRST + h->length)) {
        drop(ep, h, HX_DROP_CHECKSUM);
        return false;
    }
    if (h->job != c->job) {
        drop(ep, h, HX_DROP_FOREIGN_JOB);
        return false;
    }
    return true;
}

/* Returns the sender of a frame, which it adds if it is new. NULL, with a counted drop: no room for another peer, or an
 * acknowledgement for an earlier incarnation. */
static inline struct hx_peer *sender_of(struct hx_endpoint *ep, const struct hx_header *h)
{
    uint32_t source = hx_peer_rank(ep->config.columns, h->src_addr_hi, h->src_addr_lo);
    bool begins = h->kind != HX_ACK;
    struct hx_peer *peer = hx_endpoint_peer(ep, source);
    if (!peer && begins)
        peer = hx_endpoint_add_peer(ep, source);
    if (!peer)
        drop(ep, h, begins ? HX_DROP_UNEXPECTED : HX_DROP_STALE);
    return peer;
}

static void take_from_peer(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer,
                           const uint8_t *payload)
{
    if (h->kind == HX_HELLO)
        hx_endpoint_take_hello(ep, h, peer, payload);
    else if (!hx_endpoint_is_known(ep, h, peer) && !hx_endpoint_check_epoch(ep, h, peer))
        drop(ep, h, HX_DROP_STALE);
    else if (h->kind == HX_DATA)
        take_data(ep, h, peer, payload);
    else if (h->kind == HX_PROBE)
        take_probe(ep, h, peer);
    else
        hx_endpoint_take_ack(ep, h, peer, payload);
}

static void take_frame(struct hx_endpoint *ep, unsigned plane, const struct hx_desc *d)
{
    uint8_t *frame = hal_frame(ep->hal, d->buffer);
    struct hx_header h;
    struct hx_peer *peer;
    if (!validate(ep, frame, (size_t)HX_HEADER_BYTES + d->length, &h))
        return;
    if (h.dst_addr_hi != ep->config.addr_hi || h.dst_addr_lo != ep->config.addr_lo)
        queue_reports(ep, h, plane);
    else if (h.kind == HX_UNREACHABLE)
        take_report(ep, &h, frame + HX_HEADER_BYTES);
    else if ((peer = sender_of(ep, &h)))
        take_from_peer(ep, &h, peer, frame + HX_HEADER_BYTES);
}

unsigned hx_endpoint_consume(struct hx_endpoint *ep)
{
    unsigned taken = 0;
    for (unsigned left = ep->config.plane_set; left; left &= left - 1) {
        unsigned plane = (unsigned)__builtin_ctz(left);
        struct hx_desc burst[EJECT_BURST];
        unsigned n = hal_ejected(ep->hal, plane, burst, EJECT_BURST);
        for (unsigned i = 0; i < n; i++) {
            take_frame(ep, plane, &burst[i]);
            hal_buffer_put(ep->hal, burst[i].buffer);
        }
        taken += n;
    }
    return taken;
}
