/* hxmesh-topology - finds optical circuits between servers for a training job, and a strategy for the job on them. */
#include "base/json.h"
#include "base/output.h"
#include "base/processor.h"
#include "schedule/training/loads.h"
#include "spec/spec.h"
#include "tools/child.h"
#include "tools/circuits/circuits_report.h"
#include "tools/circuits/compare.h"
#include "tools/circuits/costs.h"
#include "tools/circuits/demand_schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_GBPS = 100000, MOST_STEPS = 100000000, MOST_CHAINS = 256, SERVERS_TEXT = 32 };

/* Strategies of the job. */
enum { SEARCHED, OWN, PLACED };
static const char *const strategies[] = {"search", "own", "placed", NULL};

static struct {
    uint64_t servers, degree, gbps, latency_ns, forward_ns;
    uint64_t seed, steps, chains, threads, workers;
    double minutes;
    unsigned strategy;
    bool prime, packets;
    const char *dot, *write, *prices;
    struct hx_option_list compare;
    struct schedule_read_options read;
} asked = {.degree = 4, .gbps = 100, .latency_ns = 1000, .seed = 1, .steps = 10000, .chains = 4};

struct answers {
    struct circuits_search search;
    struct training_model *m;
    struct circuits_result result;
    struct network_of_servers *network; /* of the circuits */
    struct circuits_report report;
    struct hx_prices prices;
};

/* ---- the job ---- */

static void refuse_two_numbers_of_servers(void)
{
    static const char key[] = "servers=";
    for (unsigned i = 0; asked.servers && i < asked.read.set.count; i++)
        if (strncmp(asked.read.set.item[i], key, strlen(key)) == 0)
            hx_die(HX_EXIT_USAGE, "--set", "servers is what --servers sets: which of both?");
}

/* Reads the model; with --servers, and another number of ranks, again with this value. */
static struct training_model *read_with_servers(const char *path, struct hx_problem *problem)
{
    char text[SERVERS_TEXT];
    struct schedule_read_options *read = &asked.read;
    refuse_two_numbers_of_servers();
    struct training_model *m = training_model_read(path, read, problem);
    if (!m || !asked.servers || training_ranks(m) == asked.servers)
        return m;
    const uint32_t ranks = training_ranks(m);
    training_model_free(m);
    if (read->set.count == HX_OPTION_MOST_ITEMS)
        hx_die(HX_EXIT_USAGE, "--set", "is given too often");
    (void)snprintf(text, sizeof text, "servers=%" PRIu64, asked.servers);
    read->set.item[read->set.count++] = text;
    m = training_model_read(path, read, problem);
    if (!m && strcmp(problem->where, "--set") == 0)
        hx_die(HX_EXIT_CONFIG, path, "has %" PRIu32 " ranks, and no value 'servers' that --servers could set", ranks);
    if (m && training_ranks(m) != asked.servers)
        hx_die(HX_EXIT_CONFIG, path, "has %" PRIu32 " ranks with servers=%" PRIu64 ": one a server is needed",
               training_ranks(m), asked.servers);
    return m;
}

static struct training_model *read_model(const char *path)
{
    struct hx_problem problem;
    const struct schedule_format *format = schedule_format_of(path);
    if (format != &schedule_model && access(path, R_OK) == 0)
        hx_die(HX_EXIT_CONFIG, path, "is no model, and circuits are found for a model (docs/training.md)");
    struct training_model *m = read_with_servers(path, &problem);
    if (m && circuits_check_model(m, &problem)) {
        training_make_even(m); /* servers have whole layers */
        return m;
    }
    hx_die_of(&problem);
}

/* ---- circuits ---- */

/* Circuits for a strategy that is given. */
static bool find(struct answers *a, struct hx_problem *problem)
{
    struct circuits_result *r = &a->result;
    const uint32_t servers = training_ranks(a->m);
    r->strategy =
        asked.strategy == OWN ? circuits_strategy_own(a->m, servers) : circuits_strategy_tables_placed(a->m, servers);
    circuits_demand_of(&r->demand, &r->strategy);
    return circuits_find_for(&r->circuits, &a->search, &r->demand, problem);
}

static double *loads_of(const struct answers *a, const struct circuits_demand *d, struct circuits_time *t)
{
    double *load = hx_allocate(servers_links(a->network), sizeof *load);
    *t = circuits_time_of(d, a->network, a->result.circuits.ring, a->result.circuits.rings, load);
    return load;
}

static void measure(struct answers *a)
{
    struct circuits_report *r = &a->report;
    struct circuits_fabric *f = &r->fabric[r->fabrics++];
    struct circuits_demand sums = a->result.demand;
    struct circuits_time ignored;
    sums.exchanges = sums.forward_exchanges = 0;
    *f = (struct circuits_fabric){.name = "circuits", .strategy = a->result.strategy, .demand = a->result.demand};
    f->gbps = (double)a->search.degree * a->search.links.gbps;
    f->usd = (double)a->result.circuits.servers * a->search.degree *
             hx_circuit_usd(&a->prices, (enum hx_circuit)a->prices.circuit, a->search.links.gbps);
    double *all = loads_of(a, &f->demand, &f->time);
    double *of_sums = loads_of(a, &sums, &ignored);
    r->circuits = &a->result.circuits;
    r->all = circuits_loads_of(a->network, all);
    r->sums = circuits_loads_of(a->network, of_sums);
    r->searched = asked.strategy == SEARCHED;
    r->searched_steps = a->result.steps;
    r->rounds = a->result.rounds;
    (void)circuits_measure(r->circuits, &r->paths);
    HX_FREE(all, of_sums);
}

static void answer(struct answers *a)
{
    struct hx_problem problem;
    const bool found =
        asked.strategy == SEARCHED ? circuits_search(&a->result, &a->search, a->m, &problem) : find(a, &problem);
    if (found)
        a->network = circuits_network(&a->result.circuits, &a->search.links, &problem);
    if (!a->network)
        hx_die_of(&problem);
    measure(a);
}

/* ---- files and packets ---- */

static void write_dot(const struct circuits *c)
{
    FILE *out = hx_output_open(asked.dot);
    circuits_dot(c, out);
    hx_output_close(out, asked.dot);
}

static char *named(const char *end)
{
    const size_t bytes = strlen(asked.write) + strlen(end) + 1;
    char *path = hx_allocate(bytes, 1);
    (void)snprintf(path, bytes, "%s%s", asked.write, end);
    return path;
}

static void write_graph(const struct answers *a)
{
    FILE *out = hx_output_open(a->report.graph);
    circuits_write(&a->result.circuits, &a->search.links, out);
    hx_output_close(out, a->report.graph);
}

static void write_schedule(const struct answers *a)
{
    struct hx_problem problem;
    const struct circuits *c = &a->result.circuits;
    struct schedule_builder *b = circuits_schedule(&a->result.demand, c->ring, c->rings, a->m->samples, &problem);
    if (!b)
        hx_die_of(&problem);
    struct schedule *s = schedule_build(b, a->report.path, &problem);
    if (s)
        schedule_write(s, a->report.schedule);
    else
        hx_die_of(&problem);
    schedule_close(s);
}

static int run_packets(struct answers *a, bool quiet)
{
    const struct circuits_running how = {
        .graph = a->report.graph, .schedule = a->report.schedule, .workers = asked.workers, .quiet = quiet};
    child_catch_signals();
    return circuits_simulate(&how, &a->report.run);
}

/* ---- all ---- */

static void free_all(struct answers *a)
{
    for (unsigned i = 1; i < a->report.fabrics; i++) {
        circuits_demand_free(&a->report.fabric[i].demand);
        free(a->report.fabric[i].strategy.place);
    }
    servers_free(a->network);
    circuits_result_free(&a->result);
    training_model_free(a->m);
    free(a->report.paths.of_length);
    HX_FREE((void *)a->report.graph, (void *)a->report.schedule);
}

static int answer_and_write(struct answers *a, const struct hx_common *common)
{
    int code = HX_EXIT_DONE;
    struct hx_problem problem;
    answer(a);
    for (unsigned i = 0; i < asked.compare.count; i++)
        if (!circuits_compare(&a->report, asked.compare.item[i], &problem))
            hx_die_of(&problem);
    if (asked.dot)
        write_dot(&a->result.circuits);
    if (asked.write) {
        write_schedule(a);
        write_graph(a);
    }
    if (asked.packets)
        code = run_packets(a, common->quiet);
    if (code == HX_EXIT_INTERRUPTED)
        return code;
    if (common->json)
        hx_json_write(circuits_json(&a->report), common->json);
    if (!hx_output_is_stdout(common->json) && !hx_output_is_stdout(asked.dot))
        circuits_print(&a->report);
    return code;
}

static bool compares(const char *fabric)
{
    for (unsigned i = 0; i < asked.compare.count; i++)
        if (strcmp(asked.compare.item[i], fabric) == 0)
            return true;
    return false;
}

static void check(const struct hx_command *command, const struct hx_common *common, const struct circuits_report *r)
{
    static const char *const of_search[] = {"seed" /* also of an expander */, "steps", "chains", "minutes", NULL};
    static const char *const of_packets[] = {"workers", NULL};
    const struct hx_output outputs[] = {
        {"--json", common->json}, {"--dot", asked.dot}, {"--write", r->graph}, {"--write", r->schedule}};
    const unsigned count = sizeof outputs / sizeof *outputs;
    hx_outputs_apart(outputs, count);
    hx_outputs_off(r->path, outputs, count);
    if (asked.write && (!*asked.write || strpbrk(asked.write, " \t\r\n")))
        hx_die(HX_EXIT_USAGE, "--write",
               "'%s' is no prefix of files that a graph can be read from: it has blanks, or nothing", asked.write);
    if (asked.packets && !asked.write)
        hx_die(HX_EXIT_USAGE, "--packets", "runs the files of --write PREFIX: give a prefix");
    if (!asked.packets)
        hx_options_need(command, common, "packets", of_packets);
    if (asked.strategy != SEARCHED)
        hx_options_apart(command, common, "strategy", of_search + compares("expander"));
    for (unsigned i = 0; i < count; i++)
        hx_output_check(outputs[i].path);
}

/* Ends if there is no such network, before a search takes its time. */
static void check_others(const struct answers *a)
{
    struct hx_problem problem;
    for (unsigned i = 0; i < asked.compare.count; i++)
        if (!circuits_compare_check(asked.compare.item[i], training_ranks(a->m), &a->search, &problem))
            hx_die_of(&problem);
}

int main(int argc, char **argv)
{
    static const struct hx_option options[] = {
        HX_OPTIONS_HEADING("Servers and links"),
        {HX_NUMBER("servers", &asked.servers, 2, CIRCUITS_MOST_SERVERS, "the value `servers` of the model"),
         .otherwise = "the ranks of the model"},
        {HX_NUMBER("degree", &asked.degree, 1, CIRCUITS_MOST_DEGREE, "interfaces of a server")},
        {HX_NUMBER("gbps", &asked.gbps, 1, MOST_GBPS, "rate of an interface, Gb/s")},
        {HX_DURATION("latency", &asked.latency_ns, 0, HX_MOST_LATENCY, "of a link")},
        {HX_DURATION("forward", &asked.forward_ns, 0, HX_MOST_LATENCY, "that a server adds to a packet it forwards")},
        {HX_FLAG("prime", &asked.prime, "rings of prime strides alone")},
        HX_OPTIONS_HEADING("Strategy"),
        {HX_CHOICE("strategy", &asked.strategy, strategies,
                   "where layers are: search for it; the model's own shards; the same with tables on one server each")},
        {HX_NUMBER("seed", &asked.seed, 0, HX_MOST_SEED, "of random numbers")},
        {HX_NUMBER("steps", &asked.steps, 1, MOST_STEPS, "of all Markov chains in a round")},
        {HX_NUMBER("chains", &asked.chains, 1, MOST_CHAINS, "Markov chains side by side")},
        {HX_NUMBER("threads", &asked.threads, 0, HX_MOST_WORKERS, "that search; the result is the same"),
         .otherwise = "one a core"},
        {HX_REAL("minutes", &asked.minutes, 0, 1e5, "after which no round begins; 0: when a round gains nothing"),
         .argument = "MINUTES"},
        HX_OPTIONS_HEADING("Model"),
        {HX_LIST("set", "NAME=VALUE", &asked.read.set, "another value of the model; may be given several times"),
         .otherwise = "the file's"},
        {HX_REAL("flops", &asked.read.flops, 0, 1e21, "operations a second of a server"), .argument = "N",
         .otherwise = "the model's"},
        HX_OPTIONS_HEADING("Comparison and costs"),
        {HX_LIST("compare", "FABRIC", &asked.compare, CIRCUITS_COMPARE_HELP), .otherwise = "none"},
        {HX_STRING("prices", "FILE", &asked.prices, "prices of interfaces, circuits and switches"),
         .otherwise = "table 2 of TopoOpt"},
        HX_OPTIONS_HEADING("Files"),
        {HX_STRING("dot", "FILE|-", &asked.dot, "write the graph for Graphviz")},
        {HX_STRING("write", "PREFIX", &asked.write,
                   "write the graph to PREFIX.csv and an iteration to PREFIX.schedule, for hxmesh run")},
        {HX_FLAG("packets", &asked.packets, "run these packet by packet (hxmesh run), beside the closed form")},
        HX_WORKERS_OPTION(&asked.workers),
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh topology", "hxmesh-train hxmesh-run hxmesh-check hxmesh-reproduce"),
        .examples =
            {{"hxmesh topology examples/models/dlrm-topoopt.model.yaml --servers 128 --degree 4 --gbps 100",
              "circuits of 128 servers with four interfaces each"},
             {"hxmesh topology examples/models/dlrm-topoopt.model.yaml --servers 16 --compare ideal --compare expander",
              "and other networks beside them"},
             {"hxmesh topology examples/models/dlrm-topoopt.model.yaml --servers 12 --write dlrm --packets",
              "the same packet by packet"}},
        HX_OPERANDS("JOB", 1, 1),
        .failed = "a run failed or lost something",
        .summary = "Finds optical circuits between servers for a training job, and where its layers are on these "
                   "servers: graph, paths, load of links, bandwidth tax, time of an iteration, cost.",
        .details = "JOB is a model (docs/training.md) of data-parallel ranks, one a server. docs/circuits.md says how "
                   "circuits and strategy are found, and what the report means. Times are of a closed form; "
                   "--packets puts simulated ones beside them.",
        .options = options};
    struct hx_common common;
    struct answers a = {.network = NULL};
    const int first = hx_options_parse(&command, argc, argv, &common);
    a.report.path = argv[first];
    a.report.graph = asked.write ? named(".csv") : NULL;
    a.report.schedule = asked.write ? named(".schedule") : NULL;
    check(&command, &common, &a.report);
    a.m = read_model(argv[first]);
    a.search = (struct circuits_search){.seed = asked.seed,
                                        .steps = (unsigned)asked.steps,
                                        .chains = (unsigned)asked.chains,
                                        .threads = asked.threads ? (unsigned)asked.threads : hx_processor_cores(),
                                        .seconds = 60 * asked.minutes,
                                        .degree = (unsigned)asked.degree,
                                        .prime = asked.prime,
                                        .links = {.gbps = (unsigned)asked.gbps,
                                                  .latency_ns = (unsigned)asked.latency_ns,
                                                  .forward_ns = (unsigned)asked.forward_ns}};
    a.prices = asked.prices ? hx_prices_take(asked.prices) : circuits_prices;
    a.report.prices = &a.prices;
    a.report.m = a.m;
    check_others(&a);
    a.report.search = &a.search;
    const int code = answer_and_write(&a, &common);
    free_all(&a);
    hx_output_close(stdout, "-");
    return code;
}
