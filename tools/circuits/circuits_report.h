/* circuits_report.h - what `hxmesh topology` has found: circuits, their paths and loads, the strategy, times, costs;
 * other fabrics and packets beside it. */
#ifndef HXMESH_TOOLS_CIRCUITS_REPORT_H
#define HXMESH_TOOLS_CIRCUITS_REPORT_H

#include "base/options/option.h"
#include "tools/circuits/packets.h"
#include "tools/circuits/search.h"
#include "topology/prices.h"

#include <jansson.h>

enum { CIRCUITS_FABRICS = 1 + HX_OPTION_MOST_ITEMS, CIRCUITS_TENTHS = 10 };

/* Bytes of the directed links in an iteration. tenth[i]: i tenths of the links have no more. */
struct circuits_loads {
    uint32_t links;
    double mean, tenth[CIRCUITS_TENTHS + 1];
    uint32_t from, to; /* of the fullest link: servers */
};
struct circuits_loads circuits_loads_of(const struct network_of_servers *n, const double *load);

/* A network, the job with its best strategy there, and what the network costs. */
struct circuits_fabric {
    const char *name; /* as the user gave it */
    struct circuits_strategy strategy;
    struct circuits_demand demand;
    struct circuits_time time;
    double gbps;  /* of a server's interfaces together */
    double usd;   /* 0: not known */
    bool changes; /* circuits change: only the iteration and computing of its times are known, and the tax */
};

struct circuits_report {
    const char *path; /* of the model */
    const struct training_model *m;
    const struct circuits_search *search;
    const struct hx_prices *prices;
    bool searched; /* else the model's own strategy */
    uint64_t searched_steps;
    unsigned rounds;
    const struct circuits *circuits;
    struct circuits_paths paths;
    struct circuits_loads all, sums;
    struct circuits_fabric fabric[CIRCUITS_FABRICS]; /* that of the circuits first */
    unsigned fabrics;
    struct circuits_run run;      /* of packets */
    const char *graph, *schedule; /* files that were written; NULL: none */
};

/* Circuits of the rings of sums. */
uint32_t circuits_in_rings(const struct circuits_report *r);

void circuits_print(const struct circuits_report *r);
json_t *circuits_json(const struct circuits_report *r);

#endif
