/* graph_file.h - a graph as people write it: an edge list, or the same in YAML (*.yaml, *.yml).
 *
 *     # comments and empty lines are free
 *     a,b                        a link; fields may be left empty from the third on
 *     a,b,200,20,aoc             of 200 Gb/s, 20 ns, an optical cable (trace, dac, aoc); else as the run has it, and dac
 *     host c                     c is a host
 *     forward d                  d is a host that forwards: a switch with its host in it
 *     forward d 500 100          that takes 500 ns to pass a packet on, and passes on 100 Gb/s in all; either may be 0. Of a node
 *                                that was named before, what is not said stays
 *     switch e                   e is a switch, however many links it has
 *     f                          there is f
 *
 *     nodes:                     as YAML: what nodes are,
 *       - {name: d, is: forward, ns: 500, gbps: 100}
 *     links:                     and links; gbps, ns and kind may be left out
 *       - {a: a, b: b, gbps: 200, ns: 20, kind: aoc}
 *
 * A name is one word. What is not said to be anything is a host if it has one link, else a switch. */
#ifndef HXMESH_TOPOLOGY_GRAPH_FILE_H
#define HXMESH_TOPOLOGY_GRAPH_FILE_H

#include "base/lines.h"
#include "topology/fabric.h"

enum hx_graph_role { HX_GRAPH_UNSAID, HX_GRAPH_SWITCH, HX_GRAPH_HOST, HX_GRAPH_FORWARDS };

/* Kinds of link that a file may have: one class is kept for the traces of hosts that forward. */
enum { HX_GRAPH_CLASSES = HX_MAX_LINK_CLASSES - 1 };

struct hx_graph_node {
    char *name;
    uint32_t number; /* in the order of the file */
    uint32_t links;
    enum hx_graph_role role; /* never HX_GRAPH_UNSAID once the file is read */
    uint32_t delay_ns, gbps; /* of forwarding; gbps 0: as fast as links are */
};

struct hx_graph_link {
    uint32_t a, b;
    uint8_t link_class;
};

struct hx_graph_file {
    const char *path; /* not copied */
    const char *text; /* what the file says, likewise; */
    size_t bytes;     /* so much */
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

/* Where in the file one is, for what is wrong there. */
struct hx_graph_reading {
    struct hx_graph_file *g;
    const struct hx_lines *lines; /* whose line the words stand in, each with its column; NULL: of YAML */
    unsigned line, column;        /* column: of a YAML entry */
    struct hx_problem *problem;
};
enum { HX_GRAPH_FIELDS = 5 }; /* of a link: a, b, gbps, ns, kind; from the third on they may be empty */

/* What the two ways to write a graph share. False, and the problem says where and why: it cannot be. */
struct hx_graph_words {
    const char *name;
    const char *role;      /* "switch", "host", "forward"; NULL: not said */
    const char *ns, *gbps; /* of one that forwards; NULL: not said */
};
bool hx_graph_add_node(const struct hx_graph_reading *r, const struct hx_graph_words *w);
bool hx_graph_add_link(const struct hx_graph_reading *r, const char *const field[HX_GRAPH_FIELDS]);
/* Adds what a YAML file says. */
bool hx_graph_read_yaml(struct hx_graph_file *g, struct hx_problem *problem);

/* Of a file of that name which says so. On failure there is nothing to free. */
bool hx_graph_read(struct hx_graph_file *g, const char *path, const char *text, size_t bytes,
                   struct hx_problem *problem);
void hx_graph_free(struct hx_graph_file *g);

#endif
