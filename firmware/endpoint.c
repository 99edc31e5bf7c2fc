/* endpoint.c - the endpoint's step and its sending side (include/hxmesh/endpoint.h); endpoint_receive.c has the
 * receiving side. */
#include "hxmesh/endpoint.h"
#include "endpoint_parts.h"
#include "hal_port.h"
#include "hxmesh/error.h"
#include "hxmesh/memory.h"
#include "send_set.h"

enum { LINE = 64 /* bytes: its pieces of memory begin at cache lines if the whole does */ };
enum { INJECT_BURST = 32, MAX_BACKOFF = 4 /* doublings of the timeout */ };

/* ---- set up ---- */

static size_t rounded(size_t bytes)
{
    return (bytes + LINE - 1) & ~(size_t)(LINE - 1);
}

static bool knows_all(const struct hx_endpoint_config *c)
{
    return c->peers == 0 || c->peers >= (uint32_t)c->columns * c->rows;
}

static uint32_t peers_of(const struct hx_endpoint_config *c)
{
    return knows_all(c) ? (uint32_t)c->columns * c->rows : c->peers;
}

/* At least half of the hash stays empty, so that a search ends soon. */
static uint32_t places_of(const struct hx_endpoint_config *c)
{
    uint32_t places = 1;
    while (!knows_all(c) && places < 2 * c->peers)
        places *= 2;
    return places;
}

static size_t words_of(const struct hx_endpoint_config *c)
{
    return (c->sends + 63U) / 64;
}

size_t hx_endpoint_bytes(const struct hx_endpoint_config *c)
{
    size_t peers = peers_of(c);
    return rounded(c->sends * sizeof(struct hx_send)) + rounded(c->sends * sizeof(struct hx_map)) +
           rounded(2 * words_of(c) * sizeof(uint64_t)) + rounded(peers * sizeof(struct hx_peer)) +
           rounded(peers * sizeof(struct hx_peer_rest)) + rounded(peers * HX_PEER_WINDOW * sizeof(uint32_t)) +
           rounded(places_of(c) * sizeof(uint32_t));
}

static void clear_peer(struct hx_peer *peer, uint32_t rank)
{
    peer->rank = rank;
    for (unsigned slot = 0; slot < HX_PEER_WINDOW; slot++)
        peer->send[slot] = HX_NO_SEND;
}

struct hx_peer *hx_endpoint_new_peer(struct hx_endpoint *ep, uint32_t rank)
{
    if (ep->known == ep->peers)
        return NULL;
    uint32_t at = hx_endpoint_place(ep, rank);
    while (ep->place[at])
        at = (at + 1) & ep->place_mask;
    struct hx_peer *peer = &ep->peer[ep->known++];
    ep->place[at] = ep->known;
    clear_peer(peer, rank);
    return peer;
}

static void *piece(uint8_t **at, size_t bytes)
{
    void *here = *at;
    *at += rounded(bytes);
    return here;
}

int hx_endpoint_init(struct hx_endpoint *ep, const struct hx_endpoint_config *c, struct hal_endpoint *hal, void *memory)
{
    if (c->gx >= c->columns || c->gy >= c->rows || c->planes < 1 || c->planes > HX_MAX_PLANES || c->sends < 1 ||
        c->sends > HX_MAX_SENDS || c->epoch == 0 || c->timeout_ns == 0)
        return HX_E_RANGE;
    uint32_t peers = peers_of(c);
    memset(memory, 0, hx_endpoint_bytes(c));
    *ep = (struct hx_endpoint){.config = *c,
                               .hal = hal,
                               .peers = peers,
                               .place_mask = places_of(c) - 1,
                               .ack_slots = peers * HX_PEER_WINDOW,
                               .soonest = UINT64_MAX,
                               .sweep = UINT64_MAX};
    uint8_t *at = memory;
    ep->send = piece(&at, c->sends * sizeof(struct hx_send));
    ep->send_map = piece(&at, c->sends * sizeof(struct hx_map));
    ep->due.word = piece(&at, 2 * words_of(c) * sizeof(uint64_t));
    ep->idle.word = ep->due.word + words_of(c);
    for (unsigned index = 0; index < c->sends; index++)
        hx_send_set_put(&ep->idle, index, true);
    ep->peer = piece(&at, peers * sizeof(struct hx_peer));
    ep->rest = piece(&at, peers * sizeof(struct hx_peer_rest));
    ep->ack = piece(&at, peers * HX_PEER_WINDOW * sizeof(uint32_t));
    if (!knows_all(c)) {
        ep->place = piece(&at, places_of(c) * sizeof(uint32_t));
        return HX_OK;
    }
    ep->known = peers;
    for (uint32_t p = 0; p < peers; p++)
        clear_peer(&ep->peer[p], p);
    return HX_OK;
}

/* ---- which sends may inject ---- */

static struct hx_map *map_of(const struct hx_endpoint *ep, const struct hx_send *s)
{
    return &ep->send_map[s - ep->send];
}

static bool has_no_way(const struct hx_endpoint *ep, const struct hx_send *s)
{
    return s->no_way == (1U << ep->config.planes) - 1;
}

static bool may_inject(const struct hx_endpoint *ep, const struct hx_send *s)
{
    return !has_no_way(ep, s) &&
           (s->resend < s->next || (s->next < s->packets && s->next - s->acked < HX_MESSAGE_WINDOW));
}

static void put_due(struct hx_endpoint *ep, const struct hx_send *s)
{
    hx_send_set_put(&ep->due, (unsigned)(s - ep->send), s->ready && !s->behind);
}

/* The older one of two messages to a peer goes first: it is acknowledged while the younger one keeps the link busy, and
 * whoever has many messages for a peer serves it no oftener than the others for that. */
static void update_ready(struct hx_endpoint *ep, struct hx_send *s)
{
    bool ready = s->active && may_inject(ep, s);
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

/* The send with the message before this one to its peer, or NULL. */
static struct hx_send *older_of(struct hx_endpoint *ep, const struct hx_peer *peer, const struct hx_send *s)
{
    unsigned index = peer->send[(s->message - 1) % HX_PEER_WINDOW];
    return index == HX_NO_SEND ? NULL : &ep->send[index];
}

static void note_deadline(struct hx_endpoint *ep, const struct hx_send *s)
{
    ep->sweep = s->deadline < ep->sweep ? s->deadline : ep->sweep;
}

static void arm(struct hx_endpoint *ep, struct hx_send *s)
{
    unsigned doublings = s->tries < MAX_BACKOFF ? s->tries : MAX_BACKOFF;
    s->deadline = hal_now(ep->hal) + (ep->config.timeout_ns << doublings);
    note_deadline(ep, s);
    ep->soonest = s->deadline < ep->soonest ? s->deadline : ep->soonest;
}

int hx_endpoint_send(struct hx_endpoint *ep, unsigned gx, unsigned gy, uint64_t bytes, uint32_t tag, uint64_t cookie)
{
    uint64_t packets = bytes ? bytes / HX_MAX_PAYLOAD + (bytes % HX_MAX_PAYLOAD != 0) : 1;
    if (gx >= ep->config.columns || gy >= ep->config.rows || packets > UINT32_MAX)
        return HX_E_RANGE;
    uint32_t rank = (uint32_t)gy * ep->config.columns + gx;
    struct hx_peer *peer = hx_endpoint_peer(ep, rank);
    if (!peer)
        return HX_E_CAPACITY;
    unsigned slot = peer->next_message % HX_PEER_WINDOW;
    if (!hx_endpoint_takes(ep) || peer->send[slot] != HX_NO_SEND)
        return HX_E_BUSY;
    unsigned index = hx_send_set_next(&ep->idle, 0);
    struct hx_send *s = &ep->send[index];
    hx_send_set_put(&ep->idle, index, false);
    ep->active++;
    peer->send[slot] = (uint16_t)index;
    ep->send_map[index] = (struct hx_map){{0}};
    *s = (struct hx_send){.peer = rank,
                          .dst_gx = (uint16_t)gx,
                          .dst_gy = (uint16_t)gy,
                          .message = peer->next_message++,
                          .packets = (uint32_t)packets,
                          .tag = tag,
                          .last_length = (uint16_t)(bytes - (packets - 1) * HX_MAX_PAYLOAD),
                          .younger = HX_NO_SEND,
                          .peer_epoch = peer->epoch,
                          .active = true,
                          .cookie = cookie};
    struct hx_send *older = older_of(ep, peer, s);
    if (older) {
        older->younger = (uint16_t)index;
        s->behind = older->ready;
    }
    arm(ep, s);
    update_ready(ep, s);
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
    update_ready(ep, s);
    hx_send_set_put(&ep->idle, index, true);
    ep->active--;
    struct hx_peer *peer = hx_endpoint_peer(ep, s->peer);
    struct hx_send *older = older_of(ep, peer, s);
    if (older)
        older->younger = HX_NO_SEND;
    peer->send[s->message % HX_PEER_WINDOW] = HX_NO_SEND;
    if (type == HX_EVENT_SENT)
        ep->stats.messages_sent++;
    else
        ep->stats.messages_failed++;
    struct hx_event event = {type, error, s->dst_gx, s->dst_gy, s->message, s->tag, bytes_of(s), s->cookie};
    hal_event(ep->hal, &event);
}

/* ---- inject ---- */

/* A plane with room for a packet, or `planes` if none has any; those in `no_way` are left out. From plane `first` on in
 * turn, the next one or the roomiest one. */
static unsigned find_plane(struct hx_endpoint *ep, unsigned no_way, unsigned first, bool roomiest)
{
    unsigned planes = ep->config.planes;
    unsigned best = planes;
    unsigned most = 0;
    for (unsigned n = 0; n < planes && (roomiest || most == 0); n++) {
        unsigned plane = (first + n) % planes;
        unsigned room = no_way >> plane & 1U ? 0 : hal_inject_room(ep->hal, plane);
        best = room > most ? plane : best;
        most = room > most ? room : most;
    }
    return best;
}

void hx_endpoint_inject(struct hx_endpoint *ep, unsigned plane, uint32_t buffer, struct hx_header *h)
{
    const struct hx_endpoint_config *c = &ep->config;
    uint8_t *frame = hal_frame(ep->hal, buffer);
    h->credit_vc = HX_NO_CREDIT;
    h->plane = (uint8_t)plane;
    h->job = c->job;
    h->src_gx = c->gx;
    h->src_gy = c->gy;
    h->epoch = c->epoch;
    hx_frame_encode(frame, h);
    if (c->check) {
        h->crc = hal_crc32c(0, frame + HX_CRC_FIRST, HX_HEADER_BYTES - HX_CRC_FIRST + h->length);
        hx_frame_set_crc(frame, h->crc);
    }
    const struct hx_desc d = {
        .buffer = buffer, .length = h->length, .dst_gx = h->dst_gx, .dst_gy = h->dst_gy, .job = h->job};
    hal_inject(ep->hal, plane, &d);
}

/* The next packet of a message that is to go out: one to repeat, or one never sent. */
static uint32_t take_packet(struct hx_endpoint *ep, struct hx_send *s)
{
    while (s->resend < s->next) {
        uint32_t packet = s->resend++;
        if (!hx_map_has(map_of(ep, s), packet)) {
            ep->stats.packets_repeated++;
            return packet;
        }
    }
    if (s->next < s->packets && s->next - s->acked < HX_MESSAGE_WINDOW) {
        ep->stats.packets_sent++;
        s->resend = s->next + 1;
        return s->next++;
    }
    return s->packets; /* all that was to be repeated has arrived */
}

/* Whose turn it is to inject, and by which plane; HX_NO_SEND if nobody can. */
static unsigned next_sender(struct hx_endpoint *ep, unsigned *plane)
{
    unsigned first = hx_send_set_next(&ep->due, ep->turn);
    unsigned index = first;
    do {
        const struct hx_send *s = &ep->send[index];
        *plane = find_plane(ep, s->no_way, s->message + s->resend + s->tries, s->resend == s->next);
        if (*plane < ep->config.planes)
            return index;
        if (!s->no_way)
            break; /* no plane has room for anybody */
        index = hx_send_set_next(&ep->due, (index + 1) % HX_MAX_SENDS);
    } while (index != first);
    return HX_NO_SEND;
}

static bool inject_next(struct hx_endpoint *ep)
{
    unsigned plane = 0;
    unsigned index = next_sender(ep, &plane);
    uint32_t buffer;
    if (index == HX_NO_SEND || !hal_buffer_get(ep->hal, &buffer, false))
        return false;
    ep->turn = (uint16_t)((index + 1) % HX_MAX_SENDS);
    struct hx_send *s = &ep->send[index];
    uint32_t packet = take_packet(ep, s);
    arm(ep, s); /* the time to answer begins with the last packet, however long those before it waited to get in */
    update_ready(ep, s);
    if (packet == s->packets) {
        hal_buffer_put(ep->hal, buffer);
        return true;
    }
    struct hx_header h = {.kind = HX_DATA,
                          .dst_gx = s->dst_gx,
                          .dst_gy = s->dst_gy,
                          .message = s->message,
                          .offset = packet,
                          .message_packets = s->packets,
                          .peer_epoch = s->peer_epoch,
                          .length = packet + 1 == s->packets ? s->last_length : HX_MAX_PAYLOAD,
                          .tag = s->tag};
    hal_fill(ep->hal, s, packet, hal_frame(ep->hal, buffer) + HX_HEADER_BYTES, h.length);
    hx_endpoint_inject(ep, plane, buffer, &h);
    return true;
}

static bool acknowledge_next(struct hx_endpoint *ep)
{
    uint32_t which = ep->ack[ep->acks_first];
    const struct hx_receive *r = hx_endpoint_slot(ep, &ep->peer[which / HX_PEER_WINDOW], which % HX_PEER_WINDOW);
    unsigned plane = find_plane(ep, 0, r->plane, false);
    uint32_t buffer;
    if (plane == ep->config.planes || !hal_buffer_get(ep->hal, &buffer, true))
        return false;
    ep->acks_first = ep->acks_first + 1 == ep->ack_slots ? 0 : ep->acks_first + 1;
    ep->acks_count--;
    struct hx_header h;
    if (!hx_endpoint_write_ack(ep, which, &h, hal_frame(ep->hal, buffer) + HX_HEADER_BYTES)) {
        hal_buffer_put(ep->hal, buffer);
        return true;
    }
    ep->stats.acks_sent++;
    hx_endpoint_inject(ep, plane, buffer, &h);
    return true;
}

/* ---- acknowledgements and reports from the peer ---- */

static struct hx_send *send_of(struct hx_endpoint *ep, const struct hx_header *h, const struct hx_peer *peer)
{
    unsigned index = peer->send[h->message % HX_PEER_WINDOW];
    if (index == HX_NO_SEND || ep->send[index].message != h->message)
        return NULL;
    return &ep->send[index];
}

void hx_endpoint_take_ack(struct hx_endpoint *ep, const struct hx_header *h, const struct hx_peer *peer,
                          const uint8_t *payload)
{
    struct hx_send *s = send_of(ep, h, peer);
    if (!s)
        return; /* repeated: its message is long done */
    if (h->offset > s->next || h->length > sizeof(struct hx_map)) {
        hal_endpoint_drop(ep->hal, HX_DROP_UNEXPECTED);
        return;
    }
    if (h->offset == s->packets) {
        hx_endpoint_end_send(ep, s, HX_EVENT_SENT, HX_OK);
        return;
    }
    if (h->offset > s->acked || h->length)
        s->tries = 0;
    struct hx_map *map = map_of(ep, s);
    for (; s->acked < h->offset; s->acked++)
        hx_map_put(map, s->acked, false);
    for (uint32_t bit = 0; bit < h->length * 8U; bit++) {
        uint32_t packet = h->offset + bit;
        if (payload[bit / 8] >> bit % 8 & 1 && packet >= s->acked && packet < s->next)
            hx_map_put(map, packet, true);
    }
    if (s->resend < s->acked)
        s->resend = s->acked;
    s->unreachable = false;
    s->no_way = has_no_way(ep, s) ? 0 : s->no_way;
    arm(ep, s);
    update_ready(ep, s);
}

void hx_endpoint_take_unreachable(struct hx_endpoint *ep, const struct hx_header *h, const struct hx_peer *peer)
{
    struct hx_send *s = send_of(ep, h, peer);
    if (!s)
        return;
    s->unreachable = true;
    s->no_way |= (uint8_t)(1U << h->plane);
    update_ready(ep, s);
}

void hx_endpoint_note_epoch(struct hx_endpoint *ep, const struct hx_peer *peer)
{
    for (unsigned slot = 0; slot < HX_PEER_WINDOW; slot++) {
        if (peer->send[slot] != HX_NO_SEND)
            ep->send[peer->send[slot]].peer_epoch = peer->epoch;
    }
}

void hx_endpoint_restart_sends(struct hx_endpoint *ep, const struct hx_peer *peer)
{
    for (unsigned slot = 0; slot < HX_PEER_WINDOW; slot++) {
        unsigned index = peer->send[slot];
        if (index == HX_NO_SEND)
            continue;
        struct hx_send *s = &ep->send[index];
        ep->stats.packets_repeated += s->next;
        ep->stats.packets_sent -= s->next;
        s->acked = s->resend = s->next = 0;
        s->tries = 0;
        s->unreachable = false;
        s->no_way = 0;
        *map_of(ep, s) = (struct hx_map){{0}};
        arm(ep, s);
        update_ready(ep, s);
    }
}

static void repeat_if_overdue(struct hx_endpoint *ep, struct hx_send *s)
{
    if (s->ready || hal_now(ep->hal) < s->deadline)
        return;
    if (s->tries >= ep->config.retries) {
        hx_endpoint_end_send(ep, s, HX_EVENT_FAILED, HX_E_UNREACHABLE);
        return;
    }
    s->tries++;
    s->resend = s->acked;
    s->no_way = has_no_way(ep, s) ? 0 : s->no_way;
    arm(ep, s);
    update_ready(ep, s);
}

/* Looks at one deadline a step, from when on one may have passed: all have been looked at after `sends` steps. */
static void check_deadline(struct hx_endpoint *ep)
{
    if (hal_now(ep->hal) < ep->soonest)
        return;
    struct hx_send *s = &ep->send[ep->timer];
    if (s->active)
        repeat_if_overdue(ep, s);
    if (s->active)
        note_deadline(ep, s);
    if (++ep->timer < ep->config.sends)
        return;
    ep->timer = 0;
    ep->soonest = ep->sweep;
    ep->sweep = UINT64_MAX;
}

unsigned hx_endpoint_step(struct hx_endpoint *ep)
{
    unsigned work = hx_endpoint_consume(ep);
    while (ep->acks_count && acknowledge_next(ep))
        work++;
    for (unsigned n = 0; n < INJECT_BURST && ep->due.filled && inject_next(ep); n++)
        work++;
    if (ep->active)
        check_deadline(ep);
    if (work)
        hal_endpoint_commit(ep->hal);
    return work;
}

bool hx_endpoint_idle(const struct hx_endpoint *ep)
{
    return ep->active == 0 && ep->acks_count == 0;
}
