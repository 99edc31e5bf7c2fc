/* topoopt_job.c - jobs of TopoOpt on circuits and other networks (tools/reproduce/topoopt_job.h). */
#include "tools/reproduce/topoopt_job.h"
#include "base/compare.h"
#include "base/processor.h"
#include "tools/circuits/costs.h"
#include "tools/circuits/finder.h"
#include "tools/circuits/other.h"
#include "tools/circuits/reconfigure.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 5 };

const struct topoopt_job topoopt_jobs[TOPOOPT_JOBS] = {
    [TOPOOPT_CANDLE] = {"CANDLE", "models/candle.model.yaml", 2.8, NAN},
    [TOPOOPT_VGG] = {"VGG16", "models/vgg16.model.yaml", 2.8, NAN},
    [TOPOOPT_BERT] = {"BERT", "models/bert-topoopt.model.yaml", 3, NAN},
    [TOPOOPT_DLRM] = {"DLRM", "models/dlrm-topoopt.model.yaml", 2.8, 1.3},
    [TOPOOPT_NCF] = {"NCF", "models/ncf.model.yaml", 2.1, 1.7},
    [TOPOOPT_RESNET] = {"ResNet-50", "models/resnet50.model.yaml", 1, NAN}};

const char *const topoopt_network_names[TOPOOPT_NETWORKS] = {
    [TOPOOPT_CIRCUITS] = "TopoOpt", [TOPOOPT_IDEAL] = "ideal",       [TOPOOPT_TREE] = "fat tree",
    [TOPOOPT_TAPERED] = "2:1 tree", [TOPOOPT_EXPANDER] = "expander", [TOPOOPT_OCS] = "OCS-reconfig",
    [TOPOOPT_SIP_ML] = "SiP-ML"};

/* ---- settings ---- */

unsigned topoopt_servers(enum reproduce_effort effort)
{
    return effort == REPRODUCE_QUICK ? 16 : 128;
}

unsigned topoopt_steps(enum reproduce_effort effort)
{
    static const unsigned steps[] = {[REPRODUCE_QUICK] = 200, [REPRODUCE_DEFAULT] = 1000, [REPRODUCE_FULL] = 10000};
    return steps[effort];
}

const char *topoopt_set_servers(enum reproduce_effort effort)
{
    return effort == REPRODUCE_QUICK ? "servers=16" : "servers=128";
}

double topoopt_tree_gbps(unsigned degree, unsigned gbps)
{
    const struct hx_prices *p = &circuits_prices;
    return hx_tree_of_equal_cost(p, CIRCUITS_TREE_LEVELS, hx_circuit_usd(p, HX_CIRCUIT_PANEL, gbps), degree, gbps);
}

static struct training_model *read_model(const struct topoopt_case *c)
{
    struct schedule_read_options options = {.flops = 0};
    struct hx_problem problem;
    char path[PATH_MAX];
    for (unsigned i = 0; i < TOPOOPT_SETS && c->set[i]; i++)
        options.set.item[options.set.count++] = c->set[i];
    reproduce_find_example(topoopt_jobs[c->job].file, path);
    struct training_model *m = training_model_read(path, &options, &problem);
    if (m)
        m->path = topoopt_jobs[c->job].file;
    else
        hx_die_of(&problem);
    return m;
}

/* ---- networks that stay ---- */

/* A network for circuits_search(). */
struct other {
    const struct topoopt_case *c;
    enum topoopt_network network;
    unsigned servers;
    const struct circuits *circuits; /* of an expander */
};

static struct circuits_links links_of(const struct topoopt_case *c)
{
    return (struct circuits_links){.gbps = c->gbps, .latency_ns = TOPOOPT_LATENCY_NS};
}

static struct network_of_servers *make_tree(const struct other *o)
{
    const bool tapered = o->network == TOPOOPT_TAPERED;
    const double gbps = tapered ? (double)o->c->degree * o->c->gbps : topoopt_tree_gbps(o->c->degree, o->c->gbps);
    char spec[CIRCUITS_TREE_SPEC];
    struct hx_fabric f;
    struct hx_problem problem;
    circuits_tree_spec(spec, o->servers, tapered);
    if (!hx_fabric_make(&f, spec, 1, &problem))
        hx_die_of(&problem);
    return servers_network(&f, gbps, TOPOOPT_LATENCY_NS, 1);
}

static struct network_of_servers *make_circuits(const struct circuits *circuits, const struct topoopt_case *c)
{
    struct hx_problem problem;
    const struct circuits_links links = links_of(c);
    struct network_of_servers *n = circuits_network(circuits, &links, &problem);
    if (!n)
        hx_die_of(&problem);
    return n;
}

static struct network_of_servers *make_network(void *of)
{
    const struct other *o = of;
    if (o->network == TOPOOPT_EXPANDER)
        return make_circuits(o->circuits, o->c);
    if (o->network == TOPOOPT_IDEAL)
        return servers_ideal(o->servers, (double)o->c->degree * o->c->gbps, TOPOOPT_LATENCY_NS);
    return make_tree(o);
}

/* ---- answers ---- */

struct circuits topoopt_random_circuits(unsigned servers, unsigned degree)
{
    struct circuits c;
    circuits_expander(&c, servers, degree, TOPOOPT_SEED);
    return c;
}

/* The rings that circuits would have for sums, if each table is on a server. */
static struct circuits rings_for(const struct training_model *m, unsigned degree)
{
    struct circuits c;
    struct circuits_demand d;
    struct circuits_strategy placed = circuits_strategy_tables_placed(m, training_ranks(m));
    circuits_demand_of(&d, &placed);
    circuits_new(&c, d.servers, degree);
    circuits_find_rings(&c, &d, false);
    circuits_demand_free(&d);
    free(placed.place);
    return c;
}

static void search(struct topoopt_answer *a, const struct topoopt_case *c, enum topoopt_network network)
{
    struct hx_problem problem;
    struct circuits expander = {.servers = 0}, rings = {.servers = 0};
    struct other o = {.c = c, .network = network, .servers = training_ranks(a->m), .circuits = &expander};
    struct circuits_search s = {.seed = TOPOOPT_SEED,
                                .steps = c->steps,
                                .chains = TOPOOPT_CHAINS,
                                .threads = hx_processor_cores(),
                                .degree = c->degree,
                                .links = links_of(c)};
    if (network != TOPOOPT_CIRCUITS) {
        s.network = make_network;
        s.of = &o;
    }
    if (network == TOPOOPT_EXPANDER) {
        expander = topoopt_random_circuits(o.servers, c->degree);
        rings = rings_for(a->m, c->degree);
        s.ring = rings.ring;
        s.rings = rings.rings;
    }
    if (!circuits_search(&a->result, &s, a->m, &problem))
        hx_die_of(&problem);
    circuits_free(&expander);
    circuits_free(&rings);
    a->iteration = a->result.time.iteration;
}

/* SiP-ML may change circuits as often as dark times are a fifth of the time. */
double topoopt_reconfigure(const struct topoopt_answer *ideal, const struct topoopt_case *c,
                           enum topoopt_network network)
{
    const bool ocs = network == TOPOOPT_OCS;
    const double latency = TOPOOPT_LATENCY_NS * 1e-9;
    const struct reconfigure how = ocs ? reconfigure_as_ocs(c->gbps, latency) : reconfigure_as_sip_ml(c->gbps, latency);
    struct circuits first = topoopt_random_circuits(ideal->result.demand.servers, c->degree);
    const double periods = ocs ? ceil(how.period * MOST_ITERATIONS / ideal->iteration) : 1;
    const struct reconfigured r =
        reconfigure_run(&ideal->result.demand, &first, &how, (unsigned)fmin(periods, MOST_ITERATIONS));
    circuits_free(&first);
    return r.iteration;
}

struct topoopt_answer topoopt_answer(const struct topoopt_case *c, enum topoopt_network network)
{
    struct topoopt_answer a = {.m = read_model(c)};
    search(&a, c, network);
    return a;
}

void topoopt_free(struct topoopt_answer *a)
{
    circuits_result_free(&a->result);
    training_model_free(a->m);
}

/* ---- loads ---- */

double *topoopt_link_loads(const struct topoopt_answer *a, const struct topoopt_case *c, uint32_t *count)
{
    struct network_of_servers *n = make_circuits(&a->result.circuits, c);
    double *load = hx_allocate(servers_links(n), sizeof *load);
    *count = 0;
    (void)circuits_time_of(&a->result.demand, n, a->result.circuits.ring, a->result.circuits.rings, load);
    for (uint32_t link = 0; link < servers_links(n); link++)
        if (servers_rate(n, link) > 0)
            load[(*count)++] = load[link];
    qsort(load, *count, sizeof *load, hx_compare_double);
    servers_free(n);
    return load;
}
