/* exchange.c - figures 13 and 14 of the diameter-two study: complete all-to-all and nearest neighbour exchanges. */
#include "tools/reproduce/diameter2.h"

#include <math.h>
#include <string.h>

static void bars(struct reproduce_figure *f)
{
    struct plot *p = figure_plot(f, f->title, "network", PLOT_LINEAR, PLOT_NUMBER, "share of injection (%)");
    struct plot_series *series[DIAMETER2_ROUTINGS] = {NULL};
    const char *last = NULL;
    unsigned routing = 0;
    p->bar_width = 0.8 / DIAMETER2_ROUTINGS;
    for (unsigned i = 0; i < f->plan->count; i++, routing++) {
        const struct reproduce_run *run = &f->plan->run[i];
        const char *network = diameter2_network_of(run->fabric, f->plan->effort)->name;
        if (!last || strcmp(last, network) != 0) {
            plot_category(p, last = network);
            routing = 0;
        }
        if (!series[routing])
            series[routing] = plot_add(p, PLOT_BARS, routing, "%s", diameter2_routing_of(run->fabric));
        double place = p->categories - 1 + (routing + 0.5) * p->bar_width - 0.4;
        plot_point(series[routing], place, run->state == REPRODUCE_DONE ? run->share * 100 : NAN);
    }
}

void show_exchange(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 2);
    text_table_row(t, "network", "routing", "share of injection %", "simulated us");
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        const char *network = diameter2_network_of(run->fabric, f->plan->effort)->spec;
        struct cells c = {0};
        text_table_row(t, network, diameter2_routing_of(run->fabric), cell(&c, 1, run->share * 100),
                       cell(&c, 2, run->virtual_seconds * 1e6));
        figure_result(f,
                      json_pack("{s:s, s:s, s:f, s:f}", "fabric", network, "routing", diameter2_routing_of(run->fabric),
                                "share_percent", run->share * 100, "virtual_seconds", run->virtual_seconds));
    }
    bars(f);
    figure_annotation(
        f, "Share: payload delivered until the last delivery, of what the hosts could have injected. SF+ is the "
           "Slim Fly with one host more on each router.");
    figure_annotation(
        f, "Paper: all-to-all reaches nearly 100 %% with minimal and adaptive routing and half with Valiant; the "
           "neighbour exchange about 70 %% with Valiant, nearly 100 %% on the MLFM with the best adaptive one, "
           "and on the Slim Fly 20 %% more than with Valiant.");
}
