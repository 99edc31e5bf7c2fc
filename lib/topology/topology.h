/* topology.h - the table of topologies: one file each, behind these few functions.
 *
 * A spec string is a word, then sizes or key=value; it ignores case and extra spaces. Each topology's file gives its
 * words and its paper; `hxmesh topologies` lists them. A function that a topology leaves NULL has a general fallback,
 * named here. */
#ifndef HXMESH_TOPOLOGY_TOPOLOGY_H
#define HXMESH_TOPOLOGY_TOPOLOGY_H

#include "topology/fabric.h"

enum { HX_MAX_SIZES = 5, HX_MAX_KEYS = 8, HX_SPEC_BYTES = 256 /* of a spec string, with the final zero */ };

/* A parsed spec string: "torus 8x8x4 board=2x2" has word "torus", sizes 8 8 4, key "board" with value "2x2". */
struct hx_spec_tokens {
    char text[HX_SPEC_BYTES]; /* lower case, one space between parts; the pointers below point into `parts` */
    char parts[HX_SPEC_BYTES];
    char written[HX_SPEC_BYTES]; /* as text, with its capitals */
    const char *word;
    unsigned size[HX_MAX_SIZES];
    unsigned sizes; /* 0: none given */
    struct hx_spec_token_key {
        const char *key, *value;
        bool taken;
    } key[HX_MAX_KEYS];
    unsigned keys;
    const char *other; /* neither sizes nor a key; NULL: none */
};

struct hx_topology {
    const char *word;       /* "fat-tree" */
    const char *parameters; /* for people: "hosts=N radix=N levels=2|3 taper=N, or down=N up=N" */
    const char *example;    /* a valid spec */
    const char *summary;    /* half a line */
    bool near_on_grid;      /* neighbours on the logical grid are near: a job's own grid may be folded onto it */

    /* Whether the topology owns such a text, in lower case without spaces; NULL: if it begins with the word. */
    bool (*claims)(const char *squeezed);
    /* Strings that a mistyped text is compared with; of a text that begins with a number all letters count. Ends with
     * NULL; NULL: the word. */
    const char *const *resembles;

    /* Adds nodes, links, addresses, names, classes, rule, grid and groups, between hx_fabric_start() and
     * hx_fabric_finish(), which it calls. Refuses impossible parameters and names the nearest possible ones. */
    bool (*build)(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem);

    /* Returns the next hops of a node to addresses with this digit (0 or 1), as far as this digit tells. The AND of
     * both digits' sets is the route. Ports to a router's own hosts are included. NULL: by breadth-first distances
     * between routers for addr_hi, by the host's place for addr_lo. The caller never asks for a host of one link. */
    uint64_t (*next_hops)(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value);
    /* Returns those of a router's minimal ports that packets use, where `next_hops` is NULL; NULL: all. For topologies
     * with more cables on one path than on another, which a switch cannot see. */
    uint64_t (*filter_ports)(const struct hx_fabric *f, uint32_t router, unsigned addr_hi, uint64_t ports);
    /* Returns the ports of a router that destinations with this digit keep, so that each has one path
     * (hx_fabric_order_d_mod_k()); 0: this shape has no such order. NULL: the topology has none. */
    uint64_t (*d_mod_k)(const struct hx_fabric *f, uint32_t router, unsigned digit, unsigned value);
    /* Returns the ports that a packet from `input` may take; NULL: all. Hosts of one link are not asked for either. */
    uint64_t (*turn_mask)(const struct hx_fabric *f, uint32_t node, unsigned input);
    /* Returns the inputs from which packets to this router's output move to the next VC. NULL: by the fabric's rule. */
    uint64_t (*vc_increment)(const struct hx_fabric *f, uint32_t node, unsigned output);

    /* Which paths packets take, if not all minimal ones: "over any link between the two groups". NULL: all minimal
     * ones. */
    const char *paths;
    /* Returns the links of a minimal path between two hosts, with both host links; NULL: by breadth-first distances. */
    unsigned (*distance)(const struct hx_fabric *f, uint32_t from, uint32_t to);
    /* Returns the sum of distances over all ordered pairs of hosts, and sets the longest; NULL: pair by pair. */
    uint64_t (*distances)(const struct hx_fabric *f, unsigned *longest);
    /* Returns the share of injection bandwidth that all-to-all cannot exceed on minimal paths, however traffic splits;
     * 0 or NULL: by search (topology/loads.h). */
    double (*alltoall_bound)(const struct hx_fabric *f);
    /* Returns the links between two halves of the fabric, all of one rate; 0 or NULL: by search. */
    uint64_t (*bisection)(const struct hx_fabric *f);
    /* Sets the worst-case permutation of minimal routing: to[attachment router] (topology/worst_case.h). NULL: by
     * search. */
    void (*worst_case)(const struct hx_fabric *f, uint64_t seed, uint32_t *to);
    /* Samples of all-to-all in phases that load links evenly, unlike common shifts: the number of phases, and a host's
     * partner in one (hx_fabric_phases(), hx_fabric_partner()). NULL: none. */
    uint32_t (*phases)(const struct hx_fabric *f);
    uint32_t (*partner)(const struct hx_fabric *f, uint32_t host, uint32_t phase);
    /* Sets the dimensions of the hosts (hx_fabric_dimensions()). NULL: hosts of a router, and routers. */
    unsigned (*dimensions)(const struct hx_fabric *f, struct hx_fabric_dimension *dimension);
    /* Orders the hosts of a group for recursive halving and doubling (hx_fabric_halving_order()). NULL: any order is as
     * good. */
    void (*halving_order)(const struct hx_fabric *f, uint32_t *hosts, uint32_t count);
};
/* What every table begins with. */
#define HX_TOPOLOGY(word_, parameters_, example_, summary_, build_)                                                    \
    .word = (word_), .parameters = (parameters_), .example = (example_), .summary = (summary_), .build = (build_)

extern const struct hx_topology *const hx_topologies[]; /* ends with NULL; HammingMesh first */

/* Returns the topology of a spec string. Returns NULL and sets *problem, with the most similar topology, if none owns
 * it. */
const struct hx_topology *hx_topology_of(const char *text, struct hx_problem *problem);

/* Builds the fabric of a spec string with this many planes. Call hx_fabric_free() after success only. */
bool hx_fabric_make(struct hx_fabric *f, const char *text, unsigned planes, struct hx_problem *problem);

/* Contents of a graph's file. bytes NULL: not known. */
struct hx_graph_text {
    const char *bytes;
    size_t length;
};
/* Builds the same with the contents of the graph's file given: opens no file. graph NULL: as hx_fabric_make(). */
bool hx_fabric_make_told(struct hx_fabric *f, const char *text, unsigned planes, const struct hx_graph_text *graph,
                         struct hx_problem *problem);

/* Returns the next hops by addr_lo where this is a host's place on its router: the port to that host, and all ports to
 * routers. */
uint64_t hx_fabric_next_hops_place(const struct hx_fabric *f, uint32_t router, unsigned addr_lo);
/* Returns the ports of a router to its own hosts. */
uint64_t hx_fabric_host_ports(const struct hx_fabric *f, uint32_t router);

/* ---- parameters: what builders call (spec_tokens.c) ---- */

bool hx_spec_tokens_split(struct hx_spec_tokens *w, const char *text, struct hx_problem *problem);
/* Reads the value of a key, low .. high; `default_value` if not given. Returns false and sets *problem if it is no such
 * number. */
bool hx_spec_tokens_number(struct hx_spec_tokens *w, const char *key, unsigned low, unsigned high,
                           unsigned default_value, unsigned *value, struct hx_problem *problem);
bool hx_spec_tokens_real(struct hx_spec_tokens *w, const char *key, double low, double high, double default_value,
                         double *value, struct hx_problem *problem);
bool hx_spec_tokens_has(const struct hx_spec_tokens *w, const char *key);
/* Returns the text of a key; NULL: not given. */
const char *hx_spec_tokens_text(struct hx_spec_tokens *w, const char *key);
/* Reads numbers joined by x or commas, as "2x2" or "400,200". Returns how many; 0: not such a list. */
unsigned hx_spec_tokens_list(const char *text, unsigned *values, unsigned most);
/* Refuses keys that no builder read, and too many sizes. `known` ends with NULL; `sizes`: the most that this topology
 * takes. */
bool hx_spec_tokens_end(const struct hx_spec_tokens *w, const char *const *known, unsigned sizes,
                        struct hx_problem *problem);

/* Writes a part, such as `other`, as the user wrote it, with capitals: for file names. */
void hx_spec_tokens_as_written(const struct hx_spec_tokens *w, const char *part, char written[HX_SPEC_BYTES]);

/* hx_fail() for a spec string: "slim-fly q=6: ..." */
__attribute__((format(printf, 3, 4))) bool hx_spec_tokens_fail(const struct hx_spec_tokens *w,
                                                               struct hx_problem *problem, const char *format, ...);

#endif
