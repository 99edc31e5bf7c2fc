/* chain.c - a Markov chain of strategies (tools/circuits/chain.h). */
#include "tools/circuits/chain.h"

#include "base/clock.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

static const double last_beta = 1e6; /* hardly a step that is 0.001 % slower is taken */

struct circuits_time circuits_try(const struct circuits_ground *g, const struct circuits_strategy *s)
{
    struct circuits_demand d;
    circuits_demand_of(&d, s);
    const struct circuits_time t = circuits_time_of(&d, g->network, g->ring, g->rings, NULL);
    circuits_demand_free(&d);
    return t;
}

void circuits_chain_begin(struct circuits_chain *c, const struct circuits_ground *g, const struct circuits_strategy *s,
                          double beta, uint64_t seed)
{
    *c = (struct circuits_chain){.ground = g, .meter = circuits_meter_new(g), .first_beta = beta, .random = seed};
    c->now = circuits_strategy_copy(s);
    c->best = circuits_strategy_copy(s);
    c->now_seconds = c->best_seconds = circuits_try(g, s).iteration;
}

void circuits_chain_end(struct circuits_chain *c)
{
    circuits_meter_free(c->meter);
    HX_FREE(c->now.place, c->best.place);
}

/* Of the strategy that the chain is at. */
static double seconds_of(struct circuits_chain *c)
{
    struct circuits_demand d;
    circuits_demand_of(&d, &c->now);
    const double seconds = circuits_meter_seconds(c->meter, &d);
    circuits_demand_free(&d);
    return seconds;
}

static bool accepts(struct circuits_chain *c, double seconds, double beta, double first)
{
    return hx_rng_share(&c->random) < exp(-beta * (seconds - c->now_seconds) / first);
}

void circuits_chain_go(struct circuits_chain *c, uint64_t steps, double until)
{
    const double first = c->now_seconds;
    uint64_t step = 0;
    for (; step < steps && (until <= 0 || hx_monotonic_seconds() < until); step++) {
        const double beta = c->first_beta * pow(last_beta / c->first_beta, (double)step / (double)steps);
        struct circuits_place *place = &c->now.place[hx_rng_below(&c->random, c->now.m->layers)];
        const struct circuits_place before = *place;
        *place = circuits_place_random(&c->random, c->now.servers);
        if (place->choice == before.choice && place->server == before.server)
            continue;
        const double seconds = seconds_of(c);
        if (!accepts(c, seconds, beta, first)) {
            *place = before;
            continue;
        }
        c->now_seconds = seconds;
        if (seconds < c->best_seconds) {
            c->best_seconds = seconds;
            circuits_strategy_set(&c->best, &c->now);
        }
    }
    c->best_seconds = circuits_try(c->ground, &c->best).iteration; /* without the meter's rounding */
    c->steps += step;
}
