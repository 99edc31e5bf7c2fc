/* watchdog.c - finds and explains a fabric that is stuck (watchdog.h). */
#include "watchdog.h"
#include "base/error.h"
#include "cycle.h"
#include "faults.h"

#include <inttypes.h>
#include <stdlib.h>

enum { FRAMES_TO_CREDIT = 2 /* credit frames until a lost packet's credit is back */ };

static void at_least(uint64_t *most, uint64_t value)
{
    *most = value > *most ? value : *most;
}

/* What faults add, at most, to a packet's time on a link that it takes for `link` ps, and to its credit's way back. */
static uint64_t longest_delay(const struct model *m, uint64_t link)
{
    uint64_t slower = 0;
    uint64_t delay = 0;
    uint64_t reorder = 0;
    uint64_t credit = m->faults ? FRAMES_TO_CREDIT * faults_period(m) : 0;
    for (size_t i = 0; m->faults && i < m->faults->count; i++) {
        const struct hx_impairment *impairs = &m->faults->fault[i].impairs;
        if (impairs->rate)
            at_least(&slower, link * (HX_FAULT_WHOLE - impairs->rate) / impairs->rate);
        at_least(&delay, impairs->delay_ns * PS_PER_NS);
        at_least(&reorder, impairs->reorder ? VIRTUAL_FAULT_LATE_PACKETS * link : 0);
        at_least(&credit, impairs->credit_loss ? VIRTUAL_FAULT_CREDITS_LOST * faults_period(m) : 0);
    }
    return slower + delay + reorder + credit;
}

uint64_t watchdog_longest_wait(const struct model *m)
{
    const struct virtual_timing *t = &m->timing;
    uint64_t crossbar = 0;
    uint64_t link = 0;
    uint64_t cable = 0;
    for (unsigned i = 0; i < VIRTUAL_LINKS; i++) {
        at_least(&crossbar, t->of[i].crossbar.blocks[t->full]);
        at_least(&link, t->of[i].rate.blocks[t->full]);
        at_least(&cable, t->of[i].latency);
    }
    at_least(&cable, t->cable);
    at_least(&cable, t->trace);
    return 2 * (HX_MAX_RADIX * crossbar + link + t->output + cable + t->input + longest_delay(m, link));
}

struct watchdog watchdog_start(const struct model *m)
{
    return (struct watchdog){.limit = m->watchdog ? m->watchdog + watchdog_longest_wait(m) : 0};
}

/* ---- a worker ---- */

/* Packets that wait in an (input, VC). */
struct standing {
    uint64_t packets;
    uint64_t newest; /* ps: arrival of the last one */
};

static void add_standing(struct standing *s, const struct virtual_rx *rx, const struct hx_input *in, unsigned vc)
{
    for (uint16_t p = hx_lane(rx->tail, vc); p != hx_lane(rx->head, vc); p++) {
        if (!state_holds(rx, in, vc, p))
            continue;
        const struct virtual_slot *slot = virtual_queue_at(&rx->queue[vc], p);
        s->packets += virtual_packets(&slot->d);
        s->newest = slot->ready > s->newest ? slot->ready : s->newest;
    }
}

static void each_node(const struct worker *w, struct standing *sum,
                      void (*visit)(const struct worker *, const struct virtual_node *, struct standing *))
{
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        for (unsigned plane = 0; plane < w->sim_node[i]->planes; plane++)
            visit(w, &w->sim_node[i]->node[plane], sum);
    }
}

static void count(const struct worker *w, const struct virtual_node *n, struct standing *sum)
{
    (void)w;
    for (unsigned input = 0; input < n->hal.ports; input++) {
        for (unsigned vc = 0; vc < n->sw.route.vcs; vc++)
            add_standing(sum, &n->hal.rx[input], &n->sw.input[input], vc);
    }
}

uint64_t watchdog_standing(const struct worker *w)
{
    struct standing own = {0};
    each_node(w, &own, count);
    for (uint32_t i = 0; i < w->accelerators; i++)
        for (unsigned plane = 0; plane < w->driver[i].hal.planes; plane++) {
            const struct virtual_eject *q = &w->driver[i].hal.plane[plane].eject;
            for (uint32_t at = q->tail; at != q->head; at++)
                own.packets += virtual_packets(&q->slots[at & q->mask].d);
        }
    return own.packets;
}

/* Whether packets of an (input, VC) lack credit for an output that they may take. */
static bool lacks_credit(const struct virtual_node *n, unsigned input, unsigned vc, unsigned output,
                         uint64_t candidates)
{
    unsigned far_vc = hx_route_vc(&n->sw.route, input, vc, output);
    const struct virtual_rx *rx = &n->hal.rx[input];
    for (uint16_t p = hx_lane(rx->tail, vc); p != hx_lane(n->sw.input[input].seen, vc); p++) {
        if (candidates >> p % HX_WINDOW & 1 &&
            hx_lane(n->hal.tx[output].lanes, far_vc) >= virtual_blocks(&virtual_queue_at(&rx->queue[vc], p)->d))
            return false;
    }
    return true;
}

static void write_wait(const struct worker *w, const struct virtual_node *n, unsigned input, unsigned vc)
{
    const uint64_t *candidates = hx_switch_candidates(&n->sw, input, vc);
    struct model_wait *wait = &w->m->wait[(size_t)n->hal.tx[input].link * HX_VCS + vc];
    uint64_t movable = 0;
    for (unsigned output = 0; output < n->sw.outputs; output++) {
        if (!candidates[output])
            continue;
        if (!lacks_credit(n, input, vc, output, candidates[output])) {
            movable |= candidates[output];
            continue;
        }
        wait->outputs[hx_route_vc(&n->sw.route, input, vc, output)] |= (uint64_t)1 << output;
    }
    w->area->movable += (unsigned)__builtin_popcountll(movable);
}

static void write_waits(const struct worker *w, const struct virtual_node *n, struct standing *sum)
{
    (void)sum;
    for (unsigned input = 0; input < n->hal.ports; input++) {
        for (unsigned vc = 0; vc < n->sw.route.vcs; vc++)
            write_wait(w, n, input, vc);
    }
}

bool watchdog_look(struct watchdog *d, struct worker *w, const struct virtual_turn *turn)
{
    struct standing own = {0};
    each_node(w, &own, count);
    /* Workers combine: number of waiting packets, and arrival of the newest. */
    struct virtual_turn all = {.next = turn->next, .active = own.packets, .moved = own.newest};
    model_turn(w->m, &all);
    uint64_t width = w->v.wheel.width;
    uint64_t now = turn->next > UINT64_MAX / width ? UINT64_MAX : turn->next * width;
    d->quiet = all.active ? all.moved : now;
    if (all.active == 0 || all.moved + d->limit >= now)
        return false;
    w->area->stuck = true;
    w->area->moved = turn->moved;
    w->area->held = own.packets;
    each_node(w, &own, write_waits);
    return true;
}

/* ---- the supervisor ---- */

/* Vertices are (input, VC), numbered as in model.wait. */
static struct hx_end behind(const struct model *m, uint32_t vertex, unsigned output, unsigned *plane)
{
    unsigned port;
    uint32_t node = model_port_of(m, vertex / HX_VCS, plane, &port);
    return hx_fabric_far(m->g, node, output);
}

static uint32_t waits_for(const struct model *m, uint32_t vertex, unsigned output, unsigned vc)
{
    unsigned plane;
    struct hx_end far = behind(m, vertex, output, &plane);
    if (far.node == HX_NOWHERE)
        return CYCLE_NONE; /* the endpoint, which takes every packet */
    return model_link_number(m, plane, far.node, far.port) * HX_VCS + vc;
}

static uint32_t next_wait(const void *of, uint32_t vertex, unsigned n)
{
    const struct model *m = of;
    unsigned before = 0; /* waits before this one */
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        for (uint64_t left = m->wait[vertex].outputs[vc]; left; left &= left - 1) {
            uint32_t to = waits_for(m, vertex, (unsigned)__builtin_ctzll(left), vc);
            if (to == CYCLE_NONE)
                continue;
            if (before == n)
                return to;
            before++;
        }
    }
    return CYCLE_NONE;
}

static void explain_edge(const struct model *m, uint32_t from, uint32_t to)
{
    unsigned output = 0;
    unsigned vc = to % HX_VCS;
    while (!(m->wait[from].outputs[vc] >> output & 1) || waits_for(m, from, output, vc) != to)
        output++;
    unsigned plane;
    unsigned port;
    uint32_t node = model_port_of(m, from / HX_VCS, &plane, &port);
    char input_name[HX_NAME_BYTES];
    char output_name[HX_NAME_BYTES];
    char far_name[HX_NAME_BYTES];
    hx_complain("watchdog", "%s VC %u waits for %s: no room at %s VC %u", model_port_name(m, from / HX_VCS, input_name),
                from % HX_VCS, hx_port_name(output_name, m->g, plane, node, output),
                model_port_name(m, to / HX_VCS, far_name), to % HX_VCS);
}

/* Without a cycle, each wait ends at an (input, VC) that waits for none and yet is full. */
static void explain_end(const struct model *m, uint32_t vertices)
{
    for (uint32_t from = 0; from < vertices; from++) {
        uint32_t to;
        for (unsigned n = 0; (to = next_wait(m, from, n)) != CYCLE_NONE; n++) {
            if (next_wait(m, to, 0) == CYCLE_NONE) {
                explain_edge(m, from, to);
                return;
            }
        }
    }
}

bool watchdog_was_stuck(const struct model *m)
{
    return m->area[0].stuck;
}

void watchdog_explain(const struct model *m)
{
    const struct cycle_graph g = {m->g->planes * m->layout.links * HX_VCS, m, next_wait};
    uint64_t held = 0;
    uint64_t movable = 0;
    for (unsigned w = 0; w < m->workers; w++) {
        held += m->area[w].held;
        movable += m->area[w].movable;
    }
    double since = (double)m->area[0].moved / 1e6;
    uint32_t *cycle = hx_allocate(g.vertices, sizeof *cycle);
    uint32_t length = cycle_find(&g, cycle);
    if (length) {
        hx_complain("watchdog",
                    "deadlock: no packet has moved since %.3f us, %" PRIu64
                    " packets stand in switches, and %u inputs wait for each other",
                    since, held, length);
    } else {
        hx_complain("watchdog",
                    "no packet has moved since %.3f us, and no cycle: %" PRIu64 " packets stand in switches, %" PRIu64
                    " of them could go on, and the others wait for a full input that waits for none",
                    since, held, movable);
        explain_end(m, g.vertices);
    }
    for (uint32_t n = 0; n < length; n++)
        explain_edge(m, cycle[n], cycle[n + 1 == length ? 0 : n + 1]);
    free(cycle);
}
