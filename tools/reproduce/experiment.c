/* experiment.c - the table of experiments (tools/reproduce/experiment.h). */
#include "tools/reproduce/experiment.h"
#include "base/text.h"
#include "tools/reproduce/allocation.h"
#include "tools/reproduce/diameter2.h"
#include "tools/reproduce/eflops.h"
#include "tools/reproduce/multidim.h"
#include "tools/reproduce/sc22.h"
#include "tools/reproduce/topoopt.h"

#include <stdio.h>
#include <string.h>

static const char hammingmesh[] = "hammingmesh"; /* Hoefler et al., SC22 */
static const char sc22[] = "sc22";               /* another name of the same */
static const char diameter2[] = "diameter2";     /* Kathareios et al., SC15 */
static const char eflops[] = "eflops";           /* Dong et al., HPCA 2020 */
static const char multidim[] = "multidim";       /* Won et al., 2021 */
static const char topoopt[] = "topoopt";         /* Wang et al., NSDI 2023 */
static const char jobs[] = "jobs";               /* hxmesh's own experiments */

const struct experiment experiments[] = {
    {hammingmesh, "table2", "Table II: bandwidth, diameter and cost of the small and the large cluster", 45,
     plan_table2, show_table2},
    {hammingmesh, "fig7", "Figure 7: how large jobs are", 0, plan_nothing, show_job_sizes},
    {hammingmesh, "fig8", "Figure 8: boards in use, by rules of allocation", 2, plan_nothing, show_utilization},
    {hammingmesh, "fig9", "Figure 9: jobs' traffic over the upper level of the large cluster", 2, plan_nothing,
     show_upper_traffic},
    {hammingmesh, "fig10", "Figure 10: boards in use, with boards that failed", 2, plan_nothing, show_failed_boards},
    {hammingmesh, "fig11", "Figure 11: all-to-all over message sizes, small cluster", 20, plan_fig11, show_fig11},
    {hammingmesh, "fig12", "Figure 12: random permutations, small cluster", 20, plan_fig12, show_fig12},
    {hammingmesh, "fig13", "Figure 13: all-reduce over vector sizes, small cluster", 30, plan_fig13, show_all_reduce},
    {hammingmesh, "fig15", "Figure 15: training jobs on eight fabrics, and what a HammingMesh saves", 60, plan_fig15,
     show_fig15},
    {hammingmesh, "fig17", "Figure 17: all-reduce over vector sizes, large cluster", 20, plan_fig17, show_all_reduce},
    {diameter2, "fig3", "Figure 3: hosts by radix of the switches, and what a host costs", 0, plan_nothing,
     show_scalability},
    {diameter2, "fig4", "Figure 4: bisection", 1, plan_nothing, show_bisection},
    {diameter2, "fig6", "Figure 6: oblivious routing, minimal and Valiant, over load", 6, plan_oblivious, show_load},
    {diameter2, "fig7", "Figure 7: Slim Fly, UGAL-L (SF-A), over load", 2, plan_sf_a, show_load},
    {diameter2, "fig8", "Figure 8: Slim Fly, UGAL-L with a threshold (SF-ATh), over load", 2, plan_sf_ath, show_load},
    {diameter2, "fig9", "Figure 9: MLFM, UGAL-L (MLFM-A), over load", 3, plan_mlfm_a, show_load},
    {diameter2, "fig10", "Figure 10: MLFM, UGAL-L with a threshold (MLFM-ATh), over load", 3, plan_mlfm_ath, show_load},
    {diameter2, "fig11", "Figure 11: OFT, UGAL-L (OFT-A), over load", 3, plan_oft_a, show_load},
    {diameter2, "fig12", "Figure 12: OFT, UGAL-L with a threshold (OFT-ATh), over load", 3, plan_oft_ath, show_load},
    {diameter2, "fig13", "Figure 13: all-to-all exchange, 30 packets a pair", 6, plan_all_to_all, show_exchange},
    {diameter2, "fig14", "Figure 14: nearest neighbour exchange, 512 KiB a pair", 3, plan_neighbours, show_exchange},
    {eflops, "fig12", "Figure 12: all-reduce on BiGraphs over vector sizes, 8 to 64 workers", 5, plan_eflops_fig12,
     show_eflops_fig12},
    {eflops, "fig16", "Figure 16: all-reduce on fat trees and BiGraphs of 64 to 1,024 nodes", 30, plan_eflops_fig16,
     show_eflops_fig16},
    {multidim, "fig3", "Figure 3: use of bandwidth by networks of two to four dimensions", 5, plan_nothing,
     show_multidim_use},
    {multidim, "fig10", "Figure 10: rates of the dimensions by each way, and packets", 20, plan_nothing,
     show_multidim_rates},
    {multidim, "fig13", "Figure 13: time of an iteration by each way, 100 to 1,000 GB/s", 0, plan_nothing,
     show_multidim_speed},
    {multidim, "fig14", "Figure 14: use of bandwidth by each way", 0, plan_nothing, show_multidim_uses},
    {multidim, "fig15", "Figure 15: performance per cost by each way", 0, plan_nothing, show_multidim_per_cost},
    {multidim, "fig16", "Figure 16: the best network and way of each job", 0, plan_nothing, show_multidim_best},
    {topoopt, "fig10", "Figure 10: what networks cost, 128 to 2,000 servers", 0, plan_nothing, show_topoopt_cost},
    {topoopt, "fig11", "Figure 11: six jobs on seven networks, 4 interfaces a server, 10 to 200 Gb/s", 5, plan_nothing,
     show_topoopt_times_4},
    {topoopt, "fig12", "Figure 12: DLRM over batch sizes", 1, plan_nothing, show_topoopt_batch},
    {topoopt, "fig13", "Figure 13: bandwidth tax of DLRM over batch sizes", 1, plan_nothing, show_topoopt_tax},
    {topoopt, "fig14", "Figure 14: lengths of paths", 0, plan_nothing, show_topoopt_paths},
    {topoopt, "fig15", "Figure 15: loads of links", 0, plan_nothing, show_topoopt_loads},
    {topoopt, "fig16", "Figure 16: jobs that share 432 servers, over load", 5, plan_nothing, show_topoopt_cluster},
    {topoopt, "fig17", "Figure 17: circuits that change, dark for 1 us to 10 ms", 5, plan_nothing,
     show_topoopt_reconfigure},
    {topoopt, "fig27", "Figure 27: six jobs on seven networks, 8 interfaces a server, 10 to 200 Gb/s", 5, plan_nothing,
     show_topoopt_times_8},
    {topoopt, "fig28", "Figure 28: DLRM by interfaces of a server", 1, plan_nothing, show_topoopt_degree},
    {jobs, "interference", "Job mixes on four fabrics: each job alone against all together", 5, plan_nothing,
     show_interference},
    {NULL, NULL, NULL, 0, NULL, NULL}};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments - 1, NAME = 64, LINE = 160 };

/* Names of the first paper are accepted without the paper too. */
static bool stands_alone(const struct experiment *e)
{
    return strcmp(e->paper, experiments[0].paper) == 0;
}

static void full_name(const char *paper, const struct experiment *e, char name[NAME])
{
    (void)snprintf(name, NAME, "%s/%s", paper, e->name);
}

static bool is_of(const char *paper, const struct experiment *e, const char *word)
{
    char name[NAME];
    full_name(paper, e, name);
    return strcmp(word, paper) == 0 || strcmp(word, name) == 0;
}

bool experiment_is(const struct experiment *e, const char *word)
{
    return strcmp(word, "all") == 0 || is_of(e->paper, e, word) ||
           (stands_alone(e) && (strcmp(word, e->name) == 0 || is_of(sc22, e, word)));
}

const char *const *experiment_words(void)
{
    static char names[EXPERIMENTS][2][NAME];
    static const char *words[4 * EXPERIMENTS + 3];
    unsigned count = 0;
    words[count++] = "all";
    words[count++] = sc22;
    for (unsigned i = 0; i < EXPERIMENTS; i++) {
        const struct experiment *e = &experiments[i];
        full_name(e->paper, e, names[i][0]);
        words[count++] = names[i][0];
        if (stands_alone(e)) {
            full_name(sc22, e, names[i][1]);
            words[count++] = names[i][1];
            words[count++] = e->name;
        }
        if (i == 0 || strcmp(e->paper, e[-1].paper) != 0)
            words[count++] = e->paper;
    }
    words[count] = NULL;
    return words;
}

const char *experiment_list(void)
{
    static char text[EXPERIMENTS * LINE];
    size_t used = 0;
    for (unsigned i = 0; i < EXPERIMENTS && used < sizeof text; i++) {
        const struct experiment *e = &experiments[i];
        char name[NAME];
        char minutes[NAME] = "seconds";
        full_name(e->paper, e, name);
        if (e->minutes)
            (void)snprintf(minutes, sizeof minutes, "%u minute%s", e->minutes, hx_plural(e->minutes));
        used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s, %s\n      %s", name, minutes, e->title);
    }
    return text;
}

void experiment_stem(const struct experiment *e, char *stem, size_t bytes)
{
    char name[NAME];
    full_name(e->paper, e, name);
    (void)snprintf(stem, bytes, "%s", stands_alone(e) ? e->name : name);
}
