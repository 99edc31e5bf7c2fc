/* cable.c - one end of a cable (cable.h). */
#include "cable.h"
#include "hxmesh/error.h"
#include "siphash.h"

/* A keyed hash of a counter: known numbers reveal no others. */
uint64_t cable_draw(struct cable_end *c)
{
    const uint64_t key[2] = {c->random, ~c->random};
    return hx_siphash(key, c->drawn++);
}

void cable_begin(struct cable_end *c, unsigned vcs, uint32_t peer_blocks, uint32_t blocks)
{
    hx_credit_link_up(&c->link, vcs, peer_blocks, blocks, cable_draw(c));
    c->sessions = c->link.sessions;
}

uint32_t cable_new_sessions(struct cable_end *c)
{
    uint32_t began = c->link.sessions - c->sessions;
    c->sessions = c->link.sessions;
    return began;
}

/* ---- receive ---- */

/* A received frame: `own` bytes, followed by an authentication tag or padding. */
struct received {
    const uint8_t *frame;
    size_t own, bytes;
};

static bool is_authenticated(const struct cable_end *c, struct hx_auth_direction direction,
                             const struct received *received, uint64_t *number)
{
    return received->bytes >= received->own + HX_AUTH_TAG_BYTES &&
           hx_auth_tag_is_valid(c->key, direction, received->frame, received->own, number);
}

/* Data before the peer's counts needs no valid tag: it is of an earlier session, or forged, and dropped in either
 * case. */
static enum cable_verdict validate_data(struct cable_end *c, const struct hx_header *h, const struct received *received)
{
    const struct hx_auth_direction direction = {.from = c->link.peer_nonce, .to = c->link.nonce};
    uint64_t number;
    if (h->plane != c->plane)
        return CABLE_MALFORMED;
    if (!c->key || !c->link.heard)
        return CABLE_DATA;
    if (!is_authenticated(c, direction, received, &number))
        return CABLE_FORGED;
    return hx_replay_window_take(&c->window, number) ? CABLE_DATA : CABLE_REPLAYED;
}

/* Frames of other sessions prove freshness by their nonce, with or without a key. So only the present session has a
 * replay window. */
static enum cable_verdict validate_credit(struct cable_end *c, const struct hx_credit_frame *f,
                                          const struct received *received)
{
    static const enum cable_verdict origins[] = {
        [HX_CREDIT_PEER] = CABLE_PEER, [HX_CREDIT_STRANGER] = CABLE_STRANGER, [HX_CREDIT_OWN] = CABLE_OWN};
    const struct hx_auth_direction direction = {.from = f->nonce, .to = f->peer_nonce};
    bool present = c->link.open && f->nonce == c->link.peer_nonce && f->peer_nonce == c->link.nonce;
    uint64_t number = 0;
    if (c->key && !is_authenticated(c, direction, received, &number))
        return CABLE_FORGED;
    if (c->key && present && !hx_replay_window_take(&c->window, number))
        return CABLE_REPLAYED;
    enum hx_credit_origin origin = hx_credit_link_take(&c->link, f, cable_draw(c));
    if (origin == HX_CREDIT_PEER && !present)
        hx_replay_window_begin(&c->window, number);
    return origins[origin];
}

/* Notices count only in a session that the peer is in: they are repeated in a later one. */
static enum cable_verdict validate_notices(struct cable_end *c, const uint8_t *frame, size_t bytes)
{
    struct hx_notice_frame n;
    const struct hx_auth_direction direction = {.from = c->link.peer_nonce, .to = c->link.nonce};
    uint64_t number;
    if (hx_notice_decode(&n, frame, bytes) != HX_OK || n.plane != c->plane)
        return CABLE_MALFORMED;
    if (!c->link.heard || n.nonce != c->link.peer_nonce || n.peer_nonce != c->link.nonce)
        return n.nonce == c->link.nonce ? CABLE_OWN : CABLE_STRANGER;
    if (!c->key)
        return CABLE_NOTICES;
    if (!is_authenticated(c, direction, &(struct received){frame, hx_notice_frame_bytes(n.count), bytes}, &number))
        return CABLE_FORGED;
    return hx_replay_window_take(&c->window, number) ? CABLE_NOTICES : CABLE_REPLAYED;
}

enum cable_verdict cable_validate(struct cable_end *c, const uint8_t *frame, size_t bytes, struct hx_header *h)
{
    struct hx_credit_frame f;
    int error = hx_frame_decode(h, frame, bytes);
    if (error == HX_OK)
        return validate_data(c, h, &(struct received){frame, (size_t)HX_HEADER_BYTES + h->length, bytes});
    if (error == HX_E_ETHERTYPE && hx_control_kind_of(frame, bytes) == HX_NOTICE)
        return validate_notices(c, frame, bytes);
    if (error != HX_E_ETHERTYPE || hx_credit_decode(&f, frame, bytes) != HX_OK || f.plane != c->plane ||
        f.vcs != c->link.vcs)
        return CABLE_MALFORMED;
    return validate_credit(c, &f, &(struct received){frame, hx_credit_frame_bytes(f.vcs), bytes});
}

enum cable_verdict cable_arrive(struct cable_end *c, const struct hx_header *h, struct hx_desc *d)
{
    if (h->credit_vc != HX_NO_CREDIT)
        hx_credit_link_grant(&c->link, h->credit_vc, h->credit_limit);
    if (!hx_credit_link_arrive(&c->link, h->vc, hx_blocks(h->length)))
        return CABLE_OVERRUN;
    *d = (struct hx_desc){.length = h->length,
                          .vc = h->vc,
                          .hops = h->hops,
                          .dst_addr_hi = h->dst_addr_hi,
                          .dst_addr_lo = h->dst_addr_lo,
                          .job = h->job};
    hx_desc_set_via(d, h->via);
    return CABLE_DATA;
}

enum cable_verdict cable_take(struct cable_end *c, const uint8_t *frame, size_t bytes, struct hx_desc *d)
{
    struct hx_header h;
    enum cable_verdict verdict = cable_validate(c, frame, bytes, &h);
    return verdict == CABLE_DATA ? cable_arrive(c, &h, d) : verdict;
}

/* ---- send ---- */

void cable_authenticate(struct cable_end *c, uint8_t *frame, uint32_t length)
{
    const struct hx_auth_direction direction = {.from = c->link.nonce, .to = c->link.peer_nonce};
    hx_auth_tag_write(c->key, direction, ++c->authenticated, frame, (size_t)HX_HEADER_BYTES + length);
}

enum { MOST_QUIET = 31 };

static uint32_t blocks_moved(const struct hx_credit_link *l)
{
    uint32_t sum = 0;
    for (unsigned vc = 0; vc < l->vcs; vc++)
        sum += l->tx[vc].sent + l->rx[vc].received + l->rx[vc].freed;
    return sum;
}

/* Returns the interval of credit frames. A lost one is repeated soon, then at doubling intervals while nothing
 * changes. */
static uint64_t quiet_period(const struct cable_end *c)
{
    uint64_t period = c->period;
    for (unsigned n = 0; n < c->quiet && period < c->quiet_period; n++)
        period *= 2;
    return period < c->quiet_period ? period : c->quiet_period;
}

uint64_t cable_credit_wait(const struct cable_end *c, uint64_t now)
{
    uint64_t period = c->link.open ? c->period : c->ask_period;
    uint64_t waited = now - c->notified_at;
    if (c->link.open && c->quiet_period && blocks_moved(&c->link) == c->notified_moved)
        period = quiet_period(c);
    return waited < period ? period - waited : 0;
}

bool cable_credit_is_due(const struct cable_end *c, uint64_t now)
{
    const struct hx_credit_link *l = &c->link;
    bool waited = now - c->notified_at >= (l->open ? c->period : c->ask_period);
    bool due = l->answer || (waited && cable_credit_wait(c, now) == 0);
    for (unsigned vc = 0; vc < l->vcs && l->open; vc++)
        due = due || !hx_credit_is_ahead(c->notified[vc] + l->rx[vc].buffer / 4, hx_credit_limit(&l->rx[vc]));
    return due;
}

/* Adds the authentication tag, if the cable has a key. Returns the bytes of the whole frame. */
static unsigned tag_control(struct cable_end *c, struct hx_auth_direction direction, uint8_t *frame, unsigned bytes)
{
    if (!c->key)
        return bytes;
    hx_auth_tag_write(c->key, direction, ++c->authenticated, frame, bytes);
    return bytes + HX_AUTH_TAG_BYTES;
}

unsigned cable_credit_write(struct cable_end *c, uint8_t frame[CABLE_CREDIT_BYTES])
{
    const struct hx_credit_frame f = hx_credit_link_frame(&c->link, c->plane);
    const struct hx_auth_direction direction = {.from = f.nonce, .to = f.peer_nonce};
    return tag_control(c, direction, frame, hx_credit_encode(frame, &f));
}

unsigned cable_notice_write(struct cable_end *c, uint8_t frame[CABLE_NOTICE_BYTES], struct hx_notice_frame *n)
{
    n->plane = c->plane;
    n->nonce = c->link.nonce;
    n->peer_nonce = c->link.peer_nonce;
    const struct hx_auth_direction direction = {.from = n->nonce, .to = n->peer_nonce};
    return tag_control(c, direction, frame, hx_notice_encode(frame, n));
}

/* An end without the peer's counts grants no limits; `answer` makes it send them once it has the counts. */
void cable_credit_sent(struct cable_end *c, uint64_t now)
{
    for (unsigned vc = 0; vc < c->link.vcs; vc++)
        c->notified[vc] = hx_credit_limit(&c->link.rx[vc]);
    uint32_t now_moved = blocks_moved(&c->link);
    c->quiet = now_moved != c->notified_moved ? 0 : (uint8_t)(c->quiet + (c->quiet < MOST_QUIET));
    c->notified_moved = now_moved;
    c->notified_at = now;
    hx_credit_link_notified(&c->link);
}

bool cable_loses_credit(struct cable_end *c)
{
    return c->lose_credit && (cable_draw(c) >> 33) % c->lose_credit == 0;
}
