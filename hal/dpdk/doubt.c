/* doubt.c - credit frames and overruns, taken with caution (doubt.h). */
#include "doubt.h"

#include <rte_cycles.h>

/* ---- whose frame it is ---- */

/* Sessions are numbered by clocks, so both ends may have the same number by chance, and a frame of this end's own may
 * come back from a loop in the cabling. Either way the number says nothing about the peer. As long as the link is not
 * open this end takes another number, by steps that two ends do not keep in time. */
static void meet_own_number(struct dpdk_port *p)
{
    uint64_t now = rte_rdtsc();
    p->counts.reflected++;
    if (p->link.open)
        return;
    p->link.session += 1 + (uint32_t)(now ^ now >> 7) % 16;
    p->link.session += p->link.session == 0;
    p->link.answer = true;
}

/* Whether the peer is not who the counts say: again and again frames come that know the present session of this end,
 * and none of the peer's known session does. That number was a lie then (an old frame that was kept and sent again),
 * or the peer's clock went back over a restart. */
static bool peer_is_another(struct dpdk_port *p, const struct hx_credit_frame *f)
{
    bool behind = p->link.peer_session && (int32_t)(f->session - p->link.peer_session) < 0;
    if (!behind || p->link.open || f->peer_session != p->link.session) {
        p->doubt.stuck = f->session == p->link.peer_session ? 0 : p->doubt.stuck;
        return false;
    }
    return ++p->doubt.stuck >= DPDK_STUCK_FRAMES;
}

/* A link that works ends for a session that is named again and again. The answer has it named again at once. */
static bool session_is_doubtful(struct dpdk_port *p, const struct hx_credit_frame *f)
{
    struct dpdk_doubt *d = &p->doubt;
    if (!p->link.open || f->session == p->link.peer_session) {
        d->frames = 0;
        return false;
    }
    d->frames = (uint8_t)(f->session == d->session && d->frames ? d->frames + 1 : 1);
    d->session = f->session;
    p->link.answer = true;
    if (d->frames < DPDK_BELIEF)
        return true;
    d->frames = 0;
    return false;
}

/* ---- what it says ---- */

/* Whether the counts of a frame of both present sessions are beyond what can be, or an overrun of one buffer, which is
 * what data that came twice makes of them. */
static bool is_credible(const struct dpdk_port *p, const struct hx_credit_frame *f)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        const struct hx_credit_sender *tx = &p->link.tx[vc];
        const struct hx_credit_receiver *rx = &p->link.rx[vc];
        if ((int32_t)(f->limit[vc] - (tx->sent + 2 * tx->buffer)) > 0 ||
            (int32_t)(f->sent[vc] - (rx->received + rx->buffer)) > 0)
            return false;
    }
    return true;
}

static void take_back_surplus(struct dpdk_port *p, unsigned vc, uint32_t sent)
{
    struct hx_credit_receiver *rx = &p->link.rx[vc];
    uint32_t surplus = rx->received - sent;
    if (surplus == 0 || surplus > rx->buffer)
        return;
    rx->received -= surplus;
    rx->freed -= surplus;
    p->told[vc] = hx_credit_limit(rx);
}

/* Of both present sessions. *f is made what can be believed of it. */
static bool counts_are_doubtful(struct dpdk_port *p, struct hx_credit_frame *f)
{
    if (!is_credible(p, f)) {
        p->doubt.incredible++;
        return p->doubt.incredible < DPDK_BELIEF;
    }
    p->doubt.incredible = 0;
    p->doubt.overruns = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        uint32_t most = p->link.tx[vc].sent + p->link.tx[vc].buffer;
        f->limit[vc] = (int32_t)(f->limit[vc] - most) > 0 ? most : f->limit[vc];
        take_back_surplus(p, vc, f->sent[vc]);
    }
    return false;
}

void dpdk_take_credit(struct dpdk_port *p, const struct hx_credit_frame *f)
{
    struct hx_credit_frame believed = *f;
    uint32_t session = p->link.session;
    uint32_t peer_session = p->link.peer_session;
    if (f->session == session) {
        meet_own_number(p);
        return;
    }
    /* The peer knows a session of this end that this end does not: its clock has gone back. */
    if ((int32_t)(f->peer_session - session) > 0 && f->peer_session && !p->link.open)
        hx_credit_link_up(&p->link, p->peer_blocks, p->blocks, dpdk_next_session(f->peer_session));
    if (peer_is_another(p, f)) {
        p->doubt.stuck = 0;
        p->link.peer_session = 0;
    }
    bool present = p->link.open && f->session == peer_session && f->peer_session == session;
    if (session_is_doubtful(p, f) || (present && counts_are_doubtful(p, &believed))) {
        p->counts.doubted++;
        return;
    }
    hx_credit_link_take(&p->link, &believed);
    if (p->link.session != session || p->link.peer_session != peer_session)
        dpdk_port_drain(p);
}

/* ---- data ---- */

bool dpdk_arrive(struct dpdk_port *p, unsigned vc, uint32_t blocks)
{
    uint32_t session = p->link.session;
    if (!p->link.open)
        return false;
    if (hx_credit_arrive(&p->link.rx[vc], blocks))
        return true;
    if (++p->doubt.overruns < DPDK_OVERRUNS)
        return false;
    p->doubt.overruns = 0;
    bool taken = hx_credit_link_arrive(&p->link, vc, blocks);
    if (p->link.session != session)
        dpdk_port_drain(p);
    return taken;
}
