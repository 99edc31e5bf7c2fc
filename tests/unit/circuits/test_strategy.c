/* test_strategy.c - what a strategy makes servers send and compute: closed forms of small models, written by hand. */
#include "tools/circuits/strategy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Four servers, 5 samples each; 2 bytes an element of activations, 4 of gradients. Computing, a server's 5 samples:
 * layer a 10 us forward and 20 us backward, b 1 and 3, c 2 and 5, d 4 and 6, e 7 and 9. b, c and d are a group. */
#define TABLES "shard: tables, "
#define MODEL(b)                                                                                                       \
    "model: m\n"                                                                                                       \
    "samples: 20\n"                                                                                                    \
    "parallelism: {data: 4}\n"                                                                                         \
    "bytes: {activations: 2, gradients: 4}\n"                                                                          \
    "update: 50 us\n"                                                                                                  \
    "layers:\n"                                                                                                        \
    "  - {name: a, parameters: 100, inputs: 3, activations: 11, forward: 10 us, backward: 20 us}\n"                    \
    "  - {name: b, " b "parameters: 200, inputs: 13, activations: 17, forward: 1 us, backward: 3 us}\n"                \
    "  - {name: c, parameters: 400, inputs: 19, activations: 23, forward: 2 us, backward: 5 us, beside: true}\n"       \
    "  - {name: d, parameters: 800, inputs: 29, activations: 31, forward: 4 us, backward: 6 us, beside: true}\n"       \
    "  - {name: e, parameters: 1600, inputs: 37, activations: 41, forward: 7 us, backward: 9 us}\n"
enum { SERVERS = 4, LAYERS = 5 };

static struct training_model *read_model(const char *text)
{
    const struct schedule_read_options none = {.ranks = 0};
    struct hx_problem p = {.what = ""};
    struct training_model *m = training_model_parse("x.yaml", text, strlen(text), &none, &p);
    if (!m)
        fail_msg("%s: %s", p.where, p.what);
    return m;
}

static struct circuits_demand demand_of(const struct training_model *m, const struct circuits_place *place)
{
    struct circuits_demand d;
    struct circuits_place copy[LAYERS];
    memcpy(copy, place, sizeof copy);
    circuits_demand_of(&d, &(struct circuits_strategy){.m = m, .servers = SERVERS, .place = copy});
    assert_int_equal(d.servers, SERVERS);
    return d;
}

#define R                                                                                                              \
    {                                                                                                                  \
        CIRCUITS_REPLICATED, 0                                                                                         \
    }
#define S                                                                                                              \
    {                                                                                                                  \
        CIRCUITS_SHARDED, 0                                                                                            \
    }
#define P(server)                                                                                                      \
    {                                                                                                                  \
        CIRCUITS_PLACED, server                                                                                        \
    }

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

static void assert_times(const struct circuits_demand *d, double forward, double backward, double hidden)
{
    near(d->forward, forward * 1e-6);
    near(d->backward, backward * 1e-6);
    near(d->hidden, hidden * 1e-6);
}

/* Bytes of samples: scatter and gather [servers]; NULL: none. */
static void assert_exchange(const struct circuits_exchange *e, const double *scatter, const double *gather, double all)
{
    for (unsigned i = 0; i < SERVERS; i++) {
        near(e->scatter ? e->scatter[i] : 0.0, scatter ? scatter[i] : 0.0);
        near(e->gather ? e->gather[i] : 0.0, gather ? gather[i] : 0.0);
    }
    near(e->all, all);
}

static void replicated_layers_sum_their_gradients(void **state)
{
    (void)state;
    struct training_model *m = read_model(MODEL(""));
    struct circuits_demand d = demand_of(m, (struct circuits_place[]){R, R, R, R, R});
    assert_int_equal(d.exchanges + d.forward_exchanges, 0);
    assert_int_equal(d.reduces, 1);
    assert_int_equal(d.reduce[0].members, SERVERS);
    assert_null(d.reduce[0].member);
    near(d.reduce[0].bytes, 4 * (100 + 200 + 400 + 800 + 1600));
    assert_times(&d, 24, 43 + 50, 34); /* all but the last layer, with which the backward pass begins */
    circuits_demand_free(&d);
    m->overlap = false;
    d = demand_of(m, (struct circuits_place[]){R, R, R, R, R});
    assert_times(&d, 24, 43 + 50, 0);
    circuits_demand_free(&d);
    training_model_free(m);
}

/* Tied parameters are summed once, with the first layer's, on servers that have both layers. */
static void tied_parameters_are_summed_once(void **state)
{
    (void)state;
    struct training_model *m = read_model(MODEL(""));
    m->layer[4].tied = 90;
    struct circuits_demand d = demand_of(m, (struct circuits_place[]){R, S, S, S, R});
    near(d.reduce[0].bytes, 4 * (100 + 1600 - 90));
    circuits_demand_free(&d);
    d = demand_of(m, (struct circuits_place[]){S, S, S, S, R});
    near(d.reduce[0].bytes, 4 * 1600);
    circuits_demand_free(&d);
    training_model_free(m);
}

static void a_sum_begins_behind_the_last_replicated_layer(void **state)
{
    (void)state;
    struct training_model *m = read_model(MODEL(""));
    struct circuits_demand d = demand_of(m, (struct circuits_place[]){R, S, R, S, S});
    near(d.reduce[0].bytes, 4 * (100 + 400));
    assert_times(&d, 24, 43 + 50, 20);
    circuits_demand_free(&d);
    d = demand_of(m, (struct circuits_place[]){S, S, S, S, S});
    assert_int_equal(d.reduces, 0);
    assert_times(&d, 24, 43 + 50, 0);
    circuits_demand_free(&d);
    training_model_free(m);
}

/* Each layer alone: 4 x 5 samples at its server. Its inputs are data, so no gradients leave it. */
static void a_placed_layer_gathers_and_scatters(void **state)
{
    (void)state;
    struct training_model *m = read_model(MODEL(""));
    struct circuits_demand d = demand_of(m, (struct circuits_place[]){P(2), R, R, R, P(1)});
    assert_int_equal(d.exchanges, 7);
    assert_int_equal(d.forward_exchanges, 4);
    assert_exchange(&d.exchange[0], NULL, (double[]){0, 0, 5 * 2 * 3, 0}, 0);
    assert_exchange(&d.exchange[1], (double[]){0, 0, 5 * 2 * 11, 0}, NULL, 0);
    assert_exchange(&d.exchange[2], NULL, (double[]){0, 5 * 2 * 37, 0, 0}, 0);
    assert_exchange(&d.exchange[3], (double[]){0, 5 * 2 * 41, 0, 0}, NULL, 0);
    assert_exchange(&d.exchange[4], NULL, (double[]){0, 5 * 2 * 41, 0, 0}, 0);
    assert_exchange(&d.exchange[5], (double[]){0, 5 * 2 * 37, 0, 0}, NULL, 0);
    assert_exchange(&d.exchange[6], NULL, (double[]){0, 0, 5 * 2 * 11, 0}, 0);
    assert_times(&d, 4 * 10 + 7 + 4 * 7, 4 * 20 + 14 + 4 * 9 + 50, 4 * 20);
    circuits_demand_free(&d);
    training_model_free(m);
}

static void a_sharded_layer_exchanges_between_all(void **state)
{
    (void)state;
    struct training_model *m = read_model(MODEL(""));
    struct circuits_demand d = demand_of(m, (struct circuits_place[]){R, R, R, R, S});
    assert_int_equal(d.exchanges, 4);
    assert_int_equal(d.forward_exchanges, 2);
    assert_exchange(&d.exchange[0], NULL, NULL, 5 * 2 * 37);
    assert_exchange(&d.exchange[1], NULL, NULL, 5 * 2 * 41 / 4.0);
    assert_exchange(&d.exchange[2], NULL, NULL, 5 * 2 * 41 / 4.0);
    assert_exchange(&d.exchange[3], NULL, NULL, 5 * 2 * 37);
    assert_times(&d, 24, 43 + 50, 20);
    circuits_demand_free(&d);
    training_model_free(m);
}

static void layers_beside_each_other_share_exchanges(void **state)
{
    (void)state;
    struct training_model *m = read_model(MODEL(""));
    struct circuits_demand d = demand_of(m, (struct circuits_place[]){R, P(3), S, P(3), R});
    const double in[] = {0, 0, 0, 5 * 2 * (13 + 29)};
    const double out[] = {0, 0, 0, 5 * 2 * (17 + 31)};
    assert_int_equal(d.exchanges, 4);
    assert_int_equal(d.forward_exchanges, 2);
    assert_exchange(&d.exchange[0], NULL, in, 5 * 2 * 19);
    assert_exchange(&d.exchange[1], out, NULL, 5 * 2 * 23 / 4.0);
    assert_exchange(&d.exchange[2], NULL, out, 5 * 2 * 23 / 4.0);
    assert_exchange(&d.exchange[3], in, NULL, 5 * 2 * 19);
    assert_times(&d, 10 + (2 + 4 * (1 + 4)) + 7, 20 + (5 + 4 * (3 + 6)) + 9 + 50, 20 + (5 + 4 * (3 + 6)));
    circuits_demand_free(&d);

    /* On two servers the slower one counts, in each pass of its own. */
    d = demand_of(m, (struct circuits_place[]){R, P(1), P(1), P(2), R});
    assert_exchange(&d.exchange[0], NULL, (double[]){0, 5 * 2 * (13 + 19), 5 * 2 * 29, 0}, 0);
    assert_times(&d, 10 + 4 * 4 + 7, 20 + 4 * (3 + 5) + 9 + 50, 20 + 4 * (3 + 5));
    circuits_demand_free(&d);
    training_model_free(m);
}

static void indices_of_tables_have_no_gradients(void **state)
{
    (void)state;
    struct training_model *m = read_model(MODEL(TABLES));
    struct circuits_demand d = demand_of(m, (struct circuits_place[]){R, P(0), R, R, R});
    assert_int_equal(d.exchanges, 3);
    assert_int_equal(d.forward_exchanges, 2);
    assert_exchange(&d.exchange[0], NULL, (double[]){5 * 2 * 13, 0, 0, 0}, 0);
    assert_exchange(&d.exchange[1], (double[]){5 * 2 * 17, 0, 0, 0}, NULL, 0);
    assert_exchange(&d.exchange[2], NULL, (double[]){5 * 2 * 17, 0, 0, 0}, 0);
    near(d.reduce[0].bytes, 4 * (100 + 400 + 800 + 1600));
    circuits_demand_free(&d);
    training_model_free(m);
}

/* The same work in micro-batches: nothing of an iteration changes. */
static void micro_batches_change_no_sum(void **state)
{
    (void)state;
    static const char text[] = "model: m\nsamples: 40\nparallelism: {data: 4}\npipeline: {micro_batches: 2}\n"
                               "layers: [{name: a, parameters: 1, inputs: 3, activations: 5, forward: 1 us}]\n";
    struct circuits_place place = P(1);
    struct training_model *m = read_model(text);
    struct circuits_demand d;
    circuits_demand_of(&d, &(struct circuits_strategy){.m = m, .servers = SERVERS, .place = &place});
    assert_times(&d, 2 * 4, 2 * 4 * 2, 0);
    assert_exchange(&d.exchange[0], NULL, (double[]){0, 10 * 2 * 3, 0, 0}, 0);
    circuits_demand_free(&d);
    training_model_free(m);
}

static void tables_are_placed_evenly(void **state)
{
    (void)state;
    struct training_model *m =
        read_model("model: m\nsamples: 8\nparallelism: {data: 8}\nlayers:\n"
                   "  - {name: a, parameters: 1, activations: 1, flops: 0}\n"
                   "  - repeat: 4\n"
                   "    layers: [{name: t, parameters: 1, activations: 1, flops: 0, shard: tables, beside: true}]\n");
    struct circuits_strategy own = circuits_strategy_own(m, 8);
    struct circuits_strategy placed = circuits_strategy_tables_placed(m, 8);
    struct circuits_strategy random = circuits_strategy_random(m, 8, 5);
    struct circuits_strategy again = circuits_strategy_random(m, 8, 5);
    assert_int_equal(own.place[0].choice, CIRCUITS_REPLICATED);
    assert_int_equal(placed.place[0].choice, CIRCUITS_REPLICATED);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(own.place[1 + i].choice, CIRCUITS_SHARDED);
        assert_int_equal(placed.place[1 + i].choice, CIRCUITS_PLACED);
        assert_int_equal(placed.place[1 + i].server, 2 * i);
    }
    for (uint32_t i = 0; i < m->layers; i++) {
        assert_int_equal(random.place[i].choice, again.place[i].choice);
        assert_int_equal(random.place[i].server, again.place[i].server);
        assert_in_range(random.place[i].server, 0, 7);
    }
    HX_FREE(own.place, placed.place, random.place, again.place);
    training_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicated_layers_sum_their_gradients),
        cmocka_unit_test(tied_parameters_are_summed_once),
        cmocka_unit_test(a_sum_begins_behind_the_last_replicated_layer),
        cmocka_unit_test(a_placed_layer_gathers_and_scatters),
        cmocka_unit_test(a_sharded_layer_exchanges_between_all),
        cmocka_unit_test(layers_beside_each_other_share_exchanges),
        cmocka_unit_test(indices_of_tables_have_no_gradients),
        cmocka_unit_test(micro_batches_change_no_sum),
        cmocka_unit_test(tables_are_placed_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
