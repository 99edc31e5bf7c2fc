/* cable.c - one end of a cable (cable.h). */
#include "cable.h"
#include "hal/split_mix.h"
#include "hxmesh/error.h"

uint64_t cable_draw(struct cable_end *c)
{
    return split_mix_next(&c->random);
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

/* ---- in ---- */

enum cable_verdict cable_judge(struct cable_end *c, const uint8_t *frame, size_t bytes, struct hx_header *h)
{
    static const enum cable_verdict whose[] = {
        [HX_CREDIT_PEER] = CABLE_PEER, [HX_CREDIT_STRANGER] = CABLE_STRANGER, [HX_CREDIT_OWN] = CABLE_OWN};
    struct hx_credit_frame f;
    int error = hx_frame_decode(h, frame, bytes);
    if (error == HX_OK)
        return h->plane == c->plane ? CABLE_DATA : CABLE_MALFORMED;
    if (error != HX_E_ETHERTYPE || hx_credit_decode(&f, frame, bytes) != HX_OK || f.plane != c->plane ||
        f.vcs != c->link.vcs)
        return CABLE_MALFORMED;
    return whose[hx_credit_link_take(&c->link, &f, cable_draw(c))];
}

enum cable_verdict cable_arrive(struct cable_end *c, const struct hx_header *h, struct hx_desc *d)
{
    if (h->credit_vc != HX_NO_CREDIT)
        hx_credit_link_grant(&c->link, h->credit_vc, h->credit_limit);
    if (!hx_credit_link_arrive(&c->link, h->vc, hx_blocks(h->length)))
        return CABLE_OVERRUN;
    *d = (struct hx_desc){
        .length = h->length, .vc = h->vc, .hops = h->hops, .dst_d0 = h->dst_d0, .dst_d1 = h->dst_d1, .job = h->job};
    hx_desc_set_via(d, h->via);
    return CABLE_DATA;
}

enum cable_verdict cable_take(struct cable_end *c, const uint8_t *frame, size_t bytes, struct hx_desc *d)
{
    struct hx_header h;
    enum cable_verdict verdict = cable_judge(c, frame, bytes, &h);
    return verdict == CABLE_DATA ? cable_arrive(c, &h, d) : verdict;
}

/* ---- credit out ---- */

bool cable_credit_is_due(const struct cable_end *c, uint64_t now)
{
    const struct hx_credit_link *l = &c->link;
    bool due = l->answer || now - c->told_at >= (l->open ? c->period : c->ask_period);
    for (unsigned vc = 0; vc < l->vcs && l->open; vc++)
        due = due || !hx_credit_is_ahead(c->told[vc] + l->rx[vc].buffer / 4, hx_credit_limit(&l->rx[vc]));
    return due;
}

unsigned cable_credit_write(const struct cable_end *c, uint8_t frame[HX_CREDIT_FRAME_BYTES])
{
    const struct hx_credit_frame f = hx_credit_link_frame(&c->link, c->plane);
    return hx_credit_encode(frame, &f);
}

/* A link that is not open says no limits; it says them as soon as it opens. */
void cable_credit_sent(struct cable_end *c, uint64_t now)
{
    for (unsigned vc = 0; vc < c->link.vcs; vc++)
        c->told[vc] = hx_credit_limit(&c->link.rx[vc]);
    c->told_at = now;
    hx_credit_link_told(&c->link);
}

bool cable_loses_credit(struct cable_end *c)
{
    return c->lose_credit && (cable_draw(c) >> 33) % c->lose_credit == 0;
}
