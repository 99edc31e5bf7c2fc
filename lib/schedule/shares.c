/* shares.c - sizes of the pairs of an all-to-all (shares.h). */
#include "schedule/shares.h"
#include "base/error.h"
#include "hxmesh/error.h"

#include <math.h>
#include <stdlib.h>

static uint64_t sum_of(const uint32_t *weight, uint32_t members)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < (size_t)members * members; i++)
        sum += weight[i];
    return sum;
}

bool shares_are_good(const uint32_t *weight, uint32_t members)
{
    return members >= 1 && members <= SHARES_MOST && sum_of(weight, members) > 0;
}

bool shares_reach_all(const uint32_t *weight, uint32_t members)
{
    for (size_t i = 0; i < (size_t)members * members; i++) {
        if (weight[i] == 0)
            return false;
    }
    return true;
}

double shares_of_others(const uint32_t *weight, uint32_t members)
{
    uint64_t own = 0;
    for (size_t i = 0; i < members; i++)
        own += weight[i * members + i];
    return 1 - (double)own / (double)sum_of(weight, members);
}

/* The sizes at a position: `outgoing`, then `incoming`. */
static size_t numbers_of(uint32_t members)
{
    return 2 * ((size_t)members + 1);
}

static uint64_t share_of(uint64_t all, uint32_t weight, uint64_t sum)
{
    __extension__ typedef unsigned __int128 wide;
    return sum ? (uint64_t)((wide)all * weight / sum) : 0;
}

void shares_set(struct hx_collective_config *config, const uint32_t *weight)
{
    const uint32_t n = config->size;
    const unsigned element = hx_collective_element((enum hx_collective_type)config->type);
    const uint64_t all = config->bytes / element * n;
    const uint64_t sum = sum_of(weight, n);
    uint64_t *sizes = hx_allocate(n * numbers_of(n), sizeof *sizes);
    uint64_t most = 0;
    for (uint32_t position = 0; position < n; position++) {
        uint64_t *outgoing = sizes + position * numbers_of(n);
        uint64_t *incoming = outgoing + n + 1;
        for (uint32_t i = 0; i < n; i++) {
            outgoing[i + 1] = outgoing[i] + share_of(all, weight[(size_t)position * n + i], sum);
            incoming[i + 1] = incoming[i] + share_of(all, weight[(size_t)i * n + position], sum);
        }
        most = outgoing[n] > most ? outgoing[n] : most;
    }
    config->position = 0;
    config->outgoing = sizes;
    config->incoming = sizes + n + 1;
    config->bytes = most * element;
}

void shares_free(const struct hx_collective_config *config)
{
    if (config->outgoing)
        free((void *)(uintptr_t)(config->outgoing - config->position * numbers_of(config->size)));
}

struct shares_bytes shares_bytes_of(const struct hx_collective_config *config)
{
    struct hx_collective_config c = *config;
    const double element = hx_collective_element((enum hx_collective_type)c.type);
    const double equal = (double)c.bytes / c.size * (c.size - 1);
    struct shares_bytes bytes = {0, 0, 0, 0};
    if (!c.outgoing)
        return (struct shares_bytes){(double)c.bytes, equal, equal, (double)c.bytes};
    for (uint32_t position = 0; position < c.size; position++) {
        shares_move(&c, position);
        const double own = element * (double)(c.outgoing[position + 1] - c.outgoing[position]);
        const double out = element * (double)c.outgoing[c.size];
        const double in = element * (double)c.incoming[c.size];
        bytes.mean += out;
        bytes.sent += out - own;
        bytes.fullest = fmax(bytes.fullest, fmax(out, in) - own);
        bytes.longest = fmax(bytes.longest, fmax(out, in));
    }
    bytes.mean /= c.size;
    bytes.sent /= c.size;
    return bytes;
}

bool shares_are_possible(const struct hx_collective_config *config)
{
    struct hx_collective_config c = *config;
    const uint32_t positions = c.outgoing ? c.size : 1;
    for (uint32_t i = 0; i < positions; i++) {
        if (c.outgoing)
            shares_move(&c, i);
        if (hx_collective_check(&c) != HX_OK)
            return false;
    }
    return true;
}

void shares_move(struct hx_collective_config *config, uint32_t position)
{
    if (config->outgoing) {
        const uint64_t *sizes = config->outgoing - config->position * numbers_of(config->size);
        config->outgoing = sizes + position * numbers_of(config->size);
        config->incoming = config->outgoing + config->size + 1;
    }
    config->position = position;
}
