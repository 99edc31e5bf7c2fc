/* network.c - networks of dimensions (tools/bandwidth/work.h). */
#include "tools/bandwidth/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_SIDE = 1 << 20, MOST_NPUS = 1 << 24 };

static const char *const words[] = {"Ring", "FC", "Switch"};
enum { WORDS = sizeof words / sizeof *words };

/* Reads "Ring(8)" and returns what follows it; NULL: it is not there. */
static const char *read_dimension(const char *text, struct bandwidth_dimension *d)
{
    for (unsigned i = 0; i < WORDS; i++) {
        size_t length = strlen(words[i]);
        if (strncasecmp(text, words[i], length) != 0 || text[length] != '(')
            continue;
        const char *number = text + length + 1;
        size_t digits = strspn(number, "0123456789");
        if (digits == 0 || digits > 7 || number[digits] != ')')
            return NULL;
        *d = (struct bandwidth_dimension){(enum bandwidth_kind)i, (unsigned)strtoul(number, NULL, 10)};
        return number + digits + 1;
    }
    return NULL;
}

bool bandwidth_network_read(struct bandwidth_network *n, const char *text, struct hx_problem *problem)
{
    const char *rest = text;
    *n = (struct bandwidth_network){.dimensions = 0};
    do {
        if (n->dimensions == BANDWIDTH_DIMENSIONS)
            return hx_fail(problem, HX_EXIT_CONFIG, text, "has more than %d dimensions", BANDWIDTH_DIMENSIONS);
        struct bandwidth_dimension *d = &n->dimension[n->dimensions++];
        rest = read_dimension(rest, d);
        if (rest && strncmp(rest, " gbps=", 6) == 0)
            return hx_fail(problem, HX_EXIT_CONFIG, text, "has rates, which are the answer (leave gbps= out)");
        if (!rest || (*rest && *rest != '_'))
            return hx_fail(problem, HX_EXIT_CONFIG, text,
                           "is no network of dimensions (write Ring(K), FC(K) and Switch(K), joined by '_')");
        if (d->size < 2 || d->size > MOST_SIDE)
            return hx_fail(problem, HX_EXIT_CONFIG, text, "has a dimension of %u: 2 to %d are possible", d->size,
                           MOST_SIDE);
    } while (*rest++);
    if (bandwidth_npus(n) > MOST_NPUS)
        return hx_fail(problem, HX_EXIT_CONFIG, text, "has more than %d NPUs", MOST_NPUS);
    return true;
}

const char *bandwidth_network_write(const struct bandwidth_network *n, char text[BANDWIDTH_NAME])
{
    size_t used = 0;
    for (unsigned i = 0; i < n->dimensions; i++)
        used += (size_t)snprintf(text + used, BANDWIDTH_NAME - used, "%s%s(%u)", i ? "_" : "",
                                 words[n->dimension[i].kind], n->dimension[i].size);
    return text;
}

uint64_t bandwidth_npus(const struct bandwidth_network *n)
{
    uint64_t npus = 1;
    for (unsigned i = 0; i < n->dimensions && npus <= MOST_NPUS; i++)
        npus *= n->dimension[i].size;
    return npus;
}

/* Coordinates of the group along a dimension: 0, step, 2 step, ... Fills members and stride. */
static bool take_coordinates(const struct bandwidth_dimension *dimension, uint64_t begin, unsigned d,
                             struct bandwidth_need *need, const uint32_t *rank, uint32_t ranks)
{
    uint64_t step = dimension->size, last = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        const uint64_t at = rank[i] / begin % dimension->size;
        step = at > 0 && at < step ? at : step;
        last = at > last ? at : last;
    }
    need->members[d] = last > 0 ? (unsigned)(last / step) + 1 : 1;
    need->stride[d] = begin * step;
    return last == 0 || (last % step == 0 && dimension->size % (last + step) == 0);
}

bool bandwidth_place(const struct bandwidth_network *n, struct bandwidth_need *need, const uint32_t *rank,
                     uint32_t ranks)
{
    uint64_t begin = 1, product = 1;
    for (unsigned d = 0; d < n->dimensions; d++) {
        if (!take_coordinates(&n->dimension[d], begin, d, need, rank, ranks))
            return false;
        product *= need->members[d];
        begin *= n->dimension[d].size;
    }
    return product == ranks;
}

double bandwidth_cost(const struct bandwidth_network *n, const double *rate, const struct hx_prices *p)
{
    const double of_switch = p->gbyte_cable + p->gbyte_nic + p->gbyte_port;
    double dollars = 0;
    for (unsigned i = 0; i < n->dimensions; i++)
        dollars += rate[i] / 1e9 * (n->dimension[i].kind == BANDWIDTH_SWITCH ? of_switch : p->gbyte_cable / 2);
    return dollars * (double)bandwidth_npus(n);
}
