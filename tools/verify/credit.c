/* credit.c - checks credit on a wire by the credit frames of both ends: absolute counters in sessions
 * (docs/wire-format.md).
 *
 * For each port it counts blocks sent and blocks granted. The capture sees a grant before the sender does, so sending
 * beyond the grants seen is a breach. If the capture begins later, counts start with the first credit frames. */
#include "tools/verify/verify.h"

#include <stdarg.h>
#include <stdio.h>

static bool ahead(uint32_t a, uint32_t b)
{
    return a != b && a - b < 1U << 31;
}

__attribute__((format(printf, 3, 4))) static void breach(struct hx_credit_seen *p, uint64_t frame, const char *format,
                                                         ...)
{
    if (p->wrong)
        return;
    p->wrong = frame;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->what, sizeof p->what, format, arguments);
    va_end(arguments);
}

/* Restarts the counts. The capture does not show the exact point in the stream, so the next credit frame sets them. */
static void restart(struct hx_credit_seen *p)
{
    p->open = false;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        p->vc[vc].sent_known = p->vc[vc].limit_known = false;
}

static uint32_t buffer_of(const struct hx_verify *v)
{
    const struct hx_cap_fabric *f = &v->c->fabric;
    return f->facts.buffer ? (uint32_t)f->facts.buffer : f->spec.credits;
}

static void take_limit(const struct hx_verify *v, struct hx_credit_seen *p, const struct hx_capture_frame *s,
                       unsigned vc, uint32_t limit)
{
    if (p->vc[vc].sent_known && (int32_t)(limit - p->vc[vc].sent) > (int64_t)buffer_of(v)) {
        breach(p, s->frame, "grants %u blocks on VC %u, where %u were sent: more than a buffer of %u ahead", limit, vc,
               p->vc[vc].sent, buffer_of(v));
        return;
    }
    if (!p->vc[vc].limit_known || ahead(limit, p->vc[vc].limit))
        p->vc[vc].limit = limit;
    p->vc[vc].limit_known = true;
}

/* Whether the counts are of the sender's current session. An end without a peer sends limits of 0; its reply to an
 * unknown peer may be about a session that has not begun. */
static bool is_of_its_session(const struct hx_credit_frame *f)
{
    uint32_t any = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        any |= f->limit[vc];
    return any != 0 || f->peer_nonce == 0;
}

/* Takes a credit frame that the port sends. */
static void take_own(struct hx_credit_seen *p, const struct hx_capture_frame *s)
{
    const struct hx_credit_frame *f = &s->seen.credit;
    if (p->session_known && p->nonce != f->nonce)
        restart(p);
    p->session_known = true;
    p->nonce = f->nonce;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        if (p->vc[vc].sent_known && p->vc[vc].sent != f->sent[vc])
            breach(p, s->frame, "says %u blocks were sent on VC %u, but the capture has %u", f->sent[vc], vc,
                   p->vc[vc].sent);
        p->vc[vc].sent_known = true;
        p->vc[vc].sent = f->sent[vc];
    }
}

/* Takes a credit frame that the port receives. */
static void take_peer(const struct hx_verify *v, struct hx_credit_seen *p, const struct hx_capture_frame *s)
{
    const struct hx_credit_frame *f = &s->seen.credit;
    if (!p->session_known || f->peer_nonce != p->nonce)
        return;
    if (p->peer_known && p->peer_nonce != f->nonce)
        restart(p);
    p->peer_known = true;
    p->peer_nonce = f->nonce;
    p->open = true;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        take_limit(v, p, s, vc, f->limit[vc]);
}

void hx_verify_credit_frame(struct hx_verify *v, const struct hx_capture_frame *s)
{
    struct hx_credit_seen *p = &v->ports[s->port].credit;
    if (s->direction != HX_PCAPNG_OUTBOUND)
        take_peer(v, p, s);
    else if (is_of_its_session(&s->seen.credit))
        take_own(p, s);
}

static void count_sent(struct hx_credit_seen *p, const struct hx_capture_frame *s)
{
    unsigned vc = s->seen.data.vc;
    if (!p->vc[vc].sent_known)
        return;
    p->vc[vc].sent += hx_blocks(s->seen.data.length);
    if (p->open && p->vc[vc].limit_known && ahead(p->vc[vc].sent, p->vc[vc].limit))
        breach(p, s->frame, "is sent as block %u on VC %u, but only %u were granted", p->vc[vc].sent, vc,
               p->vc[vc].limit);
}

void hx_verify_credit_data(struct hx_verify *v, const struct hx_capture_frame *s)
{
    struct hx_credit_seen *p = &v->ports[s->port].credit;
    const struct hx_header *h = &s->seen.data;
    if (s->direction == HX_PCAPNG_OUTBOUND)
        count_sent(p, s);
    else if (p->open && h->credit_vc < HX_VCS)
        take_limit(v, p, s, h->credit_vc, h->credit_limit);
}

void hx_verify_credit_end(struct hx_verify *v)
{
    uint64_t silent = 0;
    for (uint32_t i = 0; i < v->port_count; i++) {
        const struct hx_credit_seen *p = &v->ports[i].credit;
        const struct hx_cap_port *port = &v->c->ports[i];
        if (v->ports[i].node == HX_NO_INDEX || v->ports[i].far.node == HX_NOWHERE)
            continue;
        bool validated = p->session_known && p->peer_known && port->dropped == 0 && !port->filtered;
        if (validated && p->wrong)
            hx_find(&v->found, false, p->wrong, HX_RULE_CREDIT, "%s", p->what);
        v->counts.credit_links_validated += validated;
        silent += !validated;
    }
    hx_note(&v->found,
            "%llu {port shows|ports show} no complete exchange of credit frames: {its|their} credit was not checked",
            silent);
}
