/* node.c - checks a packet at one node: its arrival against its departure. */
#include "hxmesh/around.h"
#include "tools/verify/verify.h"

#include <stddef.h>

/* An arrival or departure of a packet at a node. Both parts of the key are padded to whole words. */
struct resident {
    struct hx_key key;
    uint32_t node, reserved;
    uint64_t frame, time_ns;
    uint32_t port; /* in v->c->ports */
    uint16_t via;
    uint8_t vc, hops;
    bool departed;  /* departed without arrival */
    bool ambiguous; /* the departure of a similar arrival fits this one too, so its own may belong to the other */
};

enum { MOST_STRAYS = 1 << 21 }; /* limit of packets followed at partly captured nodes */

void hx_verify_nodes_begin(struct hx_verify *v)
{
    v->residents = hx_table_make(offsetof(struct resident, frame), sizeof(struct resident));
}

static struct resident resident_of(const struct hx_verify *v, const struct hx_capture_frame *s, bool departed)
{
    return (struct resident){.key = s->seen.key,
                             .node = v->ports[s->port].node,
                             .frame = s->frame,
                             .time_ns = s->time_ns,
                             .port = s->port,
                             .via = s->seen.data.via,
                             .vc = s->seen.data.vc,
                             .hops = s->seen.data.hops,
                             .departed = departed};
}

bool hx_verify_covered(const struct hx_verify_node *n)
{
    return n->captured == n->cabled && n->dropped == 0 && !n->filtered;
}

/* Whether a packet is on the escape VC of a HammingMesh, where it stays, and turns as it may (hxmesh/around.h). */
static bool escapes(const struct hx_verify *v, const struct resident *in)
{
    return v->c->fabric.g->mesh.nodes && in->vc == HX_ESCAPE_VC;
}

/* The VC that the packet must leave on. */
static unsigned vc_behind(const struct hx_verify *v, const struct resident *in, const struct resident *out)
{
    if (escapes(v, in))
        return HX_ESCAPE_VC;
    return hx_cap_vc(&v->c->fabric, &v->c->ports[in->port].at, in->vc, &v->c->ports[out->port].at);
}

/* Whether it leaves by its input port. At the end of its detour it may. */
static bool goes_back(const struct resident *in, const struct resident *out)
{
    return in->port == out->port && !(in->via && !out->via);
}

static bool ends_detour(const struct hx_verify *v, const struct resident *in)
{
    return in->via && hx_cap_detour_ends(&v->c->fabric.graph, v->c->ports[in->port].at.node, in->via);
}

/* Whether the detour is right: it begins at the first router, ends at its target, and does not change in between. */
static bool detour_holds(const struct hx_verify *v, const struct resident *in, const struct resident *out)
{
    const struct hx_cap_fabric *f = &v->c->fabric;
    const struct hx_port_at *at = &v->c->ports[in->port].at;
    if (f->g->mesh.nodes || hx_cap_is_accelerator(f, at))
        return true;
    bool first = v->ports[in->port].far.node < f->g->hosts;
    return ends_detour(v, in) ? out->via == 0 : in->via == out->via || (first && in->via == 0);
}

/* How well an arrival and a departure fit. A repeated packet may visit a node more than once, and return to it. */
enum fit { FITS_NOT, FITS_BUT_GOES_BACK, FITS };
static enum fit fit_of(const struct hx_verify *v, const struct resident *in, const struct resident *out)
{
    if (vc_behind(v, in, out) != out->vc || (uint8_t)(in->hops + 1U) != out->hops || !detour_holds(v, in, out))
        return FITS_NOT;
    return goes_back(in, out) ? FITS_BUT_GOES_BACK : FITS;
}

/* Faults that may mix up two visits: a packet on a detour, or a repeated one, visits a node more than once, and one
 * record may be missing. */
static const unsigned missed = HX_ALLOW_MISSED | HX_ALLOW_GAPS;

/* Whether a packet at the port has moved north on the board: it came by the south port from the board's own
 * neighbour. */
static bool moved_north(const struct hx_verify *v, uint32_t port)
{
    const struct hx_port_at *at = &v->c->ports[port].at;
    return hx_cap_is_accelerator(&v->c->fabric, at) && at->port == HX_S && !v->ports[port].leaves_board;
}

static void validate_turn(struct hx_verify *v, const struct resident *in, const struct resident *out)
{
    unsigned to = v->c->ports[out->port].at.port;
    if (escapes(v, in) || !moved_north(v, in->port) || v->ports[out->port].leaves_board || to == HX_N || to == HX_LOCAL)
        return;
    hx_verify_find(v, HX_SEEN_AT(out), missed, false, HX_RULE_NORTH_LAST,
                   "moved north on the board (frame %llu) and now turns to %s on it", (unsigned long long)in->frame,
                   hx_port_letters[to]);
}

static void validate_detour(struct hx_verify *v, const struct resident *in, const struct resident *out)
{
    if (detour_holds(v, in, out))
        return;
    hx_verify_find(v, HX_SEEN_AT(out), missed, false, HX_RULE_DISTANCE, "came in %s (frame %llu) and leaves %s",
                   in->via ? "on a detour" : "on no detour", (unsigned long long)in->frame,
                   ends_detour(v, in) ? "on it still, though it ends here"
                   : out->via         ? "on another one"
                                      : "on none");
}

static void validate_path(struct hx_verify *v, const struct resident *in, const struct resident *out, bool returned)
{
    struct hx_capture_frame turned = {
        .frame = out->frame, .time_ns = out->time_ns, .port = out->port, .direction = HX_PCAPNG_OUTBOUND};
    turned.seen.key = out->key;
    turned.seen.data.vc = out->vc;
    turned.seen.data.hops = out->hops;
    if (goes_back(in, out) && !returned && !hx_verify_defer_turn(v, &turned, in->frame))
        hx_verify_find(v, HX_SEEN_AT(out), missed | HX_ALLOW_REROUTE, false, HX_RULE_DISTANCE,
                       "goes back by the port it came in by (frame %llu)", (unsigned long long)in->frame);
    if (vc_behind(v, in, out) != out->vc)
        hx_verify_find(v, HX_SEEN_AT(out), missed, false, HX_RULE_VC,
                       "came in on VC %u (frame %llu) and leaves%s on VC %u, not %u", in->vc,
                       (unsigned long long)in->frame, v->ports[out->port].leaves_board ? " the board" : "", out->vc,
                       vc_behind(v, in, out));
    validate_turn(v, in, out);
    validate_detour(v, in, out);
}

static void validate_pair(struct hx_verify *v, const struct resident *in, const struct resident *out)
{
    bool returned = hx_verify_gives_back(v, &in->key, in->port, out->port, out->hops);
    if (!in->ambiguous)
        validate_path(v, in, out, returned);
    if ((uint8_t)(in->hops + 1U) != out->hops)
        hx_verify_find(v, HX_SEEN_AT(out), missed, false, HX_RULE_HOPS,
                       "came in with hops %u (frame %llu) and leaves with %u", in->hops, (unsigned long long)in->frame,
                       out->hops);
}

static const unsigned loses = HX_ALLOW_STRANDED | HX_ALLOW_GAPS;

/* Or dropped here, and sent again. */
static bool may_be_lost(struct hx_verify *v, const struct resident *r)
{
    return hx_fault_allowed(v, r->port, r->time_ns, loses | HX_ALLOW_REROUTE);
}

/* Marks other arrivals as ambiguous that fit `out` as well as `best`, but by another port or VC. */
static void note_ambiguous(struct hx_verify *v, const struct resident *out, const struct resident *best, enum fit fit)
{
    for (struct resident *other = hx_table_find(&v->residents, out); other;
         other = hx_table_find_next(&v->residents, other)) {
        if (!other->departed && (other->port != best->port || other->vc != best->vc))
            other->ambiguous |= fit_of(v, other, out) == fit;
    }
}

/* The arrival that fits `out` best: the first, or if a fault may have lost it here, the next. NULL: none. */
static struct resident *partner(struct hx_verify *v, const struct resident *out)
{
    struct resident *best = NULL;
    enum fit best_fit = FITS_NOT;
    unsigned alike = 0; /* number that fit as well as the best */
    for (struct resident *other = hx_table_find(&v->residents, out); other;
         other = hx_table_find_next(&v->residents, other)) {
        if (other->departed)
            continue;
        enum fit fit = fit_of(v, other, out);
        alike = fit > best_fit ? 1 : alike + (fit == best_fit);
        if (!best || fit > best_fit || (fit == best_fit && other->frame > best->frame && may_be_lost(v, best))) {
            best = other;
            best_fit = fit;
        }
    }
    if (best_fit != FITS_NOT && alike > 1)
        note_ambiguous(v, out, best, best_fit);
    return best;
}

static void keep(struct hx_verify *v, const struct resident *r)
{
    bool covered = hx_verify_covered(&v->nodes[r->node]);
    if (!covered && v->residents.count >= MOST_STRAYS) {
        v->counts.forgotten++;
        return;
    }
    struct resident *kept = hx_table_add(&v->residents, r);
    *kept = *r;
}

void hx_verify_arrive(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct resident in = resident_of(v, s, false);
    keep(v, &in);
}

/* Frames of a node are in a possible order, so an arrival later in the file is not this departure's. */
void hx_verify_depart(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct resident out = resident_of(v, s, true);
    struct resident *in = partner(v, &out);
    if (!in) {
        keep(v, &out);
        return;
    }
    validate_pair(v, in, &out);
    hx_verify_freed(v, in->port, in->vc, s->seen.data.length);
    hx_table_remove(&v->residents, in);
}

/* The port at which the packet should have left behind an arrival, or come in before a departure. */
static uint32_t other_port(struct hx_verify *v, const struct resident *r)
{
    const struct hx_fabric *g = v->c->fabric.g;
    const struct hx_header h = hx_key_header(&r->key);
    uint32_t node = v->nodes[r->node].at.node;
    uint32_t end =
        r->departed ? hx_fabric_host(g, h.src_addr_hi, h.src_addr_lo) : hx_fabric_host(g, h.dst_addr_hi, h.dst_addr_lo);
    uint32_t port = hx_verify_half_seen(v, r->node, &r->key, r->departed);
    if (port == HX_NO_INDEX && node == end && (!r->departed || r->hops == 1))
        port = hx_verify_port_of(v, r->node, HX_LOCAL);
    return port;
}

/* An arrival without departure is a loss; a departure without arrival is a breach. */
void hx_verify_nodes_end(struct hx_verify *v)
{
    for (uint32_t i = 0; i < v->node_count; i++)
        v->counts.nodes_validated += hx_verify_covered(&v->nodes[i]);
    size_t at = 0;
    for (const struct resident *r; (r = hx_table_each(&v->residents, &at)) != NULL;) {
        if (!hx_verify_covered(&v->nodes[r->node]))
            continue;
        if (!r->departed) {
            hx_verify_leak(v, v->ports[r->port].in, r->frame);
            hx_verify_lose(v, HX_SEEN_AT(r),
                           &(struct hx_loss){.by = loses | HX_ALLOW_SINCE,
                                             .or_repaired = HX_ALLOW_REROUTE | HX_ALLOW_DAMAGE | HX_ALLOW_SINCE,
                                             .next = other_port(v, r),
                                             .came = true});
        } else if (!v->partial) {
            uint32_t other = other_port(v, r);
            hx_verify_find(v, HX_SEEN_AT(r), HX_ALLOW_GAPS, false, HX_RULE_DELIVERY,
                           "leaves by %s without having come in%s%s", v->c->ports[r->port].name,
                           other == HX_NO_INDEX ? "" : " by ", other == HX_NO_INDEX ? "" : v->c->ports[other].name);
        }
    }
}
