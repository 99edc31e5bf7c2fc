/* link.c - the two ends of a cable: what leaves one port arrives at the other, in order, on its VC; and, where
 * memory is the link, no more than the receiver's buffer holds. */
#include "tools/verify/verify.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_PENDING = 1 << 16, /* seen at one end only: beyond this the cable is not judged */
    MOST_PASSED = 4096,
    SEARCH_DEPTH = 8192
};

/* ---- lists ---- */

static void push(struct hx_pendings *q, const struct hx_pending *p)
{
    if (q->first + q->count == q->room) {
        if (q->first > q->room / 2) {
            memmove(q->items, q->items + q->first, q->count * sizeof *q->items);
        } else {
            uint32_t room = q->room ? 2 * q->room : 16;
            struct hx_pending *items = hx_allocate(room, sizeof *items);
            if (q->count)
                memcpy(items, q->items + q->first, q->count * sizeof *items);
            free(q->items);
            q->items = items;
            q->room = room;
        }
        q->first = 0;
    }
    q->items[q->first + q->count++] = *p;
}

/* The place of the packet behind q->first; HX_NO_INDEX: it is not there. */
static uint32_t search(const struct hx_pendings *q, const struct hx_key *key)
{
    for (uint32_t i = 0; i < q->count && i < SEARCH_DEPTH; i++)
        if (memcmp(&q->items[q->first + i].key, key, sizeof *key) == 0)
            return i;
    return HX_NO_INDEX;
}

static struct hx_pending take_at(struct hx_pendings *q, uint32_t i)
{
    struct hx_pending *items = q->items + q->first;
    struct hx_pending taken = items[i];
    memmove(items + 1, items, i * sizeof *items);
    q->first++;
    q->count--;
    return taken;
}

static bool take(struct hx_pendings *q, const struct hx_key *key, struct hx_pending *taken)
{
    uint32_t i = search(q, key);
    if (i == HX_NO_INDEX)
        return false;
    *taken = take_at(q, i);
    return true;
}

void hx_verify_cable_free(struct hx_cable *c)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        free(c->out[vc].items);
        free(c->in[vc].items);
        free(c->passed[vc].items);
    }
}

/* ---- order ---- */

static void find_overtaken(struct hx_verify *v, const struct hx_cable *c, uint64_t overtaker, uint64_t other)
{
    hx_find(&v->found, false, overtaker, HX_RULE_ORDER,
            "arrives at %s before a packet that was sent before it (frame %llu)", v->c->ports[c->to].name,
            (unsigned long long)other);
}

static void judge_both(struct hx_verify *v, const struct hx_cable *c, const struct hx_pending *sent,
                       const struct hx_pending *came)
{
    if (sent->vc != came->vc)
        hx_find(&v->found, false, came->frame, HX_RULE_VC, "arrives on VC %u, but was sent on VC %u (frame %llu)",
                came->vc, sent->vc, (unsigned long long)sent->frame);
    if (sent->hops != came->hops)
        hx_find(&v->found, false, came->frame, HX_RULE_HOPS, "arrives with hops %u, but was sent with %u (frame %llu)",
                came->hops, sent->hops, (unsigned long long)sent->frame);
    if (sent->overtaker)
        find_overtaken(v, c, sent->overtaker, came->frame);
    else if (came->overtaker)
        find_overtaken(v, c, came->frame, came->overtaker);
}

static struct hx_pending pending_of(const struct hx_sighting *s)
{
    return (struct hx_pending){.key = s->seen.key, .frame = s->frame, .vc = s->seen.data.vc, .hops = s->seen.data.hops};
}

static void give_up(struct hx_cable *c)
{
    hx_verify_cable_free(c);
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        c->out[vc] = c->in[vc] = c->passed[vc] = (struct hx_pendings){.items = NULL};
    c->given_up = true;
}

static void keep(struct hx_cable *c, struct hx_pendings *q, const struct hx_pending *p)
{
    if (q->count == MOST_PENDING)
        give_up(c);
    else
        push(q, p);
}

/* The first `count` packets that were sent and did not arrive are overtaken by one that did. */
static void overtake_sent(struct hx_cable *c, unsigned vc, uint32_t count, uint64_t overtaker)
{
    for (; count > 0; count--) {
        struct hx_pending passed = take_at(&c->out[vc], 0);
        passed.overtaker = overtaker;
        if (c->passed[vc].count == MOST_PASSED)
            (void)take_at(&c->passed[vc], 0);
        push(&c->passed[vc], &passed);
    }
}

/* The first `count` packets that arrived and were not sent came before one that was. The marked ones stand in front. */
static void mark_early(struct hx_pendings *in, uint32_t count, uint64_t sent)
{
    for (; count > 0 && !in->items[in->first + count - 1].overtaker; count--)
        in->items[in->first + count - 1].overtaker = sent;
}

/* The packet leaves. Those that are known to have come before it, though they leave later, overtook it. */
static void match_sent(struct hx_verify *v, struct hx_cable *c, const struct hx_pending *sent)
{
    struct hx_pendings *in = &c->in[sent->vc];
    uint32_t i = search(in, &sent->key);
    struct hx_pending came;
    if (i != HX_NO_INDEX) {
        mark_early(in, i, sent->frame);
        came = take_at(in, i);
        overtake_sent(c, sent->vc, c->out[sent->vc].count, came.frame);
        judge_both(v, c, sent, &came);
        return;
    }
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        if (vc != sent->vc && take(&c->in[vc], &sent->key, &came)) {
            judge_both(v, c, sent, &came);
            return;
        }
    }
    keep(c, &c->out[sent->vc], sent);
}

/* The packet arrives. Those that left before it and have not arrived are overtaken by it, or lost. */
static void match_came(struct hx_verify *v, struct hx_cable *c, const struct hx_pending *came)
{
    struct hx_pendings *out = &c->out[came->vc];
    uint32_t i = search(out, &came->key);
    if (i != HX_NO_INDEX) {
        overtake_sent(c, came->vc, i, came->frame);
        struct hx_pending sent = take_at(out, 0);
        mark_early(&c->in[came->vc], c->in[came->vc].count, sent.frame);
        judge_both(v, c, &sent, came);
        return;
    }
    for (unsigned turn = 0; turn < HX_VCS; turn++) {
        unsigned vc = (came->vc + turn) % HX_VCS;
        struct hx_pending sent;
        if (take(&c->passed[vc], &came->key, &sent) || (turn > 0 && take(&c->out[vc], &came->key, &sent))) {
            judge_both(v, c, &sent, came);
            return;
        }
    }
    keep(c, &c->in[came->vc], came);
}

/* ---- buffers of links without credit frames ---- */

static int64_t units(const struct hx_verify *v, unsigned length)
{
    return v->c->fabric.facts.link == HX_CAPTURE_MEMORY ? 1 : (int64_t)hx_blocks(length);
}

static int64_t buffer_units(const struct hx_verify *v)
{
    const struct hx_cap_fabric *f = &v->c->fabric;
    uint64_t blocks = f->facts.buffer ? f->facts.buffer : f->spec.credits;
    return (int64_t)(f->facts.link == HX_CAPTURE_MEMORY ? blocks / HX_PACKET_BLOCKS : blocks);
}

static void hold(struct hx_verify *v, struct hx_cable *c, const struct hx_sighting *s)
{
    unsigned vc = s->seen.data.vc;
    c->held[vc] += units(v, s->seen.data.length);
    int64_t held = c->held[vc];
    if (v->c->fabric.facts.link == HX_CAPTURE_PORT)
        held = c->held[0] + c->held[1] + c->held[2];
    if (held > buffer_units(v) && !c->over) {
        c->over = s->frame;
        c->over_vc = vc;
        c->over_held = held;
    }
}

void hx_verify_freed(struct hx_verify *v, uint32_t port, unsigned vc, unsigned length)
{
    uint32_t cable = v->ports[port].in;
    if (cable != HX_NO_INDEX)
        v->cables[cable].held[vc] -= units(v, length);
}

void hx_verify_leak(struct hx_verify *v, uint32_t cable, uint64_t frame)
{
    if (cable != HX_NO_INDEX && (v->cables[cable].leak == 0 || frame < v->cables[cable].leak))
        v->cables[cable].leak = frame;
}

static void judge_held(struct hx_verify *v, const struct hx_cable *c)
{
    const struct hx_cap_port *from = &v->c->ports[c->from];
    if (v->c->fabric.facts.link == HX_CAPTURE_WIRE || from->dropped || from->filtered ||
        !hx_verify_covered(&v->nodes[v->ports[c->to].node]))
        return;
    bool blurred = c->leak && c->leak < c->over;
    v->counts.credit_links_judged += !blurred;
    if (c->over && !blurred)
        hx_find(&v->found, false, c->over, HX_RULE_CREDIT,
                "leaves by %s on VC %u, where %lld %s are under way or held, more than the buffer's %lld", from->name,
                c->over_vc, (long long)c->over_held,
                v->c->fabric.facts.link == HX_CAPTURE_MEMORY ? "packets" : "blocks", (long long)buffer_units(v));
}

/* ---- */

void hx_verify_sent(struct hx_verify *v, const struct hx_sighting *s)
{
    uint32_t cable = v->ports[s->port].out;
    if (cable == HX_NO_INDEX)
        return;
    struct hx_cable *c = &v->cables[cable];
    c->sent++;
    hold(v, c, s);
    struct hx_pending p = pending_of(s);
    if (!c->given_up)
        match_sent(v, c, &p);
}

void hx_verify_came(struct hx_verify *v, const struct hx_sighting *s)
{
    uint32_t cable = v->ports[s->port].in;
    if (cable == HX_NO_INDEX)
        return;
    struct hx_cable *c = &v->cables[cable];
    c->came++;
    struct hx_pending p = pending_of(s);
    if (!c->given_up)
        match_came(v, c, &p);
}

static bool complete(const struct hx_verify *v, uint32_t port)
{
    return v->c->ports[port].dropped == 0 && !v->c->ports[port].filtered;
}

static void end_vc(struct hx_verify *v, const struct hx_cable *c, unsigned vc, struct hx_map *lost)
{
    const struct hx_pendings *gone[] = {&c->out[vc], &c->passed[vc]};
    for (unsigned list = 0; list < 2 && complete(v, c->to); list++)
        for (uint32_t i = 0; i < gone[list]->count; i++) {
            const struct hx_pending *p = &gone[list]->items[gone[list]->first + i];
            hx_verify_leak(v, v->ports[c->from].out, p->frame);
            hx_verify_lose(lost, &p->key, p->frame);
        }
    for (uint32_t i = 0; i < c->in[vc].count && complete(v, c->from) && !v->partial; i++)
        hx_find(&v->found, false, c->in[vc].items[c->in[vc].first + i].frame, HX_RULE_DELIVERY,
                "arrives at %s, but never left %s", v->c->ports[c->to].name, v->c->ports[c->from].name);
}

void hx_verify_links_end(struct hx_verify *v, struct hx_map *lost)
{
    uint64_t one_sided = 0;
    for (uint32_t i = 0; i < v->cable_count; i++) {
        const struct hx_cable *c = &v->cables[i];
        if (c->given_up || (c->sent == 0) != (c->came == 0)) {
            one_sided++;
            continue;
        }
        v->counts.links_judged++;
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            end_vc(v, c, vc, lost);
        judge_held(v, c);
    }
    hx_note(&v->found, "%llu cables show frames at one end only: their order was not judged", one_sided);
}
