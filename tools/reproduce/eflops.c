/* eflops.c - figures 12 and 16 of EFLOPS (tools/reproduce/eflops.h). */
#include "tools/reproduce/eflops.h"

#include <math.h>
#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

enum { SEED = 1, BUFFER = 3276800 /* bytes of a port */ };

/* ---- what is compared ---- */

/* A cluster as both fabrics; BiGraphs have m <= n / 2, so that HDRM shares no link. */
struct size {
    unsigned hosts;
    const char *tree, *bigraph;
};
static const struct size sizes[] = {{8, "fat-tree hosts=8 radix=8", "bigraph m=2 n=4"},
                                    {16, "fat-tree hosts=16 radix=8", "bigraph m=2 n=8"},
                                    {32, "fat-tree hosts=32 radix=8", "bigraph m=4 n=8"},
                                    {64, "fat-tree hosts=64 radix=16", "bigraph m=4 n=16"},
                                    {128, "fat-tree hosts=128 radix=16", "bigraph m=8 n=16"},
                                    {256, "fat-tree hosts=256 radix=32", "bigraph m=8 n=32"},
                                    {512, "fat-tree hosts=512 radix=32", "bigraph m=16 n=32"},
                                    {1024, "fat-tree hosts=1024 radix=64", "bigraph m=16 n=64"}};
enum { SIZES = sizeof sizes / sizeof *sizes, AT_64 = 3 };

static const char random_ranks[] = "random";

enum { TREE_RING, TREE_HALVING, RING, RANDOM, LINEAR, HDRM, WAYS };
static const struct way {
    const char *name, *algorithm, *place;
    bool bigraph;
    bool measured;       /* in figure 12 */
    double paper_1mib;   /* Gb/s of 64 workers in figure 12; NAN: not known */
    double paper_256mib; /* the same */
} ways[WAYS] = {[TREE_RING] = {"fat tree, ring", "ring", NULL, false, false, NAN, NAN},
                [TREE_HALVING] = {"fat tree, halving", "halving", NULL, false, false, NAN, NAN},
                [RING] = {"BiGraph, ring", "ring", NULL, true, true, 3.68, 25.01},
                [RANDOM] = {"BiGraph, halving, random", "halving", random_ranks, true, true, 13.95, 14.07},
                [LINEAR] = {"BiGraph, halving, linear", "halving", "linear", true, true, NAN, NAN},
                [HDRM] = {"BiGraph, HDRM", "halving", NULL, true, true, NAN, 34.85}};

/* The paper's times of HDRM for 256 KiB at 64 and 1,024 hosts, us. */
enum { PAPER_AT_64 = 130, PAPER_AT_1024 = 181 };

/* What software takes for a step, ns: one number for a figure. Figure 16: between what the paper's HDRM of 256 KiB
 * needs at 64 and at 1,024 nodes. Figure 12: as the ring needs for 1 MiB. */
enum { FIG12_STEP_NS = 16600, FIG16_STEP_NS = 6500 };

unsigned eflops_steps(const char *algorithm, unsigned n)
{
    return 2 * (strcmp(algorithm, "ring") == 0 ? n - 1 : (unsigned)__builtin_ctz(n));
}

/* ---- plans ---- */

static void add(struct reproduce_plan *p, const struct size *size, const struct way *way, uint64_t bytes)
{
    if (p->count == REPRODUCE_MOST_RUNS)
        return;
    p->run[p->count++] = (struct reproduce_run){.fabric = way->bigraph ? size->bigraph : size->tree,
                                                .traffic = "all-reduce",
                                                .algorithm = way->algorithm,
                                                .place = way->place,
                                                .bytes = bytes,
                                                .seed = way->place == random_ranks ? SEED : 0,
                                                .timing = "sc15",
                                                .buffer = BUFFER};
}

void plan_eflops_fig12(struct reproduce_plan *p)
{
    static const uint64_t most[] = {
        [REPRODUCE_QUICK] = 4 * MIB, [REPRODUCE_DEFAULT] = 256 * MIB, [REPRODUCE_FULL] = 256 * MIB};
    for (uint64_t bytes = KIB; bytes <= most[p->effort]; bytes *= 4)
        for (unsigned s = 0; s <= AT_64; s++)
            for (unsigned w = 0; w < WAYS; w++)
                if (ways[w].measured)
                    add(p, &sizes[s], &ways[w], bytes);
}

void plan_eflops_fig16(struct reproduce_plan *p)
{
    static const unsigned every[] = {[REPRODUCE_QUICK] = 1, [REPRODUCE_DEFAULT] = 2, [REPRODUCE_FULL] = 1};
    static const uint64_t large[] = {
        [REPRODUCE_QUICK] = 4 * MIB, [REPRODUCE_DEFAULT] = 256 * MIB, [REPRODUCE_FULL] = 256 * MIB};
    unsigned end = p->effort == REPRODUCE_QUICK ? AT_64 + 1 : SIZES;
    for (unsigned s = AT_64; s < end; s++)
        for (unsigned w = 0; w < WAYS; w++)
            add(p, &sizes[s], &ways[w], 256 * KIB);
    for (unsigned s = AT_64; s < end; s += every[p->effort])
        for (unsigned w = 0; w < WAYS; w++)
            add(p, &sizes[s], &ways[w], large[p->effort]);
}

/* ---- results ---- */

static const struct size *size_of(const struct reproduce_run *run)
{
    const struct size *size = sizes;
    while (strcmp(run->fabric, size->tree) != 0 && strcmp(run->fabric, size->bigraph) != 0)
        size++;
    return size;
}

static bool is_way(const struct reproduce_run *run, const struct way *way)
{
    return run->place == way->place && strcmp(run->algorithm, way->algorithm) == 0 &&
           strcmp(run->fabric, way->bigraph ? size_of(run)->bigraph : size_of(run)->tree) == 0;
}

/* Simulated time with `step_ns` more for each step, s; NAN: not run. */
static double seconds_of(const struct reproduce_plan *p, const struct size *size, const struct way *way, uint64_t bytes,
                         unsigned step_ns)
{
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(p, run));)
        if (run->bytes == bytes && size_of(run) == size && is_way(run, way))
            return run->virtual_seconds + eflops_steps(way->algorithm, size->hosts) * (step_ns * 1e-9);
    return NAN;
}

static double gbps(uint64_t bytes, double seconds)
{
    return (double)bytes * 8 / seconds / 1e9;
}

static void add_results(struct reproduce_figure *f, unsigned step_ns)
{
    for (const struct reproduce_run *run = NULL; (run = plan_next_done(f->plan, run));) {
        const struct size *size = size_of(run);
        const struct way *way = ways;
        while (!is_way(run, way))
            way++;
        double seconds = seconds_of(f->plan, size, way, run->bytes, step_ns);
        figure_result(f, json_pack("{s:s, s:s, s:i, s:I, s:f, s:f, s:f}", "way", way->name, "fabric", run->fabric,
                                   "hosts", (int)size->hosts, "vector_bytes", (json_int_t)run->bytes, "virtual_seconds",
                                   run->virtual_seconds, "seconds", seconds, "gbps", gbps(run->bytes, seconds)));
    }
}

static void note_ways(struct reproduce_figure *f, unsigned step_ns)
{
    figure_annotation(f,
                      "Times are simulated times with %.1f us of software added for each step: 2 (n - 1) of a ring, "
                      "2 log2 n of halving. The JSON has both.",
                      step_ns / 1e3);
    figure_annotation(f,
                      "Halving is recursive halving and doubling. HDRM is the same with its ranks in the order that "
                      "the BiGraph gives; random ranks are drawn by seed %d.",
                      SEED);
}

/* ---- figure 16 ---- */

static uint64_t large_of(const struct reproduce_plan *p)
{
    return p->run[p->count - 1].bytes;
}

static bool has_paper(const struct reproduce_figure *f, uint64_t bytes)
{
    return bytes == 256 * KIB && f->plan->effort != REPRODUCE_QUICK;
}

static void fig16_table(struct reproduce_figure *f, uint64_t bytes)
{
    struct text_table *t = figure_table(f, 1);
    char vector[64];
    struct cells head = {0};
    (void)snprintf(vector, sizeof vector, "%s, us, by hosts", cell_bytes(&head, bytes));
    text_table_row(t, vector, "64", "128", "256", "512", "1024", "growth");
    for (unsigned w = 0; w < WAYS; w++) {
        double us[SIZES];
        struct cells c = {0};
        for (unsigned s = AT_64; s < SIZES; s++)
            us[s] = seconds_of(f->plan, &sizes[s], &ways[w], bytes, FIG16_STEP_NS) * 1e6;
        const double *at = us + AT_64;
        text_table_row(t, ways[w].name, cell(&c, 1, at[0]), cell(&c, 1, at[1]), cell(&c, 1, at[2]), cell(&c, 1, at[3]),
                       cell(&c, 1, at[4]), cell(&c, 1, at[4] - at[0]));
    }
    if (has_paper(f, bytes))
        text_table_row(t, "HDRM, paper", cell(&head, 0, PAPER_AT_64), "", "", "", cell(&head, 0, PAPER_AT_1024),
                       cell(&head, 0, PAPER_AT_1024 - PAPER_AT_64));
}

static void fig16_plot(struct reproduce_figure *f, uint64_t bytes)
{
    char title[PLOT_TEXT];
    struct cells c = {0};
    (void)snprintf(title, sizeof title, "All-reduce of %s (EFLOPS, figure 16)", cell_bytes(&c, bytes));
    struct plot *p = figure_plot(f, title, "hosts", PLOT_BINARY, PLOT_NUMBER, "time (us)");
    p->y_scale = PLOT_DECADES;
    for (unsigned w = 0; w < WAYS; w++) {
        struct plot_series *line = plot_add(p, PLOT_LINE, w, "%s", ways[w].name);
        for (unsigned s = AT_64; s < SIZES; s++)
            plot_point(line, sizes[s].hosts, seconds_of(f->plan, &sizes[s], &ways[w], bytes, FIG16_STEP_NS) * 1e6);
    }
    if (!has_paper(f, bytes))
        return;
    struct plot_series *paper = plot_add(p, PLOT_DIAMONDS, HDRM, "HDRM, paper");
    plot_point(paper, sizes[AT_64].hosts, PAPER_AT_64);
    plot_point(paper, sizes[SIZES - 1].hosts, PAPER_AT_1024);
}

void show_eflops_fig16(struct reproduce_figure *f)
{
    const uint64_t vectors[] = {256 * KIB, large_of(f->plan)};
    for (unsigned i = 0; i < 2; i++) {
        fig16_table(f, vectors[i]);
        fig16_plot(f, vectors[i]);
    }
    add_results(f, FIG16_STEP_NS);
    note_ways(f, FIG16_STEP_NS);
    figure_annotation(f, "Paper: HDRM takes 130 us at 64 nodes and 181 us at 1,024 for 256 KiB, the others grow by 500 "
                         "to 10,000 us; HDRM is never behind halving, and ahead of the ring at 64 nodes.");
}

/* ---- figure 12 ---- */

static double paper_gbps(const struct way *way, const struct size *size, uint64_t bytes)
{
    if (size != &sizes[AT_64] || (bytes != MIB && bytes != 256 * MIB))
        return NAN;
    return bytes == MIB ? way->paper_1mib : way->paper_256mib;
}

/* Vector sizes of the plan, ascending. Returns the next one; 0: none. */
static uint64_t next_vector(const struct reproduce_plan *p, uint64_t bytes)
{
    uint64_t next = bytes ? bytes * 4 : KIB;
    return next <= large_of(p) ? next : 0;
}

static const char *cell_gbps(struct cells *c, double value)
{
    return cell(c, value < 0.1 ? 4 : 2, value);
}

static void fig12_table(struct reproduce_figure *f, const struct size *size)
{
    struct text_table *t = figure_table(f, 1);
    char head[32];
    (void)snprintf(head, sizeof head, "%u workers, Gb/s", size->hosts);
    text_table_row(t, head, "ring", "random", "linear", "HDRM", "paper: ring", "halving", "HDRM");
    for (uint64_t bytes = 0; (bytes = next_vector(f->plan, bytes));) {
        double ours[WAYS], paper[WAYS];
        struct cells c = {0};
        for (unsigned w = 0; w < WAYS; w++) {
            ours[w] = gbps(bytes, seconds_of(f->plan, size, &ways[w], bytes, FIG12_STEP_NS));
            paper[w] = f->plan->effort == REPRODUCE_QUICK ? NAN : paper_gbps(&ways[w], size, bytes);
        }
        text_table_row(t, cell_bytes(&c, bytes), cell_gbps(&c, ours[RING]), cell_gbps(&c, ours[RANDOM]),
                       cell_gbps(&c, ours[LINEAR]), cell_gbps(&c, ours[HDRM]), cell_gbps(&c, paper[RING]),
                       cell_gbps(&c, paper[RANDOM]), cell_gbps(&c, paper[HDRM]));
    }
}

static void fig12_plot(struct reproduce_figure *f, const struct size *size)
{
    char title[PLOT_TEXT];
    (void)snprintf(title, sizeof title, "All-reduce of %u workers (EFLOPS, figure 12)", size->hosts);
    struct plot *p = figure_plot(f, title, "vector", PLOT_BINARY, PLOT_BYTES, "algorithm bandwidth (Gb/s)");
    for (unsigned w = 0; w < WAYS; w++) {
        if (!ways[w].measured)
            continue;
        struct plot_series *ours = plot_add(p, PLOT_LINE, w, "%s", ways[w].name);
        struct plot_series *paper = plot_add(p, PLOT_DIAMONDS, w, "%s, paper", ways[w].name);
        for (uint64_t bytes = 0; (bytes = next_vector(f->plan, bytes));) {
            plot_point(ours, (double)bytes, gbps(bytes, seconds_of(f->plan, size, &ways[w], bytes, FIG12_STEP_NS)));
            plot_point(paper, (double)bytes,
                       f->plan->effort == REPRODUCE_QUICK ? NAN : paper_gbps(&ways[w], size, bytes));
        }
    }
}

void show_eflops_fig12(struct reproduce_figure *f)
{
    for (unsigned s = 0; s <= AT_64; s++) {
        fig12_table(f, &sizes[s]);
        fig12_plot(f, &sizes[s]);
    }
    add_results(f, FIG12_STEP_NS);
    note_ways(f, FIG12_STEP_NS);
    figure_annotation(f, "Algorithm bandwidth: vector over time. The paper has 64 workers' values as text, the rest as "
                         "plotted curves.");
}
