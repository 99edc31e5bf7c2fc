/* cycle.c - finds a cycle depth first, then a short one breadth first (cycle.h). */
#include "cycle.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>

enum { UNSEEN, ON_PATH, LEFT };

struct step {
    uint32_t vertex;
    unsigned next; /* next edge to follow */
};

/* Follows edges from `root`. Returns a vertex on a cycle, or CYCLE_NONE if no new vertex is on one. */
static uint32_t follow(const struct cycle_graph *g, uint32_t root, uint8_t *state, struct step *path)
{
    uint32_t length = 0;
    path[length++] = (struct step){root, 0};
    state[root] = ON_PATH;
    while (length) {
        struct step *last = &path[length - 1];
        uint32_t to = g->next(g->of, last->vertex, last->next++);
        if (to == CYCLE_NONE) {
            state[last->vertex] = LEFT;
            length--;
        } else if (state[to] == ON_PATH) {
            return to;
        } else if (state[to] == UNSEEN) {
            state[to] = ON_PATH;
            path[length++] = (struct step){to, 0};
        }
    }
    return CYCLE_NONE;
}

static uint32_t on_a_cycle(const struct cycle_graph *g)
{
    uint8_t *state = hx_allocate(g->vertices, 1);
    struct step *path = hx_allocate(g->vertices, sizeof *path);
    uint32_t found = CYCLE_NONE;
    for (uint32_t root = 0; root < g->vertices && found == CYCLE_NONE; root++) {
        if (state[root] == UNSEEN)
            found = follow(g, root, state, path);
    }
    free(path);
    free(state);
    return found;
}

/* Writes the path from `start` to `last`. Returns its length. */
static uint32_t write_back(const uint32_t *from, uint32_t start, uint32_t last, uint32_t *cycle)
{
    uint32_t length = 1;
    for (uint32_t v = last; v != start; v = from[v])
        length++;
    uint32_t at = length;
    for (uint32_t v = last; v != start; v = from[v])
        cycle[--at] = v;
    cycle[0] = start;
    return length;
}

static uint32_t shortest_through(const struct cycle_graph *g, uint32_t start, uint32_t *cycle)
{
    uint32_t *from = hx_allocate(g->vertices, sizeof *from);
    uint32_t *queue = hx_allocate(g->vertices, sizeof *queue);
    uint32_t length = 0;
    uint32_t tail = 0;
    for (uint32_t v = 0; v < g->vertices; v++)
        from[v] = CYCLE_NONE;
    queue[0] = start;
    for (uint32_t head = 1; tail < head && length == 0; tail++) {
        uint32_t to;
        for (unsigned n = 0; (to = g->next(g->of, queue[tail], n)) != CYCLE_NONE && length == 0; n++) {
            if (to == start) {
                length = write_back(from, start, queue[tail], cycle);
            } else if (from[to] == CYCLE_NONE) {
                from[to] = queue[tail];
                queue[head++] = to;
            }
        }
    }
    free(queue);
    free(from);
    return length;
}

uint32_t cycle_find(const struct cycle_graph *g, uint32_t *cycle)
{
    uint32_t start = g->vertices ? on_a_cycle(g) : CYCLE_NONE;
    return start == CYCLE_NONE ? 0 : shortest_through(g, start, cycle);
}
