/* support_graph.h - a HammingMesh plane as a plain graph, to check the firmware's routing against.
 *
 * Written from the design alone: boards, edges, lines, crossbars and two-level trees. It uses no code of firmware/
 * and searches by brute force. Only the numbering is shared, as include/hxmesh/geometry.h documents it: accelerators
 * by rank, row networks by line, column networks by line; leaves before spines; E W N S; a leaf's ports to boards
 * before its uplinks. */
#ifndef HXMESH_TESTS_SUPPORT_GRAPH_H
#define HXMESH_TESTS_SUPPORT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

enum { GRAPH_NOTHING = -1, GRAPH_UNREACHED = 0xFFFF };
enum graph_port { GRAPH_E, GRAPH_W, GRAPH_N, GRAPH_S, GRAPH_LOCAL };
enum graph_kind { GRAPH_BOARD, GRAPH_ROW, GRAPH_COLUMN };

/* Layer of a packet: the networks it has crossed or is in. A path crosses one row network and one column network at
 * most. */
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
    int *first;            /* per node: first port in `far`; nodes + 1 entries */
    struct graph_end *far; /* per port */
};

/* Switches of a line with this many board edges; false: they cannot be joined. */
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

/* Layer after the cable from `sender` to `receiver`; GRAPH_NOTHING: the path crossed that network already. */
int graph_layer(const struct graph *g, int layer, int sender, int receiver);

/* Cables to `to` from every (node, layer), by breadth-first search: distance[node * GRAPH_LAYERS + layer], or
 * GRAPH_UNREACHED. */
void graph_distances(const struct graph *g, int to, uint16_t *distance);

/* Ports of `node` one cable nearer for a packet of that layer. */
uint64_t graph_nearer(const struct graph *g, const uint16_t *distance, int node, int layer);

/* Candidates of an accelerator's switch: graph_nearer with the north-last rule. moved_north: on this board. */
uint64_t graph_offered(const struct graph *g, const uint16_t *distance, int node, int layer, bool moved_north);

/* Whether a minimal path leads from `from` to `to` that enters no blocked board and never turns from north to east
 * or west on a board. blocked: per board. */
bool graph_can_reach(const struct graph *g, const uint16_t *distance, int from, int to, const bool *blocked);

#endif
