/* diameter2.c - the experiments of Kathareios et al., "Cost-Effective Diameter-Two Topologies: Analysis and
 * Evaluation", SC15, and what they run. */
#include "tools/reproduce/diameter2.h"
#include "hxmesh/frame.h"
#include "tools/reproduce/experiment.h"

#include <string.h>

/* ---- networks ---- */

/* The study's, of the full version, or smaller ones of the same kind. */
enum { SF, SF_MORE, MLFM, OFT, NETWORKS };
static const struct plan_fabric fabrics[NETWORKS] = {
    [SF] = {{"slim-fly q=4 p=3", "slim-fly q=5 p=3", "slim-fly q=13 p=9"}},
    [SF_MORE] = {{"slim-fly q=4 p=4", "slim-fly q=5 p=4", "slim-fly q=13 p=10"}},
    [MLFM] = {{"mlfm h=3", "mlfm h=6", "mlfm h=15"}},
    [OFT] = {{"oft k=3", "oft k=5", "oft k=12"}}};
static const struct diameter2_network networks[NETWORKS] = {[SF] = {"SF", {1.0 / 6, 1.0 / 6, 1.0 / 18}},
                                                            [SF_MORE] = {"SF+", {1.0 / 8, 1.0 / 8, 1.0 / 20}},
                                                            [MLFM] = {"MLFM", {1.0 / 3, 1.0 / 6, 1.0 / 15}},
                                                            [OFT] = {"OFT", {1.0 / 3, 1.0 / 5, 1.0 / 12}}};

const char *diameter2_spec_of(const struct diameter2_network *n, enum reproduce_effort effort)
{
    return fabrics[n - networks].spec[effort];
}

const struct diameter2_network *diameter2_network_of(const char *fabric, enum reproduce_effort effort)
{
    const char *routing = strstr(fabric, " routing=");
    size_t length = routing ? (size_t)(routing - fabric) : strlen(fabric);
    for (unsigned i = 0; i < NETWORKS; i++)
        if (strlen(fabrics[i].spec[effort]) == length && strncmp(fabrics[i].spec[effort], fabric, length) == 0)
            return &networks[i];
    return NULL;
}

const char *diameter2_routing_of(const char *fabric)
{
    const char *routing = strstr(fabric, "routing=");
    return routing ? routing + strlen("routing=") : "minimal";
}

/* ---- figures 6 to 12: over load ---- */

/* The last load measures saturation. */
static const struct plan_load loads[PLAN_LOADS] = {
    {"uniform", {{0.5, 1}, {0.2, 0.4, 0.5, 0.6, 0.8, 0.9, 1}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}}},
    {"worst-case", {{0.1, 1}, {0.1, 0.2, 0.3, 0.4, 0.5, 1}, {0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 1}}}};

/* The study sends packets of 256 B for 200 us. Here each message is acknowledged by a block of 256 B, which would halve
 * such load. So messages have eight full packets, and runs are longer; a tenth is warm-up. Buffers hold 400 packets,
 * about as many as the study's. */
#define SETTING .timing = "sc15", .buffer = 3276800
#define UNDER_LOAD                                                                                                     \
    SETTING, .load = loads, .bytes = PLAN_ALWAYS(64 * KIB), .duration = {100000, 300000, 2000000}, .warm_up = 10

static const struct plan_batch oblivious[] = {
    {PLAN_ON(fabrics), UNDER_LOAD, .way = {PLAN_ROUTED_BY("minimal"), PLAN_ROUTED_BY("valiant")}}};

/* UGAL: the number of detours compared, and the cost factor of a detour; behind them `threshold`, the minimum share of
 * a buffer in use, below which there is no detour. */
#define UGAL(threshold)                                                                                                \
    .way = {PLAN_ROUTED_BY("ugal:n=1,c=1" threshold), PLAN_ROUTED_BY("ugal:n=4,c=1" threshold),                        \
            PLAN_ROUTED_BY("ugal:n=1,c=2" threshold), PLAN_ROUTED_BY("ugal:n=4,c=2" threshold),                        \
            PLAN_ROUTED_BY("ugal:n=8,c=2" threshold), PLAN_ROUTED_BY("ugal:n=4,c=4" threshold)},                       \
    .ways = {1, 4, 6}
static const struct plan_batch at_once[NETWORKS] = {[SF] = {PLAN_ON_SOME(fabrics, SF, 1), UNDER_LOAD, UGAL("")},
                                                    [MLFM] = {PLAN_ON_SOME(fabrics, MLFM, 1), UNDER_LOAD, UGAL("")},
                                                    [OFT] = {PLAN_ON_SOME(fabrics, OFT, 1), UNDER_LOAD, UGAL("")}};
static const struct plan_batch from_a_tenth[NETWORKS] = {
    [SF] = {PLAN_ON_SOME(fabrics, SF, 1), UNDER_LOAD, UGAL(",t=0.1")},
    [MLFM] = {PLAN_ON_SOME(fabrics, MLFM, 1), UNDER_LOAD, UGAL(",t=0.1")},
    [OFT] = {PLAN_ON_SOME(fabrics, OFT, 1), UNDER_LOAD, UGAL(",t=0.1")}};

static const char *const notes_of_load[] = {
    "First table: carried where hosts offer all they can. SF+ is the Slim Fly with one host more on each router.",
    "Paper, uniform: minimal routing carries 96 to 98 % on the Slim Fly of p=9, the MLFM and the OFT, 87 % with p=10; "
    "Valiant half of that; UGAL-L as minimal.",
    "Paper, worst case: minimal routing carries 5, 6.6 and 8.3 % (1/2p, 1/h, 1/k), Valiant half of the injection, "
    "UGAL-L no less than Valiant.",
    "Messages of 64 KiB in packets of 8 KiB and buffers of 400 packets, in place of packets of 256 B and 100 KB: times "
    "are longer in that proportion.",
    NULL};

/* ---- figures 13 and 14: exchanges ---- */

#define BY_SIX                                                                                                         \
    .way = {PLAN_ROUTED_BY("minimal"),      PLAN_ROUTED_BY("valiant"),      PLAN_ROUTED_BY("ugal:n=1,c=1"),            \
            PLAN_ROUTED_BY("ugal:n=1,c=2"), PLAN_ROUTED_BY("ugal:n=4,c=2"), PLAN_ROUTED_BY("ugal:n=4,c=2,t=0.1")}

/* The study's 7.5 KB are 30 of its packets to each host. Partners are in random order: with common shifts all hosts of
 * a router send to one other router at a time, which on an MLFM they reach by a single link. */
static const struct plan_batch all_to_all[] = {
    {PLAN_ON(fabrics), SETTING, BY_SIX, .traffic = "all-to-all-random", .bytes = PLAN_ALWAYS(30 * HX_MAX_PAYLOAD)}};
static const struct plan_batch neighbours[] = {
    {PLAN_ON(fabrics), SETTING, BY_SIX, .traffic = "neighbour-3d", .bytes = {16 * KIB, 512 * KIB, 512 * KIB}}};

static const char *const notes_of_exchange[] = {
    "Share: payload delivered until the last delivery, of what the hosts could have injected. SF+ is the Slim Fly with "
    "one host more on each router.",
    "Paper: all-to-all reaches nearly 100 % with minimal and adaptive routing and half with Valiant; the neighbour "
    "exchange about 70 % with Valiant, nearly 100 % on the MLFM with the best adaptive one, and on the Slim Fly 20 % "
    "more than with Valiant.",
    NULL};

/* ---- the experiments ---- */

#define RUNS(array) (&(const struct plan_runs){PLAN_BATCHES(array)})
#define RUN(batch_) (&(const struct plan_runs){.batch = &(batch_), .batches = 1})
#define OVER_LOAD(name, title, minutes, runs)                                                                          \
    {                                                                                                                  \
        name, title, minutes, runs, NULL, show_load, notes_of_load                                                     \
    }

const struct experiment diameter2_experiments[] = {
    {"fig3", "Figure 3: hosts by radix of the switches, and what a host costs", 0, NULL, NULL, show_scalability,
     NOTES("Links with the hosts' own; ports of switches that something hangs on; distance in links, the hosts' own "
           "included, on average; dollars of one plane, by appendix C of the HammingMesh paper.",
           "Paper: its three diameter-two designs cost two links and three switch ports a host, and the OFT has twice "
           "the hosts of the others at the same cost. Its curves are plotted; values read off a plot are left out.")},
    {"fig4", "Figure 4: bisection", 1, NULL, NULL, show_bisection,
     NOTES("By search: the best halves found (topology/bisection.h), so the bisection is that or less. The paper "
           "partitioned with METIS, which finds the same, at most 2 % less (docs/reproduce.md).",
           "Paper: a plotted curve; values read off a plot are left out.")},
    OVER_LOAD("fig6", "Figure 6: oblivious routing, minimal and Valiant, over load", 6, RUNS(oblivious)),
    OVER_LOAD("fig7", "Figure 7: Slim Fly, UGAL-L (SF-A), over load", 2, RUN(at_once[SF])),
    OVER_LOAD("fig8", "Figure 8: Slim Fly, UGAL-L with a threshold (SF-ATh), over load", 2, RUN(from_a_tenth[SF])),
    OVER_LOAD("fig9", "Figure 9: MLFM, UGAL-L (MLFM-A), over load", 3, RUN(at_once[MLFM])),
    OVER_LOAD("fig10", "Figure 10: MLFM, UGAL-L with a threshold (MLFM-ATh), over load", 3, RUN(from_a_tenth[MLFM])),
    OVER_LOAD("fig11", "Figure 11: OFT, UGAL-L (OFT-A), over load", 3, RUN(at_once[OFT])),
    OVER_LOAD("fig12", "Figure 12: OFT, UGAL-L with a threshold (OFT-ATh), over load", 3, RUN(from_a_tenth[OFT])),
    {"fig13", "Figure 13: all-to-all exchange, 30 packets a pair", 6, RUNS(all_to_all), NULL, show_exchange,
     notes_of_exchange},
    {"fig14", "Figure 14: nearest neighbour exchange, 512 KiB a pair", 3, RUNS(neighbours), NULL, show_exchange,
     notes_of_exchange},
    EXPERIMENTS_END};
