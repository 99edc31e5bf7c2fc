/* graph_file.h - a graph as people write it: an edge list, or the same in YAML (*.yaml, *.yml).
 *
 *     # comments and empty lines are allowed anywhere
 *     a,b                        a link; from the third on, fields may be empty
 *     a,b,200,20,aoc             200 Gb/s, 20 ns, optical cable (trace, dac, aoc); defaults: of the run, and dac
 *     host c                     c is a host
 *     forward d                  d is a host that forwards: a switch with its host
 *     forward d 500 100          forwards a packet in 500 ns, and 100 Gb/s in all; either may be 0. A repeated
 *                                node keeps values that a line does not give
 *     switch e                   e is a switch with any number of links
 *     f                          f is a node
 *
 *     nodes:                     as YAML: nodes,
 *       - {name: d, is: forward, ns: 500, gbps: 100}
 *     links:                     and links; gbps, ns and kind are optional
 *       - {a: a, b: b, gbps: 200, ns: 20, kind: aoc}
 *
 * A name is one word. A node without a role is a host if it has one link, else a switch. */
#ifndef HXMESH_TOPOLOGY_GRAPH_FILE_H
#define HXMESH_TOPOLOGY_GRAPH_FILE_H

#include "base/lines.h"
#include "topology/fabric.h"

enum hx_graph_role { HX_GRAPH_UNSAID, HX_GRAPH_SWITCH, HX_GRAPH_HOST, HX_GRAPH_FORWARDS };

/* Kinds of link in a file: one class is reserved for the traces of hosts that forward. */
enum { HX_GRAPH_CLASSES = HX_MAX_LINK_CLASSES - 1 };

struct hx_graph_node {
    char *name;
    uint32_t number; /* in the order of the file */
    uint32_t links;
    enum hx_graph_role role; /* never HX_GRAPH_UNSAID after the file is read */
    uint32_t delay_ns, gbps; /* of forwarding; gbps 0: unlimited */
};

struct hx_graph_link {
    uint32_t a, b;
    uint8_t link_class;
};

struct hx_graph_file {
    const char *path; /* not copied */
    const char *text; /* contents of the file, not copied */
    size_t bytes;     /* length of text */
    struct hx_graph_node **node;
    uint32_t nodes;
    size_t nodes_room;
    struct hx_graph_link *link;
    uint32_t links;
    size_t links_room;
    struct hx_link_class link_class[HX_GRAPH_CLASSES];
    unsigned link_classes;
    void *by_name; /* tree of tsearch() */
};

/* The position in the file, for error messages. */
struct hx_graph_reading {
    struct hx_graph_file *g;
    const struct hx_lines *lines; /* the current line, which gives the column of its words; NULL: YAML */
    unsigned line, column;        /* column: of a YAML entry */
    struct hx_problem *problem;
};
enum { HX_GRAPH_FIELDS = 5 }; /* of a link: a, b, gbps, ns, kind; the last three may be empty */

/* What both formats of a graph share. The functions return false and set *problem, with its place, on invalid input. */
struct hx_graph_words {
    const char *name;
    const char *role;      /* "switch", "host", "forward"; NULL: not given */
    const char *ns, *gbps; /* of a host that forwards; NULL: not given */
};
bool hx_graph_add_node(const struct hx_graph_reading *r, const struct hx_graph_words *w);
bool hx_graph_add_link(const struct hx_graph_reading *r, const char *const field[HX_GRAPH_FIELDS]);
/* Reads a graph in YAML. */
bool hx_graph_read_yaml(struct hx_graph_file *g, struct hx_problem *problem);

/* Reads a graph from the text of a file; `path` selects the format. On failure there is nothing to free. */
bool hx_graph_read(struct hx_graph_file *g, const char *path, const char *text, size_t bytes,
                   struct hx_problem *problem);
void hx_graph_free(struct hx_graph_file *g);

#endif
