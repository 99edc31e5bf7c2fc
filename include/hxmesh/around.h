/* around.h - routes around dead links of a HammingMesh.
 *
 * Routes are a function of the set of dead links alone. Nodes that know the same set agree, in any order of news.
 * Two rules, in this order:
 *
 * 1. Shortest living path under the rule of route.h (north-last on a board, VC + 1 at each board crossing, at most
 *    two crossings). It may leave or enter a board by another edge, cross on another line, or over another board.
 *    Where minimal paths live, they are these. The order of VCs and turns is that of healthy routes, so routes of any
 *    two sets may mix, node by node, without a cycle of dependencies.
 * 2. Where rule 1 has no path, the source injects on the escape VC, HX_ESCAPE_VC. A packet stays on it. Its path goes
 *    first up, then down, in an order of nodes: by distance from a root, over living links. All nodes that living links
 *    join reach each other so. The order depends on the set. A node that learns of a change computes the routes of its
 *    waiting packets anew, and gives back those that may not go on; so a cycle that two sets form together lasts only
 *    until the news is everywhere.
 *
 * Data flow. The platform keeps what a node knows in hx_dead_links, and calls hx_around_begin() after each change, when
 * the tables are built. It clears the entries of destinations for which healthy routes may be dead. So a packet to one
 * of these has no candidates in the tables, and the switch asks hx_around_ports(). The first question for a destination
 * searches breadth-first from this node; the answer is kept. Without dead links nothing of this is touched.
 *
 * With two crossings a packet meets only boards in the rows and columns of its source and destination. So a search
 * visits four boards and their networks, or those of one row or column: microseconds, whatever the fabric's size. A
 * search on the escape VC visits the whole fabric, once for all destinations.
 *
 * The caller owns all memory. One thread uses an hx_around and its hx_around_search. */
#ifndef HXMESH_AROUND_H
#define HXMESH_AROUND_H

#include "hxmesh/geometry.h"
#include "hxmesh/route.h"

#include "hxmesh/begin.h"

enum { HX_ESCAPE_VC = HX_MESH_VCS /* after the VCs of board crossings */ };

/* The links of a plane that a node knows to be dead. */
struct hx_dead_links {
    uint8_t *accelerator; /* [accelerators]: ports, 1 << HX_E ... */
    uint64_t *tree;       /* [nodes - accelerators]: ports */
    uint32_t *board;      /* [y][x]: dead links at that board */
    uint32_t *column;     /* [x]: dead links at boards of that column, and between switches of its networks */
    uint32_t *row;        /* [y]: dead links between switches of networks of that row of boards */
    uint32_t *trees;      /* [x]: the same of that column of boards */
    uint32_t in_rows;     /* sum of `row` */
    uint32_t count;
};

/* Returns the bytes of a set, 8-byte aligned. */
size_t hx_dead_links_bytes(const struct hx_geometry *g);
/* Makes an empty set. `memory`: all zero, outlives the set. */
void hx_dead_links_init(struct hx_dead_links *d, const struct hx_geometry *g, void *memory);
/* Adds or removes the link at (node, port), at both ends. Returns whether the set changed. */
bool hx_dead_links_set(struct hx_dead_links *d, const struct hx_geometry *g, uint32_t node, unsigned port, bool dead);

/* Returns the ports of a node with dead links. */
static inline uint64_t hx_dead_links_at(const struct hx_dead_links *d, const struct hx_geometry *g, uint32_t node)
{
    return node < g->accelerators ? d->accelerator[node] : d->tree[node - g->accelerators];
}

/* Makes *to, an initialised set of the same fabric, equal to *from. */
void hx_dead_links_copy(struct hx_dead_links *to, const struct hx_dead_links *from, const struct hx_geometry *g);

/* Memory of a search. Nodes of a thread may share it. */
struct hx_around_search {
    uint64_t *first;        /* [nodes][kinds of state]: ports of the node that begin shortest paths */
    uint64_t *found;        /* results of the node */
    uint32_t *open;         /* [nodes][kinds of state]: states in the order of their distance */
    uint32_t *level;        /* [nodes]: distance from the root; of the escape VC */
    uint16_t *distance;     /* [nodes][kinds of state]: links; UINT16_MAX: not reached */
    uint32_t count;         /* states in `open` */
    const uint8_t *blocked; /* boards that it may not enter; NULL: none */
    /* Rows and columns of boards, of the node and the destination, that paths stay in; UINT16_MAX: none. */
    uint16_t at_x, at_y, to_x, to_y;
    bool everywhere; /* it is not limited to these */
    bool by_set;     /* the node's own ports live by the set alone, as other nodes take them to */
};

size_t hx_around_search_bytes(const struct hx_geometry *g);
/* `memory`: 8-byte aligned, outlives the search. */
void hx_around_search_init(struct hx_around_search *s, const struct hx_geometry *g, void *memory);

/* The answer for a destination and a kind of state (around_parts.h). */
struct hx_around_way {
    uint64_t ports;
    uint32_t key; /* 0: an empty slot */
};

/* What searches found for packets that may not enter the same boards. */
struct hx_around_found {
    const uint8_t *blocked; /* hx_blocked_boards.bits */
    /* [slots] open hash by destination and kind of state; slots: a power of two, of which at most half are used. */
    struct hx_around_way *way;
    uint32_t slots, used;
    const uint64_t *escape; /* [accelerators]: on the escape VC. Accelerator: bytes up, down. Tree: two words */
    uint64_t from_up;       /* inputs of the escape VC from which a packet may still go up */
    bool escape_searched;
    struct hx_around_found *next;
};

/* Routes of a node around dead links. */
struct hx_around {
    const struct hx_geometry *g;
    const struct hx_dead_links *dead;
    struct hx_around_search *search;
    /* Returns memory for the results of a search, 8-byte aligned, valid until the next hx_around_begin(); NULL: there
     * is none, and packets that need it have no path. */
    void *(*take)(void *of, size_t bytes);
    /* Returns the boards that packets to an accelerator may not enter, of a few sets that do not move. NULL: none. */
    struct hx_blocked_boards (*blocked)(void *of, uint32_t to);
    void *of;
    uint64_t up; /* own ports with a working link, which the set may not know yet */
    uint32_t node;
    /* From here on by hx_around_begin() and later. */
    void *tables;                  /* copy of the entries that were cleared */
    struct hx_around_found *found; /* list */
};

/* Returns the bytes of the copy of a node's tables, 8-byte aligned. */
size_t hx_around_bytes(const struct hx_geometry *g, uint32_t node);

/* Returns the bytes that `take` gives out until the next hx_around_begin(), at most, each piece rounded up to 8 bytes,
 * if `blocked` returns `sets` different sets. With less memory some pairs may lack a path on the escape VC. */
size_t hx_around_result_bytes(const struct hx_geometry *g, uint32_t node, unsigned sets);

/* Begins routes around dead links. The caller set the fields up to `node`. r: built by hx_route_build() with these
 * ports up, into `tables`. `memory`: hx_around_bytes(), outlives r. Without dead links r stays as it is. */
void hx_around_begin(struct hx_around *a, struct hx_route *r, void *tables, void *memory);

/* Returns the candidates of a packet from (input, vc) to (gx, gy) by these routes; 0: none. */
uint64_t hx_around_ports(struct hx_around *a, const struct hx_route *r, unsigned input, unsigned vc, unsigned gx,
                         unsigned gy);

/* Returns the VC on which the accelerator injects a packet to (gx, gy). */
unsigned hx_around_injects_on(struct hx_around *a, const struct hx_route *r, unsigned gx, unsigned gy);

/* The same for any route, and any destination. */
static inline unsigned hx_route_injects_on(const struct hx_route *r, unsigned gx, unsigned gy)
{
    return r->around && gx < r->columns && gy < r->rows ? hx_around_injects_on(r->around, r, gx, gy) : 0;
}

#include "hxmesh/end.h"

#endif
