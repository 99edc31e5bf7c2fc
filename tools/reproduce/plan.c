/* plan.c - the simulations of each experiment (tools/reproduce/plan.h). */
#include "tools/reproduce/plan.h"
#include "tools/reproduce/paper.h"

#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

enum { HX2, HX4, HX1, FABRICS };
enum { SEED = 1 };

const char *const reproduce_efforts[] = {"quick", "default", "full"};

static const char *const small_cluster[][FABRICS] = {
    [REPRODUCE_QUICK] = {"4x4 Hx2Mesh", "2x2 Hx4Mesh", "8x8 Hx1Mesh"},
    [REPRODUCE_DEFAULT] = {"16x16 Hx2Mesh", "8x8 Hx4Mesh", "32x32 Hx1Mesh"},
    [REPRODUCE_FULL] = {"16x16 Hx2Mesh", "8x8 Hx4Mesh", "32x32 Hx1Mesh"}};
static const char *const large_cluster[][2] = {[REPRODUCE_QUICK] = {"6x6 Hx2Mesh", "3x3 Hx4Mesh"},
                                               [REPRODUCE_DEFAULT] = {"64x64 Hx2Mesh", "32x32 Hx4Mesh"},
                                               [REPRODUCE_FULL] = {"64x64 Hx2Mesh", "32x32 Hx4Mesh"}};

/* The fabrics that the paper compares with. The large HyperX is the Hx1Mesh (paper.h). */
enum { TORUS = 5, OTHERS };
static const char *const others[][OTHERS] = {
    [REPRODUCE_QUICK] = {"fat-tree hosts=64 radix=16", "fat-tree hosts=64 radix=16 down=8 up=4",
                         "fat-tree hosts=64 radix=16 down=8 up=2", "dragonfly a=8 p=4 h=4 groups=4", "hyperx 8x8 p=1",
                         "torus 8x8 board=2x2"},
    [REPRODUCE_DEFAULT] = {"fat-tree hosts=1024", PAPER_HALF_TREE, PAPER_QUARTER_TREE, PAPER_DRAGONFLY,
                           "hyperx 32x32 p=1", PAPER_TORUS},
    [REPRODUCE_FULL] = {"fat-tree hosts=1024", PAPER_HALF_TREE, PAPER_QUARTER_TREE, PAPER_DRAGONFLY, "hyperx 32x32 p=1",
                        PAPER_TORUS}};

static const char *const large_others[][OTHERS] = {
    [REPRODUCE_QUICK] = {"fat-tree hosts=144 radix=16 levels=3", "fat-tree hosts=144 radix=16 levels=3 down=8 up=4",
                         "fat-tree hosts=144 radix=16 levels=3 down=8 up=2", "dragonfly a=8 p=3 h=4 groups=6",
                         "12x12 Hx1Mesh", "torus 12x12 board=2x2"},
    [REPRODUCE_DEFAULT] = {PAPER_LARGE_TREE, PAPER_LARGE_HALF_TREE, PAPER_LARGE_QUARTER_TREE, PAPER_LARGE_DRAGONFLY,
                           PAPER_LARGE_HYPERX, PAPER_LARGE_TORUS},
    [REPRODUCE_FULL] = {PAPER_LARGE_TREE, PAPER_LARGE_HALF_TREE, PAPER_LARGE_QUARTER_TREE, PAPER_LARGE_DRAGONFLY,
                        PAPER_LARGE_HYPERX, PAPER_LARGE_TORUS}};

static void add(struct reproduce_plan *p, struct reproduce_run run)
{
    if (p->count < REPRODUCE_MOST_RUNS)
        p->run[p->count++] = run;
}

static void add_all_to_all(struct reproduce_plan *p, const char *fabric, uint64_t bytes, uint64_t shifts)
{
    add(p, (struct reproduce_run){
               .fabric = fabric, .traffic = "all-to-all", .bytes = bytes, .shifts = shifts, .seed = shifts ? SEED : 0});
}

static void add_all_reduce(struct reproduce_plan *p, const char *fabric, const char *algorithm, uint64_t bytes)
{
    add(p, (struct reproduce_run){.fabric = fabric, .traffic = "all-reduce", .algorithm = algorithm, .bytes = bytes});
}

/* ---- table II ---- */

struct table2_sizes {
    uint64_t message;
    uint64_t shifts; /* of the large cluster */
    uint64_t others; /* shifts of the small cluster's other fabrics except the torus; 0: all */
    /* message on the torus, where few shifts would load few links, as a shift moves all packets by the same hops */
    uint64_t torus;
    uint64_t small[3];      /* vectors of the small cluster, in order of priority; 0: end */
    uint64_t large[3];      /* vectors of the large cluster */
    uint64_t large_other;   /* vector of the large cluster's other fabrics */
    uint64_t large_message; /* message of these */
    uint64_t large_others;  /* shifts of these; 0: all */
    uint64_t large_time;    /* duration for these in ns; the second half is measured */
    uint64_t torus_time;    /* the same for the torus, where a packet passes sixty hosts */
    /* two rings on 16,384 accelerators take 2 * 16,383 steps for any vector, so they may be too slow */
    bool rings_large;
};

static const struct table2_sizes table2_sizes[] = {
    [REPRODUCE_QUICK] = {64 * KIB, 8, 0, 64 * KIB, {4 * MIB}, {4 * MIB}, 4 * MIB, 64 * KIB, 0, 60000, 60000, true},
    [REPRODUCE_DEFAULT] = {MIB,
                           8,
                           32,
                           32 * KIB,
                           {256 * MIB, GIB},
                           {16 * MIB, 64 * MIB, 256 * MIB},
                           16 * MIB,
                           64 * KIB,
                           128,
                           60000,
                           120000,
                           false},
    [REPRODUCE_FULL] = {MIB,
                        64,
                        0,
                        MIB,
                        {256 * MIB, GIB, 4 * GIB},
                        {64 * MIB, GIB, 4 * GIB},
                        256 * MIB,
                        64 * KIB,
                        512,
                        120000,
                        300000,
                        true}};

static void add_small_vectors(struct reproduce_plan *p, uint64_t bytes)
{
    const char *const *small = small_cluster[p->effort];
    for (unsigned f = 0; bytes && f < HX1; f++) {
        add_all_reduce(p, small[f], "torus", bytes);
        add_all_reduce(p, small[f], "rings", bytes);
    }
}

static void add_large_vectors(struct reproduce_plan *p, uint64_t bytes, bool rings)
{
    const char *const *large = large_cluster[p->effort];
    for (unsigned f = 0; bytes && f < 2; f++) {
        add_all_reduce(p, large[f], "torus", bytes);
        if (rings)
            add_all_reduce(p, large[f], "rings", bytes);
    }
}

/* A few shifts are no fair sample on fabrics with groups: each sends a whole group to two others. So there are as many
 * as memory allows: each pair of hosts takes about half a KiB. Short messages would fill and drain the fabric for much
 * of the time, so all send for a fixed time, and the full fabric is measured. */
static void add_large_others(struct reproduce_plan *p, const struct table2_sizes *sizes)
{
    for (unsigned f = 0; f < OTHERS; f++) {
        uint64_t time = f == TORUS ? sizes->torus_time : sizes->large_time;
        add(p, (struct reproduce_run){.fabric = large_others[p->effort][f],
                                      .traffic = "all-to-all",
                                      .bytes = sizes->large_message,
                                      .shifts = sizes->large_others,
                                      .seed = sizes->large_others ? SEED : 0,
                                      .duration = time,
                                      .warm_up = time / 2});
    }
}

void plan_table2(struct reproduce_plan *p)
{
    const struct table2_sizes *sizes = &table2_sizes[p->effort];
    const char *const *small = small_cluster[p->effort];
    for (unsigned f = 0; f < FABRICS; f++)
        add_all_to_all(p, small[f], sizes->message, 0);
    for (unsigned f = 0; f < 2; f++)
        add_all_to_all(p, large_cluster[p->effort][f], sizes->message, sizes->shifts);
    add_small_vectors(p, sizes->small[0]);
    for (unsigned f = 0; f < OTHERS; f++)
        add_all_to_all(p, others[p->effort][f], f == TORUS ? sizes->torus : sizes->message,
                       f == TORUS ? 0 : sizes->others);
    for (unsigned f = 0; f < OTHERS; f++) {
        /* One ring in the order of the hosts leaves a leaf once. Two rings on the grid use all links of a host with
         * several. */
        add_all_reduce(p, others[p->effort][f], "ring", sizes->small[0]);
        add_all_reduce(p, others[p->effort][f], "rings", sizes->small[0]);
    }
    add_large_others(p, sizes);
    add_large_vectors(p, sizes->large[0], sizes->rings_large);
    add_all_reduce(p, small[HX1], "torus", sizes->small[0]);
    for (unsigned f = 0; f < OTHERS; f++)
        add_all_reduce(p, large_others[p->effort][f], "torus", sizes->large_other);
    for (unsigned i = 1; i < 3; i++) {
        /* Larger vectors first on the large clusters: the small ones are already near the end of their curves. */
        add_large_vectors(p, sizes->large[i], sizes->rings_large);
        add_small_vectors(p, sizes->small[i]);
    }
}

/* ---- figures 11 and 12: messages ---- */

void plan_fig11(struct reproduce_plan *p)
{
    static const uint64_t sizes[] = {KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB};
    static const unsigned counts[] = {[REPRODUCE_QUICK] = 4, [REPRODUCE_DEFAULT] = 6, [REPRODUCE_FULL] = 7};
    /* Shifts of larger messages on the other fabrics: a sample. The torus needs a large one, as each shift loads one
     * direction. */
    static const uint64_t sample[][2] = {
        [REPRODUCE_QUICK] = {0, 0}, [REPRODUCE_DEFAULT] = {32, 128}, [REPRODUCE_FULL] = {0, 0}};
    for (unsigned i = 0; i < counts[p->effort]; i++) {
        for (unsigned f = 0; f < FABRICS; f++)
            add_all_to_all(p, small_cluster[p->effort][f], sizes[i], 0);
        for (unsigned f = 0; f < OTHERS; f++)
            add_all_to_all(p, others[p->effort][f], sizes[i], sizes[i] < 64 * KIB ? 0 : sample[p->effort][f == TORUS]);
    }
}

/* Each host sends one message to a random partner. */
static void add_permutation(struct reproduce_plan *p, const char *fabric, uint64_t bytes, uint64_t seed)
{
    add(p, (struct reproduce_run){.fabric = fabric, .traffic = "permutation", .bytes = bytes, .seed = seed});
}

void plan_fig12(struct reproduce_plan *p)
{
    static const uint64_t bytes[] = {
        [REPRODUCE_QUICK] = MIB, [REPRODUCE_DEFAULT] = 16 * MIB, [REPRODUCE_FULL] = 64 * MIB};
    static const unsigned seeds[] = {[REPRODUCE_QUICK] = 2, [REPRODUCE_DEFAULT] = 5, [REPRODUCE_FULL] = 20};
    for (unsigned seed = 1; seed <= seeds[p->effort]; seed++) {
        for (unsigned f = 0; f < FABRICS; f++)
            add_permutation(p, small_cluster[p->effort][f], bytes[p->effort], seed);
        for (unsigned f = 0; f < OTHERS; f++)
            add_permutation(p, others[p->effort][f], bytes[p->effort], seed);
    }
}

/* ---- figures 13 and 17: all-reduce ---- */

static const char *const algorithms[] = {"torus", "rings", "ring", "tree"};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

/* Adds vectors from `least` to most[algorithm] (0: none), each four times as large as the last. Other fabrics, up to
 * `most_others`, use the algorithm that uses all links of a host. */
static void add_sweep(struct reproduce_plan *p, const char *const fabric[2], uint64_t least,
                      const uint64_t most[ALGORITHMS], uint64_t most_others)
{
    for (uint64_t bytes = least; bytes <= 4 * GIB; bytes *= 4) {
        for (unsigned a = 0; a < ALGORITHMS; a++)
            for (unsigned f = 0; bytes <= most[a] && f < 2; f++)
                add_all_reduce(p, fabric[f], algorithms[a], bytes);
        for (unsigned f = 0; bytes <= most_others && f < OTHERS; f++)
            add_all_reduce(p, others[p->effort][f], f == TORUS ? "rings" : "ring", bytes);
    }
}

void plan_fig13(struct reproduce_plan *p)
{
    static const uint64_t most[][ALGORITHMS] = {[REPRODUCE_QUICK] = {4 * MIB, 4 * MIB, 4 * MIB, MIB},
                                                [REPRODUCE_DEFAULT] = {GIB, GIB, 256 * MIB, 64 * MIB},
                                                [REPRODUCE_FULL] = {4 * GIB, 4 * GIB, 4 * GIB, 4 * GIB}};
    static const uint64_t most_others[] = {
        [REPRODUCE_QUICK] = MIB, [REPRODUCE_DEFAULT] = 64 * MIB, [REPRODUCE_FULL] = 4 * GIB};
    add_sweep(p, small_cluster[p->effort], p->effort == REPRODUCE_QUICK ? 64 * KIB : MIB, most[p->effort],
              most_others[p->effort]);
}

void plan_fig17(struct reproduce_plan *p)
{
    static const uint64_t most[][ALGORITHMS] = {[REPRODUCE_QUICK] = {4 * MIB, 4 * MIB, 4 * MIB, MIB},
                                                [REPRODUCE_DEFAULT] = {256 * MIB, 0, 0, 4 * MIB},
                                                [REPRODUCE_FULL] = {4 * GIB, 4 * GIB, 4 * GIB, 4 * GIB}};
    add_sweep(p, large_cluster[p->effort], p->effort == REPRODUCE_QUICK ? 256 * KIB : MIB, most[p->effort], 0);
}

unsigned plan_fabrics(const struct reproduce_plan *p, const char *fabrics[REPRODUCE_MOST_FABRICS])
{
    unsigned count = 0;
    for (unsigned i = 0; i < p->count; i++) {
        unsigned known = 0;
        while (known < count && strcmp(fabrics[known], p->run[i].fabric) != 0)
            known++;
        if (known == count && count < REPRODUCE_MOST_FABRICS)
            fabrics[count++] = p->run[i].fabric;
    }
    return count;
}

const struct reproduce_run *plan_next_done(const struct reproduce_plan *p, const struct reproduce_run *last)
{
    const struct reproduce_run *run = last ? last + 1 : p->run;
    while (run < p->run + p->count && run->state != REPRODUCE_DONE)
        run++;
    return run < p->run + p->count ? run : NULL;
}

const struct reproduce_run *plan_next_of(const struct reproduce_plan *p, const char *fabric,
                                         const struct reproduce_run *last)
{
    const struct reproduce_run *run = plan_next_done(p, last);
    while (run && strcmp(run->fabric, fabric) != 0)
        run = plan_next_done(p, run);
    return run;
}
