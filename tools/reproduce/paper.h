/* paper.h - values of Hoefler et al., "HammingMesh", SC22: table II, and the closed forms of section V-A2. */
#ifndef HXMESH_TOOLS_REPRODUCE_PAPER_H
#define HXMESH_TOOLS_REPRODUCE_PAPER_H

#include <stdbool.h>
#include <stdint.h>

/* NAN: the paper has no number, or one that this wiring cannot reach. */
struct paper_figures {
    const char *fabric;
    const char *brief;  /* for plots: the same in both clusters */
    double alltoall;    /* % of injection, messages of 1 MiB */
    double allreduce;   /* % of half of injection, large vectors */
    double alltoall_ms; /* duration of that all-to-all in the authors' published runs, one plane */
    double cost_musd;
    const char *bought; /* fabric of the table's price, if not the simulated one; NULL: the simulated one */
};

/* The other fabrics of table II. The paper simulated tapered trees with 32 hosts and 16 or 8 uplinks a leaf. It priced
 * others: 42 and 22, and 51 and 13. */
#define PAPER_HALF_TREE          "fat-tree hosts=1024 down=32 up=16"
#define PAPER_QUARTER_TREE       "fat-tree hosts=1024 down=32 up=8"
#define PAPER_DRAGONFLY          "dragonfly a=16 p=8 h=8 groups=8"
#define PAPER_TORUS              "torus 32x32 board=2x2"
#define PAPER_LARGE_TREE         "fat-tree hosts=16384"
#define PAPER_LARGE_HALF_TREE    "fat-tree hosts=16384 down=32 up=16"
#define PAPER_LARGE_QUARTER_TREE "fat-tree hosts=16384 down=32 up=8"
#define PAPER_LARGE_DRAGONFLY    "dragonfly a=32 p=17 h=16 groups=30"
#define PAPER_LARGE_HYPERX       "128x128 Hx1Mesh" /* as HyperX, a router would need 254 ports, more than the maximum */
#define PAPER_LARGE_TORUS        "torus 128x128 board=2x2"

/* The table's row; a fabric that is not in table II has NAN in all fields. */
const struct paper_figures *paper_figures_of(const char *fabric);

/* Cost of the priced fabric in M$. */
double paper_bought_musd(const char *fabric);

/* Whether it is a HammingMesh. */
bool paper_own(const char *fabric);

/* Its brief name; a fabric that is not in the table keeps its full name. */
const char *paper_brief(const char *fabric);

/* Message size of the published runs, and vector size of the large cluster's all-reduce. */
enum { PAPER_MESSAGE = 1 << 20 };
#define PAPER_LARGE_VECTOR ((uint64_t)4 << 30)

/* Share of the best possible all-reduce by the closed form; NAN if not a HammingMesh. Time: steps times the mean
 * latency to a neighbour (table III), plus the bytes of the busiest link at 400 Gb/s. */
double paper_all_reduce_share(const char *fabric, const char *algorithm, uint64_t bytes);

#endif
