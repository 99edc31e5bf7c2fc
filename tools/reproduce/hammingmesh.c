/* hammingmesh.c - the experiments of Hoefler et al., "HammingMesh: A Network Topology for Large-Scale Deep Learning",
 * SC22, and what they run. */
#include "tools/reproduce/hammingmesh.h"
#include "tools/reproduce/experiment.h"
#include "tools/reproduce/paper.h"

/* ---- fabrics ---- */

#define FABRIC(quick, paper)                                                                                           \
    {                                                                                                                  \
        {                                                                                                              \
            quick, paper, paper                                                                                        \
        }                                                                                                              \
    }

static const struct plan_fabric small[] = {FABRIC("4x4 Hx2Mesh", "16x16 Hx2Mesh"), FABRIC("2x2 Hx4Mesh", "8x8 Hx4Mesh"),
                                           FABRIC("8x8 Hx1Mesh", "32x32 Hx1Mesh")};
static const struct plan_fabric large[] = {FABRIC("6x6 Hx2Mesh", "64x64 Hx2Mesh"),
                                           FABRIC("3x3 Hx4Mesh", "32x32 Hx4Mesh")};
/* What the paper compares with. The large HyperX is the Hx1Mesh (paper.h). */
static const struct plan_fabric others[] = {FABRIC("fat-tree hosts=64 radix=16", "fat-tree hosts=1024"),
                                            FABRIC("fat-tree hosts=64 radix=16 down=8 up=4", PAPER_HALF_TREE),
                                            FABRIC("fat-tree hosts=64 radix=16 down=8 up=2", PAPER_QUARTER_TREE),
                                            FABRIC("dragonfly a=8 p=4 h=4 groups=4", PAPER_DRAGONFLY),
                                            FABRIC("hyperx 8x8 p=1", "hyperx 32x32 p=1"),
                                            FABRIC("torus 8x8 board=2x2", PAPER_TORUS)};
static const struct plan_fabric large_others[] = {
    FABRIC("fat-tree hosts=144 radix=16 levels=3", PAPER_LARGE_TREE),
    FABRIC("fat-tree hosts=144 radix=16 levels=3 down=8 up=4", PAPER_LARGE_HALF_TREE),
    FABRIC("fat-tree hosts=144 radix=16 levels=3 down=8 up=2", PAPER_LARGE_QUARTER_TREE),
    FABRIC("dragonfly a=8 p=3 h=4 groups=6", PAPER_LARGE_DRAGONFLY),
    FABRIC("12x12 Hx1Mesh", PAPER_LARGE_HYPERX),
    FABRIC("torus 12x12 board=2x2", PAPER_LARGE_TORUS)};

/* Of both lists of others. Few shifts would load few links of a torus: a shift moves all packets by the same hops. */
enum { TORUS = 5 };
#define ON_OTHERS(list) PLAN_ON_SOME(list, 0, TORUS)
#define ON_TORUS(list)  PLAN_ON_SOME(list, TORUS, 1)

/* The two of the small cluster with an all-reduce in the paper, and the Hx1Mesh. */
#define ON_BOARDS  PLAN_ON_SOME(small, 0, 2)
#define ON_HX1MESH PLAN_ON_SOME(small, 2, 1)

static const char all_to_all[] = "all-to-all";
static const char all_reduce[] = "all-reduce";

/* ---- table II ---- */

/* Two rings on 16,384 accelerators take 2 * 16,383 steps for any vector: too slow for the default version. */
#define LARGE_RINGS .traffic = all_reduce, .way = {PLAN_BY("torus"), PLAN_BY("rings")}, .ways = {2, 1, 2}
#define SMALL_RINGS .traffic = all_reduce, .way = {PLAN_BY("torus"), PLAN_BY("rings")}

static const struct plan_batch table2[] = {
    {PLAN_ON(small), .traffic = all_to_all, .bytes = {64 * KIB, MIB, MIB}},
    {PLAN_ON(large), .traffic = all_to_all, .bytes = {64 * KIB, MIB, MIB}, .shifts = {8, 8, 64}},
    {ON_BOARDS, SMALL_RINGS, .bytes = {4 * MIB, 256 * MIB, 256 * MIB}},
    {ON_OTHERS(others), .traffic = all_to_all, .bytes = {64 * KIB, MIB, MIB}, .shifts = {0, 32, 0}},
    {ON_TORUS(others), .traffic = all_to_all, .bytes = {64 * KIB, 32 * KIB, MIB}},
    /* One ring in the order of the hosts leaves a leaf once. Two rings on the grid use all links of a host with
     * several. */
    {PLAN_ON(others), .traffic = all_reduce, .way = {PLAN_BY("ring"), PLAN_BY("rings")},
     .bytes = {4 * MIB, 256 * MIB, 256 * MIB}},
    /* A few shifts are no fair sample on fabrics with groups: each sends a whole group to two others. So there are as
     * many as memory allows: each pair of hosts takes about half a KiB. Short messages would fill and drain the fabric
     * for much of the time, so all send for a fixed time, and the full fabric is measured. A packet passes sixty hosts
     * of the torus. */
    {ON_OTHERS(large_others), .traffic = all_to_all, .bytes = PLAN_ALWAYS(64 * KIB), .shifts = {0, 128, 512},
     .duration = {60000, 60000, 120000}, .warm_up = 2},
    {ON_TORUS(large_others), .traffic = all_to_all, .bytes = PLAN_ALWAYS(64 * KIB), .shifts = {0, 128, 512},
     .duration = {60000, 120000, 300000}, .warm_up = 2},
    {PLAN_ON(large), LARGE_RINGS, .bytes = {4 * MIB, 16 * MIB, 64 * MIB}},
    {ON_HX1MESH, .traffic = all_reduce, .way = {PLAN_BY("torus")}, .bytes = {4 * MIB, 256 * MIB, 256 * MIB}},
    {PLAN_ON(large_others), .traffic = all_reduce, .way = {PLAN_BY("torus")}, .bytes = {4 * MIB, 16 * MIB, 256 * MIB}},
    /* Larger vectors first on the large clusters: the small ones are already near the end of their curves. */
    {PLAN_ON(large), LARGE_RINGS, .bytes = {0, 64 * MIB, GIB}},
    {ON_BOARDS, SMALL_RINGS, .bytes = {0, GIB, GIB}},
    {PLAN_ON(large), LARGE_RINGS, .bytes = {0, 256 * MIB, 4 * GIB}},
    {ON_BOARDS, SMALL_RINGS, .bytes = {0, 0, 4 * GIB}}};
static const struct plan_runs table2_runs = {PLAN_BATCHES(table2)};

/* ---- figures 11 and 12: messages ---- */

/* The default version sends larger messages on other fabrics by a sample of shifts. */
static const struct plan_batch fig11[] = {{PLAN_ON(small), .traffic = all_to_all, .bytes = {64 * KIB, MIB, 4 * MIB}},
                                          {PLAN_ON(others), .traffic = all_to_all, .bytes = PLAN_ALWAYS(16 * KIB)},
                                          {ON_OTHERS(others), .traffic = all_to_all, .least = 64 * KIB,
                                           .bytes = {64 * KIB, MIB, 4 * MIB}, .shifts = {0, 32, 0}},
                                          {ON_TORUS(others), .traffic = all_to_all, .least = 64 * KIB,
                                           .bytes = {64 * KIB, MIB, 4 * MIB}, .shifts = {0, 128, 0}}};
static const struct plan_runs fig11_runs = {PLAN_BATCHES(fig11), .least = PLAN_ALWAYS(KIB)};

/* Each host sends one message to a random partner. */
static const struct plan_batch fig12[] = {
    {PLAN_ON(small), .traffic = "permutation", .bytes = {MIB, 16 * MIB, 64 * MIB}},
    {PLAN_ON(others), .traffic = "permutation", .bytes = {MIB, 16 * MIB, 64 * MIB}}};
static const struct plan_runs fig12_runs = {PLAN_BATCHES(fig12), .seeds = {2, 5, 20}};

/* ---- figures 13 and 17: all-reduce ---- */

#define SUM_BY(algorithm) .traffic = all_reduce, .way = {PLAN_BY(algorithm)}

/* Other fabrics use the algorithm that uses all links of a host. */
static const struct plan_batch fig13[] = {{ON_BOARDS, SUM_BY("torus"), .bytes = {4 * MIB, GIB, 4 * GIB}},
                                          {ON_BOARDS, SUM_BY("rings"), .bytes = {4 * MIB, GIB, 4 * GIB}},
                                          {ON_BOARDS, SUM_BY("ring"), .bytes = {4 * MIB, 256 * MIB, 4 * GIB}},
                                          {ON_BOARDS, SUM_BY("tree"), .bytes = {MIB, 64 * MIB, 4 * GIB}},
                                          {ON_OTHERS(others), SUM_BY("ring"), .bytes = {MIB, 64 * MIB, 4 * GIB}},
                                          {ON_TORUS(others), SUM_BY("rings"), .bytes = {MIB, 64 * MIB, 4 * GIB}}};
static const struct plan_runs fig13_runs = {PLAN_BATCHES(fig13), .least = {64 * KIB, MIB, MIB}};

static const struct plan_batch fig17[] = {{PLAN_ON(large), SUM_BY("torus"), .bytes = {4 * MIB, 256 * MIB, 4 * GIB}},
                                          {PLAN_ON(large), SUM_BY("rings"), .bytes = {4 * MIB, 0, 4 * GIB}},
                                          {PLAN_ON(large), SUM_BY("ring"), .bytes = {4 * MIB, 0, 4 * GIB}},
                                          {PLAN_ON(large), SUM_BY("tree"), .bytes = {MIB, 4 * MIB, 4 * GIB}}};
static const struct plan_runs fig17_runs = {PLAN_BATCHES(fig17), .least = {256 * KIB, MIB, MIB}};

/* ---- the experiments ---- */

#define ALL_REDUCE_SHARE                                                                                               \
    "Share: vector bytes a second over half of all links of a host in one plane, since every byte has to leave a "     \
    "host "                                                                                                            \
    "nearly twice."
#define ALL_REDUCE_CLOSED_FORM                                                                                         \
    "Closed form: section V-A2, of HammingMeshes, with the latency between neighbours that follows from table III."
#define ALL_REDUCE_PAPER                                                                                               \
    "Paper: table II has one value for large vectors, drawn here at 4 GiB; the other points of the figure are "        \
    "plotted curves; values read off a plot are left out."

const struct experiment hammingmesh_experiments[] = {
    {"table2", "Table II: bandwidth, diameter and cost of the small and the large cluster", 45, &table2_runs, NULL,
     show_table2, NULL},
    {"fig7", "Figure 7: how large jobs are", 0, NULL, NULL, show_job_sizes, NULL},
    {"fig8", "Figure 8: boards in use, by rules of allocation", 2, NULL, NULL, show_utilization,
     NOTES("Paper: greedy alone uses 90 % by its text; its logs say 93, 96, 80 and 86 %, of mixes with sizes drawn "
           "otherwise than by its published script (docs/jobs.md). Transposing gives it 5 to 8 points more, sorted "
           "jobs above 98 %.",
           "Locality changes nothing where a line has one switch, as in three of the four clusters.")},
    {"fig9", "Figure 9: jobs' traffic over the upper level of the large cluster", 2, NULL, NULL, show_upper_traffic,
     NOTES("Of each network, and then the mean over all row and column networks, those without traffic included, as "
           "the authors' script counts. Paper: below half; with locality lower still.",
           "The 32x32 Hx4Mesh has one switch a line, and so no upper level.")},
    {"fig10", "Figure 10: boards in use, with boards that failed", 2, NULL, NULL, show_failed_boards,
     NOTES("Of the boards that have not failed. Paper: the median stays above 70 % with up to 40 failed boards.")},
    {"fig11", "Figure 11: all-to-all over message sizes, small cluster", 20, &fig11_runs, NULL, show_fig11,
     NOTES("Paper: table II's value for messages of 1 MiB. The other points of its figure 11 are a plotted curve; "
           "values read off a plot are left out.",
           "Share: payload delivered until the last delivery, over what all links of each host in one plane carry in "
           "that "
           "time. "
           "Bound: what the cut through the fabric, or its fullest link, allows.",
           "Other fabrics: from 64 KiB on a sample of shifts by default, which is filled and drained; the command "
           "says how many.")},
    {"fig12", "Figure 12: random permutations, small cluster", 20, &fig12_runs, NULL, show_fig12,
     NOTES("The paper shows this distribution as a plot; values read off a plot are left out.",
           "Each accelerator sends one message to a partner of its own, chosen at random by the seed; what it "
           "receives is divided by the time until it has all of it.")},
    {"fig13", "Figure 13: all-reduce over vector sizes, small cluster", 30, &fig13_runs, NULL, show_all_reduce,
     NOTES(ALL_REDUCE_SHARE,
           "Other fabrics: one ring in the order of the hosts; the torus, with four links a host, two.",
           ALL_REDUCE_CLOSED_FORM, ALL_REDUCE_PAPER)},
    {"fig15", "Figure 15: training jobs on eight fabrics, and what a HammingMesh saves", 60, NULL, plan_fig15,
     show_fig15,
     NOTES("Savings: ratio of the costs of table II, times the ratio of the overheads: time of an iteration less "
           "computing. Above 1 the HammingMesh is the better buy.",
           "Hosts of trees and Dragonflies have four planes of one link, the others one plane of four. The HyperX is "
           "the Hx1Mesh of table II's price.",
           "All-reduces: one ring on trees and Dragonflies; elsewhere by torus, but in the stages of GPT-3, which are "
           "parts of a column, by its ring. All-to-alls: best; of MoE on the torus pairwise.",
           "CosmoFlow computes as the authors' program ran, 44.3 ms, and as its layers are listed, 93.6 ms. The paper "
           "says that all but two fabrics take less than 2 % more than computing.")},
    {"fig17", "Figure 17: all-reduce over vector sizes, large cluster", 20, &fig17_runs, NULL, show_all_reduce,
     NOTES(ALL_REDUCE_SHARE, ALL_REDUCE_CLOSED_FORM, ALL_REDUCE_PAPER)},
    EXPERIMENTS_END};
