/* support_graph.h - a HammingMesh plane as a plain graph, for tests that judge the firmware's routing.
 *
 * Written from the words of the design alone: boards, edges, lines, crossbars and two-level trees. It uses nothing of
 * firmware/ and searches by brute force. Only the numbering is shared with the firmware, as include/hxmesh/geometry.h
 * documents it: accelerators by rank, row networks by line, column networks by line; leaves before spines; E W N S;
 * a leaf's ports to boards before its uplinks. */
#ifndef HXMESH_TESTS_SUPPORT_GRAPH_H
#define HXMESH_TESTS_SUPPORT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

enum { GRAPH_NOTHING = -1, GRAPH_UNREACHED = 0xFFFF };
enum graph_port { GRAPH_E, GRAPH_W, GRAPH_N, GRAPH_S, GRAPH_LOCAL };
enum graph_kind { GRAPH_BOARD, GRAPH_ROW, GRAPH_COLUMN };

/* A packet may cross a row network once and a column network once. Which it has crossed (or is in) is its layer. */
enum { GRAPH_CROSSED_ROW = 1, GRAPH_CROSSED_COLUMN = 2, GRAPH_LAYERS = 4 };

struct graph_shape {
    int a, b, x, y, radix, taper;
};

struct graph_end {
    int node; /* GRAPH_NOTHING: no cable */
    int port;
};

struct graph {
    struct graph_shape shape;
    int columns, rows, accelerators, nodes;
    enum graph_kind *kind; /* per node */
    int *first;            /* per node: its first port in far; nodes + 1 entries */
    struct graph_end *far; /* per port */
};

/* Switches of a line with so many board edges; false: they cannot be joined. */
struct graph_tree {
    int leaves, spines, down, up;
};
bool graph_tree_of(int edges, int radix, int taper, struct graph_tree *tree);

bool graph_build(struct graph *g, struct graph_shape shape);
void graph_free(struct graph *g);

int graph_ports(const struct graph *g, int node);
struct graph_end graph_far(const struct graph *g, int node, int port);
/* Whether the port leads off the board. */
bool graph_leaves_board(const struct graph *g, int node, int port);
int graph_board(const struct graph *g, int node);

/* Layer after taking the cable from `sender` to `receiver`; GRAPH_NOTHING: that network was crossed before. */
int graph_layer(const struct graph *g, int layer, int sender, int receiver);

/* Cables to `to` from every (node, layer): distance[node * GRAPH_LAYERS + layer], GRAPH_UNREACHED if there is no way.
 * By breadth-first search over the whole graph. */
void graph_distances(const struct graph *g, int to, uint16_t *distance);

/* Ports of `node` that bring a packet of that layer one cable nearer. */
uint64_t graph_nearer(const struct graph *g, const uint16_t *distance, int node, int layer);

/* graph_nearer with the north-last rule: what an accelerator's switch may offer. moved_north: on this board. */
uint64_t graph_offered(const struct graph *g, const uint16_t *distance, int node, int layer, bool moved_north);

/* Whether a packet can go from `from` to `to` on minimal ways without landing on a barred board and without turning
 * from north to east or west on a board. barred: per board. */
bool graph_can_reach(const struct graph *g, const uint16_t *distance, int from, int to, const bool *blocked);

#endif
