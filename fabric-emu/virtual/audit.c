/* audit.c - checks the balance of credits and packets (audit.h). */
#include "audit.h"
#include "base/error.h"

/* ---- count ---- */

static uint32_t blocks_held(const struct virtual_node *n, unsigned input, unsigned vc)
{
    const struct virtual_rx *rx = &n->hal.rx[input];
    uint32_t blocks = 0;
    for (uint16_t p = hx_lane(rx->tail, vc); p != hx_lane(rx->head, vc); p++) {
        if (state_holds(rx, &n->sw.input[input], vc, p))
            blocks += virtual_blocks(&virtual_queue_at(&rx->queue[vc], p)->d);
    }
    return blocks;
}

static uint32_t credit_in_flight(const struct virtual_tx *tx, unsigned vc)
{
    uint32_t blocks = 0;
    for (uint32_t at = 0; at <= tx->back.mask; at++) {
        uint64_t credit = tx->back.entries[at];
        if (credit != VIRTUAL_NO_CREDIT && virtual_credit_vc(credit) == vc)
            blocks += virtual_credit_blocks(credit);
    }
    return blocks;
}

/* ---- after a window ---- */

static double microseconds(const struct worker *w)
{
    return (double)((w->v.wheel.current + 1) * w->v.wheel.width) / 1e6;
}

static void check_balance(const struct worker *w, const struct virtual_node *n, unsigned input, unsigned vc)
{
    const struct virtual_tx *from = n->hal.rx[input].from;
    if (!from)
        return; /* no link, the endpoint, or another worker */
    uint32_t in_flight = credit_in_flight(from, vc);
    uint32_t held = blocks_held(n, input, vc);
    char name[HX_NAME_BYTES];
    uint32_t credit = hx_lane(from->lanes, vc);
    if (credit + in_flight + held != w->m->timing.vc_blocks)
        hx_die(HX_EXIT_FAILED, model_port_name(w->m, from->link, name),
               "VC %u: credit %u + in flight %u + held at the far end %u blocks are not the %u of its buffer, "
               "after %.3f us",
               vc, credit, in_flight, held, w->m->timing.vc_blocks, microseconds(w));
}

static void check_positions(const struct worker *w, const struct virtual_node *n, unsigned input, unsigned vc)
{
    const struct virtual_rx *rx = &n->hal.rx[input];
    const struct hx_input *in = &n->sw.input[input];
    uint16_t tail = hx_lane(rx->tail, vc);
    uint16_t seen = (uint16_t)(hx_lane(in->seen, vc) - tail);
    uint16_t ready = (uint16_t)(hx_lane(rx->ready, vc) - tail);
    uint16_t head = (uint16_t)(hx_lane(rx->head, vc) - tail);
    char name[HX_NAME_BYTES];
    if (hx_lane(in->tail, vc) != tail || seen > ready || ready > head || seen > HX_WINDOW)
        hx_die(HX_EXIT_FAILED, model_port_name(w->m, n->hal.tx[input].link, name),
               "VC %u: tail %u, at the switch %u; beyond it seen %u, ready %u, head %u: out of order, after %.3f us",
               vc, tail, hx_lane(in->tail, vc), seen, ready, head, microseconds(w));
}

static void check_order(const struct worker *w, const struct virtual_tx *tx)
{
    uint64_t last = 0;
    char name[HX_NAME_BYTES];
    for (uint32_t n = 0; n <= tx->back.mask; n++) {
        uint64_t time = virtual_credit_time(tx->back.entries[(tx->back.tail + n) & tx->back.mask]);
        if (time < last)
            hx_die(HX_EXIT_FAILED, model_port_name(w->m, tx->link, name),
                   "credit comes back at %llu ps behind credit of %llu ps, after %.3f us", (unsigned long long)time,
                   (unsigned long long)last, microseconds(w));
        last = time;
    }
}

static void check_node(const struct worker *w, const struct virtual_node *n)
{
    for (unsigned port = 0; port < n->hal.ports; port++) {
        check_order(w, &n->hal.tx[port]);
        for (unsigned vc = 0; vc < w->m->g->vcs; vc++) {
            check_positions(w, n, port, vc);
            check_balance(w, n, port, vc);
        }
    }
}

void audit_step(const struct worker *w)
{
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        for (unsigned plane = 0; plane < w->sim_node[i]->planes; plane++)
            check_node(w, &w->sim_node[i]->node[plane]);
    }
}

/* ---- at the end ---- */

static void write_port(const struct worker *w, const struct virtual_node *n, unsigned port)
{
    const struct virtual_tx *tx = &n->hal.tx[port];
    const struct virtual_rx *rx = &n->hal.rx[port];
    if (!rx->linked)
        return;
    for (unsigned vc = 0; vc < w->m->g->vcs; vc++) {
        w->m->balance[(size_t)tx->link * HX_VCS + vc].credit =
            hx_lane(n->hal.tx[port].lanes, vc) + credit_in_flight(tx, vc);
        w->m->balance[(size_t)rx->link * HX_VCS + vc].held = blocks_held(n, port, vc);
    }
}

void audit_write(const struct worker *w)
{
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        for (unsigned plane = 0; plane < w->sim_node[i]->planes; plane++) {
            const struct virtual_node *n = &w->sim_node[i]->node[plane];
            for (unsigned port = 0; port < n->hal.ports; port++)
                write_port(w, n, port);
        }
    }
}

static bool is_link(const struct model *m, uint32_t node, unsigned port)
{
    uint32_t far = port < hx_fabric_ports(m->g, node) ? hx_fabric_far(m->g, node, port).node : HX_NOWHERE;
    return far != HX_NOWHERE && !m->layout.dead[node] && !m->layout.dead[far];
}

bool audit_links(const struct model *m)
{
    char name[HX_NAME_BYTES];
    for (uint32_t link = 0; link < m->g->planes * m->layout.links; link++) {
        unsigned plane;
        unsigned port;
        uint32_t node = model_port_of(m, link, &plane, &port);
        if (!is_link(m, node, port))
            continue;
        for (unsigned vc = 0; vc < m->g->vcs; vc++) {
            const struct model_balance *b = &m->balance[(size_t)link * HX_VCS + vc];
            if (b->credit + b->held == m->timing.vc_blocks)
                continue;
            hx_complain(model_port_name(m, link, name),
                        "VC %u: credit %u + held at the far end %u blocks are not the %u of its buffer, at the end", vc,
                        b->credit, b->held, m->timing.vc_blocks);
            return false;
        }
    }
    return true;
}
