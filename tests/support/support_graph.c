/* support_graph.c - plain graphs, to check routing against (support_graph.h). */
#include "tests/support/support_graph.h"

#include <stdlib.h>
#include <string.h>

bool graph_tree_of(int edges, int radix, int taper, struct graph_tree *tree)
{
    *tree = (struct graph_tree){.leaves = 1, .down = edges};
    if (edges <= radix)
        return true;
    tree->down = radix * taper / (taper + 1);
    tree->up = radix - tree->down;
    if (tree->down == 0 || tree->up == 0)
        return false;
    while (tree->leaves * tree->down < edges)
        tree->leaves++;
    /* The fewest spines that take all uplinks. A spine has the same number of cables, or one less, to every leaf. */
    for (tree->spines = 1; tree->spines <= tree->up; tree->spines++) {
        int most_cables = 0;
        for (int up = 0; up < tree->up; up += tree->spines)
            most_cables++;
        if (most_cables * tree->leaves <= radix)
            return true;
    }
    return false;
}

static void join(struct graph *g, int node, int port, int other, int other_port)
{
    g->far[g->first[node] + port] = (struct graph_end){other, other_port};
    g->far[g->first[other] + other_port] = (struct graph_end){node, port};
}

/* Adds the network of one line between leaves and spines; `base`: its first switch. Spines number their ports
 * in cabling order, leaf by leaf. */
static void join_tree(struct graph *g, const struct graph_tree *t, int base)
{
    int *used = calloc((size_t)t->spines + 1, sizeof *used);
    for (int leaf = 0; leaf < t->leaves; leaf++)
        for (int up = 0; up < t->up; up++) {
            int spine = up % t->spines;
            join(g, base + leaf, t->down + up, base + t->leaves + spine, used[spine]++);
        }
    free(used);
}

static void add_switches(struct graph *g, const struct graph_tree *t, enum graph_kind kind, int lines, int *node)
{
    for (int line = 0; line < lines; line++)
        for (int s = 0; s < t->leaves + t->spines; s++) {
            int ports = t->down + t->up;
            if (s >= t->leaves) {
                ports = 0;
                for (int up = s - t->leaves; up < t->up; up += t->spines)
                    ports += t->leaves;
            }
            g->kind[*node] = kind;
            g->first[*node + 1] = g->first[*node] + ports;
            (*node)++;
        }
}

static void join_boards(struct graph *g)
{
    for (int gy = 0; gy < g->rows; gy++)
        for (int gx = 0; gx < g->columns; gx++) {
            int node = gy * g->columns + gx;
            if ((gx + 1) % g->shape.a != 0)
                join(g, node, GRAPH_E, node + 1, GRAPH_W);
            if ((gy + 1) % g->shape.b != 0)
                join(g, node, GRAPH_S, node + g->columns, GRAPH_N);
        }
}

static void join_edges(struct graph *g, const struct graph_tree *row, const struct graph_tree *column)
{
    int row_base = g->accelerators;
    int column_base = row_base + g->rows * (row->leaves + row->spines);
    for (int line = 0; line < g->rows; line++) {
        int base = row_base + line * (row->leaves + row->spines);
        for (int board = 0; board < g->shape.x; board++) {
            int west = line * g->columns + board * g->shape.a;
            int east = west + g->shape.a - 1;
            join(g, west, GRAPH_W, base + 2 * board / row->down, 2 * board % row->down);
            join(g, east, GRAPH_E, base + (2 * board + 1) / row->down, (2 * board + 1) % row->down);
        }
        join_tree(g, row, base);
    }
    for (int line = 0; line < g->columns; line++) {
        int base = column_base + line * (column->leaves + column->spines);
        for (int board = 0; board < g->shape.y; board++) {
            int north = board * g->shape.b * g->columns + line;
            int south = north + (g->shape.b - 1) * g->columns;
            join(g, north, GRAPH_N, base + 2 * board / column->down, 2 * board % column->down);
            join(g, south, GRAPH_S, base + (2 * board + 1) / column->down, (2 * board + 1) % column->down);
        }
        join_tree(g, column, base);
    }
}

bool graph_build(struct graph *g, struct graph_shape shape)
{
    struct graph_tree row;
    struct graph_tree column;
    *g = (struct graph){.shape = shape, .columns = shape.a * shape.x, .rows = shape.b * shape.y};
    if (!graph_tree_of(2 * shape.x, shape.radix, shape.taper, &row) ||
        !graph_tree_of(2 * shape.y, shape.radix, shape.taper, &column))
        return false;
    g->accelerators = g->columns * g->rows;
    g->nodes = g->accelerators + g->rows * (row.leaves + row.spines) + g->columns * (column.leaves + column.spines);
    g->kind = calloc((size_t)g->nodes, sizeof *g->kind);
    g->first = calloc((size_t)g->nodes + 1, sizeof *g->first);
    int node = 0;
    for (; node < g->accelerators; node++)
        g->first[node + 1] = g->first[node] + GRAPH_LOCAL + 1;
    add_switches(g, &row, GRAPH_ROW, g->rows, &node);
    add_switches(g, &column, GRAPH_COLUMN, g->columns, &node);
    g->far = calloc((size_t)g->first[g->nodes], sizeof *g->far);
    for (int port = 0; port < g->first[g->nodes]; port++)
        g->far[port].node = GRAPH_NOTHING;
    join_boards(g);
    join_edges(g, &row, &column);
    return true;
}

void graph_free(struct graph *g)
{
    free(g->kind);
    free(g->first);
    free(g->far);
    memset(g, 0, sizeof *g);
}

int graph_ports(const struct graph *g, int node)
{
    return g->first[node + 1] - g->first[node];
}

struct graph_end graph_far(const struct graph *g, int node, int port)
{
    return g->far[g->first[node] + port];
}

bool graph_leaves_board(const struct graph *g, int node, int port)
{
    int next = graph_far(g, node, port).node;
    return g->kind[node] == GRAPH_BOARD && next != GRAPH_NOTHING && g->kind[next] != GRAPH_BOARD;
}

int graph_board(const struct graph *g, int node)
{
    return node / g->columns / g->shape.b * g->shape.x + node % g->columns / g->shape.a;
}

int graph_layer(const struct graph *g, int layer, int sender, int receiver)
{
    if (g->kind[sender] != GRAPH_BOARD || g->kind[receiver] == GRAPH_BOARD)
        return layer;
    int crossed = g->kind[receiver] == GRAPH_ROW ? GRAPH_CROSSED_ROW : GRAPH_CROSSED_COLUMN;
    return (layer & crossed) != 0 ? GRAPH_NOTHING : layer | crossed;
}

void graph_distances(const struct graph *g, int to, uint16_t *distance)
{
    int count = g->nodes * GRAPH_LAYERS;
    int *queue = malloc((size_t)count * sizeof *queue);
    int head = 0;
    int tail = 0;
    for (int i = 0; i < count; i++)
        distance[i] = GRAPH_UNREACHED;
    for (int layer = 0; layer < GRAPH_LAYERS; layer++) {
        distance[to * GRAPH_LAYERS + layer] = 0;
        queue[tail++] = to * GRAPH_LAYERS + layer;
    }
    while (head < tail) { /* backwards, over predecessors */
        int node = queue[head] / GRAPH_LAYERS;
        int layer = queue[head] % GRAPH_LAYERS;
        uint16_t cables = distance[queue[head++]];
        for (int port = 0; port < graph_ports(g, node); port++) {
            int before = graph_far(g, node, port).node;
            for (int from = 0; before != GRAPH_NOTHING && from < GRAPH_LAYERS; from++) {
                int state = before * GRAPH_LAYERS + from;
                if (graph_layer(g, from, before, node) != layer || distance[state] != GRAPH_UNREACHED)
                    continue;
                distance[state] = (uint16_t)(cables + 1);
                queue[tail++] = state;
            }
        }
    }
    free(queue);
}

uint64_t graph_nearer(const struct graph *g, const uint16_t *distance, int node, int layer)
{
    uint64_t set = 0;
    for (int port = 0; port < graph_ports(g, node); port++) {
        int next = graph_far(g, node, port).node;
        int behind = next == GRAPH_NOTHING ? GRAPH_NOTHING : graph_layer(g, layer, node, next);
        if (behind != GRAPH_NOTHING &&
            distance[next * GRAPH_LAYERS + behind] + 1 == distance[node * GRAPH_LAYERS + layer])
            set |= (uint64_t)1 << port;
    }
    return set;
}

uint64_t graph_offered(const struct graph *g, const uint16_t *distance, int node, int layer, bool moved_north)
{
    if (distance[node * GRAPH_LAYERS + layer] == 0)
        return (uint64_t)1 << GRAPH_LOCAL;
    uint64_t set = graph_nearer(g, distance, node, layer);
    uint64_t exits = 0;
    for (int port = GRAPH_E; port <= GRAPH_S; port++)
        if (graph_leaves_board(g, node, port))
            exits |= (uint64_t)1 << port;
    uint64_t x_steps = set & ((uint64_t)1 << GRAPH_E | (uint64_t)1 << GRAPH_W);
    bool x_done = x_steps == 0;
    if (!x_done && (x_steps & exits) == 0)
        set &= ~((uint64_t)1 << GRAPH_N) | exits;
    return moved_north ? set & (exits | (uint64_t)1 << GRAPH_N) : set;
}

/* Depth-first search over (node, layer, moved north); `seen` has a byte for each. */
struct reach {
    const struct graph *g;
    const uint16_t *distance;
    const bool *blocked;
    bool *seen;
};

static bool reach_from(struct reach *r, int node, int layer, bool moved_north)
{
    const struct graph *g = r->g;
    bool *seen = &r->seen[(node * GRAPH_LAYERS + layer) * 2 + moved_north];
    if (*seen || (g->kind[node] == GRAPH_BOARD && r->blocked[graph_board(g, node)]))
        return false;
    *seen = true;
    if (r->distance[node * GRAPH_LAYERS + layer] == 0)
        return true;
    uint64_t set = graph_nearer(g, r->distance, node, layer);
    for (int port = 0; port < graph_ports(g, node); port++) {
        if (!(set >> port & 1))
            continue;
        bool on_board = g->kind[node] == GRAPH_BOARD && !graph_leaves_board(g, node, port);
        if (moved_north && on_board && port != GRAPH_N)
            continue;
        int next = graph_far(g, node, port).node;
        if (reach_from(r, next, graph_layer(g, layer, node, next), on_board && port == GRAPH_N))
            return true;
    }
    return false;
}

bool graph_can_reach(const struct graph *g, const uint16_t *distance, int from, int to, const bool *blocked)
{
    struct reach r = {g, distance, blocked, calloc((size_t)g->nodes * GRAPH_LAYERS * 2, sizeof(bool))};
    bool found = !blocked[graph_board(g, to)] && reach_from(&r, from, 0, false);
    free(r.seen);
    return found;
}
