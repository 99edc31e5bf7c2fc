/* verify.c - ports, nodes and cables of a capture, and the order of checks (tools/verify/verify.h). */
#include "tools/verify/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hx_verify_begin(struct hx_verify *v, struct hx_capture_index *c, bool partial, bool whole)
{
    *v = (struct hx_verify){.c = c, .partial_given = partial, .whole_given = whole};
    v->by_place = hx_table_make(sizeof(uint64_t[2]), sizeof(struct hx_numbered));
    hx_fault_allowances_begin(&v->fault_allowances);
    hx_verify_nodes_begin(v);
    hx_copies_begin(&v->copies);
    hx_tally_begin(&v->let_pass);
    hx_verify_delivery_begin(v);
    hx_verify_returned_begin(v);
}

void hx_verify_free(struct hx_verify *v)
{
    for (uint32_t i = 0; i < v->cable_count; i++)
        hx_verify_cable_free(&v->cables[i]);
    HX_FREE(v->cables, v->ports, v->nodes, v->board_job, v->board_job_known);
    hx_table_free(&v->by_place);
    hx_table_free(&v->residents);
    hx_table_free(&v->balance);
    hx_table_free(&v->delivered);
    hx_table_free(&v->lost);
    hx_copies_free(&v->copies);
    hx_table_free(&v->let_pass);
    hx_fault_allowances_free(&v->fault_allowances);
    hx_verify_returned_free(v);
}

void hx_verify_find(struct hx_verify *v, const struct hx_seen_at *at, unsigned by, bool loss, enum hx_rule rule,
                    const char *format, ...)
{
    struct hx_breach b = {.finding = {.loss = loss, .frame = at->frame, .rule = rule},
                          .key = *at->key,
                          .time_ns = at->time_ns,
                          .port = at->port,
                          .by = by};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(b.finding.what, sizeof b.finding.what, format, arguments);
    va_end(arguments);
    hx_fault_allowances_take(v, &b);
}

void hx_verify_let_pass(struct hx_verify *v, const char *what, const struct hx_seen_at *at, unsigned by)
{
    hx_tally_add(&v->let_pass, what, at->port, hx_fault_allowances_name(v, at->port, at->time_ns, by), at->frame);
}

/* ---- ports ---- */

static struct hx_numbered *numbered(struct hx_verify *v, const struct hx_port_at *at, uint32_t port, bool add)
{
    const uint64_t place[2] = {(uint64_t)at->plane << 32 | at->node, port};
    return add ? hx_table_add(&v->by_place, place) : hx_table_find(&v->by_place, place);
}

static uint32_t add_cable(struct hx_verify *v, uint32_t from, uint32_t to)
{
    v->cables = hx_grow(v->cables, v->cable_count, &v->cable_room, sizeof *v->cables);
    v->cables[v->cable_count] = (struct hx_cable){.from = from, .to = to};
    return v->cable_count++;
}

static void join(struct hx_verify *v, uint32_t port)
{
    struct hx_verify_port *p = &v->ports[port];
    if (p->far.node == HX_NOWHERE)
        return;
    const struct hx_numbered *known = numbered(v, &p->far, p->far.port, false);
    if (!known)
        return;
    struct hx_verify_port *peer = &v->ports[known->number];
    p->out = peer->in = add_cable(v, port, known->number);
    p->in = peer->out = add_cable(v, known->number, port);
}

static uint32_t node_of(struct hx_verify *v, const struct hx_port_at *at)
{
    struct hx_numbered *known = numbered(v, at, HX_NO_INDEX, false);
    if (known)
        return known->number;
    v->nodes = hx_grow(v->nodes, v->node_count, &v->node_room, sizeof *v->nodes);
    v->nodes[v->node_count] = (struct hx_verify_node){.at = *at, .cabled = hx_cap_cabled(&v->c->fabric, at)};
    known = numbered(v, at, HX_NO_INDEX, true);
    known->number = v->node_count++;
    return known->number;
}

static void add_port(struct hx_verify *v)
{
    uint32_t number = v->port_count;
    const struct hx_port_at *at = &v->c->ports[number].at;
    v->ports = hx_grow(v->ports, number, &v->port_room, sizeof *v->ports);
    struct hx_verify_port *p = &v->ports[v->port_count++];
    *p = (struct hx_verify_port){
        .far = {.node = HX_NOWHERE}, .node = HX_NO_INDEX, .out = HX_NO_INDEX, .in = HX_NO_INDEX};
    if (!v->c->fabric.known || at->node == HX_NOWHERE || numbered(v, at, at->port, false))
        return;
    numbered(v, at, at->port, true)->number = number;
    p->node = node_of(v, at);
    p->far = hx_cap_far(&v->c->fabric, at);
    p->leaves_board = hx_cap_leaves_board(&v->c->fabric, at);
    if (p->far.node != HX_NOWHERE || (hx_cap_is_accelerator(&v->c->fabric, at) && at->port == HX_LOCAL))
        v->nodes[p->node].captured++;
    join(v, number);
}

uint32_t hx_verify_port_of(struct hx_verify *v, uint32_t node, unsigned port)
{
    const struct hx_numbered *known = numbered(v, &v->nodes[node].at, port, false);
    return known ? known->number : HX_NO_INDEX;
}

/* ---- gaps of the capture ---- */

static bool lost_none(const struct hx_verify *v, uint32_t port)
{
    return v->c->ports[port].dropped == 0 && !v->c->ports[port].filtered;
}

bool hx_verify_shows(struct hx_verify *v, const struct hx_port_at *at)
{
    const struct hx_numbered *known = numbered(v, at, at->port, false);
    if (!known || v->ports[known->number].out == HX_NO_INDEX)
        return false;
    return lost_none(v, known->number) && lost_none(v, v->cables[v->ports[known->number].out].to);
}

static bool shows_node(struct hx_verify *v, const struct hx_verify_node *node)
{
    bool all = hx_verify_covered(node);
    unsigned ports =
        hx_fabric_ports(v->c->fabric.g, node->at.node) + (node->at.node < v->c->fabric.g->hosts); /* LOCAL */
    for (unsigned port = 0; port < ports && all; port++) {
        const struct hx_numbered *known = numbered(v, &node->at, port, false);
        all = !known || lost_none(v, known->number);
    }
    return all;
}

bool hx_verify_lacks(struct hx_verify *v, uint32_t port, unsigned by)
{
    const struct hx_verify_port *p = &v->ports[port];
    if (p->node == HX_NO_INDEX)
        return false;
    if (by & HX_ALLOW_MISSED && !shows_node(v, &v->nodes[p->node]))
        return true;
    return by & HX_ALLOW_CAPTURE_LOSS &&
           (v->c->ports[port].dropped || (p->out != HX_NO_INDEX && v->c->ports[v->cables[p->out].to].dropped));
}

unsigned hx_verify_unseen(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_verify_port *p = &v->ports[s->port];
    bool comes_in = s->direction == HX_PCAPNG_INBOUND;
    if (p->node == HX_NO_INDEX || (comes_in && p->far.node == HX_NOWHERE))
        return 0;
    bool is_shown = comes_in ? hx_verify_shows(v, &v->c->ports[s->port].at) : shows_node(v, &v->nodes[p->node]);
    return is_shown ? 0 : HX_ALLOW_UNSEEN;
}

/* ---- frames ---- */

static void learn(struct hx_verify *v)
{
    const struct hx_cap_fabric *f = &v->c->fabric;
    if (f->known && !v->board_job) {
        v->board_job = hx_allocate(hx_spec_boards(&f->spec), sizeof *v->board_job);
        v->board_job_known = hx_allocate(hx_spec_boards(&f->spec), sizeof *v->board_job_known);
        v->partial = v->partial_given || (f->facts.span == HX_CAPTURE_SPAN_PART && !v->whole_given);
    }
    while (v->port_count < v->c->port_count)
        add_port(v);
}

static void follow(struct hx_verify *v, const struct hx_capture_frame *s)
{
    bool local = v->ports[s->port].far.node == HX_NOWHERE;
    if (s->direction == HX_PCAPNG_INBOUND) {
        if (local)
            hx_verify_injected(v, s);
        else
            hx_verify_came(v, s);
        hx_verify_arrive(v, s);
    } else {
        hx_verify_depart(v, s);
        if (local)
            hx_verify_delivered(v, s);
        else
            hx_verify_sent(v, s);
    }
    if (!local && v->c->fabric.facts.link == HX_CAPTURE_WIRE)
        hx_verify_credit_data(v, s);
}

void hx_verify_frame(struct hx_verify *v, const struct hx_capture_frame *s)
{
    learn(v);
    hx_fault_allowances_hear(v, s);
    if (!hx_verify_alone(v, s))
        return;
    if (s->seen.kind == HX_SEEN_DATA) {
        hx_verify_time(v, s);
        follow(v, s);
    } else if (v->ports[s->port].node != HX_NO_INDEX && s->direction != HX_PCAPNG_UNKNOWN) {
        hx_verify_credit_frame(v, s);
    }
}

/* ---- end of the capture ---- */

static void sum_up_ports(struct hx_verify *v)
{
    uint64_t filtered = 0;
    uint64_t strange = 0;
    for (uint32_t i = 0; i < v->port_count; i++) {
        const struct hx_cap_port *port = &v->c->ports[i];
        filtered += port->filtered;
        strange += v->c->fabric.known && port->at.node == HX_NOWHERE;
        if (v->ports[i].node == HX_NO_INDEX)
            continue;
        struct hx_verify_node *node = &v->nodes[v->ports[i].node];
        node->dropped += port->dropped;
        node->filtered = node->filtered || port->filtered;
    }
    hx_note(&v->found,
            "%llu {frame was|frames were} lost to the capture (" HX_CAPTURE_KEEPS_ALL
            "): at those ports absence was not checked",
            hx_capture_index_dropped(v->c));
    hx_note(&v->found, "%llu {port was|ports were} captured with a filter: at those absence was not checked", filtered);
    hx_note(&v->found, "%llu {interface is no port|interfaces are no ports} of the fabric", strange);
}

/* A capture of one direction shows no packet through a node and no cable from end to end. */
static bool has_both_directions(const struct hx_verify *v)
{
    uint64_t frames[3] = {0};
    for (uint32_t i = 0; i < v->c->port_count; i++)
        for (unsigned way = 0; way < 3; way++)
            frames[way] += v->c->ports[i].frames[way];
    return frames[HX_PCAPNG_INBOUND] > 0 && frames[HX_PCAPNG_OUTBOUND] > 0;
}

static void note_counts(struct hx_verify *v)
{
    struct hx_findings_list *l = &v->found;
    const struct hx_verify_counts *n = &v->counts;
    hx_note(l, "the file is cut off at byte %llu, within a block: what was in flight there is not missing",
            v->c->cut_at);
    hx_note(l, "%llu {frame is|frames are} of other protocols", n->foreign);
    hx_note(l, "%llu {frame was|frames were} cut before the end of the header: nothing of {it|them} was checked",
            n->cut);
    hx_note(l, "%llu {frame has|frames have} no port or no direction: only header and checksum were checked",
            n->nowhere);
    hx_note(l, "%llu {frame was|frames were} cut before the end: {its|their} checksum was not checked", n->crc_cut);
    hx_note(l, "%llu {frame carries|frames carry} no checksum", n->crc_none);
    hx_note(l, "%llu {frame has|frames have} no time: faults and copies were checked as if all were at 0",
            n->without_time);
    hx_note(l, "all %llu frames have the same time: no time was checked", n->of_one_time);
    hx_note(l, "%llu {time|times} the clock goes back at a node: times of two frames were not compared", n->gone_back);
    hx_note(l, "%llu credit {frame stands|frames stand} where links have none: {it was|they were} not checked",
            n->odd_credit);
    hx_note(l, "%llu {packet was|packets were} in flight when the capture began or ended", n->in_flight);
    hx_note(l, "%llu data {packet was|packets were} lost, and delivered when {it was|they were} sent again",
            n->lost_repaired);
    hx_note(l,
            "%llu {acknowledgement, probe or answer was lost, and another came in its|acknowledgements, probes and "
            "answers were lost, and others came in their} place",
            n->lost_covered);
    hx_note(l,
            "%llu {fault is|faults are} reported in the capture: effects at {its place and time|their places and "
            "times} were not checked",
            v->fault_allowances.faults.count - v->fault_allowances.planned);
    hx_note(l,
            "%llu planned {change of a link is|changes of links are} reported in the capture: paths around {it|them} "
            "were not checked",
            v->fault_allowances.planned);
    hx_note(l, "%llu {fault is|faults are} reported in the capture, and --strict allows nothing for {it|them}",
            v->fault_allowances.not_allowed);
    hx_note(l, "%llu {fault|faults} reported in the capture {was|were} not understood",
            v->fault_allowances.not_understood);
    hx_note(l, "%llu {breach of a rule was|breaches of rules were} allowed by such faults",
            v->fault_allowances.allowed);
    hx_note(l, "%llu {time|times} such a fault made a link repeat a packet", v->copies.count);
    hx_note(l, "%llu {packet was|packets were} lost to such faults, and not delivered since", n->lost_to_faults);
    hx_note(l, "%llu {frame|frames} bypassed links that are down: {its path|their paths} need not be minimal",
            n->rerouted);
    hx_note(l, "%llu {packet was|packets were} delivered short of {its|their} destination, as unreachable",
            n->turned_back);
    hx_note(l, "%llu {time|times} a network without a path returned a packet: it was checked from there on",
            n->given_back);
    hx_note(l, "%llu {packet was|packets were} not followed, to bound memory", n->forgotten);
    hx_note(l, "%llu {node is|nodes are} captured in part: what {it|they} lost or forged was not checked",
            v->node_count - n->nodes_validated);
}

unsigned hx_verify_checked(const struct hx_verify *v)
{
    const struct hx_verify_counts *n = &v->counts;
    unsigned rules = n->data + n->credit > 0 ? 1U << HX_RULE_HEADER : 0;
    rules |= n->crc_validated > 0 ? 1U << HX_RULE_CRC : 0;
    if (!v->c->fabric.known || n->nowhere >= n->data)
        return rules;
    rules |= 1U << HX_RULE_JOB | 1U << HX_RULE_DISTANCE | 1U << HX_RULE_VC | 1U << HX_RULE_HOPS;
    rules |= v->c->fabric.g->mesh.nodes ? 1U << HX_RULE_NORTH_LAST : 0;
    rules |= v->fault_allowances.planned ? 1U << HX_RULE_CLOSED : 0;
    if (!has_both_directions(v))
        return rules;
    rules |= n->links_validated ? 1U << HX_RULE_ORDER : 0;
    rules |= n->credit_links_validated ? 1U << HX_RULE_CREDIT : 0;
    bool follows = n->links_validated || n->nodes_validated || n->endpoints_validated > 1;
    return rules | (follows ? 1U << HX_RULE_DELIVERY : 0);
}

void hx_verify_end(struct hx_verify *v)
{
    learn(v);
    hx_verify_times_end(v);
    v->partial = v->partial || (v->c->cut_at && !v->whole_given);
    sum_up_ports(v);
    hx_fault_allowances_settle(v);
    hx_verify_returned_end(v);
    if (!v->c->fabric.known) {
        hx_note(&v->found,
                "the fabric is not known (name it with --spec): only header and checksum of %llu {frame|frames} were "
                "checked",
                v->c->frames);
    } else if (!has_both_directions(v)) {
        hx_note(&v->found,
                "the %llu {frame has|frames have} one direction only: order, credit and delivery were not checked",
                v->c->frames);
    } else {
        hx_verify_nodes_end(v);
        hx_verify_links_end(v);
        if (v->c->fabric.facts.link == HX_CAPTURE_WIRE)
            hx_verify_credit_end(v);
        hx_verify_delivery_end(v);
    }
    hx_fault_allowances_end(v);
    note_counts(v);
}
