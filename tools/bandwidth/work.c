/* work.c - bytes and times of an iteration (tools/bandwidth/work.h). */
#include "tools/bandwidth/work.h"

#include <math.h>

void bandwidth_bytes(const struct bandwidth_network *n, const struct bandwidth_need *need, double *bytes)
{
    double all = 1, before = 1;
    for (unsigned i = 0; i < n->dimensions; i++)
        all *= need->members[i];
    for (unsigned i = 0; i < n->dimensions; i++) {
        const double members = need->members[i];
        double share = 0;
        if (all > 1 && need->pattern == BANDWIDTH_COLLECTIVE)
            share = (members - 1) / (before * members) * all / (all - 1);
        else if (all > 1 && need->pattern == BANDWIDTH_EXCHANGE)
            share = (members - 1) / members * all / (all - 1);
        else if (all > 1 && need->pattern == BANDWIDTH_HALO)
            share = log2(members) / log2(all);
        else
            share = members > 1;
        bytes[i] = need->bytes * share;
        before *= members;
    }
}

/* Hops of an all-reduce, one after the other: rings step from neighbour to neighbour, a full mesh sends directly, a
 * switch is in the middle of each step of halving and doubling. */
static double hops_of(const struct bandwidth_network *n, const struct bandwidth_need *need)
{
    double hops = 0;
    for (unsigned i = 0; i < n->dimensions; i++) {
        if (need->members[i] < 2)
            continue;
        switch (n->dimension[i].kind) {
        case BANDWIDTH_RING:
            hops += 2 * (need->members[i] - 1);
            break;
        case BANDWIDTH_FC:
            hops += 2;
            break;
        case BANDWIDTH_SWITCH:
            hops += 4 * ceil(log2(need->members[i]));
            break;
        }
    }
    return hops;
}

struct bandwidth_time bandwidth_time_from(const struct bandwidth_network *n, const struct bandwidth_work *w,
                                          const double *rate, const double *seconds)
{
    struct bandwidth_time t = {.use = 0};
    double beside = 0, all = 0, before = 0;
    for (unsigned i = 0; i < w->needs; i++) {
        const struct bandwidth_need *need = &w->need[i];
        double bytes[BANDWIDTH_DIMENSIONS], sent = 0, carried = 0;
        bandwidth_bytes(n, need, bytes);
        for (unsigned d = 0; d < n->dimensions; d++) {
            sent += bytes[d];
            carried += bytes[d] > 0 ? rate[d] : 0;
        }
        *(need->data ? &t.data : &t.model) += seconds[i];
        *(need->beside ? &beside : need->data ? &t.exposed : &before) += seconds[i];
        t.use += carried > 0 ? sent / carried : 0;
        all += seconds[i];
    }
    t.exposed += before + fmax(0, beside - w->room);
    t.use = all > 0 ? t.use / all : 0;
    t.iteration = w->bubble * (w->computing + before) + t.exposed - before;
    return t;
}

struct bandwidth_time bandwidth_time_of(const struct bandwidth_network *n, const struct bandwidth_work *w,
                                        const double *rate, double latency)
{
    double seconds[BANDWIDTH_NEEDS];
    for (unsigned i = 0; i < w->needs; i++) {
        double bytes[BANDWIDTH_DIMENSIONS];
        bandwidth_bytes(n, &w->need[i], bytes);
        seconds[i] = 0;
        for (unsigned d = 0; d < n->dimensions; d++)
            if (bytes[d] > 0)
                seconds[i] = fmax(seconds[i], bytes[d] / rate[d]);
        seconds[i] += w->need[i].calls * hops_of(n, &w->need[i]) * latency;
    }
    return bandwidth_time_from(n, w, rate, seconds);
}
