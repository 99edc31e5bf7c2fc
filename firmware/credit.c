/* credit.c - credits of one link and VC, and a link's sessions (include/hxmesh/credit.h). All arithmetic is modulo 2^32:
 * a difference of two counters, taken unsigned, is their distance, and one that is "too far ahead" is one that lies
 * behind. */
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

/* A credit frame may be repeated or held up in a queue, but never passes data. So all that was sent before it has
 * arrived or is lost when it arrives, and what is still under way was sent after it: received can be raised to
 * sender_sent without counting a block twice that is yet to come. A late frame only writes off less than it could. */
uint32_t hx_credit_reconcile(struct hx_credit_receiver *r, uint32_t sender_sent)
{
    uint32_t missing = sender_sent - r->received;
    if (missing > r->buffer)
        return 0;
    r->received += missing;
    r->freed += missing;
    r->lost += missing;
    return missing;
}

void hx_credit_receiver_restart(struct hx_credit_receiver *r)
{
    r->freed -= r->received;
    r->received = 0;
}

/* ---- the link ---- */

uint32_t hx_credit_next_session(uint32_t session)
{
    return session == UINT32_MAX ? 1 : session + 1;
}

static void begin_anew(struct hx_credit_link *l)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        hx_credit_sender_init(&l->tx[vc], l->tx[vc].buffer);
        hx_credit_receiver_restart(&l->rx[vc]);
    }
    l->open = false;
    l->answer = true;
}

static void suspect(struct hx_credit_link *l)
{
    l->session = hx_credit_next_session(l->session);
    l->suspected++;
    begin_anew(l);
}

void hx_credit_link_up(struct hx_credit_link *l, uint32_t tx_blocks, uint32_t rx_blocks, uint32_t session)
{
    l->session = session;
    l->peer_session = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        l->tx[vc].buffer = tx_blocks;
        l->rx[vc].buffer = rx_blocks;
    }
    begin_anew(l);
}

struct hx_credit_frame hx_credit_link_frame(const struct hx_credit_link *l, uint8_t plane)
{
    struct hx_credit_frame f = {.plane = plane, .session = l->session, .peer_session = l->peer_session};
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        f.limit[vc] = l->open ? hx_credit_limit(&l->rx[vc]) : 0;
        f.sent[vc] = l->tx[vc].sent;
    }
    return f;
}

static bool is_credible(const struct hx_credit_link *l, const struct hx_credit_frame *f)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        if (hx_credit_is_ahead(f->limit[vc], l->tx[vc].sent + l->tx[vc].buffer) ||
            hx_credit_is_ahead(f->sent[vc], l->rx[vc].received + l->rx[vc].buffer))
            return false;
    }
    return true;
}

void hx_credit_link_take(struct hx_credit_link *l, const struct hx_credit_frame *f)
{
    if (f->session != l->peer_session) {
        if (l->peer_session && !hx_credit_is_ahead(f->session, l->peer_session))
            return;
        l->peer_session = f->session;
        begin_anew(l);
    }
    if (f->peer_session != l->session) {
        l->answer = true;
        return;
    }
    if (!is_credible(l, f)) {
        suspect(l);
        return;
    }
    l->answer = l->answer || !l->open;
    l->open = true;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        (void)hx_credit_grant(&l->tx[vc], f->limit[vc]);
        (void)hx_credit_reconcile(&l->rx[vc], f->sent[vc]);
    }
}

void hx_credit_link_grant(struct hx_credit_link *l, unsigned vc, uint32_t limit)
{
    if (l->open)
        (void)hx_credit_grant(&l->tx[vc], limit);
}

bool hx_credit_link_arrive(struct hx_credit_link *l, unsigned vc, uint32_t blocks)
{
    if (!l->open)
        return false;
    if (hx_credit_arrive(&l->rx[vc], blocks))
        return true;
    suspect(l);
    return false;
}
