/* topoopt.c - the experiments of Wang et al., "TopoOpt: Co-optimizing Network Topology and Parallelization Strategy for
 * Distributed Training Jobs", NSDI 2023: six jobs on circuits of their own, and on other networks. Without runs. */
#include "tools/reproduce/topoopt.h"
#include "tools/reproduce/experiment.h"

#define CALCULATED(name, title, minutes, show, ...)                                                                    \
    {                                                                                                                  \
        name, title, minutes, NULL, NULL, show, NOTES(__VA_ARGS__)                                                     \
    }

#define DLRM                                                                                                           \
    "DLRM with as many tables as servers, one on each, all else replicated, without a search; d links of 100 Gb/s. "   \
    "Batches are those of a GPU, four a server.",                                                                      \
        "Bytes of exchanges: 4 of an element of what leaves a table, forward and backward, and 8 of an index, 100 "    \
        "indices a sample and table."
#define CHANGING                                                                                                       \
    "OCS-reconfig and SiP-ML: the ideal switch's strategy. OCS-reconfig: each 50 ms, 10 ms dark, servers forward. "    \
    "SiP-ML: when demand has changed, 100 us after the last change at the earliest, 25 us dark, no forwarding."

const struct experiment topoopt_experiments[] = {
    CALCULATED("fig10", "Figure 10: what networks cost, 128 to 2,000 servers", 0, show_topoopt_cost,
               "Prices: examples/prices/topoopt.yaml. A server has d interfaces of B; trees have three levels. Ratios "
               "are by Gb/s, for any d and any number of servers.",
               "An interface at a patch panel: NIC, transceiver, panel port and fibre of 500 m. Look-ahead: two panel "
               "ports, two 1x2 switches. SiP-ML is priced as an OCS, an expander without panels."),
    CALCULATED("fig11", "Figure 11: six jobs on seven networks, 4 interfaces a server, 10 to 200 Gb/s", 5,
               show_topoopt_times_4, CHANGING),
    CALCULATED("fig12", "Figure 12: DLRM over batch sizes", 1, show_topoopt_batch, DLRM,
               "Fat tree: as many interfaces of 100 Gb/s, also parts of one, as cost what d at patch panels cost."),
    CALCULATED("fig13", "Figure 13: bandwidth tax of DLRM over batch sizes", 1, show_topoopt_tax, DLRM,
               "Tax: bytes that servers send and forward over bytes that they send of their own. Sums go over one "
               "circuit a step, exchanges over paths."),
    CALCULATED("fig14", "Figure 14: lengths of paths", 0, show_topoopt_paths, DLRM,
               "Circuits of batch 64. Paths are the shortest."),
    CALCULATED("fig15", "Figure 15: loads of links", 0, show_topoopt_loads, DLRM),
    CALCULATED("fig16", "Figure 16: jobs that share 432 servers, over load", 5, show_topoopt_cluster,
               "1 and 8 paths: of each flow, drawn at random, as hashes of connections choose them; all paths: as "
               "adaptive routing divides many packets. A sum is a flow to each neighbour of a ring."),
    CALCULATED("fig17", "Figure 17: circuits that change, dark for 1 us to 10 ms", 5, show_topoopt_reconfigure,
               "On change: when a flow began or ended, four dark times after the last look at the earliest (the rhythm "
               "of the authors' published simulator). Circuits that stay carry on; others are dark. Sums are flows to "
               "both neighbours on the ring of stride 1."),
    CALCULATED("fig27", "Figure 27: six jobs on seven networks, 8 interfaces a server, 10 to 200 Gb/s", 5,
               show_topoopt_times_8, CHANGING),
    {"fig28", "Figure 28: DLRM by interfaces of a server", 1, NULL, NULL, show_topoopt_degree, NULL},
    EXPERIMENTS_END};
