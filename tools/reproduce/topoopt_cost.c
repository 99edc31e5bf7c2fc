/* topoopt_cost.c - figure 10 of TopoOpt: what networks cost (tools/reproduce/topoopt.h). */
#include "tools/circuits/costs.h"
#include "tools/reproduce/topoopt.h"

#include <math.h>

enum { PANEL, LOOKAHEAD, OCS, SIP_ML, EXPANDER, TAPERED, IDEAL, NETWORKS, NAME = 48 };

/* Dollars of an interface of a server, with its share of the network. */
static double usd_of(unsigned network, unsigned gbps)
{
    const struct hx_prices *p = &circuits_prices;
    switch (network) {
    case PANEL:
        return hx_circuit_usd(p, HX_CIRCUIT_PANEL, gbps);
    case LOOKAHEAD:
        return hx_circuit_usd(p, HX_CIRCUIT_LOOKAHEAD, gbps);
    case OCS:
    case SIP_ML:
        return hx_circuit_usd(p, HX_CIRCUIT_OCS, gbps);
    case EXPANDER:
        return hx_circuit_usd(p, HX_CIRCUIT_FIBRE, gbps);
    case TAPERED:
        return hx_tree_usd(p, CIRCUITS_TREE_LEVELS, 2, gbps);
    default:
        return hx_tree_usd(p, CIRCUITS_TREE_LEVELS, 1, gbps);
    }
}

static const char *const names[NETWORKS] = {[PANEL] = "TopoOpt, patch panels",
                                            [LOOKAHEAD] = "TopoOpt, look-ahead",
                                            [OCS] = "TopoOpt, OCS",
                                            [SIP_ML] = "SiP-ML",
                                            [EXPANDER] = "expander",
                                            [TAPERED] = "2:1 tree",
                                            [IDEAL] = "ideal switch"};

/* Of the paper: over TopoOpt, and OCS over panels, of which it does not say whether they are look-ahead ones. */
static double paper_of(const struct reproduce_figure *f, unsigned network)
{
    return figure_paper(f, network == IDEAL ? 3.2 : network == OCS ? 1.33 : NAN);
}

static void show_ratios(struct reproduce_figure *f, unsigned base)
{
    static const unsigned rates[] = {10, 25, 40, 100, 200};
    enum { RATES = sizeof rates / sizeof *rates };
    struct text_table *t = figure_table(f, 1);
    char head[NAME];
    (void)snprintf(head, sizeof head, "over %s", names[base]);
    text_table_row(t, head, "10", "25", "40", "100", "200", "mean", "paper");
    for (unsigned n = 0; n < NETWORKS; n++) {
        struct cells c = {0};
        const char *row[RATES + 3] = {names[n]};
        double sum = 0;
        for (unsigned r = 0; r < RATES; r++) {
            const double ratio = usd_of(n, rates[r]) / usd_of(base, rates[r]);
            row[1 + r] = cell(&c, 2, ratio);
            sum += ratio;
        }
        row[1 + RATES] = cell(&c, 2, sum / RATES);
        row[2 + RATES] = cell(&c, 2, paper_of(f, n));
        text_table_cells(t, RATES + 3, row);
    }
}

static void show_servers(struct reproduce_figure *f, unsigned degree, unsigned gbps)
{
    static const unsigned servers[] = {128, 250, 432, 686, 1024, 2000}; /* radix^3 / 4 */
    enum { SIZES = sizeof servers / sizeof *servers };
    char title[PLOT_TEXT];
    (void)snprintf(title, sizeof title, "Cost, d = %u, %u Gb/s (Wang et al., figure 10)", degree, gbps);
    struct plot *p = figure_plot(f, title, "servers", PLOT_LINEAR, PLOT_NUMBER, "M$");
    struct text_table *t = figure_table(f, 1);
    (void)snprintf(title, sizeof title, "M$ by servers, d = %u, %u Gb/s", degree, gbps);
    text_table_row(t, title, "128", "250", "432", "686", "1024", "2000");
    for (unsigned n = 0; n < NETWORKS; n++) {
        struct cells c = {0};
        const char *row[1 + SIZES] = {names[n]};
        struct plot_series *line = plot_add(p, PLOT_LINE, n, "%s", names[n]);
        for (unsigned s = 0; s < SIZES; s++) {
            const double musd = (double)servers[s] * degree * usd_of(n, gbps) / 1e6;
            row[1 + s] = cell(&c, 3, musd);
            plot_point(line, servers[s], musd);
            figure_result(f, json_pack("{s:s, s:i, s:i, s:i, s:f}", "network", names[n], "degree", (int)degree, "gbps",
                                       (int)gbps, "servers", (int)servers[s], "musd", musd));
        }
        text_table_cells(t, 1 + SIZES, row);
    }
}

void show_topoopt_cost(struct reproduce_figure *f)
{
    show_servers(f, 4, 100);
    show_servers(f, 8, 200);
    show_ratios(f, PANEL);
    show_ratios(f, LOOKAHEAD);
    figure_annotation(f,
                      "Prices: examples/prices/topoopt.yaml. A server has d interfaces of B; trees have three levels. "
                      "Ratios are by Gb/s, for any d and any number of servers.");
    figure_annotation(f, "An interface at a patch panel: NIC, transceiver, panel port and fibre of 500 m. Look-ahead: "
                         "two panel ports, two 1x2 switches. SiP-ML is priced as an OCS, an expander without panels.");
}
