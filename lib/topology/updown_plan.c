/* updown_plan.c - one order of routers for all planned states of the links (topology/updown.h). */
#include "base/rng.h"
#include "topology/updown.h"

#include <stdlib.h>
#include <string.h>

enum { ORDERS_OF_STATES = 16, RANDOM_ORDERS = 16 };

struct planning {
    const struct hx_fabric *f;
    const struct hx_updown_states *states;
    uint64_t *closed; /* [nodes] */
};

/* Routes of a state in an order; NULL: in the order that is best for it. */
static struct hx_updown *routes_of(const struct planning *p, size_t state, const uint32_t *rank)
{
    struct hx_problem none;
    memset(p->closed, 0, p->f->nodes * sizeof *p->closed);
    p->states->take(p->states->of, state, p->closed);
    return hx_updown_search(p->f, p->closed, HX_VCS, rank, &none); /* it has found routes in this fabric */
}

static bool takes_part(const struct hx_fabric *f, uint32_t host)
{
    return !f->failed || !f->failed[host];
}

/* Whether the link between a host and its router is open. */
static bool is_attached(const struct planning *p, uint32_t host)
{
    struct hx_end far = hx_fabric_far(p->f, host, HX_E);
    return !(p->closed[host] >> HX_E & 1) && !(p->closed[far.node] >> far.port & 1);
}

/* Whether a pair has a path by these routes; sets gap->joined. */
static bool has_path(const struct planning *p, const struct hx_updown *w, struct hx_updown_gap *gap)
{
    const struct hx_fabric *f = p->f;
    uint32_t router = hx_fabric_far(f, gap->from, HX_E).node - f->hosts;
    size_t entry = (size_t)f->node[gap->to].addr_hi * w->routers + router;
    bool attached = is_attached(p, gap->from) && is_attached(p, gap->to);
    gap->joined = attached && w->distance[entry] != HX_UNREACHABLE_DISTANCE;
    return gap->joined && (w->distance[entry] == 0 || w->ports[entry] != 0);
}

/* Whether each pair has a path by these routes. */
static bool all_have_paths(const struct planning *p, const struct hx_updown *w, struct hx_updown_gap *gap)
{
    for (gap->to = 0; gap->to < p->f->hosts; gap->to++)
        for (gap->from = 0; gap->from < p->f->hosts; gap->from++)
            if (gap->from != gap->to && takes_part(p->f, gap->from) && takes_part(p->f, gap->to) &&
                !has_path(p, w, gap))
                return false;
    return true;
}

static bool is_good(const struct planning *p, const uint32_t *rank, struct hx_updown_gap *gap)
{
    bool good = true;
    for (size_t state = 0; state < p->states->count && good; state++) {
        struct hx_updown *w = routes_of(p, state, rank);
        gap->state = state;
        good = all_have_paths(p, w, gap);
        free(w);
    }
    return good;
}

/* Takes the order that is best for one of the states. */
static void order_of_state(const struct planning *p, unsigned number, uint32_t *rank)
{
    size_t states = p->states->count;
    size_t state = states <= ORDERS_OF_STATES ? number : number * (states - 1) / (ORDERS_OF_STATES - 1);
    struct hx_updown *w = routes_of(p, state, NULL);
    memcpy(rank, w->rank, w->routers * sizeof *rank);
    free(w);
}

/* Looks for another order. */
static bool find(const struct planning *p, uint32_t *rank, uint32_t routers)
{
    struct hx_updown_gap none;
    uint64_t random = 1;
    for (unsigned i = 0; i < ORDERS_OF_STATES && i < p->states->count; i++) {
        order_of_state(p, i, rank);
        if (is_good(p, rank, &none))
            return true;
    }
    for (unsigned i = 0; i < RANDOM_ORDERS; i++) {
        hx_rng_shuffle(&random, rank, routers);
        if (is_good(p, rank, &none))
            return true;
    }
    return false;
}

bool hx_updown_plan(struct hx_fabric *f, const struct hx_updown_states *states, struct hx_updown_gap *gap)
{
    struct planning p = {.f = f, .states = states, .closed = hx_allocate(f->nodes, sizeof *p.closed)};
    uint32_t routers = f->updown->routers;
    uint32_t *rank = hx_allocate(routers, sizeof *rank);
    memcpy(rank, f->updown->rank, routers * sizeof *rank);
    bool good = is_good(&p, rank, gap);
    if (!good && gap->joined)
        good = find(&p, rank, routers);
    if (good) {
        struct hx_problem none;
        struct hx_updown *w = hx_updown_search(f, NULL, HX_VCS, rank, &none);
        free(f->updown);
        f->updown = w;
        f->vcs = HX_VCS;
    }
    HX_FREE(p.closed, rank);
    return good;
}
