/* graph.c - circuits as a graph: its files, and the lengths of its paths (tools/circuits/circuits.h). */
#include "base/error.h"
#include "tools/circuits/circuits.h"

#include <stdlib.h>
#include <string.h>

void circuits_write(const struct circuits *c, const struct circuits_links *l, FILE *out)
{
    for (uint32_t server = 0; server < c->servers; server++)
        fprintf(out, "forward s%u %u %u\n", server, l->forward_ns, l->forward_gbps);
    for (uint32_t i = 0; i < c->count; i++)
        fprintf(out, "s%u,s%u,%u,%u,aoc\n", c->circuit[i].a, c->circuit[i].b, l->gbps, l->latency_ns);
}

void circuits_dot(const struct circuits *c, FILE *out)
{
    fprintf(out, "graph circuits {\n    layout=circo;\n    node [shape=circle];\n");
    for (uint32_t server = 0; server < c->servers; server++)
        fprintf(out, "    s%u;\n", server);
    for (uint32_t i = 0; i < c->count; i++)
        fprintf(out, "    s%u -- s%u;\n", c->circuit[i].a, c->circuit[i].b);
    fprintf(out, "}\n");
}

/* ---- lengths of paths ---- */

/* Writes the far ends of each server's circuits, peer[servers * degree]. */
static void list_peers(const struct circuits *c, uint32_t *peer)
{
    uint32_t *count = hx_allocate(c->servers, sizeof *count);
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t a = c->circuit[i].a, b = c->circuit[i].b;
        peer[(size_t)a * c->degree + count[a]++] = b;
        peer[(size_t)b * c->degree + count[b]++] = a;
    }
    free(count);
}

/* Breadth-first search. queue: room for all servers. */
static void spread(const struct circuits *c, const uint32_t *peer, uint32_t from, uint32_t *distance, uint32_t *queue)
{
    for (uint32_t server = 0; server < c->servers; server++)
        distance[server] = CIRCUITS_APART;
    distance[from] = 0;
    queue[0] = from;
    uint32_t found = 1;
    for (uint32_t at = 0; at < found; at++) {
        const uint32_t *far = peer + (size_t)queue[at] * c->degree;
        for (unsigned i = 0; i < c->used[queue[at]]; i++) {
            if (distance[far[i]] != CIRCUITS_APART)
                continue;
            distance[far[i]] = distance[queue[at]] + 1;
            queue[found++] = far[i];
        }
    }
}

uint32_t *circuits_distances(const struct circuits *c)
{
    uint32_t *distance = hx_allocate((size_t)c->servers * c->servers, sizeof *distance);
    uint32_t *peer = hx_allocate((size_t)c->servers * c->degree + 1, sizeof *peer);
    uint32_t *queue = hx_allocate(c->servers, sizeof *queue);
    list_peers(c, peer);
    for (uint32_t from = 0; from < c->servers; from++)
        spread(c, peer, from, distance + (size_t)from * c->servers, queue);
    HX_FREE(peer, queue);
    return distance;
}

bool circuits_measure(const struct circuits *c, struct circuits_paths *p)
{
    const size_t pairs = (size_t)c->servers * c->servers;
    uint32_t *distance = circuits_distances(c);
    *p = (struct circuits_paths){.of_length = hx_allocate(c->servers, sizeof *p->of_length)};
    double sum = 0;
    bool joined = true;
    for (size_t pair = 0; pair < pairs && joined; pair++) {
        joined = distance[pair] != CIRCUITS_APART;
        if (!joined || !distance[pair])
            continue;
        p->of_length[distance[pair]]++;
        p->diameter = distance[pair] > p->diameter ? distance[pair] : p->diameter;
        sum += distance[pair];
    }
    p->mean = sum / ((double)c->servers * (c->servers - 1));
    if (!joined)
        HX_FREE(p->of_length);
    free(distance);
    return joined;
}
