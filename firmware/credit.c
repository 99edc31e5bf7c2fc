/* credit.c - credits of one link and VC, and a link's sessions (include/hxmesh/credit.h). Arithmetic is modulo 2^32:
 * the unsigned difference of two counters is their distance, and a counter that is "too far ahead" lies behind. */
#include "hxmesh/credit.h"

void hx_credit_sender_init(struct hx_credit_sender *s, uint32_t buffer_blocks)
{
    *s = (struct hx_credit_sender){.buffer = buffer_blocks};
}

uint32_t hx_credit_room(const struct hx_credit_sender *s)
{
    return s->limit - s->sent;
}

void hx_credit_spend(struct hx_credit_sender *s, uint32_t blocks)
{
    s->sent += blocks;
}

bool hx_credit_grant(struct hx_credit_sender *s, uint32_t limit)
{
    uint32_t ahead = limit - s->sent;
    if (ahead > s->buffer)
        return s->sent - limit <= s->buffer;
    if (ahead > hx_credit_room(s))
        s->limit = limit;
    return true;
}

void hx_credit_receiver_init(struct hx_credit_receiver *r, uint32_t buffer_blocks)
{
    *r = (struct hx_credit_receiver){.buffer = buffer_blocks};
}

bool hx_credit_arrive(struct hx_credit_receiver *r, uint32_t blocks)
{
    uint32_t held = r->received - r->freed;
    if (blocks > r->buffer - held)
        return false;
    r->received += blocks;
    return true;
}

void hx_credit_leave(struct hx_credit_receiver *r, uint32_t blocks)
{
    r->freed += blocks;
}

uint32_t hx_credit_limit(const struct hx_credit_receiver *r)
{
    return r->freed + r->buffer;
}

void hx_credit_reconcile(struct hx_credit_receiver *r, uint32_t sender_sent)
{
    uint32_t missing = sender_sent - r->received;
    r->received += missing;
    r->freed += missing;
    r->lost += missing;
}

void hx_credit_receiver_restart(struct hx_credit_receiver *r)
{
    r->freed -= r->received;
    r->received = 0;
}

/* ---- the link ---- */

/* Restarts the counters, without a peer. */
static void begin(struct hx_credit_link *l, uint64_t nonce)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        hx_credit_sender_init(&l->tx[vc], l->tx[vc].buffer);
        hx_credit_receiver_restart(&l->rx[vc]);
        l->settled[vc] = l->back[vc] = 0;
    }
    l->nonce = nonce;
    l->next_nonce = l->peer_nonce = l->asks = 0;
    l->sessions++;
    l->unheard = 0;
    l->unsettled = 0;
    l->open = l->heard = false;
    l->answer = true;
}

static void open_with(struct hx_credit_link *l, uint64_t peer_nonce)
{
    l->peer_nonce = peer_nonce;
    l->asks = 0;
    l->open = true;
    l->answer = true;
}

static uint64_t nonce_of(uint64_t random)
{
    return random ? random : 1;
}

void hx_credit_link_up(struct hx_credit_link *l, unsigned vcs, uint32_t tx_blocks, uint32_t rx_blocks, uint64_t random)
{
    l->vcs = (uint8_t)vcs;
    for (unsigned vc = 0; vc < vcs; vc++) {
        l->tx[vc].buffer = tx_blocks;
        l->rx[vc].buffer = rx_blocks;
    }
    begin(l, nonce_of(random));
}

/* Returns true if the next frame carries counts. An open end answers a stranger between two such frames. */
static bool carries_counts(const struct hx_credit_link *l)
{
    return l->open && (l->answer || !l->asks);
}

/* Returns the limit to send. Never 0, which marks an answer: the number below 0 grants as little. */
static uint32_t limit_to_send(const struct hx_credit_link *l, unsigned vc)
{
    uint32_t limit = hx_credit_limit(&l->rx[vc]);
    return l->heard && limit ? limit : HX_CREDIT_NO_LIMIT;
}

struct hx_credit_frame hx_credit_link_frame(const struct hx_credit_link *l, uint8_t plane)
{
    if (!carries_counts(l))
        return (struct hx_credit_frame){
            .plane = plane, .vcs = l->vcs, .nonce = l->open ? l->next_nonce : l->nonce, .peer_nonce = l->asks};
    struct hx_credit_frame f = {.plane = plane, .vcs = l->vcs, .nonce = l->nonce, .peer_nonce = l->peer_nonce};
    for (unsigned vc = 0; vc < l->vcs; vc++) {
        f.limit[vc] = limit_to_send(l, vc);
        f.sent[vc] = l->tx[vc].sent;
    }
    return f;
}

void hx_credit_link_notified(struct hx_credit_link *l)
{
    bool counts = carries_counts(l);
    l->answer = l->open && !counts; /* counts follow at once */
    l->asks = counts ? l->asks : 0;
    if (l->open && ++l->unheard == HX_CREDIT_SILENCE)
        begin(l, l->next_nonce);
}

/* Returns true for a frame with counts: an answer has limits of 0 only (limit_to_send). */
static bool has_counts(const struct hx_credit_link *l, const struct hx_credit_frame *f)
{
    uint32_t any = 0;
    for (unsigned vc = 0; vc < l->vcs; vc++)
        any |= f->limit[vc];
    return any != 0;
}

/* Applies the peer's count of a credit frame, which may have overtaken data. Blocks that a late frame subtracted are
 * added again. */
static void take_sent(struct hx_credit_link *l, unsigned vc, uint32_t sent, bool settles)
{
    struct hx_credit_receiver *r = &l->rx[vc];
    uint32_t missing = sent - r->received;
    if (hx_credit_is_ahead(r->received, sent)) {
        l->back[vc] -= missing;
        hx_credit_reconcile(r, sent);
        return; /* a late frame settles nothing */
    }
    uint32_t again = missing < l->back[vc] ? missing : l->back[vc];
    l->back[vc] -= again;
    hx_credit_reconcile(r, r->received + again);
    if (!settles)
        return;
    if (hx_credit_is_ahead(l->settled[vc], r->received))
        hx_credit_reconcile(r, l->settled[vc]);
    l->settled[vc] = sent;
    l->back[vc] = 0;
}

static void take_counts(struct hx_credit_link *l, const struct hx_credit_frame *f)
{
    l->unheard = 0;
    if (!l->heard && has_counts(l, f))
        l->heard = l->answer = true; /* grant credit to the peer now */
    bool settles = ++l->unsettled == HX_CREDIT_SETTLE;
    l->unsettled = settles ? 0 : l->unsettled;
    for (unsigned vc = 0; vc < l->vcs; vc++) {
        struct hx_credit_sender *tx = &l->tx[vc];
        uint32_t most = tx->sent + tx->buffer;
        bool beyond = hx_credit_is_ahead(f->limit[vc], most);
        l->suspected += beyond;
        (void)hx_credit_grant(tx, beyond ? most : f->limit[vc]);
        take_sent(l, vc, f->sent[vc], settles);
    }
}

enum hx_credit_origin hx_credit_link_take(struct hx_credit_link *l, const struct hx_credit_frame *f, uint64_t random)
{
    l->next_nonce = l->next_nonce ? l->next_nonce : nonce_of(random);
    if (f->nonce == l->nonce || f->nonce == l->next_nonce)
        return HX_CREDIT_OWN;
    bool named = f->peer_nonce == l->nonce;
    bool other = f->nonce != l->peer_nonce;
    bool begins = l->open && other && f->peer_nonce == l->next_nonce;
    if (begins)
        begin(l, l->next_nonce);
    if (begins || (!l->open && named)) {
        open_with(l, f->nonce);
    } else if (other && (named || f->peer_nonce == 0)) {
        l->asks = f->nonce;
        l->answer = l->answer || !l->open;
    }
    if (f->nonce != l->peer_nonce || f->peer_nonce != l->nonce)
        return HX_CREDIT_STRANGER;
    take_counts(l, f);
    return HX_CREDIT_PEER;
}

void hx_credit_link_grant(struct hx_credit_link *l, unsigned vc, uint32_t limit)
{
    if (l->heard)
        (void)hx_credit_grant(&l->tx[vc], limit);
}

bool hx_credit_link_arrive(struct hx_credit_link *l, unsigned vc, uint32_t blocks)
{
    if (!l->heard)
        return false;
    bool fits = hx_credit_arrive(&l->rx[vc], blocks);
    l->suspected += !fits;
    return fits;
}
