/* topology.h - the table of topologies: one file each, behind these few functions.
 *
 * A fabric is written as a word, then sizes or key=value; case and spaces are free. Each topology's own file says its
 * words, its paper and what follows from it; hxmesh topologies lists them. What a topology leaves NULL has the general
 * answer that stands beside it here. */
#ifndef HXMESH_TOPOLOGY_TOPOLOGY_H
#define HXMESH_TOPOLOGY_TOPOLOGY_H

#include "topology/fabric.h"

enum { HX_MAX_SIZES = 5, HX_MAX_KEYS = 8, HX_SPEC_BYTES = 256 /* of a spec string, the final zero included */ };

/* A spec string taken apart: "torus 8x8x4 board=2x2" is word "torus", sizes 8 8 4, key "board" with the value "2x2". */
struct hx_spec_tokens {
    char text[HX_SPEC_BYTES]; /* lower case, one space between parts; pieces below point into a copy */
    char parts[HX_SPEC_BYTES];
    char written[HX_SPEC_BYTES]; /* as text, capitals kept */
    const char *word;
    unsigned size[HX_MAX_SIZES];
    unsigned sizes; /* 0: none was given */
    struct hx_spec_token_key {
        const char *key, *value;
        bool taken;
    } key[HX_MAX_KEYS];
    unsigned keys;
    const char *other; /* what is neither sizes nor a key; NULL: nothing */
};

struct hx_topology {
    const char *word;       /* "fat-tree" */
    const char *parameters; /* for people: "hosts=N radix=N levels=2|3 taper=N, or down=N up=N" */
    const char *example;    /* one that works */
    const char *summary;    /* half a line */

    /* Whether such a text, lower case and without spaces, is its own; NULL: it begins with the word. */
    bool (*claims)(const char *squeezed);
    /* Letters of such a text, where it does not begin with the word: what a slip of the pen is compared with. Of a text
     * that begins with a number all its letters count. Ends with NULL; NULL: the word. */
    const char *const *resembles;

    /* Lays out nodes, links, addresses, names, classes, rule, grid and groups for what was asked, between
     * hx_fabric_start() and hx_fabric_finish(), both of which it calls. Parameters that cannot be are refused with the
     * nearest that can. */
    bool (*build)(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem);

    /* The ports of a node on minimal ways to addresses whose digit (0 or 1) has that value, as far as this digit tells:
     * the AND of both digits' sets is the way. A router's or host's own hosts included. NULL: by breadth-first
     * distances between routers for d0, by the host's place for d1. Hosts of one link, to a router, are not asked
     * for. */
    uint64_t (*next_hops)(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value);
    /* Of the ports of a router on shortest ways to the hosts of a d0, those that packets take, where `next_hops` is NULL;
     * NULL: all. For who has more cables one way than another, which packets would not know. */
    uint64_t (*filter_ports)(const struct hx_fabric *f, uint32_t router, unsigned addr_hi, uint64_t ports);
    /* Of the ports of a router, those that each destination keeps to whose digit has that value, so that it has one way
     * from there (hx_fabric_order_d_mod_k()); 0: a fabric of this shape has no such order. NULL: none has. */
    uint64_t (*d_mod_k)(const struct hx_fabric *f, uint32_t router, unsigned digit, unsigned value);
    /* Ports that a packet may still take which came by `input`; NULL: all. Likewise. */
    uint64_t (*turn_mask)(const struct hx_fabric *f, uint32_t node, unsigned input);
    /* Of a router's output: the inputs whose packets have their VC raised by one behind it. NULL: by the fabric's
     * rule. */
    uint64_t (*vc_increment)(const struct hx_fabric *f, uint32_t node, unsigned output);

    /* Which paths packets take where they are not all of the least length: "over any link between the two groups".
     * NULL: they are. */
    const char *paths;
    /* Links of a minimal way between two hosts, the hosts' own included; NULL: by breadth-first distances. */
    unsigned (*distance)(const struct hx_fabric *f, uint32_t from, uint32_t to);
    /* Sum of these over all ordered pairs of hosts, and the longest; NULL: pair by pair. */
    uint64_t (*distances)(const struct hx_fabric *f, unsigned *longest);
    /* Share of the injection bandwidth that all-to-all cannot exceed, however traffic is split over minimal ways; NULL:
     * by search (topology/loads.h). */
    double (*alltoall_bound)(const struct hx_fabric *f);
    /* Links that join the two halves of the fabric, all of one rate, where it is known; 0 or NULL: a cut found by
     * search. */
    uint64_t (*bisection)(const struct hx_fabric *f);
    /* Who sends to whom where minimal routing is at its worst: to[seat], of all seats (topology/worst_case.h).
     * NULL: by search. */
    void (*worst_case)(const struct hx_fabric *f, uint64_t seed, uint32_t *to);
    /* Samples of all-to-all in rounds that load links alike, which common shifts do not: how many rounds there are, and
     * whom a host sends to in one (hx_fabric_phases(), hx_fabric_partner()). NULL: there are none. */
    uint32_t (*phases)(const struct hx_fabric *f);
    uint32_t (*partner)(const struct hx_fabric *f, uint32_t host, uint32_t phase);
};
/* What every table begins with. */
#define HX_TOPOLOGY(word_, parameters_, example_, summary_, build_)                                                    \
    .word = (word_), .parameters = (parameters_), .example = (example_), .summary = (summary_), .build = (build_)

extern const struct hx_topology *const hx_topologies[]; /* ends with NULL; HammingMesh first */

/* The topology of a spec string; NULL and *problem: there is none, which it was probably meant to be. */
const struct hx_topology *hx_topology_of(const char *text, struct hx_problem *problem);

/* Builds what a spec string says, of so many planes. hx_fabric_free() afterwards, not after a failure. */
bool hx_fabric_make(struct hx_fabric *f, const char *text, unsigned planes, struct hx_problem *problem);

/* What the file of a graph says. bytes NULL: it is not known. */
struct hx_graph_text {
    const char *bytes;
    size_t length;
};
/* The same where somebody else names the fabric, and says what the graph's file says: no file is opened. NULL: as
 * above. */
bool hx_fabric_make_told(struct hx_fabric *f, const char *text, unsigned planes, const struct hx_graph_text *graph,
                         struct hx_problem *problem);

/* What `next_hops` may answer by d1 where this is a host's place on its router: the port of the host there, and all that
 * lead on. */
uint64_t hx_fabric_next_hops_place(const struct hx_fabric *f, uint32_t router, unsigned addr_lo);
/* The ports of a router that its own hosts hang on. */
uint64_t hx_fabric_host_ports(const struct hx_fabric *f, uint32_t router);

/* ---- parameters: what builders call (spec_tokens.c) ---- */

bool hx_spec_tokens_split(struct hx_spec_tokens *w, const char *text, struct hx_problem *problem);
/* The value of a key, 0 .. most; `default_value` where it is not given. Bad numbers end in *problem and false. */
bool hx_spec_tokens_number(struct hx_spec_tokens *w, const char *key, unsigned low, unsigned high,
                           unsigned default_value, unsigned *value, struct hx_problem *problem);
bool hx_spec_tokens_real(struct hx_spec_tokens *w, const char *key, double low, double high, double default_value,
                         double *value, struct hx_problem *problem);
bool hx_spec_tokens_has(const struct hx_spec_tokens *w, const char *key);
/* The text of a key, NULL: not given. */
const char *hx_spec_tokens_text(struct hx_spec_tokens *w, const char *key);
/* Numbers joined by x or commas, as "2x2" or "400,200"; 0: it is not that. Returns how many. */
unsigned hx_spec_tokens_list(const char *text, unsigned *values, unsigned most);
/* Refuses keys and sizes that nobody took: `known` ends with NULL; `sizes`: how many sizes this topology takes at
 * most. */
bool hx_spec_tokens_end(const struct hx_spec_tokens *w, const char *const *known, unsigned sizes,
                        struct hx_problem *problem);

/* A part, as `other`, in the letters in which it was written: for names of files. */
void hx_spec_tokens_as_written(const struct hx_spec_tokens *w, const char *part, char written[HX_SPEC_BYTES]);

/* hx_fail() for a spec string: "slim-fly q=6: ..." */
__attribute__((format(printf, 3, 4))) bool hx_spec_tokens_fail(const struct hx_spec_tokens *w,
                                                               struct hx_problem *problem, const char *format, ...);

#endif
