/* returned.c - packets that a network without a path returns to a board (include/hxmesh/route.h). A leaf or spine
 * returns a packet from below by its input port; a leaf returns one from a spine to any board. The VC stays. From there
 * they take minimal paths again.
 *
 * Frames of two nodes are in the file in any order. So a frame off its minimal path is deferred, and checked at the
 * end, when all returned packets are known. Checked earlier, a returned packet would look misrouted. */
#include "tools/verify/verify.h"

#include <stdlib.h>

struct hx_deferred {
    struct hx_kept_frame of;
    uint64_t turned; /* frame of its arrival by the port that it leaves by; 0: its place is the breach */
};

/* A return: the tree switch and port that the packet left by, its next place, and its hops. */
struct given_back {
    struct hx_key key;
    uint32_t node, port; /* of the tree switch */
    struct hx_spot to;
    uint8_t hops;
};

void hx_verify_returned_begin(struct hx_verify *v)
{
    v->given_back = hx_table_make(sizeof(struct hx_key), sizeof(struct given_back));
}

void hx_verify_returned_free(struct hx_verify *v)
{
    free(v->deferred);
    hx_table_free(&v->given_back);
}

static struct hx_journey journey_of(const struct hx_verify *v, const struct hx_key *key)
{
    struct hx_header h = hx_key_header(key);
    const struct hx_fabric *g = v->c->fabric.g;
    return (struct hx_journey){hx_fabric_host(g, h.src_addr_hi, h.src_addr_lo),
                               hx_fabric_host(g, h.dst_addr_hi, h.dst_addr_lo), 0};
}

/* Whether the cable at a tree switch's port leads to another tree switch. */
static bool leads_up_or_down(const struct hx_verify *v, uint32_t port)
{
    return v->ports[port].far.node != HX_NOWHERE && !hx_cap_is_accelerator(&v->c->fabric, &v->ports[port].far);
}

bool hx_verify_gives_back(struct hx_verify *v, const struct hx_key *key, uint32_t in, uint32_t out, unsigned hops)
{
    struct hx_cap_fabric *f = &v->c->fabric;
    const struct hx_port_at *at = &v->c->ports[out].at;
    if (!f->g->mesh.nodes || hx_cap_is_accelerator(f, at) || v->ports[out].far.node == HX_NOWHERE)
        return false;
    bool is_leaf = hx_place_of(&f->g->mesh, at->node).index < f->row.network.leaves;
    if (at->spot.y >= f->g->rows)
        is_leaf = hx_place_of(&f->g->mesh, at->node).index < f->column.network.leaves;
    bool came_down = is_leaf && leads_up_or_down(v, in);
    struct hx_leg leg;
    if (came_down ? leads_up_or_down(v, out) || hx_cap_leg(f, journey_of(v, key), at, &leg) : in != out)
        return false;
    struct given_back *g = hx_table_add(&v->given_back, key);
    g->node = at->node;
    g->port = at->port;
    g->to = v->ports[out].far.spot;
    g->hops = (uint8_t)hops;
    v->counts.given_back++;
    return true;
}

bool hx_verify_defer(struct hx_verify *v, const struct hx_capture_frame *s)
{
    if (v->ending || !v->c->fabric.g->mesh.nodes)
        return false;
    v->deferred = hx_grow(v->deferred, v->deferred_count, &v->deferred_room, sizeof *v->deferred);
    v->deferred[v->deferred_count++] = (struct hx_deferred){.of = hx_kept(s)};
    return true;
}

bool hx_verify_defer_turn(struct hx_verify *v, const struct hx_capture_frame *s, uint64_t came)
{
    if (!hx_cap_is_accelerator(&v->c->fabric, &v->c->ports[s->port].at) || !hx_verify_defer(v, s))
        return false;
    v->deferred[v->deferred_count - 1].turned = came;
    return true;
}

/* ---- end of the capture ---- */

static unsigned left_from(struct hx_verify *v, const struct hx_key *key, struct hx_spot here)
{
    struct hx_header h = hx_key_header(key);
    return hx_cap_path(&v->c->fabric, h.dst_addr_hi, h.dst_addr_lo, here).cables;
}

/* Whether the frame is on the cable of the return, or each cable since has led nearer to the destination. */
static bool goes_straight_since(struct hx_verify *v, const struct hx_deferred *a, const struct given_back *g)
{
    const struct hx_verify_port *port = &v->ports[a->of.port];
    const struct hx_port_at *at = &v->c->ports[a->of.port].at;
    bool inbound = a->of.direction == HX_PCAPNG_INBOUND;
    bool local = port->far.node == HX_NOWHERE;
    const struct hx_port_at *near = inbound ? &port->far : at;
    if (a->of.hops <= g->hops)
        return a->of.hops == g->hops && !local && near->node == g->node && near->port == g->port;
    struct hx_spot here = local || inbound ? at->spot : port->far.spot;
    unsigned cables = (unsigned)a->of.hops - g->hops - local;
    return cables + left_from(v, &a->of.key, here) == left_from(v, &a->of.key, g->to);
}

/* Whether the frame follows any return of its packet. A repeated packet may be returned each time, and its frames do
 * not tell the repeats apart. */
static bool goes_straight(struct hx_verify *v, const struct hx_deferred *a)
{
    for (const struct given_back *g = hx_table_find(&v->given_back, &a->of.key); g;
         g = hx_table_find_next(&v->given_back, g))
        if (goes_straight_since(v, a, g))
            return true;
    return false;
}

/* An accelerator may forward a returned packet by its input port. A packet that it injected and has no route for goes
 * to its own endpoint. */
static void validate_turn(struct hx_verify *v, const struct hx_deferred *a)
{
    const struct hx_port_at *far = &v->ports[a->of.port].far;
    bool good = far->node == HX_NOWHERE && (v->counts.given_back > 0 || hx_verify_may_lack_links(v) ||
                                            hx_fault_allowed(v, a->of.port, a->of.time_ns, HX_ALLOW_REROUTE));
    for (const struct given_back *g = hx_table_find(&v->given_back, &a->of.key); g;
         g = hx_table_find_next(&v->given_back, g))
        good = good || (g->node == far->node && g->port == far->port && (uint8_t)(g->hops + 1U) == a->of.hops);
    if (!good)
        hx_verify_find(v, HX_SEEN_AT(&a->of), HX_ALLOW_REROUTE, false, HX_RULE_DISTANCE,
                       "goes back by the port it came in by (frame %llu)", (unsigned long long)a->turned);
}

static void validate(struct hx_verify *v, const struct hx_deferred *a)
{
    struct hx_capture_frame s = {
        .frame = a->of.frame, .time_ns = a->of.time_ns, .port = a->of.port, .direction = a->of.direction};
    s.seen.kind = HX_SEEN_DATA;
    s.seen.key = a->of.key;
    s.seen.data = hx_key_header(&a->of.key);
    s.seen.data.vc = a->of.vc;
    s.seen.data.hops = a->of.hops;
    hx_verify_path(v, &s);
}

/* Whether the capture shows all networks from beginning to end. */
static bool shows_networks(struct hx_verify *v)
{
    const struct hx_fabric *g = v->c->fabric.g;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < v->node_count; i++)
        shown += v->nodes[i].at.node >= g->hosts && hx_verify_covered(&v->nodes[i]);
    return !v->partial && shown == g->planes * (g->nodes - g->hosts);
}

static void allow_return(struct hx_verify *v, const struct hx_deferred *a)
{
    v->fault_allowances.allowed++;
    hx_verify_let_pass(v, hx_rule_names[HX_RULE_DISTANCE], HX_SEEN_AT(&a->of), HX_ALLOW_REROUTE);
}

static void turn_back(struct hx_verify *v, const struct hx_deferred *a)
{
    v->counts.turned_back++;
    hx_verify_let_pass(v, hx_tally_turned, HX_SEEN_AT(&a->of), HX_ALLOW_REROUTE);
}

void hx_verify_returned_end(struct hx_verify *v)
{
    v->ending = true;
    bool sees_all = v->deferred_count == 0 || shows_networks(v);
    for (uint32_t i = 0; i < v->deferred_count; i++) {
        const struct hx_deferred *a = &v->deferred[i];
        const struct hx_port_at *at = &v->c->ports[a->of.port].at;
        if (!sees_all && hx_fault_allowed(v, a->of.port, a->of.time_ns, HX_ALLOW_REROUTE))
            allow_return(v, a); /* a network that is not captured may have returned it */
        else if (a->turned)
            validate_turn(v, a);
        else if (!goes_straight(v, a))
            validate(v, a);
        else if (v->ports[a->of.port].far.node == HX_NOWHERE && at->node != journey_of(v, &a->of.key).destination)
            turn_back(v, a);
    }
}
