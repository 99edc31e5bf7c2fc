/* multidim.c - the experiments of Won, Rashidi, Srinivasan, Krishna, "Exploring Multi-dimensional Hierarchical Network
 * Topologies for Efficient Distributed Training of Trillion Parameter DL Models", arXiv 2109.11762, 2021: three
 * transformers on three networks of 1,024 NPUs, with 100 to 1,000 GB/s an NPU. Without runs of a plan. */
#include "tools/reproduce/multidim.h"
#include "tools/bandwidth/packets.h"
#include "tools/child.h"
#include "tools/reproduce/experiment.h"

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

static const char before_rates[] = "|network|text; |job|text; |way|text; |budget|0";
static const char behind_rates[] =
    "|seconds|3; |model_seconds|3; |data_seconds|3; |use|3; |cost|0; |packet_seconds|3; |packet_use|3";

/* `packets`: NULL: closed form only. */
static void add_result(struct reproduce_figure *f, unsigned network, unsigned job, enum bandwidth_way way,
                       const struct bandwidth_question *q, const struct answer *a, const struct bandwidth_time *packets)
{
    json_t *row =
        figure_row(f, NULL, before_rates, TEXTS(networks[network].spec, jobs[job].name, bandwidth_way_names[way]),
                   NUMBERS(q->budget / GB));
    json_t *rates = json_array();
    for (unsigned d = 0; d < q->network.dimensions; d++)
        (void)json_array_append_new(rates, json_real(a->rate[d] / GB));
    (void)json_object_set_new(row, "rates", rates);
    figure_keys(row, behind_rates, NULL,
                NUMBERS(a->time.iteration, a->time.model, a->time.data, a->time.use, a->cost,
                        packets ? packets->iteration : NAN, packets ? packets->use : NAN));
}

/* ---- figure 3 ---- */

static void show_use(struct reproduce_figure *f)
{
    static const char columns[] = "use (%)||text; network||text; closed form||1; packets||1; paper||1";
    struct text_table *t = figure_table(f, 2, columns);
    struct plot *p = figure_plot(f, "network", PLOT_LINEAR, "use of bandwidth (%)",
                                 "Transformer-1T, EqualBW, %d GB/s (Won et al., figure 3)", AT);
    (void)plot_add(p, PLOT_BARS, 0, "closed form");
    (void)plot_add(p, PLOT_LIMITS, 1, "packets");
    (void)plot_add(p, PLOT_DIAMONDS, 2, "paper");
    p->bar_width = 0.4;
    child_catch_signals();
    for (unsigned n = 0; n < MULTIDIM_NETWORKS; n++) {
        const struct bandwidth_question q = multidim_question(n, T_1T, AT);
        const struct answer a = answer_of(&q, BANDWIDTH_EQUAL);
        const struct bandwidth_time packets = packets_of(f, &q, &a);
        const double use[] = {100 * a.time.use, 100 * packets.use, figure_paper(f, networks[n].paper_use)};
        figure_row(f, t, columns, TEXTS(networks[n].name, networks[n].spec), use);
        plot_category(p, networks[n].name);
        for (unsigned i = 0; i < 3; i++)
            plot_point(&p->series[i], n, use[i]);
        add_result(f, n, T_1T, BANDWIDTH_EQUAL, &q, &a, &packets);
    }
}

/* ---- figure 10 ---- */

static void rates_row(struct reproduce_figure *f, struct text_table *t, struct plot *p, const char *columns,
                      unsigned network, unsigned job, enum bandwidth_way way)
{
    const struct bandwidth_question q = multidim_question(network, job, AT);
    const struct answer a = answer_of(&q, way);
    const bool runs = job == T_1T || f->plan->effort == REPRODUCE_FULL;
    const struct bandwidth_time none = {.iteration = NAN};
    const struct bandwidth_time packets = runs ? packets_of(f, &q, &a) : none;
    const double at = network + (way - 1.5) * 0.2;
    char rates[64] = "";
    for (unsigned d = 0; d < q.network.dimensions; d++) {
        const size_t used = strlen(rates);
        (void)snprintf(rates + used, sizeof rates - used, "%s%.3g", d ? ", " : "", a.rate[d] / GB);
    }
    figure_row(f, t, columns, TEXTS(networks[network].name, bandwidth_way_names[way], rates),
               NUMBERS(a.time.model, a.time.data, a.time.iteration, packets.iteration));
    plot_point(&p->series[way], at, a.time.iteration);
    plot_point(&p->series[BANDWIDTH_THRIFTY], at, packets.iteration);
    add_result(f, network, job, way, &q, &a, &packets);
}

static void rates_of_job(struct reproduce_figure *f, unsigned job)
{
    char columns[128];
    (void)snprintf(columns, sizeof columns,
                   "-||text; %s||text; GB/s by dimension||text; model||3; data||3; iteration||3; packets||3",
                   jobs[job].name);
    struct text_table *t = figure_table(f, 2, columns);
    struct plot *p = figure_plot(f, "network", PLOT_LINEAR, "iteration (s)", "%s, %d GB/s (Won et al., figure 10)",
                                 jobs[job].name, AT);
    p->bar_width = 0.18;
    for (enum bandwidth_way way = 0; way < BANDWIDTH_THRIFTY; way++)
        (void)plot_add(p, PLOT_BARS, way, "%s, closed form", bandwidth_way_names[way]);
    (void)plot_add(p, PLOT_LIMITS, BANDWIDTH_THRIFTY, "packets");
    for (unsigned n = 0; n < MULTIDIM_NETWORKS; n++) {
        plot_category(p, networks[n].name);
        for (enum bandwidth_way way = 0; way < BANDWIDTH_THRIFTY; way++)
            rates_row(f, t, p, columns, n, job, way);
    }
}

static void show_rates(struct reproduce_figure *f)
{
    child_catch_signals();
    rates_of_job(f, T_1T);
    rates_of_job(f, GPT_3);
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
    enum bandwidth_way first;              /* EqualBW is not one if others are compared with it */
    const double *paper_mean, *paper_most; /* NULL: none */
};

static void compare_network(struct reproduce_figure *f, const struct comparison *c, unsigned job, unsigned network,
                            struct text_table *t, const char *columns, struct plot *p, struct sums all[BANDWIDTH_WAYS])
{
    double mean[BANDWIDTH_WAYS] = {0};
    struct plot_series *line[BANDWIDTH_WAYS] = {NULL};
    for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++)
        line[way] = plot_add(p, way >= BANDWIDTH_SEARCH ? PLOT_DASHES : PLOT_LINE, network * BANDWIDTH_WAYS + way,
                             "%s, %s", networks[network].name, bandwidth_way_names[way]);
    for (unsigned b = 0; b < MULTIDIM_BUDGETS; b++) {
        const struct bandwidth_question q = multidim_question(network, job, multidim_budget(b));
        const struct answer equal = answer_of(&q, BANDWIDTH_EQUAL);
        for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++) {
            const struct answer a = answer_of(&q, way);
            const double value = c->of(&a, &equal);
            plot_point(line[way], multidim_budget(b), value);
            mean[way] += value;
            add_value(&all[way], value);
            add_result(f, network, job, way, &q, &a, NULL);
        }
    }
    for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++)
        mean[way] /= MULTIDIM_BUDGETS;
    figure_row(f, t, columns, TEXTS(jobs[job].name, networks[network].name), mean + c->first);
}

static void compare(struct reproduce_figure *f, const struct comparison *c)
{
    char columns[256];
    size_t used = (size_t)snprintf(columns, sizeof columns, "%s||text; network||text", c->head);
    struct sums all[BANDWIDTH_WAYS] = {{0}};
    double mean[BANDWIDTH_WAYS], geometric[BANDWIDTH_WAYS], most[BANDWIDTH_WAYS];
    for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS && used < sizeof columns; way++)
        used +=
            (size_t)snprintf(columns + used, sizeof columns - used, "; %s||%d", bandwidth_way_names[way], c->digits);
    struct text_table *t = figure_table(f, 2, columns);
    for (unsigned job = 0; job < MULTIDIM_JOBS; job++) {
        struct plot *p =
            figure_plot(f, "GB/s an NPU", PLOT_LINEAR, c->y_label, "%s (Won et al., %s)", jobs[job].name, f->name);
        for (unsigned n = 0; n < MULTIDIM_NETWORKS; n++)
            compare_network(f, c, job, n, t, columns, p, all);
    }
    for (enum bandwidth_way way = c->first; way < BANDWIDTH_WAYS; way++) {
        mean[way] = all[way].sum / all[way].count;
        geometric[way] = exp(all[way].logarithms / all[way].count);
        most[way] = all[way].most;
    }
    figure_row(f, t, columns, TEXTS("all", "mean"), mean + c->first);
    figure_row(f, t, columns, TEXTS("all", "geometric"), geometric + c->first);
    figure_row(f, t, columns, TEXTS("all", "most"), most + c->first);
    if (f->plan->effort == REPRODUCE_QUICK)
        return;
    figure_row(f, t, columns, TEXTS("paper", "mean"), c->paper_mean + c->first);
    if (c->paper_most)
        figure_row(f, t, columns, TEXTS("paper", "most"), c->paper_most + c->first);
}

static void show_speed(struct reproduce_figure *f)
{
    compare(f, &(const struct comparison){"times as fast as EqualBW", "times as fast as EqualBW", speed_of, 3,
                                          BANDWIDTH_MESSAGE, paper.speed, paper.most});
}

static void show_uses(struct reproduce_figure *f)
{
    compare(f, &(const struct comparison){"use of bandwidth (%)", "use of bandwidth (%)", use_of, 1, BANDWIDTH_EQUAL,
                                          paper.use, NULL});
}

static void show_per_cost(struct reproduce_figure *f)
{
    compare(f, &(const struct comparison){"per cost, over EqualBW", "performance per cost over EqualBW", per_cost_of, 2,
                                          BANDWIDTH_MESSAGE, paper.per_cost, NULL});
}

/* ---- figure 16 ---- */

static const char best_columns[] =
    "best of 3 networks||text; GB/s||count; fastest||text; s||3; over 2D EqualBW||3; most per cost||text; s||3; "
    "over 2D EqualBW||2";

/* A network and a way. */
struct best {
    struct answer answer;
    char name[32];
};

static void keep(struct best *best, const struct answer *a, unsigned network, enum bandwidth_way way)
{
    best->answer = *a;
    (void)snprintf(best->name, sizeof best->name, "%s, %s", networks[network].name, bandwidth_way_names[way]);
}

static void best_row(struct reproduce_figure *f, struct text_table *t, unsigned job, double budget)
{
    struct best fast = {.answer.time.iteration = INFINITY}, cheap = {.answer = {.time.iteration = INFINITY, .cost = 1}};
    const struct bandwidth_question base = multidim_question(0, job, budget);
    const struct answer equal = answer_of(&base, BANDWIDTH_EQUAL);
    for (unsigned n = 0; n < MULTIDIM_NETWORKS; n++) {
        const struct bandwidth_question q = multidim_question(n, job, budget);
        for (enum bandwidth_way way = 0; way < BANDWIDTH_WAYS; way++) {
            const struct answer a = answer_of(&q, way);
            add_result(f, n, job, way, &q, &a, NULL);
            if (a.time.iteration < fast.answer.time.iteration)
                keep(&fast, &a, n, way);
            if (a.time.iteration * a.cost < cheap.answer.time.iteration * cheap.answer.cost)
                keep(&cheap, &a, n, way);
        }
    }
    figure_row(f, t, best_columns, TEXTS(jobs[job].name, fast.name, cheap.name),
               NUMBERS(budget, fast.answer.time.iteration, speed_of(&fast.answer, &equal), cheap.answer.time.iteration,
                       per_cost_of(&cheap.answer, &equal)));
}

static void show_best(struct reproduce_figure *f)
{
    static const double budgets[] = {100, AT, 1000};
    struct text_table *t = figure_table(f, 2, best_columns);
    for (unsigned job = 0; job < MULTIDIM_JOBS; job++)
        for (unsigned b = 0; b < sizeof budgets / sizeof *budgets; b++)
            best_row(f, t, job, budgets[b]);
}

/* ---- the experiments ---- */

#define JOBS                                                                                                           \
    "Jobs: Transformer-17B (data-parallel 1,024; 8,192 tokens an NPU), GPT-3 (16 x 64) and Transformer-1T (128 x 8; "  \
    "32,768 tokens a replica each), ZeRO 2, 234 TFLOPS; communication is not beside computing. Of these the paper "    \
    "gives parallelism, ZeRO and TFLOPS.",                                                                             \
        "Closed form: bytes over rate of the slowest dimension, and 0.5 us a hop."
#define PACKETS                                                                                                        \
    "Packets: an all-reduce of all groups at once, in 16 chunks, on the firmware; its time over the closed form of "   \
    "the same vector, times that of the job. Ring(8)_Switch(64) stands for Ring(8)_Switch(128). hxmesh bandwidth "     \
    "--packets runs one of them."
#define MEANS                                                                                                          \
    "Means over 100 to 1,000 GB/s in steps of 100. The searches minimise the time of an iteration, and this time x "   \
    "cost."
_Static_assert(BANDWIDTH_CHUNKS == 16, "PACKETS names it");

#define CALCULATED(name, title, minutes, show, ...)                                                                    \
    {                                                                                                                  \
        name, title, minutes, NULL, NULL, show, NOTES(JOBS, __VA_ARGS__)                                               \
    }

const struct experiment multidim_experiments[] = {
    CALCULATED("fig3", "Figure 3: use of bandwidth by networks of two to four dimensions", 5, show_use, PACKETS),
    CALCULATED("fig10", "Figure 10: rates of the dimensions by each way, and packets", 20, show_rates, PACKETS,
               "Times in seconds, of an iteration."),
    CALCULATED("fig13", "Figure 13: time of an iteration by each way, 100 to 1,000 GB/s", 0, show_speed, MEANS),
    CALCULATED("fig14", "Figure 14: use of bandwidth by each way", 0, show_uses, MEANS),
    CALCULATED("fig15", "Figure 15: performance per cost by each way", 0, show_per_cost, MEANS,
               "Of a GB/s: a cable $2, a NIC $48, a switch $24 a port. A cable between two NPUs counts once. The paper "
               "does not say which mean its figures are."),
    {"fig16", "Figure 16: the best network and way of each job", 0, NULL, NULL, show_best, NOTES(JOBS)},
    EXPERIMENTS_END};
