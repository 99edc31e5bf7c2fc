/* hosts.c - finds hosts for a job (hosts.h). */
#include "allocation/hosts.h"
#include "base/compare.h"
#include "base/rng.h"

#include <stdlib.h>

const char *const hx_hosts_rule_names[HX_HOSTS_RULES + 1] = {"contiguous", "group", "random", NULL};

static bool take_contiguous(uint32_t *host, uint32_t count, uint32_t hosts, const bool *is_free)
{
    uint32_t run = 0;
    for (uint32_t h = 0; h < hosts && run < count; h++)
        run = is_free[h] ? (host[run] = h, run + 1) : 0;
    return run == count;
}

/* The group with the fewest free hosts that suffice, else the one with most. */
static uint32_t best_group(const uint32_t *free_in, uint32_t groups, uint32_t wanted)
{
    uint32_t best = 0;
    for (uint32_t g = 1; g < groups; g++)
        if (free_in[best] < wanted ? free_in[g] > free_in[best] : free_in[g] >= wanted && free_in[g] < free_in[best])
            best = g;
    return best;
}

static bool take_groups(uint32_t *host, uint32_t count, const struct hx_fabric *f, const bool *is_free)
{
    uint32_t *free_in = hx_allocate(f->groups, sizeof *free_in);
    uint32_t taken = 0, room = 0;
    for (uint32_t h = 0; h < f->hosts; h++) {
        free_in[f->node[h].group] += is_free[h];
        room += is_free[h];
    }
    while (room >= count && taken < count) {
        uint32_t group = best_group(free_in, f->groups, count - taken);
        for (uint32_t h = 0; h < f->hosts && taken < count; h++)
            if (is_free[h] && f->node[h].group == group)
                host[taken++] = h;
        free_in[group] = 0;
    }
    free(free_in);
    return room >= count;
}

static bool take_random(uint32_t *host, uint32_t count, uint32_t hosts, const bool *is_free, uint64_t *random)
{
    uint32_t *left = hx_allocate(hosts, sizeof *left);
    uint32_t room = 0;
    for (uint32_t h = 0; h < hosts; h++)
        if (is_free[h])
            left[room++] = h;
    bool fits = room >= count;
    for (uint32_t i = 0; fits && i < count; i++) {
        uint32_t at = hx_rng_below(random, room);
        host[i] = left[at];
        left[at] = left[--room];
    }
    free(left);
    return fits;
}

bool hx_place_hosts(uint32_t *host, uint32_t count, const struct hx_fabric *f, const bool *is_free, unsigned rule,
                    uint64_t *random)
{
    bool placed = rule == HX_HOSTS_CONTIGUOUS ? take_contiguous(host, count, f->hosts, is_free)
                  : rule == HX_HOSTS_BY_GROUP ? take_groups(host, count, f, is_free)
                                              : take_random(host, count, f->hosts, is_free, random);
    if (placed)
        qsort(host, count, sizeof *host, hx_compare_uint32);
    return placed;
}
