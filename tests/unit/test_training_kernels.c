/* test_training_kernels.c - computing by products and by bytes moved: measured tables of accelerators, the division
 * among ranks, recomputation, and the operations of an iteration as the papers count them. */
#include "schedule/training/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double is, double should, double share)
{
    if (fabs(is - should) > share * fabs(should))
        fail_msg("%.9g is not %.9g", is, should);
}

/* ---- measured tables ---- */

/* The constants of examples/accelerators/README.md. mean: of the differences. */
static const struct table {
    const char *path;
    double peak;
    struct training_kernels kernels;
    double mean;
} tables[] = {{"examples/accelerators/a100.csv", 312, {0.99, 300, 108 * 128 * 128}, 0.085},
              {"examples/accelerators/h800.csv", 989, {0.79, 230, 132 * 128 * 128}, 0.035},
              {"examples/accelerators/h800-fp8.csv", 1979, {0.82, 385, 132 * 128 * 128}, 0.045}};

static void constants_fit_the_measured_tables(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct table *t = &tables[i];
        FILE *in = fopen(t->path, "r");
        char line[256];
        unsigned rows = 0;
        double sum = 0;
        assert_non_null(in);
        while (fgets(line, sizeof line, in)) {
            double value[4] = {0};
            char *at = line;
            for (unsigned column = 0; column < 4; column++) {
                value[column] = strtod(at, &at);
                at += *at == ',';
            }
            if (value[3] <= 0) /* a comment, or the head */
                continue;
            const double efficiency = training_product_efficiency(&t->kernels, value[0], value[1], value[2]);
            sum += fabs(t->peak * efficiency / value[3] - 1);
            rows++;
        }
        (void)fclose(in);
        assert_true(rows >= 7);
        if (sum / rows > t->mean)
            fail_msg("%s: %.3f", t->path, sum / rows);
    }
}

/* ---- computing of a rank ---- */

/* Tensor 4, context 2; micro-batches of 6 samples, so 3 at a rank; 1e12 operations and 1e9 bytes a second. */
static struct training_model model_of(struct training_layer *l, struct training_product *p)
{
    return (struct training_model){.layer = l,
                                   .layers = 1,
                                   .product = p,
                                   .products = 2,
                                   .samples = 6,
                                   .iterations = 1,
                                   .parallel = {4, 2, 1, 1},
                                   .expert = 1,
                                   .micro_batches = 1,
                                   .chunks = 1,
                                   .flops = 1e12,
                                   .efficiency = 1,
                                   .memory_bandwidth = 1e9};
}

static double ps_of(const struct training_kernels *k, double m, double n, double inner)
{
    return 2 * m * n * inner / training_product_efficiency(k, m, n, inner);
}

static void products_are_divided_as_they_say(void **state)
{
    (void)state;
    static const struct training_kernels kernels = {0.9, 300, 1e6};
    for (unsigned divided = 0; divided <= TRAINING_UNDIVIDED; divided++) {
        struct training_product p[2] = {
            {.m = 640, .n = 512, .k = 256, .times = 8, .divided = (enum training_divided)divided}};
        struct training_layer l = {.products = 1, .shard = TRAINING_COLUMNS};
        struct training_model m = model_of(&l, p);
        m.kernels = kernels;
        double size[] = {640 * 3, 512, 256, 8};
        if (divided != TRAINING_UNDIVIDED)
            size[divided] /= 4;
        const double forward = size[3] * ps_of(&kernels, size[0], size[1], size[2]);
        const double backward =
            size[3] * (ps_of(&kernels, size[0], size[2], size[1]) + ps_of(&kernels, size[2], size[1], size[0]));
        assert_near((double)training_forward_ps(&m, &l), forward, 1e-6);
        assert_near((double)training_backward_ps(&m, &l), backward, 1e-6);
        l.shard = TRAINING_WHOLE; /* each rank has all of it */
        assert_near((double)training_forward_ps(&m, &l), 8 * ps_of(&kernels, 1920, 512, 256), 1e-6);
    }
}

/* 400 + 120 bytes: shared by the tensor ranks, by these with sequence parallelism only. */
static void moved_bytes_take_the_time_of_the_memory(void **state)
{
    (void)state;
    struct training_product p[2] = {{.m = 1}};
    struct training_layer l = {.moved = 400, .backward_moved = 600, .moved_whole = 120, .shard = TRAINING_COLUMNS};
    struct training_model m = model_of(&l, p);
    assert_int_equal(training_forward_ps(&m, &l), (400 / 4 + 120) * 3 * 1000);
    assert_int_equal(training_backward_ps(&m, &l), (600 / 4 + 180) * 3 * 1000);
    m.sequence = true;
    assert_int_equal(training_forward_ps(&m, &l), (400 / 4 + 120 / 4) * 3 * 1000);
    m.memory_bandwidth = 0;
    assert_int_equal(training_forward_ps(&m, &l), 0);
}

static void selective_recomputation_repeats_what_says_so(void **state)
{
    (void)state;
    struct training_product p[2] = {
        {.m = 100, .n = 10, .k = 10, .times = 1, .divided = TRAINING_UNDIVIDED},
        {.m = 100, .n = 20, .k = 10, .times = 1, .divided = TRAINING_UNDIVIDED, .recomputed = true, .efficiency = 0.5}};
    struct training_layer l = {.products = 2, .recomputed_moved = 8, .shard = TRAINING_COLUMNS};
    struct training_model m = model_of(&l, p);
    const uint64_t plain = training_backward_ps(&m, &l);
    assert_int_equal(plain, 2 * training_forward_ps(&m, &l));
    m.recompute = TRAINING_RECOMPUTE_SELECTIVE;
    assert_int_equal(training_backward_ps(&m, &l), plain + 2 * 300 * 20 * 10 * 2 + 8 / 4 * 3 * 1000);
    m.recompute = TRAINING_RECOMPUTE_FULL;
    assert_int_equal(training_backward_ps(&m, &l), plain + training_forward_ps(&m, &l));
    l.keeps_all = true;
    assert_int_equal(training_backward_ps(&m, &l), plain);
}

/* ---- operations ---- */

/* Narayanan et al., SC21, section 5.1: 96 B s l h^2 (1 + s / 6h + V / 16 l h), with what is recomputed. Without: 3/4 of
 * the blocks. */
static void operations_are_counted_as_in_the_paper(void **state)
{
    (void)state;
    static const double rows[][4] = {{2304, 24, 24, 512}, {12288, 80, 96, 2304}, {25600, 128, 160, 3072}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hx_problem problem;
        char text[4][32];
        const double h = rows[i][0];
        const double l = rows[i][1];
        const double s = 2048;
        const double vocabulary = 51200;
        (void)snprintf(text[0], sizeof text[0], "hidden=%.0f", h);
        (void)snprintf(text[1], sizeof text[1], "blocks=%.0f", l);
        (void)snprintf(text[2], sizeof text[2], "heads=%.0f", rows[i][2]);
        (void)snprintf(text[3], sizeof text[3], "batch=%.0f", rows[i][3]);
        const struct schedule_read_options options = {.set = {.item = {text[0], text[1], text[2], text[3], "stages=1",
                                                                       "data=1", "chunks=1", "samples=1", "tensor=1"},
                                                              .count = 9}};
        struct training_model *m = training_model_read("examples/models/megatron.model.yaml", &options, &problem);
        if (!m)
            fail_msg("%s: %s", problem.where, problem.what);
        const double all = 96 * rows[i][3] * s * l * h * h * (1 + s / (6 * h) + vocabulary / (16 * l * h));
        const double blocks = 96 * rows[i][3] * s * l * h * h * (1 + s / (6 * h));
        assert_near(training_flops(m, true), all, 1e-12);
        assert_near(training_flops(m, false), all - blocks / 4, 1e-12);
        training_model_free(m);
    }
}

/* A layer with times says nothing of its operations. */
static void operations_are_not_known_where_a_layer_has_times(void **state)
{
    (void)state;
    struct training_product p[2] = {{.m = 1}};
    struct training_layer l[] = {{.flops = 5, .backward_flops = 10}, {.forward_ps = 3, .backward_ps = 6}};
    struct training_model m = model_of(l, p);
    assert_true(training_flops(&m, false) == 6 * 15.0);
    m.layers = 2;
    assert_true(training_flops(&m, false) == 0 && training_flops(&m, true) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_fit_the_measured_tables),
        cmocka_unit_test(products_are_divided_as_they_say),
        cmocka_unit_test(moved_bytes_take_the_time_of_the_memory),
        cmocka_unit_test(selective_recomputation_repeats_what_says_so),
        cmocka_unit_test(operations_are_counted_as_in_the_paper),
        cmocka_unit_test(operations_are_not_known_where_a_layer_has_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
