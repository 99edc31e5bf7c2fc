/* fabric.h - a fabric as a graph, shared by both clocks, workloads and all tools.
 *
 * One plane is nodes and links between their ports. Nodes 0 .. hosts-1 are the hosts, by rank. Each has an endpoint and
 * a switch of four links (E W N S) and LOCAL, as a HammingMesh's accelerator. A host on a router has one link, E. A
 * host that forwards and has more than four links becomes a router, with its host beside it on a trace. The routers, of
 * up to 64 ports, come after the hosts.
 *
 *     host 0 .. hosts-1      ports 0 .. 3: links (E W N S), 4: LOCAL
 *     hosts .. nodes-1       routers: ports 0 .. ports-1: links
 *
 * An address has two digits, addr_hi and addr_lo, opaque to switch, wire and tools. Where hosts are attached to
 * routers, addr_hi is the router's and addr_lo the host's place on it. A HammingMesh has gx and gy.
 *
 * hx_fabric_make() (topology/topology.h) makes a fabric. It is read only afterwards: any thread may read it. */
#ifndef HXMESH_TOPOLOGY_FABRIC_H
#define HXMESH_TOPOLOGY_FABRIC_H

#include "base/error.h"
#include "base/value.h"
#include "hxmesh/geometry.h"
#include "hxmesh/route.h"
#include "topology/routing.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HX_MAX_HOSTS = HX_MAX_ACCELERATORS,
    HX_MAX_MEASURED = 65536, /* routers, at most, where routes are made from distances */
    HX_MAX_DIGIT = 65535,    /* digits of an address are 0 .. digits-1, digits at most this */
    HX_MAX_LINK_CLASSES = 8,
    HX_MAX_NAME_RANGES = 8
};

/* Kind of a link, for latency and cost: a trace is free. */
enum hx_link_kind { HX_TRACE, HX_DAC, HX_AOC, HX_LINK_KINDS };
extern const char *const hx_link_kinds[HX_LINK_KINDS + 1]; /* "trace", "dac", "aoc", NULL */

/* Links with the same properties. */
struct hx_link_class {
    const char *name;       /* "host", "global": for reports */
    enum hx_link_kind kind; /* trace or cable; its latency applies if latency_ns is not set */
    uint32_t gbps;          /* fixed rate, in addition to `times` the rate of a link (timing.link) */
    uint32_t times;         /* 0: once if gbps is 0, else not at all */
    uint32_t latency_ns;    /* HX_LATENCY_OF_KIND: the clock's latency of a trace or cable */
};
#define HX_LATENCY_OF_KIND UINT32_MAX
#define HX_LINK_GBPS       400 /* default rate of a link */

/* How a packet's VC changes from hop to hop to prevent dependency cycles. A link to a host never changes it. */
enum hx_vc_rule {
    HX_VC_NEVER,    /* up and down a tree */
    HX_VC_BY_HOP,   /* + 1 on each link between routers except the first */
    HX_VC_BY_LINK,  /* + 1 on marked links: board crossings, global links, datelines */
    HX_VC_BY_STAGE, /* + 1 on marked links, from 0 again when a packet turns into another stage */
    HX_VC_AT_LEAF   /* + 1 when a router with hosts forwards a packet from a router: up again, on a detour */
};

/* What packets on detours need (include/hxmesh/detour.h). Intermediate routers are those with hosts. */
struct hx_detours {
    unsigned vcs; /* 0: no detours */
    enum hx_vc_rule rule;
    uint16_t area; /* consecutive addr_hi that form one area; 0: each is its own */
    bool weighed;  /* paths differ in length and cost accordingly. All routers have hosts */
};

struct hx_fabric_node {
    uint32_t first_port; /* index of its first port in hx_fabric.port */
    uint32_t group;      /* what fails together and one worker owns: a board, a leaf with its hosts */
    uint16_t ports;
    uint16_t addr_hi, addr_lo; /* a host's address; of a router: addr_hi of its hosts, HX_NO_ADDRESS if it has none */
};
struct hx_fabric_port {
    struct hx_end far; /* node HX_NOWHERE: not connected */
    uint8_t link_class;
    uint8_t dimension;     /* of its link, if the routes need it */
    uint8_t stage;         /* of its link, if the VC rule needs it */
    bool marked : 1;       /* its link raises the VC (enum hx_vc_rule) */
    uint8_t host_port : 3; /* of a router, where hosts are split: the port of its host that this one is */
};

/* Names of routers: `word` and the number in the range; for inner > 0 two numbers, "r2,5". */
struct hx_name_range {
    const char *word;
    uint32_t first, count; /* nodes */
    uint32_t inner;
};

/* Forwarding cost of a router that is a host, under the virtual clock. */
struct hx_forwarding {
    uint32_t host;     /* the host beside it; HX_NOWHERE: a switch, without cost */
    uint32_t delay_ns; /* per packet */
    uint32_t gbps;     /* of all packets together; 0: unlimited */
};

/* A link that failed (topology/failures.h): no port leads over it. */
struct hx_failed_link {
    uint32_t a, b; /* nodes */
    uint8_t link_class;
};

/* Injection bandwidth of a host in one plane. */
struct hx_injected {
    uint32_t links; /* links at the rate of timing.link */
    uint32_t gbps;  /* of all its other links together */
};

struct hx_topology;
struct hx_updown;
struct hx_pending_links; /* links before hx_fabric_finish() */

struct hx_fabric {
    const struct hx_topology *topology;
    unsigned planes;        /* independent copies: 1 .. HX_MAX_PLANES */
    unsigned bought_planes; /* copies that the cost counts: 4 of a HammingMesh, 16 of a fat tree */
    unsigned host_links;    /* links of a host in one plane, its injection bandwidth; the fewest if they differ */
    unsigned vcs;           /* 1 .. 4 */
    enum hx_vc_rule rule;
    struct hx_routing routing;
    struct hx_detours detours; /* needs of detours; vcs and rule are needs of the routing */
    uint32_t hosts, nodes;
    uint32_t ports;         /* of all nodes of one plane, with LOCAL */
    uint32_t digits[2];     /* addr_hi and addr_lo are below these */
    uint32_t columns, rows; /* logical grid: host = row * columns + column; near square by default */
    uint32_t groups;
    const char *group_word;      /* "board" */
    uint32_t switches;           /* to buy for one plane; fewer than routers if several share a box */
    struct hx_fabric_node *node; /* [nodes] */
    struct hx_fabric_port *port; /* [ports] */
    uint32_t *host_at;           /* [digits[0] * digits[1]]: HX_NOWHERE: no host */
    struct hx_link_class link_class[HX_MAX_LINK_CLASSES];
    unsigned link_classes;
    struct hx_name_range name[HX_MAX_NAME_RANGES];
    unsigned names;
    bool split_hosts; /* hosts forward, each by its own router: node hosts + i has the links of host i, and their
                                 names (topology/name.h) */
    uint32_t
        named_columns;     /* on a grid with searched routes: names of hosts show their position, not the address. Range
                                 of a name's first digit; 0: names are addresses */
    uint32_t named_places; /* hosts of a router, if named_columns is set */
    struct hx_geometry mesh;  /* of a HammingMesh */
    char *graph_text;         /* of `graph FILE`: contents of the file; NULL: another topology */
    size_t graph_bytes;       /* length of graph_text */
    bool graph_given;         /* graph_text was given: do not open the file */
    char **graph_name;        /* of `graph FILE`: [nodes] names in the file, of a host that forwards at its router; one
                                 piece of memory. An entry NULL: a host beside its router */
    bool by_updown;           /* routes will be searched (topology/updown.h): addr_hi must be one router's own */
    struct hx_updown *updown; /* routes found by search (topology/updown.h); NULL: the topology's own */
    bool *failed;             /* [hosts]: hosts that take no part (topology/failures.h); NULL: no failures */
    struct hx_failed_link *failed_link; /* [failed_links]: of one plane; the cost counts them */
    uint32_t failed_links;
    size_t failed_room;
    struct hx_forwarding *forwarding; /* [nodes - hosts]; NULL: no router has a forwarding cost */
    struct hx_injected *injected;     /* [hosts]; NULL: all inject alike */
    void *own;                        /* the topology's own data: one piece of hx_allocate(), freed with the fabric */
    struct hx_pending_links *pending_links;
    /* [nodes - hosts][nodes - hosts]: links between routers, if routes or detours need them */
    uint8_t *distance;
};

/* ---- to make one: what topologies call ---- */

/* Allocates hosts and routers. *f is zero except for topology and planes. Digits are below d0s and d1s. */
void hx_fabric_start(struct hx_fabric *f, uint32_t hosts, uint32_t routers, uint32_t d0s, uint32_t d1s);

/* Sets a host's address, or the addr_hi of a router's hosts. */
void hx_fabric_address(struct hx_fabric *f, uint32_t node, unsigned addr_hi, unsigned addr_lo);

/* Adds a class. Returns its number. */
unsigned hx_fabric_class(struct hx_fabric *f, const struct hx_link_class *link_class);
unsigned hx_fabric_class_of_kind(struct hx_fabric *f, const char *name, enum hx_link_kind kind);

/* A link between two nodes, in both directions. Links number a router's ports in the order they are added. The port of
 * a host with one link is E. */
struct hx_new_link {
    uint32_t a, b;
    uint8_t link_class;
    uint8_t dimension, stage;
    bool marked;
    uint8_t a_port, b_port; /* of hosts that forward, and of their routers where they are split: HX_E .. HX_S; of such a
                               router to its host: HX_LOCAL */
};
void hx_fabric_add_link(struct hx_fabric *f, const struct hx_new_link *link);

/* Attaches hosts router * each and following, up to `each`, to a router, counted among the routers. The router's number
 * becomes addr_hi and group of all of them. */
void hx_fabric_attach_hosts(struct hx_fabric *f, uint32_t router, unsigned each, unsigned link_class);

/* Names `count` routers from `first` on by `word` and number. `inner` of them make a group; 0: no groups. */
void hx_fabric_name(struct hx_fabric *f, const char *word, uint32_t first, uint32_t count, uint32_t inner);

/* Numbers the ports, unless the topology did, and checks limits: HX_MAX_RADIX ports of a router, HX_MAX_HOSTS,
 * HX_MAX_LINK_CLASSES, HX_MAX_NAME_RANGES; all nodes are connected. The caller adds the place to *problem. */
bool hx_fabric_finish(struct hx_fabric *f, struct hx_problem *problem);

/* Fills f->distance. */
void hx_fabric_measure(struct hx_fabric *f);

void hx_fabric_free(struct hx_fabric *f);

/* ---- to read one ---- */

static inline bool hx_is_host(const struct hx_fabric *f, uint32_t node)
{
    return node < f->hosts;
}

static inline unsigned hx_fabric_ports(const struct hx_fabric *f, uint32_t node)
{
    return f->node[node].ports;
}

static inline const struct hx_fabric_port *hx_fabric_port(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    return &f->port[f->node[node].first_port + port];
}

/* Returns the other end of the link at (node, port); .node is HX_NOWHERE for LOCAL and unconnected ports. */
static inline struct hx_end hx_fabric_far(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    return hx_fabric_port(f, node, port)->far;
}

/* Whether a link is there and this end comes before the other: visits each link once. */
static inline bool hx_fabric_is_first_end(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    struct hx_end far = hx_fabric_far(f, node, port);
    return far.node != HX_NOWHERE && (node < far.node || (node == far.node && port < far.port));
}

static inline const struct hx_link_class *hx_fabric_link(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    return &f->link_class[hx_fabric_port(f, node, port)->link_class];
}

/* Returns a host's address: gx is addr_hi, gy is addr_lo. */
static inline struct hx_coordinate hx_address_of(const struct hx_fabric *f, uint32_t host)
{
    return (struct hx_coordinate){f->node[host].addr_hi, f->node[host].addr_lo};
}

/* Returns a host's coordinate: what names, options, files and reports call it. That is its address, except on grids
 * with searched routes: the search needs other addresses, and names stay. */
struct hx_coordinate hx_coordinate_of(const struct hx_fabric *f, uint32_t host);
/* Returns the host at a coordinate; HX_NOWHERE: none. */
uint32_t hx_host_at(const struct hx_fabric *f, unsigned first, unsigned second);
/* Returns the coordinate of the host with that address; without such a host the address itself. */
struct hx_coordinate hx_coordinate_at(const struct hx_fabric *f, unsigned addr_hi, unsigned addr_lo);
/* Returns the ranges of the two numbers of a coordinate. */
struct hx_coordinate hx_coordinate_ranges(const struct hx_fabric *f);

/* Returns a host's position on the logical grid: gx is the column, gy the row. */
static inline struct hx_coordinate hx_grid_of(const struct hx_fabric *f, uint32_t host)
{
    return (struct hx_coordinate){host % f->columns, host / f->columns};
}

/* Returns the host at a position of the logical grid. */
static inline uint32_t hx_fabric_at(const struct hx_fabric *f, unsigned column, unsigned row)
{
    return (uint32_t)row * f->columns + column;
}

/* Whether hosts forward: packets may go in X before they turn to Y. */
static inline bool hx_hosts_forward(const struct hx_fabric *f)
{
    return f->mesh.nodes || f->nodes == f->hosts;
}

/* Returns what reports call a host. */
static inline const char *hx_host_word(const struct hx_fabric *f)
{
    return f->mesh.nodes ? "accelerator" : "host";
}

/* Returns the rate of a class, Gb/s, if a link has link_gbps. */
static inline double hx_class_gbps(const struct hx_link_class *c, double link_gbps)
{
    return c->gbps ? c->gbps + c->times * link_gbps : (c->times ? c->times : 1) * link_gbps;
}

/* Links of a host to a plane. One that stands for all links of a router, as where a host forwards, counts as these. */
unsigned hx_host_links(const struct hx_fabric *f, uint32_t host);
/* Returns what a host can inject into one plane, in links of `gbps`. */
double hx_host_injection(const struct hx_fabric *f, uint32_t host, double gbps);
/* Return what hosts inject on average, and what the fastest host injects. */
double hx_fabric_injection(const struct hx_fabric *f, double gbps);
double hx_fabric_most_injection(const struct hx_fabric *f, double gbps);
/* Whether all hosts inject alike, at any rate of links. */
bool hx_injects_alike(const struct hx_fabric *f);

/* Returns the host of an address; HX_NOWHERE: none. */
static inline uint32_t hx_fabric_host(const struct hx_fabric *f, unsigned addr_hi, unsigned addr_lo)
{
    return addr_hi < f->digits[0] && addr_lo < f->digits[1] ? f->host_at[(uint64_t)addr_hi * f->digits[1] + addr_lo]
                                                            : HX_NOWHERE;
}

/* Returns the links between two routers, by node numbers; 255: no path. Only for topologies without their own
 * next_hops. */
static inline unsigned hx_router_distance(const struct hx_fabric *f, uint32_t a, uint32_t b)
{
    return f->distance[(uint64_t)(a - f->hosts) * (f->nodes - f->hosts) + (b - f->hosts)];
}

/* ---- routes ---- */

/* Returns the next hops of a node to addresses with this digit (0 or 1), as far as this digit tells. */
uint64_t hx_fabric_next_hops(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value);

/* Returns the inputs from which packets to this router's output move to the next VC. */
uint64_t hx_fabric_vc_increment(const struct hx_fabric *f, uint32_t node, unsigned output);
/* Returns the inputs from which packets turn from down to up at this output, if f->updown was searched. Each such turn
 * moves to the next VC. A fabric of one VC has such turns only while links are down. */
uint64_t hx_fabric_turned(const struct hx_fabric *f, uint32_t node, unsigned output);

/* Returns the table memory of a node, bytes (the caller aligns it to 8). */
size_t hx_fabric_route_bytes(const struct hx_fabric *f, uint32_t node);

/* Builds the tables of `node` into `memory`; for a HammingMesh by hx_route_build(). `blocked` is for a HammingMesh
 * only. up: ports with working links. */
void hx_fabric_route(struct hx_route *r, const struct hx_fabric *f, uint32_t node, struct hx_blocked_boards blocked,
                     uint64_t up, void *memory);

/* Whether D-mod-K can give each destination one path from every router: fat trees with leaves and pods wired alike, all
 * links up, and minimal routing. */
bool hx_fabric_has_d_mod_k(const struct hx_fabric *f);

/* Restricts a router's tables, as hx_fabric_route() built them into `memory`, to D-mod-K: each destination keeps one
 * minimal path, and destinations share the links evenly. Only if hx_fabric_has_d_mod_k(). The paths are a subset of the
 * minimal ones, so they cannot deadlock. (Zahavi, "D-Mod-K routing providing non-blocking traffic for shift
 * permutations on real life fat trees", 2010.)
 *
 * Adaptive routing sees only upward credit, so packets meet on links that lead down. Under D-mod-K, a shift shares no
 * link of a tree without taper, and a tapered link only as far as it tapers. All hosts stay in step with one sender
 * each. For flows to few destinations adaptive routing is better. */
void hx_fabric_order_d_mod_k(const struct hx_fabric *f, uint32_t router, void *memory);

/* Returns the number of all-to-all phases in which each host sends to one partner and receives from one. No pair meets
 * twice, and packets on minimal paths rarely share links: the best sample of all-to-all. The phases do not cover all
 * pairs. 0: none; a Slim Fly without failures has them. */
uint32_t hx_fabric_phases(const struct hx_fabric *f);

/* Returns a host's partner in a phase, 0 .. hx_fabric_phases() - 1. */
uint32_t hx_fabric_partner(const struct hx_fabric *f, uint32_t host, uint32_t phase);

/* A dimension of the hosts: those that differ in one coordinate are joined so. */
enum hx_dimension_kind { HX_DIMENSION_RING, HX_DIMENSION_LINE, HX_DIMENSION_FULL, HX_DIMENSION_SWITCH };
struct hx_fabric_dimension {
    uint32_t size;
    enum hx_dimension_kind kind;
};
enum { HX_MAX_DIMENSIONS = 6 };

/* Sets the dimensions of more than one host each, the nearest first: host = c0 + size0 * (c1 + size1 * ...). Returns
 * their number; 0: hosts have no such coordinates. */
unsigned hx_fabric_dimensions(const struct hx_fabric *f, struct hx_fabric_dimension dimension[HX_MAX_DIMENSIONS]);

/* Orders the hosts of a group, each once, for recursive halving and doubling: in step s, position p exchanges data with
 * position p XOR 2^s. On a BiGraph this is HDRM (Dong et al., EFLOPS, HPCA 2020): no two connections of a step share a
 * link between the two parts in the same direction. This holds if the group has k hosts on each of c switches of either
 * part, k and c are powers of two, and k is at most c. It also holds for the first positions of a larger group, a power
 * of two of them. With k above c, links carry k / c connections each.
 *
 * Returns false and leaves the order if the topology has no better one. */
bool hx_fabric_halving_order(const struct hx_fabric *f, uint32_t *hosts, uint32_t count);

#endif
