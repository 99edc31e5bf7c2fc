/* compare.c - other networks for the same job (compare.h). */
#include "tools/circuits/compare.h"
#include "tools/circuits/costs.h"
#include "tools/circuits/other.h"
#include "tools/circuits/reconfigure.h"
#include "tools/injection.h"
#include "topology/bounds.h"
#include "topology/name.h"
#include "topology/topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { IDEAL, FAT_TREE, FAT_TREE_2_1, EXPANDER, OCS, SIP_ML, SPEC };
static const char *const names[] = {"ideal", "fat-tree", "fat-tree-2:1", "expander", "ocs", "sip-ml", NULL};

enum { ITERATIONS = 3 };

struct other {
    const struct circuits_report *r;
    enum kind kind;
    char spec[HX_SPEC_BYTES];
    uint32_t servers;
    double gbps;              /* of a server's interfaces together */
    double usd;               /* of one of its interfaces, with its share of the network */
    struct circuits circuits; /* expander */
    unsigned rings;           /* of sums: those of the circuits; 0: one of stride 1 */
    struct hx_problem *problem;
};

/* ---- what it is ---- */

static enum kind kind_of(const char *name)
{
    unsigned kind = 0;
    while (kind < SPEC && strcmp(name, names[kind]) != 0)
        kind++;
    return (enum kind)kind;
}

/* Of the same cost as the circuits: as many interfaces as it buys, also parts of one. */
static bool take_equal_tree(struct other *o)
{
    const struct circuits_search *s = o->r->search;
    const double usd = o->r->fabric[0].usd / o->servers;
    circuits_tree_spec(o->spec, o->servers, false);
    o->usd = usd / s->degree;
    o->gbps = hx_tree_of_equal_cost(o->r->prices, CIRCUITS_TREE_LEVELS, o->usd, s->degree, s->links.gbps);
    return o->gbps > 0 || hx_fail(o->problem, HX_EXIT_CONFIG, names[FAT_TREE],
                                  "no tree costs as little as the circuits, %.4g $ a server (use other --prices)", usd);
}

static bool describe(struct other *o, const char *name)
{
    const struct circuits_search *s = o->r->search;
    const struct hx_prices *p = o->r->prices;
    switch (o->kind) {
    case IDEAL:
        o->usd = hx_tree_usd(p, CIRCUITS_TREE_LEVELS, 1, s->links.gbps);
        return true;
    case FAT_TREE:
        return take_equal_tree(o);
    case FAT_TREE_2_1:
        circuits_tree_spec(o->spec, o->servers, true);
        o->usd = hx_tree_usd(p, CIRCUITS_TREE_LEVELS, 2, s->links.gbps);
        return true;
    case EXPANDER:
        o->usd = hx_circuit_usd(p, HX_CIRCUIT_FIBRE, s->links.gbps);
        circuits_expander(&o->circuits, o->servers, s->degree, s->seed);
        o->rings = o->r->circuits->rings;
        return true;
    case OCS:
    case SIP_ML:
        o->usd = hx_circuit_usd(p, HX_CIRCUIT_OCS, s->links.gbps);
        return true;
    default:
        return snprintf(o->spec, sizeof o->spec, "%s", name) < (int)sizeof o->spec ||
               hx_fail(o->problem, HX_EXIT_CONFIG, "--compare", "a SPEC has at most %d letters", HX_SPEC_BYTES - 1);
    }
}

/* ---- networks that stay ---- */

/* Returns a host that no path joins to host 0; f->hosts: none. */
static uint32_t cut_off(const struct hx_fabric *f)
{
    uint32_t host = 1;
    while (host < f->hosts && !(f->failed && (f->failed[0] || f->failed[host])) &&
           !(f->updown && hx_fabric_distance(f, 0, host) == HX_CUT_OFF))
        host++;
    return host;
}

static bool make_fabric(struct hx_fabric *f, const char *spec, uint32_t servers, struct hx_problem *problem)
{
    char name[2][HX_NAME_BYTES];
    if (!hx_fabric_make(f, spec, 1, problem))
        return false;
    const uint32_t apart = cut_off(f);
    if (f->hosts == servers && apart == servers)
        return true;
    if (f->hosts != servers)
        (void)hx_fail(problem, HX_EXIT_CONFIG, spec, "has %" PRIu32 " hosts, and the job %" PRIu32 " servers", f->hosts,
                      servers);
    else
        (void)hx_fail(problem, HX_EXIT_CONFIG, spec, "no path joins '%s' and '%s', and all servers exchange bytes",
                      hx_place_name(name[0], f, 0), hx_place_name(name[1], f, apart));
    hx_fabric_free(f);
    return false;
}

static struct network_of_servers *fabric_network(struct other *o)
{
    const struct circuits_links *l = &o->r->search->links;
    struct hx_fabric f;
    if (!make_fabric(&f, o->spec, o->servers, o->problem))
        return NULL;
    struct injection i = injection_of(&f, 1, l->gbps);
    if (!injection_equal(&i, 1, 1, o->gbps)) {
        (void)hx_fail(o->problem, HX_EXIT_CONFIG, o->spec,
                      "has link rates of its own, by which hosts inject %.6g Gb/s, and the servers %.6g",
                      injection_of(&f, 1, l->gbps).links * l->gbps, o->gbps);
        hx_fabric_free(&f);
        return NULL;
    }
    if (o->kind == SPEC)
        o->usd = injection_usd(&i, &f, o->r->prices) / o->servers / o->r->search->degree;
    return servers_network(&f, injection_link(&i), l->latency_ns, 1);
}

static struct network_of_servers *make_network(void *of)
{
    struct other *o = of;
    const struct circuits_links *l = &o->r->search->links;
    if (o->kind == IDEAL)
        return servers_ideal(o->servers, o->gbps, l->latency_ns);
    return o->kind == EXPANDER ? circuits_network(&o->circuits, l, o->problem) : fabric_network(o);
}

/* The time with the best strategy that is found on the network. */
static bool search(struct other *o, struct circuits_fabric *f)
{
    struct circuits_search s = *o->r->search;
    struct circuits_result result;
    s.network = make_network;
    s.of = o;
    s.ring = o->r->circuits->ring;
    s.rings = o->rings;
    if (!circuits_search(&result, &s, o->r->m, o->problem))
        return false;
    circuits_strategy_set(&f->strategy, &result.strategy);
    f->time = result.time;
    circuits_result_free(&result);
    return true;
}

/* The time with the strategy of the circuits. */
static bool keep(struct other *o, struct circuits_fabric *f)
{
    struct network_of_servers *n = make_network(o);
    if (n)
        f->time = circuits_time_of(&f->demand, n, o->r->circuits->ring, o->rings, NULL);
    servers_free(n);
    return n != NULL;
}

static bool settle(struct other *o, struct circuits_fabric *f)
{
    if (o->r->searched && !search(o, f))
        return false;
    circuits_demand_of(&f->demand, &f->strategy);
    return o->r->searched || keep(o, f);
}

/* ---- circuits that change ---- */

static void change(const struct other *o, struct circuits_fabric *f)
{
    const struct circuits_search *s = o->r->search;
    const double latency = 1e-9 * s->links.latency_ns;
    const struct reconfigure how =
        o->kind == OCS ? reconfigure_as_ocs(s->links.gbps, latency) : reconfigure_as_sip_ml(s->links.gbps, latency);
    circuits_demand_of(&f->demand, &f->strategy);
    const struct reconfigured r = reconfigure_run(&f->demand, o->r->circuits, &how, ITERATIONS);
    f->changes = true;
    f->time = (struct circuits_time){.computing = f->demand.forward + f->demand.backward,
                                     .iteration = r.iteration,
                                     .tax = r.sent > 0 ? r.carried / r.sent : 1};
}

bool circuits_compare(struct circuits_report *r, const char *name, struct hx_problem *problem)
{
    struct other o = {.r = r,
                      .kind = kind_of(name),
                      .servers = r->circuits->servers,
                      .gbps = (double)r->search->degree * r->search->links.gbps,
                      .problem = problem};
    struct circuits_fabric *f = &r->fabric[r->fabrics];
    bool good = describe(&o, name);
    *f = (struct circuits_fabric){
        .name = name, .strategy = circuits_strategy_copy(&r->fabric[0].strategy), .gbps = o.gbps};
    if (good && (o.kind == OCS || o.kind == SIP_ML))
        change(&o, f);
    else
        good = good && settle(&o, f);
    f->usd = o.usd * r->search->degree * o.servers;
    r->fabrics += good;
    if (o.circuits.servers)
        circuits_free(&o.circuits);
    return good;
}

/* Refuses an expander that needs more VCs than there are. */
static bool check_expander(const struct circuits_search *s, uint32_t servers, struct hx_problem *problem)
{
    struct circuits c;
    struct hx_problem why;
    circuits_expander(&c, servers, s->degree, s->seed);
    struct network_of_servers *n = circuits_network(&c, &s->links, &why);
    const bool good = n || hx_fail(problem, why.exit_code, "--compare expander", "%s", why.what);
    servers_free(n);
    circuits_free(&c);
    return good;
}

bool circuits_compare_check(const char *name, uint32_t servers, const struct circuits_search *s,
                            struct hx_problem *problem)
{
    char hint[HX_HINT_TEXT];
    struct hx_fabric f;
    if (kind_of(name) == EXPANDER)
        return check_expander(s, servers, problem);
    if (kind_of(name) != SPEC)
        return true;
    if (*hx_did_you_mean(hint, name, names))
        return hx_fail(problem, HX_EXIT_CONFIG, "--compare", "'%.80s' is no network%s", name, hint);
    if (!make_fabric(&f, name, servers, problem))
        return false;
    hx_fabric_free(&f);
    return true;
}
