/* fabric.h - a fabric as a graph: what both clocks, traffic, capture, verify, trace, info, route and check see of it.
 *
 * One plane is nodes and links between their ports. Node 0 .. hosts-1 are the hosts, by rank: each has an endpoint and
 * a switch of four links (E W N S) and LOCAL, as a HammingMesh's accelerator. A host that hangs on a router has one
 * link, E. A host that forwards and has more links than four is a router with its host beside it on a trace. Behind the
 * hosts stand the routers, of up to 64 ports.
 *
 *     host 0 .. hosts-1      ports 0 .. 3: links (E W N S), 4: LOCAL
 *     hosts .. nodes-1       routers: ports 0 .. ports-1: links
 *
 * An address is two digits (d0, d1) that are opaque to switch, wire and tools. Where hosts hang on routers, d0 is the
 * router's and d1 the host's place on it; a HammingMesh has gx, gy.
 *
 * Made by hx_fabric_make() (topology/topology.h), then read only: any thread may look. */
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
    HX_MAX_DIGIT = 65535, /* a digit is 0 .. digits-1, digits up to this */
    HX_MAX_LINK_CLASSES = 8,
    HX_MAX_NAME_RANGES = 8
};

/* What a link is, for its latency and for the cost: a trace costs nothing. */
enum hx_link_kind { HX_TRACE, HX_DAC, HX_AOC, HX_LINK_KINDS };
extern const char *const hx_link_kinds[HX_LINK_KINDS + 1]; /* "trace", "dac", "aoc", NULL */

/* Links that are alike. */
struct hx_link_class {
    const char *name;       /* "host", "global": a word for reports */
    enum hx_link_kind kind; /* trace or cable: also whose latency it has where latency_ns does not say */
    uint32_t gbps;          /* of its own, beside a link's (timing.link) so many `times` */
    uint32_t times;         /* 0: once where gbps is 0, else not at all */
    uint32_t latency_ns;    /* HX_LATENCY_OF_KIND: as the clock is told for a trace or a cable */
};
#define HX_LATENCY_OF_KIND UINT32_MAX
#define HX_LINK_GBPS       400 /* of a link, where nobody says what it has */

/* How the VC of a packet changes from hop to hop, so that no cycle of waiting closes. A link to a host never changes
 * it. */
enum hx_vc_rule {
    HX_VC_NEVER,    /* up and down a tree */
    HX_VC_BY_HOP,   /* + 1 on each link between routers but a packet's first */
    HX_VC_BY_LINK,  /* + 1 on marked links: board crossings, global links, datelines */
    HX_VC_BY_STAGE, /* + 1 on marked links, from 0 again where a packet turns into another stage */
    HX_VC_AT_LEAF   /* + 1 where a router of hosts sends on what came from a router: up again, on a detour */
};

/* What packets that make detours need (include/hxmesh/detour.h). Intermediate routers are those that have hosts. */
struct hx_detours {
    unsigned vcs; /* 0: there are no detours */
    enum hx_vc_rule rule;
    uint16_t area; /* d0s in a row that are one area; 0: each is its own */
    bool weighed;  /* ways are of several lengths, and cost accordingly. All routers have hosts */
};

struct hx_fabric_node {
    uint32_t first_port; /* of its ports in hx_fabric.port */
    uint32_t group;      /* what fails together and what one worker owns: a board, a leaf with its hosts */
    uint16_t ports;
    uint16_t addr_hi, addr_lo; /* a host's address; a router: d0 is that of its hosts, HX_NO_DIGIT if it has none */
};
struct hx_fabric_port {
    struct hx_end far; /* node HX_NOWHERE: nothing hangs there */
    uint8_t link_class;
    uint8_t dimension; /* of its link, where the routes ask for it */
    uint8_t stage;     /* likewise, where the rule does */
    bool marked;       /* its link raises the VC (enum hx_vc_rule) */
};

/* Names of routers: `word` and the number in the range, or for inner > 0 two numbers, "r2,5". */
struct hx_name_range {
    const char *word;
    uint32_t first, count; /* nodes */
    uint32_t inner;
};

/* What a router that is a host takes to pass on what is for others, under the virtual clock. */
struct hx_forwarding {
    uint32_t host;     /* beside it; HX_NOWHERE: it is a switch, which takes nothing */
    uint32_t delay_ns; /* of each packet */
    uint32_t gbps;     /* of all packets together; 0: as fast as they come */
};

/* What a host can inject into one plane. */
struct hx_injected {
    uint32_t links; /* that have a link's rate (timing.link) */
    uint32_t gbps;  /* of all its other links together */
};

struct hx_topology;
struct hx_updown;
struct hx_pending_links; /* links while they are laid */

struct hx_fabric {
    const struct hx_topology *topology;
    unsigned planes;        /* independent copies that are built: 1 .. HX_MAX_PLANES */
    unsigned bought_planes; /* copies that the cost counts: 4 of a HammingMesh, 16 of a fat tree */
    unsigned host_links;    /* links of a host in one plane: its injection bandwidth; where they differ, the fewest */
    unsigned vcs;           /* 1 .. 4 */
    enum hx_vc_rule rule;
    struct hx_routing routing;
    struct hx_detours detours; /* what they would need; vcs and rule are what the routing needs */
    uint32_t hosts, nodes;
    uint32_t ports;     /* of all nodes of one plane, LOCAL included */
    uint32_t digits[2]; /* d0 and d1 are below these */
    uint32_t columns,
        rows; /* logical grid of traffic and collectives: host = row * columns + column; near square unless the
                             * topology has its own */
    uint32_t groups;
    const char *group_word;      /* "board" */
    uint32_t switches;           /* to be bought for one plane; not always the routers: several may be in one box */
    struct hx_fabric_node *node; /* [nodes] */
    struct hx_fabric_port *port; /* [ports] */
    uint32_t *host_at;           /* [digits[0] * digits[1]]: HX_NOWHERE where no host is */
    struct hx_link_class link_class[HX_MAX_LINK_CLASSES];
    unsigned link_classes;
    struct hx_name_range name[HX_MAX_NAME_RANGES];
    unsigned names;
    struct hx_geometry mesh;  /* a HammingMesh's own */
    char *graph_text;         /* of `graph FILE`: what the file says; NULL: another topology */
    size_t graph_bytes;       /* so much */
    bool graph_given;         /* it was given, and the file is not to be opened */
    bool by_updown;           /* routes will be searched (topology/updown.h), for which d0 has to be a router's own */
    struct hx_updown *updown; /* routes that were searched (topology/updown.h); NULL: the topology's own */
    bool *failed;             /* [hosts]: those that take no part (topology/failures.h); NULL: nothing has failed */
    uint32_t failed_links[HX_LINK_KINDS]; /* of one plane: they are bought all the same */
    struct hx_forwarding *forwarding;     /* [nodes - hosts]; NULL: nothing is said of any router */
    struct hx_injected *injected;         /* [hosts]; NULL: all inject alike */
    void *own;                            /* the topology's: one piece of hx_allocate(), freed with the fabric */
    struct hx_pending_links *pending_links;
    /* [nodes - hosts][nodes - hosts] between routers, links; where routes or the cost of detours need it */
    uint8_t *distance;
};

/* ---- to make one: what topologies call ---- */

/* Room for so many hosts and routers; *f is zeroed but for its topology and planes. Digits are below d0s and d1s. */
void hx_fabric_start(struct hx_fabric *f, uint32_t hosts, uint32_t routers, uint32_t d0s, uint32_t d1s);

/* Gives a host its address, or a router the d0 of its hosts. */
void hx_fabric_address(struct hx_fabric *f, uint32_t node, unsigned addr_hi, unsigned addr_lo);

/* The number of a new class. */
unsigned hx_fabric_class(struct hx_fabric *f, const struct hx_link_class *link_class);
unsigned hx_fabric_class_of_kind(struct hx_fabric *f, const char *name, enum hx_link_kind kind);

/* A link between two nodes, both ways. Routers' ports are numbered in the order in which their links are laid; a port
 * of a host that has but one link is E. */
struct hx_new_link {
    uint32_t a, b;
    uint8_t link_class;
    uint8_t dimension, stage;
    bool marked;
    uint8_t a_port, b_port; /* of hosts that forward: HX_E .. HX_S */
};
void hx_fabric_add_link(struct hx_fabric *f, const struct hx_new_link *link);

/* Hangs the next hosts on a router, counted among the routers: hosts router * each and following, as many as there are
 * of `each`. Its number is the d0 and the group of all of them. */
void hx_fabric_attach_hosts(struct hx_fabric *f, uint32_t router, unsigned each, unsigned link_class);

/* "leaf" and its numbers for `count` routers from `first` on, of which `inner` make a group; 0: they are counted
 * through. */
void hx_fabric_name(struct hx_fabric *f, const char *word, uint32_t first, uint32_t count, uint32_t inner);

/* Numbers the ports, unless the topology did, and checks what every fabric must be: no router of more than 64 ports, no
 * more than HX_MAX_HOSTS hosts, HX_MAX_LINK_CLASSES classes and HX_MAX_NAME_RANGES ranges of names, every host reached
 * from every other. The problem names no place: where is the caller's. */
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

/* The other end of the link at (node, port); .node is HX_NOWHERE for LOCAL and for ports nothing hangs on. */
static inline struct hx_end hx_fabric_far(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    return hx_fabric_port(f, node, port)->far;
}

/* Whether something hangs there, and this end of the link comes before the other: so each link is met once. */
static inline bool hx_fabric_is_first_end(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    struct hx_end far = hx_fabric_far(f, node, port);
    return far.node != HX_NOWHERE && (node < far.node || (node == far.node && port < far.port));
}

static inline const struct hx_link_class *hx_fabric_link(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    return &f->link_class[hx_fabric_port(f, node, port)->link_class];
}

/* A host's address: gx is d0, gy is d1. */
static inline struct hx_coordinate hx_address_of(const struct hx_fabric *f, uint32_t host)
{
    return (struct hx_coordinate){f->node[host].addr_hi, f->node[host].addr_lo};
}

/* A host's place on the logical grid: gx is the column, gy the row. */
static inline struct hx_coordinate hx_grid_of(const struct hx_fabric *f, uint32_t host)
{
    return (struct hx_coordinate){host % f->columns, host / f->columns};
}

/* The host at a place of the logical grid. */
static inline uint32_t hx_fabric_at(const struct hx_fabric *f, unsigned column, unsigned row)
{
    return (uint32_t)row * f->columns + column;
}

/* Hosts forward, and packets may go in X before they turn to Y. */
static inline bool hx_hosts_forward(const struct hx_fabric *f)
{
    return f->mesh.nodes || f->nodes == f->hosts;
}

/* What reports call a host. */
static inline const char *hx_host_word(const struct hx_fabric *f)
{
    return f->mesh.nodes ? "accelerator" : "host";
}

/* Its rate, where a link has so many Gb/s. */
static inline double hx_class_gbps(const struct hx_link_class *c, double link_gbps)
{
    return c->gbps ? c->gbps + c->times * link_gbps : (c->times ? c->times : 1) * link_gbps;
}

/* What a host can inject into one plane, in links of so many Gb/s. */
double hx_host_injection(const struct hx_fabric *f, uint32_t host, double gbps);
/* What hosts inject on average, and what the one does that injects most. */
double hx_fabric_injection(const struct hx_fabric *f, double gbps);
double hx_fabric_most_injection(const struct hx_fabric *f, double gbps);
/* Whether all hosts inject alike, in links of any rate. */
bool hx_injects_alike(const struct hx_fabric *f);

/* The host of that address, HX_NOWHERE: there is none. */
static inline uint32_t hx_fabric_host(const struct hx_fabric *f, unsigned addr_hi, unsigned addr_lo)
{
    return addr_hi < f->digits[0] && addr_lo < f->digits[1] ? f->host_at[(uint64_t)addr_hi * f->digits[1] + addr_lo]
                                                            : HX_NOWHERE;
}

/* Links between two routers, by node numbers; 255: there is no way. Only where the topology has no routes of its
 * own. */
static inline unsigned hx_router_distance(const struct hx_fabric *f, uint32_t a, uint32_t b)
{
    return f->distance[(uint64_t)(a - f->hosts) * (f->nodes - f->hosts) + (b - f->hosts)];
}

/* ---- routes ---- */

/* The ports of a node on minimal ways to addresses whose digit (0 or 1) has that value, as far as this digit tells. */
uint64_t hx_fabric_next_hops(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value);

/* Of a router's output: the inputs whose packets have their VC raised by one behind it. */
uint64_t hx_fabric_vc_increment(const struct hx_fabric *f, uint32_t node, unsigned output);
/* Likewise, where f->updown are searched: the inputs whose packets came down and go up again by it. Each such turn raises
 * the VC, also that which a fabric of one VC has only while links are down. */
uint64_t hx_fabric_turned(const struct hx_fabric *f, uint32_t node, unsigned output);

/* Bytes of table memory a node needs (8-byte aligned by the caller). */
size_t hx_fabric_route_bytes(const struct hx_fabric *f, uint32_t node);

/* Whether it is one of the hosts that all have the same table, for there is one way out and one way in: their tables
 * may be built into one memory, which then fewer caches have to hold. Not where ways were searched, for a host knows by
 * its table whom it cannot reach. */
bool hx_fabric_shares_table(const struct hx_fabric *f, uint32_t node);

/* Builds the tables of `node` into `memory`, as hx_route_build() does for a HammingMesh's nodes, of which this calls
 * it. `blocked` is for a HammingMesh only; up: ports whose links are up. */
void hx_fabric_route(struct hx_route *r, const struct hx_fabric *f, uint32_t node, struct hx_blocked_boards blocked,
                     uint64_t up, void *memory);

/* Whether each destination can have one way from every router, by D-mod-K: fat trees whose leaves and pods are wired
 * alike, with all links up, and minimal routing. */
bool hx_fabric_has_d_mod_k(const struct hx_fabric *f);

/* D-mod-K (Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees",
 * 2010), for a router's tables as hx_fabric_route() just built them into `memory`: of its shortest ways each
 * destination keeps one, and all destinations share the links alike. A subset of the minimal ways, so nothing can
 * deadlock that could not before. Only where hx_fabric_has_d_mod_k().
 *
 * Why one would: packets that choose where there is room know nothing of the links that lead down, and meet there. In
 * this order hosts that all send to the host so many further share no link of a tree that does not taper, and each link
 * of one that does with as many as taper, so none waits for long, all stay in step, and no host has two senders at a
 * time. For flows that are not spread over all destinations the free choice is better. */
void hx_fabric_order_d_mod_k(const struct hx_fabric *f, uint32_t router, void *memory);

/* How many rounds there are in which all hosts send to one each and receive from one, nobody meets another twice in all
 * of them, and packets on minimal ways hardly meet: what a sample of all-to-all is best made of. Not all pairs are in
 * them. 0: there are none; a Slim Fly has them, if nothing has failed. */
uint32_t hx_fabric_phases(const struct hx_fabric *f);

/* Whom a host sends to in a round, 0 .. hx_fabric_phases() - 1. */
uint32_t hx_fabric_partner(const struct hx_fabric *f, uint32_t host, uint32_t phase);

#endif
