/* peers.c - chooses a few peers for each host (peers.h).
 *
 *     worst-case     hosts of an attachment router (hx_fabric_attachment_router) send to hosts of the router for which
 *                    minimal routing is worst (topology/worst_case.h). Each sends to all of them in turn, from the one
 *                    at its own place on, so that all receive alike
 *     neighbour-3d   hosts are placed by rank on the largest 3D torus that the job fills, along the first side first,
 *                    turned to fit the routers. Each sends to its two neighbours along each side. Hosts beyond the
 *                    torus do not send
 *
 * Hosts of another job and of failed boards are left out. */
#include "workload/peers.h"
#include "topology/attachment_routers.h"
#include "topology/worst_case.h"
#include "workload/traffic.h" /* circle: a part of traffic that fills its peers */

#include <stdlib.h>
#include <string.h>

enum { MOST_PEERS = 64 /* upper bound of the hosts of a router */ };

struct choice {
    const struct traffic *t;
    uint32_t *job; /* [ranks]: members of the job, by rank */
    uint32_t members;
    uint32_t *index; /* [ranks]: index of each in `job` */
    uint32_t *to;    /* [nodes]: worst-case: attachment router that one sends to */
    uint32_t side[3];
};

/* Collects the members of a job by rank; t->member has them column by column. */
static void take_job(struct choice *c, uint32_t member)
{
    const struct traffic *t = c->t;
    c->members = 0;
    for (uint32_t rank = 0; rank < t->g->hosts; rank++) {
        if (!t->members[rank] || t->first[rank] != t->first[member])
            continue;
        c->index[rank] = c->members;
        c->job[c->members++] = rank;
    }
}

/* ---- worst-case ---- */

static void find_worst(struct choice *c)
{
    const struct hx_fabric *g = c->t->g;
    bool *part = hx_allocate(g->hosts, sizeof *part);
    for (uint32_t i = 0; i < c->members; i++)
        part[c->job[i]] = true;
    hx_fabric_worst_case(g, c->members < g->hosts ? part : NULL, c->t->settings.seed, c->to);
    free(part);
}

static unsigned at_attachment_router(const struct choice *c, uint32_t attachment_router, uint32_t list[MOST_PEERS])
{
    const struct traffic *t = c->t;
    const struct hx_fabric *g = t->g;
    unsigned n = 0;
    if (hx_is_host(g, attachment_router)) {
        list[n++] = attachment_router;
        return n;
    }
    for (unsigned port = 0; port < hx_fabric_ports(g, attachment_router); port++) {
        uint32_t host = hx_fabric_far(g, attachment_router, port).node;
        bool sits = host < g->hosts && hx_fabric_attachment_router(g, host) == attachment_router;
        if (sits && t->members[host] && t->first[host] == t->first[c->job[0]])
            list[n++] = host;
    }
    return n;
}

static unsigned worst_of(const struct choice *c, uint32_t rank, uint32_t list[MOST_PEERS])
{
    uint32_t attachment_router = hx_fabric_attachment_router(c->t->g, rank);
    uint32_t there[MOST_PEERS];
    if (c->to[attachment_router] == HX_NOWHERE)
        return 0;
    unsigned own = at_attachment_router(c, attachment_router, there);
    unsigned place = 0;
    while (place < own && there[place] != rank)
        place++;
    unsigned n = at_attachment_router(c, c->to[attachment_router], there);
    for (unsigned i = 0; i < n; i++)
        list[i] = there[(place + i) % n];
    return n;
}

/* ---- neighbour-3d ---- */

void peers_torus(uint32_t n, uint32_t side[3])
{
    side[0] = side[1] = side[2] = 1;
    for (uint32_t a = 1; a * a * a <= n; a++) {
        for (uint32_t b = a; b <= 2 * a && a * b * b <= n; b++) {
            for (uint32_t c = b; c <= 2 * a && a * b * c <= n; c++) {
                uint32_t most = side[0] * side[1] * side[2];
                if (a * b * c < most || (a * b * c == most && c >= side[2]))
                    continue;
                side[0] = a;
                side[1] = b;
                side[2] = c;
            }
        }
    }
}

/* Whether that many hosts, by rank, are whole units, or an equal part of one. */
static bool fits(uint32_t hosts, uint32_t unit)
{
    return hosts % unit == 0 || unit % hosts == 0;
}

/* Hosts of a router, and of a row of routers in the order of names. Returns false if routers differ in their number of
 * hosts, or hosts have no router. */
static bool units_of(const struct hx_fabric *f, uint32_t *router, uint32_t *row)
{
    if (hx_fabric_attachment_router(f, 0) == 0 || f->digits[0] * f->digits[1] != f->hosts)
        return false;
    uint32_t inner = 0;
    for (unsigned i = 0; i < f->names; i++)
        inner = f->name[i].first == f->hosts ? f->name[i].inner : inner;
    *router = f->digits[1];
    *row = *router * (inner ? inner : 1);
    return true;
}

void peers_turn_torus(const struct hx_fabric *f, uint32_t side[3])
{
    static const uint8_t turns[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const uint32_t rising[3] = {side[0], side[1], side[2]};
    uint32_t router;
    uint32_t row;
    int most = -1;
    if (!units_of(f, &router, &row))
        return;
    for (unsigned turn = 0; turn < sizeof turns / sizeof *turns; turn++) {
        uint32_t line = rising[turns[turn][0]];
        uint32_t second = rising[turns[turn][1]];
        int fit = fits(line, router) + fits(line * second, row);
        if (fit <= most)
            continue;
        most = fit;
        side[0] = line;
        side[1] = second;
        side[2] = rising[turns[turn][2]];
    }
}

static unsigned neighbours_of(const struct choice *c, uint32_t rank, uint32_t list[MOST_PEERS])
{
    const uint32_t *side = c->side;
    uint32_t own = c->index[rank];
    unsigned n = 0;
    uint32_t stride = 1;
    if (own >= side[0] * side[1] * side[2])
        return 0;
    for (unsigned dimension = 0; dimension < 3; stride *= side[dimension++]) {
        uint32_t at = own / stride % side[dimension];
        uint32_t line = own - at * stride;
        uint32_t next = (at + 1) % side[dimension];
        uint32_t last = (at + side[dimension] - 1) % side[dimension];
        if (next != at)
            list[n++] = c->job[line + next * stride];
        if (last != next)
            list[n++] = c->job[line + last * stride];
    }
    return n;
}

/* ---- choice ---- */

bool peers_are_of(unsigned pattern)
{
    return pattern == HX_WORST_CASE || pattern == HX_NEIGHBOUR_3D;
}

static unsigned list_of(const struct choice *c, uint32_t rank, uint32_t list[MOST_PEERS])
{
    return traffic_settings(c->t, rank)->pattern == HX_WORST_CASE ? worst_of(c, rank, list)
                                                                  : neighbours_of(c, rank, list);
}

static void choose_in_job(struct choice *c, uint32_t *count, uint32_t (*all)[MOST_PEERS])
{
    if (traffic_settings(c->t, c->job[0])->pattern == HX_WORST_CASE)
        find_worst(c);
    peers_torus(c->members, c->side);
    peers_turn_torus(c->t->g, c->side);
    for (uint32_t i = 0; i < c->members; i++)
        count[c->job[i]] = list_of(c, c->job[i], all[c->job[i]]);
}

static void pack(struct peers *p, uint32_t ranks, const uint32_t *count, uint32_t (*all)[MOST_PEERS])
{
    p->first = hx_allocate(ranks + 1, sizeof *p->first);
    p->senders = hx_allocate(ranks, sizeof *p->senders);
    for (uint32_t rank = 0; rank < ranks; rank++)
        p->first[rank + 1] = p->first[rank] + count[rank];
    p->to = hx_allocate(p->first[ranks] + 1, sizeof *p->to);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        memcpy(p->to + p->first[rank], all[rank], count[rank] * sizeof **all);
        for (uint32_t i = 0; i < count[rank]; i++)
            p->senders[all[rank][i]]++;
    }
}

void peers_choose(struct traffic *t)
{
    uint32_t n = t->g->hosts;
    bool any = !t->own && peers_are_of(t->settings.pattern);
    for (unsigned i = 0; t->own && i < t->spec->named_jobs; i++)
        any = any || peers_are_of(t->own[i].pattern);
    if (!any)
        return;
    struct choice c = {.t = t,
                       .job = hx_allocate(n, sizeof *c.job),
                       .index = hx_allocate(n, sizeof *c.index),
                       .to = hx_allocate(t->g->nodes, sizeof *c.to)};
    uint32_t *count = hx_allocate(n, sizeof *count);
    uint32_t(*all)[MOST_PEERS] = hx_allocate(n, sizeof *all);
    for (uint32_t rank = 0; rank < n; rank++) {
        bool is_first = t->members[rank] && t->member[t->first[rank]] == rank;
        if (!is_first || !peers_are_of(traffic_settings(t, rank)->pattern))
            continue; /* once for each job */
        take_job(&c, rank);
        choose_in_job(&c, count, all);
    }
    pack(&t->peers, n, count, all);
    HX_FREE(c.job, c.index, c.to, count, all);
}

void peers_free(struct peers *p)
{
    free(p->first);
    free(p->to);
    free(p->senders);
    *p = (struct peers){NULL};
}
