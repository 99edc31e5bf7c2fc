/* worst_case.c - finds the permutation that loads single links most (topology/worst_case.h). */
#include "topology/worst_case.h"
#include "base/rng.h"
#include "topology/assignment.h"
#include "topology/attachment_routers.h"
#include "topology/tables.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_ATTACHMENT_ROUTERS = 128, /* joined before and behind the first link */
    FEW_ATTACHMENT_ROUTERS = 32,   /* joined at later links */
    WIDELY = 4,                    /* times as many candidates, of which those that load the link most are chosen */
    FIRST_LINKS = 48,              /* random links, of which the fullest is taken */
    NEXT_LINKS = 4,                /* links for each remaining attachment router */
    WIDE_ATTACHMENT_ROUTERS = WIDELY * MOST_ATTACHMENT_ROUTERS
};

struct link {
    uint32_t node;
    unsigned port;
};

/* Attachment routers on one side of a link, the nearest first. */
struct side {
    uint32_t attachment_router[WIDE_ATTACHMENT_ROUTERS];
    double most[WIDE_ATTACHMENT_ROUTERS]; /* highest load with any one on the other side */
    unsigned count;
};

/* Assignment of attachment routers before a link to those behind it. */
struct group {
    uint32_t from[MOST_ATTACHMENT_ROUTERS], to[MOST_ATTACHMENT_ROUTERS];
    unsigned froms, n; /* n: size of the larger side */
    double worth[MOST_ATTACHMENT_ROUTERS * MOST_ATTACHMENT_ROUTERS];
    unsigned chosen[MOST_ATTACHMENT_ROUTERS];
    double load; /* load of the link by all of them: hosts, per HX_LINK_GBPS */
};

struct search {
    const struct hx_fabric *f;
    struct hx_tables tables;
    uint32_t *to;      /* [nodes] */
    uint32_t *weight;  /* [nodes]: hosts there that take part */
    uint32_t *host;    /* [nodes]: one of them */
    bool *is_attached; /* [nodes]: a host attached to another node */
    bool *taken;       /* [nodes]: has a sender */
    double *share;     /* [nodes]: share of its traffic that passes the link */
    uint32_t *seen;    /* [nodes]: number of the last search that reached it */
    uint32_t *queue;   /* [nodes] */
    uint32_t searches;
    uint64_t random;
    struct side before, behind;
    double
        *worth; /* [WIDE_ATTACHMENT_ROUTERS][WIDE_ATTACHMENT_ROUTERS]: load of each pair before and behind the link */
    struct group *best, *other;
};

/* ---- one link ---- */

static bool sends(const struct search *s, uint32_t node)
{
    return s->weight[node] && s->to[node] == HX_NOWHERE;
}

static bool receives(const struct search *s, uint32_t node)
{
    return s->weight[node] && !s->taken[node];
}

/* Finds the attachment routers nearest to a node for which `is` holds. */
static void find_nearest(struct search *s, uint32_t start, bool (*is)(const struct search *, uint32_t), unsigned most,
                         struct side *side)
{
    uint32_t queued = 1;
    side->count = 0;
    s->searches++;
    s->queue[0] = start;
    s->seen[start] = s->searches;
    for (uint32_t at = 0; at < queued && side->count < most; at++) {
        uint32_t node = s->queue[at];
        if (is(s, node)) {
            side->most[side->count] = 0;
            side->attachment_router[side->count++] = node;
        }
        for (unsigned port = 0; port < hx_fabric_ports(s->f, node); port++) {
            uint32_t far = hx_fabric_far(s->f, node, port).node;
            if (far == HX_NOWHERE || s->is_attached[far] || s->seen[far] == s->searches)
                continue;
            s->seen[far] = s->searches;
            s->queue[queued++] = far;
        }
    }
}

/* Sets s->share, where s->seen is the current search, to the share of a node's traffic to an attachment router that
 * passes the link. Searches back from the link, hop by hop, through at most `most` nodes. Minimal paths between two
 * nodes are equally long, so a node's share is complete when its turn comes. */
static void search_back(struct search *s, const struct link *l, uint32_t attachment_router, unsigned most)
{
    uint64_t set = hx_tables_onward(&s->tables, l->node, attachment_router, s->host[attachment_router]);
    uint32_t queued = 0;
    s->searches++;
    if (set >> l->port & 1U) {
        s->queue[queued++] = l->node;
        s->seen[l->node] = s->searches;
        s->share[l->node] = 1.0 / __builtin_popcountll(set);
    }
    for (uint32_t at = 0; at < queued && queued < most; at++) {
        uint32_t node = s->queue[at];
        for (unsigned port = 0; port < hx_fabric_ports(s->f, node); port++) {
            struct hx_end before = hx_fabric_far(s->f, node, port);
            if (before.node == HX_NOWHERE || s->is_attached[before.node])
                continue;
            uint64_t next_hops =
                hx_tables_onward(&s->tables, before.node, attachment_router, s->host[attachment_router]);
            if (!(next_hops >> before.port & 1U))
                continue;
            if (s->seen[before.node] != s->searches) {
                s->seen[before.node] = s->searches;
                s->share[before.node] = 0;
                s->queue[queued++] = before.node;
            }
            s->share[before.node] += s->share[node] / __builtin_popcountll(next_hops);
        }
    }
}

/* Computes the load of the link by each pair of attachment routers before and behind it. */
static void weigh(struct search *s, const struct link *l, unsigned most)
{
    for (unsigned j = 0; j < s->behind.count; j++) {
        uint32_t to = s->behind.attachment_router[j];
        search_back(s, l, to, 4 * most);
        for (unsigned i = 0; i < s->before.count; i++) {
            uint32_t from = s->before.attachment_router[i];
            uint32_t hosts = s->weight[from] < s->weight[to] ? s->weight[from] : s->weight[to];
            double worth = s->seen[from] == s->searches && from != to ? hosts * s->share[from] : 0;
            s->worth[i * WIDE_ATTACHMENT_ROUTERS + j] = worth;
            s->before.most[i] = worth > s->before.most[i] ? worth : s->before.most[i];
            s->behind.most[j] = worth > s->behind.most[j] ? worth : s->behind.most[j];
        }
    }
}

/* Picks the numbers of those with the highest load, the nearest of equal ones first. Returns how many. */
static unsigned pick(struct side *side, unsigned most, unsigned *number)
{
    unsigned count = 0;
    for (; count < most; count++) {
        unsigned best = 0;
        for (unsigned i = 1; i < side->count; i++)
            best = side->most[i] > side->most[best] ? i : best;
        if (side->count == 0 || side->most[best] <= 0)
            break;
        side->most[best] = 0;
        number[count] = best;
    }
    return count;
}

/* Finds the assignment of nearby attachment routers that loads a link most. */
static void load_link(struct search *s, const struct link *l, unsigned most, struct group *g)
{
    unsigned from[MOST_ATTACHMENT_ROUTERS];
    unsigned to[MOST_ATTACHMENT_ROUTERS];
    find_nearest(s, l->node, sends, WIDELY * most, &s->before);
    find_nearest(s, hx_fabric_far(s->f, l->node, l->port).node, receives, WIDELY * most, &s->behind);
    weigh(s, l, WIDELY * most);
    g->froms = pick(&s->before, most, from);
    unsigned tos = pick(&s->behind, most, to);
    g->n = g->froms > tos ? g->froms : tos;
    g->load = 0;
    memset(g->worth, 0, sizeof *g->worth * g->n * g->n);
    for (unsigned i = 0; i < g->froms; i++) {
        g->from[i] = s->before.attachment_router[from[i]];
        for (unsigned j = 0; j < tos; j++)
            g->worth[i * g->n + j] = s->worth[from[i] * WIDE_ATTACHMENT_ROUTERS + to[j]];
    }
    for (unsigned j = 0; j < tos; j++)
        g->to[j] = s->behind.attachment_router[to[j]];
    hx_assign(g->worth, g->n, g->chosen);
    for (unsigned i = 0; i < g->n; i++)
        g->load += g->worth[i * g->n + g->chosen[i]];
    g->load /= hx_class_gbps(hx_fabric_link(s->f, l->node, l->port), HX_LINK_GBPS) / HX_LINK_GBPS;
}

/* ---- all ---- */

static void keep_better(struct search *s, const struct link *l, unsigned most)
{
    uint32_t far = hx_fabric_far(s->f, l->node, l->port).node;
    if (far == HX_NOWHERE || s->is_attached[far])
        return;
    load_link(s, l, most, s->other);
    if (s->other->load > s->best->load) {
        struct group *swap = s->best;
        s->best = s->other;
        s->other = swap;
    }
}

static void settle(struct search *s, const struct group *g)
{
    for (unsigned i = 0; i < g->froms; i++) {
        if (g->worth[i * g->n + g->chosen[i]] <= 0)
            continue;
        s->to[g->from[i]] = g->to[g->chosen[i]];
        s->taken[g->to[g->chosen[i]]] = true;
    }
}

static void load_fullest(struct search *s)
{
    s->best->load = 0;
    for (unsigned i = 0; i < FIRST_LINKS; i++) {
        struct link l = {hx_rng_below(&s->random, s->f->nodes), 0};
        l.port = hx_rng_below(&s->random, hx_fabric_ports(s->f, l.node));
        if (!s->is_attached[l.node])
            keep_better(s, &l, MOST_ATTACHMENT_ROUTERS);
    }
    if (s->best->load > 0)
        settle(s, s->best);
}

/* Tries links next to an attachment router until it has a partner or adds no load. */
static void load_from(struct search *s, uint32_t attachment_router)
{
    while (sends(s, attachment_router)) {
        s->best->load = 0;
        for (unsigned i = 0; i < NEXT_LINKS; i++) {
            struct link l = {attachment_router, hx_rng_below(&s->random, hx_fabric_ports(s->f, attachment_router))};
            keep_better(s, &l, FEW_ATTACHMENT_ROUTERS);
        }
        if (s->best->load <= 0)
            return;
        settle(s, s->best);
    }
}

/* Pairs the remaining attachment routers in order, none with itself. */
static void join_rest(struct search *s)
{
    uint32_t *from = s->queue;
    uint32_t *to = s->seen;
    uint32_t froms = 0;
    uint32_t tos = 0;
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        if (sends(s, node))
            from[froms++] = node;
        if (receives(s, node))
            to[tos++] = node;
    }
    for (uint32_t i = 0; i < froms; i++) {
        uint32_t next = (i + 1) % froms;
        if (from[i] == to[i]) {
            to[i] = to[next];
            to[next] = from[i];
        }
    }
    for (uint32_t i = 0; i < froms; i++)
        s->to[from[i]] = from[i] == to[i] ? HX_NOWHERE : to[i];
    /* The only one left takes the partner of another, which takes it instead. */
    for (uint32_t node = 0; node < s->f->nodes && froms == 1 && s->to[from[0]] == HX_NOWHERE; node++) {
        if (s->to[node] == HX_NOWHERE)
            continue;
        s->to[from[0]] = s->to[node];
        s->to[node] = from[0];
    }
}

static void take_attachment_routers(struct search *s, const bool *part)
{
    for (uint32_t host = 0; host < s->f->hosts; host++) {
        uint32_t attachment_router = hx_fabric_attachment_router(s->f, host);
        s->is_attached[host] = attachment_router != host;
        if (part && !part[host])
            continue;
        s->weight[attachment_router]++;
        s->host[attachment_router] = host;
    }
}

static void search(const struct hx_fabric *f, const bool *part, uint64_t seed, uint32_t *to)
{
    struct search s = {.f = f,
                       .to = to,
                       .weight = hx_allocate(f->nodes, sizeof *s.weight),
                       .host = hx_allocate(f->nodes, sizeof *s.host),
                       .is_attached = hx_allocate(f->nodes, sizeof *s.is_attached),
                       .taken = hx_allocate(f->nodes, sizeof *s.taken),
                       .share = hx_allocate(f->nodes, sizeof *s.share),
                       .seen = hx_allocate(f->nodes, sizeof *s.seen),
                       .queue = hx_allocate(f->nodes, sizeof *s.queue),
                       .random = seed,
                       .worth = hx_allocate((size_t)WIDE_ATTACHMENT_ROUTERS * WIDE_ATTACHMENT_ROUTERS, sizeof *s.worth),
                       .best = hx_allocate(1, sizeof *s.best),
                       .other = hx_allocate(1, sizeof *s.other)};
    hx_tables_make(&s.tables, f);
    take_attachment_routers(&s, part);
    load_fullest(&s);
    for (uint32_t node = 0; node < f->nodes; node++)
        load_from(&s, node);
    join_rest(&s);
    hx_tables_free(&s.tables);
    HX_FREE(s.weight, s.host, s.is_attached, s.taken, s.share, s.seen, s.queue, s.worth, s.best, s.other);
}

void hx_fabric_next_place(const struct hx_fabric *f, uint64_t seed, uint32_t *to)
{
    (void)seed;
    uint32_t places = f->digits[0];
    for (uint32_t place = 0; place < places; place++)
        to[f->hosts + place] = f->hosts + (place + 1) % places;
}

void hx_fabric_worst_case(const struct hx_fabric *f, const bool *part, uint64_t seed, uint32_t *to)
{
    for (uint32_t node = 0; node < f->nodes; node++)
        to[node] = HX_NOWHERE;
    if (f->topology->worst_case && !part)
        f->topology->worst_case(f, seed, to);
    else
        search(f, part, seed, to);
}
