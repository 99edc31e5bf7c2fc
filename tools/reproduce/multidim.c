/* multidim.c - figures of Won et al. 2021 (tools/reproduce/multidim.h). */
#include "tools/reproduce/multidim.h"
#include "tools/bandwidth/packets.h"
#include "tools/child.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GB 1e9

/* ---- networks and jobs ---- */

static const struct network {
    const char *name, *spec;
    double paper_use; /* %, Transformer-1T with 300 GB/s, EqualBW */
} networks[MULTIDIM_NETWORKS] = {{"2D", "Ring(8)_Switch(128)", 57.5},
                                 {"3D", "Ring(8)_FC(8)_Switch(16)", 39.0},
                                 {"4D", "Ring(2)_FC(8)_Ring(8)_Switch(8)", 66.7}};

/* Blocks of 12 hidden^2 parameters. The paper gives parallelism; shapes are those of the models' own papers. Tokens of
 * a replica are those of the workloads that the authors published with LIBRA, of Transformer-1T as of GPT-3. */
static const struct job {
    const char *name;
    double hidden, blocks, tokens;
    uint32_t tensor, data;
} jobs[MULTIDIM_JOBS] = {{"Transformer-17B", 4256, 78, 8 * 1024.0, 1, 1024},
                         {"GPT-3", 12288, 96, 16 * 2048.0, 16, 64},
                         {"Transformer-1T", 25600, 128, 16 * 2048.0, 128, 8}};
enum { GPT_3 = 1, T_1T = 2 };

enum { NPUS = 1024, AT = 300 /* GB/s of figures 3 and 10 */, ELEMENT = 2 /* bytes */ };
static const double flops = 234e12, latency = 500e-9;

static const struct {
    double speed[BANDWIDTH_WAYS], most[BANDWIDTH_WAYS]; /* over EqualBW: mean, most */
    double use[BANDWIDTH_WAYS];                         /* % */
    double per_cost[BANDWIDTH_WAYS];                    /* over EqualBW */
} paper = {
    {1, 1.10, 1.17, NAN, NAN}, {1, 1.45, 1.86, NAN, NAN}, {56.7, 96.6, 94.5, NAN, NAN}, {1, 8.52, 5.51, NAN, NAN}};

double multidim_budget(unsigned i)
{
    return 100.0 * (i + 1);
}

/* All-reduces, or as many halves, of `bytes` in groups of `size` ranks, `stride` apart. */
static void add_need(struct bandwidth_question *q, const char *purpose, bool data, uint32_t stride, uint32_t size,
                     double bytes, double calls)
{
    struct bandwidth_need *need = &q->work.need[q->work.needs];
    uint32_t rank[NPUS];
    if (size < 2)
        return;
    for (uint32_t i = 0; i < size; i++)
        rank[i] = stride * i;
    *need = (struct bandwidth_need){
        .purpose = purpose, .data = data, .bytes = 2 * bytes * calls * (size - 1) / size, .calls = calls};
    if (!bandwidth_place(&q->network, need, rank, size))
        hx_die(HX_EXIT_CONFIG, purpose, "groups do not fill the network");
    q->work.needs++;
}

struct bandwidth_question multidim_question(unsigned network, unsigned job, double budget)
{
    const struct job *j = &jobs[job];
    const double parameters = 12 * j->hidden * j->hidden; /* of a block */
    struct bandwidth_question q = {
        .budget = budget * GB, .latency = latency, .work.bubble = 1, .prices = &hx_default_prices};
    struct hx_problem problem;
    if (!bandwidth_network_read(&q.network, networks[network].spec, &problem))
        hx_die_of(&problem);
    q.work.computing = 6 * parameters * j->blocks * j->tokens / j->tensor / flops;
    add_need(&q, "tensor", false, 1, j->tensor, j->tokens * j->hidden * ELEMENT, 4 * j->blocks);
    add_need(&q, "data", true, j->tensor, j->data, parameters * ELEMENT / j->tensor, j->blocks);
    return q;
}

/* ---- answers ---- */

struct answer {
    double rate[BANDWIDTH_DIMENSIONS];
    struct bandwidth_time time;
    double cost; /* $ */
};

static struct answer answer_of(const struct bandwidth_question *q, enum bandwidth_way way)
{
    struct answer a;
    bandwidth_divide(q, way, a.rate);
    a.time = bandwidth_answer(q, a.rate);
    a.cost = bandwidth_cost(&q->network, a.rate, q->prices);
    return a;
}

/* An iteration with packets, or NAN: the quick effort, or interrupted. Exits if a run fails. */
static struct bandwidth_time packets_of(const struct reproduce_figure *f, const struct bandwidth_question *q,
                                        const struct answer *a)
{
    static const uint64_t vector[] = {[REPRODUCE_DEFAULT] = 4 << 20, [REPRODUCE_FULL] = 32 << 20};
    const struct bandwidth_packets how = {.vector = vector[f->plan->effort]};
    double seconds[BANDWIDTH_NEEDS];
    const struct bandwidth_time none = {.iteration = NAN, .use = NAN, .model = NAN, .data = NAN};
    if (child_interrupted() || f->plan->effort == REPRODUCE_QUICK)
        return none;
    const int code = bandwidth_simulate(&q->network, &q->work, a->rate, &how, seconds, NULL);
    if (code != HX_EXIT_DONE && code != HX_EXIT_INTERRUPTED)
        exit(code); /* bandwidth_simulate() has reported the error */
    return code == HX_EXIT_DONE ? bandwidth_time_from(&q->network, &q->work, a->rate, seconds) : none;
}

static void add_result(struct reproduce_figure *f, unsigned network, unsigned job, enum bandwidth_way way,
                       const struct bandwidth_question *q, const struct answer *a, const struct bandwidth_time *packets)
{
    json_t *rates = json_array();
    for (unsigned d = 0; d < q->network.dimensions; d++)
        (void)json_array_append_new(rates, json_real(a->rate[d] / GB));
    figure_result(f, json_pack("{s:s, s:s, s:s, s:f, s:o, s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "network",
                               networks[network].spec, "job", jobs[job].name, "way", bandwidth_way_names[way], "budget",
                               q->budget / GB, "rates", rates, "seconds", a->time.iteration, "model_seconds",
                               a->time.model, "data_seconds", a->time.data, "use", a->time.use, "cost", a->cost,
                               "packet_seconds", figure_number(packets ? packets->iteration : NAN), "packet_use",
                               figure_number(packets ? packets->use : NAN)));
}

static void note_jobs(struct reproduce_figure *f)
{
    figure_annotation(f, "Jobs: Transformer-17B (data-parallel 1,024; 8,192 tokens an NPU), GPT-3 (16 x 64) and "
                         "Transformer-1T (128 x 8; 32,768 tokens a replica each), ZeRO 2, 234 TFLOPS; communication is "
                         "not beside computing. Of these the paper gives parallelism, ZeRO and TFLOPS.");
    figure_annotation(f, "Closed form: bytes over rate of the slowest dimension, and 0.5 us a hop.");
}

static void note_packets(struct reproduce_figure *f)
{
    figure_annotation(f,
                      "Packets: an all-reduce of all groups at once, in %d chunks, on the firmware; its time over the "
                      "closed form of the same vector, times that of the job. Ring(8)_Switch(64) stands for "
                      "Ring(8)_Switch(128). hxmesh bandwidth --packets runs one of them.",
                      BANDWIDTH_CHUNKS);
}

/* ---- figure 3 ---- */

void show_multidim_use(struct reproduce_figure *f)
{
    struct text_table *t = figure_table(f, 2);
    text_table_row(t, "use (%)", "network", "closed form", "packets", "paper");
    struct plot *p = figure_plot(f, "Transformer-1T, EqualBW, 300 GB/s (Won et al., figure 3)", "network", PLOT_LINEAR,
                                 PLOT_NUMBER, "use of bandwidth (%)");
    struct plot_series *ours = plot_add(p, PLOT_BARS, 0, "closed form");
    struct plot_series *simulated = plot_add(p, PLOT_LIMITS, 1, "packets");
    struct plot_series *theirs = plot_add(p, PLOT_DIAMONDS, 2, "paper");
    p->bar_width = 0.4;
    child_catch_signals();
    for (unsigned n = 0; n < MULTIDIM_NETWORKS; n++) {
        const struct bandwidth_question q = multidim_question(n, T_1T, AT);
        const struct answer a = answer_of(&q, BANDWIDTH_EQUAL);
        const struct bandwidth_time packets = packets_of(f, &q, &a);
        struct cells c = {0};
        text_table_row(t, networks[n].name, networks[n].spec, cell(&c, 1, 100 * a.time.use),
                       cell(&c, 1, 100 * packets.use), cell(&c, 1, figure_paper(f, networks[n].paper_use)));
        plot_category(p, networks[n].name);
        plot_point(ours, n, 100 * a.time.use);
        plot_point(simulated, n, 100 * packets.use);
        plot_point(theirs, n, figure_paper(f, networks[n].paper_use));
        add_result(f, n, T_1T, BANDWIDTH_EQUAL, &q, &a, &packets);
    }
    note_jobs(f);
    note_packets(f);
}

/* ---- figure 10 ---- */

static void rates_row(struct reproduce_figure *f, struct text_table *t, struct plot *p, unsigned network, unsigned job,
                      enum bandwidth_way way)
{
    const struct bandwidth_question q = multidim_question(network, job, AT);
    const struct answer a = answer_of(&q, way);
    const bool runs = job == T_1T || f->plan->effort == REPRODUCE_FULL;
    const struct bandwidth_time none = {.iteration = NAN};
    const struct bandwidth_time packets = runs ? packets_of(f, &q, &a) : none;
    char rates[64] = "";
    struct cells c = {0};
    for (unsigned d = 0; d < q.network.dimensions; d++) {
        const size_t used = strlen(rates);
        (void)snprintf(rates + used, sizeof rates - used, "%s%.3g", d ? ", " : "", a.rate[d] / GB);
    }
    text_table_row(t, networks[network].name, bandwidth_way_names[way], rates, cell(&c, 3, a.time.model),
                   cell(&c, 3, a.time.data), cell(&c, 3, a.time.iteration), cell(&c, 3, packets.iteration));
    plot_point(&p->series[way], network + (way - 1.5) * 0.2, a.time.iteration);
    plot_point(&p->series[BANDWIDTH_THRIFTY], network + (way - 1.5) * 0.2, packets.iteration);
    add_result(f, network, job, way, &q, &a, &packets);
}

static void rates_of_job(struct reproduce_figure *f, unsigned job)
{
    char title[PLOT_TEXT];
    struct text_table *t = figure_table(f, 2);
    text_table_row(t, "", jobs[job].name, "GB/s by dimension", "model", "data", "iteration", "packets");
    (void)snprintf(title, sizeof title, "%s, %d GB/s (Won et al., figure 10)", jobs[job].name, AT);
    struct plot *p = figure_plot(f, title, "network", PLOT_LINEAR, PLOT_NUMBER, "iteration (s)");
    p->bar_width = 0.18;
    for (enum bandwidth_way way = 0; way < BANDWIDTH_THRIFTY; way++)
        (void)plot_add(p, PLOT_BARS, way, "%s, closed form", bandwidth_way_names[way]);
    (void)plot_add(p, PLOT_LIMITS, BANDWIDTH_THRIFTY, "packets");
    for (unsigned n = 0; n < MULTIDIM_NETWORKS; n++) {
        plot_category(p, networks[n].name);
        for (enum bandwidth_way way = 0; way < BANDWIDTH_THRIFTY; way++)
            rates_row(f, t, p, n, job, way);
    }
}

void show_multidim_rates(struct reproduce_figure *f)
{
    child_catch_signals();
    rates_of_job(f, T_1T);
    rates_of_job(f, GPT_3);
    note_jobs(f);
    note_packets(f);
    figure_annotation(f, "Times in seconds, of an iteration.");
}

/* ---- figures 13 to 15: a figure of a way over budgets ---- */

typedef double measure(const struct answer *a, const struct answer *equal);

static double speed_of(const struct answer *a, const struct answer *equal)
{
    return equal->time.iteration / a->time.iteration;
}

static double use_of(const struct answer *a, const struct answer *equal)
{
    (void)equal;
    return 100 * a->time.use;
}

static double per_cost_of(const struct answer *a, const struct answer *equal)
{
    return speed_of(a, equal) * equal->cost / a->cost;
}

struct sums {
    double sum, logarithms, most;
    unsigned count;
};

static void add_value(struct sums *s, double value)
{
    s->sum += value;
    s->logarithms += log(value);
    s->most = fmax(s->most, value);
    s->count++;
}

/* A figure: its text, and the paper's means and maxima. */
struct comparison {
    const char *head, *y_label;
    measure *of;
    int digits;
    enum bandwidth_way first; /* EqualBW is not one if others are compared with it */
    const double *paper_mean, *paper_most;
};

static void compare_job(struct reproduce_figure *f, const struct comparison *c, unsigned job, struct text_table *t,
                        struct sums all[BANDWIDTH_WAYS])
{
    char title[PLOT_TEXT];
    (void)snprintf(title, sizeof title, "%s (Won et al., %s)", jobs[job].name, f->name);
    struct plot *p = figure_plot(f, title, "GB/s an NPU", PLOT_LINEAR, PLOT_NUMBER, c->y_label);
    for (unsigned n = 0; n < MULTIDIM_NETWORKS; n++) {
        struct sums own[BANDWIDTH_WAYS] = {{0}};
        struct plot_series *line[BANDWIDTH_WAYS] = {NULL};
        for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++)
            line[way] = plot_add(p, way >= BANDWIDTH_SEARCH ? PLOT_DASHES : PLOT_LINE, n * BANDWIDTH_WAYS + way,
                                 "%s, %s", networks[n].name, bandwidth_way_names[way]);
        for (unsigned b = 0; b < MULTIDIM_BUDGETS; b++) {
            const struct bandwidth_question q = multidim_question(n, job, multidim_budget(b));
            const struct answer equal = answer_of(&q, BANDWIDTH_EQUAL);
            for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++) {
                const struct answer a = answer_of(&q, way);
                const double value = c->of(&a, &equal);
                plot_point(line[way], multidim_budget(b), value);
                add_value(&own[way], value);
                add_value(&all[way], value);
                add_result(f, n, job, way, &q, &a, NULL);
            }
        }
        struct cells cells = {0};
        const char *row[2 + BANDWIDTH_WAYS] = {jobs[job].name, networks[n].name};
        for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++)
            row[2 + way - c->first] = cell(&cells, c->digits, own[way].sum / own[way].count);
        text_table_cells(t, 2 + BANDWIDTH_WAYS - c->first, row);
    }
}

/* A row of a value for each way. */
static void summary_row(const struct comparison *c, struct text_table *t, const char *name, const char *of,
                        const double *value)
{
    struct cells cells = {0};
    const char *row[2 + BANDWIDTH_WAYS] = {name, of};
    for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++)
        row[2 + way - c->first] = cell(&cells, c->digits, value[way]);
    text_table_cells(t, 2 + BANDWIDTH_WAYS - c->first, row);
}

static void compare(struct reproduce_figure *f, const struct comparison *c)
{
    struct text_table *t = figure_table(f, 2);
    struct sums all[BANDWIDTH_WAYS] = {{0}};
    double mean[BANDWIDTH_WAYS], geometric[BANDWIDTH_WAYS], most[BANDWIDTH_WAYS];
    const char *head[2 + BANDWIDTH_WAYS] = {c->head, "network"};
    for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++)
        head[2 + way - c->first] = bandwidth_way_names[way];
    text_table_cells(t, 2 + BANDWIDTH_WAYS - c->first, head);
    for (unsigned job = 0; job < MULTIDIM_JOBS; job++)
        compare_job(f, c, job, t, all);
    for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++) {
        mean[way] = all[way].sum / all[way].count;
        geometric[way] = exp(all[way].logarithms / all[way].count);
        most[way] = all[way].most;
    }
    summary_row(c, t, "all", "mean", mean);
    summary_row(c, t, "all", "geometric", geometric);
    summary_row(c, t, "all", "most", most);
    if (f->plan->effort != REPRODUCE_QUICK)
        summary_row(c, t, "paper", "mean", c->paper_mean);
    if (c->paper_most && f->plan->effort != REPRODUCE_QUICK)
        summary_row(c, t, "paper", "most", c->paper_most);
    note_jobs(f);
    figure_annotation(f, "Means over 100 to 1,000 GB/s in steps of 100. The searches minimise the time of an "
                         "iteration, and this time x cost.");
}

void show_multidim_speed(struct reproduce_figure *f)
{
    const struct comparison c = {"times as fast as EqualBW",
                                 "times as fast as EqualBW",
                                 speed_of,
                                 3,
                                 BANDWIDTH_MESSAGE,
                                 paper.speed,
                                 paper.most};
    compare(f, &c);
}

void show_multidim_uses(struct reproduce_figure *f)
{
    const struct comparison c = {
        "use of bandwidth (%)", "use of bandwidth (%)", use_of, 1, BANDWIDTH_EQUAL, paper.use, NULL};
    compare(f, &c);
}

void show_multidim_per_cost(struct reproduce_figure *f)
{
    const struct comparison c = {"per cost, over EqualBW",
                                 "performance per cost over EqualBW",
                                 per_cost_of,
                                 2,
                                 BANDWIDTH_MESSAGE,
                                 paper.per_cost,
                                 NULL};
    compare(f, &c);
    figure_annotation(f, "Of a GB/s: a cable $2, a NIC $48, a switch $24 a port. A cable between two NPUs counts once. "
                         "The paper does not say which mean its figures are.");
}

/* ---- figure 16 ---- */

static void best_row(struct reproduce_figure *f, struct text_table *t, unsigned job, double budget)
{
    struct cells c = {0};
    struct answer fast = {.time.iteration = INFINITY}, cheap = {.time.iteration = INFINITY, .cost = INFINITY};
    char name[2][32] = {"", ""};
    const struct bandwidth_question base = multidim_question(0, job, budget);
    const struct answer equal = answer_of(&base, BANDWIDTH_EQUAL);
    for (unsigned n = 0; n < MULTIDIM_NETWORKS; n++) {
        const struct bandwidth_question q = multidim_question(n, job, budget);
        for (enum bandwidth_way way = 0; way < BANDWIDTH_WAYS; way++) {
            const struct answer a = answer_of(&q, way);
            add_result(f, n, job, way, &q, &a, NULL);
            if (a.time.iteration < fast.time.iteration) {
                fast = a;
                (void)snprintf(name[0], sizeof name[0], "%s, %s", networks[n].name, bandwidth_way_names[way]);
            }
            if (a.time.iteration * a.cost < cheap.time.iteration * cheap.cost) {
                cheap = a;
                (void)snprintf(name[1], sizeof name[1], "%s, %s", networks[n].name, bandwidth_way_names[way]);
            }
        }
    }
    text_table_row(t, jobs[job].name, cell(&c, 0, budget), name[0], cell(&c, 3, fast.time.iteration),
                   cell(&c, 3, speed_of(&fast, &equal)), name[1], cell(&c, 3, cheap.time.iteration),
                   cell(&c, 2, per_cost_of(&cheap, &equal)));
}

void show_multidim_best(struct reproduce_figure *f)
{
    static const double budgets[] = {100, AT, 1000};
    struct text_table *t = figure_table(f, 2);
    text_table_row(t, "best of 3 networks", "GB/s", "fastest", "s", "over 2D EqualBW", "most per cost", "s",
                   "over 2D EqualBW");
    for (unsigned job = 0; job < MULTIDIM_JOBS; job++)
        for (unsigned b = 0; b < sizeof budgets / sizeof *budgets; b++)
            best_row(f, t, job, budgets[b]);
    note_jobs(f);
}
