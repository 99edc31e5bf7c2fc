/* test_circuits_search.c - the search for strategy and circuits: brute force over all strategies, cases with a known
 * best, and the same result with any number of threads. */
#include "base/rng.h"
#include "tests/support/support_effort.h"
#include "tools/circuits/chain.h"
#include "tools/circuits/search.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct training_model *read_model(const char *text)
{
    const struct schedule_read_options none = {.ranks = 0};
    struct hx_problem p = {.what = ""};
    struct training_model *m = training_model_parse("x.yaml", text, strlen(text), &none, &p);
    if (!m)
        fail_msg("%s\n%s: %s", text, p.where, p.what);
    return m;
}

/* A model of random layers: each of the three places is the best one of some. */
static struct training_model *random_model(uint64_t *random, uint32_t servers, unsigned layers)
{
    char text[2048];
    int used =
        snprintf(text, sizeof text, "model: m\nsamples: %" PRIu32 "\nparallelism: {data: %" PRIu32 "}\nlayers:\n",
                 servers, servers);
    for (unsigned i = 0; i < layers; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  - {name: l, parameters: %" PRIu32 ", inputs: %" PRIu32 ", activations: %" PRIu32
                         ", forward: %" PRIu32 " ns, beside: %s}\n",
                         1 + hx_rng_below(random, 4000000), hx_rng_below(random, 100000), hx_rng_below(random, 30000),
                         hx_rng_below(random, 2000), hx_rng_below(random, 4) ? "true" : "false");
    return read_model(text);
}

static const struct circuits_search plain = {
    .seed = 1, .steps = 1200, .chains = 3, .threads = 1, .degree = 4, .links = {.gbps = 100, .latency_ns = 1000}};

static struct network_of_servers *ideal(void *of)
{
    return servers_ideal(*(const uint32_t *)of, 400, 500);
}

static struct network_of_servers *ring_of_eight(void *of)
{
    struct circuits c;
    struct hx_problem p;
    const struct circuits_links links = {.gbps = 100, .latency_ns = 1000};
    (void)of;
    circuits_new(&c, 8, 2);
    for (uint32_t i = 0; i < 8; i++)
        assert_true(circuits_add(&c, i, (i + 1) % 8));
    struct network_of_servers *n = circuits_network(&c, &links, &p);
    circuits_free(&c);
    return n;
}

static struct circuits_result search(const struct circuits_search *s, const struct training_model *m)
{
    struct circuits_result r;
    struct hx_problem p = {.what = ""};
    if (!circuits_search(&r, s, m, &p))
        fail_msg("%s: %s", p.where, p.what);
    return r;
}

/* Gives a strategy its number among all: a digit of 2 + servers for each layer. */
static void set_number(struct circuits_strategy *s, uint64_t number)
{
    for (uint32_t i = 0; i < s->m->layers; i++, number /= 2 + s->servers) {
        const uint32_t digit = (uint32_t)(number % (2 + s->servers));
        s->place[i].choice = digit < 2 ? (enum circuits_choice)digit : CIRCUITS_PLACED;
        s->place[i].server = digit < 2 ? 0 : digit - 2;
    }
}

static double fastest_of_all(const struct circuits_ground *g, const struct training_model *m, uint32_t servers)
{
    struct circuits_strategy s = circuits_strategy_own(m, servers);
    double fastest = INFINITY;
    for (uint64_t number = 0; number < (uint64_t)pow(2 + servers, m->layers); number++) {
        set_number(&s, number);
        fastest = fmin(fastest, circuits_try(g, &s).iteration);
    }
    free(s.place);
    return fastest;
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

/* ---- against all strategies ---- */

static void a_chain_finds_the_fastest_of_all_strategies(void **state)
{
    (void)state;
    enum { MODELS = 40 };
    uint32_t servers = 3;
    unsigned chosen[CIRCUITS_CHOICES] = {0};
    for (uint64_t seed = 1; seed <= effort(MODELS); seed++) {
        uint64_t random = seed;
        struct training_model *m = random_model(&random, servers, 3);
        struct circuits_ground g = {.network = ideal(&servers)};
        struct circuits_strategy begin = circuits_strategy_random(m, servers, seed);
        struct circuits_chain c;
        circuits_chain_begin(&c, &g, &begin, CIRCUITS_BETA_FAR, seed);
        circuits_chain_go(&c, 3000, 0);
        assert_int_equal(c.steps, 3000);
        near(c.best_seconds, fastest_of_all(&g, m, servers));
        near(c.best_seconds, circuits_try(&g, &c.best).iteration);
        near(c.now_seconds, circuits_try(&g, &c.now).iteration);
        for (uint32_t i = 0; i < m->layers; i++)
            chosen[c.best.place[i].choice]++;
        circuits_chain_end(&c);
        free(begin.place);
        servers_free(g.network);
        training_model_free(m);
    }
    for (unsigned i = 0; i < CIRCUITS_CHOICES && effort(MODELS) >= MODELS / 2; i++)
        assert_true(chosen[i] > 0); /* each is the best choice in one of many models */
}

static void rounds_find_the_fastest_on_their_circuits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= effort(30); seed++) {
        uint64_t random = seed;
        struct training_model *m = random_model(&random, 4, 3);
        struct circuits_result r = search(&plain, m);
        struct hx_problem p;
        struct circuits_ground g = {circuits_network(&r.circuits, &plain.links, &p), r.circuits.ring, r.circuits.rings};
        assert_non_null(g.network);
        near(r.time.iteration, circuits_time_of(&r.demand, g.network, g.ring, g.rings, NULL).iteration);
        near(r.time.iteration, circuits_try(&g, &r.strategy).iteration);
        near(r.time.iteration, fastest_of_all(&g, m, 4));
        servers_free(g.network);
        circuits_result_free(&r);
        training_model_free(m);
    }
}

/* ---- times of a chain ---- */

/* Strategies that differ in one layer, and now and then in all; exchanges come and go. */
static void a_meter_is_as_exact_as_a_time_from_scratch(void **state)
{
    (void)state;
    uint64_t random = 11;
    struct training_model *m = random_model(&random, 6, 8);
    struct circuits_result r = search(&plain, m);
    struct hx_problem p;
    struct circuits_ground g = {circuits_network(&r.circuits, &plain.links, &p), r.circuits.ring, r.circuits.rings};
    struct circuits_meter *meter = circuits_meter_new(&g);
    for (uint32_t i = 0; i < 1000 + effort(4000); i++) {
        struct circuits_demand d;
        const uint32_t first = hx_rng_below(&random, m->layers);
        const uint32_t end = hx_rng_below(&random, 20) ? first + 1 : m->layers;
        for (uint32_t l = first; l < end; l++)
            r.strategy.place[l] = circuits_place_random(&random, 6);
        circuits_demand_of(&d, &r.strategy);
        near(circuits_meter_seconds(meter, &d), circuits_try(&g, &r.strategy).iteration);
        circuits_demand_free(&d);
    }
    circuits_meter_free(meter);
    servers_free(g.network);
    circuits_result_free(&r);
    training_model_free(m);
}

/* ---- known best strategies ---- */

/* Eight tables, too large to be summed, and small layers around them. A table in shards needs the indices of all. */
static const char tables[] =
    "model: m\nsamples: 800\nparallelism: {data: 8}\nlayers:\n"
    "  - {name: dense, parameters: 1000, inputs: 500, activations: 500, forward: 1 us}\n"
    "  - repeat: 8\n"
    "    layers:\n"
    "      - {name: table, parameters: 100000000, inputs: 100, activations: 100, forward: 100 ns, shard: tables,\n"
    "         beside: true}\n"
    "  - repeat: 2\n"
    "    layers: [{name: dense, parameters: 1000, inputs: 500, activations: 500, forward: 1 us}]\n";

static void large_tables_are_placed_one_a_server(void **state)
{
    (void)state;
    uint32_t servers = 8;
    struct training_model *m = read_model(tables);
    struct circuits_ground g = {.network = ideal(&servers)};
    struct circuits_strategy begin = circuits_strategy_own(m, servers);
    struct circuits_strategy best = circuits_strategy_tables_placed(m, servers);
    for (uint64_t seed = 1; seed <= effort(10); seed++) {
        struct circuits_chain c;
        uint32_t on = 0;
        circuits_chain_begin(&c, &g, &begin, CIRCUITS_BETA_FAR, seed);
        circuits_chain_go(&c, 4000, 0);
        for (uint32_t i = 0; i < m->layers; i++) {
            bool table = m->layer[i].shard == TRAINING_TABLES;
            assert_int_equal(c.best.place[i].choice, table ? CIRCUITS_PLACED : CIRCUITS_REPLICATED);
            on |= table ? 1U << c.best.place[i].server : 0;
        }
        assert_int_equal(on, 0xff);
        near(c.best_seconds, circuits_try(&g, &best).iteration);
        circuits_chain_end(&c);
    }
    HX_FREE(begin.place, best.place);
    servers_free(g.network);
    training_model_free(m);
}

/* ---- rounds ---- */

static void no_result_is_slower_than_what_it_began_with(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= effort(10); seed++) {
        uint64_t random = seed;
        struct training_model *m = random_model(&random, 6, 5);
        struct circuits_search s = plain;
        s.seed = seed;
        s.steps = 0;
        struct circuits_result first = search(&s, m);
        s.steps = 200;
        struct circuits_result r = search(&s, m);
        assert_int_equal(first.rounds, 1);
        assert_int_equal(first.steps, 0);
        assert_int_equal(r.steps, 200 * r.rounds);
        assert_true(r.time.iteration <= first.time.iteration);
        s.seconds = 1e-9; /* is over before the first step */
        struct circuits_result early = search(&s, m);
        assert_int_equal(early.rounds, 1);
        assert_int_equal(early.steps, 0);
        assert_true(early.time.iteration == first.time.iteration);
        circuits_result_free(&first);
        circuits_result_free(&early);
        circuits_result_free(&r);
        training_model_free(m);
    }
}

/* Rounds end when circuits of the best strategy gain nothing: those of the result are as good as any found for it. */
static void circuits_are_those_of_the_best_strategy(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4 + effort(20); seed++) {
        uint64_t random = seed;
        struct training_model *m = random_model(&random, 9, 5);
        struct circuits_search s = plain;
        struct hx_problem p;
        struct circuits found;
        s.steps = 300;
        s.degree = 3;
        struct circuits_result r = search(&s, m);
        assert_true(circuits_find_for(&found, &s, &r.demand, &p));
        struct network_of_servers *n = circuits_network(&found, &s.links, &p);
        assert_true(r.time.iteration <=
                    circuits_time_of(&r.demand, n, found.ring, found.rings, NULL).iteration * (1 + 1e-9));
        servers_free(n);
        circuits_free(&found);
        circuits_result_free(&r);
        training_model_free(m);
    }
}

/* Chains that begin alike have random numbers of their own. */
static void more_chains_find_more(void **state)
{
    (void)state;
    uint32_t servers = 6;
    bool faster = false;
    for (uint64_t seed = 1; seed <= 4 + effort(20); seed++) {
        uint64_t random = seed;
        struct training_model *m = random_model(&random, servers, 12);
        struct circuits_search s = plain;
        s.network = ideal;
        s.of = &servers;
        s.chains = 6; /* each beginning with each of the first betas */
        s.steps = 6 * 20;
        struct circuits_result few = search(&s, m);
        s.chains = 12;
        s.steps = 12 * 20;
        struct circuits_result many = search(&s, m);
        faster = faster || many.time.iteration < few.time.iteration;
        circuits_result_free(&few);
        circuits_result_free(&many);
        training_model_free(m);
    }
    assert_true(faster);
}

static void a_given_network_has_no_circuits(void **state)
{
    (void)state;
    uint32_t servers = 8;
    struct training_model *m = read_model(tables);
    struct circuits_search s = plain;
    s.network = ideal;
    s.of = &servers;
    struct circuits_result r = search(&s, m);
    assert_int_equal(r.circuits.servers, 0);
    assert_int_equal(r.strategy.place[1].choice, CIRCUITS_PLACED);
    circuits_result_free(&r);
    const struct circuits_ring twice[] = {{.stride = 1}, {.stride = 3}};
    s.network = ring_of_eight;
    s.ring = twice;
    s.rings = 2;
    r = search(&s, m);
    struct circuits_ground g = {ring_of_eight(&servers), twice, 2};
    near(r.time.iteration, circuits_try(&g, &r.strategy).iteration);
    g.rings = 0;
    assert_true(r.time.iteration > circuits_try(&g, &r.strategy).iteration);
    servers_free(g.network);
    circuits_result_free(&r);
    training_model_free(m);
}

/* So few steps that the result depends on what each chain finds. */
static void the_result_does_not_depend_on_threads(void **state)
{
    (void)state;
    uint64_t random = 3;
    struct training_model *m = random_model(&random, 6, 12);
    struct circuits_search s = plain;
    double first = 0;
    bool differs = false;
    s.chains = 5;
    s.steps = 52;
    for (s.seed = 1; s.seed <= 4 + effort(20); s.seed++) {
        s.threads = 1;
        struct circuits_result a = search(&s, m);
        s.threads = 3;
        struct circuits_result b = search(&s, m);
        assert_memory_equal(a.strategy.place, b.strategy.place, m->layers * sizeof *a.strategy.place);
        assert_int_equal(a.circuits.count, b.circuits.count);
        assert_memory_equal(a.circuits.circuit, b.circuits.circuit, a.circuits.count * sizeof *a.circuits.circuit);
        assert_true(a.time.iteration == b.time.iteration);
        assert_int_equal(a.rounds, b.rounds);
        first = s.seed == 1 ? a.time.iteration : first;
        differs = differs || a.time.iteration != first;
        circuits_result_free(&a);
        circuits_result_free(&b);
    }
    assert_true(differs);
    training_model_free(m);
}

/* ---- errors ---- */

static void models_of_other_parallelism_are_refused(void **state)
{
    (void)state;
    static const char columns[] = "[{name: x, parameters: 1, activations: 1, flops: 0, shard: columns}]";
    static const struct {
        const char *text, *what;
    } cases[] = {
        {"parallelism: {tensor: 2, data: 4}",
         "circuits are searched for servers that are data-parallel, and 'parallelism' has tensor or context ranks"},
        {"parallelism: {pipeline: 1, data: 1}", "'data: 1' is outside 2 .. 1024 servers"},
        {"parallelism: {data: 2048}", "'data: 2048' is outside 2 .. 1024 servers"},
        {"parallelism: {data: 4}\nzero: 1", "circuits are searched for 'zero: 0'"}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct hx_problem p = {.what = ""};
        struct circuits_result r;
        (void)snprintf(text, sizeof text, "model: m\nsamples: 2048\n%s\nlayers: %s\n", cases[i].text, columns);
        struct training_model *m = read_model(text);
        assert_false(circuits_search(&r, &plain, m, &p));
        assert_string_equal(p.where, "x.yaml");
        assert_string_equal(p.what, cases[i].what);
        assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
        training_model_free(m);
    }
}

static void too_few_interfaces_are_refused(void **state)
{
    (void)state;
    struct training_model *m = read_model(tables);
    struct circuits_search s = plain;
    struct circuits_result r;
    struct hx_problem p = {.what = ""};
    s.degree = 1;
    assert_false(circuits_search(&r, &s, m, &p));
    assert_string_equal(p.what, "8 servers with 1 interface each cannot be joined (use a greater --degree)");
    training_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_finds_the_fastest_of_all_strategies),
        cmocka_unit_test(rounds_find_the_fastest_on_their_circuits),
        cmocka_unit_test(a_meter_is_as_exact_as_a_time_from_scratch),
        cmocka_unit_test(large_tables_are_placed_one_a_server),
        cmocka_unit_test(no_result_is_slower_than_what_it_began_with),
        cmocka_unit_test(circuits_are_those_of_the_best_strategy),
        cmocka_unit_test(more_chains_find_more),
        cmocka_unit_test(a_given_network_has_no_circuits),
        cmocka_unit_test(the_result_does_not_depend_on_threads),
        cmocka_unit_test(models_of_other_parallelism_are_refused),
        cmocka_unit_test(too_few_interfaces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
