/* hxmesh-info - what a fabric is: size, parts and cost, diameter, and the bounds of what it can carry. */
#include "host/bounds.h"
#include "host/json.h"
#include "host/spec.h"
#include "host/topology/bounds.h"

#include <inttypes.h>

struct info {
    struct hx_spec spec;
    const struct hx_fabric *g;
    struct hx_bill bill;
    struct hx_bisection bisection; /* links 0: not known */
    struct hx_distances distances;
    unsigned radix; /* ports of the greatest switch */
    double alltoall_bound;
};

static unsigned radix_of(const struct hx_fabric *g)
{
    unsigned most = 0;
    for (uint32_t node = g->hosts; node < g->nodes; node++)
        most = hx_fabric_ports(g, node) > most ? hx_fabric_ports(g, node) : most;
    return most;
}

static struct hx_bisection bisection_of(const struct hx_fabric *g)
{
    if (g->mesh.nodes)
        return hx_bisection_of(&g->mesh);
    uint64_t links = g->topology->bisection ? g->topology->bisection(g) : 0;
    return (struct hx_bisection){links, (double)links / (g->hosts * g->host_links / 2.0)};
}

static void gather(struct info *i)
{
    i->g = hx_spec_fabric(&i->spec);
    i->bill = hx_fabric_bill(i->g);
    i->bisection = bisection_of(i->g);
    i->distances = hx_fabric_distances(i->g);
    i->alltoall_bound = hx_fabric_alltoall_bound(i->g);
    i->radix = i->g->mesh.nodes ? i->spec.radix : radix_of(i->g);
}

/* ---- JSON ---- */

static json_t *network_json(const struct hx_network *n)
{
    return json_pack("{s:i, s:i, s:i}", "ports", n->ports, "leaves", n->leaves, "spines", n->spines);
}

static void add_mesh(json_t *json, const struct info *i)
{
    const struct hx_spec *s = &i->spec;
    const struct hx_geometry *m = &i->g->mesh;
    json_t *mesh = json_pack("{s:i, s:{s:i, s:i, s:i, s:i}, s:i, s:o, s:o}", "accelerators", (int)i->g->hosts, "boards",
                             "x", (int)s->x, "y", (int)s->y, "a", (int)s->a, "b", (int)s->b, "taper", (int)s->taper,
                             "row_network", network_json(&m->row), "column_network", network_json(&m->column));
    json_object_update(json, mesh);
    json_decref(mesh);
}

static json_t *to_json(const struct info *i)
{
    const struct hx_spec *s = &i->spec;
    const struct hx_fabric *g = i->g;
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i}", "spec", s->fabric, "name", s->name, "topology",
                  g->topology->word, "hosts", (int)g->hosts, "host_links", (int)g->host_links, "planes", (int)s->planes,
                  "radix", (int)i->radix, "vcs", (int)g->vcs, "nodes_per_plane", (int)g->nodes);
    json_t *rest = json_pack(
        "{s:i, s:I, s:{s:I, s:I}, s:I, s:i, s:i, s:f, s:o, s:o, s:f}", "cost_planes", (int)g->bought_planes, "switches",
        (json_int_t)i->bill.switches, "cables", "dac", (json_int_t)i->bill.cables[HX_DAC], "aoc",
        (json_int_t)i->bill.cables[HX_AOC], "cost_usd", (json_int_t)i->bill.usd, "diameter", (int)i->distances.diameter,
        "router_diameter", (int)i->distances.router_diameter, "average_distance", i->distances.average, "bisection",
        i->bisection.links ? json_integer((json_int_t)i->bisection.links) : json_null(), "bisection_share",
        i->bisection.links ? json_real(i->bisection.share) : json_null(), "alltoall_bound", i->alltoall_bound);
    json_object_update(json, rest);
    json_decref(rest);
    if (g->mesh.nodes)
        add_mesh(json, i);
    return json;
}

/* ---- for people ---- */

static void print_network(const char *which, const struct hx_network *n)
{
    if (n->spines == 0)
        printf("%-16s%u ports a line on one switch\n", which, n->ports);
    else
        printf("%-16s%u ports a line on %u leaves and %u spines\n", which, n->ports, n->leaves, n->spines);
}

static void print_mesh(const struct info *i)
{
    const struct hx_spec *s = &i->spec;
    printf("%-16s%u (%u x %u), on %u x %u boards of %u x %u\n", "accelerators", i->g->hosts, i->g->columns, i->g->rows,
           s->x, s->y, s->a, s->b);
    printf("%-16s%u emulated, of %u nodes each\n", "planes", s->planes, i->g->nodes);
    print_network("row networks", &i->g->mesh.row);
    print_network("column networks", &i->g->mesh.column);
}

static void print_other(const struct info *i)
{
    printf("%-16s%u, %u link%s each in a plane\n", "hosts", i->g->hosts, i->g->host_links,
           i->g->host_links == 1 ? "" : "s");
    printf("%-16s%u emulated, of %u nodes each\n", "planes", i->spec.planes, i->g->nodes);
    if (i->g->nodes > i->g->hosts)
        printf("%-16s%u a plane, of up to %u ports\n", "routers", i->g->nodes - i->g->hosts, i->radix);
    printf("%-16s%u\n", "VCs", i->g->vcs);
}

static void print(const struct info *i)
{
    printf("%s\n", i->spec.name);
    if (i->g->mesh.nodes)
        print_mesh(i);
    else
        print_other(i);
    unsigned planes = i->g->bought_planes;
    const char *s = planes == 1 ? "" : "s";
    printf("%-16s%" PRIu64 ", for %u plane%s\n", "switches", i->bill.switches, planes, s);
    printf("%-16s%" PRIu64 " DAC, %" PRIu64 " AoC, for %u plane%s\n", "cables", i->bill.cables[HX_DAC],
           i->bill.cables[HX_AOC], planes, s);
    printf("%-16s%.2f M$, for %u plane%s\n", "cost", (double)i->bill.usd / 1e6, planes, s);
    printf("%-16s%u cables\n", "diameter", i->distances.diameter);
    printf("%-16s%.2f cables\n", "distance", i->distances.average);
    if (i->bisection.links)
        printf("%-16s%" PRIu64 " links each way a plane, %.2f %% of what half the %s inject\n", "bisection",
               i->bisection.links, 100 * i->bisection.share, i->g->mesh.nodes ? "accelerators" : "hosts");
    printf("%-16s%.2f %% of injection at most\n", "all-to-all", 100 * i->alltoall_bound);
}

int main(int argc, char **argv)
{
    static struct hx_overrides overrides;
    static const struct hx_option options[] = {HX_OVERRIDE_OPTIONS(&overrides), HX_OPTIONS_END};
    static const struct hx_command command = {
        .program = "hxmesh info",
        .examples = {{"hxmesh info \"64x64 Hx2Mesh\"", "switches, cables, cost, diameter, bisection, bounds"},
                     {"hxmesh info \"fat-tree hosts=1024\"", "the same of another fabric"}},
        .related = "hxmesh-route hxmesh-check hxmesh-run",
        .operands = "SPEC|FILE",
        .least_operands = 1,
        .most_operands = 1,
        .summary = "Says what a fabric is made of, what it costs, how long its ways are and what it can carry.",
        .details =
            "switches, cables and cost are those of all planes that are bought, as the paper's appendix C counts them, "
            "whatever --planes emulates (cost_planes in the JSON: four of a HammingMesh). diameter and distance count "
            "the "
            "hosts' own cables; router_diameter does not. bisection is in links, each way and per plane; of a "
            "HammingMesh "
            "across the lesser of the two straight cuts through the middle of the fabric. Shares "
            "are of the links by which a host injects into a plane (bisection: that half the hosts "
            "inject). host/bounds.h derives the formulas of a HammingMesh.",
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    struct info info;
    hx_spec_load(argv[first], &overrides, &info.spec);
    gather(&info);
    if (common.json)
        hx_json_write(to_json(&info), common.json);
    else
        print(&info);
    hx_output_close(stdout, "-");
    hx_spec_free(&info.spec);
    return HX_EXIT_DONE;
}
