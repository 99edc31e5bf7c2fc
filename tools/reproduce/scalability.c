/* scalability.c - figures 3 and 4 of the diameter-two study: hosts by switch radix, cost of a host in links and ports,
 * and bisection. */
#include "spec/spec.h"
#include "tools/reproduce/diameter2.h"
#include "tools/reproduce/family.h"
#include "topology/bill.h"
#include "topology/bisection.h"
#include "topology/bounds.h"

#include <math.h>

void plan_nothing(struct reproduce_plan *p)
{
    p->count = 0;
}

/* ---- figure 3 ---- */

static void radix_row(struct reproduce_figure *f, struct text_table *t, struct plot_series *const line[FAMILIES],
                      unsigned radix)
{
    struct cells c = {0};
    const char *row[FAMILIES + 1] = {cell(&c, 0, radix)};
    json_t *hosts = json_object();
    for (unsigned i = 0; i < FAMILIES; i++) {
        struct family_member m = {.hosts = NAN};
        bool there = families[i].largest(radix, &m);
        row[i + 1] = cell(&c, 0, there ? m.hosts : NAN);
        plot_point(line[i], radix, there ? m.hosts : NAN);
        (void)json_object_set_new(hosts, families[i].name, figure_number(there ? m.hosts : NAN));
    }
    text_table_cells(t, FAMILIES + 1, row);
    figure_result(f, json_pack("{s:i, s:o}", "radix", (int)radix, "hosts", hosts));
}

static unsigned used_ports(const struct hx_fabric *g)
{
    unsigned used = 0;
    for (uint32_t node = g->hosts; node < g->nodes; node++)
        for (unsigned port = 0; port < hx_fabric_ports(g, node); port++)
            used += hx_fabric_far(g, node, port).node != HX_NOWHERE;
    return used;
}

/* Figures, as of `hxmesh info`, of a fabric that the study simulated, or of a small one. */
static void parts_row(struct reproduce_figure *f, struct text_table *t, const char *text)
{
    struct hx_spec spec;
    hx_spec_load(text, NULL, &spec);
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    struct hx_bill bill = hx_fabric_bill(g, &hx_default_prices, HX_LINK_GBPS);
    struct hx_distances d = hx_fabric_distances(g);
    double ports = (double)used_ports(g) / g->hosts;
    double links = (ports + 1) / 2; /* a host's end of its own link is not a switch port */
    double usd = (double)bill.usd / g->bought_planes / g->hosts;
    struct cells c = {0};
    text_table_row(t, text, cell(&c, 0, g->hosts), cell(&c, 0, g->nodes - g->hosts), cell(&c, 2, links),
                   cell(&c, 2, ports), cell(&c, 0, d.router_diameter), cell(&c, 2, d.average), cell(&c, 0, usd));
    figure_result(f, json_pack("{s:s, s:i, s:i, s:f, s:f, s:i, s:f, s:f}", "fabric", text, "hosts", (int)g->hosts,
                               "routers", (int)(g->nodes - g->hosts), "links_per_host", links, "ports_per_host", ports,
                               "router_diameter", (int)d.router_diameter, "average_distance", d.average,
                               "usd_per_host_and_plane", usd));
    hx_spec_free(&spec);
}

/* Hosts of each family by radix: a table, and a plot. */
static void show_radixes(struct reproduce_figure *f)
{
    bool quick = f->plan->effort == REPRODUCE_QUICK;
    struct text_table *t = figure_table(f, 1);
    struct plot *p = figure_plot(f, "Hosts that switches of a radix can join (figure 3)", "ports of a switch",
                                 PLOT_LINEAR, PLOT_NUMBER, "hosts");
    p->y_scale = PLOT_DECADES;
    struct plot_series *line[FAMILIES];
    const char *head[FAMILIES + 1] = {"hosts by radix"};
    for (unsigned i = 0; i < FAMILIES; i++) {
        line[i] = plot_add(p, PLOT_LINE, i, "%s", families[i].name);
        head[i + 1] = families[i].name;
    }
    text_table_cells(t, FAMILIES + 1, head);
    for (unsigned radix = FAMILY_LEAST_RADIX; radix <= (quick ? 16 : FAMILY_MOST_RADIX); radix += 4)
        radix_row(f, t, line, radix);
}

/* Links, ports and distances of some fabrics. */
static void parts_table(struct reproduce_figure *f)
{
    static const char *const small[] = {
        "slim-fly q=5 p=3", "slim-fly q=5 p=4", "mlfm h=5", "oft k=5", "fat-tree hosts=128 radix=16 levels=2", NULL};
    static const char *const papers[] = {"slim-fly q=13 p=9",
                                         "slim-fly q=13 p=10",
                                         "mlfm h=15",
                                         "oft k=12",
                                         "fat-tree hosts=2048 radix=64 levels=2",
                                         "fat-tree hosts=3456 radix=24 levels=3",
                                         "hyperx 15x15 p=15",
                                         "dragonfly a=14 p=7 h=7 groups=99",
                                         NULL};
    struct text_table *t = figure_table(f, 1);
    text_table_row(t, "fabric", "hosts", "routers", "links a host", "ports a host", "router diameter", "distance",
                   "$ a host");
    for (const char *const *each = f->plan->effort == REPRODUCE_QUICK ? small : papers; *each; each++)
        parts_row(f, t, *each);
}

void show_scalability(struct reproduce_figure *f)
{
    show_radixes(f);
    parts_table(f);
    figure_annotation(f,
                      "Links with the hosts' own; ports of switches that something hangs on; distance in links, the "
                      "hosts' own included, on average; dollars of one plane, by appendix C of the HammingMesh paper.");
    figure_annotation(
        f, "Paper: its three diameter-two designs cost two links and three switch ports a host, and the OFT has "
           "twice the hosts of the others at the same cost. Its curves are plotted; values read off a plot are "
           "left out.");
}

/* ---- figure 4 ---- */

static void bisection_row(struct reproduce_figure *f, struct text_table *t, struct plot_series *line, const char *text)
{
    struct hx_spec spec;
    hx_spec_load(text, NULL, &spec);
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    struct hx_halves halves = hx_fabric_bisection(g);
    struct cells c = {0};
    text_table_row(t, text, cell(&c, 0, g->hosts), cell(&c, 0, (double)halves.links), cell(&c, 3, halves.share),
                   halves.exact ? "formula" : "search");
    figure_result(f, json_pack("{s:s, s:i, s:I, s:f, s:b}", "fabric", text, "hosts", (int)g->hosts, "bisection",
                               (json_int_t)halves.links, "share", halves.share, "exact", halves.exact));
    plot_point(line, g->hosts, halves.share);
    hx_spec_free(&spec);
}

void show_bisection(struct reproduce_figure *f)
{
    enum { QUICK_SIZES = 2 };
    struct text_table *t = figure_table(f, 1);
    text_table_row(t, "fabric", "hosts", "links between halves", "of what half the hosts inject", "by");
    struct plot *p = figure_plot(f, "What crosses the middle (figure 4)", "hosts", PLOT_LINEAR, PLOT_NUMBER,
                                 "bisection, of what half the hosts inject");
    for (unsigned i = 0; i < FAMILIES; i++) {
        struct plot_series *line = plot_add(p, PLOT_LINE, i, "%s", families[i].name);
        const char *const *specs = families[i].specs;
        for (unsigned n = 0; specs && specs[n] && (n < QUICK_SIZES || f->plan->effort != REPRODUCE_QUICK); n++)
            bisection_row(f, t, line, specs[n]);
    }
    figure_annotation(f,
                      "By search: the best halves found (topology/bisection.h), so the bisection is that or less. The "
                      "paper partitioned with METIS, which finds the same, at most 2 %% less (docs/reproduce.md).");
    figure_annotation(f, "Paper: a plotted curve; values read off a plot are left out.");
}
