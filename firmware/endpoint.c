/* endpoint.c - the endpoint's step and its sending side (include/hxmesh/endpoint.h). endpoint_setup.c has
 * initialisation and the table of peers, endpoint_receive.c the receiving side, endpoint_late.c timeouts,
 * endpoint_hello.c incarnations of peers. */
#include "hxmesh/endpoint.h"
#include "endpoint_parts.h"
#include "frame_parts.h"
#include "hal_port.h"
#include "hxmesh/error.h"
#include "hxmesh/memory.h"
#include "send_set.h"

enum {
    EVEN_LOOKS = 16,               /* sends looked at for a plane */
    INJECT_BURST = 32,             /* packets a step */
    TIMED = 2 * HX_MESSAGE_WINDOW, /* packet numbers in `timed` */
};
enum { TRAINS_OF_MESSAGE = 8, TRAINS_LEFT = 4 }; /* so long a message, or its rest, for a train of that length */

/* ---- the order of messages ---- */

static unsigned place_of(const struct hx_endpoint *ep, const struct hx_send *s)
{
    unsigned index = (unsigned)(s - ep->send);
    return ep->place ? ep->place[index] : index;
}

static void restart_turns(struct hx_endpoint *ep)
{
    for (unsigned plane = 0; plane < ep->plane_end; plane++)
        ep->turn[plane] = 0;
}

/* Moves sends in flight to the first places, in their order. */
static void close_gaps(struct hx_endpoint *ep)
{
    unsigned end = 0;
    for (unsigned place = 0; place < ep->placed; place++) {
        unsigned index = ep->sender[place];
        bool due = hx_send_set_has(&ep->due, place);
        if (!ep->send[index].active || ep->place[index] != place)
            continue;
        hx_send_set_put(&ep->due, place, false);
        hx_send_set_put(&ep->due, end, due);
        ep->place[index] = (uint16_t)end;
        ep->sender[end++] = (uint16_t)index;
    }
    ep->placed = (uint16_t)end;
    restart_turns(ep);
}

/* Gives a new send, which is not active yet, the last place. */
static void take_place(struct hx_endpoint *ep, unsigned index)
{
    if (ep->placed == ep->places)
        close_gaps(ep);
    ep->place[index] = ep->placed;
    ep->sender[ep->placed++] = (uint16_t)index;
}

/* All sends have ended: the next one is the first. */
static void free_places(struct hx_endpoint *ep)
{
    ep->placed = 0;
    restart_turns(ep);
}

/* Returns the place of the next due send, from place `from` on; of the config.at_once oldest ones, if that is set. */
static unsigned next_due(const struct hx_endpoint *ep, unsigned from)
{
    unsigned oldest = ep->place ? hx_send_set_next(&ep->due, 0) : 0;
    unsigned place = oldest;
    if (!ep->place)
        return hx_send_set_next(&ep->due, from);
    for (unsigned n = 1; n < ep->config.at_once && place < from; n++) {
        unsigned next = hx_send_set_next(&ep->due, (place + 1) % HX_MAX_SENDS);
        if (next <= place)
            return oldest;
        place = next;
    }
    return place < from ? oldest : place;
}

/* ---- which sends may inject ---- */

/* Returns true if a packet that was never sent may go. */
static bool has_unsent(const struct hx_send *s)
{
    return s->next < s->packets && s->next - s->acked < HX_MESSAGE_WINDOW;
}

static bool may_inject(const struct hx_send *s)
{
    return !s->waits && (s->reported || s->resend < s->next || has_unsent(s));
}

static void put_due(struct hx_endpoint *ep, const struct hx_send *s)
{
    hx_send_set_put(&ep->due, place_of(ep, s), s->ready && !s->behind);
}

/* The older of two messages to a peer goes first. It is acknowledged while the younger keeps the link busy, and a
 * sender with many messages for one peer does not favour that peer. */
void hx_endpoint_update_ready(struct hx_endpoint *ep, struct hx_send *s)
{
    bool ready = s->active && may_inject(s);
    if (ready == s->ready)
        return;
    s->ready = ready;
    put_due(ep, s);
    if (s->younger == HX_NO_SEND)
        return;
    struct hx_send *younger = &ep->send[s->younger];
    younger->behind = ready;
    put_due(ep, younger);
}

/* Returns the send of the previous message to the peer, or NULL. */
static struct hx_send *older_of(struct hx_endpoint *ep, const struct hx_peer *peer, const struct hx_send *s)
{
    return hx_endpoint_send_at(ep, peer, hx_endpoint_slot_of(ep, s->message - 1));
}

/* Returns the plane after that of the last train to the peer. If none is in flight, messages that begin together take
 * planes in turn. After a message for each plane the next peer's begin on the same planes, so peers' messages complete
 * in turn. */
static unsigned first_plane(const struct hx_endpoint *ep, const struct hx_send *s, const struct hx_send *older)
{
    unsigned train = hal_train(ep->hal);
    return (older ? older->first_plane + (older->packets + train - 1) / train : s->message + ep->active) %
           ep->plane_end;
}

int hx_endpoint_send(struct hx_endpoint *ep, unsigned addr_hi, unsigned addr_lo, uint64_t bytes, uint32_t tag,
                     uint64_t cookie)
{
    uint64_t packets = bytes ? bytes / HX_MAX_PAYLOAD + (bytes % HX_MAX_PAYLOAD != 0) : 1;
    if (addr_hi >= ep->config.columns || addr_lo >= ep->config.rows || packets > UINT32_MAX)
        return HX_E_RANGE;
    uint32_t rank = hx_peer_rank(ep->config.columns, addr_hi, addr_lo);
    struct hx_peer *peer = hx_endpoint_add_peer(ep, rank);
    if (!peer)
        return HX_E_CAPACITY;
    unsigned slot = hx_endpoint_slot_of(ep, peer->next_message);
    if (!hx_endpoint_takes(ep) || hx_endpoint_send_in(ep, peer, slot))
        return HX_E_BUSY;
    unsigned index = hx_send_set_next(&ep->idle, 0);
    struct hx_send *s = &ep->send[index];
    hx_send_set_put(&ep->idle, index, false);
    if (ep->place)
        take_place(ep, index);
    ep->active++;
    *hx_endpoint_send_index(ep, peer, slot) = (uint16_t)(index + 1);
    *s = (struct hx_send){.peer = rank,
                          .dst_addr_hi = (uint16_t)addr_hi,
                          .dst_addr_lo = (uint16_t)addr_lo,
                          .message = peer->next_message++,
                          .packets = (uint32_t)packets,
                          .tag = tag,
                          .last_length = (unsigned)(bytes - (packets - 1) * HX_MAX_PAYLOAD) & 0x3FFFU,
                          .younger = HX_NO_SEND,
                          .peer_epoch = hx_epoch_check(peer->epoch),
                          .unreachable_planes = hx_endpoint_unreachable_planes(ep, peer) & 0xF,
                          .active = true,
                          .cookie = cookie};
    struct hx_send *older = older_of(ep, peer, s);
    if (older) {
        older->younger = (uint16_t)index;
        s->behind = older->ready;
    }
    if (ep->plane_end > 1)
        s->first_plane = first_plane(ep, s, older) & 3U;
    hx_endpoint_await(ep, s);
    hx_endpoint_update_ready(ep, s);
    return HX_OK;
}

static uint64_t bytes_of(const struct hx_send *s)
{
    return (uint64_t)(s->packets - 1) * HX_MAX_PAYLOAD + s->last_length;
}

void hx_endpoint_end_send(struct hx_endpoint *ep, struct hx_send *s, enum hx_event_type type, int error)
{
    unsigned index = (unsigned)(s - ep->send);
    s->active = false;
    hx_endpoint_update_ready(ep, s);
    hx_send_set_put(&ep->idle, index, true);
    ep->active--;
    if (ep->place && ep->active == 0)
        free_places(ep);
    struct hx_peer *peer = hx_endpoint_peer(ep, s->peer);
    struct hx_send *older = older_of(ep, peer, s);
    if (older)
        older->younger = HX_NO_SEND;
    *hx_endpoint_send_index(ep, peer, hx_endpoint_slot_of(ep, s->message)) = 0;
    if (type == HX_EVENT_SENT)
        ep->stats.messages_sent++;
    else
        ep->stats.messages_failed++;
    struct hx_event event = {type, error, s->dst_addr_hi, s->dst_addr_lo, s->message, s->tag, bytes_of(s), s->cookie};
    hal_event(ep->hal, &event);
}

/* ---- inject ---- */

unsigned hx_endpoint_find_plane(struct hx_endpoint *ep, unsigned unreachable_planes, unsigned first, bool roomiest)
{
    unsigned planes = ep->plane_end;
    unsigned leads = ep->config.plane_set & ~unreachable_planes;
    unsigned plane = planes > 1 ? first % planes : 0;
    unsigned best = planes;
    unsigned most = 0;
    for (unsigned n = 0; n < planes && (roomiest || most == 0); n++) {
        unsigned room = leads >> plane & 1U ? hal_inject_room(ep->hal, plane) : 0;
        best = room > most ? plane : best;
        most = room > most ? room : most;
        plane = plane + 1 == planes ? 0 : plane + 1;
    }
    return best;
}

/* Inlined, so that the header stays in registers. */
static inline __attribute__((always_inline)) void inject(struct hx_endpoint *ep, unsigned plane, uint32_t buffer,
                                                         struct hx_header h)
{
    uint8_t *frame = hal_frame(ep->hal, buffer);
    h.plane = (uint8_t)plane;
    h.job = ep->config.job;
    hx_frame_encode_own(frame, ep->own, &h);
    if (ep->config.check)
        hx_frame_set_crc(frame, hal_crc32c(0, frame + HX_CRC_FIRST, HX_HEADER_BYTES - HX_CRC_FIRST + h.length));
    const struct hx_desc d = {
        .buffer = buffer, .length = h.length, .dst_addr_hi = h.dst_addr_hi, .dst_addr_lo = h.dst_addr_lo, .job = h.job};
    hal_inject(ep->hal, plane, &d);
}

void hx_endpoint_inject(struct hx_endpoint *ep, unsigned plane, uint32_t buffer, const struct hx_header *h)
{
    inject(ep, plane, buffer, *h);
}

/* Times one packet: the last, or one that is likely to trigger an acknowledgement. */
static void begin_timing(struct hx_endpoint *ep, struct hx_send *s, uint32_t packet)
{
    if (packet + 1 != s->packets && (s->timing || packet % HX_ACK_EVERY != HX_ACK_EVERY - 1))
        return;
    if (s->blocked)
        return; /* `since` has another use */
    s->timing = true;
    s->timed = packet % TIMED;
    s->since = hx_endpoint_clock(ep);
}

/* Returns the next packet that was reported unreachable, or s->packets. */
static uint32_t take_reported(struct hx_endpoint *ep, struct hx_send *s)
{
    struct hx_map *lost = hx_endpoint_send_lost(ep, s);
    for (uint32_t packet = s->acked; packet < s->resend; packet++) {
        if (!hx_map_has(lost, packet))
            continue;
        hx_map_put(lost, packet, false);
        if (!hx_endpoint_is_there(ep, s, packet))
            return packet;
    }
    s->reported = false;
    return s->packets;
}

/* Returns the next packet to send again, or s->packets if all have arrived. */
static uint32_t take_repeat(struct hx_endpoint *ep, struct hx_send *s)
{
    uint32_t packet = s->reported ? take_reported(ep, s) : s->packets;
    while (packet == s->packets && s->resend < s->next) {
        uint32_t next = s->resend++;
        packet = hx_endpoint_is_there(ep, s, next) ? packet : next;
    }
    ep->stats.packets_repeated += packet < s->packets;
    return packet;
}

/* Returns the unsent packets that go as one train: a power of two that divides the first one's number, so that the
 * receiver finds them in one word of its map. The end of a message, and short messages, go by shorter trains and single
 * packets, which several links carry at once: otherwise the last train would come late. */
static unsigned train_of(struct hx_endpoint *ep, const struct hx_send *s)
{
    unsigned packets = hal_train(ep->hal);
    uint32_t window = HX_MESSAGE_WINDOW - (s->next - s->acked);
    uint32_t left = s->packets - s->next;
    uint32_t most =
        left / TRAINS_LEFT < s->packets / TRAINS_OF_MESSAGE ? left / TRAINS_LEFT : s->packets / TRAINS_OF_MESSAGE;
    most = most < window ? most : window;
    while (packets > 1 && (s->next % packets || most < packets))
        packets /= 2;
    return packets;
}

/* Returns the packets that the send's next one goes with, itself included. */
static inline unsigned next_train(struct hx_endpoint *ep, const struct hx_send *s)
{
    bool is_new = !s->reported && s->resend == s->next && has_unsent(s);
    return hal_train(ep->hal) > 1 && is_new ? train_of(ep, s) : 1;
}

/* Returns the next packet to send, again or for the first time; s->packets: none. In a train it is the first one. */
static uint32_t take_packet(struct hx_endpoint *ep, struct hx_send *s, unsigned train)
{
    uint32_t packet = s->reported || s->resend < s->next ? take_repeat(ep, s) : s->packets;
    if (packet < s->packets || !has_unsent(s))
        return packet;
    packet = s->next;
    ep->stats.packets_sent += train;
    s->resend = s->next += train;
    begin_timing(ep, s, s->next - 1);
    return packet;
}

/* Writes the payload of a train. */
static void read_train(struct hx_endpoint *ep, const struct hx_send *s, const struct hx_header *h, uint8_t *to)
{
    unsigned bytes = HX_MAX_PAYLOAD;
    uint32_t packet = h->offset;
    for (unsigned left = h->length; left; left -= bytes, to += HX_MAX_PAYLOAD) {
        bytes = left < HX_MAX_PAYLOAD ? left : HX_MAX_PAYLOAD;
        hal_read_payload(ep->hal, s, packet++, to, bytes);
    }
}

/* Returns the plane for the next packet of a send, or ep->plane_end. Packets lost without a report use the plane of the
 * newest probe, which was answered; another plane may be the one that lost them. */
static unsigned plane_for(struct hx_endpoint *ep, const struct hx_send *s)
{
    bool any = s->resend == s->next || s->reported;
    unsigned turn = s->message + s->probes + (any ? s->resend : 0);
    return hx_endpoint_find_plane(ep, s->unreachable_planes, turn, any);
}

/* Returns the trains sent if all were full: successive ones begin their search at another plane. */
static unsigned trains_sent(const struct hx_endpoint *ep)
{
    return (unsigned)(ep->stats.packets_sent / hal_train(ep->hal));
}

/* Whether the next packet of a send takes this plane while planes are busy. New packets to a peer take planes in turn,
 * so that each carries an equal share of every message. Others go where there is room: those reported unreachable, by a
 * plane that may lead there; those lost without a report, by the plane of plane_for(). */
static bool takes_plane(struct hx_endpoint *ep, const struct hx_send *s, unsigned plane)
{
    if (s->unreachable_planes >> plane & 1U)
        return false;
    if (s->resend < s->next && !s->reported)
        return plane_for(ep, s) == plane;
    return s->reported || s->unreachable_planes ||
           (s->first_plane + s->next / hal_train(ep->hal)) % ep->plane_end == plane;
}

/* Returns the full packets that a plane takes. */
static unsigned room_on(struct hx_endpoint *ep, unsigned plane)
{
    unsigned room = ep->config.plane_set >> plane & 1U ? hal_inject_room(ep->hal, plane) : 0;
    ep->most_room[plane] = (uint16_t)(room > ep->most_room[plane] ? room : ep->most_room[plane]);
    return room;
}

/* Finds a due send with a next packet for a plane with room. HX_NO_SEND: none of those looked at. */
static unsigned next_evenly(struct hx_endpoint *ep, unsigned *plane)
{
    unsigned rotation = trains_sent(ep);
    for (unsigned n = 0; n < ep->plane_end; n++) {
        *plane = (rotation + n) % ep->plane_end;
        if (!room_on(ep, *plane))
            continue;
        unsigned first = next_due(ep, ep->turn[*plane]);
        unsigned place = first;
        for (unsigned looks = 0; looks < EVEN_LOOKS && (looks == 0 || place != first); looks++) {
            if (takes_plane(ep, &ep->send[hx_endpoint_sender(ep, place)], *plane))
                return place;
            place = next_due(ep, (place + 1) % HX_MAX_SENDS);
        }
    }
    return HX_NO_SEND;
}

/* Finds a due send for the roomiest plane, if that has at least half the room that it ever had. */
static unsigned next_anyhow(struct hx_endpoint *ep, unsigned *plane)
{
    unsigned roomiest = hx_endpoint_find_plane(ep, 0, trains_sent(ep), true);
    if (roomiest == ep->plane_end || 2 * room_on(ep, roomiest) < ep->most_room[roomiest])
        return HX_NO_SEND;
    unsigned first = next_due(ep, ep->turn[roomiest]);
    unsigned place = first;
    do {
        const struct hx_send *s = &ep->send[hx_endpoint_sender(ep, place)];
        bool any = !s->unreachable_planes && (s->resend == s->next || s->reported);
        *plane = any ? roomiest : plane_for(ep, s);
        if (*plane < ep->plane_end)
            return place;
        place = hx_send_set_next(&ep->due, (place + 1) % HX_MAX_SENDS);
    } while (place != first);
    return HX_NO_SEND;
}

/* Returns the place of the next send to inject, and its plane; HX_NO_SEND if none can. Planes share packets evenly, and
 * each has its own round-robin over sends. A packet takes another plane than its own only if its own is full and that
 * is half empty: so a slow plane gets less, but planes that are busy alike keep their shares. A single plane has room:
 * the caller checked. */
static unsigned next_sender(struct hx_endpoint *ep, unsigned *plane)
{
    if (ep->plane_end == 1) {
        *plane = 0;
        return next_due(ep, ep->turn[0]);
    }
    unsigned place = next_evenly(ep, plane);
    return place == HX_NO_SEND ? next_anyhow(ep, plane) : place;
}

/* Returns the full packets that all planes take. */
static unsigned room_of(struct hx_endpoint *ep)
{
    unsigned room = 0;
    for (unsigned left = ep->config.plane_set; left; left &= left - 1)
        room += hal_inject_room(ep->hal, (unsigned)__builtin_ctz(left));
    return room;
}

/* Injects one packet or train and updates *room, which is not 0. Returns false if none can go. A train waits for room:
 * a part of it would leave room for a part of the next one only. */
static inline bool inject_next(struct hx_endpoint *ep, uint64_t now, unsigned *room)
{
    unsigned plane = 0;
    unsigned place = next_sender(ep, &plane);
    uint32_t buffer;
    if (place == HX_NO_SEND)
        return false;
    struct hx_send *s = &ep->send[hx_endpoint_sender(ep, place)];
    unsigned train = next_train(ep, s);
    if ((train > 1 && hal_inject_room(ep->hal, plane) < train) || !hal_buffer_get(ep->hal, &buffer, false))
        return false;
    ep->turn[plane] = (uint16_t)((place + 1) % HX_MAX_SENDS);
    uint32_t packet = take_packet(ep, s, train);
    hx_endpoint_await_from(ep, s, now); /* the wait starts at the last packet, however long earlier ones queued */
    if (!has_unsent(s))
        hx_endpoint_update_ready(ep, s);
    if (packet == s->packets) { /* all that was to be repeated has arrived */
        hal_buffer_put(ep->hal, buffer);
        return true;
    }
    struct hx_header h = hx_endpoint_head(s, HX_DATA, packet);
    unsigned last = packet + train == s->packets ? s->last_length : HX_MAX_PAYLOAD;
    h.length = (uint16_t)((train - 1) * HX_MAX_PAYLOAD + last);
    uint8_t *payload = hal_frame(ep->hal, buffer) + HX_HEADER_BYTES;
    if (train == 1)
        hal_read_payload(ep->hal, s, packet, payload, h.length);
    else
        read_train(ep, s, &h, payload);
    inject(ep, plane, buffer, h);
    *room = last == HX_MAX_PAYLOAD ? *room - train : room_of(ep); /* a short packet may take less */
    return true;
}

/* Most steps have room for one or two packets: count it, which is cheaper than a failing search for a sender. */
static unsigned inject_due(struct hx_endpoint *ep, uint64_t now)
{
    unsigned given = 0;
    for (unsigned room = room_of(ep); room && given < INJECT_BURST && ep->due.filled && inject_next(ep, now, &room);)
        given++;
    return given;
}

/* Sends the next queued answer: an acknowledgement or a hello. */
static bool send_answer(struct hx_endpoint *ep)
{
    uint32_t which = ep->ack[ep->acks_first];
    struct hx_peer *peer = &ep->peer[which >> ep->answer_bits];
    unsigned slot = which & ((1U << ep->answer_bits) - 1);
    bool hello = slot == ep->window;
    unsigned turn = hello ? ep->hellos : hx_endpoint_slot(ep, peer, slot)->plane;
    unsigned plane = hx_endpoint_find_plane(ep, hx_endpoint_unreachable_planes(ep, peer), turn, false);
    uint32_t buffer;
    if (plane == ep->plane_end || !hal_buffer_get(ep->hal, &buffer, true))
        return false;
    ep->acks_first = ep->acks_first + 1 == ep->ack_slots ? 0 : ep->acks_first + 1;
    if (--ep->acks_count == 0)
        ep->acks_first = 0; /* a short list stays in few cache lines and pages */
    struct hx_header h;
    uint8_t *payload = hal_frame(ep->hal, buffer) + HX_HEADER_BYTES;
    if (hello) {
        ep->hellos++;
        hx_endpoint_write_hello(ep, peer, &h, payload);
    } else if (hx_endpoint_write_ack(ep, peer, slot, &h, payload)) {
        ep->stats.acks_sent++;
    } else {
        hal_buffer_put(ep->hal, buffer);
        return true;
    }
    hx_endpoint_inject(ep, plane, buffer, &h);
    return true;
}

unsigned hx_endpoint_step(struct hx_endpoint *ep)
{
    unsigned work = hx_endpoint_consume(ep);
    if (ep->reports_count)
        work += hx_endpoint_report(ep);
    while (ep->acks_count && send_answer(ep))
        work++;
    uint64_t now = hal_now(ep->hal);
    if (ep->active) /* probes go ahead of data */
        work += hx_endpoint_check_deadline(ep, now);
    if (ep->due.filled)
        work += inject_due(ep, now);
    if (work)
        hal_endpoint_commit(ep->hal);
    return work;
}

bool hx_endpoint_idle(const struct hx_endpoint *ep)
{
    return ep->active == 0 && ep->acks_count == 0 && ep->reports_count == 0;
}
