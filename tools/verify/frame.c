/* frame.c - checks one frame at one port: header, checksum, job, and whether the port is on a minimal path of the
 * packet, with the right hops and VC. */
#include "base/text.h"
#include "hxmesh/around.h"
#include "tools/verify/verify.h"

/* Reports a breach that faults of the kinds `by` may allow. */
#define FIND_BUT(v, s, by, rule, ...)                                                                                  \
    hx_verify_find(v, &(struct hx_seen_at){(s)->frame, (s)->time_ns, (s)->port, &(s)->seen.key}, by, false, rule,      \
                   __VA_ARGS__)
#define FIND(v, s, rule, ...) FIND_BUT(v, s, made_up_by(v, s), rule, __VA_ARGS__)
/* A breach that a fault or planned change of links allows, even if its annotation comes later. */
#define FIND_PATH(v, s, rule, ...) FIND_BUT(v, s, made_up_by(v, s) | HX_ALLOW_REROUTE, rule, __VA_ARGS__)

/* The allowances of a frame without a verified checksum: damage on an unseen link may have made it from another. */
static unsigned made_up_by(struct hx_verify *v, const struct hx_capture_frame *s)
{
    bool may_be = v->fault_allowances.kinds & HX_ALLOW_DAMAGE && s->seen.crc != HX_SEEN_CRC_GOOD;
    unsigned unseen = may_be ? hx_verify_unseen(v, s) : 0;
    return unseen ? unseen | HX_ALLOW_DAMAGE : 0;
}

/* ---- header and checksum ---- */

static bool header_fits(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_header *h = &s->seen.data;
    const struct hx_fabric *g = v->c->fabric.g;
    if (!v->c->fabric.known)
        return true;
    const struct {
        const char *which;
        unsigned gx, gy;
    } ends[] = {{"source", h->src_addr_hi, h->src_addr_lo}, {"destination", h->dst_addr_hi, h->dst_addr_lo}};
    for (unsigned i = 0; i < 2; i++) {
        if (hx_fabric_host(g, ends[i].gx, ends[i].gy) != HX_NOWHERE)
            continue;
        FIND(v, s, HX_RULE_HEADER, "%s a%u,%u is outside the %s", ends[i].which, ends[i].gx, ends[i].gy,
             v->c->fabric.spec.fabric);
        return false;
    }
    if (!h->via || g->routing.policy != HX_MINIMAL)
        return true;
    FIND(v, s, HX_RULE_HEADER, "is on a detour to addr_hi %u, but the %s makes none", h->via - 1U,
         v->c->fabric.spec.fabric);
    return false;
}

static bool plane_fits(struct hx_verify *v, const struct hx_capture_frame *s, unsigned plane)
{
    const struct hx_port_at *at = &v->c->ports[s->port].at;
    if (at->node == HX_NOWHERE || at->plane == plane)
        return true;
    FIND(v, s, HX_RULE_HEADER, "a frame of plane %u at a port of plane %u", plane, at->plane);
    return false;
}

/* Damage of a link is visible at its receiving end. */
static unsigned damage_by(struct hx_verify *v, const struct hx_capture_frame *s)
{
    unsigned unseen = hx_verify_unseen(v, s);
    return s->direction == HX_PCAPNG_INBOUND || unseen ? HX_ALLOW_DAMAGE | unseen : 0;
}

/* Verifies the checksum. false: it is wrong and links may damage frames, so the header is not to be trusted. */
static bool validate_crc(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_header *h = &s->seen.data;
    size_t covered = HX_HEADER_BYTES + (size_t)h->length;
    enum hx_seen_crc crc = s->seen.crc;
    if (crc == HX_SEEN_CRC_ZERO && v->c->fabric.known && v->c->fabric.facts.crc == HX_CAPTURE_CRC_ON) {
        if (s->captured < covered)
            crc = HX_SEEN_CRC_CUT;
        else
            crc = hx_seen_crc32c(s->bytes + HX_CRC_FIRST, covered - HX_CRC_FIRST) == 0 ? HX_SEEN_CRC_GOOD
                                                                                       : HX_SEEN_CRC_BAD;
    }
    v->counts.crc_none += crc == HX_SEEN_CRC_ZERO;
    v->counts.crc_cut += crc == HX_SEEN_CRC_CUT;
    v->counts.crc_validated += crc == HX_SEEN_CRC_GOOD || crc == HX_SEEN_CRC_BAD;
    if (crc == HX_SEEN_CRC_BAD)
        FIND_BUT(v, s, damage_by(v, s), HX_RULE_CRC, "checksum 0x%08x is wrong at %s", h->crc,
                 v->c->ports[s->port].name);
    return crc != HX_SEEN_CRC_BAD || !(v->fault_allowances.kinds & HX_ALLOW_DAMAGE);
}

/* ---- queue and credit fields in captures of an emulator ---- */

static void validate_tapped(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_header *h = &s->seen.data;
    if (!v->c->fabric.known || v->c->fabric.facts.link == HX_CAPTURE_WIRE)
        return; /* the queue is of a network interface, and data frames carry grants */
    if (s->has_queue && s->queue != h->vc)
        FIND(v, s, HX_RULE_VC, "stands in queue %u of the link, but says VC %u", s->queue, h->vc);
    if (h->credit_vc != HX_NO_CREDIT)
        FIND(v, s, HX_RULE_CREDIT, "grants credit on VC %u, where links have no grants", h->credit_vc);
}

/* ---- job ---- */

static void validate_job(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_cap_fabric *f = &v->c->fabric;
    const struct hx_port_at *at = &v->c->ports[s->port].at;
    const struct hx_header *h = &s->seen.data;
    if (!hx_cap_is_accelerator(f, at))
        return;
    unsigned board = hx_spec_board_of(&f->spec, at->node);
    if (hx_spec_board_failed(&f->spec, board)) {
        FIND(v, s, HX_RULE_JOB, "a packet on board %u, which has failed", board);
        return;
    }
    uint16_t job = hx_spec_board_job(&f->spec, board);
    if (!f->jobs_known) {
        bool own = at->port == HX_LOCAL && s->direction == HX_PCAPNG_INBOUND;
        if (!v->board_job_known[board] && own) {
            v->board_job_known[board] = true;
            v->board_job[board] = h->job;
        }
        job = v->board_job_known[board] ? v->board_job[board] : h->job;
    }
    if (job != h->job)
        FIND(v, s, HX_RULE_JOB, "a packet of job %u on board %u, which is of job %u", h->job, board, job);
}

/* ---- path ---- */

static struct hx_journey journey_of(const struct hx_verify *v, const struct hx_header *h)
{
    const struct hx_fabric *g = v->c->fabric.g;
    return (struct hx_journey){hx_fabric_host(g, h->src_addr_hi, h->src_addr_lo),
                               hx_fabric_host(g, h->dst_addr_hi, h->dst_addr_lo), h->via};
}

static void validate_hops(struct hx_verify *v, const struct hx_capture_frame *s, unsigned least, unsigned most)
{
    uint8_t beyond = (uint8_t)(s->seen.data.hops - least); /* modulo 256 */
    if (beyond <= most - least)
        return;
    if (least == most)
        FIND_PATH(v, s, HX_RULE_HOPS, "hops is %u, but %u switches lie behind it", s->seen.data.hops, least);
    else
        FIND_PATH(v, s, HX_RULE_HOPS, "hops is %u, but %u to %u switches lie behind it", s->seen.data.hops, least,
                  most);
}

static void validate_vc(struct hx_verify *v, const struct hx_capture_frame *s, const struct hx_leg *done)
{
    unsigned vc = s->seen.data.vc;
    if (vc >= done->least_vc && vc <= done->most_vc)
        return;
    if (v->c->fabric.g->mesh.nodes)
        FIND_PATH(v, s, HX_RULE_VC, "VC %u after %u crossing%s into a row or column network", vc, done->least_vc,
                  hx_plural(done->least_vc));
    else if (done->least_vc == done->most_vc)
        FIND_PATH(v, s, HX_RULE_VC, "VC %u, where it must be %u", vc, done->least_vc);
    else
        FIND_PATH(v, s, HX_RULE_VC, "VC %u, where it must be %u to %u", vc, done->least_vc, done->most_vc);
}

/* Whether a move north on the board is too early: an east or west hop on the board must still follow. */
static bool north_too_early(struct hx_verify *v, const struct hx_header *h, const struct hx_port_at *at)
{
    struct hx_cap_fabric *f = &v->c->fabric;
    if (at->port != HX_N || hx_cap_leaves_board(f, at) || at->spot.x == h->dst_addr_hi)
        return false;
    if (!f->g->mesh.nodes)
        return true;
    unsigned left = hx_line_reach(&f->row, h->dst_addr_hi, at->spot.x).cables;
    for (unsigned port = HX_LOW; port <= HX_HIGH; port++) {
        uint32_t next = hx_line_far(&f->row, at->spot.x, port).place;
        if (next >= f->row.accelerators && hx_line_reach(&f->row, h->dst_addr_hi, next).cables + 1U == left)
            return false;
    }
    return true;
}

static bool has_come(const struct hx_capture_frame *s, unsigned switches, const struct hx_leg *leg)
{
    const struct hx_header *h = &s->seen.data;
    uint8_t beyond = (uint8_t)(h->hops - leg->least_cables - switches);
    return beyond <= leg->most_cables - leg->least_cables && h->vc >= leg->least_vc && h->vc <= leg->most_vc;
}

/* Those of external accelerators that are away, or that lack a plane. */
bool hx_verify_may_lack_links(const struct hx_verify *v)
{
    return v->c->fabric.g->mesh.nodes && v->c->fabric.facts.external > 0;
}

/* Whether it may bypass dead links. */
static bool may_be_rerouted(struct hx_verify *v, const struct hx_capture_frame *s)
{
    return hx_verify_may_lack_links(v) || hx_fault_allowed(v, s->port, s->time_ns, HX_ALLOW_REROUTE);
}

/* Whether a packet may begin on the escape VC of a HammingMesh (hxmesh/around.h). */
static bool may_escape(struct hx_verify *v, const struct hx_capture_frame *s)
{
    return v->c->fabric.g->mesh.nodes && s->seen.data.vc == HX_ESCAPE_VC && may_be_rerouted(v, s);
}

static void find_no_path(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_header *h = &s->seen.data;
    const struct hx_coordinate from = hx_cap_host(&v->c->fabric, h->src_addr_hi, h->src_addr_lo);
    const struct hx_coordinate to = hx_cap_host(&v->c->fabric, h->dst_addr_hi, h->dst_addr_lo);
    if (h->via)
        FIND_PATH(v, s, HX_RULE_DISTANCE, "this cable is on no path from a%u,%u on a detour to addr_hi %u",
                  from.addr_hi, from.addr_lo, h->via - 1U);
    else
        FIND_PATH(v, s, HX_RULE_DISTANCE, "this cable is on no minimal path from a%u,%u to a%u,%u", from.addr_hi,
                  from.addr_lo, to.addr_hi, to.addr_lo);
}

static void let_pass(struct hx_verify *v, const struct hx_capture_frame *s, const char *what)
{
    const struct hx_seen_at at = {s->frame, s->time_ns, s->port, &s->seen.key};
    if (hx_fault_allowed(v, s->port, s->time_ns, HX_ALLOW_REROUTE))
        hx_verify_let_pass(v, what, &at, HX_ALLOW_REROUTE);
}

/* Checks a packet on a cable between two switches, seen at either end; `near` is the sender's port. */
static void validate_cable(struct hx_verify *v, const struct hx_capture_frame *s, const struct hx_port_at *near)
{
    const struct hx_header *h = &s->seen.data;
    struct hx_leg leg;
    bool on_a_path = hx_cap_leg(&v->c->fabric, journey_of(v, h), near, &leg);
    bool straight = on_a_path && has_come(s, 0, &leg);
    if (!straight && may_be_rerouted(v, s)) {
        v->counts.rerouted++;
        let_pass(v, s, hx_tally_bypassed);
        return;
    }
    if (!straight && hx_verify_defer(v, s))
        return;
    if (!on_a_path) {
        find_no_path(v, s);
        return;
    }
    validate_hops(v, s, leg.least_cables, leg.most_cables);
    validate_vc(v, s, &leg);
    bool early =
        s->direction == HX_PCAPNG_OUTBOUND && hx_cap_is_accelerator(&v->c->fabric, near) && north_too_early(v, h, near);
    if (early && may_be_rerouted(v, s))
        let_pass(v, s, hx_tally_bypassed); /* it may leave the board there; validate_turn() sees if it does not */
    else if (early)
        FIND_PATH(v, s, HX_RULE_NORTH_LAST, "moves north on a board before it is done with east and west there");
}

static void validate_injected(struct hx_verify *v, const struct hx_capture_frame *s, struct hx_spot here)
{
    const struct hx_header *h = &s->seen.data;
    const struct hx_coordinate from = hx_cap_host(&v->c->fabric, h->src_addr_hi, h->src_addr_lo);
    const struct hx_coordinate at = hx_cap_host(&v->c->fabric, here.x, here.y);
    if (h->src_addr_hi != here.x || h->src_addr_lo != here.y)
        FIND(v, s, HX_RULE_HEADER, "source a%u,%u in a packet that a%u,%u injects", from.addr_hi, from.addr_lo,
             at.addr_hi, at.addr_lo);
    if (h->vc != 0 && !may_escape(v, s))
        FIND_PATH(v, s, HX_RULE_VC, "injected on VC %u, not 0", h->vc);
    validate_hops(v, s, 0, 0);
}

static void validate_delivered(struct hx_verify *v, const struct hx_capture_frame *s, const struct hx_port_at *at)
{
    const struct hx_header *h = &s->seen.data;
    struct hx_cap_fabric *f = &v->c->fabric;
    struct hx_journey journey = journey_of(v, h);
    struct hx_leg leg;
    bool on_a_path = hx_cap_leg_to(f, journey, at->node, &leg);
    bool straight = on_a_path && has_come(s, 1, &leg) && journey.destination == at->node;
    if (!straight && may_be_rerouted(v, s)) {
        bool arrives = journey.destination == at->node;
        *(arrives ? &v->counts.rerouted : &v->counts.turned_back) += 1;
        let_pass(v, s, arrives ? hx_tally_bypassed : hx_tally_turned);
        return;
    }
    if (!straight && hx_verify_defer(v, s))
        return;
    if (journey.destination != at->node) {
        bool may_be_cut_off = hx_spec_has_failures(&f->spec) || f->spec.job || !f->jobs_known ||
                              f->facts.failed_unknown || v->counts.given_back > 0 || /* links are down */
                              hx_fault_allowed(v, s->port, s->time_ns, HX_ALLOW_REROUTE);
        if (may_be_cut_off) {
            v->counts.turned_back++;
            let_pass(v, s, hx_tally_turned);
        } else {
            const struct hx_coordinate to = hx_cap_host(f, h->dst_addr_hi, h->dst_addr_lo);
            FIND_PATH(v, s, HX_RULE_DELIVERY, "delivered at %s, not at its destination a%u,%u",
                      v->c->ports[s->port].name, to.addr_hi, to.addr_lo);
        }
    }
    if (!on_a_path)
        return;
    validate_hops(v, s, leg.least_cables + 1, leg.most_cables + 1);
    validate_vc(v, s, &leg);
}

void hx_verify_path(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_port_at *at = &v->c->ports[s->port].at;
    const struct hx_verify_port *port = &v->ports[s->port];
    bool inbound = s->direction == HX_PCAPNG_INBOUND;
    if (port->far.node != HX_NOWHERE)
        validate_cable(v, s, inbound ? &port->far : at);
    else if (!hx_cap_is_accelerator(&v->c->fabric, at) || at->port != HX_LOCAL)
        FIND(v, s, HX_RULE_DISTANCE, "a packet at a port that nothing is connected to");
    else if (inbound)
        validate_injected(v, s, at->spot);
    else
        validate_delivered(v, s, at);
}

/* ---- */

static bool validate_data(struct hx_verify *v, const struct hx_capture_frame *s)
{
    v->counts.data++;
    if (!validate_crc(v, s) || !header_fits(v, s) || !plane_fits(v, s, s->seen.data.plane))
        return false;
    if (v->ports[s->port].node == HX_NO_INDEX || s->direction == HX_PCAPNG_UNKNOWN) {
        v->counts.nowhere++;
        return false;
    }
    validate_tapped(v, s);
    validate_job(v, s);
    hx_verify_path(v, s);
    return true;
}

bool hx_verify_alone(struct hx_verify *v, const struct hx_capture_frame *s)
{
    if (s->seen.kind == HX_SEEN_CUT) {
        v->counts.cut++;
        return false;
    }
    const bool notices = s->seen.kind == HX_SEEN_NOTICES;
    if ((s->seen.kind == HX_SEEN_CREDIT || notices) && !s->seen.wrong[0] && s->seen.crc == HX_SEEN_CRC_BAD) {
        FIND(v, s, HX_RULE_CRC, "checksum of a %s frame is wrong", notices ? "notice" : "credit");
        return false;
    }
    if (s->seen.wrong[0]) {
        FIND_BUT(v, s, damage_by(v, s), HX_RULE_HEADER, "%s", s->seen.wrong);
        return false;
    }
    if (s->seen.kind == HX_SEEN_FOREIGN) {
        v->counts.foreign++;
        return false;
    }
    if (s->seen.kind == HX_SEEN_DATA)
        return validate_data(v, s);
    if (notices) {
        (void)plane_fits(v, s, s->seen.credit.plane);
        return false;
    }
    v->counts.credit++;
    v->counts.odd_credit += v->c->fabric.known && v->c->fabric.facts.link != HX_CAPTURE_WIRE;
    return plane_fits(v, s, s->seen.credit.plane);
}
