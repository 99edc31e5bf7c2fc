/* exchange.c - figures 13 and 14 of the diameter-two study: complete all-to-all and nearest neighbour exchanges. */
#include "tools/reproduce/diameter2.h"

#include <math.h>
#include <string.h>

static const char columns[] = "network|fabric|text; routing|routing|text; share of injection %|share_percent|1; "
                              "simulated us|virtual_seconds|2 x 1e6";

static void bars(struct reproduce_figure *f)
{
    struct plot *p = figure_plot(f, "network", PLOT_LINEAR, "share of injection (%)", "%s", f->title);
    struct plot_series *series[PLAN_WAYS] = {NULL};
    const char *last = NULL;
    unsigned routing = 0;
    p->bar_width = 0.8 / PLAN_WAYS;
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
    struct text_table *t = figure_table(f, 2, columns);
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        const struct diameter2_network *network = diameter2_network_of(run->fabric, f->plan->effort);
        figure_row(f, t, columns, TEXTS(diameter2_spec_of(network, f->plan->effort), diameter2_routing_of(run->fabric)),
                   NUMBERS(run->share * 100, run->virtual_seconds));
    }
    bars(f);
}
