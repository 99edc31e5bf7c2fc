/* hxmesh-bandwidth - divides a bandwidth budget over the dimensions of a network, for a model's training. */
#include "base/json.h"
#include "base/output.h"
#include "base/progress.h"
#include "schedule/training/loads.h"
#include "spec/spec.h"
#include "tools/bandwidth/bandwidth_report.h"
#include "tools/bandwidth/from_model.h"
#include "tools/bandwidth/search.h"
#include "tools/child.h"

#include <math.h>

enum { MOST_RUNS = 10000, LATENCY_NS = 500, VECTOR = 16 << 20, LEAST_VECTOR = 1 << 16, MOST_VECTOR = 1 << 30 };

static struct {
    double budget; /* GB/s */
    uint64_t latency_ns, vector, workers, runs;
    bool packets;
    const char *prices;
    struct schedule_read_options read;
} asked = {.latency_ns = LATENCY_NS, .vector = VECTOR};

struct answers {
    struct bandwidth_report report;
    struct bandwidth_packets how;
    struct hx_progress bar;
    unsigned simulated; /* divisions */
    int code;           /* of the run that failed */
};

/* Simulates a division. Returns whether that worked; else .code says why not. */
static bool simulate(struct answers *a, const double *rate, double *seconds, struct bandwidth_run *runs)
{
    const struct bandwidth_question *q = a->report.question;
    const double all = BANDWIDTH_WAYS + (asked.runs ? (double)asked.runs + 1 : 0);
    if (a->code != HX_EXIT_DONE)
        return false;
    hx_progress_show(&a->bar, a->simulated++ / all, "");
    a->code = bandwidth_simulate(&q->network, &q->work, rate, &a->how, seconds, runs);
    return a->code == HX_EXIT_DONE;
}

static double iteration_of_packets(void *of, const double *rate)
{
    struct answers *a = of;
    const struct bandwidth_question *q = a->report.question;
    double seconds[BANDWIDTH_NEEDS];
    if (!simulate(a, rate, seconds, NULL))
        return INFINITY;
    return bandwidth_time_from(&q->network, &q->work, rate, seconds).iteration;
}

/* Completes a line from its name and rates. */
static void take_line(struct answers *a, struct bandwidth_line *l)
{
    const struct bandwidth_question *q = a->report.question;
    double seconds[BANDWIDTH_NEEDS];
    l->estimate = bandwidth_answer(q, l->rate);
    l->dollars = bandwidth_cost(&q->network, l->rate, q->prices);
    if (asked.packets && simulate(a, l->rate, seconds, l->run))
        l->packets = bandwidth_time_from(&q->network, &q->work, l->rate, seconds);
}

static int answer(struct answers *a)
{
    static const double first = 1.2, last = 1.02; /* factors of a step of the search by simulations */
    struct bandwidth_report *r = &a->report;
    for (enum bandwidth_way way = 0; way < BANDWIDTH_WAYS; way++) {
        struct bandwidth_line *l = &r->line[r->lines++];
        l->name = bandwidth_way_names[way];
        bandwidth_divide(r->question, way, l->rate);
        take_line(a, l);
    }
    if (asked.runs) {
        struct bandwidth_line *l = &r->line[r->lines++];
        *l = r->line[BANDWIDTH_SEARCH];
        l->name = "search, packets";
        (void)bandwidth_search(r->question->network.dimensions, l->rate, iteration_of_packets, a, (unsigned)asked.runs,
                               first, last);
        take_line(a, l);
    }
    return a->code;
}

static void read_question(struct bandwidth_question *q, char **operands)
{
    struct hx_problem problem;
    static const double ones[BANDWIDTH_DIMENSIONS] = {1, 1, 1, 1, 1};
    if (!bandwidth_network_read(&q->network, operands[0], &problem))
        hx_die_of(&problem);
    if (bandwidth_cost(&q->network, ones, q->prices) <= 0)
        hx_die(HX_EXIT_CONFIG, q->prices->path,
               "no price of a GB/s in this network: add gbyte: {cable: 2, nic: 48, port: 24}");
    struct training_model *m = training_model_read(operands[1], &asked.read, &problem);
    if (m)
        training_make_even(m);
    if (!m || !bandwidth_work_of(&q->work, m, &q->network, &problem))
        hx_die_of(&problem);
    training_model_free(m);
    q->budget = asked.budget * 1e9;
    q->latency = (double)asked.latency_ns / 1e9;
}

static int answer_and_write(const struct bandwidth_question *q, const struct hx_common *common)
{
    struct answers a = {.report.question = q, .how = {.vector = asked.vector, .workers = (unsigned)asked.workers}};
    child_catch_signals();
    asked.packets |= asked.runs > 0;
    a.bar = hx_progress_start("bandwidth", common->quiet);
    const int code = answer(&a);
    hx_progress_end(&a.bar);
    if (code != HX_EXIT_DONE)
        return code;
    if (common->json)
        hx_json_write(bandwidth_json(&a.report), common->json);
    else
        bandwidth_print(&a.report);
    return HX_EXIT_DONE;
}

int main(int argc, char **argv)
{
    static const struct hx_option options[] = {
        {HX_REAL("budget", &asked.budget, 0.001, 1e6, "GB/s of an NPU's links, all dimensions together"),
         .argument = "GBPS", .otherwise = ""},
        {HX_DURATION("latency", &asked.latency_ns, 0, HX_MOST_LATENCY, "of a hop, in the closed form")},
        HX_PRICES_OPTION(&asked.prices),
        HX_OPTIONS_HEADING("Packets"),
        {HX_FLAG("packets", &asked.packets, "simulate the collectives of each division too (hxmesh run)")},
        {HX_NUMBER("exact", &asked.runs, 0, MOST_RUNS,
                   "simulations of a further search, by packets instead of the closed form"),
         .argument = "RUNS", .otherwise = "none"},
        {HX_BYTES("message", &asked.vector, LEAST_VECTOR, MOST_VECTOR, "vector of a simulated collective")},
        HX_WORKERS_OPTION(&asked.workers),
        HX_OPTIONS_HEADING("Model"),
        {HX_LIST("set", "NAME=VALUE", &asked.read.set, "another value of the model; may be given several times"),
         .otherwise = "the file's"},
        {HX_REAL("flops", &asked.read.flops, 0, 1e21, "operations a second of an NPU"), .argument = "N",
         .otherwise = "the model's"},
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh bandwidth", "hxmesh-train hxmesh-run hxmesh-reproduce"),
        .examples =
            {{"hxmesh bandwidth \"Ring(8)_FC(8)_Switch(16)\" examples/models/transformer-1t.model.yaml --budget "
              "300",
              "rates of three dimensions, 300 GB/s together"},
             {"hxmesh bandwidth \"Ring(8)_Switch(128)\" examples/models/gpt3-175b.model.yaml --budget 300 "
              "--packets",
              "and what packets make of them"}},
        HX_OPERANDS("NETWORK MODEL", 2, 2),
        .failed = "a run failed",
        .summary =
            "Divides a bandwidth budget over the dimensions of a network, for the training of a model: equally, by "
            "bytes, by model- and data-parallel communication, and by a search.",
        .details =
            "NETWORK is Ring(K), FC(K) and Switch(K), joined by '_', the nearest dimension first. MODEL is a file "
            "of a model (docs/training.md). EqualBW, MessageBW and SmartBW are those of Won et al. (2021). The "
            "search is never behind them in the time of an iteration. Times are of a closed form: bytes over "
            "rate of the slowest dimension, and latency x hops. Cost without --prices: a cable $2, a NIC "
            "$48, a switch's port $24 for each GB/s.",
        .options = options};
    struct hx_common common;
    struct bandwidth_question q = {.budget = 0};
    const int first = hx_options_parse(&command, argc, argv, &common);
    hx_output_check(common.json);
    if (asked.budget <= 0)
        hx_die(HX_EXIT_USAGE, "--budget", "is missing: GB/s of an NPU (--budget 300)");
    const struct hx_prices prices = hx_prices_take(asked.prices);
    q.prices = &prices;
    read_question(&q, argv + first);
    const int code = answer_and_write(&q, &common);
    hx_output_close(stdout, "-");
    return code;
}
