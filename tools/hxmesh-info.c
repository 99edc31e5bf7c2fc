/* hxmesh-info - what a fabric is: size, parts and cost, diameter, and the bounds of what it can carry. */
#include "host/bounds.h"
#include "host/json.h"
#include "host/spec.h"
#include "tools/ways/cost.h"

#include <inttypes.h>

struct info {
    struct hx_spec spec;
    struct hx_geometry g;
    struct hx_cost cost;
    struct hx_bisection bisection;
    unsigned diameter;
    double alltoall_bound;
};

static void gather(struct info *i)
{
    i->g = hx_spec_geometry(&i->spec);
    i->cost = hx_cost_of(&i->g);
    i->bisection = hx_bisection_of(&i->g);
    i->diameter = hx_diameter(&i->g);
    i->alltoall_bound = hx_alltoall_bound(&i->g);
}

static json_t *network_json(const struct hx_network *n)
{
    return json_pack("{s:i, s:i, s:i}", "ports", n->ports, "leaves", n->leaves, "spines", n->spines);
}

static json_t *to_json(const struct info *i)
{
    const struct hx_spec *s = &i->spec;
    json_t *json = json_pack("{s:s, s:s, s:i, s:{s:i, s:i, s:i, s:i}, s:i, s:i, s:i, s:i}", "spec", s->fabric, "name",
                             s->name, "accelerators", (int)i->g.accelerators, "boards", "x", (int)s->x, "y", (int)s->y,
                             "a", (int)s->a, "b", (int)s->b, "planes", (int)s->planes, "radix", (int)s->radix, "taper",
                             (int)s->taper, "nodes_per_plane", (int)i->g.nodes);
    json_t *rest = json_pack(
        "{s:o, s:o, s:i, s:I, s:{s:I, s:I}, s:I, s:i, s:I, s:f, s:f}", "row_network", network_json(&i->g.row),
        "column_network", network_json(&i->g.column), "cost_planes", HX_COST_PLANES, "switches",
        (json_int_t)i->cost.switches, "cables", "dac", (json_int_t)i->cost.dac, "aoc", (json_int_t)i->cost.aoc,
        "cost_usd", (json_int_t)i->cost.usd, "diameter", (int)i->diameter, "bisection", (json_int_t)i->bisection.links,
        "bisection_share", i->bisection.share, "alltoall_bound", i->alltoall_bound);
    json_object_update(json, rest);
    json_decref(rest);
    return json;
}

static void print_network(const char *which, const struct hx_network *n)
{
    if (n->spines == 0)
        printf("%-16s%u ports a line on one switch\n", which, n->ports);
    else
        printf("%-16s%u ports a line on %u leaves and %u spines\n", which, n->ports, n->leaves, n->spines);
}

static void print(const struct info *i)
{
    const struct hx_spec *s = &i->spec;
    printf("%s\n", s->name);
    printf("%-16s%u (%u x %u), on %u x %u boards of %u x %u\n", "accelerators", i->g.accelerators, i->g.columns,
           i->g.rows, s->x, s->y, s->a, s->b);
    printf("%-16s%u emulated, of %u nodes each\n", "planes", s->planes, i->g.nodes);
    print_network("row networks", &i->g.row);
    print_network("column networks", &i->g.column);
    printf("%-16s%" PRIu64 ", for %d planes\n", "switches", i->cost.switches, HX_COST_PLANES);
    printf("%-16s%" PRIu64 " DAC, %" PRIu64 " AoC, for %d planes\n", "cables", i->cost.dac, i->cost.aoc,
           HX_COST_PLANES);
    printf("%-16s%.2f M$, for %d planes\n", "cost", (double)i->cost.usd / 1e6, HX_COST_PLANES);
    printf("%-16s%u cables\n", "diameter", i->diameter);
    printf("%-16s%" PRIu64 " links each way a plane, %.2f %% of what half the accelerators inject\n", "bisection",
           i->bisection.links, 100 * i->bisection.share);
    printf("%-16s%.2f %% of injection at most\n", "all-to-all", 100 * i->alltoall_bound);
}

int main(int argc, char **argv)
{
    static struct hx_overrides overrides;
    static const struct hx_option options[] = {HX_OVERRIDE_OPTIONS(&overrides), HX_OPTIONS_END};
    static const struct hx_command command = {
        .program = "hxmesh info",
        .examples = {{"hxmesh info \"64x64 Hx2Mesh\"", "switches, cables, cost, diameter, bisection, bounds"}},
        .related = "hxmesh-route hxmesh-check hxmesh-run",
        .operands = "SPEC|FILE",
        .least_operands = 1,
        .most_operands = 1,
        .summary = "Says what a fabric is made of, what it costs, how long its ways are and what it can carry.",
        .details =
            "switches, cables and cost are those of four planes, as the paper's appendix C counts them, whatever "
            "--planes emulates (cost_planes in the JSON). bisection is in links of 400 Gb/s, each way and per "
            "plane, across the lesser of the two straight cuts through the middle of the fabric. Shares "
            "are of the four links that an accelerator injects into a plane (bisection: that half the "
            "accelerators inject). host/bounds.h derives the formulas.",
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
