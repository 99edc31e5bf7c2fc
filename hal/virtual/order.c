/* order.c - finds out whether the order of packets matters in a step (order.h). */
#include "order.h"

/* Packets that a step may move, by VC: their inputs, and the outputs that they may take. */
struct movable {
    uint64_t inputs[HX_VCS], outputs[HX_VCS];
    bool shared; /* new packets of two inputs may take one output */
};

static uint64_t offered_to(const struct virtual_sim_node *e, const struct virtual_node *n, unsigned input,
                           const struct hx_desc *d)
{
    return e->router ? hx_router_offers(&n->sw, input, d) : hx_accelerator_offers(&n->sw, input, d);
}

static void add_waiting(const struct virtual_node *n, unsigned vc, struct movable *m)
{
    uint64_t outputs = n->sw.wanted[vc] & hal_tx_ready(&n->hal);
    m->outputs[vc] |= outputs;
    for (; outputs; outputs &= outputs - 1)
        m->inputs[vc] |= n->sw.requests[(size_t)vc * n->sw.outputs + (unsigned)__builtin_ctzll(outputs)];
}

/* Adds new packets of an input; fresh: outputs of those of other inputs. */
static void add_arrivals(const struct virtual_sim_node *e, const struct virtual_node *n, unsigned input, unsigned vc,
                         uint16_t end, uint64_t *fresh, struct movable *m)
{
    const struct virtual_rx *rx = &n->hal.rx[input];
    uint64_t own = 0;
    for (uint16_t p = hx_lane(n->sw.input[input].seen, vc); p != end; p++) {
        own |= offered_to(e, n, input, &virtual_queue_at(&rx->queue[vc], p)->d);
        m->inputs[vc] |= (uint64_t)1 << input;
    }
    m->shared = m->shared || (own & *fresh);
    *fresh |= own;
}

static bool are_apart(const struct movable *m)
{
    for (unsigned a = 0; a < HX_VCS; a++)
        for (unsigned b = 0; b < a; b++)
            if ((m->inputs[a] & m->inputs[b]) | (m->outputs[a] & m->outputs[b]))
                return false;
    return !m->shared;
}

void virtual_order_step(const struct virtual_sim_node *e, struct virtual_node *n)
{
    struct movable m = {.shared = false};
    for (unsigned vc = 0; vc < n->sw.route.vcs; vc++) {
        uint64_t fresh = 0;
        add_waiting(n, vc, &m);
        for (uint64_t left = n->hal.news; left; left &= left - 1) {
            unsigned input = (unsigned)__builtin_ctzll(left);
            add_arrivals(e, n, input, vc, hx_lane(hal_arrived(&n->hal, input), vc), &fresh, &m);
        }
        m.outputs[vc] |= fresh;
    }
    if (!are_apart(&m))
        *virtual_order_turned(e->worker->order, e->index, n->hal.plane) = e->worker->now;
}

void virtual_order_grant(const struct virtual_sim_node *e, const struct virtual_node *n, unsigned output)
{
    unsigned vcs = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        vcs += n->sw.wanted[vc] >> output & 1;
    if (vcs > 1)
        *virtual_order_turned(e->worker->order, e->index, n->hal.plane) = e->worker->now;
}
