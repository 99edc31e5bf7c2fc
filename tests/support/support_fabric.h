/* support_fabric.h - judges any fabric by its tables alone, as a packet meets them.
 *
 * Every packet's ways are walked in the tables of hx_fabric_route(), and held against distances that are searched
 * breadth first over the far ends of ports: nothing of the topology's own is asked. Fabrics must be of a size that can
 * be walked. */
#ifndef HXMESH_TESTS_SUPPORT_FABRIC_H
#define HXMESH_TESTS_SUPPORT_FABRIC_H

#include "topology/topology.h"

struct fabric_findings {
    uint64_t pairs;   /* of hosts, that is pairs whose ways were walked; those that have failed are in none */
    uint64_t cut_off; /* of these, pairs that nothing joins: a sender's own tables have to say so */
    uint64_t lost;    /* places where a packet has no way on, or leaves for a host that it is not for */
    uint64_t detours; /* ways offered that lead no nearer */
    /* ways that lead nearer and are not offered: turns that a VC rule forbids, or order of dimensions */
    uint64_t missing;
    uint64_t high_vcs;   /* ways offered whose VC is not below that of the fabric (and of firmware) */
    uint64_t wrong_ends; /* links that do not lead back, addresses that are not their host's */
    uint64_t cycles;     /* (link, VC) that wait for one another in circles or are behind such: 0 is free of deadlock */
    unsigned vcs;        /* that were used */
    unsigned diameter;   /* links between the two hosts furthest apart, those of hosts included */
    uint64_t distances;  /* sum of them over the pairs */
};

/* All destinations, or every `step`-th host. */
struct fabric_findings fabric_find(const struct hx_fabric *f, uint32_t step);

/* Everything arrives, on the VCs that there are, and nothing waits in circles; ways may be longer than the shortest. */
void fabric_validate_found(const struct hx_fabric *f, const struct fabric_findings *found);

/* Likewise, and asserts that nothing is wrong: all but `missing` is as it must be. */
struct fabric_findings fabric_validate(const struct hx_fabric *f);
struct fabric_findings fabric_validate_some(const struct hx_fabric *f, uint32_t step);

/* Builds a fabric of one plane, or fails the test. */
void fabric_make(struct hx_fabric *f, const char *text);
/* Asserts that it is refused, and that the line says so. */
void fabric_refused(const char *text, const char *says);

/* Cables of a kind. */
uint32_t fabric_cables(const struct hx_fabric *f, enum hx_link_kind kind);
/* In dollars, by appendix C of the HammingMesh paper, of all planes that are bought. */
uint64_t fabric_cost(const struct hx_fabric *f);
/* Links between two routers. */
unsigned fabric_links_between(const struct hx_fabric *f, uint32_t a, uint32_t b);
/* How many shortest ways there are between two routers, hosts not being on the way. */
uint64_t fabric_shortest_paths(const struct hx_fabric *f, uint32_t a, uint32_t b);

/* The share of the injection bandwidth that all-to-all has when the fullest link is full and at every node each way
 * that is shortest takes as much as the others. Of hosts with one link. */
double fabric_even_share(const struct hx_fabric *f);
/* Likewise where hosts send to those of one other seat, to all of them alike: in rates of a link. attachment_router_to[node]: of a
 * router with hosts, or of a host that forwards itself. */
double fabric_share_of_attachment_routers(const struct hx_fabric *f, const uint32_t *attachment_router_to);

#endif
