/* support_fabric.h - checks any fabric by its routing tables alone.
 *
 * It walks every path in the tables of hx_fabric_route(), and compares with distances from a breadth-first search
 * over the far ends of ports. It uses no function of the topology itself. Fabrics must be small enough to walk. */
#ifndef HXMESH_TESTS_SUPPORT_FABRIC_H
#define HXMESH_TESTS_SUPPORT_FABRIC_H

#include "topology/topology.h"

struct fabric_findings {
    uint64_t pairs;   /* pairs of hosts that were walked, without failed hosts */
    uint64_t cut_off; /* unconnected pairs; the sender's own table must say so */
    uint64_t lost;    /* states of a packet without a path, or with a path to a wrong host */
    uint64_t detours; /* outputs in tables that are not minimal */
    /* minimal outputs that tables leave out: by a VC rule, or by dimension order */
    uint64_t missing;
    uint64_t high_vcs;   /* outputs with a VC at or above the number of VCs of the fabric or the firmware */
    uint64_t wrong_ends; /* links that do not lead back, addresses of another host */
    uint64_t cycles;     /* (link, VC) on or behind a dependency cycle; 0 is free of deadlock */
    unsigned vcs;        /* VCs in use */
    unsigned diameter;   /* links between the most distant hosts, host links included */
    uint64_t distances;  /* sum of distances over the pairs */
};

/* Walks the paths to all hosts, or to every `step`-th. */
struct fabric_findings fabric_find(const struct hx_fabric *f, uint32_t step);

/* Asserts that everything arrives, on existing VCs, without a dependency cycle; paths need not be minimal. */
void fabric_validate_found(const struct hx_fabric *f, const struct fabric_findings *found);

/* Walks all paths, and asserts that only `missing` differs from 0. */
struct fabric_findings fabric_validate(const struct hx_fabric *f);
struct fabric_findings fabric_validate_some(const struct hx_fabric *f, uint32_t step);

/* Builds a fabric of one plane, or fails the test. */
void fabric_make(struct hx_fabric *f, const char *text);
/* Asserts that the fabric is refused with an error that contains `says`. */
void fabric_refused(const char *text, const char *says);

/* Cables of a kind. */
uint32_t fabric_cables(const struct hx_fabric *f, enum hx_link_kind kind);
/* Dollars, by appendix C of the HammingMesh paper, for all bought planes. */
uint64_t fabric_cost(const struct hx_fabric *f);
/* Links between two routers. */
unsigned fabric_links_between(const struct hx_fabric *f, uint32_t a, uint32_t b);
/* Number of minimal paths between two routers, without hosts in between. */
uint64_t fabric_shortest_paths(const struct hx_fabric *f, uint32_t a, uint32_t b);

/* Share of the injection bandwidth under all-to-all when the fullest link is full and minimal outputs of a node
 * share alike. For hosts with one link. */
double fabric_even_share(const struct hx_fabric *f);
/* Throughput in link rates when each host sends alike to all hosts of one other attachment router.
 * attachment_router_to[node]: destination of a router with hosts, or of a host that forwards. */
double fabric_share_of_attachment_routers(const struct hx_fabric *f, const uint32_t *attachment_router_to);

#endif
