/* plan.c - the simulations of an experiment (tools/reproduce/plan.h). */
#include "tools/reproduce/plan.h"

#include <stdio.h>
#include <string.h>

const char *const reproduce_efforts[] = {"quick", "default", "full"};

/* ---- from data ---- */

static void add_run(struct reproduce_plan *p, const struct reproduce_run *run)
{
    if (p->count == REPRODUCE_MOST_RUNS)
        return;
    struct reproduce_run *to = &p->run[p->count++];
    *to = *run;
    if (to->text[0])
        to->fabric = to->text;
}

static void add_loads(struct reproduce_plan *p, const struct plan_load *load, struct reproduce_run *run)
{
    for (unsigned i = 0; i < PLAN_LOADS; i++) {
        for (const double *rate = load[i].rate[p->effort]; *rate > 0; rate++) {
            run->traffic = load[i].traffic;
            run->rate = *rate;
            add_run(p, run);
        }
    }
}

static bool is_end(const struct plan_way *way)
{
    return !way->algorithm && !way->place && !way->routing;
}

void plan_add(struct reproduce_plan *p, const struct plan_batch *b, uint64_t bytes, unsigned seed)
{
    const enum reproduce_effort e = p->effort;
    const unsigned ways = b->ways[e] ? b->ways[e] : PLAN_WAYS;
    for (unsigned f = 0; f < b->fabrics; f++) {
        for (unsigned w = 0; w < ways && (w == 0 || !is_end(&b->way[w])); w++) {
            const struct plan_way *way = &b->way[w];
            const bool chance = b->load || b->shifts[e] || (way->place && strcmp(way->place, "random") == 0);
            struct reproduce_run run = {.fabric = b->fabric[f].spec[e],
                                        .traffic = b->traffic,
                                        .algorithm = way->algorithm,
                                        .place = way->place,
                                        .bytes = bytes,
                                        .shifts = b->shifts[e],
                                        .seed = chance ? PLAN_SEED : seed,
                                        .duration = b->duration[e],
                                        .warm_up = b->duration[e] ? b->duration[e] / b->warm_up : 0,
                                        .timing = b->timing,
                                        .buffer = b->buffer};
            if (way->routing)
                (void)snprintf(run.text, sizeof run.text, "%s routing=%s", run.fabric, way->routing);
            if (b->load)
                add_loads(p, b->load, &run);
            else
                add_run(p, &run);
        }
    }
}

static void add_size(struct reproduce_plan *p, const struct plan_runs *r, uint64_t bytes, unsigned seed)
{
    for (const struct plan_batch *b = r->batch; b < r->batch + r->batches; b++) {
        const uint64_t most = b->bytes[p->effort];
        if (bytes ? b->least <= bytes && bytes <= most : most > 0)
            plan_add(p, b, bytes ? bytes : most, seed);
    }
}

void plan_add_all(struct reproduce_plan *p, const struct plan_runs *r)
{
    const uint64_t least = r->least[p->effort];
    const unsigned seeds = r->seeds[p->effort];
    for (unsigned seed = seeds > 0; seed <= seeds; seed++) {
        if (least == 0)
            add_size(p, r, 0, seed);
        for (uint64_t bytes = least; bytes && bytes <= 4 * GIB; bytes *= 4)
            add_size(p, r, bytes, seed);
    }
}

/* ---- after the runs ---- */

unsigned plan_fabrics(const struct reproduce_plan *p, const char *fabrics[REPRODUCE_MOST_FABRICS])
{
    unsigned count = 0;
    for (unsigned i = 0; i < p->count; i++) {
        unsigned known = 0;
        while (known < count && strcmp(fabrics[known], p->run[i].fabric) != 0)
            known++;
        if (known == count && count < REPRODUCE_MOST_FABRICS)
            fabrics[count++] = p->run[i].fabric;
    }
    return count;
}

const struct reproduce_run *plan_next_done(const struct reproduce_plan *p, const struct reproduce_run *last)
{
    const struct reproduce_run *run = last ? last + 1 : p->run;
    while (run < p->run + p->count && run->state != REPRODUCE_DONE)
        run++;
    return run < p->run + p->count ? run : NULL;
}

const struct reproduce_run *plan_next_of(const struct reproduce_plan *p, const char *fabric,
                                         const struct reproduce_run *last)
{
    const struct reproduce_run *run = plan_next_done(p, last);
    while (run && strcmp(run->fabric, fabric) != 0)
        run = plan_next_done(p, run);
    return run;
}
