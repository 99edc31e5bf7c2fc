/* collective_estimate.c - the messages of a collective's steps (collective_estimate.h). */
#include "workload/collective_estimate.h"
#include "schedule/shares.h"

#include <math.h>
#include <string.h>

/* Bytes on a link: whole blocks. */
static double in_blocks(double bytes)
{
    return estimate_larger(1, ceil(bytes / HX_BLOCK)) * HX_BLOCK;
}

static void take_pair(struct collective_estimate *e, unsigned stripe, const struct hx_collective_config *config,
                      const struct hx_collective_move *move)
{
    const double messages = estimate_larger(1, ceil((double)move->sent / config->chunk));
    const double chunk = in_blocks((double)move->sent / messages);
    if (move->to != UINT32_MAX)
        e->pair[e->pairs++] = (struct collective_pair){.from = stripe * config->size + config->position,
                                                       .to = stripe * config->size + move->to,
                                                       .bytes = messages * chunk,
                                                       .chunk = chunk,
                                                       .messages = messages};
}

void estimate_take_step(struct collective_estimate *e, unsigned stripe, unsigned phase, uint32_t step)
{
    struct hx_collective_config config = e->job.config;
    if (step >= hx_collective_steps(&config, stripe, phase))
        return;
    for (uint32_t position = 0; position < config.size; position++) {
        struct hx_collective_move move;
        shares_move(&config, position);
        hx_collective_move(&config, stripe, phase, step, &move);
        take_pair(e, stripe, &config, &move);
    }
}

void estimate_lay_pairs(struct collective_estimate *e, uint32_t first, bool acknowledged, struct link_bytes *alone)
{
    const uint32_t n = e->job.config.size;
    for (uint32_t i = first; i < e->pairs; i++) {
        struct collective_pair *pair = &e->pair[i];
        const double bytes = pair->bytes + (acknowledged ? pair->messages * HX_BLOCK : 0);
        pair->path = collective_loads_path(e->loads, e->job.host[pair->from % n], e->job.host[pair->to % n]);
        collective_loads_lay_few(e->loads, &pair->path, bytes, &e->loads->step);
        if (alone)
            collective_loads_lay_few(e->loads, &pair->path, bytes, alone);
    }
}

double estimate_last_packet(const struct collective_pair *pair)
{
    const double bytes = pair->chunk < HX_MAX_PAYLOAD ? pair->chunk : HX_MAX_PAYLOAD;
    return bytes * (pair->path.last - pair->path.slowness);
}

static double worst(const struct collective_estimate *e, const struct collective_pair *pair,
                    const struct link_bytes *laid)
{
    return collective_loads_worst(e->loads, &pair->path, laid->bytes) + estimate_last_packet(pair);
}

void estimate_lay_step(struct collective_estimate *e, unsigned phase, uint32_t step, bool acknowledged)
{
    e->pairs = 0;
    collective_loads_begin(e->loads);
    link_bytes_clear(&e->loads->step);
    for (unsigned stripe = 0; stripe < e->stripes; stripe++) {
        const uint32_t first = e->pairs;
        link_bytes_clear(&e->loads->alone);
        estimate_take_step(e, stripe, phase, step);
        estimate_lay_pairs(e, first, acknowledged, &e->loads->alone);
        for (uint32_t i = first; i < e->pairs; i++)
            e->pair[i].alone = worst(e, &e->pair[i], &e->loads->alone);
    }
    for (uint32_t i = 0; i < e->pairs; i++)
        e->pair[i].worst = e->stripes == 1 ? e->pair[i].alone : worst(e, &e->pair[i], &e->loads->step);
}

void estimate_keep(const struct collective_estimate *e, double times)
{
    link_bytes_add(&e->loads->total, &e->loads->step, times);
    if (e->has_bytes)
        link_bytes_add(&e->loads->bytes, &e->loads->step, times);
}

uint32_t estimate_steps(const struct collective_estimate *e, unsigned phase)
{
    uint32_t most = 0;
    for (unsigned stripe = 0; stripe < e->stripes; stripe++) {
        const uint32_t steps = hx_collective_steps(&e->job.config, stripe, phase);
        most = steps > most ? steps : most;
    }
    return most;
}

void estimate_start(const struct collective_estimate *e)
{
    memset(e->ready, 0, (size_t)e->stripes * e->job.config.size * sizeof *e->ready);
}

double estimate_latest(const struct collective_estimate *e, unsigned stripe)
{
    double most = 0;
    for (uint32_t i = 0; i < e->job.config.size; i++)
        most = estimate_larger(most, e->ready[stripe * e->job.config.size + i]);
    return most;
}
