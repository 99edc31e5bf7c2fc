/* circuits_order.c - an order of routers for all states of links that close as planned (circuits.h). */
#include "base/compare.h"
#include "base/value.h"
#include "spec/circuits/circuits.h"
#include "spec/circuits/circuits_parts.h"
#include "spec/faults/faults.h"
#include "topology/updown.h"

#include <stdlib.h>

struct closing_link {
    unsigned plane, port;
    uint32_t node;
    struct hx_link_change *change;
    size_t changes;
};

/* A state of a plane, from a time on. */
struct state {
    uint64_t at_ns;
    unsigned plane;
};

struct closings {
    const struct hx_faults *faults;
    const struct hx_fabric *f;
    unsigned planes; /* that may differ */
    struct closing_link *link;
    size_t links, link_room;
    struct state *state; /* in order of time and plane */
    size_t states, state_room;
};

static void note_state(struct closings *c, uint64_t at_ns, unsigned plane)
{
    c->state = hx_grow(c->state, c->states, &c->state_room, sizeof *c->state);
    c->state[c->states++] = (struct state){at_ns, plane};
}

static void note_link(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct closings *c = of;
    struct closing_link l = {.plane = plane, .port = port, .node = node};
    bool ever = false;
    bool closed = false;
    if (plane >= c->planes)
        return;
    l.change = hx_faults_of_link(c->faults, c->f, plane, node, port, &l.changes);
    for (size_t i = 0; i < l.changes; i++) {
        if (l.change[i].state.closed != closed)
            note_state(c, l.change[i].at_ns, plane);
        closed = l.change[i].state.closed;
        ever = ever || closed;
    }
    c->link = hx_grow(c->link, c->links, &c->link_room, sizeof *c->link);
    if (ever)
        c->link[c->links++] = l;
    else
        free(l.change);
}

static int by_time(const void *a, const void *b)
{
    const struct state *p = a;
    const struct state *q = b;
    int at = hx_compare(p->at_ns, q->at_ns);
    return at ? at : hx_compare(p->plane, q->plane);
}

static bool is_closed(const struct closing_link *l, uint64_t ns)
{
    bool closed = false;
    for (size_t i = 0; i < l->changes && l->change[i].at_ns <= ns; i++)
        closed = l->change[i].state.closed;
    return closed;
}

static void take_closed(const void *of, size_t number, uint64_t *closed)
{
    const struct closings *c = of;
    const struct state *state = &c->state[number];
    for (size_t i = 0; i < c->links; i++) {
        const struct closing_link *l = &c->link[i];
        if (l->plane == state->plane && is_closed(l, state->at_ns))
            closed[l->node] |= UINT64_C(1) << l->port;
    }
}

/* Finds all states, each once, with that at the start. Returns false if no line closes a link. */
static bool find_states(struct closings *c)
{
    const struct hx_fault_target all = {.place = HX_PLACE_ALL, .plane = HX_EVERY_PLANE};
    for (size_t i = 0; i < c->faults->count; i++) {
        bool one = c->faults->fault[i].target.plane != HX_EVERY_PLANE;
        if (c->faults->fault[i].kind == HX_FAULT_CLOSED)
            c->planes = one ? c->f->planes : c->planes ? c->planes : 1;
    }
    if (c->planes == 0)
        return false;
    hx_fault_each_link(&all, c->f, note_link, c);
    for (unsigned plane = 0; plane < c->planes; plane++)
        note_state(c, 0, plane);
    qsort(c->state, c->states, sizeof *c->state, by_time);
    size_t count = 0;
    for (size_t i = 0; i < c->states; i++)
        if (count == 0 || by_time(&c->state[count - 1], &c->state[i]) != 0)
            c->state[count++] = c->state[i];
    c->states = count;
    return true;
}

static void free_states(struct closings *c)
{
    for (size_t i = 0; i < c->links; i++)
        free(c->link[i].change);
    HX_FREE(c->link, c->state);
}

const char *hx_circuits_host_name(char name[HX_NAME_BYTES], const struct hx_fabric *f, uint32_t host)
{
    if (!f->graph_name)
        return hx_place_name(name, f, host);
    return f->graph_name[host] ? f->graph_name[host] : f->graph_name[hx_fabric_far(f, host, HX_E).node];
}

static bool refuse(const struct closings *c, const struct hx_updown_gap *gap, struct hx_problem *problem)
{
    char from[HX_NAME_BYTES];
    char to[HX_NAME_BYTES];
    char at[HX_VALUE_TEXT];
    return hx_fail(problem, HX_EXIT_CONFIG, "circuits", "from %s on, %s '%.60s' and '%.60s': %s",
                   hx_value_write_duration(at, c->state[gap->state].at_ns),
                   gap->joined ? "4 VCs do not suffice for a path between" : "no path joins",
                   hx_circuits_host_name(from, c->f, gap->from), hx_circuits_host_name(to, c->f, gap->to),
                   gap->joined ? "circuits that make shorter paths mend that"
                               : "other links have to join them while these are closed");
}

bool hx_circuits_order(struct hx_fabric *f, const struct hx_faults *faults, struct hx_problem *problem)
{
    struct closings c = {.faults = faults, .f = f};
    struct hx_updown_gap gap;
    if (!find_states(&c))
        return true;
    const struct hx_updown_states states = {.count = c.states, .take = take_closed, .of = &c};
    bool good = hx_updown_plan(f, &states, &gap) || refuse(&c, &gap, problem);
    free_states(&c);
    return good;
}

void hx_circuits_each_state(const struct hx_fabric *f, const struct hx_faults *faults,
                            void (*visit)(void *of, uint64_t at_ns, const uint64_t *closed), void *of)
{
    struct closings c = {.faults = faults, .f = f};
    if (!find_states(&c))
        return;
    for (size_t i = 0; i < c.states; i++) {
        uint64_t *closed = hx_allocate(f->nodes, sizeof *closed);
        take_closed(&c, i, closed);
        visit(of, c.state[i].at_ns, closed);
        free(closed);
    }
    free_states(&c);
}
