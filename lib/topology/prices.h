/* prices.h - what parts of a network cost, and what an interface of a server costs in networks of a kind.
 *
 * A file of prices is YAML (prices.c has its keys; examples/prices). What it does not name costs nothing. Prices by
 * rate are those of links, for the rates in a list. Between two of these a price is on the line between them. Below the
 * first it is that of the first. Above the last, several links of the last rate are side by side, also parts of one:
 * 500 Gb/s cost 2.5 times as much as 200. */
#ifndef HXMESH_TOPOLOGY_PRICES_H
#define HXMESH_TOPOLOGY_PRICES_H

#include "base/options/option.h"
#include "topology/fabric.h"

enum { HX_MOST_RATES = 16 };

/* Dollars of a part for a rate. */
struct hx_rate_price {
    double gbps;
    double transceiver; /* one, at each end of a fibre */
    double nic;         /* of a link at a server */
    double port;        /* of a link at a switch */
};

/* What is between the fibres of two servers. */
enum hx_circuit {
    HX_CIRCUIT_PANEL,     /* a port of a patch panel for each */
    HX_CIRCUIT_LOOKAHEAD, /* two of these for each, and 1x2 switches for both directions: the next circuit is laid while
                             this one is in use (TopoOpt, section 5.1) */
    HX_CIRCUIT_OCS,       /* a port of an optical circuit switch for each */
    HX_CIRCUIT_FIBRE,     /* nothing: one fibre joins them */
    HX_CIRCUITS
};
extern const char *const hx_circuit_names[HX_CIRCUITS + 1]; /* ends with NULL */

enum hx_optical { HX_OPTICAL_AOC, HX_OPTICAL_ALL };

/* Dollars. */
struct hx_prices {
    const char *path;            /* of their file, not copied; NULL: the default prices */
    double box;                  /* of a switch, with any number of ports */
    double cable[HX_LINK_KINDS]; /* with what is at its ends */
    unsigned rates;
    struct hx_rate_price rate[HX_MOST_RATES]; /* ascending */
    unsigned optical;                         /* enum hx_optical: cables that are a fibre between two transceivers */
    double metre;                             /* of fibre */
    double longest;    /* fibre, metres: lengths are uniform from 0 on, so half of it is the mean */
    unsigned circuit;  /* enum hx_circuit: optical cables between two servers */
    double panel, ocs; /* of a port */
    double flip;       /* of a 1x2 switch */
    double gbyte_cable, gbyte_nic, gbyte_port; /* of a GB/s in a network of dimensions (tools/bandwidth/work.h) */
};

/* Appendix C of the HammingMesh paper (SC22), and for networks of dimensions Won et al. (2021). The same as
 * examples/prices/hammingmesh.yaml. */
extern const struct hx_prices hx_default_prices;

/* Reads a file. Returns false and sets *problem. */
bool hx_prices_read(struct hx_prices *p, const char *path, struct hx_problem *problem);
/* Prints its keys. */
void hx_prices_print_keys(enum hx_help_format format, FILE *out);

/* An option of a table, with the file's name for hx_prices_take(): --prices FILE. */
/* clang-format off */
#define HX_PRICES_OPTION(path) \
    {HX_STRING("prices", "FILE", (path), "prices of switches, cables, links by rate, panels and fibre " \
                                         "(docs/topologies.md)"), .otherwise = "appendix C of the HammingMesh paper"}
/* clang-format on */
/* Reads it; NULL: the default prices. Dies if it is not valid. */
struct hx_prices hx_prices_take(const char *path);

/* What a link of a rate costs: parts at one end, and one fibre. */
struct hx_link_price {
    double links; /* 1 or more: of the last rate, side by side */
    double transceiver, nic, port, fibre;
};
struct hx_link_price hx_link_price(const struct hx_prices *p, double gbps);

/* ---- an interface of a server, with its share of the network ---- */

/* The end of an optical circuit, without NIC and transceiver. */
double hx_circuit_end_usd(const struct hx_prices *p, enum hx_circuit circuit, double gbps);
/* NIC, transceiver and end of a circuit: TopoOpt on panels or circuit switches; expanders by HX_CIRCUIT_FIBRE. SiP-ML
 * has no published prices: take HX_CIRCUIT_OCS, as if its ports cost what those of other circuit switches do. */
double hx_circuit_usd(const struct hx_prices *p, enum hx_circuit circuit, double gbps);

/* Levels of a fat tree of switches with `radix` ports: 1 up to radix hosts, 2 up to radix^2 / 2, 3 up to radix^3 / 4;
 * 0: more hosts than that. TopoOpt's trees have three: 128 hosts are 8^3 / 4. */
unsigned hx_tree_levels(uint32_t hosts, unsigned radix);
/* Of a fat tree of fibres: a NIC, 1 + 2 (levels - 1) / taper ports, each with a transceiver as the NIC has, and 1 +
 * (levels - 1) / taper fibres. Three levels: 5 ports, 6 transceivers and 3 fibres; with taper 2: 3, 4 and 2. An ideal
 * switch is priced as such a tree. */
double hx_tree_usd(const struct hx_prices *p, unsigned levels, double taper, double gbps);
/* Gb/s of a server in a full-bisection tree that costs as much as d interfaces of `usd` each: as many interfaces of
 * `gbps` as the money buys, also parts of one, so that cost is in proportion to the rate. 0: a tree costs nothing.
 *
 * At the rates of TopoOpt's table 2, d = 4, and three levels, d B over the tree's rate is 2.7 3.4 2.7 2.6 3.4 with one
 * panel port an interface, 2.96 in the mean; with look-ahead panels 2.0 2.5 2.2 2.3 3.1. TopoOpt publishes an ideal
 * switch of 3.2 times its cost, and trees of equal cost that are 2.8 to 3 times as slow; its circuit switches of 1.33
 * times the cost are with look-ahead. Other readings fit less: one interface for all the money has 0.9 2.0 1.7 2.1 3.4,
 * and d interfaces of a lower rate cannot be bought below B = 200. */
double hx_tree_of_equal_cost(const struct hx_prices *p, unsigned levels, double usd, unsigned d, double gbps);

#endif
