/* endpoint_late.c - timeouts: round trips, probes, retransmission, unreachable planes.
 *
 * Each step checks one send, once the earliest time at which an answer can be late has passed. */
#include "endpoint_parts.h"
#include "hxmesh/error.h"

enum { MOST_COUNTED = 63 /* probes counted at most; most_ns bounds the timeout long before */ };
enum { LEAST_PROBES = 3 /* probes of an unreachable message before it fails */ };
enum { PLANES = (1 << HX_MAX_PLANES) - 1 };

/* ---- time ---- */

/* Returns the time since a blocked message first waited for a path. */
static uint64_t blocked_for_ns(struct hx_endpoint *ep, const struct hx_send *s)
{
    return (uint64_t)(hx_endpoint_clock(ep) - s->since) << ep->unit_shift;
}

static void end_probing(struct hx_send *s)
{
    s->probing = false;
    s->unanswered = 0;
}

static void probe_at_once(struct hx_endpoint *ep, struct hx_send *s)
{
    s->quiet = ep->soonest = ep->sweep = 0;
}

/* Returns the timeout that the estimates give, ns; 0: no sample. */
static uint64_t estimate_of(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    uint64_t its = hx_round_trip_timeout(&peer->round_trip);
    uint64_t all = hx_round_trip_timeout(&ep->round_trip);
    return (its > all ? its : all) << ep->unit_shift;
}

/* Returns the timeout for an answer from the peer, ns. */
static uint64_t timeout_of(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    const struct hx_endpoint_config *c = &ep->config;
    uint64_t late = estimate_of(ep, peer);
    if (late == 0)
        return c->timeout_ns;
    return late < c->least_ns ? c->least_ns : late < c->most_ns ? late : c->most_ns;
}

/* Returns the number of planes that probes rotate over. */
static unsigned planes_probed(const struct hx_endpoint *ep, const struct hx_send *s)
{
    unsigned left = ep->config.plane_set & ~(unsigned)s->unreachable_planes;
    return (unsigned)__builtin_popcount(left ? left : ep->config.plane_set);
}

/* Returns the longest interval of probes. Their answers can be lost, so several fit into the wait for a path. */
static uint64_t longest_interval(const struct hx_endpoint_config *c, const struct hx_send *s)
{
    uint64_t most = c->unreachable_ns / LEAST_PROBES;
    return s->waits && most < c->most_ns ? most : c->most_ns;
}

/* Returns the timeout after unanswered probes: it doubles when each plane that may lead to the peer was probed once
 * more, so a single silent plane does not delay the next probe. */
static uint64_t timeout_after_probes(const struct hx_endpoint *ep, const struct hx_send *s)
{
    const struct hx_peer *peer = hx_endpoint_peer(ep, s->peer);
    uint64_t most = longest_interval(&ep->config, s);
    uint64_t late = s->loss_suspected && !s->probing ? estimate_of(ep, peer) : timeout_of(ep, peer);
    for (unsigned n = 0; n < s->unanswered / planes_probed(ep, s) && late < most; n++)
        late *= 2;
    return late < most ? late : most;
}

static void take_sample(struct hx_endpoint *ep, struct hx_peer *peer, uint32_t units)
{
    hx_round_trip_sample(&peer->round_trip, units);
    hx_round_trip_sample(&ep->round_trip, units);
}

/* Returns true if an acknowledgement up to `offset` covers the timed packet. */
static bool covers(const struct hx_send *s, uint32_t offset)
{
    return offset == s->packets || (uint32_t)(offset - s->timed - 1) % (2 * HX_MESSAGE_WINDOW) < HX_MESSAGE_WINDOW;
}

/* Takes the time of an acknowledgement. Returns true if it answers the newest probe in time. If earlier probes were
 * late, the whole fabric may have stalled, so only least_ns counts as in time. */
static bool take_round_trip(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer, struct hx_send *s)
{
    bool answers = h->tag != 0 && h->tag == s->probes;
    if (s->waits)
        return answers;
    answers = answers && s->probing;
    uint64_t took = hal_now(ep->hal) - s->quiet;
    bool in_time = answers && took <= (s->unanswered > 1 ? ep->config.least_ns : timeout_of(ep, peer));
    if (answers) { /* an acknowledgement was lost or late, so the timed packet is no sample */
        s->timing = false;
        uint64_t smoothed = (uint64_t)peer->round_trip.smoothed << ep->unit_shift;
        if (took > smoothed) /* a quick answer is no sample: small probes pass where data waits */
            take_sample(ep, peer, (uint32_t)(took >> ep->unit_shift));
        end_probing(s);
    } else if (s->timing && covers(s, h->offset)) {
        s->timing = false;
        take_sample(ep, peer, hx_endpoint_clock(ep) - s->since);
    }
    return in_time;
}

/* ---- acknowledgements and reports ---- */

static struct hx_send *send_of(struct hx_endpoint *ep, const struct hx_header *h, const struct hx_peer *peer)
{
    struct hx_send *s = hx_endpoint_send_at(ep, peer, hx_endpoint_slot_of(ep, h->message));
    return s && s->message == h->message ? s : NULL;
}

/* ---- planes that do not lead to a peer ---- */

bool hx_endpoint_exclude_plane(struct hx_endpoint *ep, const struct hx_peer *peer, unsigned plane)
{
    struct hx_peer_rest *rest = hx_endpoint_rest(ep, peer);
    ep->plane_failures = true;
    rest->unreachable_planes |= 1U << plane;
    rest->unreachable_since = hx_endpoint_clock(ep);
    return (ep->config.plane_set & ~(unsigned)rest->unreachable_planes) != 0;
}

unsigned hx_endpoint_unreachable_planes(struct hx_endpoint *ep, const struct hx_peer *peer)
{
    if (!ep->plane_failures)
        return 0; /* avoids touching the peer's rest */
    struct hx_peer_rest *rest = hx_endpoint_rest(ep, peer);
    uint64_t known = (uint64_t)(hx_endpoint_clock(ep) - rest->unreachable_since) << ep->unit_shift;
    if (rest->unreachable_planes == ep->config.plane_set || known >= ep->config.most_ns)
        rest->unreachable_planes = 0;
    return rest->unreachable_planes;
}

static void forget_plane_failures(struct hx_endpoint *ep)
{
    for (uint32_t p = 0; ep->plane_failures && p < ep->rest_of[ep->peers]; p++) {
        if (ep->rest[p].unreachable_planes)
            ep->rest[p].unreachable_planes = 0;
    }
    ep->plane_failures = false;
}

/* ---- retransmission ---- */

/* Marks for retransmission all packets without acknowledgement. */
static void retransmit_missing(struct hx_send *s)
{
    s->reported = s->timing = false;
    s->resend = s->acked;
}

/* Marks for retransmission one packet that is known to be lost. */
static void retransmit(struct hx_endpoint *ep, struct hx_send *s, uint32_t packet)
{
    if (packet < s->acked || packet >= s->resend || hx_endpoint_is_there(ep, s, packet))
        return;
    if (!s->reported)
        *hx_endpoint_send_lost(ep, s) = (struct hx_map){{0}};
    hx_map_put(hx_endpoint_send_lost(ep, s), packet, true);
    s->reported = true;
    s->timing = false;
}

/* Clears the bits of packets `first` to `end` - 1. */
static void clear_range(struct hx_map *map, uint32_t first, uint32_t end)
{
    while (first != end) {
        uint32_t in_word = 32 - first % 32;
        uint32_t bits = end - first < in_word ? end - first : in_word;
        map->word[first % HX_MESSAGE_WINDOW / 32] &= ~((uint32_t)(((uint64_t)1 << bits) - 1) << first % 32);
        first += bits;
    }
}

/* Notes that up to 32 packets from `first` on are there, bit by packet. Returns true if some were not known to be. */
static bool note_received(struct hx_endpoint *ep, struct hx_send *s, uint32_t first, uint32_t bits)
{
    struct hx_map *map = &ep->send_map[s - ep->send];
    if (!bits)
        return false;
    if (!s->mapped)
        *map = (struct hx_map){{0}};
    s->mapped = true;
    uint64_t shifted = (uint64_t)bits << first % 32;
    uint32_t *low = &map->word[first % HX_MESSAGE_WINDOW / 32];
    uint32_t *high = &map->word[(first + 32) % HX_MESSAGE_WINDOW / 32];
    bool news = ((uint32_t)shifted & ~*low) | ((uint32_t)(shifted >> 32) & ~*high);
    *low |= (uint32_t)shifted;
    *high |= (uint32_t)(shifted >> 32);
    return news;
}

/* Returns the bits of 32 packets from `first` on in a map's four bytes: of packets after s->acked that were sent. */
static uint32_t bits_received(const struct hx_send *s, uint32_t first, const uint8_t *at, unsigned bytes)
{
    uint32_t bits = 0;
    for (unsigned n = 0; n < bytes; n++)
        bits |= (uint32_t)at[n] << 8 * n;
    uint32_t sent = first < s->next ? s->next - first : 0;
    uint32_t known = first < s->acked ? s->acked - first : 0;
    uint64_t valid = (sent < 32 ? ((uint64_t)1 << sent) : (uint64_t)1 << 32) - 1;
    return bits & (uint32_t)valid & (uint32_t)(known < 32 ? UINT64_MAX << known : 0);
}

/* Returns a bound of the packets that the peer may have. */
static uint32_t most_received(const struct hx_send *s)
{
    return s->again ? s->packets : s->next;
}

/* Skips packets that arrived before the message was restarted: counted as sent once, not as repeated. */
static void skip_to(struct hx_endpoint *ep, struct hx_send *s, uint32_t packet)
{
    uint64_t skipped = packet > s->next ? packet - s->next : 0;
    s->next += (uint32_t)skipped;
    /* A peer may claim anything. */
    skipped = skipped < ep->stats.packets_repeated ? skipped : ep->stats.packets_repeated;
    ep->stats.packets_sent += skipped;
    ep->stats.packets_repeated -= skipped;
}

/* Applies an acknowledgement. Returns true if it names packets that were not known to be there. */
static bool take_map(struct hx_endpoint *ep, const struct hx_header *h, struct hx_send *s, const uint8_t *payload)
{
    bool news = s->acked < h->offset;
    if (news && s->mapped)
        clear_range(&ep->send_map[s - ep->send], s->acked, h->offset);
    if (news && s->reported)
        clear_range(hx_endpoint_send_lost(ep, s), s->acked, h->offset);
    s->acked = news ? h->offset : s->acked;
    for (unsigned at = 0; at < h->length; at += 4) {
        uint32_t first = h->offset + at * 8;
        unsigned bytes = h->length - at < 4 ? h->length - at : 4;
        news |= note_received(ep, s, first, bits_received(s, first, payload + at, bytes));
    }
    if (s->resend < s->acked)
        s->resend = s->acked;
    return news;
}

void hx_endpoint_take_ack(struct hx_endpoint *ep, const struct hx_header *h, struct hx_peer *peer,
                          const uint8_t *payload)
{
    struct hx_send *s = send_of(ep, h, peer);
    if (!s)
        return; /* repeated: its message is done */
    if (h->offset > most_received(s) || h->length > sizeof(struct hx_map)) {
        hal_endpoint_drop(ep->hal, HX_DROP_UNEXPECTED);
        return;
    }
    bool in_time = take_round_trip(ep, h, peer, s);
    skip_to(ep, s, h->offset);
    if (h->offset == s->packets) {
        hx_endpoint_end_send(ep, s, HX_EVENT_SENT, HX_OK);
        return;
    }
    bool news = take_map(ep, h, s, payload);
    bool lost = in_time && (s->waits || (s->loss_suspected && !news));
    if (news) {
        s->tries = 0;
        s->blocked = false;
        end_probing(s);
    }
    if (s->waits) {
        s->waits = false;
        s->unreachable_planes = 0;
        end_probing(s);
    } else if (s->unreachable_planes && news) {
        s->unreachable_planes = hx_endpoint_unreachable_planes(ep, peer) & PLANES;
    }
    if (lost) {
        retransmit_missing(s);
    }
    s->loss_suspected = in_time ? !lost : s->loss_suspected && !news;
    hx_endpoint_await(ep, s);
    if (s->loss_suspected)
        ep->soonest = ep->sweep = 0; /* earlier than the deadline just set */
    hx_endpoint_update_ready(ep, s);
}

void hx_endpoint_take_unreachable(struct hx_endpoint *ep, enum hx_kind kind, const struct hx_header *h,
                                  const struct hx_peer *peer)
{
    struct hx_send *s = send_of(ep, h, peer);
    if (!s)
        return;
    (void)hx_endpoint_exclude_plane(ep, peer, h->plane);
    if (kind == HX_DATA)
        retransmit(ep, s, h->offset);
    if (s->waits)
        return;
    s->unreachable_planes = (s->unreachable_planes | 1U << h->plane) & PLANES;
    if ((s->unreachable_planes & ep->config.plane_set) != ep->config.plane_set) {
        hx_endpoint_update_ready(ep, s);
        return;
    }
    if (ep->config.unreachable_ns == 0) {
        hx_endpoint_end_send(ep, s, HX_EVENT_FAILED, HX_E_UNREACHABLE);
        return;
    }
    if (!s->blocked)
        s->since = hx_endpoint_clock(ep);
    s->waits = s->blocked = true;
    s->timing = s->loss_suspected = false;
    end_probing(s);
    if (s->tries == 0)
        probe_at_once(ep, s); /* there was news since the last probe: some packets got through recently */
    hx_endpoint_update_ready(ep, s);
}

/* ---- restart ---- */

void hx_endpoint_note_epoch(struct hx_endpoint *ep, const struct hx_peer *peer)
{
    for (unsigned slot = 0; slot < ep->window; slot++) {
        struct hx_send *s = hx_endpoint_send_at(ep, peer, slot);
        if (s)
            s->peer_epoch = hx_epoch_check(peer->epoch);
    }
}

/* Forgets unanswered probes. loss_suspected stays, as it comes from an answer: otherwise routes that keep changing
 * faster than round trips would prevent retransmission. */
static void reset_probes(struct hx_endpoint *ep, struct hx_send *s)
{
    s->tries = 0;
    s->unreachable_planes = 0;
    s->waits = s->blocked = s->timing = false;
    end_probing(s);
    hx_endpoint_await(ep, s);
}

void hx_endpoint_restart_sends(struct hx_endpoint *ep, const struct hx_peer *peer)
{
    for (unsigned slot = 0; slot < ep->window; slot++) {
        struct hx_send *s = hx_endpoint_send_at(ep, peer, slot);
        if (!s)
            continue;
        ep->stats.packets_repeated += s->next;
        ep->stats.packets_sent -= s->next;
        s->acked = s->next = 0;
        s->again = true;
        s->mapped = false;
        retransmit_missing(s);
        reset_probes(ep, s);
        s->loss_suspected = false;
        hx_endpoint_update_ready(ep, s);
    }
}

/* Tries a late or unreachable message anew. */
static void try_anew(struct hx_endpoint *ep, struct hx_send *s)
{
    bool reported = s->waits;
    if (!reported && s->tries == 0) {
        s->unreachable_planes = 0;
        return;
    }
    reset_probes(ep, s);
    if (reported)
        retransmit_missing(s); /* its packets had no path */
    else
        probe_at_once(ep, s);
    hx_endpoint_update_ready(ep, s);
}

void hx_endpoint_routes_changed(struct hx_endpoint *ep)
{
    forget_plane_failures(ep);
    for (unsigned index = 0; index < ep->config.sends; index++) {
        if (ep->send[index].active)
            try_anew(ep, &ep->send[index]);
    }
}

void hx_endpoint_try_anew(struct hx_endpoint *ep, unsigned send)
{
    struct hx_send *s = &ep->send[send];
    hx_endpoint_rest(ep, hx_endpoint_peer(ep, s->peer))->unreachable_planes = 0;
    try_anew(ep, s);
}

void hx_endpoint_abandon(struct hx_endpoint *ep, unsigned addr_hi, unsigned addr_lo)
{
    const struct hx_peer *peer = hx_endpoint_peer(ep, hx_peer_rank(ep->config.columns, addr_hi, addr_lo));
    for (unsigned slot = 0; peer && slot < ep->window; slot++) {
        unsigned index = hx_endpoint_send_in(ep, peer, slot);
        if (index)
            hx_endpoint_abandon_one(ep, index - 1);
    }
}

/* ---- probes and deadlines ---- */

/* Sends a probe for the message. Returns false if no plane has room. */
static bool probe(struct hx_endpoint *ep, struct hx_send *s)
{
    if (s->unreachable_planes && !s->waits &&
        s->unanswered >= planes_probed(ep, s)) { /* no answer by the other planes: probe all again */
        hx_endpoint_rest(ep, hx_endpoint_peer(ep, s->peer))->unreachable_planes = 0;
        s->unreachable_planes = 0;
    }
    bool same = s->loss_suspected && s->unanswered == 0; /* again by the plane of the last probe, which was answered */
    unsigned next = s->probes + (same ? ep->plane_end : 1U);
    uint8_t number = (uint8_t)(next > UINT8_MAX ? next - UINT8_MAX : next);
    unsigned turn = s->message + number;
    unsigned plane = hx_endpoint_find_plane(ep, s->unreachable_planes, turn, false);
    if (plane == ep->plane_end)
        plane = hx_endpoint_find_plane(ep, 0, turn, false);
    uint32_t buffer;
    if (plane == ep->plane_end || !hal_buffer_get(ep->hal, &buffer, true))
        return false;
    const struct hx_header h = hx_endpoint_head(s, HX_PROBE, number);
    hx_endpoint_inject(ep, plane, buffer, &h);
    ep->stats.probes_sent++;
    s->probes = number;
    s->tries = s->tries < UINT8_MAX ? (uint8_t)(s->tries + 1) : s->tries;
    s->probing = !s->waits;
    s->unanswered = s->unanswered < MOST_COUNTED ? s->unanswered + 1 : MOST_COUNTED;
    hx_endpoint_await(ep, s);
    return true;
}

/* Returns the time of the next check, ns. A message that still has packets to inject is not late. */
static uint64_t deadline_of(struct hx_endpoint *ep, const struct hx_send *s)
{
    uint64_t now = hal_now(ep->hal);
    if (s->ready)
        return now + ep->config.least_ns;
    uint64_t deadline = s->quiet + timeout_after_probes(ep, s);
    uint64_t passed = s->waits ? blocked_for_ns(ep, s) : 0;
    uint64_t left = ep->config.unreachable_ns > passed ? ep->config.unreachable_ns - passed : 0;
    return s->waits && left < ep->config.most_ns && now + left < deadline ? now + left : deadline;
}

static void end_given_up(struct hx_endpoint *ep)
{
    ep->abandons = false;
    for (unsigned index = 0; index < ep->config.sends; index++) {
        if (ep->send[index].active && ep->send[index].given_up)
            hx_endpoint_end_send(ep, &ep->send[index], HX_EVENT_FAILED, HX_E_UNREACHABLE);
    }
}

/* Applies the rule of endpoint.h, "Giving up". */
static bool has_failed(struct hx_endpoint *ep, const struct hx_send *s)
{
    if (s->blocked && blocked_for_ns(ep, s) < ep->config.unreachable_ns)
        return false;
    return s->waits || s->tries >= ep->config.retries;
}

/* Checks one send. Returns false if it is late and no plane has room for a probe. */
static bool check_send(struct hx_endpoint *ep, struct hx_send *s, unsigned *given)
{
    if (s->ready || hal_now(ep->hal) < deadline_of(ep, s))
        return true;
    if (has_failed(ep, s)) {
        hx_endpoint_end_send(ep, s, HX_EVENT_FAILED, HX_E_UNREACHABLE);
        return true;
    }
    *given += probe(ep, s);
    return *given;
}

unsigned hx_endpoint_check_deadline(struct hx_endpoint *ep, uint64_t now)
{
    unsigned given = 0;
    if (ep->abandons)
        end_given_up(ep);
    struct hx_send *s = &ep->send[ep->timer];
    if (now < ep->soonest || (s->active && !check_send(ep, s, &given)))
        return 0;
    if (s->active) {
        uint64_t deadline = deadline_of(ep, s);
        ep->sweep = deadline < ep->sweep ? deadline : ep->sweep;
    }
    if (++ep->timer < ep->config.sends)
        return given;
    ep->timer = 0;
    ep->soonest = ep->sweep;
    ep->sweep = UINT64_MAX;
    return given;
}
