/* doubt.c - credit frames and overruns, taken with caution (include/hxmesh/doubt.h). */
#include "hxmesh/doubt.h"

enum {
    OWN_NUMBER_STEPS = 16, /* how far away another number may be */
    MOST_BACK = 16         /* buffers that may be written off again beside a whole one */
};

/* ---- whose frame it is ---- */

static void begin(struct hx_credit_link *l, uint32_t session)
{
    hx_credit_link_up(l, l->tx[0].buffer, l->rx[0].buffer, session);
}

static void meet_own_number(struct hx_doubt *d, struct hx_credit_link *l, uint32_t random)
{
    if (l->open && ++d->own < HX_DOUBT_OWN)
        return;
    if (l->open)
        begin(l, l->session);
    l->session = hx_credit_next_session(l->session + random % OWN_NUMBER_STEPS);
    l->answer = true;
    d->own = 0;
}

static void follow_peer(struct hx_credit_link *l, const struct hx_credit_frame *f)
{
    if (!l->open && f->peer_session && hx_credit_is_ahead(f->peer_session, l->session))
        begin(l, hx_credit_next_session(f->peer_session));
}

/* Again and again frames come that know the present session of this end, and none of the peer's known session does. */
static void leave_wrong_peer(struct hx_doubt *d, struct hx_credit_link *l, const struct hx_credit_frame *f)
{
    bool behind = l->peer_session && hx_credit_is_ahead(l->peer_session, f->session);
    if (!behind || f->peer_session != l->session) {
        d->stuck = f->session == l->peer_session ? 0 : d->stuck;
        return;
    }
    if (++d->stuck < HX_DOUBT_STUCK)
        return;
    l->peer_session = 0;
    l->open = false;
}

/* A link that works ends for a session that is named again and again. The answer has it named again at once. */
static bool session_is_doubtful(struct hx_doubt *d, struct hx_credit_link *l, const struct hx_credit_frame *f)
{
    if (!l->open || f->session == l->peer_session) {
        d->frames = 0;
        return false;
    }
    d->frames = (uint8_t)(f->session == d->session && d->frames ? d->frames + 1 : 1);
    d->session = f->session;
    l->answer = true;
    if (d->frames < HX_DOUBT_FRAMES)
        return true;
    d->frames = 0;
    return false;
}

/* ---- what it says ---- */

/* An end that counted data twice, or was lied to, grants up to a buffer too much until the next frame. */
static bool counts_can_be(const struct hx_doubt *d, const struct hx_credit_link *l, const struct hx_credit_frame *f)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        const struct hx_credit_sender *tx = &l->tx[vc];
        const struct hx_credit_receiver *rx = &l->rx[vc];
        if (hx_credit_is_ahead(f->limit[vc], tx->sent + 2 * tx->buffer) ||
            hx_credit_is_ahead(f->sent[vc], rx->received + rx->buffer + d->back[vc]))
            return false;
    }
    return true;
}

/* What undoes the write-off of the frame before, which was a lie then, needs no undoing. All else may be the doing of a
 * lie, and may be written off again. */
static void take_back(struct hx_doubt *d, struct hx_credit_receiver *rx, unsigned vc, uint32_t surplus)
{
    uint32_t back = d->back[vc] + (surplus > d->wrote[vc] ? surplus - d->wrote[vc] : 0);
    d->back[vc] = back < MOST_BACK * rx->buffer ? back : MOST_BACK * rx->buffer;
    d->wrote[vc] = 0;
    rx->received -= surplus;
    rx->freed -= surplus;
}

/* What is left, a buffer at most, is for hx_credit_link_take to write off. */
static void write_off(struct hx_doubt *d, struct hx_credit_receiver *rx, unsigned vc, uint32_t sent)
{
    d->wrote[vc] = d->back[vc] ? 0 : sent - rx->received;
    d->back[vc] = 0;
    while (hx_credit_is_ahead(sent, rx->received + rx->buffer))
        (void)hx_credit_reconcile(rx, rx->received + rx->buffer);
}

/* Of both present sessions. *f is made what can be believed of it. */
static bool counts_are_doubtful(struct hx_doubt *d, struct hx_credit_link *l, struct hx_credit_frame *f)
{
    if (!counts_can_be(d, l, f)) {
        d->incredible++;
        return d->incredible < HX_DOUBT_FRAMES;
    }
    d->incredible = 0;
    d->overruns = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        struct hx_credit_receiver *rx = &l->rx[vc];
        uint32_t most = l->tx[vc].sent + l->tx[vc].buffer;
        f->limit[vc] = hx_credit_is_ahead(f->limit[vc], most) ? most : f->limit[vc];
        if (!hx_credit_is_ahead(rx->received, f->sent[vc]))
            write_off(d, rx, vc, f->sent[vc]);
        else if (rx->received - f->sent[vc] <= rx->buffer)
            take_back(d, rx, vc, rx->received - f->sent[vc]);
    }
    return false;
}

enum hx_belief hx_doubt_take(struct hx_doubt *d, struct hx_credit_link *l, const struct hx_credit_frame *f,
                             uint32_t random)
{
    struct hx_credit_frame believed = *f;
    uint32_t session = l->session;
    uint32_t peer_session = l->peer_session;
    if (f->session == session) {
        meet_own_number(d, l, random);
        return HX_REFLECTED;
    }
    d->own = f->session == peer_session ? 0 : d->own;
    follow_peer(l, f);
    leave_wrong_peer(d, l, f);
    bool present = l->open && f->session == peer_session && f->peer_session == session;
    if (session_is_doubtful(d, l, f) || (present && counts_are_doubtful(d, l, &believed)))
        return HX_DOUBTED;
    hx_credit_link_take(l, &believed);
    if (l->session != session || l->peer_session != peer_session)
        *d = (struct hx_doubt){.session = 0};
    return HX_BELIEVED;
}

/* ---- data ---- */

bool hx_doubt_arrive(struct hx_doubt *d, struct hx_credit_link *l, unsigned vc, uint32_t blocks)
{
    if (!l->open)
        return false;
    if (hx_credit_arrive(&l->rx[vc], blocks))
        return true;
    if (++d->overruns < HX_DOUBT_OVERRUNS)
        return false;
    *d = (struct hx_doubt){.session = 0};
    return hx_credit_link_arrive(l, vc, blocks);
}
