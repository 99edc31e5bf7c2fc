/* link.c - checks both ends of a cable: what leaves one port arrives at the other, in order, on its VC. If the link is
 * memory, also that it holds no more than the receiver's buffer. */
#include "tools/verify/verify.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_PENDING = 1 << 16, /* packets seen at one end only; a cable with more is not checked */
    MOST_PASSED = 4096,
    SEARCH_DEPTH = 8192
};

/* Greatest delay of a copy after the first arrival, by clock. Live, records of two workers interleave; half of this
 * later it is certain that an arrival was not sent. */
static const uint64_t copied_within_ns[] = {[HX_CLOCK_WALL] = 2000000000, [HX_CLOCK_VIRTUAL] = 1000000};

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

static bool is_same_packet(const struct hx_pending *a, const struct hx_pending *b)
{
    return memcmp(&a->key, &b->key, sizeof a->key) == 0;
}

/* The index of the packet at or behind `from`: with equal hops, or else with any, as copies may take other paths.
 * HX_NO_INDEX: none. */
static uint32_t search_from(const struct hx_pendings *q, const struct hx_pending *p, uint32_t from)
{
    uint32_t any = HX_NO_INDEX;
    for (uint32_t i = from; i < q->count && i < SEARCH_DEPTH; i++) {
        const struct hx_pending *other = &q->items[q->first + i];
        if (!is_same_packet(other, p))
            continue;
        if (other->hops == p->hops)
            return i;
        any = any == HX_NO_INDEX ? i : any;
    }
    return any;
}

static uint32_t search(const struct hx_pendings *q, const struct hx_pending *p)
{
    return search_from(q, p, 0);
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

static bool take_pending(struct hx_pendings *q, uint32_t i, struct hx_pending *taken)
{
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

static struct hx_seen_at seen_at(const struct hx_pending *p, uint32_t port)
{
    return (struct hx_seen_at){p->frame, p->time_ns, port, &p->key};
}

static void find_overtaken(struct hx_verify *v, const struct hx_cable *c, const struct hx_pending *came,
                           uint64_t overtaker, uint64_t other)
{
    const struct hx_seen_at at = {overtaker, came->time_ns, c->to, &came->key};
    hx_verify_find(v, &at, HX_ALLOW_ORDER | HX_ALLOW_GAPS | HX_ALLOW_CAPTURE_LOSS, false, HX_RULE_ORDER,
                   "arrives at %s before a packet that was sent before it (frame %llu)", v->c->ports[c->to].name,
                   (unsigned long long)other);
}

static struct hx_crossing crossing_of(const struct hx_verify *v, const struct hx_cable *c,
                                      const struct hx_pending *came)
{
    return (struct hx_crossing){
        .key = came->key, .cable = v->ports[c->to].in, .vc = (uint16_t)came->vc, .hops = (uint16_t)came->hops};
}

static void validate_both(struct hx_verify *v, const struct hx_cable *c, const struct hx_pending *sent,
                          const struct hx_pending *came)
{
    static const unsigned unsure = HX_ALLOW_GAPS | HX_ALLOW_CAPTURE_LOSS; /* it may be a repeat of the packet */
    const struct hx_seen_at at = seen_at(came, c->to);
    if (sent->vc != came->vc)
        hx_verify_find(v, &at, unsure, false, HX_RULE_VC, "arrives on VC %u, but was sent on VC %u (frame %llu)",
                       came->vc, sent->vc, (unsigned long long)sent->frame);
    if (sent->hops != came->hops)
        hx_verify_find(v, &at, unsure, false, HX_RULE_HOPS, "arrives with hops %u, but was sent with %u (frame %llu)",
                       came->hops, sent->hops, (unsigned long long)sent->frame);
    if (sent->overtaker && !sent->unsure)
        find_overtaken(v, c, came, sent->overtaker, came->frame);
    else if (came->overtaker && !sent->unsure)
        find_overtaken(v, c, came, came->frame, came->overtaker);
    const struct hx_crossing crossing = crossing_of(v, c, came);
    if (hx_fault_allowed(v, c->to, came->time_ns, HX_ALLOW_COPIES))
        hx_copies_note(&v->copies, &crossing);
}

static struct hx_pending pending_of(const struct hx_capture_frame *s)
{
    return (struct hx_pending){.key = s->seen.key,
                               .frame = s->frame,
                               .time_ns = s->time_ns,
                               .vc = s->seen.data.vc,
                               .hops = s->seen.data.hops,
                               .sound = s->seen.crc == HX_SEEN_CRC_GOOD};
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

static const unsigned loses = HX_ALLOW_LOSS | HX_ALLOW_DAMAGE | HX_ALLOW_GAPS;

static bool may_be_lost(struct hx_verify *v, const struct hx_cable *c, const struct hx_pending *sent)
{
    return hx_fault_allowed(v, c->from, sent->time_ns, loses);
}

static void lose(struct hx_verify *v, const struct hx_cable *c, const struct hx_pending *sent)
{
    const struct hx_seen_at at = seen_at(sent, c->from);
    hx_verify_leak(v, v->ports[c->from].out, sent->frame);
    hx_verify_lose(v, &at, &(struct hx_loss){.by = loses, .next = c->to});
}

/* Forgets the packet that was overtaken first. If the link may lose packets it counts as lost; otherwise it may still
 * arrive. */
static void forget_passed(struct hx_verify *v, struct hx_cable *c, unsigned vc)
{
    struct hx_pending p = take_at(&c->passed[vc], 0);
    if (may_be_lost(v, c, &p))
        lose(v, c, &p);
}

/* Marks the first `count` packets in flight as overtaken by one that arrived. If an equal packet with equal hops is
 * among them, that one may have arrived instead. Then those behind it were not overtaken, so they are unsure. */
static void overtake_sent(struct hx_verify *v, struct hx_cable *c, unsigned vc, uint32_t count,
                          const struct hx_pending *overtaker)
{
    bool unsure = false;
    for (; count > 0; count--) {
        struct hx_pending passed = take_at(&c->out[vc], 0);
        unsure |= passed.hops == overtaker->hops && is_same_packet(&passed, overtaker);
        passed.overtaker = overtaker->frame;
        passed.unsure = unsure;
        if (c->passed[vc].count == MOST_PASSED)
            forget_passed(v, c, vc);
        push(&c->passed[vc], &passed);
    }
}

static bool has_hops(const struct hx_pendings *q, uint32_t i, const struct hx_pending *p)
{
    return i != HX_NO_INDEX && q->items[q->first + i].hops == p->hops;
}

/* The sending of a packet that arrived. Of several, the first that no fault may have lost, or else the last. */
static uint32_t search_sent(struct hx_verify *v, const struct hx_cable *c, const struct hx_pendings *q,
                            const struct hx_pending *came)
{
    uint32_t found = search(q, came);
    for (uint32_t next = found; next != HX_NO_INDEX; next = search_from(q, came, next + 1)) {
        if (q->items[q->first + next].hops != q->items[q->first + found].hops)
            break;
        found = next;
        if (!may_be_lost(v, c, &q->items[q->first + next]))
            break;
    }
    return found;
}

/* Marks the first `count` arrivals without a sending: they overtook the packet of frame `sent`. Marked ones are in
 * front. In a partial capture they were sent before it began and are removed, as a later sending is not theirs. */
static void mark_early(const struct hx_verify *v, struct hx_pendings *in, uint32_t count, uint64_t sent)
{
    if (v->partial) {
        in->first += count;
        in->count -= count;
        return;
    }
    for (; count > 0 && !in->items[in->first + count - 1].overtaker; count--)
        in->items[in->first + count - 1].overtaker = sent;
}

/* Whether the arrival is a copy: the packet crossed the cable while that may have repeated it, and that crossing has no
 * copy yet. If a packet is sent twice, its copy may be matched with the second sending. The arrival left over is the
 * second one's, and may come at any time. */
static bool take_copy(struct hx_verify *v, const struct hx_cable *c, const struct hx_pending *came)
{
    const struct hx_crossing one = crossing_of(v, c, came);
    const struct hx_seen_at at = seen_at(came, c->to);
    if (!(v->fault_allowances.kinds & HX_ALLOW_COPIES) || !hx_copies_take(&v->copies, &one))
        return false;
    hx_verify_let_pass(v, hx_tally_copied, &at, HX_ALLOW_COPIES);
    return true;
}

/* Whether the packet was sent damaged, and so not counted as sent, and the link restored it. Links may have repeated it
 * before. */
static bool is_mended(struct hx_verify *v, const struct hx_cable *c, const struct hx_pending *came)
{
    const struct hx_seen_at at = seen_at(came, c->to);
    if (!came->sound || !hx_fault_allowances_mended(v, &at, c->from))
        return false;
    v->fault_allowances.allowed++;
    hx_verify_let_pass(v, hx_rule_names[HX_RULE_DELIVERY], &at, HX_ALLOW_DAMAGE);
    if (v->fault_allowances.kinds & HX_ALLOW_COPIES)
        hx_copies_allow(&v->copies, &came->key);
    return true;
}

/* Whether a fault explains an arrival without a matching sending. */
static bool is_explained(struct hx_verify *v, const struct hx_cable *c, const struct hx_pending *came)
{
    return take_copy(v, c, came) || is_mended(v, c, came);
}

/* Removes copies among the arrivals before `before_ns` that still have no sending. */
static void take_copies(struct hx_verify *v, const struct hx_cable *c, struct hx_pendings *in, uint64_t before_ns)
{
    for (uint32_t i = 0; i < in->count;) {
        const struct hx_pending *p = &in->items[in->first + i];
        if (p->time_ns < before_ns && take_copy(v, c, p))
            (void)take_at(in, i);
        else
            i++;
    }
}

static void turn_copies(struct hx_verify *v, uint64_t time_ns)
{
    uint64_t within_ns = copied_within_ns[v->c->fabric.facts.clock];
    if (!hx_copies_are_due(&v->copies, time_ns, within_ns))
        return;
    for (uint32_t i = 0; v->copies.recent.count + v->copies.older.count && i < v->cable_count; i++)
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            take_copies(v, &v->cables[i], &v->cables[i].in[vc], time_ns - within_ns / 2);
    hx_copies_turn(&v->copies, time_ns);
}

/* Matches a sending. Packets that arrived before it and are sent later have overtaken it. */
static void match_sent(struct hx_verify *v, struct hx_cable *c, const struct hx_pending *sent)
{
    struct hx_pendings *in = &c->in[sent->vc];
    uint32_t i = search(in, sent);
    struct hx_pending came;
    if (i != HX_NO_INDEX) {
        mark_early(v, in, i, sent->frame);
        came = take_at(in, v->partial ? 0 : i);
        overtake_sent(v, c, sent->vc, c->out[sent->vc].count, &came);
        validate_both(v, c, sent, &came);
        return;
    }
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        while (vc != sent->vc && take_pending(&c->in[vc], search(&c->in[vc], sent), &came)) {
            if (take_copy(v, c, &came))
                continue; /* a copy of an earlier sending on that VC */
            validate_both(v, c, sent, &came);
            return;
        }
    }
    keep(c, &c->out[sent->vc], sent);
}

/* Known sendings of an arriving packet on the cable's same VC. */
struct sendings {
    uint32_t in_flight; /* index in out[vc], or HX_NO_INDEX */
    uint32_t gone_by;   /* index in passed[vc], or HX_NO_INDEX */
    bool is_same;       /* the one in flight is this packet */
    bool is_other_hops; /* all known sendings have other hops */
};

static struct sendings sendings_of(struct hx_verify *v, struct hx_cable *c, const struct hx_pending *came)
{
    struct hx_pendings *out = &c->out[came->vc];
    struct hx_pendings *passed = &c->passed[came->vc];
    struct sendings s = {.in_flight = search_sent(v, c, out, came), .gone_by = search(passed, came)};
    bool has_out = has_hops(out, s.in_flight, came);
    bool has_passed = has_hops(passed, s.gone_by, came);
    bool is_known = s.in_flight != HX_NO_INDEX || s.gone_by != HX_NO_INDEX;
    s.is_same = s.in_flight != HX_NO_INDEX && (has_out || !has_passed);
    s.is_other_hops = is_known && !has_out && !has_passed;
    return s;
}

/* Matches an arrival with sending i. Packets sent before it that have not arrived are overtaken or lost. */
static void match_in_flight(struct hx_verify *v, struct hx_cable *c, uint32_t i, const struct hx_pending *came)
{
    struct hx_pendings *out = &c->out[came->vc];
    overtake_sent(v, c, came->vc, i, came);
    struct hx_pending sent = take_at(out, 0);
    mark_early(v, &c->in[came->vc], c->in[came->vc].count, sent.frame);
    validate_both(v, c, &sent, came);
}

/* Whether the arrival matches a sending on `vc`, or is a copy that will match one. On its own VC only overtaken
 * sendings count, on others all. */
static bool match_on_vc(struct hx_verify *v, struct hx_cable *c, unsigned vc, const struct hx_pending *came)
{
    bool is_own = vc == came->vc;
    uint32_t gone_by = search_sent(v, c, &c->passed[vc], came);
    uint32_t in_flight = is_own ? HX_NO_INDEX : search(&c->out[vc], came);
    bool is_there = gone_by != HX_NO_INDEX || in_flight != HX_NO_INDEX;
    if (!is_own && is_there && is_explained(v, c, came))
        return true; /* a copy of a sending on its own VC */
    struct hx_pending sent;
    if (!take_pending(&c->passed[vc], gone_by, &sent) && !take_pending(&c->out[vc], in_flight, &sent))
        return false;
    validate_both(v, c, &sent, came);
    return true;
}

/* Matches an arrival. In a simulated capture its sending comes before it; in a live one it may come later. */
static void match_came(struct hx_verify *v, struct hx_cable *c, const struct hx_pending *came)
{
    struct sendings s = sendings_of(v, c, came);
    if (s.is_other_hops && is_explained(v, c, came))
        return; /* the sending with its hops comes later */
    if (s.is_same) {
        match_in_flight(v, c, s.in_flight, came);
        return;
    }
    if (match_on_vc(v, c, came->vc, came))
        return;
    if (v->c->fabric.facts.clock == HX_CLOCK_VIRTUAL && is_explained(v, c, came))
        return;
    for (unsigned turn = 1; turn < HX_VCS; turn++)
        if (match_on_vc(v, c, (came->vc + turn) % HX_VCS, came))
            return;
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

/* Whether a fault may enlarge the link's buffer, or hide what happened to packets in it. */
static bool is_stretched(struct hx_verify *v, uint32_t port, uint64_t time_ns)
{
    return v->c->fabric.facts.link == HX_CAPTURE_MEMORY &&
           hx_fault_allowed(v, port, time_ns, HX_ALLOW_STRETCH | HX_ALLOW_GAPS);
}

static void hold(struct hx_verify *v, struct hx_cable *c, const struct hx_capture_frame *s)
{
    unsigned vc = s->seen.data.vc;
    c->held[vc] += units(v, s->seen.data.length);
    int64_t held = c->held[vc];
    if (v->c->fabric.facts.link == HX_CAPTURE_PORT)
        for (unsigned other = 0; other < HX_VCS; other++)
            held += other == vc ? 0 : c->held[other];
    if (held <= buffer_units(v))
        return;
    bool is_known =
        c->over && !is_stretched(v, s->port, c->over_ns); /* a fault found later may allow the previous one */
    if (!is_known && !is_stretched(v, s->port, s->time_ns)) {
        c->over = s->frame;
        c->over_ns = s->time_ns;
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

static void validate_held(struct hx_verify *v, const struct hx_cable *c)
{
    const struct hx_cap_port *from = &v->c->ports[c->from];
    if (v->c->fabric.facts.link == HX_CAPTURE_WIRE || from->dropped || from->filtered ||
        !hx_verify_covered(&v->nodes[v->ports[c->to].node]))
        return;
    bool blurred = (c->leak && c->leak < c->over) || (c->over && is_stretched(v, c->from, c->over_ns));
    v->counts.credit_links_validated += !blurred;
    if (c->over && !blurred)
        hx_find(&v->found, false, c->over, HX_RULE_CREDIT,
                "leaves by %s on VC %u, where %lld %s are in flight or held, more than the buffer's %lld", from->name,
                c->over_vc, (long long)c->over_held,
                v->c->fabric.facts.link == HX_CAPTURE_MEMORY ? "packets" : "blocks", (long long)buffer_units(v));
}

/* ---- */

static void validate_open(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_seen_at at = {s->frame, s->time_ns, s->port, &s->seen.key};
    if (hx_fault_allowances_shut(v, s->port, s->time_ns))
        hx_verify_find(v, &at, 0, false, HX_RULE_CLOSED, "leaves by %s while its link is closed as planned",
                       v->c->ports[s->port].name);
}

void hx_verify_sent(struct hx_verify *v, const struct hx_capture_frame *s)
{
    uint32_t cable = v->ports[s->port].out;
    if (cable == HX_NO_INDEX)
        return;
    struct hx_cable *c = &v->cables[cable];
    c->sent++;
    validate_open(v, s);
    hold(v, c, s);
    struct hx_pending p = pending_of(s);
    if (!c->given_up)
        match_sent(v, c, &p);
}

void hx_verify_came(struct hx_verify *v, const struct hx_capture_frame *s)
{
    uint32_t cable = v->ports[s->port].in;
    if (cable == HX_NO_INDEX)
        return;
    struct hx_cable *c = &v->cables[cable];
    turn_copies(v, s->time_ns);
    c->came++;
    struct hx_pending p = pending_of(s);
    if (!c->given_up)
        match_came(v, c, &p);
}

static bool complete(const struct hx_verify *v, uint32_t port)
{
    return v->c->ports[port].dropped == 0 && !v->c->ports[port].filtered;
}

static void end_vc(struct hx_verify *v, const struct hx_cable *c, unsigned vc)
{
    const struct hx_pendings *gone[] = {&c->out[vc], &c->passed[vc]};
    for (unsigned list = 0; list < 2 && complete(v, c->to); list++)
        for (uint32_t i = 0; i < gone[list]->count; i++)
            lose(v, c, &gone[list]->items[gone[list]->first + i]);
    for (uint32_t i = 0; i < c->in[vc].count && complete(v, c->from) && !v->partial; i++) {
        const struct hx_pending *p = &c->in[vc].items[c->in[vc].first + i];
        const struct hx_seen_at at = seen_at(p, c->to);
        if (!is_explained(v, c, p))
            hx_verify_find(v, &at, p->sound ? HX_ALLOW_GAPS : HX_ALLOW_GAPS | HX_ALLOW_DAMAGE, false, HX_RULE_DELIVERY,
                           "arrives at %s, but never left %s", v->c->ports[c->to].name, v->c->ports[c->from].name);
    }
}

static bool waits_in(const struct hx_pendings *q, const struct hx_key *key)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (memcmp(&q->items[q->first + i].key, key, sizeof *key) == 0)
            return true;
    return false;
}

uint32_t hx_verify_half_seen(struct hx_verify *v, uint32_t node, const struct hx_key *key, bool arrival)
{
    unsigned ports = hx_fabric_ports(v->c->fabric.g, v->nodes[node].at.node);
    for (unsigned i = 0; i < ports; i++) {
        uint32_t port = hx_verify_port_of(v, node, i);
        uint32_t cable = port == HX_NO_INDEX ? HX_NO_INDEX : arrival ? v->ports[port].in : v->ports[port].out;
        if (cable == HX_NO_INDEX)
            continue;
        const struct hx_cable *c = &v->cables[cable];
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            if (arrival ? waits_in(&c->out[vc], key) || waits_in(&c->passed[vc], key) : waits_in(&c->in[vc], key))
                return port;
    }
    return HX_NO_INDEX;
}

/* Whether one end shows nothing and may not have been captured. A capture that says that it is whole has both ends. */
static bool is_one_sided(const struct hx_verify *v, const struct hx_cable *c)
{
    bool is_whole = v->c->fabric.facts.span == HX_CAPTURE_SPAN_RUN && !v->partial;
    return (c->sent == 0) != (c->came == 0) && !is_whole;
}

/* Counts losses only if a fault allows them: the cable may have failed before anything arrived. */
static void end_one_sided(struct hx_verify *v, const struct hx_cable *c)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        for (uint32_t i = 0; i < c->out[vc].count; i++) {
            const struct hx_pending *sent = &c->out[vc].items[c->out[vc].first + i];
            if (may_be_lost(v, c, sent))
                lose(v, c, sent);
        }
}

void hx_verify_links_end(struct hx_verify *v)
{
    uint64_t one_sided = 0;
    for (uint32_t i = 0; i < v->cable_count; i++) {
        const struct hx_cable *c = &v->cables[i];
        if (c->given_up || is_one_sided(v, c)) {
            one_sided++;
            end_one_sided(v, c);
            continue;
        }
        v->counts.links_validated++;
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            end_vc(v, c, vc);
        validate_held(v, c);
    }
    hx_note(&v->found, "%llu {cable shows|cables show} frames at one end only: {its|their} order was not checked",
            one_sided);
}
