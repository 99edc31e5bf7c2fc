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
    static const char *const head[] = {"10", "25", "40", "100", "200", "mean", "paper"};
    enum { RATES = sizeof rates / sizeof *rates };
    char title[NAME];
    (void)snprintf(title, sizeof title, "over %s", names[base]);
    struct text_table *t = figure_matrix(f, title, RATES + 2, head);
    for (unsigned n = 0; n < NETWORKS; n++) {
        double number[RATES + 2] = {0}, sum = 0;
        for (unsigned r = 0; r < RATES; r++)
            sum += number[r] = usd_of(n, rates[r]) / usd_of(base, rates[r]);
        number[RATES] = sum / RATES;
        number[RATES + 1] = paper_of(f, n);
        figure_numbers(t, names[n], 2, RATES + 2, number);
    }
}

static const char columns[] = "|network|text; |degree|count; |gbps|count; |servers|count; |musd|3";

static void show_servers(struct reproduce_figure *f, unsigned degree, unsigned gbps)
{
    static const unsigned servers[] = {128, 250, 432, 686, 1024, 2000}; /* radix^3 / 4 */
    static const char *const head[] = {"128", "250", "432", "686", "1024", "2000"};
    enum { SIZES = sizeof servers / sizeof *servers };
    char title[NAME];
    struct plot *p =
        figure_plot(f, "servers", PLOT_LINEAR, "M$", "Cost, d = %u, %u Gb/s (Wang et al., figure 10)", degree, gbps);
    (void)snprintf(title, sizeof title, "M$ by servers, d = %u, %u Gb/s", degree, gbps);
    struct text_table *t = figure_matrix(f, title, SIZES, head);
    for (unsigned n = 0; n < NETWORKS; n++) {
        double musd[SIZES];
        struct plot_series *line = plot_add(p, PLOT_LINE, n, "%s", names[n]);
        for (unsigned s = 0; s < SIZES; s++) {
            musd[s] = (double)servers[s] * degree * usd_of(n, gbps) / 1e6;
            plot_point(line, servers[s], musd[s]);
            figure_row(f, NULL, columns, TEXTS(names[n]), NUMBERS(degree, gbps, servers[s], musd[s]));
        }
        figure_numbers(t, names[n], 3, SIZES, musd);
    }
}

void show_topoopt_cost(struct reproduce_figure *f)
{
    show_servers(f, 4, 100);
    show_servers(f, 8, 200);
    show_ratios(f, PANEL);
    show_ratios(f, LOOKAHEAD);
}
