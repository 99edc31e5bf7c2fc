/* reach.c - follows all paths of a packet (topology/reach.h). */
#include "topology/reach.h"
#include "base/error.h"

#include <stdlib.h>

/* A packet at a node. */
struct place {
    uint32_t node;
    uint16_t input; /* HX_LOCAL at the source */
    uint8_t vc;
};

struct search {
    const struct hx_fabric *f;
    uint64_t *seen; /* [nodes][HX_VCS]: inputs of places that were found */
    struct place *open;
    size_t count, room;
};

static void find(struct search *s, struct place p)
{
    uint64_t *seen = &s->seen[(size_t)p.node * HX_VCS + p.vc];
    if (*seen >> p.input & 1)
        return;
    *seen |= (uint64_t)1 << p.input;
    s->open = hx_grow(s->open, s->count, &s->room, sizeof *s->open);
    s->open[s->count++] = p;
}

static void advance(struct search *s, const struct hx_route *r, struct place at, const struct hx_fabric_node *to)
{
    for (uint64_t left = hx_route_candidates(r, at.input, at.vc, to->addr_hi, to->addr_lo); left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        struct hx_end far = hx_fabric_far(s->f, at.node, port);
        if (far.node != HX_NOWHERE)
            find(s, (struct place){far.node, far.port, (uint8_t)hx_route_vc(r, at.input, at.vc, port)});
    }
}

bool hx_reaches(const struct hx_fabric *f, uint32_t from, uint32_t to, hx_routes_of *routes_of, void *of)
{
    struct search s = {.f = f, .seen = hx_allocate((size_t)f->nodes * HX_VCS, sizeof *s.seen)};
    bool found = false;
    unsigned vc = hx_route_injects_on(routes_of(of, from), f->node[to].addr_hi, f->node[to].addr_lo);
    find(&s, (struct place){.node = from, .input = HX_LOCAL, .vc = (uint8_t)vc});
    while (s.count && !found) {
        struct place at = s.open[--s.count];
        found = at.node == to;
        if (!found)
            advance(&s, routes_of(of, at.node), at, &f->node[to]);
    }
    free(s.seen);
    free(s.open);
    return found;
}
