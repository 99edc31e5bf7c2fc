/* scalability.c - figures 3 and 4 of the diameter-two study: hosts by switch radix, cost of a host in links and ports,
 * and bisection. */
#include "spec/spec.h"
#include "tools/reproduce/diameter2.h"
#include "tools/reproduce/family.h"
#include "topology/bill.h"
#include "topology/bisection.h"
#include "topology/bounds.h"

#include <math.h>

/* ---- figure 3 ---- */

static unsigned used_ports(const struct hx_fabric *g)
{
    unsigned used = 0;
    for (uint32_t node = g->hosts; node < g->nodes; node++)
        for (unsigned port = 0; port < hx_fabric_ports(g, node); port++)
            used += hx_fabric_far(g, node, port).node != HX_NOWHERE;
    return used;
}

static const char columns[] =
    "fabric|fabric|text; hosts|hosts|count; routers|routers|count; links a host|links_per_host|2; "
    "ports a host|ports_per_host|2; router diameter|router_diameter|count; distance|average_distance|2; "
    "$ a host|usd_per_host_and_plane|0";

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
    figure_row(f, t, columns, TEXTS(text),
               NUMBERS(g->hosts, g->nodes - g->hosts, links, ports, d.router_diameter, d.average,
                       (double)bill.usd / g->bought_planes / g->hosts));
    hx_spec_free(&spec);
}

/* Hosts of each family by radix: a table, and a plot. */
static void show_radixes(struct reproduce_figure *f)
{
    const unsigned most = f->plan->effort == REPRODUCE_QUICK ? 16 : FAMILY_MOST_RADIX;
    struct plot *p =
        figure_plot(f, "ports of a switch", PLOT_LINEAR, "hosts", "Hosts that switches of a radix can join (figure 3)");
    const char *name[FAMILIES];
    p->y_scale = PLOT_DECADES;
    for (unsigned i = 0; i < FAMILIES; i++) {
        name[i] = families[i].name;
        (void)plot_add(p, PLOT_LINE, i, "%s", name[i]);
    }
    struct text_table *t = figure_matrix(f, "hosts by radix", FAMILIES, name);
    for (unsigned radix = FAMILY_LEAST_RADIX; radix <= most; radix += 4) {
        double hosts[FAMILIES];
        char text[16];
        json_t *by_family = json_object();
        for (unsigned i = 0; i < FAMILIES; i++) {
            char key[64];
            struct family_member m;
            (void)snprintf(key, sizeof key, "|%s|0", name[i]);
            hosts[i] = families[i].largest(radix, &m) ? m.hosts : NAN;
            plot_point(&p->series[i], radix, hosts[i]);
            figure_keys(by_family, key, NULL, &hosts[i]);
        }
        (void)snprintf(text, sizeof text, "%u", radix);
        figure_numbers(t, text, 0, FAMILIES, hosts);
        (void)json_array_append_new(f->results, json_pack("{s:i, s:o}", "radix", (int)radix, "hosts", by_family));
    }
}

void show_scalability(struct reproduce_figure *f)
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
    show_radixes(f);
    struct text_table *t = figure_table(f, 1, columns);
    for (const char *const *each = f->plan->effort == REPRODUCE_QUICK ? small : papers; *each; each++)
        parts_row(f, t, *each);
}

/* ---- figure 4 ---- */

static const char bisection_columns[] = "fabric|fabric|text; hosts|hosts|count; links between halves|bisection|count; "
                                        "of what half the hosts inject|share|3; by||text; |exact|flag";

static void bisection_row(struct reproduce_figure *f, struct text_table *t, struct plot_series *line, const char *text)
{
    struct hx_spec spec;
    hx_spec_load(text, NULL, &spec);
    const struct hx_fabric *g = hx_spec_fabric(&spec);
    struct hx_halves halves = hx_fabric_bisection(g);
    figure_row(f, t, bisection_columns, TEXTS(text, halves.exact ? "formula" : "search"),
               NUMBERS(g->hosts, (double)halves.links, halves.share, halves.exact));
    plot_point(line, g->hosts, halves.share);
    hx_spec_free(&spec);
}

void show_bisection(struct reproduce_figure *f)
{
    enum { QUICK_SIZES = 2 };
    struct text_table *t = figure_table(f, 1, bisection_columns);
    struct plot *p = figure_plot(f, "hosts", PLOT_LINEAR, "bisection, of what half the hosts inject",
                                 "What crosses the middle (figure 4)");
    for (unsigned i = 0; i < FAMILIES; i++) {
        struct plot_series *line = plot_add(p, PLOT_LINE, i, "%s", families[i].name);
        const char *const *specs = families[i].specs;
        for (unsigned n = 0; specs && specs[n] && (n < QUICK_SIZES || f->plan->effort != REPRODUCE_QUICK); n++)
            bisection_row(f, t, line, specs[n]);
    }
}
