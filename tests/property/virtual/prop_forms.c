/* prop_forms.c - under the virtual clock collectives take the time of their closed forms (spec/collective_model.h). */
/* sanitizers: check-all */
#include "spec/collective_model.h"
#include "tests/support/virtual/support_virtual.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static double seconds_of(const char *spec, const struct hx_collective_model *model, uint64_t bytes,
                         struct hx_collective_config *config)
{
    const struct support_virtual_plan plan = {
        .spec = spec,
        .settings = {.pattern = HX_COLLECTIVES + model->kind,
                     .algorithm = (enum hx_algorithm)(HX_ALGORITHM_TREE + model->algorithm),
                     .message = bytes,
                     .given = HX_GIVEN_PATTERN | HX_GIVEN_ALGORITHM | HX_GIVEN_MESSAGE}};
    struct support_virtual s;
    support_virtual_open(&s, &plan);
    *config = s.collective.job[0].config;
    assert_true(support_virtual_run(&s));
    assert_true(support_virtual_whole(&s));
    double seconds = (double)support_virtual_end(&s) / 1e12;
    support_virtual_close(&s);
    return seconds;
}

/* ---- hosts of one link at a switch ---- */

static struct hx_timing table_iii(void)
{
    const struct hx_timing told = HX_DEFAULT_TIMING;
    return hx_timing_complete(&told);
}

/* Time of the acknowledgements that may go before a host's last messages: a block for each message of another. */
static double acknowledgements(const struct hx_collective_model *m)
{
    bool both = m->kind == HX_ALL_REDUCE;
    bool long_enough = m->algorithm == HX_BY_DIRECT && m->kind != HX_BROADCAST && m->bytes >= 65536;
    return long_enough ? (both ? 2 : 1) * (m->columns * m->rows - 1) * 256 / (4 * m->link_rate) : 0;
}

static void against_form(const char *spec, struct hx_collective_model m, uint64_t bytes, double tolerance)
{
    m.bytes = (double)bytes;
    struct hx_collective_config c;
    const double seconds = seconds_of(spec, &m, bytes, &c);
    m.chunk = c.chunk;
    const double form = hx_model_seconds(&m);
    const double most = form + acknowledgements(&m);
    if (seconds < form * (1 - tolerance) || seconds > most * (1 + tolerance))
        fail_msg("%s, kind %d, algorithm %d, %.0f B: %.9f s, %.3f of the closed form", spec, (int)m.kind,
                 (int)m.algorithm, m.bytes, seconds, seconds / form);
}

static void at_a_switch(enum hx_collective_algorithm algorithm, enum hx_collective_kind kind, double tolerance)
{
    static const unsigned ranks[] = {16, 12, 24};
    const struct hx_timing timing = table_iii();
    for (unsigned i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        char spec[32];
        const struct hx_collective_config c = {
            .bytes = 1024, .chunk = 1024, .size = ranks[i], .kind = kind, .algorithm = algorithm, .window = 1};
        const struct hx_collective_model m = {.kind = kind,
                                              .algorithm = algorithm,
                                              .columns = ranks[i],
                                              .rows = 1,
                                              .alpha = hx_model_latency(&timing, 2, timing.cable),
                                              .link_rate = 50e9 / 4};
        if (hx_collective_check(&c))
            continue;
        (void)snprintf(spec, sizeof spec, "fat-tree hosts=%u", ranks[i]);
        for (uint64_t bytes = 256; bytes <= 4 << 20; bytes *= 16)
            against_form(spec, m, bytes, tolerance);
        against_form(spec, m, 6 << 20, tolerance);
    }
}

static void exchanges_at_a_switch(void **state)
{
    (void)state;
    at_a_switch(HX_BY_HALVING, HX_ALL_REDUCE, 0.05);
    at_a_switch(HX_BY_HALVING, HX_REDUCE_SCATTER, 0.05);
    at_a_switch(HX_BY_HALVING, HX_ALL_GATHER, 0.05);
    at_a_switch(HX_BY_DOUBLING, HX_ALL_REDUCE, 0.05);
    at_a_switch(HX_BY_BRUCK, HX_ALL_REDUCE, 0.05);
    at_a_switch(HX_BY_BRUCK, HX_REDUCE_SCATTER, 0.05);
    at_a_switch(HX_BY_BRUCK, HX_ALL_GATHER, 0.05);
}

static void to_all_others_at_a_switch(void **state)
{
    (void)state;
    static const enum hx_collective_kind kinds[] = {HX_ALL_REDUCE, HX_REDUCE_SCATTER, HX_ALL_GATHER};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        at_a_switch(HX_BY_DIRECT, kinds[i], 0.05);
        at_a_switch(HX_BY_PAIRWISE, kinds[i], 0.05);
    }
    at_a_switch(HX_BY_DIRECT, HX_BROADCAST, 0.05);
}

/* The double tree: trees that are not full have shorter ways, and chunks that go up meet on links. */
static void pipelines_at_a_switch(void **state)
{
    (void)state;
    at_a_switch(HX_BY_CHAIN, HX_BROADCAST, 0.05);
    at_a_switch(HX_BY_CHAIN, HX_ALL_REDUCE, 0.05);
    at_a_switch(HX_BY_DOUBLE_TREE, HX_BROADCAST, 0.05);
    at_a_switch(HX_BY_DOUBLE_TREE, HX_ALL_REDUCE, 0.13);
}

/* ---- a torus ---- */

/* Long vectors: the stripes get out of step, and their messages meet on links. Whole vectors on a ring of 16 go half of
 * the way around, by either side. */
static void swing_on_a_torus(void **state)
{
    (void)state;
    const struct hx_timing timing = table_iii();
    struct hx_collective_model m = {.kind = HX_ALL_REDUCE,
                                    .algorithm = HX_BY_SWING,
                                    .alpha = hx_model_latency(&timing, 1, timing.cable),
                                    .link_rate = 50e9};
    m.hop = hx_model_latency(&timing, 2, timing.cable) - m.alpha;
    for (unsigned side = 4; side <= 16; side *= 2) {
        char spec[32];
        (void)snprintf(spec, sizeof spec, "torus %ux%u", side, side);
        m.columns = m.rows = side;
        m.algorithm = HX_BY_SWING;
        against_form(spec, m, 256, 0.05);
        against_form(spec, m, 64 << 10, 0.05);
        against_form(spec, m, 1 << 20, 0.3);
        m.algorithm = HX_BY_SWING_DOUBLING;
        against_form(spec, m, 256, 0.05);
        against_form(spec, m, 4096, 0.1);
        against_form(spec, m, 1 << 20, 0.3);
    }
}

/* ---- a hierarchy ---- */

static double latency_over(unsigned cables, unsigned traces)
{
    const struct hx_timing t = table_iii();
    return hx_model_latency(&t, cables, t.cable) + hx_model_latency(&t, traces, t.trace) - hx_model_latency(&t, 0, 0);
}

static struct hx_model_dimension dimension_of(const struct hx_collective_dimension *d, double gbps, bool has_switch)
{
    const enum hx_collective_algorithm algorithm = (enum hx_collective_algorithm)d->algorithm;
    const double links = algorithm == HX_BY_DIRECT ? d->size - 1.0 : algorithm == HX_BY_RING ? 2 : 1;
    return (struct hx_model_dimension){.size = d->size,
                                       .algorithm = algorithm,
                                       .rate = links * gbps / 8 * 1e9,
                                       .alpha = latency_over(has_switch ? 2 : 1, 2)};
}

/* In the last one all dimensions take the same time. Chunks of 1 MiB are a packet or two in some dimension: there a
 * step waits for the whole packet, of which the closed form, with parts as small as can be, sees only the share. */
static const struct mixed {
    const char *spec;
    double gbps[3];             /* of a link of each dimension; the last one is a switch */
    double tolerance, of_short; /* from 4 MiB on; of 1 MiB */
} all_mixed[] = {{"Ring(4)_FC(4)_Switch(4)", {400, 400, 400}, 0.06, 0.06},
                 {"Ring(4)_FC(4)_Switch(4) gbps=200,100,200", {200, 100, 200}, 0.01, 0.13},
                 {"Ring(4)_FC(4)_Switch(4) gbps=400,67,50", {400, 67, 50}, 0.14, 0.05}};

static double hierarchy_form(const struct mixed *of, const struct hx_collective_config *c)
{
    struct hx_model_dimension dimension[HX_COLLECTIVE_DIMENSIONS];
    for (unsigned i = 0; i < c->dimensions; i++)
        dimension[i] = dimension_of(&c->dimension[i], of->gbps[i], i + 1 == c->dimensions);
    return hx_model_hierarchy(dimension, c->dimensions, (double)c->bytes, c->stripes / 2U);
}

static void hierarchies(void **state)
{
    (void)state;
    const struct hx_collective_model m = {.kind = HX_ALL_REDUCE, .algorithm = HX_BY_HIERARCHY};
    for (unsigned i = 0; i < sizeof all_mixed / sizeof *all_mixed; i++) {
        for (uint64_t bytes = 1 << 20; bytes <= 16 << 20; bytes *= 4) {
            struct hx_collective_config c;
            const double seconds = seconds_of(all_mixed[i].spec, &m, bytes, &c);
            const double form = hierarchy_form(&all_mixed[i], &c);
            if (fabs(seconds / form - 1) > (bytes == 1 << 20 ? all_mixed[i].of_short : all_mixed[i].tolerance))
                fail_msg("%s, %.0f B: %.9f s, %.3f of the closed form", all_mixed[i].spec, (double)bytes, seconds,
                         seconds / form);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanges_at_a_switch), cmocka_unit_test(to_all_others_at_a_switch),
        cmocka_unit_test(pipelines_at_a_switch), cmocka_unit_test(swing_on_a_torus),
        cmocka_unit_test(hierarchies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
