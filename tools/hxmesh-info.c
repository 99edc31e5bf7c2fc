/* hxmesh-info - reports a fabric's size, parts, cost, diameter and bounds; compares fabrics; writes the graph for other
 * tools. */
#include "base/error.h"
#include "base/json.h"
#include "tools/info/figures.h"
#include "tools/info/graph_text.h"

#include <stdlib.h>

enum { MOST_SPECS = 64 };

static struct {
    struct hx_overrides sizes;
    bool compare;
    struct injection_wish wish;
    const char *columns;
    const char *dot;
    const char *edges;
    const char *prices_file;
    struct hx_prices prices;
} asked;

static struct columns columns;

static void compare(char *const *specs, unsigned count, const char *json)
{
    struct figures *all = hx_allocate(count, sizeof *all);
    for (unsigned i = 0; i < count; i++)
        figures_load(&all[i], specs[i], &asked.sizes, &asked.prices);
    figures_equal(all, count, &asked.wish);
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list, figures_json(&all[i]));
    if (!hx_output_is_stdout(json))
        figures_compare(all, count, &columns);
    if (json)
        hx_json_write(list, json);
    else
        json_decref(list);
    for (unsigned i = 0; i < count; i++)
        figures_free(&all[i]);
    free(all);
}

static void write_graph(const char *spec)
{
    struct hx_spec s;
    hx_spec_load(spec, &asked.sizes, &s);
    if (asked.dot)
        graph_text_dot(hx_spec_fabric(&s), s.name, asked.dot);
    if (asked.edges)
        graph_text_edges(hx_spec_fabric(&s), s.name, asked.edges);
    hx_spec_free(&s);
}

/* Prints a fabric's figures or writes them as JSON. */
static void show(const char *spec, const char *json)
{
    struct figures f;
    figures_load(&f, spec, &asked.sizes, &asked.prices);
    if (json)
        hx_json_write(figures_json(&f), json);
    else
        figures_print(&f);
    figures_free(&f);
}

static void check_operands(char *const *specs, unsigned count)
{
    if (!asked.compare && count > 1)
        hx_die(HX_EXIT_USAGE, specs[1], "unexpected argument (quote a fabric that has a space: \"4x4 Hx2Mesh\")");
    if (asked.compare && (asked.dot || asked.edges))
        hx_die(HX_EXIT_USAGE, "--compare", "is not for --dot and --edges, which write one fabric");
}

int main(int argc, char **argv)
{
    static const struct hx_option options[] = {
        {HX_FLAG("compare", &asked.compare,
                 "several fabrics beside each other: a table, or a list of what --json says of each")},
        INJECTION_OPTIONS(&asked.wish),
        {HX_STRING("columns", "FIGURE,...", &asked.columns,
                   "with --compare: the figures of the table, as --json calls them"),
         .otherwise = "as many as fit 80 letters"},
        {HX_STRING("dot", "FILE|-", &asked.dot,
                   "write one plane's graph for Graphviz; - for stdout instead of the figures")},
        {HX_STRING("edges", "FILE|-", &asked.edges,
                   "write one plane's links, a,b,gbps,ns,kind, as `graph FILE` reads them; - for stdout instead of the "
                   "figures")},
        HX_PRICES_OPTION(&asked.prices_file),
        HX_OVERRIDE_OPTIONS(&asked.sizes),
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh info", "hxmesh-topologies hxmesh-route hxmesh-check hxmesh-run"),
        .examples = {{"hxmesh info \"64x64 Hx2Mesh\"", "switches, cables, cost, diameter, bisection, bounds"},
                     {"hxmesh info \"fat-tree hosts=1024\"", "the same of another fabric"},
                     {"hxmesh info --compare --equal-injection \"16x16 Hx2Mesh\" \"fat-tree hosts=1024\" \"torus 32x32 "
                      "board=2x2\"",
                      "what each is made of, costs and can carry, in a table"},
                     {"hxmesh info \"slim-fly q=5\" --edges -", "its links, for other tools"}},
        HX_OPERANDS("SPEC|FILE", 1, MOST_SPECS),
        .summary = "Says what a fabric is made of, what it costs, how long its paths are and what it can carry.",
        .details =
            "switches, cables and cost are those of all planes that are bought, as the paper's appendix C counts them, "
            "whatever --planes emulates (cost_planes in the JSON: four of a HammingMesh). diameter and distance count "
            "the hosts' own cables; router_diameter does not. bisection is in links, each way and per plane: by "
            "formula, or where there is none (bisection_exact false) of the best halves that a search found, so that "
            "it is that or less. The straight cut of a HammingMesh goes between two columns or rows in the middle. "
            "Shares are of the links by which a host injects into a plane (bisection: that half the "
            "hosts "
            "inject). The price of a global link is the cost for all links' rate by which all hosts can send to all "
            "others at once: cost / (hosts * links * planes * alltoall_bound). --compare puts first what a host can "
            "inject, what of it all-to-all can be at most, and the cost for each Gb/s of that: equal injection makes "
            "these prices comparable. topology/mesh_bounds.h derives the formulas of a "
            "HammingMesh.",
        .options = options,
        .file_keys = hx_prices_print_keys};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    hx_options_need(&command, &common, "compare", (const char *const[]){"equal-injection", "columns", NULL});
    hx_options_need(&command, &common, "equal-injection", (const char *const[]){"injection", NULL});
    if (asked.columns)
        columns_read(&columns, asked.columns);
    figures_check_columns(&columns);
    asked.prices = hx_prices_take(asked.prices_file);
    unsigned count = (unsigned)(argc - first);
    const struct hx_output outputs[] = {{"--json", common.json}, {"--dot", asked.dot}, {"--edges", asked.edges}};
    check_operands(argv + first, count);
    hx_outputs_apart(outputs, sizeof outputs / sizeof *outputs);
    if (asked.dot || asked.edges)
        write_graph(argv[first]);
    if (asked.compare)
        compare(argv + first, count, common.json);
    else if (common.json || !(hx_output_is_stdout(asked.dot) || hx_output_is_stdout(asked.edges)))
        show(argv[first], common.json);
    hx_output_close(stdout, "-");
    return HX_EXIT_DONE;
}
